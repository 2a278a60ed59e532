/*
 * modulo: hash % nodes, with nodes in the order of numbered.h: what most programs do first, and the
 * baseline that the others are compared with.
 *
 * Law: none. When the number of nodes changes from n to n + 1, n / (n + 1) of all keys move.
 * Cost: one division; no memory but the order of nodes.
 */
#include "placement/numbered.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    uint32_t *order = memory_alloc(map->nodes.count, sizeof *order);
    map->state = order;
    if (!order || numbered_order(&map->nodes, order) != CW_OK)
        return error_no_memory(error);
    for (uint32_t i = 0; i < map->nodes.count; i++)
        map->shares[i] = 1.0 / map->nodes.count;
    return CW_OK;
}

static void release(struct cw_map *map)
{
    free(map->state);
}

static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    return ((const uint32_t *)map->state)[hash % map->nodes.count];
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = locate(map, hashes[i]);
}

static size_t memory(const struct cw_map *map)
{
    return map->nodes.count * sizeof(uint32_t);
}

const struct placement placement_modulo = {
    .name = "modulo",
    .capabilities = CW_CAN_REMOVE_ANY,
    .build = build,
    .release = release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_only_one,
    .memory = memory,
};
