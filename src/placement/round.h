/*
 * Round-hashing in closed form: Grossi and Versari, "Round-Hashing for Data Storage: Distributed
 * Servers and External-Memory Tables" (ESA 2018); after the authors' program, whose numbering of
 * servers this equals.
 *
 * The hash space is 2^e equal groups (e = floor(log2(servers / S))); each group is cut into s equal
 * arcs, s in [S, 2S), one a server. Adding a server cuts the next group into one arc more; when all
 * groups have been cut to 2S arcs, each splits into two groups of S and no key moves.
 *
 * Law: every server owns exactly one contiguous range; the longest is at most 1 + 1/S times the
 * mean. Movement is not minimal: adding a server moves half a group, S/2 to S/2 * 2 times the
 * ideal, always between neighbours. Below S servers everything is cut anew, as with fastrange.
 * Cost: some ten instructions, no memory.
 */
#ifndef PLACEMENT_ROUND_H
#define PLACEMENT_ROUND_H

#include "placement/mix.h"

#include <stdint.h>

/* Follows from the number of servers alone. */
struct round {
    uint32_t s;         /* arcs of a group that is not cut yet */
    uint32_t cut_count; /* groups 0 .. cut_count-1 have s + 1 */
    unsigned e;         /* 2^e groups */
    unsigned base_bits; /* log2(S) */
};

/* base_bits up to 20; servers from 1. */
struct round round_init(uint32_t server_count, unsigned base_bits);
/* The range of a server: first and last hash. */
void round_range(const struct round *round, uint32_t server, uint64_t *ret_first,
                 uint64_t *ret_last);

/*
 * The server of position p in group q. A position from the base up was made in this very group; one
 * below it comes from the group that split into q's odd half, as many splits ago as q has trailing
 * zeros; with q = 0 it is the server. Written without branches, which would be taken at random.
 */
static inline uint32_t round_server(const struct round *round, uint32_t q, uint32_t p)
{
    uint32_t base = 1u << round->base_bits;
    uint32_t is_old = -(uint32_t)(p < base), is_split = is_old & -(uint32_t)(q != 0);
    uint32_t split_shift = (uint32_t)__builtin_ctz(q | 1u << 31) + 1;
    uint32_t shift = (is_split & split_shift) | (is_old & ~is_split & round->e);
    return (((p + (base & is_split)) << round->e) + q) >> shift;
}

static inline uint32_t round_locate(const struct round *round, uint64_t hash)
{
    uint32_t q = (uint32_t)(hash >> 1 >> (63 - round->e)); /* in two steps: e may be 0 */
    uint32_t p = (uint32_t)mix_high(hash << round->e, round->s + (q < round->cut_count));
    return round_server(round, q, p);
}

#endif
