/*
 * The hashes of libmemcached, which twemproxy and many clients share: Jenkins's one-at-a-time and
 * lookup3, FNV, and Hsieh's SuperFastHash.
 */
#include "profiles/legacy_hash.h"

#define FNV32_START 2166136261u
#define FNV32_PRIME 16777619u
#define FNV64_START 0xcbf29ce484222325u
#define FNV64_PRIME 0x100000001b3u

/* A byte as the plain char of the machine that the system runs on. */
static inline uint64_t widen(uint8_t byte, int is_signed)
{
    return is_signed ? (uint64_t)(int64_t)(int8_t)byte : byte;
}

static inline uint32_t one_at_a_time(const uint8_t *key, size_t len, int is_signed)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < len; i++) {
        hash += (uint32_t)widen(key[i], is_signed);
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    return hash + (hash << 15);
}

static inline uint32_t fnv1_32(const uint8_t *key, size_t len, int is_signed)
{
    uint32_t hash = FNV32_START;
    for (size_t i = 0; i < len; i++)
        hash = hash * FNV32_PRIME ^ (uint32_t)widen(key[i], is_signed);
    return hash;
}

static inline uint32_t fnv1a(const uint8_t *key, size_t len, int is_signed, uint32_t start,
                             uint32_t prime)
{
    uint32_t hash = start;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (uint32_t)widen(key[i], is_signed)) * prime;
    return hash;
}

static inline uint32_t fnv1_64(const uint8_t *key, size_t len, int is_signed)
{
    uint64_t hash = FNV64_START;
    for (size_t i = 0; i < len; i++)
        hash = hash * FNV64_PRIME ^ widen(key[i], is_signed);
    return (uint32_t)hash;
}

static inline uint32_t load_le16(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

/* The one to three bytes behind the last whole group; only the third of three is a plain char. */
static inline uint32_t hsieh_tail(uint32_t hash, const uint8_t *at, unsigned left, int is_signed)
{
    switch (left) {
    case 3:
        hash += load_le16(at);
        hash ^= hash << 16;
        hash ^= (uint32_t)widen(at[2], is_signed) << 18;
        return hash + (hash >> 11);
    case 2:
        hash += load_le16(at);
        hash ^= hash << 11;
        return hash + (hash >> 17);
    case 1:
        hash += at[0];
        hash ^= hash << 10;
        return hash + (hash >> 1);
    default: return hash;
    }
}

static inline uint32_t hsieh(const uint8_t *key, size_t len, int is_signed)
{
    uint32_t hash = 0;
    size_t at = 0;
    if (len == 0)
        return 0;
    for (; at + 4 <= len; at += 4) {
        hash += load_le16(key + at);
        hash = hash << 16 ^ (load_le16(key + at + 2) << 11 ^ hash);
        hash += hash >> 11;
    }
    hash = hsieh_tail(hash, key + at, (unsigned)(len - at), is_signed);
    hash ^= hash << 3;
    hash += hash >> 5;
    hash ^= hash << 4;
    hash += hash >> 17;
    hash ^= hash << 25;
    return hash + (hash >> 6);
}

#define BOTH_KINDS(name, call_unsigned, call_signed)                                               \
    uint64_t legacy_##name(const void *key, size_t len, uint64_t seed)                             \
    {                                                                                              \
        return call_unsigned;                                                                      \
    }                                                                                              \
    uint64_t legacy_##name##_signed(const void *key, size_t len, uint64_t seed)                    \
    {                                                                                              \
        return call_signed;                                                                        \
    }

BOTH_KINDS(one_at_a_time, one_at_a_time(key, len, 0), one_at_a_time(key, len, 1))
BOTH_KINDS(fnv1_32, fnv1_32(key, len, 0), fnv1_32(key, len, 1))
BOTH_KINDS(fnv1a_32, fnv1a(key, len, 0, FNV32_START, FNV32_PRIME),
           fnv1a(key, len, 1, FNV32_START, FNV32_PRIME))
BOTH_KINDS(fnv1_64, fnv1_64(key, len, 0), fnv1_64(key, len, 1))
BOTH_KINDS(fnv1a_64, fnv1a(key, len, 0, (uint32_t)FNV64_START, (uint32_t)FNV64_PRIME),
           fnv1a(key, len, 1, (uint32_t)FNV64_START, (uint32_t)FNV64_PRIME))
BOTH_KINDS(hsieh, hsieh(key, len, 0), hsieh(key, len, 1))

/* ---- lookup3 --------------------------------------------------------------------------------- */

static inline uint32_t rotl(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

/* Up to 12 bytes as three little-endian words, zeros behind. */
static void load_words(const uint8_t *at, size_t len, uint32_t words[3])
{
    words[0] = words[1] = words[2] = 0;
    for (size_t i = 0; i < len && i < 12; i++)
        words[i / 4] |= (uint32_t)at[i] << (8 * (i % 4));
}

static void lookup3_mix(uint32_t *a, uint32_t *b, uint32_t *c)
{
    static const uint8_t turns[6] = {4, 6, 8, 16, 19, 4};
    for (unsigned i = 0; i < 6; i += 3) {
        *a = (*a - *c) ^ rotl(*c, turns[i]);
        *c += *b;
        *b = (*b - *a) ^ rotl(*a, turns[i + 1]);
        *a += *c;
        *c = (*c - *b) ^ rotl(*b, turns[i + 2]);
        *b += *a;
    }
}

uint64_t legacy_jenkins(const void *key, size_t len, uint64_t seed)
{
    const uint8_t *at = key;
    uint32_t words[3], a, b, c;
    a = b = c = 0xdeadbeef + (uint32_t)len + 13;
    for (; len > 12; at += 12, len -= 12) {
        load_words(at, 12, words);
        a += words[0];
        b += words[1];
        c += words[2];
        lookup3_mix(&a, &b, &c);
    }
    if (len == 0)
        return c;
    load_words(at, len, words);
    a += words[0];
    b += words[1];
    c = ((c + words[2]) ^ b) - rotl(b, 14);
    a = (a ^ c) - rotl(c, 11);
    b = (b ^ a) - rotl(a, 25);
    c = (c ^ b) - rotl(b, 16);
    a = (a ^ c) - rotl(c, 4);
    b = (b ^ a) - rotl(a, 14);
    return (c ^ b) - rotl(b, 24);
}
