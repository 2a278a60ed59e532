/*
 * Nodes that are numbered 0 .. bucket_count-1, for placements that know numbers only (jump,
 * jumpback, round). The numbers are state: an old node keeps its number when the map changes, or
 * all keys would move; a map's text has them.
 *
 * A new pool is numbered by id, where a run of digits counts as a number: shard-2 comes before
 * shard-10. Later nodes get the lowest numbers that are free.
 */
#ifndef PLACEMENT_NUMBERED_H
#define PLACEMENT_NUMBERED_H

#include "placement/map.h"
#include "placement/round.h"

#include <stdbool.h>

#define NUMBERED_BUCKET_COUNT_MAX (1u << 20)

struct numbered {
    uint32_t *nodes;   /* by bucket; CW_NO_NODE where one was removed, never the last */
    uint32_t *buckets; /* by node */
    uint32_t bucket_count;
    bool has_holes;
    struct round round; /* round's own: what follows from the count */
};

/* Fills map->state with a struct numbered and map->shares with equal ones. Without holes_allowed
 * the removal of any but the last nodes is refused. */
int numbered_build(struct cw_map *map, const struct history *history, bool holes_allowed,
                   struct cw_error *error);
void numbered_release(struct cw_map *map);
size_t numbered_memory(const struct cw_map *map);
uint32_t numbered_bucket_of(const struct cw_map *map, uint32_t node);

static inline const struct numbered *numbered_of(const struct cw_map *map)
{
    return map->state;
}

/* Node numbers in the order in which a new pool's nodes are numbered. */
int numbered_order(const struct nodes *nodes, uint32_t *ret_order);

/* The locate_n() of placements without replicas. */
size_t locate_only_one(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes);

#endif
