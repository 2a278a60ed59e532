/*
 * The inside of a plan, and the ways in which the space of keys is walked.
 */
#ifndef PLACEMENT_PLAN_H
#define PLACEMENT_PLAN_H

#include "placement/map.h"
#include "placement/pairs.h"

struct cw_plan {
    struct cw_map *from, *to;
    uint32_t *numbers; /* in `to`, of the nodes of `from` */
    struct cw_move *moves;
    size_t move_count;
    double share, ideal_share, needless_share, share_error;
    double space;          /* what is walked: the sum of all sizes that a walk adds */
    uint64_t sample_count; /* 0: exact */
};

/* Whether what `from` gives to `old` moves when `to` gives it to `new`. What has no place on one
 * side does not. */
static inline int plan_moves(const struct cw_plan *plan, uint32_t old, uint32_t new)
{
    return old != CW_NO_NODE && new != CW_NO_NODE && plan->numbers[old] != new;
}

/* Walks of which a profile is part (plan_profile.c): the positions of two that hash keys alike, and
 * generated keys. CW_OK or CW_ENOMEM. */
int plan_walk_positions(struct cw_plan *plan, struct pairs *pairs);
int plan_walk_keys(struct cw_plan *plan, struct pairs *pairs);

/* How a plan can be exact: CW_OK, or CW_ENOT_SUPPORTED. */
int plan_can_walk_positions(const struct cw_map *from, const struct cw_map *to);

#endif
