/*
 * CRC-32 (IEEE 802.3, reflected 0xedb88320) and CRC-16 (0x1021, not reflected, from 0), eight bytes
 * a step: table k holds what a byte has become after k more bytes of zeros (Kounavis and Berry,
 * "Novel table lookup-based algorithms for high-performance CRC generation", 2008).
 *
 * A remainder is linear: an entry is the sum (^) of the entries of its bits, so a table of 256 is
 * written here as the eight of them and summed by the compiler.
 */
#include "profiles/legacy_crc.h"

#include <string.h>

#define ENTRY(i, a, b, c, d, e, f, g, h)                                                           \
    (((i)&1 ? a : 0) ^ ((i)&2 ? b : 0) ^ ((i)&4 ? c : 0) ^ ((i)&8 ? d : 0) ^ ((i)&16 ? e : 0) ^    \
     ((i)&32 ? f : 0) ^ ((i)&64 ? g : 0) ^ ((i)&128 ? h : 0))
#define ENTRIES4(i, ...)                                                                           \
    ENTRY(i, __VA_ARGS__), ENTRY((i) + 1, __VA_ARGS__), ENTRY((i) + 2, __VA_ARGS__),               \
        ENTRY((i) + 3, __VA_ARGS__)
#define ENTRIES16(i, ...)                                                                          \
    ENTRIES4(i, __VA_ARGS__), ENTRIES4((i) + 4, __VA_ARGS__), ENTRIES4((i) + 8, __VA_ARGS__),      \
        ENTRIES4((i) + 12, __VA_ARGS__)
#define ENTRIES64(i, ...)                                                                          \
    ENTRIES16(i, __VA_ARGS__), ENTRIES16((i) + 16, __VA_ARGS__), ENTRIES16((i) + 32, __VA_ARGS__), \
        ENTRIES16((i) + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
    ENTRIES64(0, __VA_ARGS__), ENTRIES64(64, __VA_ARGS__), ENTRIES64(128, __VA_ARGS__),            \
        ENTRIES64(192, __VA_ARGS__)

static const uint32_t crc32_tables[8][256] = {
    {TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190,
           0xedb88320)},
    {TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2, 0xf0794f05,
           0x3b83984b)},
    {TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0, 0x709a8dc0,
           0xe1351b80)},
    {TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e, 0x9b14583d,
           0xed59b63b)},
    {TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04, 0x58f35849,
           0xb1e6b092)},
    {TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536, 0x0f580a6c,
           0x1eb014d8)},
    {TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c, 0x440b7579,
           0x8816eaf2)},
    {TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256, 0x299dc2ed,
           0x533b85da)},
};

static const uint16_t crc16_tables[8][256] = {
    {TABLE(0x1021, 0x2042, 0x4084, 0x8108, 0x1231, 0x2462, 0x48c4, 0x9188)},
    {TABLE(0x3331, 0x6662, 0xccc4, 0x89a9, 0x0373, 0x06e6, 0x0dcc, 0x1b98)},
    {TABLE(0x3730, 0x6e60, 0xdcc0, 0xa9a1, 0x4363, 0x86c6, 0x1dad, 0x3b5a)},
    {TABLE(0x76b4, 0xed68, 0xcaf1, 0x85c3, 0x1ba7, 0x374e, 0x6e9c, 0xdd38)},
    {TABLE(0xaa51, 0x4483, 0x8906, 0x022d, 0x045a, 0x08b4, 0x1168, 0x22d0)},
    {TABLE(0x45a0, 0x8b40, 0x06a1, 0x0d42, 0x1a84, 0x3508, 0x6a10, 0xd420)},
    {TABLE(0xb861, 0x60e3, 0xc1c6, 0x93ad, 0x377b, 0x6ef6, 0xddec, 0xabf9)},
    {TABLE(0x47d3, 0x8fa6, 0x0f6d, 0x1eda, 0x3db4, 0x7b68, 0xf6d0, 0xfd81)},
};

static uint64_t load_le64(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint32_t legacy_crc32_continue(uint32_t state, const void *data, size_t len)
{
    const uint8_t *at = data;
    for (; len >= 8; len -= 8, at += 8) {
        uint64_t word = load_le64(at) ^ state;
        state = 0;
        for (unsigned i = 0; i < 8; i++)
            state ^= crc32_tables[7 - i][word >> (8 * i) & 0xff];
    }
    for (size_t i = 0; i < len; i++)
        state = crc32_tables[0][(state ^ at[i]) & 0xff] ^ state >> 8;
    return state;
}

uint32_t legacy_crc32(const void *data, size_t len)
{
    return ~legacy_crc32_continue(UINT32_MAX, data, len);
}

uint32_t legacy_crc16_wide(const void *data, size_t len)
{
    const uint8_t *at = data;
    uint32_t state = 0;
    for (size_t i = 0; i < len; i++)
        state = state << 8 ^ crc16_tables[0][(state >> 8 ^ at[i]) & 0xff];
    return state;
}

/* The lower half of the above, which never sees the upper one. */
uint16_t legacy_crc16(const void *data, size_t len)
{
    const uint8_t *at = data;
    uint32_t state = 0;
    for (; len >= 8; len -= 8, at += 8) {
        uint64_t word = load_le64(at) ^ (state >> 8 | (state & 0xff) << 8);
        state = 0;
        for (unsigned i = 0; i < 8; i++)
            state ^= crc16_tables[7 - i][word >> (8 * i) & 0xff];
    }
    for (size_t i = 0; i < len; i++)
        state = (state << 8 & 0xffff) ^ crc16_tables[0][(state >> 8 ^ at[i]) & 0xff];
    return (uint16_t)state;
}
