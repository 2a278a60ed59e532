/*
 * The state of a map that is placed by a profile; see profile.c.
 */
#ifndef PLACEMENT_PROFILE_H
#define PLACEMENT_PROFILE_H

#include "placement/map.h"

#include <clockwise/profile.h>

struct profile_state {
    struct cw_profile_map *map;
    uint32_t *nodes; /* by the profile's number: ours */
    /* The servers in the system's order, with copies of their texts, and the places of our nodes in
     * it. */
    struct cw_profile_node *servers;
    uint32_t *places;
    char *text;
    size_t text_size;
    char *topology; /* a copy; NULL: none */
    size_t topology_len;
};

static inline const struct profile_state *profile_of(const struct cw_map *map)
{
    return map->state;
}

/* Our number for one of the profile's, which may be CW_NO_NODE. */
static inline uint32_t profile_node_of(const struct profile_state *state, uint32_t number)
{
    return number == CW_NO_NODE ? CW_NO_NODE : state->nodes[number];
}

/* How the system writes a node unless it is told otherwise. */
const char *profile_default_server(const struct cw_node *node);

#endif
