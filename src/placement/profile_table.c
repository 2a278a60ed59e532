/*
 * Tables: hash modulo the number of places, and the node that each place belongs to.
 */
#include "placement/profile.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>

struct table {
    uint32_t *owners; /* by place: a node's given number */
    uint32_t size;
};

#define TABLE_SIZE_MAX (1u << 27)

/* ---- fills ----------------------------------------------------------------------------------- */

static int table_init(struct table *table, double size, struct cw_error *error)
{
    if (size < 1 || size > TABLE_SIZE_MAX)
        return error_set(error, CW_EINVAL, "a table of %.0f places: use 1 to %u", size,
                         TABLE_SIZE_MAX);
    table->size = (uint32_t)size;
    table->owners = memory_alloc(table->size, sizeof *table->owners);
    return table->owners ? CW_OK : error_no_memory(error);
}

/* Every node as many times in a row as its weight says, or once. */
static int fill_in_rows(const struct cw_profile_map *map, struct table *table, int by_weight,
                        struct cw_error *error)
{
    uint32_t at = 0;
    int status = table_init(table, by_weight ? profile_weight_sum(map) : map->node_count, error);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < map->node_count; i++) {
        uint32_t end = at + (by_weight ? (uint32_t)map->nodes[i].weight : 1);
        while (at < end)
            table->owners[at++] = map->nodes[i].number;
    }
    return CW_OK;
}

static int fill(struct cw_profile_map *map, struct table *table, struct cw_error *error)
{
    switch (map->profile->table.fill) {
    case FILL_ONCE: return fill_in_rows(map, table, 0, error);
    case FILL_WEIGHT: return fill_in_rows(map, table, 1, error);
    default: return error_set(error, CW_ENOT_SUPPORTED, "not a table");
    }
}

/* ---- the engine ------------------------------------------------------------------------------ */

static int sum_shares(struct cw_profile_map *map, const struct table *table)
{
    map->shares = memory_alloc(map->owner_count, sizeof *map->shares);
    if (!map->shares)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < table->size; i++)
        if (table->owners[i] != CW_NO_NODE)
            map->shares[table->owners[i]]++;
    for (uint32_t i = 0; i < map->owner_count; i++)
        map->shares[i] /= table->size;
    return CW_OK;
}

static int build(struct cw_profile_map *map, struct cw_error *error)
{
    struct table *table = memory_alloc(1, sizeof *table);
    if (!table)
        return error_no_memory(error);
    map->state = table;
    int status = fill(map, table, error);
    if (status != CW_OK)
        return status;
    map->position_max = table->size - 1;
    return sum_shares(map, table) == CW_OK ? CW_OK : error_no_memory(error);
}

static void release(struct cw_profile_map *map)
{
    struct table *table = map->state;
    if (table)
        free(table->owners);
    free(table);
}

static uint64_t position(const struct cw_profile_map *map, const void *key, size_t len)
{
    const struct table *table = map->state;
    return profile_key_hash(map, key, len) % table->size;
}

static uint32_t locate(const struct cw_profile_map *map, const void *key, size_t len)
{
    const struct table *table = map->state;
    return table->owners[position(map, key, len)];
}

static uint32_t range_at(const struct cw_profile_map *map, uint64_t position, uint64_t *ret_last)
{
    const struct table *table = map->state;
    uint32_t at = (uint32_t)position, owner = table->owners[at];
    while (at + 1 < table->size && table->owners[at + 1] == owner)
        at++;
    *ret_last = at;
    return owner;
}

static size_t memory(const struct cw_profile_map *map)
{
    const struct table *table = map->state;
    return sizeof *table + table->size * sizeof *table->owners;
}

const struct profile_engine profile_engine_table = {
    .build = build,
    .release = release,
    .locate = locate,
    .position = position,
    .range_at = range_at,
    .memory = memory,
};
