/*
 * The integer arithmetic that mappings are made of. Everything here is part of the mapping: frozen,
 * and pinned by the golden files.
 */
#ifndef PLACEMENT_MIX_H
#define PLACEMENT_MIX_H

#include <stdint.h>

#define MIX_GOLDEN 0x9e3779b97f4a7c15u /* 2^64 / golden ratio */

/* The finaliser of splitmix64 (Stafford's variant 13): a bijection whose every output bit depends
 * on every input bit. */
static inline uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The i-th number of the stream of a seed. */
static inline uint64_t mix_stream(uint64_t seed, uint64_t i)
{
    return mix64(seed + (i + 1) * MIX_GOLDEN);
}

/* The high half of a product: scales a 64-bit hash to 0 .. n-1 by its high bits, with no division.
 */
static inline uint64_t mix_high(uint64_t hash, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)hash * n) >> 64);
}

#endif
