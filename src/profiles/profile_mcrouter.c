/*
 * mcrouter: Ch3 (furc_hash, a consistent hash of Facebook's that draws a number of as many bits as
 * the pool's size has, from a stream of bits that the key seeds, until one is in range), weighted
 * Ch3, CRC-32, and two kinds of rendezvous hashing. Servers are numbered in the order of the pool.
 */
#include "profiles/profile.h"

#include "placement/error.h"
#include "profiles/legacy_crc.h"
#include "placement/memory.h"
#include "profiles/profile_mcrouter_rank.h"

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

static uint64_t crc32_31_bits(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc32(key, len) & 0x7fffffff;
}

/* The hash of that text; without a salt it is the key's, and many keys can be hashed at once. */
static int hash_key(const struct cw_profile_map *map, const void *key, size_t len,
                    uint64_t *ret_hash)
{
    struct text text;
    if (!map->needs_key)
        *ret_hash = profile_key_hash(map, key, len);
    else if (make_text(map, key, len, &text))
        *ret_hash = map->hash(text.bytes, text.len, map->seed);
    else
        return 0;
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

/* From the hash of the text, which is the first word of the stream. */
static uint32_t ch3(uint64_t hash, uint32_t count)
{
    struct bits bits;
    if (count <= 1)
        return 0;
    bits.words[0] = hash;
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
    uint64_t hash;
    return hash_key(map, key, len, &hash) ? ch3(hash, map->node_count) : CW_NO_NODE;
}

static void locate_ch3_hashes(const struct cw_profile_map *map, const uint64_t *hashes,
                              size_t count, uint32_t *ret_nodes)
{
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = ch3(hashes[i], map->node_count);
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
        at = ch3(legacy_murmur64a(text.bytes, text_len, FURC_SEED), map->node_count);
        uint64_t limit = (uint64_t)(map->nodes[at].weight * UINT32_MAX);
        if (legacy_spooky32(text.bytes, text_len, SALT_SEED) < limit)
            return at;
        text_len = text.len + put_counter(text.bytes + text.len, i);
    }
    return at;
}

static uint32_t locate_crc32(const struct cw_profile_map *map, const void *key, size_t len)
{
    uint64_t hash;
    return hash_key(map, key, len, &hash) ? (uint32_t)hash % map->node_count : CW_NO_NODE;
}

static void locate_crc32_hashes(const struct cw_profile_map *map, const uint64_t *hashes,
                                size_t count, uint32_t *ret_nodes)
{
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = (uint32_t)hashes[i] % map->node_count;
}

/* ---- rendezvous ------------------------------------------------------------------------------ */

static const uint64_t *server_hashes(const struct cw_profile_map *map)
{
    return map->state;
}

static uint32_t locate_rendezvous(const struct cw_profile_map *map, const void *key, size_t len)
{
    uint64_t hash;
    uint32_t best;
    if (!hash_key(map, key, len, &hash))
        return CW_NO_NODE;
    mcrouter_rank(VECTORS_NONE, server_hashes(map), map->node_count, &hash, 1, &best);
    return best;
}

static void locate_rendezvous_hashes(const struct cw_profile_map *map, const uint64_t *hashes,
                                     size_t count, uint32_t *ret_nodes)
{
    mcrouter_rank(map->vectors, server_hashes(map), map->node_count, hashes, count, ret_nodes);
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

/* Whether weight / -ln(u) can reach the best score: -ln(u) is at least 2 (1 - u) / (1 + u), very
 * nearly so where u is near 1, which is where winners are. Most logarithms are spared by this; the
 * margin is far above all rounding. */
static inline int may_win(double weight, double u, double best_score)
{
    return weight * (1 + u) * (1 + 1e-9) >= best_score * 2 * (1 - u);
}

static uint32_t best_weighted(const struct cw_profile_map *map, uint64_t hash)
{
    double best_score = -1;
    uint32_t best = 0;
    for (uint32_t i = 0; i < map->node_count; i++) {
        uint64_t draw = mcrouter_combine(server_hashes(map)[i], hash) & (((uint64_t)1 << 53) - 1);
        double weight = map->nodes[i].weight;
        if (!may_win(weight, (double)draw * 0x1p-53, best_score))
            continue;
        double score = draw ? weight / minus_ln(draw) : 0;
        if (score > best_score) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

static uint32_t locate_rendezvous_weighted(const struct cw_profile_map *map, const void *key,
                                           size_t len)
{
    uint64_t hash;
    return hash_key(map, key, len, &hash) ? best_weighted(map, hash) : CW_NO_NODE;
}

static void locate_rendezvous_weighted_hashes(const struct cw_profile_map *map,
                                              const uint64_t *hashes, size_t count,
                                              uint32_t *ret_nodes)
{
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = best_weighted(map, hashes[i]);
}

/* ---- the engines ----------------------------------------------------------------------------- */

static void take_hash(struct cw_profile_map *map, legacy_hash_fn *hash, uint64_t seed)
{
    map->hash = hash;
    map->seed = seed;
    map->needs_key = *map->options.salt != 0;
}

/* Servers of equal share. */
static int share_equally(struct cw_profile_map *map, struct cw_error *error)
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

static int build_ch3(struct cw_profile_map *map, struct cw_error *error)
{
    take_hash(map, legacy_murmur64a, FURC_SEED);
    return share_equally(map, error);
}

static int build_crc32(struct cw_profile_map *map, struct cw_error *error)
{
    take_hash(map, crc32_31_bits, 0);
    return share_equally(map, error);
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
    take_hash(map, legacy_murmur64a, POINT_SEED);
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

#define ENGINE(name, build_, locate_, locate_hashes_)                                              \
    const struct profile_engine profile_engine_##name = {.build = build_,                          \
                                                         .release = release,                       \
                                                         .locate = locate_,                        \
                                                         .locate_hashes = locate_hashes_,          \
                                                         .memory = memory}

ENGINE(ch3, build_ch3, locate_ch3, locate_ch3_hashes);
ENGINE(ch3_weighted, build_nothing, locate_ch3_weighted, NULL);
ENGINE(mcrouter_crc32, build_crc32, locate_crc32, locate_crc32_hashes);
ENGINE(mcrouter_rendezvous, build_hashes, locate_rendezvous, locate_rendezvous_hashes);
ENGINE(mcrouter_rendezvous_weighted, build_hashes, locate_rendezvous_weighted,
       locate_rendezvous_weighted_hashes);
