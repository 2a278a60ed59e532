/*
 * How many of P equal slots each node should have: its share of P by weight, rounded down or up so
 * that the sum is P (largest remainders, Hare 1859 / Hamilton 1792). Every quota is within one slot
 * of the ideal, which no rule can better.
 */
#ifndef PLACEMENT_QUOTA_H
#define PLACEMENT_QUOTA_H

#include "placement/nodes.h"

/*
 * Writes nodes->count quotas. counts (may be NULL) are what nodes have now: those that already
 * have more than their share rounded down are rounded up first, because that slot need not move;
 * only then the largest remainder decides, then the order of ids. Given the two roundings that are
 * allowed, no other quotas need fewer moves.
 */
int quota_compute(const struct nodes *nodes, uint32_t slot_count, const uint32_t *counts,
                  uint32_t *ret_quotas);

#endif
