/*
 * A fleet of another system told on the command line: --profile NAME, --set KEY=VALUE, --node … in
 * the order of that system's configuration.
 */
#ifndef CLI_PROFILE_SOURCE_H
#define CLI_PROFILE_SOURCE_H

#include <clockwise/profile.h>

#include "cli/map_source.h"

#define PROFILE_SOURCE_OPTIONS                                                                     \
    {"profile", 0, "NAME", "Ask about another system: see `clockwise profiles`."},                 \
        {"set", 's', "KEY=VALUE", "A setting of the profile; topology=@FILE reads a file."},       \
    {                                                                                              \
        "node", 'n', "ADDRESS[=WEIGHT][,NAME][,number=N][,down]",                                  \
            "A server of that system, in the order of its configuration."                          \
    }

bool profile_source_is_asked_for(const struct cli_args *args);
/* CLI_OK, or another exit code after saying why. The pool is called by the profile's name. */
int profile_source_open(const struct cli_args *args, struct map_source *ret_source);

/* The profile of that name; CLI_USAGE after saying which is nearest (profiles.c). */
int profile_by_name(const struct cli_command *command, const char *name,
                    const struct cw_profile **ret_profile);

/* A server as it is written behind --node; text is cut up. The id is the name, or the address. */
int profile_source_server(const struct cli_command *command, char *text, struct cw_node *ret_node,
                          struct cw_profile_node *ret_server);

#endif
