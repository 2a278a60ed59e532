/*
 * How evenly hash functions spread a set of keys. Each distinct key is put into one of 4096 buckets
 * by the high bits of its hash (what tables, rings and this library take) and by the low bits
 * (what `hash % nodes` takes); Pearson's chi-square says whether the buckets differ by more than
 * chance makes them. XXH3 places clockwise's keys; beside it those that other systems use.
 */
#ifndef CLI_COMPARE_HASH_H
#define CLI_COMPARE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum {
    HASH_XXH3,
    HASH_MURMUR3,
    HASH_FNV1A,
    HASH_CRC32,
    HASH_MD5,
    HASH_COUNT,
    HASH_BUCKET_BITS = 12,
    HASH_BUCKETS = 1 << HASH_BUCKET_BITS,
    HASH_SHOWN = 64, /* buckets in pictures */
};

enum hash_end { HASH_HIGH, HASH_LOW, HASH_ENDS };

enum hash_verdict { HASH_TOO_FEW, HASH_AS_CHANCE, HASH_TOO_EVEN, HASH_SKEWED };

struct hash_tally {
    uint64_t key_count;
    uint64_t buckets[HASH_COUNT][HASH_ENDS][HASH_BUCKETS];
    struct buffer sample; /* the first keys, for the clock: each a uint32_t length and its bytes */
};

/* One end of one hash. */
struct hash_spread {
    enum hash_verdict verdict;
    uint32_t bucket_count; /* so many that each has 16 keys or more on average */
    double chi_square;     /* expected: bucket_count - 1 */
    double z;              /* standard deviations above what chance makes */
    double excess;         /* deviation of a bucket beyond chance, relative: 0.02 is 2 % */
};

struct hash_result {
    const char *name;
    struct hash_spread ends[HASH_ENDS];
    double ns;                  /* a key */
    uint64_t shown[HASH_SHOWN]; /* keys by the high 6 bits */
};

/* Counts one more distinct key, whose XXH3 hash is known. */
void hash_tally_add(struct hash_tally *tally, const char *key, size_t key_len, uint64_t hash);
void hash_tally_release(struct hash_tally *tally);

/* Chi-square of the buckets of one end, folded to as many as the keys suffice for. */
struct hash_spread hash_spread_of(const uint64_t *buckets, enum hash_end end, uint64_t key_count);
/* All of them; takes some milliseconds for the clock. */
void hash_results(const struct hash_tally *tally, struct hash_result ret_results[HASH_COUNT]);

/* "as chance" */
const char *hash_verdict_text(enum hash_verdict verdict);

#endif
