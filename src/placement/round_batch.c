#include "placement/round_batch.h"

void round_batch(enum vectors vectors, const struct round *round, const uint64_t *hashes,
                 size_t count, const uint32_t *nodes, uint32_t *ret_nodes)
{
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = nodes[round_locate(round, hashes[i])];
}
