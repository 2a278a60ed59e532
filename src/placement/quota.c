#include "placement/quota.h"

#include "placement/memory.h"

#include <stdlib.h>

struct claim {
    uint64_t remainder;
    uint32_t node;
    int keeps; /* rounding up saves a move */
};

static int by_right(const void *one, const void *other)
{
    const struct claim *a = one, *b = other;
    if (a->keeps != b->keeps)
        return b->keeps - a->keeps;
    if (a->remainder != b->remainder)
        return a->remainder < b->remainder ? 1 : -1;
    return a->node < b->node ? -1 : 1;
}

int quota_compute(const struct nodes *nodes, uint32_t slot_count, const uint32_t *counts,
                  uint32_t *ret_quotas)
{
    struct claim *claims = memory_alloc(nodes->count, sizeof *claims);
    uint32_t left = slot_count;
    size_t claim_count = 0;
    if (!claims)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint64_t product = (uint64_t)slot_count * nodes->list[i].weight;
        uint64_t remainder = product % nodes->weight_sum;
        ret_quotas[i] = (uint32_t)(product / nodes->weight_sum);
        left -= ret_quotas[i];
        if (remainder)
            claims[claim_count++] = (struct claim){remainder, i,
                                                   counts && counts[i] > ret_quotas[i]};
    }
    qsort(claims, claim_count, sizeof *claims, by_right);
    for (uint32_t i = 0; i < left; i++)
        ret_quotas[claims[i].node]++;
    free(claims);
    return CW_OK;
}
