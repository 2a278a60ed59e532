/*
 * Many keys at once, in two steps that can be told apart: the system's hash of each key, several in
 * the lanes of vectors where that pays, and the owners of the hashes.
 */
#include "profiles/profile.h"

void profile_hash_keys(const struct cw_profile_map *map, const void *const *keys,
                       const size_t *lens, size_t count, uint64_t *ret_hashes)
{
    const void *parts[PROFILE_BATCH];
    size_t part_lens[PROFILE_BATCH];
    for (size_t at = 0; at < count; at += PROFILE_BATCH) {
        size_t here = count - at < PROFILE_BATCH ? count - at : PROFILE_BATCH;
        const void *const *some = keys + at;
        const size_t *some_lens = lens + at;
        if (map->key != KEY_WHOLE) {
            for (size_t i = 0; i < here; i++)
                parts[i] = profile_key_part(map, some[i], some_lens[i], &part_lens[i]);
            some = parts;
            some_lens = part_lens;
        }
        if (map->hash_batch)
            map->hash_batch(map->vectors, some, some_lens, here, ret_hashes + at);
        for (size_t i = 0; !map->hash_batch && i < here; i++)
            ret_hashes[at + i] = map->hash(some[i], some_lens[i], map->seed);
    }
}

int profile_by_hash(const struct cw_profile_map *map)
{
    return map->engine->locate_hashes && !map->needs_key;
}

void profile_locate_hashes(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                           uint32_t *ret_nodes)
{
    map->engine->locate_hashes(map, hashes, count, ret_nodes);
}

static void locate_some(const struct cw_profile_map *map, const void *const *keys,
                        const size_t *lens, size_t count, uint32_t *ret_nodes)
{
    uint64_t hashes[PROFILE_BATCH];
    profile_hash_keys(map, keys, lens, count, hashes);
    map->engine->locate_hashes(map, hashes, count, ret_nodes);
    for (size_t i = 0; map->profile->no_empty_key && i < count; i++)
        if (lens[i] == 0)
            ret_nodes[i] = map->engine->locate(map, keys[i], 0);
}

void cw_profile_locate_batch(const struct cw_profile_map *map, const void *const *keys,
                             const size_t *key_lens, size_t count, uint32_t *ret_nodes)
{
    int by_hash = profile_by_hash(map);
    for (size_t i = 0; !by_hash && i < count; i++)
        ret_nodes[i] = map->engine->locate(map, keys[i], key_lens[i]);
    for (size_t at = 0; by_hash && at < count; at += PROFILE_BATCH)
        locate_some(map, keys + at, key_lens + at,
                    count - at < PROFILE_BATCH ? count - at : PROFILE_BATCH, ret_nodes + at);
}
