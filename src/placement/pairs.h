/*
 * A sum for every pair of nodes that comes up: an open-addressed table that grows.
 */
#ifndef PLACEMENT_PAIRS_H
#define PLACEMENT_PAIRS_H

#include <stddef.h>
#include <stdint.h>

struct pair_sum {
    uint32_t from, to;
    unsigned __int128 size; /* hashes; all of them are 2^64 */
    uint64_t ranges;        /* 0: the place is free */
};

struct pairs {
    struct pair_sum *places;
    size_t place_count, count; /* place_count is a power of two, or 0 */
};

/* Adds hashes and ranges (of which there must be some) to the sum of a pair; CW_OK or CW_ENOMEM. */
int pairs_add(struct pairs *pairs, uint32_t from, uint32_t to, unsigned __int128 size,
              uint64_t ranges);
void pairs_fini(struct pairs *pairs);

#endif
