/*
 * Hashes that see characters: Java and JavaScript hash the UTF-16 units of a string, pymemcache its
 * code points. Keys come to us as UTF-8.
 */
#include "profiles/legacy_hash.h"

#define REPLACEMENT 0xfffdu

static int is_continuation(const uint8_t *at, size_t left, unsigned i)
{
    return i < left && (at[i] & 0xc0) == 0x80;
}

/* The code point at `at` and how many bytes it takes (at least 1); left > 0. */
static uint32_t next_code_point(const uint8_t *at, size_t left, unsigned *ret_len)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned len = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    uint32_t code = len == 1 ? at[0] : at[0] & (0x7fu >> len);
    *ret_len = 1;
    if (len == 0 || at[0] > 0xf4)
        return REPLACEMENT;
    for (unsigned i = 1; i < len; i++) {
        if (!is_continuation(at, left, i))
            return REPLACEMENT;
        code = code << 6 | (at[i] & 0x3fu);
    }
    if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return REPLACEMENT;
    *ret_len = len;
    return code;
}

size_t legacy_latin_of_utf8(const void *text, size_t len, uint8_t *ret)
{
    const uint8_t *at = text;
    size_t count = 0;
    unsigned step;
    for (size_t i = 0; i < len; i += step)
        ret[count++] = (uint8_t)next_code_point(at + i, len - i, &step);
    return count;
}

/* Defines a hash of 64 bits that takes `unit` after `unit` into `hash`. */
#define OVER_UNITS(name, start, take, result)                                                      \
    uint64_t legacy_java_##name(const void *key, size_t len, uint64_t seed)                        \
    {                                                                                              \
        const uint8_t *at = key;                                                                   \
        uint64_t hash = (start);                                                                   \
        unsigned step;                                                                             \
        for (size_t i = 0; i < len; i += step) {                                                   \
            uint32_t code = next_code_point(at + i, len - i, &step);                               \
            uint64_t unit = code;                                                                  \
            if (code > 0xffff) {                                                                   \
                unit = 0xd7c0 + (code >> 10);                                                      \
                take;                                                                              \
                unit = 0xdc00 | (code & 0x3ff);                                                    \
            }                                                                                      \
            take;                                                                                  \
        }                                                                                          \
        return result;                                                                             \
    }

OVER_UNITS(hash, 0, hash = hash * 31 + unit, (uint32_t)hash)
OVER_UNITS(fnv1_32, 2166136261u, hash = hash * 16777619u ^ unit, hash)
OVER_UNITS(fnv1a_32, 2166136261u, hash = (hash ^ unit) * 16777619u, hash)
OVER_UNITS(fnv1_64, 0xcbf29ce484222325u, hash = hash * 0x100000001b3u ^ unit, hash)
OVER_UNITS(fnv1a_64, 0xcbf29ce484222325u, hash = (hash ^ unit) * 0x100000001b3u, hash)
