/*
 * HAProxy's hash functions: sdbm, djb2, wt6, "none" (a decimal number read as it stands), and the
 * avalanche that follows them when asked for.
 */
#include "profiles/legacy_hash.h"

uint64_t legacy_sdbm(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *at = key;
    uint32_t hash = 0;
    for (size_t i = 0; i < len; i++)
        hash = at[i] + hash * 65599u;
    return hash;
}

uint64_t legacy_djb2(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *at = key;
    uint32_t hash = 5381;
    for (size_t i = 0; i < len; i++)
        hash = hash * 33 + at[i];
    return hash;
}

static uint32_t rotl(uint32_t x, unsigned n)
{
    return n ? x << n | x >> (32 - n) : x;
}

/* Two registers whose rotations depend on what was read. */
uint64_t legacy_wt6(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *at = key;
    uint32_t h0 = 0xa53c965a, h1 = 0x5ca6953a;
    unsigned step0 = 6, step1 = 18;
    for (size_t i = 0; i < len; i++) {
        h0 = ~(h0 ^ at[i]);
        h1 = ~(h1 + at[i]);
        uint32_t turned = rotl(h1, step0);
        h1 = rotl(h0, step1);
        h0 = turned;
        uint32_t mixed = (h0 >> 16 ^ h1) & 0xffff;
        step0 = mixed & 31;
        step1 = mixed >> 11;
    }
    return h0 ^ h1;
}

/* The number that the text starts with, modulo 2^32; 0 when it starts with none. */
uint64_t legacy_decimal(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *at = key;
    uint32_t value = 0;
    for (size_t i = 0; i < len && at[i] >= '0' && at[i] <= '9'; i++)
        value = value * 10 + (at[i] - '0');
    return value;
}

uint32_t legacy_full_hash(uint32_t a)
{
    a = a + 0x7ed55d16 + (a << 12);
    a = a ^ 0xc761c23c ^ a >> 19;
    a = a + 0x165667b1 + (a << 5);
    a = (a + 0xd3a2646c) ^ a << 9;
    a = a + 0xfd7046c5 + (a << 3);
    a = a ^ 0xb55a4f09 ^ a >> 16;
    return a * 3221225473u;
}
