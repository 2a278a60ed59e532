/*
 * mcrouter: Ch3 (furc_hash, a consistent hash of Facebook's that draws a number of as many bits as
 * the pool's size has, from a stream of bits that the key seeds, until one is in range), weighted
 * Ch3, CRC-32, and two kinds of rendezvous hashing. Servers are numbered in the order of the pool.
 */
#include "profiles/profile.h"

#include "placement/error.h"
#include "profiles/legacy_crc.h"
#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

#define FURC_SEED  4193360111u
#define SALT_SEED  0xface2014u /* of the draw that weighs */
#define POINT_SEED 2718281828u /* of the key in rendezvous hashing */

enum {
    TEXT_ROOM = 4096, /* a key with its salt and a counter; longer keys have no place */
    FURC_STEP = 23,
    FURC_TRIES = 32,
    WEIGHT_TRIES = 32,
};

struct text {
    char bytes[TEXT_ROOM];
    size_t len;
};

/* The part of the key that is hashed, and the salt behind it. */
static int make_text(const struct cw_profile_map *map, const void *key, size_t len,
                     struct text *ret_text)
{
    const void *part = profile_key_part(map, key, len, &len);
    size_t salt_len = strlen(map->options.salt);
    if (len + salt_len > TEXT_ROOM - 16)
        return 0;
    if (len)
        memcpy(ret_text->bytes, part, len);
    memcpy(ret_text->bytes + len, map->options.salt, salt_len);
    ret_text->len = len + salt_len;
    return 1;
}

/* ---- Ch3 ------------------------------------------------------------------------------------- */

/* A stream of bits that never ends: the words after the first are hashes of the one before. */
struct bits {
    uint64_t words[(24 + FURC_TRIES * FURC_STEP * 24) / 64 + 1];
    unsigned count;
};

static unsigned bit_at(struct bits *bits, unsigned index)
{
    unsigned word = index / 64;
    for (; bits->count <= word; bits->count++) {
        uint8_t before[8];
        for (unsigned i = 0; i < 8; i++)
            before[i] = (uint8_t)(bits->words[bits->count - 1] >> (8 * i));
        bits->words[bits->count] = legacy_murmur64a(before, sizeof before, FURC_SEED);
    }
    return bits->words[word] >> (index % 64) & 1;
}

static uint32_t ch3(const char *text, size_t len, uint32_t count)
{
    struct bits bits;
    if (count <= 1)
        return 0;
    bits.words[0] = legacy_murmur64a(text, len, FURC_SEED);
    bits.count = 1;
    unsigned digits = 32 - (unsigned)__builtin_clz(count - 1), at = digits;
    for (unsigned tries = 0; tries < FURC_TRIES; tries++) {
        while (!bit_at(&bits, at)) {
            if (--digits == 0)
                return 0;
            at = digits;
        }
        uint32_t number = 1;
        at += FURC_STEP;
        for (unsigned i = 1; i < digits; i++, at += FURC_STEP)
            number = number << 1 | bit_at(&bits, at);
        if (number < count)
            return number;
    }
    return 0;
}

static uint32_t locate_ch3(const struct cw_profile_map *map, const void *key, size_t len)
{
    struct text text;
    return make_text(map, key, len, &text) ? ch3(text.bytes, text.len, map->node_count)
                                           : CW_NO_NODE;
}

/* The decimal digits of the counter, the last one first. */
static size_t put_counter(char *at, unsigned counter)
{
    size_t len = 0;
    do {
        at[len++] = (char)('0' + counter % 10);
        counter /= 10;
    } while (counter);
    return len;
}

/* A server of weight w takes a key with probability w; a key that is not taken tries again with
 * a counter behind it. */
static uint32_t locate_ch3_weighted(const struct cw_profile_map *map, const void *key, size_t len)
{
    struct text text;
    uint32_t at = 0;
    if (!make_text(map, key, len, &text))
        return CW_NO_NODE;
    size_t text_len = text.len;
    for (unsigned i = 0; i < WEIGHT_TRIES; i++) {
        at = ch3(text.bytes, text_len, map->node_count);
        uint64_t limit = (uint64_t)(map->nodes[at].weight * UINT32_MAX);
        if (legacy_spooky32(text.bytes, text_len, SALT_SEED) < limit)
            return at;
        text_len = text.len + put_counter(text.bytes + text.len, i);
    }
    return at;
}

static uint32_t locate_crc32(const struct cw_profile_map *map, const void *key, size_t len)
{
    struct text text;
    return make_text(map, key, len, &text)
               ? (legacy_crc32(text.bytes, text.len) & 0x7fffffff) % map->node_count
               : CW_NO_NODE;
}

/* ---- rendezvous ------------------------------------------------------------------------------ */

static uint64_t combine(uint64_t server, uint64_t key)
{
    const uint64_t m = 0x9ddfea08eb382d69u;
    uint64_t a = (key ^ server) * m;
    a ^= a >> 47;
    uint64_t b = (server ^ a) * m;
    b ^= b >> 47;
    return b * m;
}

static const uint64_t *server_hashes(const struct cw_profile_map *map)
{
    return map->state;
}

/* Scores are compared as doubles: the last of those that are equal in 53 bits wins. */
static uint32_t locate_rendezvous(const struct cw_profile_map *map, const void *key, size_t len)
{
    struct text text;
    double best_score = 0;
    uint32_t best = 0;
    if (!make_text(map, key, len, &text))
        return CW_NO_NODE;
    uint64_t hash = legacy_murmur64a(text.bytes, text.len, POINT_SEED);
    for (uint32_t i = 0; i < map->node_count; i++) {
        double score = (double)combine(server_hashes(map)[i], hash);
        if (score >= best_score) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

/* -ln(x / 2^53) for 0 < x < 2^53: the series of the inverse hyperbolic tangent about the nearest
 * power of two. Good to a unit or two in the last place, and libm is not needed. */
static double minus_ln(uint64_t x)
{
    const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
    int exponent = 0;
    double m = (double)x * 0x1p-53;
    for (; m < 0.70710678118654752; exponent++)
        m *= 2;
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 27; k >= 3; k -= 2)
        sum = (sum + 1.0 / k) * square;
    return exponent * ln2_high + (exponent * ln2_low - 2 * (s + s * sum));
}

static uint32_t locate_rendezvous_weighted(const struct cw_profile_map *map, const void *key,
                                           size_t len)
{
    struct text text;
    double best_score = -1;
    uint32_t best = 0;
    if (!make_text(map, key, len, &text))
        return CW_NO_NODE;
    uint64_t hash = legacy_murmur64a(text.bytes, text.len, POINT_SEED);
    for (uint32_t i = 0; i < map->node_count; i++) {
        uint64_t draw = combine(server_hashes(map)[i], hash) & (((uint64_t)1 << 53) - 1);
        double score = draw ? map->nodes[i].weight / minus_ln(draw) : 0;
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

/* ---- the engines ----------------------------------------------------------------------------- */

/* Servers of equal share, or of one that only counting keys can tell. */
static int build_equal(struct cw_profile_map *map, struct cw_error *error)
{
    map->shares = memory_alloc(map->node_count, sizeof *map->shares);
    if (!map->shares)
        return error_no_memory(error);
    for (uint32_t i = 0; i < map->node_count; i++)
        map->shares[i] = 1.0 / map->node_count;
    return map->node_count < 1u << 23
               ? CW_OK
               : error_set(error, CW_ETOO_MANY_NODES, "Ch3 numbers at most 2^23 servers");
}

static int build_nothing(struct cw_profile_map *map, struct cw_error *error)
{
    return CW_OK;
}

static int build_hashes(struct cw_profile_map *map, struct cw_error *error)
{
    uint64_t *hashes = memory_alloc(map->node_count, sizeof *hashes);
    if (!hashes)
        return error_no_memory(error);
    for (uint32_t i = 0; i < map->node_count; i++)
        hashes[i] = legacy_murmur64a(map->nodes[i].name, strlen(map->nodes[i].name), FURC_SEED);
    map->state = hashes;
    return CW_OK;
}

static void release(struct cw_profile_map *map)
{
    free(map->state);
}

static size_t memory(const struct cw_profile_map *map)
{
    return map->state ? map->node_count * sizeof(uint64_t) : 0;
}

#define ENGINE(name, build_, locate_)                                                              \
    const struct profile_engine profile_engine_##name = {                                          \
        .build = build_, .release = release, .locate = locate_, .memory = memory}

ENGINE(ch3, build_equal, locate_ch3);
ENGINE(ch3_weighted, build_nothing, locate_ch3_weighted);
ENGINE(mcrouter_crc32, build_equal, locate_crc32);
ENGINE(mcrouter_rendezvous, build_hashes, locate_rendezvous);
ENGINE(mcrouter_rendezvous_weighted, build_hashes, locate_rendezvous_weighted);
