/*
 * The names that systems have for their key hashes. One name is not one hash: crc32 is 15 bits to
 * twemproxy and 32 to HAProxy.
 */
#include "profiles/profile.h"

#include "profiles/legacy_crc.h"
#include "profiles/legacy_digest.h"

#include <string.h>

/* The first word of MD5, little-endian: what ketama looks keys up with. */
uint64_t profile_md5_word(const void *key, size_t len, uint64_t seed)
{
    uint32_t words[4];
    legacy_md5_words(key, len, words);
    return words[0];
}

static uint64_t crc32(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc32(key, len);
}

static uint64_t crc32_15_bits(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc32(key, len) >> 16 & 0x7fff;
}

static uint64_t crc16(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc16(key, len);
}

static uint64_t crc16_wide(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc16_wide(key, len);
}

uint64_t profile_md5_be64(const void *key, size_t len, uint64_t seed)
{
    uint32_t words[4];
    legacy_md5_words(key, len, words);
    return (uint64_t)__builtin_bswap32(words[0]) << 32 | __builtin_bswap32(words[1]);
}

static uint64_t sha1_word(const void *key, size_t len, uint64_t seed)
{
    uint8_t digest[20];
    legacy_sha1(key, len, digest);
    return digest[0] | (uint32_t)digest[1] << 8 | (uint32_t)digest[2] << 16 |
           (uint32_t)digest[3] << 24;
}

uint64_t profile_md5_be16(const void *key, size_t len, uint64_t seed)
{
    return profile_md5_be64(key, len, seed) >> 48;
}

uint64_t profile_md5_le64_first(const void *key, size_t len, uint64_t seed)
{
    uint32_t words[4];
    legacy_md5_words(key, len, words);
    return (uint64_t)words[1] << 32 | words[0];
}

uint64_t profile_md5_le64_last(const void *key, size_t len, uint64_t seed)
{
    uint32_t words[4];
    legacy_md5_words(key, len, words);
    return (uint64_t)words[3] << 32 | words[2];
}

static uint64_t sha256_end(const void *key, size_t len, uint64_t seed)
{
    uint8_t digest[32];
    legacy_sha256(key, len, digest);
    return digest[28] | (uint32_t)digest[29] << 8 | (uint32_t)digest[30] << 16 |
           (uint32_t)digest[31] << 24;
}

/* A number of 32 bits as signed, without its sign; the least stays 2^31. */
static uint32_t absolute(uint32_t value)
{
    return value >> 31 ? 0 - value : value;
}

static uint64_t java_hash_absolute(const void *key, size_t len, uint64_t seed)
{
    return absolute((uint32_t)legacy_java_hash(key, len, seed));
}

static uint64_t fnv1a_absolute(const void *key, size_t len, uint64_t seed)
{
    return absolute((uint32_t)legacy_fnv1a_32(key, len, seed));
}

static uint64_t fnv1a_16(const void *key, size_t len, uint64_t seed)
{
    uint32_t hash = (uint32_t)legacy_fnv1a_32(key, len, seed);
    return (hash >> 16 ^ hash) & 0xffff;
}

/* A Java int widened to a long. */
static uint64_t java_hash_long(const void *key, size_t len, uint64_t seed)
{
    return (uint64_t)(int64_t)(int32_t)legacy_java_hash(key, len, seed);
}

static uint64_t murmur3_32_seed_0(const void *key, size_t len, uint64_t seed)
{
    return legacy_murmur3_32(key, len, 0);
}

static uint64_t murmur2_kafka(const void *key, size_t len, uint64_t seed)
{
    return legacy_murmur2(key, len, 0x9747b28c) & 0x7fffffff;
}

static uint64_t murmur64a_envoy(const void *key, size_t len, uint64_t seed)
{
    return legacy_murmur64a(key, len, 0xc70f6907);
}

/* Cassandra's token, offset by 2^63. The empty key has the least token; the least that murmur can
 * give counts as the greatest. */
static uint64_t cassandra_token(const void *key, size_t len, uint64_t seed)
{
    if (len == 0)
        return 0;
    uint64_t token = legacy_murmur3_128_signed(key, len, 0) ^ (uint64_t)1 << 63;
    return token ? token : UINT64_MAX;
}

static uint64_t pecl_15_bits(uint64_t hash)
{
    uint64_t bits = hash >> 16 & 0x7fff;
    return bits ? bits : 1;
}

static uint64_t pecl_crc32(const void *key, size_t len, uint64_t seed)
{
    return pecl_15_bits(crc32(key, len, seed));
}

static uint64_t pecl_fnv_signed(const void *key, size_t len, uint64_t seed)
{
    return pecl_15_bits(legacy_fnv1a_32_signed(key, len, seed));
}

static uint64_t pecl_fnv(const void *key, size_t len, uint64_t seed)
{
    return pecl_15_bits(legacy_fnv1a_32(key, len, seed));
}

/* The low halves of hashes that have more. */
#define LOW_HALF(name, of)                                                                         \
    static uint64_t name(const void *key, size_t len, uint64_t seed)                               \
    {                                                                                              \
        return (uint32_t)of(key, len, seed);                                                       \
    }
LOW_HALF(java_fnv1_32, legacy_java_fnv1_32)
LOW_HALF(java_fnv1a_32, legacy_java_fnv1a_32)
LOW_HALF(java_fnv1_64, legacy_java_fnv1_64)
LOW_HALF(java_fnv1a_64, legacy_java_fnv1a_64)

/* HAProxy's functions with its avalanche behind. */
#define AVALANCHE(name, of)                                                                        \
    static uint64_t name(const void *key, size_t len, uint64_t seed)                               \
    {                                                                                              \
        return legacy_full_hash((uint32_t)of(key, len, seed));                                     \
    }
AVALANCHE(sdbm_avalanche, legacy_sdbm)
AVALANCHE(djb2_avalanche, legacy_djb2)
AVALANCHE(wt6_avalanche, legacy_wt6)
AVALANCHE(crc32_avalanche, crc32)
AVALANCHE(decimal_avalanche, legacy_decimal)

/* twemproxy took these over with their names. */
#define BOTH (HASHES_LIBMEMCACHED | HASHES_TWEMPROXY)

/* clang-format off */
static const struct profile_hash hashes[] = {
    {"one_at_a_time", BOTH, legacy_one_at_a_time_signed, legacy_one_at_a_time, 0},
    {"md5", BOTH, profile_md5_word, NULL, 0},
    {"crc", HASHES_LIBMEMCACHED, crc32_15_bits, NULL, 15},
    {"crc16", HASHES_TWEMPROXY, crc16_wide, NULL, 0},
    {"crc32", HASHES_TWEMPROXY, crc32_15_bits, NULL, 0},
    {"crc32a", HASHES_TWEMPROXY, crc32, NULL, 0},
    {"fnv1_64", BOTH, legacy_fnv1_64_signed, legacy_fnv1_64, 0},
    {"fnv1a_64", BOTH, legacy_fnv1a_64_signed, legacy_fnv1a_64, 0},
    {"fnv1_32", BOTH, legacy_fnv1_32_signed, legacy_fnv1_32, 0},
    {"fnv1a_32", BOTH, legacy_fnv1a_32_signed, legacy_fnv1a_32, 0},
    {"hsieh", BOTH, legacy_hsieh_signed, legacy_hsieh, 0},
    {"murmur", BOTH, legacy_murmur2_by_length, NULL, 0},
    {"murmur3", HASHES_LIBMEMCACHED, legacy_murmur3_32_by_length, NULL, 0},
    {"jenkins", BOTH, legacy_jenkins, NULL, 0},
    {"sdbm", HASHES_HAPROXY, legacy_sdbm, NULL, 0},
    {"djb2", HASHES_HAPROXY, legacy_djb2, NULL, 0},
    {"wt6", HASHES_HAPROXY, legacy_wt6, NULL, 0},
    {"crc32", HASHES_HAPROXY | HASHES_OTHER, crc32, NULL, 0},
    {"none", HASHES_HAPROXY, legacy_decimal, NULL, 0},
    {"sdbm-avalanche", HASHES_HAPROXY, sdbm_avalanche, NULL, 0},
    {"djb2-avalanche", HASHES_HAPROXY, djb2_avalanche, NULL, 0},
    {"wt6-avalanche", HASHES_HAPROXY, wt6_avalanche, NULL, 0},
    {"crc32-avalanche", HASHES_HAPROXY, crc32_avalanche, NULL, 0},
    {"none-avalanche", HASHES_HAPROXY, decimal_avalanche, NULL, 0},
    {"NATIVE_HASH", HASHES_SPYMEMCACHED, legacy_java_hash, NULL, 0},
    {"CRC_HASH", HASHES_SPYMEMCACHED, crc32_15_bits, NULL, 15},
    {"FNV1_64_HASH", HASHES_SPYMEMCACHED, java_fnv1_64, NULL, 0},
    {"FNV1A_64_HASH", HASHES_SPYMEMCACHED, java_fnv1a_64, NULL, 0},
    {"FNV1_32_HASH", HASHES_SPYMEMCACHED, java_fnv1_32, NULL, 0},
    {"FNV1A_32_HASH", HASHES_SPYMEMCACHED, java_fnv1a_32, NULL, 0},
    {"KETAMA_HASH", HASHES_SPYMEMCACHED, profile_md5_word, NULL, 0},
    {"md5/le4", HASHES_OTHER, profile_md5_word, NULL, 0},
    {"md5/be64", HASHES_OTHER, profile_md5_be64, NULL, 0},
    {"sha1/le4", HASHES_OTHER, sha1_word, NULL, 0},
    {"crc16/xmodem", HASHES_OTHER, crc16, NULL, 0},
    {"crc32/15", HASHES_OTHER, crc32_15_bits, NULL, 0},
    {"ONE_AT_A_TIME", HASHES_OTHER, legacy_one_at_a_time, NULL, 0},
    {"xxh3", HASHES_MEMCACHED, legacy_xxh3, NULL, 0},
    {"md5", HASHES_MEMCACHED, profile_md5_word, NULL, 0},
    {"xx_hash", HASHES_ENVOY, legacy_xxh64, NULL, 0},
    {"murmur_hash_2", HASHES_ENVOY, murmur64a_envoy, NULL, 0},
    {"md5", HASHES_GUAVA, profile_md5_le64_first, NULL, 0},
    {"hashCode", HASHES_GUAVA, java_hash_long, NULL, 0},
    {"murmur3_128", HASHES_GUAVA, legacy_murmur3_128, NULL, 0},
    {"murmur3_32_fixed", HASHES_GUAVA, murmur3_32_seed_0, NULL, 0},
    {"crc32", HASHES_PECL, crc32, NULL, 0},
    {"fnv", HASHES_PECL, legacy_fnv1a_32_signed, legacy_fnv1a_32, 0},
    {"crc32", HASHES_PECL_STANDARD, pecl_crc32, NULL, 0},
    {"fnv", HASHES_PECL_STANDARD, pecl_fnv_signed, pecl_fnv, 0},
    {"crc32", HASHES_STATHAT, crc32, NULL, 0},
    {"fnv", HASHES_STATHAT, legacy_fnv1a_32, NULL, 0},
    {"js31", HASHES_OTHER, java_hash_absolute, NULL, 0},
    {"murmur2/31", HASHES_OTHER, murmur2_kafka, NULL, 0},
    {"murmur2/js", HASHES_OTHER, legacy_murmur2_js, NULL, 0},
    {"murmur3-token", HASHES_OTHER, cassandra_token, NULL, 0},
    {"fnv1a/abs", HASHES_OTHER, fnv1a_absolute, NULL, 0},
    {"fnv1a/16", HASHES_OTHER, fnv1a_16, NULL, 0},
    {"md5/be16", HASHES_OTHER, profile_md5_be16, NULL, 0},
    {"md5/le64", HASHES_OTHER, profile_md5_le64_last, NULL, 0},
    {"sha256/end", HASHES_OTHER, sha256_end, NULL, 0},
    {"xxh64", HASHES_OTHER, legacy_xxh64, NULL, 0},
};
/* clang-format on */

enum { HASH_COUNT = sizeof hashes / sizeof *hashes };

const struct profile_hash *profile_hash_at(uint32_t set, size_t index)
{
    for (size_t i = 0; i < HASH_COUNT; i++)
        if (hashes[i].sets & set && index-- == 0)
            return &hashes[i];
    return NULL;
}

const struct profile_hash *profile_hash_find(uint32_t set, const char *name)
{
    for (size_t i = 0; i < HASH_COUNT; i++)
        if (hashes[i].sets & set && strcmp(hashes[i].name, name) == 0)
            return &hashes[i];
    return NULL;
}

const char *cw_profile_hash_at(const struct cw_profile *profile, size_t index)
{
    const struct profile *row = (const struct profile *)profile;
    const struct profile_hash *hash = row ? profile_hash_at(row->hashes, index) : NULL;
    return hash && row->shown.settings & CW_PROFILE_HASH ? hash->name : NULL;
}
