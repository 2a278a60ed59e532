/*
 * MD5, unrolled: about 60 ns for a key of one block, which is what keys are.
 */
#include "profiles/legacy_digest.h"

#include <string.h>

#define F(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define G(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define H(b, c, d) ((b) ^ (c) ^ (d))
#define I(b, c, d) ((c) ^ ((b) | ~(d)))
#define STEP(f, a, b, c, d, word, shift, constant)                                                 \
    do {                                                                                           \
        a += f(b, c, d) + words[word] + constant;                                                  \
        a = ((a << shift) | (a >> (32 - shift))) + b;                                              \
    } while (0);

static uint32_t load_le32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void md5_block(uint32_t state[4], const uint8_t *block)
{
    uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 16; i++)
        words[i] = load_le32(block + i * 4);
#include "profiles/legacy_md5_steps.def"
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void legacy_md5_words(const void *data, size_t len, uint32_t ret_words[4])
{
    const uint8_t *at = data;
    uint8_t tail[128] = {0};
    size_t left = len % 64, tail_len = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)len * 8;
    ret_words[0] = 0x67452301;
    ret_words[1] = 0xefcdab89;
    ret_words[2] = 0x98badcfe;
    ret_words[3] = 0x10325476;
    for (size_t done = 0; done + 64 <= len; done += 64)
        md5_block(ret_words, at + done);
    if (left)
        memcpy(tail, at + (len - left), left);
    tail[left] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_len - 8 + i] = (uint8_t)(bits >> (8 * i));
    md5_block(ret_words, tail);
    if (tail_len == 128)
        md5_block(ret_words, tail + 64);
}

void legacy_md5(const void *data, size_t len, uint8_t ret_digest[16])
{
    uint32_t words[4];
    legacy_md5_words(data, len, words);
    for (unsigned i = 0; i < 16; i++)
        ret_digest[i] = (uint8_t)(words[i / 4] >> (8 * (i % 4)));
}
