/*
 * SHA-1 and SHA-256. Plain loops: dalli and Varnish hash names of points when a map is made, and
 * one key a lookup.
 */
#include "profiles/legacy_digest.h"

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

/* One step of SHA-1; the registers turn by their names in the call. */
#define SHA1_STEP(f, constant, a, b, c, d, e, t)                                                   \
    do {                                                                                           \
        e += rotl(a, 5) + (f) + constant + words[t];                                               \
        b = rotl(b, 30);                                                                           \
    } while (0)
#define CHOOSE(b, c, d)   (d ^ (b & (c ^ d)))
#define PARITY(b, c, d)   (b ^ c ^ d)
#define MAJORITY(b, c, d) ((b & c) | (d & (b | c)))
#define SHA1_FIVE(function, constant, t)                                                           \
    SHA1_STEP(function(b, c, d), constant, a, b, c, d, e, t);                                      \
    SHA1_STEP(function(a, b, c), constant, e, a, b, c, d, t + 1);                                  \
    SHA1_STEP(function(e, a, b), constant, d, e, a, b, c, t + 2);                                  \
    SHA1_STEP(function(d, e, a), constant, c, d, e, a, b, t + 3);                                  \
    SHA1_STEP(function(c, d, e), constant, b, c, d, e, a, t + 4)

static void sha1_block(uint32_t *state, const uint8_t *block)
{
    uint32_t words[80];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned t = 0; t < 80; t++)
        words[t] = t < 16 ? load_be32(block + t * 4)
                          : rotl(words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16], 1);
    for (unsigned t = 0; t < 20; t += 5) {
        SHA1_FIVE(CHOOSE, 0x5a827999, t);
    }
    for (unsigned t = 20; t < 40; t += 5) {
        SHA1_FIVE(PARITY, 0x6ed9eba1, t);
    }
    for (unsigned t = 40; t < 60; t += 5) {
        SHA1_FIVE(MAJORITY, 0x8f1bbcdc, t);
    }
    for (unsigned t = 60; t < 80; t += 5) {
        SHA1_FIVE(PARITY, 0xca62c1d6, t);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
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

/* One step of SHA-256, in the same manner. */
#define SHA256_STEP(a, b, c, d, e, f, g, h, t)                                                     \
    do {                                                                                           \
        h += (rotl(e, 26) ^ rotl(e, 21) ^ rotl(e, 7)) + CHOOSE(e, f, g) + sha256_constants[t] +    \
             words[t];                                                                             \
        d += h;                                                                                    \
        h += (rotl(a, 30) ^ rotl(a, 19) ^ rotl(a, 10)) + MAJORITY(a, b, c);                        \
    } while (0)

static void sha256_block(uint32_t *state, const uint8_t *block)
{
    uint32_t words[64], a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    sha256_schedule(words, block);
    for (unsigned t = 0; t < 64; t += 8) {
        SHA256_STEP(a, b, c, d, e, f, g, h, t);
        SHA256_STEP(h, a, b, c, d, e, f, g, t + 1);
        SHA256_STEP(g, h, a, b, c, d, e, f, t + 2);
        SHA256_STEP(f, g, h, a, b, c, d, e, t + 3);
        SHA256_STEP(e, f, g, h, a, b, c, d, t + 4);
        SHA256_STEP(d, e, f, g, h, a, b, c, t + 5);
        SHA256_STEP(c, d, e, f, g, h, a, b, t + 6);
        SHA256_STEP(b, c, d, e, f, g, h, a, t + 7);
    }
    const uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (unsigned i = 0; i < 8; i++)
        state[i] += after[i];
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
