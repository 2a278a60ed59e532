/*
 * round_locate() of many hashes.
 */
#ifndef PLACEMENT_ROUND_BATCH_H
#define PLACEMENT_ROUND_BATCH_H

#include "placement/round.h"
#include "placement/vectors.h"

#include <stddef.h>

/* ret_nodes[i] = nodes[server of hashes[i]]. */
void round_batch(enum vectors vectors, const struct round *round, const uint64_t *hashes,
                 size_t count, const uint32_t *nodes, uint32_t *ret_nodes);

#endif
