/*
 * The inside of a map. Written while it is built, by one thread; read-only ever after but for the
 * count of references.
 */
#ifndef PLACEMENT_MAP_H
#define PLACEMENT_MAP_H

#include "placement/nodes.h"
#include "placement/placement.h"
#include "placement/vectors.h"

#include <stdatomic.h>

struct cw_map {
    /* First, so that the common lookup touches one line of the map: a table of 2^(64-table_shift)
     * equal arcs, where the placement is one (NULL otherwise). */
    const uint32_t *table;
    /* ops->locate, or a faster form of it for this processor. */
    uint32_t (*locate)(const struct cw_map *map, uint64_t hash);
    unsigned table_shift;
    _Atomic uint32_t references;
    const struct placement *ops;
    void *state; /* the placement's own */
    enum cw_placement placement;
    uint32_t slot_count;        /* 0 unless slots */
    uint32_t tokens_per_weight; /* 0 unless ring */
    uint32_t table_size;        /* 0 unless maglev */
    enum vectors vectors;       /* what batches may use */
    uint64_t generation;
    struct nodes nodes;
    double *shares;
    /* Profiles only: what the system makes of the weights, and their sum. */
    double *weights, weight_sum;
};

static inline double map_ideal_share(const struct cw_map *map, uint32_t index)
{
    if (map->weights)
        return map->weights[index] / map->weight_sum;
    return (double)map->nodes.list[index].weight / (double)map->nodes.weight_sum;
}

/* cw_map_create() with history; *ret_bad as in nodes_init(), may be NULL. */
int map_build(const struct cw_map_options *options, const struct history *history,
              struct cw_map **ret_map, size_t *ret_bad, struct cw_error *error);

#endif
