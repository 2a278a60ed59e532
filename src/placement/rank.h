/*
 * Weighted rendezvous ranking: Thaler and Ravishankar, "Using name-based mappings to increase hit
 * rates" (1998), with the weights of Schindelhauer and Schomaker (2005): every node draws a number
 * u in (0, 1) for the key, and the least -log(u) / weight wins.
 *
 * Law: a node's chance of any rank depends on weights alone; when a node comes, goes or changes its
 * weight, all others keep their order, so keys move only to or from it. Exact shares.
 * Cost: O(nodes) a key, about 1.5 ns a node: draws that cannot win are told by one multiplication
 * and never see a logarithm.
 *
 * Draws have 32 bits, so that eight fit an AVX2 register. Every node brings 64 bits into its draw:
 * with 32 two of 100,000 nodes would likely draw alike for every key, and one of them starve.
 */
#ifndef PLACEMENT_RANK_H
#define PLACEMENT_RANK_H

#include "placement/log2.h"
#include "placement/mix.h"

#include <stddef.h>
#include <stdint.h>

struct cw_map;

struct rank_node {
    uint32_t a, b;    /* the halves of the id's hash */
    uint64_t inverse; /* (2^64-1) / weight */
    uint32_t index;   /* the node's number in its map; decides ties */
};

/* What a node got for a key. Less is better; see rank_before(). */
struct rank_score {
    uint64_t cost; /* -log2(u) / weight in units of 2^-57 */
    uint32_t draw;
    uint32_t index;
};

static inline struct rank_node rank_node(uint64_t id_hash, uint32_t weight, uint32_t index)
{
    return (struct rank_node){(uint32_t)(id_hash >> 32), (uint32_t)id_hash, UINT64_MAX / weight,
                              index};
}

static inline uint32_t rank_draw(const struct rank_node *node, uint64_t key)
{
    uint32_t x = ((uint32_t)(key >> 32) ^ node->a) * 0x7feb352du;
    x ^= x >> 15;
    x = (x + ((uint32_t)key ^ node->b)) * 0x846ca68bu;
    return x ^ (x >> 16);
}

static inline uint64_t rank_cost(uint32_t draw, uint64_t inverse)
{
    return mix_high(log2_negative(draw) << 17, inverse);
}

/* Never more than rank_cost(), and cheap: -log2(u) > 1 - u. */
static inline uint64_t rank_cost_floor(uint32_t draw, uint64_t inverse)
{
    return mix_high((((uint64_t)1 << 33) - (((uint64_t)draw << 1) | 1)) << 24, inverse);
}

/* The total order of scores. The draw stands between cost and index so that with equal weights the
 * order is that of the draws alone: vector code then needs no logarithm. */
static inline int rank_before(const struct rank_score *one, const struct rank_score *other)
{
    if (one->cost != other->cost)
        return one->cost < other->cost;
    if (one->draw != other->draw)
        return one->draw > other->draw;
    return one->index < other->index;
}

/* The best of count > 0 nodes for a key. */
struct rank_score rank_best(const struct rank_node *nodes, size_t count, uint64_t key);

/* The number of the best of count > 0 nodes of equal weight: the greatest draw. */
static inline uint32_t rank_best_equal(const struct rank_node *nodes, size_t count, uint64_t key)
{
    uint32_t best = rank_draw(&nodes[0], key), index = nodes[0].index;
    for (size_t i = 1; i < count; i++) {
        uint32_t draw = rank_draw(&nodes[i], key);
        index = draw > best ? nodes[i].index : index;
        best = draw > best ? draw : best;
    }
    return index;
}

/* Appends to the chosen the best nodes that are none of them, nor in a zone of theirs when zones
 * are given, until there are k or no more nodes. Returns how many there are. */
size_t rank_append(const struct cw_map *map, uint64_t key, const uint32_t *zones, size_t k,
                   uint32_t *chosen, size_t chosen_count);

/* The k best nodes of a map for a key, with the zone rule of cw_locate_n(). The first is given
 * (CW_NO_NODE: take the best). k is at most CW_REPLICA_COUNT_MAX and the node count. */
size_t rank_top(const struct cw_map *map, uint64_t key, uint32_t first, size_t k,
                uint32_t *ret_nodes);

#endif
