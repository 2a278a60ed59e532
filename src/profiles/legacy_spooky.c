/*
 * SpookyHash version 2 (Bob Jenkins), of which mcrouter takes the low 32 bits. Loops over small
 * tables of rotations: it decides on one key in a handful of weighted lookups, not on all.
 */
#include "profiles/legacy_hash.h"

#include <string.h>

#define SPOOKY_CONST 0xdeadbeefdeadbeefu
enum { BLOCK_LEN = 96, SHORT_LEN_MAX = 191 };

static inline uint64_t rotl(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static inline uint64_t load_le64(const uint8_t *at)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

/* ---- up to 191 bytes: four registers --------------------------------------------------------- */

static void short_mix(uint64_t s[4])
{
    static const uint8_t turns[12] = {50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36};
    for (unsigned i = 0; i < 12; i++) {
        unsigned at = (i + 2) % 4, next = (at + 1) % 4;
        s[at] = rotl(s[at], turns[i]) + s[next];
        s[(at + 2) % 4] ^= s[at];
    }
}

static void short_end(uint64_t s[4])
{
    static const uint8_t turns[11] = {15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63};
    for (unsigned i = 0; i < 11; i++) {
        unsigned at = (i + 3) % 4, before = (at + 3) % 4;
        s[at] ^= s[before];
        s[before] = rotl(s[before], turns[i]);
        s[at] += s[before];
    }
}

/* The last 0 to 15 bytes and the length. */
static void short_tail(uint64_t s[4], const uint8_t *at, size_t left, size_t len)
{
    uint8_t words[16] = {0};
    if (left == 0) {
        s[2] += SPOOKY_CONST;
        s[3] += SPOOKY_CONST;
    } else {
        memcpy(words, at, left);
        s[2] += load_le64(words);
        s[3] += load_le64(words + 8);
    }
    s[3] += (uint64_t)len << 56;
}

static uint64_t spooky_short(const uint8_t *at, size_t len, uint64_t seed)
{
    uint64_t s[4] = {seed, seed, SPOOKY_CONST, SPOOKY_CONST};
    size_t left = len;
    for (; left >= 32; at += 32, left -= 32) {
        s[2] += load_le64(at);
        s[3] += load_le64(at + 8);
        short_mix(s);
        s[0] += load_le64(at + 16);
        s[1] += load_le64(at + 24);
    }
    if (left >= 16) {
        s[2] += load_le64(at);
        s[3] += load_le64(at + 8);
        short_mix(s);
        at += 16;
        left -= 16;
    }
    short_tail(s, at, left, len);
    short_end(s);
    return s[0];
}

/* ---- longer: twelve registers ---------------------------------------------------------------- */

static void long_mix(uint64_t s[12], const uint8_t *block)
{
    static const uint8_t turns[12] = {11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46};
    for (unsigned i = 0; i < 12; i++) {
        s[i] += load_le64(block + i * 8);
        s[(i + 2) % 12] ^= s[(i + 10) % 12];
        s[(i + 11) % 12] ^= s[i];
        s[i] = rotl(s[i], turns[i]);
        s[(i + 11) % 12] += s[(i + 1) % 12];
    }
}

static void long_end(uint64_t s[12], const uint8_t *block)
{
    static const uint8_t turns[12] = {44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54};
    for (unsigned i = 0; i < 12; i++)
        s[i] += load_le64(block + i * 8);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 12; i++) {
            s[(i + 11) % 12] += s[(i + 1) % 12];
            s[(i + 2) % 12] ^= s[(i + 11) % 12];
            s[(i + 1) % 12] = rotl(s[(i + 1) % 12], turns[i]);
        }
}

static uint64_t spooky_long(const uint8_t *at, size_t len, uint64_t seed)
{
    uint64_t s[12];
    uint8_t last[BLOCK_LEN] = {0};
    for (unsigned i = 0; i < 12; i++)
        s[i] = i % 3 == 2 ? SPOOKY_CONST : seed;
    for (; len >= BLOCK_LEN; at += BLOCK_LEN, len -= BLOCK_LEN)
        long_mix(s, at);
    memcpy(last, at, len);
    last[BLOCK_LEN - 1] = (uint8_t)len;
    long_end(s, last);
    return s[0];
}

uint64_t legacy_spooky32(const void *key, size_t len, uint64_t seed)
{
    uint64_t hash = len <= SHORT_LEN_MAX ? spooky_short(key, len, seed)
                                         : spooky_long(key, len, seed);
    return (uint32_t)hash;
}
