/*
 * The parts of the slots placement; see slots.c.
 */
#ifndef PLACEMENT_SLOTS_H
#define PLACEMENT_SLOTS_H

#include "placement/map.h"

/* What nodes draw for when they want a slot. */
static inline uint64_t slot_key(uint32_t slot)
{
    return mix_stream(0, slot);
}

/* Whether a pool may have so many slots. */
int slots_count_is_valid(uint64_t count);

/* The assignment of a new pool: slot_count node numbers, quotas filled exactly. */
int slots_fill(const struct nodes *nodes, uint32_t slot_count, uint32_t *ret_owners);

/* The assignment that follows `from`'s, with as few moves as the new quotas allow. */
int slots_follow(const struct cw_map *from, const struct nodes *nodes, uint32_t *ret_owners);

/* The candidates for slots: nodes that still have room, as the ranking wants them. */
struct takers {
    struct rank_node *nodes;
    uint32_t *room; /* by node number */
    size_t count;
};

/* Takes `room` by reference; takers_fini() does not free it. */
int takers_init(struct takers *takers, const struct nodes *nodes, uint32_t *room);
void takers_fini(struct takers *takers);
/* Gives a slot to the best taker with room and returns its number. There must be one. */
uint32_t takers_give(struct takers *takers, uint32_t slot);
/* Gives a slot to this taker if it still has room. */
int takers_give_to(struct takers *takers, uint32_t node);

#endif
