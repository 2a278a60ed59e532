/*
 * xxHash (Collet), compiled in as for our own placements.
 */
#include "profiles/legacy_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t legacy_xxh32(const void *key, size_t len, uint64_t seed)
{
    return XXH32(key, len, (uint32_t)seed);
}

uint64_t legacy_xxh64(const void *key, size_t len, uint64_t seed)
{
    return XXH64(key, len, seed);
}

uint64_t legacy_xxh3(const void *key, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(key, len, seed);
}
