/*
 * The commands, each in a file of its own, and what `clockwise help` prints besides.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct cli_command command_serve, command_locate, command_plan, command_compare,
    command_import, command_apply, command_node, command_profiles, command_status,
    command_transition, command_help;

/* The reference of the configuration, and a configuration to start from (help.c). */
void help_print_reference(struct buffer *out);
void help_print_example(struct buffer *out);

#endif
