/*
 * Where a command gets the map that it is asked about: from a configuration file (-c FILE), or from
 * the router that runs (--admin ADDRESS, by default the usual one); of the pool that --pool names,
 * or of the only one there is.
 */
#ifndef CLI_MAP_SOURCE_H
#define CLI_MAP_SOURCE_H

#include <stdbool.h>

#include <clockwise/clockwise.h>

#include "cli/cli.h"

#define MAP_SOURCE_ADMIN "127.0.0.1:7480"

/* The options that such a command has, for its table. */
#define MAP_SOURCE_OPTIONS                                                                         \
    {"config", 'c', "FILE", "Read the map from a configuration."},                                 \
        {"admin", 0, "ADDRESS",                                                                    \
         "Ask the router whose admin address this is (" MAP_SOURCE_ADMIN " unless set)."},         \
    {                                                                                              \
        "pool", 'p', "NAME", "The pool, where there are several."                                  \
    }

struct map_source {
    struct cw_map *map; /* one reference; NULL with: */
    /* a profile that places on numbers and not on nodes (profile_source.h) */
    struct cw_profile_map *numbers;
    char pool[64];
};

/* CLI_OK, or another exit code after saying why. */
int map_source_open(const struct cli_args *args, struct map_source *ret_source);
void map_source_close(struct map_source *source);
/* The same from one file, whatever the options say; with a note on standard error when a router has
 * stored another map than the file makes. */
int map_source_from_file(const char *path, const char *pool, bool with_note,
                         struct map_source *ret_source);

/* Reads a configuration as `clockwise serve` does, and finds the pool in it. CLI_OK with the
 * configuration, which the caller destroys; or another exit code after saying why. */
struct config;
int map_source_read_config(const char *path, const char *pool, struct config **ret_config,
                           size_t *ret_pool);
/* The name of the pool that was asked for (NULL: of the only one) in a router. The same. */
int map_source_ask_pool(const char *admin, const char *pool, char *ret_name, size_t size);

#endif
