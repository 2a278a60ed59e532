/*
 * From a key to its nodes: the hash of its tag, and from there as for any hash.
 */
#include "placement/map.h"

enum { BATCH = 64 };

uint32_t cw_locate_key(const struct cw_map *map, const void *key, size_t key_len)
{
    return cw_locate(map, cw_hash_tagged(key, key_len));
}

void cw_locate_keys(const struct cw_map *map, const void *const *keys, const size_t *key_lens,
                    size_t count, uint32_t *ret_nodes)
{
    uint64_t hashes[BATCH];
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
    return cw_locate_n(map, cw_hash_tagged(key, key_len), k, ret_nodes);
}
