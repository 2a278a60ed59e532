/*
 * MD5 of many short keys at once: eight side by side, in two sets of four lanes, because a step of
 * MD5 waits for the one before and a processor can do much more meanwhile. About four times as
 * fast as one by one, with the vectors that every x86-64 and ARMv8 has.
 */
#include "profiles/legacy_digest.h"

#include <string.h>

typedef uint32_t lanes __attribute__((vector_size(16)));

enum { LANES = 4, WIDTH = 8, ONE_BLOCK_MAX = 55, BLOCK_WORDS = 16 };

#define F(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define G(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define H(b, c, d) ((b) ^ (c) ^ (d))
#define I(b, c, d) ((c) ^ ((b) | ~(d)))
#define STEP_SET(f, a, b, c, d, word, shift, constant)                                             \
    a += f(b, c, d) + word + constant;                                                             \
    a = ((a << shift) | (a >> (32 - shift))) + b;
#define STEP(f, a, b, c, d, word, shift, constant)                                                 \
    STEP_SET(f, a##0, b##0, c##0, d##0, words[word][0], shift, constant)                           \
    STEP_SET(f, a##1, b##1, c##1, d##1, words[word][1], shift, constant)

/* The first words of eight digests. */
static void md5_eight(lanes words[BLOCK_WORDS][2], uint32_t *ret_words)
{
    const lanes zero = {0, 0, 0, 0};
    lanes a0 = zero + 0x67452301u, b0 = zero + 0xefcdab89u;
    lanes c0 = zero + 0x98badcfeu, d0 = zero + 0x10325476u;
    lanes a1 = a0, b1 = b0, c1 = c0, d1 = d0;
#include "profiles/legacy_md5_steps.def"
    a0 += 0x67452301u;
    a1 += 0x67452301u;
    memcpy(ret_words, &a0, sizeof a0);
    memcpy(ret_words + LANES, &a1, sizeof a1);
}

static uint32_t load_le32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* A key that fits one block, padded, as word after word of its lane. */
static void put_lane(lanes words[BLOCK_WORDS][2], unsigned lane, const void *key, size_t len)
{
    uint8_t block[64] = {0};
    if (len)
        memcpy(block, key, len);
    block[len] = 0x80;
    block[56] = (uint8_t)(len * 8);
    block[57] = (uint8_t)(len * 8 >> 8);
    for (unsigned i = 0; i < BLOCK_WORDS; i++)
        words[i][lane / LANES][lane % LANES] = load_le32(block + i * 4);
}

void legacy_md5_batch(const void *const *keys, const size_t *lens, size_t count,
                      uint32_t *ret_words)
{
    lanes words[BLOCK_WORDS][2];
    uint32_t results[WIDTH];
    for (size_t at = 0; at < count; at += WIDTH) {
        unsigned here = count - at < WIDTH ? (unsigned)(count - at) : WIDTH;
        for (unsigned i = 0; i < WIDTH; i++) {
            int fits = i < here && lens[at + i] <= ONE_BLOCK_MAX;
            put_lane(words, i, fits ? keys[at + i] : NULL, fits ? lens[at + i] : 0);
        }
        md5_eight(words, results);
        for (unsigned i = 0; i < here; i++) {
            uint32_t all[4] = {results[i]};
            if (lens[at + i] > ONE_BLOCK_MAX)
                legacy_md5_words(keys[at + i], lens[at + i], all);
            ret_words[at + i] = all[0];
        }
    }
}
