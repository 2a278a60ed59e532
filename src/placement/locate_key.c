/*
 * From a key to its nodes: by the placement's own rule where it has one for keys, else by the hash
 * of the key's tag.
 */
#include "placement/map.h"

enum { BATCH = 64 };

uint32_t cw_locate_key(const struct cw_map *map, const void *key, size_t key_len)
{
    if (__builtin_expect(map->ops->locate_key != NULL, 0))
        return map->ops->locate_key(map, key, key_len);
    return cw_locate(map, cw_hash_tagged(key, key_len));
}

void cw_locate_keys(const struct cw_map *map, const void *const *keys, const size_t *key_lens,
                    size_t count, uint32_t *ret_nodes)
{
    uint64_t hashes[BATCH];
    if (map->ops->locate_keys) {
        map->ops->locate_keys(map, keys, key_lens, count, ret_nodes);
        return;
    }
    for (size_t at = 0; at < count; at += BATCH) {
        size_t here = count - at < BATCH ? count - at : BATCH;
        for (size_t i = 0; i < here; i++)
            hashes[i] = cw_hash_tagged(keys[at + i], key_lens[at + i]);
        cw_locate_batch(map, hashes, here, ret_nodes + at);
    }
}

size_t cw_locate_key_n(const struct cw_map *map, const void *key, size_t key_len, size_t k,
                       uint32_t *ret_nodes)
{
    if (!map->ops->locate_key_n)
        return cw_locate_n(map, cw_hash_tagged(key, key_len), k, ret_nodes);
    if (k > CW_REPLICA_COUNT_MAX)
        k = CW_REPLICA_COUNT_MAX;
    return map->ops->locate_key_n(map, key, key_len, k, ret_nodes);
}
