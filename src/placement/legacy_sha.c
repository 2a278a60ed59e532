/*
 * SHA-1 and SHA-256. Plain loops: dalli and Varnish hash names of points when a map is made, and
 * one key a lookup.
 */
#include "placement/legacy_digest.h"

#include <string.h>

static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t load_be32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t rotl(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static uint32_t sha1_step(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void sha1_block(uint32_t *state, const uint8_t *block)
{
    uint32_t words[80], s[5];
    for (unsigned t = 0; t < 80; t++)
        words[t] = t < 16 ? load_be32(block + t * 4)
                          : rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
    memcpy(s, state, sizeof s);
    for (unsigned t = 0; t < 80; t++) {
        uint32_t next = rotl(s[0], 5) + sha1_step(t, s[1], s[2], s[3]) + s[4] + words[t];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = rotl(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    for (unsigned i = 0; i < 5; i++)
        state[i] += s[i];
}

static void sha256_schedule(uint32_t words[64], const uint8_t *block)
{
    for (unsigned t = 0; t < 64; t++) {
        if (t < 16) {
            words[t] = load_be32(block + t * 4);
            continue;
        }
        uint32_t x = words[t - 15], y = words[t - 2];
        words[t] = words[t - 16] + (rotl(x, 25) ^ rotl(x, 14) ^ x >> 3) + words[t - 7] +
                   (rotl(y, 15) ^ rotl(y, 13) ^ y >> 10);
    }
}

static void sha256_block(uint32_t *state, const uint8_t *block)
{
    uint32_t words[64], s[8];
    sha256_schedule(words, block);
    memcpy(s, state, sizeof s);
    for (unsigned t = 0; t < 64; t++) {
        uint32_t one = s[7] + (rotl(s[4], 26) ^ rotl(s[4], 21) ^ rotl(s[4], 7)) +
                       ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_constants[t] + words[t];
        uint32_t two = (rotl(s[0], 30) ^ rotl(s[0], 19) ^ rotl(s[0], 10)) +
                       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += s[i];
}

/* What both share: whole blocks, then the rest with its padding and the length in bits. */
static void digest(uint32_t *state, unsigned word_count, const uint8_t *at, size_t len,
                   void (*block)(uint32_t *, const uint8_t *), uint8_t *ret_digest)
{
    uint8_t tail[128] = {0};
    size_t left = len % 64, tail_len = left < 56 ? 64 : 128;
    for (size_t done = 0; done + 64 <= len; done += 64)
        block(state, at + done);
    if (left)
        memcpy(tail, at + (len - left), left);
    tail[left] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_len - 1 - i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
    block(state, tail);
    if (tail_len == 128)
        block(state, tail + 64);
    for (unsigned i = 0; i < word_count * 4; i++)
        ret_digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

void legacy_sha1(const void *data, size_t len, uint8_t ret_digest[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    digest(state, 5, data, len, sha1_block, ret_digest);
}

void legacy_sha256(const void *data, size_t len, uint8_t ret_digest[32])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    digest(state, 8, data, len, sha256_block, ret_digest);
}
