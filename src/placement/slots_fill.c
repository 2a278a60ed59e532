/*
 * The first assignment of slots: in the order of slots, each goes to the node that ranks best for
 * it among those with room, and room is the exact quota.
 *
 * Why exact quotas, when a ranking without a cap would not depend on the other nodes at all: that
 * leaves nodes a few per cent apart (sd sqrt(nodes / P)), and buys nothing, because no later map is
 * made by ranking: the planner starts from this table and makes each movement minimal. So the
 * balance is within one slot from the first day.
 */
#include "placement/slots.h"

#include "placement/memory.h"
#include "placement/quota.h"

#include <stdlib.h>

int takers_init(struct takers *takers, const struct nodes *nodes, uint32_t *room)
{
    takers->room = room;
    takers->count = 0;
    takers->nodes = memory_alloc(nodes->count, sizeof *takers->nodes);
    if (!takers->nodes)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++)
        if (room[i])
            takers->nodes[takers->count++] = nodes->rank[i];
    return CW_OK;
}

void takers_fini(struct takers *takers)
{
    free(takers->nodes);
}

/* The order of takers does not matter to the ranking, so the hole is filled with the last. */
static void drop_taker(struct takers *takers, uint32_t node)
{
    for (size_t i = 0; i < takers->count; i++)
        if (takers->nodes[i].index == node) {
            takers->nodes[i] = takers->nodes[--takers->count];
            return;
        }
}

int takers_give_to(struct takers *takers, uint32_t node)
{
    if (takers->room[node] == 0)
        return 0;
    if (--takers->room[node] == 0)
        drop_taker(takers, node);
    return 1;
}

uint32_t takers_give(struct takers *takers, uint32_t slot)
{
    uint32_t node = rank_best(takers->nodes, takers->count, slot_key(slot)).index;
    takers_give_to(takers, node);
    return node;
}

int slots_fill(const struct nodes *nodes, uint32_t slot_count, uint32_t *ret_owners)
{
    struct takers takers;
    uint32_t *room = memory_alloc(nodes->count, sizeof *room);
    int status = room ? quota_compute(nodes, slot_count, NULL, room) : CW_ENOMEM;
    if (status == CW_OK)
        status = takers_init(&takers, nodes, room);
    if (status == CW_OK) {
        for (uint32_t slot = 0; slot < slot_count; slot++)
            ret_owners[slot] = takers_give(&takers, slot);
        takers_fini(&takers);
    }
    free(room);
    return status;
}
