/*
 * The murmur2 of kafkajs's LegacyPartitioner. JavaScript has only doubles: products of 32-bit
 * numbers lose their low bits beyond 2^53, and shifts and xors cut what is left to 32 bits. Those
 * roundings are part of the placement, so they are repeated here step by step.
 */
#include "profiles/legacy_hash.h"

/* JavaScript's ToInt32: the value modulo 2^32. Doubles here are whole and far below 2^127. */
static int32_t to_int32(double value)
{
    __int128 whole = (__int128)value;
    return (int32_t)(uint32_t)(unsigned __int128)whole;
}

static double shift_right(double value, unsigned count)
{
    return (double)((uint32_t)to_int32(value) >> count);
}

static double xor (double one, double other) { return (double)(to_int32(one) ^ to_int32(other)); }

    static double byte_at(const uint8_t *key, size_t len, size_t at)
{
    return at < len ? key[at] : 0; /* undefined & 0xff */
}

/* Four bytes as a sum of shifted ones, of which the highest may be negative. */
static double word_at(const uint8_t *key, size_t len, size_t at)
{
    int32_t top = (int32_t)((uint32_t)byte_at(key, len, at + 3) << 24);
    return byte_at(key, len, at) + byte_at(key, len, at + 1) * 256 +
           byte_at(key, len, at + 2) * 65536 + top;
}

uint64_t legacy_murmur2_js(const void *key, size_t len, uint64_t seed)
{
    const double m = 0x5bd1e995;
    const uint8_t *at = key;
    size_t tail = len & ~(size_t)3;
    double hash = xor(0x9747b28c, (double)len);
    /* The loop's end is a fraction there: it also takes the last, partial word. */
    for (size_t i = 0; i < len; i += 4) {
        double word = word_at(at, len, i) * m;
        word = xor(word, shift_right(word, 24)) * m;
        hash = xor(hash *m, word);
    }
    if (len % 4 == 3)
        hash = xor(hash, byte_at(at, len, tail + 2) * 65536);
    if (len % 4 >= 2)
        hash = xor(hash, byte_at(at, len, tail + 1) * 256);
    if (len % 4)
        hash = xor(hash, byte_at(at, len, tail)) * m;
    hash = xor(hash, shift_right(hash, 13)) * m;
    hash = xor(hash, shift_right(hash, 15));
    return (uint32_t)to_int32(hash) & 0x7fffffff;
}
