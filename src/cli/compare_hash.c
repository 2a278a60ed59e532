#include "cli/compare_hash.h"

#include <math.h>

#include <clockwise/clockwise.h>

#include "cli/compare_clock.h"
#include "profiles/legacy_crc.h"
#include "profiles/legacy_digest.h"
#include "profiles/legacy_hash.h"

enum {
    KEYS_A_BUCKET = 16, /* the usual rule asks for 5 */
    BUCKET_BITS_MIN = 4,
    SAMPLE_MAX = 64 << 10, /* bytes: stays in the cache */
    CLOCK_NS = 3000000,
    Z_MAX = 5, /* chance goes beyond once in three million */
};

/* ---- the hashes ------------------------------------------------------------------------------ */

static uint64_t crc32_of(const void *key, size_t len, uint64_t seed)
{
    return legacy_crc32(key, len);
}

/* The first word, as ketama reads it. */
static uint64_t md5_of(const void *key, size_t len, uint64_t seed)
{
    uint32_t words[4];
    legacy_md5_words(key, len, words);
    return words[0];
}

static uint64_t xxh3_of(const void *key, size_t len, uint64_t seed)
{
    return cw_hash(key, len);
}

static const struct {
    const char *name;
    unsigned bits;
    legacy_hash_fn *hash;
} hashes[HASH_COUNT] = {
    [HASH_XXH3] = {"XXH3", 64, xxh3_of},
    [HASH_MURMUR3] = {"murmur3", 32, legacy_murmur3_32},
    [HASH_FNV1A] = {"FNV-1a", 32, legacy_fnv1a_32},
    [HASH_CRC32] = {"CRC32", 32, crc32_of},
    [HASH_MD5] = {"MD5", 32, md5_of},
};

/* ---- counting -------------------------------------------------------------------------------- */

static void keep_sample(struct hash_tally *tally, const char *key, size_t key_len)
{
    uint32_t len = (uint32_t)key_len;
    if (key_len > SAMPLE_MAX || tally->sample.len + sizeof len + key_len > SAMPLE_MAX)
        return;
    if (buffer_reserve(&tally->sample, sizeof len + key_len)) {
        buffer_append(&tally->sample, &len, sizeof len);
        buffer_append(&tally->sample, key, key_len);
    }
}

void hash_tally_add(struct hash_tally *tally, const char *key, size_t key_len, uint64_t hash)
{
    for (size_t i = 0; i < HASH_COUNT; i++) {
        uint64_t value = i == HASH_XXH3 ? hash : hashes[i].hash(key, key_len, 0);
        tally->buckets[i][HASH_HIGH][value >> (hashes[i].bits - HASH_BUCKET_BITS)]++;
        tally->buckets[i][HASH_LOW][value & (HASH_BUCKETS - 1)]++;
    }
    tally->key_count++;
    keep_sample(tally, key, key_len);
}

void hash_tally_release(struct hash_tally *tally)
{
    buffer_release(&tally->sample);
}

/* ---- chi-square ------------------------------------------------------------------------------ */

static unsigned bits_for(uint64_t key_count)
{
    unsigned bits = HASH_BUCKET_BITS;
    while (bits > BUCKET_BITS_MIN && key_count >> bits < KEYS_A_BUCKET)
        bits--;
    return bits;
}

/* What buckets of fewer bits would have counted. */
static void fold(const uint64_t *buckets, enum hash_end end, unsigned bits, uint64_t *ret_folded)
{
    for (uint32_t i = 0; i < 1u << bits; i++)
        ret_folded[i] = 0;
    for (uint32_t i = 0; i < HASH_BUCKETS; i++)
        ret_folded[end == HASH_HIGH ? i >> (HASH_BUCKET_BITS - bits) : i & ((1u << bits) - 1)] +=
            buckets[i];
}

/* Wilson and Hilferty 1931: the cube root of chi-square is nearly normal. */
static double z_of(double chi_square, double freedom)
{
    double variance = 2 / (9 * freedom);
    return (cbrt(chi_square / freedom) - (1 - variance)) / sqrt(variance);
}

struct hash_spread hash_spread_of(const uint64_t *buckets, enum hash_end end, uint64_t key_count)
{
    uint64_t folded[HASH_BUCKETS];
    unsigned bits = bits_for(key_count);
    double expected = (double)key_count / (double)(1u << bits), freedom = (double)(1u << bits) - 1;
    struct hash_spread spread = {.bucket_count = 1u << bits};
    if (key_count == 0)
        return spread;
    fold(buckets, end, bits, folded);
    for (uint32_t i = 0; i < spread.bucket_count; i++) {
        double off = (double)folded[i] - expected;
        spread.chi_square += off * off / expected;
    }
    spread.z = z_of(spread.chi_square, freedom);
    spread.excess = sqrt(fmax(0, spread.chi_square / freedom - 1) / expected);
    if (expected < KEYS_A_BUCKET)
        spread.verdict = HASH_TOO_FEW;
    else
        spread.verdict = spread.z > Z_MAX    ? HASH_SKEWED
                         : spread.z < -Z_MAX ? HASH_TOO_EVEN
                                             : HASH_AS_CHANCE;
    return spread;
}

const char *hash_verdict_text(enum hash_verdict verdict)
{
    static const char *const texts[] = {
        [HASH_TOO_FEW] = "too few keys to tell",
        [HASH_AS_CHANCE] = "as chance",
        [HASH_TOO_EVEN] = "more even",
        [HASH_SKEWED] = "skewed",
    };
    return texts[verdict];
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* One pass over the sample; returns how many keys it was. */
static size_t hash_sample(const struct buffer *sample, legacy_hash_fn *hash, uint64_t *sum)
{
    const char *bytes = buffer_bytes(sample);
    size_t count = 0;
    for (size_t at = 0; at < sample->len; count++) {
        uint32_t len;
        memcpy(&len, bytes + at, sizeof len);
        *sum += hash(bytes + at + sizeof len, len, 0);
        at += sizeof len + len;
    }
    return count;
}

static double time_hash(const struct buffer *sample, legacy_hash_fn *hash)
{
    volatile uint64_t sink;
    uint64_t sum = 0, start = clock_cpu_ns(), passed;
    size_t count = 0;
    if (sample->len == 0)
        return 0;
    do {
        count += hash_sample(sample, hash, &sum);
        passed = clock_cpu_ns() - start;
    } while (passed < CLOCK_NS);
    sink = sum;
    (void)sink;
    return (double)passed / (double)count;
}

void hash_results(const struct hash_tally *tally, struct hash_result ret_results[HASH_COUNT])
{
    for (size_t i = 0; i < HASH_COUNT; i++) {
        struct hash_result *result = &ret_results[i];
        *result = (struct hash_result){.name = hashes[i].name};
        for (size_t end = 0; end < HASH_ENDS; end++)
            result->ends[end] = hash_spread_of(tally->buckets[i][end], (enum hash_end)end,
                                               tally->key_count);
        fold(tally->buckets[i][HASH_HIGH], HASH_HIGH, 6, result->shown);
        result->ns = time_hash(&tally->sample, hashes[i].hash);
    }
}
