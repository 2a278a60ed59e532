/*
 * rendezvous: every node draws a number for the key, and the best draw wins (rank.h has the paper,
 * the law and the rule).
 *
 * Cost: O(nodes) a lookup and no state besides the nodes; made for up to some tens of nodes, or for
 * batches, where eight or sixteen keys draw at once (rank_batch.c). The ranking is a full order of
 * failover, each rank independent of the ones before.
 */
#include "placement/map.h"
#include "placement/rank_batch.h"

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    for (uint32_t i = 0; i < map->nodes.count; i++)
        map->shares[i] = cw_map_ideal_share(map, i);
    return CW_OK;
}

static void release(struct cw_map *map)
{
}

static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    const struct nodes *nodes = &map->nodes;
    if (nodes->weights_equal)
        return rank_best_equal(nodes->rank, nodes->count, hash);
    return rank_best(nodes->rank, nodes->count, hash).index;
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    const struct nodes *nodes = &map->nodes;
    if (nodes->weights_equal) {
        rank_batch_equal(map->vectors, nodes->rank, nodes->count, hashes, count, ret_nodes);
        return;
    }
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = rank_best(nodes->rank, nodes->count, hashes[i]).index;
}

static size_t locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    return rank_top(map, hash, CW_NO_NODE, k, ret_nodes);
}

static size_t memory(const struct cw_map *map)
{
    return 0;
}

const struct placement placement_rendezvous = {
    .name = "rendezvous",
    .capabilities = CW_CAN_WEIGHTS | CW_CAN_REMOVE_ANY | CW_CAN_REPLICAS,
    .build = build,
    .release = release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_n,
    .memory = memory,
};
