/*
 * The best of nodes of equal weight for many keys at once: a lane of a vector is a key, so that no
 * lane ever waits for another.
 */
#ifndef PLACEMENT_RANK_BATCH_H
#define PLACEMENT_RANK_BATCH_H

#include "placement/rank.h"
#include "placement/vectors.h"

/* nodes[i].index must be i. ret_nodes[i] is rank_best_equal() of keys[i]. */
void rank_batch_equal(enum vectors vectors, const struct rank_node *nodes, uint32_t count,
                      const uint64_t *keys, size_t key_count, uint32_t *ret_nodes);

#endif
