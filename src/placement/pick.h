/*
 * Choosing k owners from a stream of candidates in order of preference, as a walk round the ring
 * gives them: distinct nodes, in distinct zones while there are enough, and those that the zone
 * rule passed over, in their order, only when zones are exhausted.
 */
#ifndef PLACEMENT_PICK_H
#define PLACEMENT_PICK_H

#include "placement/nodes.h"

#include <stdbool.h>

struct pick {
    const struct nodes *nodes;
    size_t want;       /* owners in all */
    size_t want_zones; /* of them in zones of their own */
    size_t count, passed_count;
    uint32_t *chosen; /* the caller's, of `want` */
    uint32_t passed[CW_REPLICA_COUNT_MAX];
};

void pick_init(struct pick *pick, const struct nodes *nodes, size_t want, uint32_t *ret_nodes);
/* Offers the next candidate; true when no more are needed. */
bool pick_offer(struct pick *pick, uint32_t node);
/* Appends the passed over; returns how many owners there are. */
size_t pick_finish(struct pick *pick);

#endif
