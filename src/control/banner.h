/*
 * What a person sees when the router has started: where it listens, its nodes, and what to try.
 */
#ifndef CONTROL_BANNER_H
#define CONTROL_BANNER_H

#include <clockwise/clockwise.h>

#include "base/buffer.h"
#include "control/config.h"

struct banner_pool {
    const char *listen; /* the real address */
    const struct cw_map *map;
    const char *difference; /* in what the configuration differs from the map; NULL: in nothing */
};

/* pools: in the order of the configuration; admin: NULL when it is off. */
void banner_print(const struct config *config, const struct banner_pool *pools, const char *admin,
                  bool has_color, struct buffer *out);

#endif
