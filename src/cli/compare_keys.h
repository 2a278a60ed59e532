/*
 * The keys that placements are compared on: distinct ones with how often each came, the most
 * frequent by name. Of a key with a hash tag only that counts, as everywhere.
 *
 * Memory is bounded: at most key_max distinct keys are kept, 12 bytes each in a table that is never
 * more than three quarters full. When there are more, one key in 2, in 4, … stays, chosen by a hash
 * that has nothing to do with placement, and all lines of the keys that stay are counted: shares
 * keep their meaning. Texts are not kept but for the most frequent.
 */
#ifndef CLI_COMPARE_KEYS_H
#define CLI_COMPARE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/compare_hash.h"
#include "cli/compare_progress.h"

enum { KEY_TOP_MAX = 10, KEY_SHOWN_MAX = 80 };

#define KEY_COUNT_MAX 25000000u /* 0.4 GB; 0.8 GB for a moment when there are more */
#define KEY_LINES_MAX UINT32_MAX

struct top_key {
    uint64_t hash;
    uint32_t count;
    uint32_t len; /* may be more than is kept of the text */
    char text[KEY_SHOWN_MAX];
};

struct key_set {
    uint64_t *hashes;
    uint32_t *counts;   /* 0: a free place. Of the first `count` places only, once finished */
    size_t count;       /* distinct keys that are kept */
    size_t place_count; /* a power of two */
    size_t key_max;
    uint64_t lines;                  /* of the keys that are kept */
    uint64_t lines_seen;             /* of all */
    double square_sum;               /* of counts; once finished */
    uint64_t repeated;               /* keys that came more than once; once finished */
    unsigned sample_bits;            /* one key in 2^sample_bits is kept */
    struct top_key top[KEY_TOP_MAX]; /* only keys that came twice or more; sorted once finished */
    size_t top_count;
    struct hash_tally tally;
};

/* On the heap, as it is large; NULL when memory is out. */
struct key_set *key_set_create(size_t key_max);
void key_set_destroy(struct key_set **set);

/* 0, -ENOMEM, or -EOVERFLOW for more than KEY_LINES_MAX lines. */
int key_set_add(struct key_set *set, const char *key, size_t key_len);
/* Puts the keys that are kept in front; nothing may be added after that. */
void key_set_finish(struct key_set *set);

/* Reads keys to the end of a file, each ended by the delimiter. 0 or a negative errno; -EMSGSIZE
 * for one of more than 64 MB. */
int key_set_read(struct key_set *set, int file, char delimiter, struct progress *progress);

/* count keys "key:<number>" with numbers in a row that begins where the seed says, each once; with
 * an exponent above 0 as many draws from them, the r-th most frequent in proportion to
 * 1 / r^exponent (Zipf). The same on every machine. 0 or a negative errno. */
int key_set_generate(struct key_set *set, uint64_t count, double exponent, uint64_t seed,
                     struct progress *progress);

#endif
