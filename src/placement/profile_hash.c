/*
 * The names that systems have for their key hashes. One name is not one hash: crc32 is 15 bits to
 * twemproxy and 32 to HAProxy.
 */
#include "placement/profile.h"

#include "placement/legacy_crc.h"
#include "placement/legacy_digest.h"

#include <string.h>

/* The first word of MD5, little-endian: what ketama looks keys up with. */
static uint64_t md5_word(const void *key, size_t len, uint64_t seed)
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

static uint64_t crc16_wide(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc16_wide(key, len);
}

/* clang-format off */
static const struct profile_hash hashes[] = {
    {"one_at_a_time", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_one_at_a_time_signed,
     legacy_one_at_a_time},
    {"md5", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, md5_word, NULL},
    {"crc", HASHES_LIBMEMCACHED, crc32_15_bits, NULL},
    {"crc16", HASHES_TWEMPROXY, crc16_wide, NULL},
    {"crc32", HASHES_TWEMPROXY, crc32_15_bits, NULL},
    {"crc32a", HASHES_TWEMPROXY, crc32, NULL},
    {"fnv1_64", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_fnv1_64_signed, legacy_fnv1_64},
    {"fnv1a_64", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_fnv1a_64_signed, legacy_fnv1a_64},
    {"fnv1_32", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_fnv1_32_signed, legacy_fnv1_32},
    {"fnv1a_32", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_fnv1a_32_signed, legacy_fnv1a_32},
    {"hsieh", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_hsieh_signed, legacy_hsieh},
    {"murmur", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_murmur2_by_length, NULL},
    {"murmur3", HASHES_LIBMEMCACHED, legacy_murmur3_32_by_length, NULL},
    {"jenkins", HASHES_LIBMEMCACHED | HASHES_TWEMPROXY, legacy_jenkins, NULL},
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
