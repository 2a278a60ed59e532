/*
 * The parts of the ring placement; see ring.c.
 */
#ifndef PLACEMENT_RING_H
#define PLACEMENT_RING_H

#include "placement/map.h"

#define RING_TOKEN_COUNT_MAX ((uint64_t)1 << 27)
#define RING_LINE_TOKENS     12
#define RING_OWNER_SLOW      0xffffffu /* no node's number: CW_NODE_COUNT_MAX is below */

/*
 * One cache line of the index: the tokens of one of line_count equal arcs. A hash's arc is the high
 * half of hash * line_count, its fraction inside the arc the upper 16 bits of the low half.
 */
struct ring_line {
    /* Ascending, padded with the greatest; less 2^15, because SSE2 compares signed numbers. */
    int16_t fractions[RING_LINE_TOKENS];
    /* 24 bits each: the tokens' owners, then the owner behind the arc's last token; in the last
     * place RING_OWNER_SLOW when the arc has more tokens than fit. */
    uint8_t owners[(RING_LINE_TOKENS + 1) * 3];
    uint8_t unused;
};

struct ring {
    uint64_t *tokens; /* ascending; equal ones by node */
    uint32_t *owners;
    struct ring_line *lines;
    uint32_t *starts; /* the number of each line's first token; lies behind the lines, in their
                         block */
    uint32_t token_count, line_count;
    enum vectors vectors; /* what ring_locate_batch() may use */
};

/* Sorts tokens by (token, owner) where owners ascend in the given order; scratch is as large.
 * Returns which of the two pairs holds the result: 0 the first, 1 the scratch. */
int ring_sort(uint64_t *tokens, uint32_t *owners, uint64_t *scratch_tokens,
              uint32_t *scratch_owners, uint32_t count);

/* Fills ring->lines. */
int ring_index_build(struct ring *ring);

uint32_t ring_locate(const struct ring *ring, uint64_t hash);
void ring_locate_batch(const struct ring *ring, const uint64_t *hashes, size_t count,
                       uint32_t *ret_nodes);
/* ring_locate() of a map's state. How many lookups wait for memory at once is how many fit into the
 * processor's window, so the number of instructions counts: there is one form for AVX-512. */
uint32_t ring_map_locate(const struct cw_map *map, uint64_t hash);
uint32_t ring_map_locate_avx512(const struct cw_map *map, uint64_t hash);

/* The number of the first token that is not before the hash (token_count: none, go to 0), by plain
 * binary search: the reference that the index is compared with. */
uint32_t ring_search(const struct ring *ring, uint64_t hash);
uint32_t ring_locate_plain(const struct ring *ring, uint64_t hash);

#endif
