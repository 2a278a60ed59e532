/*
 * What `clockwise --help`, `clockwise COMMAND --help` and `clockwise help` print.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "control/config.h"
#include "control/metrics.h"
#include "control/options.h"
#include "control/version.h"

enum { HELP_COLUMN = 28 };

void cli_print_overview(struct buffer *out)
{
    buffer_append_text(out, "clockwise " CLOCKWISE_VERSION ": one address for many Redis servers, "
                            "by consistent hashing\n\nUsage: clockwise COMMAND …\n\nCommands:\n");
    for (size_t i = 0; cli_commands[i]; i++)
        buffer_printf(out, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    buffer_append_text(out, "\nTo try it: `clockwise serve`, and in a second terminal\n"
                            "  redis-cli -p 7400 set hello world\n"
                            "  clockwise locate hello\n"
                            "\n`clockwise COMMAND --help` explains a command, `clockwise help "
                            "--reference` the configuration,\n`clockwise --version` prints the "
                            "version.\n");
}

static void print_option(const struct cli_option *option, struct buffer *out)
{
    size_t before = out->len;
    if (option->letter)
        buffer_printf(out, "  -%c, ", option->letter);
    else
        buffer_append_text(out, "      ");
    buffer_printf(out, "--%s%s%s", option->name, option->argument ? " " : "",
                  option->argument ? option->argument : "");
    size_t width = out->len - before;
    if (width < HELP_COLUMN)
        buffer_printf(out, "%*s", (int)(HELP_COLUMN - width), "");
    else
        buffer_printf(out, "\n%*s", HELP_COLUMN, "");
    buffer_printf(out, "%s\n", option->help);
}

void cli_print_command_help(const struct cli_command *command, struct buffer *out)
{
    static const struct cli_option help = {"help", 'h', NULL, "Print this and end."};
    buffer_printf(out, "%s\n\nUsage: clockwise %s [OPTION…]%s%s\n", command->summary, command->name,
                  *command->operands ? " " : "", command->operands);
    if (*command->details)
        buffer_printf(out, "\n%s", command->details);
    buffer_append_text(out, "\nOptions:\n");
    for (const struct cli_option *option = command->options; option->name; option++)
        print_option(option, out);
    print_option(&help, out);
    if (command != &command_serve)
        return;
    buffer_append_text(out, "\nKeys of the configuration (`clockwise help --reference` explains "
                            "them):\n");
    options_print_help(out);
}

void help_print_reference(struct buffer *out)
{
    options_print_reference(out);
    metrics_print_reference(out);
}

void help_print_example(struct buffer *out)
{
    buffer_append_text(out, "# What `clockwise serve` does without a configuration: nodes inside "
                            "the router.\n");
    buffer_append_text(out, config_default_text());
    buffer_append_text(out, "\n"
                            "# A pool over servers of yours would be:\n"
                            "#\n"
                            "#  sessions:\n"
                            "#    listen: 127.0.0.1:7401\n"
                            "#    engine: redis\n"
                            "#    nodes:\n"
                            "#      - {id: cache-1, address: 10.0.0.1:6379, weight: 1, zone: a}\n"
                            "#      - {id: cache-2, address: 10.0.0.2:6379, weight: 2, zone: b}\n"
                            "#\n"
                            "# All keys: clockwise help --reference\n");
}
