/*
 * Random numbers from a seed: the same seed gives the same run on every machine. splitmix64
 * (Steele, Lea and Flood 2014), one word of state. Not for secrets.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t random_next(struct random *random)
{
    return random_mix(random->state += 0x9e3779b97f4a7c15u);
}

/* Uniform in 0 .. bound-1 (bound > 0), from the high bits. */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)random_next(random) * bound) >> 64);
}

#endif
