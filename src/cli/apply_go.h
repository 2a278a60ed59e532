/*
 * The one path of all commands that change a pool: ask the router for the plan, show it, ask the
 * person, start it, wait.
 */
#ifndef CLI_APPLY_GO_H
#define CLI_APPLY_GO_H

#include <jansson.h>

#include "cli/apply_throttle.h"
#include "cli/cli.h"
#include "cli/map_source.h"

/* The options that such a command has, for its table. */
#define APPLY_OPTIONS                                                                              \
    {"pool", 'p', "NAME", "The pool, where there are several."},                                   \
        {"admin", 0, "ADDRESS", "The router's admin address (" MAP_SOURCE_ADMIN " unless set)."},  \
        {"yes", 'y', NULL, "Ask nothing."},                                                        \
        {"dry-run", 'n', NULL, "Show the plan and end; nothing is changed."},                      \
        {"throttle", 't', "LIMITS", APPLY_THROTTLE_HELP},                                          \
        {"verify", 0, "deep", "Compare every byte of what moved before it is served there."},      \
        {"purge", 0, NULL, "Remove what stands on a new node where the moved keys will be."},      \
        {"wait", 0, NULL, "Wait until it is done; so unless --no-wait is given."},                 \
        {"no-wait", 0, NULL, "End when it has started."},                                          \
    {                                                                                              \
        "json", 0, NULL, "Print JSON: the plan, and how it went."                                  \
    }

/* Carries out `wish`, the body that the router takes without the options (change_request.h), on a
 * pool of the router. `typed`: what the person must type instead of y; NULL: y is enough. Takes the
 * reference; NULL says that memory is out. An exit code. */
int apply_go(const struct cli_args *args, const char *pool, json_t *wish, const char *typed);

/* The admin address that the options name, or the usual one. */
const char *apply_admin(const struct cli_args *args);

#endif
