/*
 * Jump consistent hash (Lamping, Veach 2014) as other systems have it: the number of the server in
 * the order given, from 64 bits of hash. Guava computes the same by another formula.
 */
#include "profiles/profile.h"

#include "placement/error.h"
#include "placement/jump.h"
#include "placement/memory.h"

static int build(struct cw_profile_map *map, struct cw_error *error)
{
    if (map->node_count == 0)
        map->owner_count = map->options.size;
    if (map->owner_count == 0 || map->owner_count > INT32_MAX)
        return error_set(error, CW_EINVAL, "%u buckets: give servers, or a size of 1 to %d",
                         map->owner_count, INT32_MAX);
    if (map->node_count == 0)
        return CW_OK; /* shares of numbers: all the same, nobody asks */
    map->shares = memory_alloc(map->owner_count, sizeof *map->shares);
    if (!map->shares)
        return error_no_memory(error);
    for (uint32_t i = 0; i < map->owner_count; i++)
        map->shares[i] = 1.0 / map->owner_count;
    return CW_OK;
}

static void release(struct cw_profile_map *map)
{
}

static uint32_t locate(const struct cw_profile_map *map, const void *key, size_t len)
{
    return jump_bucket(profile_key_hash(map, key, len), map->owner_count);
}

static void locate_hashes(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                          uint32_t *ret_nodes)
{
    jump_batch(map->vectors, hashes, count, map->owner_count, ret_nodes);
}

static uint64_t position(const struct cw_profile_map *map, const void *key, size_t len)
{
    return profile_key_hash(map, key, len);
}

static size_t memory(const struct cw_profile_map *map)
{
    return 0;
}

const struct profile_engine profile_engine_jump = {
    .build = build,
    .release = release,
    .locate = locate,
    .locate_hashes = locate_hashes,
    .position = position,
    .memory = memory,
};
