/*
 * Tables: hash modulo the number of places, and the node that each place belongs to.
 */
#include "profiles/profile_table.h"

#include "placement/error.h"
#include "profiles/legacy_crc.h"
#include "placement/memory.h"

#include <stdio.h>
#include <stdlib.h>

static int sum_shares(struct cw_profile_map *map, const struct profile_table *table)
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

static int has_down(const struct cw_profile_map *map)
{
    for (uint32_t i = 0; i < map->node_count; i++)
        if (map->nodes[i].is_down)
            return 1;
    return 0;
}

static int build(struct cw_profile_map *map, struct cw_error *error)
{
    struct profile_table *table = memory_alloc(1, sizeof *table);
    if (!table)
        return error_no_memory(error);
    map->state = table;
    int status = profile_fill(map, table, error);
    if (status != CW_OK)
        return status;
    table->has_down = map->profile->skip_down_max && has_down(map);
    map->needs_key = table->has_down;
    if (table->has_down)
        return CW_OK; /* neither positions nor shares can be read off the table */
    map->position_max = table->size - 1;
    return sum_shares(map, table) == CW_OK ? CW_OK : error_no_memory(error);
}

static void release(struct cw_profile_map *map)
{
    struct profile_table *table = map->state;
    if (table)
        free(table->owners);
    free(table);
}

/* Most hashes have 32 bits, and a division of 32 bits costs a fraction of one of 64. */
static inline uint64_t place_of(const struct profile_table *table, uint64_t hash)
{
    return hash <= UINT32_MAX ? (uint32_t)hash % table->size : hash % table->size;
}

static uint64_t position(const struct cw_profile_map *map, const void *key, size_t len)
{
    return place_of(map->state, profile_key_hash(map, key, len));
}

static void locate_hashes(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                          uint32_t *ret_nodes)
{
    const struct profile_table *table = map->state;
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = table->owners[place_of(table, hashes[i])];
}

/* nginx: the hash of "1key", "2key", ... is added until a server is found that is not down. */
static uint32_t locate_again(const struct cw_profile_map *map, const void *key, size_t len)
{
    const struct profile_table *table = map->state;
    uint32_t sum = 0;
    for (unsigned i = 0; i <= map->profile->skip_down_max; i++) {
        char counter[16];
        int digits = i ? snprintf(counter, sizeof counter, "%u", i) : 0;
        uint32_t crc = legacy_crc32_continue(UINT32_MAX, counter, (size_t)digits);
        sum += ~legacy_crc32_continue(crc, key, len) >> 16 & 0x7fff;
        uint32_t owner = table->owners[sum % table->size];
        if (!map->given[owner].is_down)
            return owner;
    }
    return CW_NO_NODE;
}

static uint32_t locate(const struct cw_profile_map *map, const void *key, size_t len)
{
    const struct profile_table *table = map->state;
    if (len == 0 && map->profile->no_empty_key && map->node_count > 1)
        return CW_NO_NODE;
    if (table->has_down)
        return locate_again(map, key, len);
    return table->owners[position(map, key, len)];
}

static uint32_t range_at(const struct cw_profile_map *map, uint64_t position, uint64_t *ret_last)
{
    const struct profile_table *table = map->state;
    uint32_t at = (uint32_t)position, owner = table->owners[at];
    while (at + 1 < table->size && table->owners[at + 1] == owner)
        at++;
    *ret_last = at;
    return owner;
}

static size_t memory(const struct cw_profile_map *map)
{
    const struct profile_table *table = map->state;
    return sizeof *table + table->size * sizeof *table->owners;
}

const struct profile_engine profile_engine_table = {
    .build = build,
    .release = release,
    .locate = locate,
    .locate_hashes = locate_hashes,
    .position = position,
    .range_at = range_at,
    .memory = memory,
};
