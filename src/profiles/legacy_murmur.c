/*
 * The Murmur hashes of Austin Appleby: version 2 in 32 and 64 bits, version 3 in 32 and 128.
 */
#include "profiles/legacy_hash.h"

#include <string.h>

static inline uint32_t load_le32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t load_le64(const uint8_t *at)
{
    return load_le32(at) | (uint64_t)load_le32(at + 4) << 32;
}

/* Fewer than 8 bytes, little-endian; each taken as signed if so, and then they overlap by xor. */
static inline uint64_t load_tail(const uint8_t *at, size_t len, int is_signed)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++)
        word ^= (is_signed ? (uint64_t)(int64_t)(int8_t)at[i] : at[i]) << (8 * i);
    return word;
}

static inline uint32_t rotl32(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static inline uint64_t rotl64(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

uint64_t legacy_murmur2(const void *key, size_t len, uint64_t seed)
{
    const uint32_t m = 0x5bd1e995;
    const uint8_t *at = key;
    uint32_t hash = (uint32_t)seed ^ (uint32_t)len;
    for (; len >= 4; at += 4, len -= 4) {
        uint32_t word = load_le32(at) * m;
        hash = hash * m ^ (word ^ word >> 24) * m;
    }
    if (len)
        hash = (hash ^ (uint32_t)load_tail(at, len, 0)) * m;
    hash = (hash ^ hash >> 13) * m;
    return hash ^ hash >> 15;
}

uint64_t legacy_murmur2_by_length(const void *key, size_t len, uint64_t seed)
{
    return legacy_murmur2(key, len, (uint32_t)(0xdeadbeefu * (uint32_t)len));
}

static uint32_t murmur3_scramble(uint32_t word)
{
    return rotl32(word * 0xcc9e2d51u, 15) * 0x1b873593u;
}

uint64_t legacy_murmur3_32(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *at = key;
    uint32_t hash = (uint32_t)seed, all = (uint32_t)len;
    for (; len >= 4; at += 4, len -= 4)
        hash = rotl32(hash ^ murmur3_scramble(load_le32(at)), 13) * 5 + 0xe6546b64u;
    hash ^= murmur3_scramble((uint32_t)load_tail(at, len, 0)) ^ all;
    hash = (hash ^ hash >> 16) * 0x85ebca6bu;
    hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
    return hash ^ hash >> 16;
}

uint64_t legacy_murmur3_32_by_length(const void *key, size_t len, uint64_t seed)
{
    return legacy_murmur3_32(key, len, (uint32_t)(0xdeadbeefu * (uint32_t)len));
}

uint64_t legacy_murmur64a(const void *key, size_t len, uint64_t seed)
{
    const uint64_t m = 0xc6a4a7935bd1e995u;
    const uint8_t *at = key;
    uint64_t hash = seed ^ (len * m);
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t word = load_le64(at) * m;
        hash = (hash ^ (word ^ word >> 47) * m) * m;
    }
    if (len)
        hash = (hash ^ load_tail(at, len, 0)) * m;
    hash = (hash ^ hash >> 47) * m;
    return hash ^ hash >> 47;
}

#define M128_ONE 0x87c37b91114253d5u
#define M128_TWO 0x4cf5ad432745937fu

static uint64_t murmur3_finish(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 33;
}

static inline uint64_t murmur3_128(const uint8_t *at, size_t len, uint64_t seed, int is_signed)
{
    uint64_t one = seed, two = seed, all = len;
    for (; len >= 16; at += 16, len -= 16) {
        one ^= rotl64(load_le64(at) * M128_ONE, 31) * M128_TWO;
        one = (rotl64(one, 27) + two) * 5 + 0x52dce729;
        two ^= rotl64(load_le64(at + 8) * M128_TWO, 33) * M128_ONE;
        two = (rotl64(two, 31) + one) * 5 + 0x38495ab5;
    }
    if (len > 8)
        two ^= rotl64(load_tail(at + 8, len - 8, is_signed) * M128_TWO, 33) * M128_ONE;
    if (len)
        one ^= rotl64(load_tail(at, len < 8 ? len : 8, is_signed) * M128_ONE, 31) * M128_TWO;
    one ^= all;
    two ^= all;
    one += two;
    two += one;
    return murmur3_finish(one) + murmur3_finish(two);
}

uint64_t legacy_murmur3_128(const void *key, size_t len, uint64_t seed)
{
    return murmur3_128(key, len, seed, 0);
}

uint64_t legacy_murmur3_128_signed(const void *key, size_t len, uint64_t seed)
{
    return murmur3_128(key, len, seed, 1);
}
