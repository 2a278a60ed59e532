#include "placement/rank_batch.h"

void rank_batch_equal(enum vectors vectors, const struct rank_node *nodes, uint32_t count,
                      const uint64_t *keys, size_t key_count, uint32_t *ret_nodes)
{
    for (size_t i = 0; i < key_count; i++)
        ret_nodes[i] = rank_best_equal(nodes, count, keys[i]);
}
