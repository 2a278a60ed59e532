/*
 * A logarithm in integers, so that weighted draws agree on every machine.
 */
#ifndef PLACEMENT_LOG2_H
#define PLACEMENT_LOG2_H

#include <stdint.h>

#define LOG2_ONE ((uint64_t)1 << 40)

/* log2(1 + i/256) in units of 2^-40, i = 0 .. 257. */
extern const uint64_t log2_table[258];

/*
 * -log2((draw + 1/2) / 2^32) in units of 2^-40: never 0, at most 33 ones, and strictly falling in
 * draw. Second-order (Newton) interpolation between exact points 1/256 apart: within 2e-8
 * everywhere, and within a few units of 2^-40 near draw = 2^32, where the winners are.
 */
static inline uint64_t log2_negative(uint32_t draw)
{
    uint64_t x = ((uint64_t)draw << 1) | 1; /* 33 bits, so that 0 and 1 are never reached */
    unsigned zeros = (unsigned)__builtin_clzll(x) - 31;
    uint64_t mantissa = (x << zeros) & 0xffffffffu; /* behind the leading one */
    const uint64_t *at = &log2_table[mantissa >> 24];
    uint64_t t = mantissa & 0xffffffu;
    uint64_t first = at[1] - at[0];
    uint64_t bend = 2 * at[1] - at[0] - at[2]; /* minus the second difference, never negative */
    uint64_t curve = (t * ((1u << 24) - t)) >> 24;
    uint64_t log = at[0] + ((first * t) >> 24) + ((bend * curve) >> 25);
    return (uint64_t)(zeros + 1) * LOG2_ONE - log;
}

#endif
