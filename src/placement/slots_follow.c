/*
 * The sticky planner: the table of slots that follows another one when nodes change.
 *
 * Law: with the new quotas (quota.h), which take what nodes have into account, the number of slots
 * moved is the sum of what nodes must get, which is the least possible. Slots of nodes that are
 * gone move, and of nodes that have too many exactly the excess; all others stay. No slot moves to
 * a node that does not have to get any, so adding nodes never moves a slot between two old ones of
 * the same weight.
 *
 * Which slots leave a node with too many: those for which some receiver ranks best, best scores
 * first over all of them; so the outcome depends on the old table and the nodes, on nothing else.
 * Cost: O(P log P + P_giving * receivers).
 */
#include "placement/slots.h"

#include "placement/memory.h"
#include "placement/quota.h"

#include <stdlib.h>
#include <string.h>

struct follow {
    uint32_t slot_count;
    uint32_t *owners;  /* by slot; CW_NO_NODE: free */
    uint32_t *surplus; /* by node: what it has to give */
    uint32_t *room;    /* by node: what it has to get */
    struct takers takers;
};

/* The new number of every old node. */
static uint32_t *renumber(const struct nodes *from, const struct nodes *to)
{
    uint32_t *numbers = memory_alloc(from->count, sizeof *numbers);
    uint32_t at = 0;
    for (uint32_t i = 0; numbers && i < from->count; i++) {
        int order = -1;
        while (at < to->count && (order = strcmp(to->list[at].id, from->list[i].id)) < 0)
            at++;
        numbers[i] = at < to->count && order == 0 ? at : CW_NO_NODE;
    }
    return numbers;
}

/* Starts from the old owners; counts what nodes have, then what they must give and get. */
static int take_over(struct follow *follow, const struct cw_map *from, const struct nodes *nodes)
{
    uint32_t *numbers = renumber(&from->nodes, nodes);
    if (!numbers)
        return CW_ENOMEM;
    for (uint32_t slot = 0; slot < follow->slot_count; slot++) {
        uint32_t owner = numbers[from->table[slot]];
        follow->owners[slot] = owner;
        if (owner != CW_NO_NODE)
            follow->surplus[owner]++;
    }
    free(numbers);
    if (quota_compute(nodes, follow->slot_count, follow->surplus, follow->room) != CW_OK)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t has = follow->surplus[i], should = follow->room[i];
        follow->surplus[i] = has > should ? has - should : 0;
        follow->room[i] = should > has ? should - has : 0;
    }
    return CW_OK;
}

static void give_free_slots(struct follow *follow)
{
    for (uint32_t slot = 0; slot < follow->slot_count; slot++)
        if (follow->owners[slot] == CW_NO_NODE)
            follow->owners[slot] = takers_give(&follow->takers, slot);
}

/* A slot that may leave its owner, and who wants it most. */
struct offer {
    struct rank_score score;
    uint32_t slot;
};

static int by_score(const void *one, const void *other)
{
    const struct offer *a = one, *b = other;
    if (rank_before(&a->score, &b->score))
        return -1;
    if (rank_before(&b->score, &a->score))
        return 1;
    return a->slot < b->slot ? -1 : 1;
}

static size_t collect_offers(const struct follow *follow, struct offer *offers)
{
    size_t count = 0;
    for (uint32_t slot = 0; slot < follow->slot_count; slot++)
        if (follow->surplus[follow->owners[slot]])
            offers[count++] = (struct offer){
                rank_best(follow->takers.nodes, follow->takers.count, slot_key(slot)), slot};
    return count;
}

/* Best scores first; an offer whose receiver is full by then waits for the second round, in which
 * slots in their order go to the best receiver left. */
static void take_surplus(struct follow *follow, const struct offer *offers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t *owner = &follow->owners[offers[i].slot];
        if (follow->surplus[*owner] && takers_give_to(&follow->takers, offers[i].score.index)) {
            follow->surplus[*owner]--;
            *owner = offers[i].score.index;
        }
    }
    for (uint32_t slot = 0; slot < follow->slot_count && follow->takers.count; slot++) {
        uint32_t *owner = &follow->owners[slot];
        if (follow->surplus[*owner]) {
            follow->surplus[*owner]--;
            *owner = takers_give(&follow->takers, slot);
        }
    }
}

static int move_slots(struct follow *follow, const struct nodes *nodes)
{
    if (takers_init(&follow->takers, nodes, follow->room) != CW_OK)
        return CW_ENOMEM;
    give_free_slots(follow);
    struct offer *offers = NULL;
    if (follow->takers.count) {
        offers = memory_alloc(follow->slot_count, sizeof *offers);
        if (!offers) {
            takers_fini(&follow->takers);
            return CW_ENOMEM;
        }
        size_t count = collect_offers(follow, offers);
        qsort(offers, count, sizeof *offers, by_score);
        take_surplus(follow, offers, count);
    }
    free(offers);
    takers_fini(&follow->takers);
    return CW_OK;
}

int slots_follow(const struct cw_map *from, const struct nodes *nodes, uint32_t *ret_owners)
{
    struct follow follow = {.slot_count = from->slot_count, .owners = ret_owners};
    follow.surplus = memory_alloc(nodes->count, sizeof *follow.surplus);
    follow.room = memory_alloc(nodes->count, sizeof *follow.room);
    int status = follow.surplus && follow.room ? take_over(&follow, from, nodes) : CW_ENOMEM;
    if (status == CW_OK)
        status = move_slots(&follow, nodes);
    free(follow.surplus);
    free(follow.room);
    return status;
}
