/*
 * A mover for tests of the router: it goes through the states of a transition as the real one does,
 * but copies keys from node to node in no time, behind everybody's back. So what goes wrong is the
 * router's doing: a write that was not marked, was not over when it was said to be, or was not
 * held.
 */
#ifndef TESTS_ROUTER_INSTANT_MOVER_H
#define TESTS_ROUTER_INSTANT_MOVER_H

#include "router/fixture.h"

/* What it does wrong on purpose. */
struct instant_mover_faults {
    bool ignores_acks, ignores_marks;
};

enum mover_step {
    STEP_IDLE,
    STEP_PREPARED,
    STEP_TRACKED,       /* then: copy all */
    STEP_TRACKED_AGAIN, /* then: drain the first dirty set */
    STEP_FROZEN,        /* then: drain the second, and switch */
    STEP_ENDED,         /* then: clean up */
};

struct instant_mover {
    struct fixture *fixture;
    struct io_loop *loop;
    struct io_timer *timer;
    struct random random;
    struct instant_mover_faults faults;
    struct cw_map *from, *to;
    enum mover_step step;
    uint32_t set; /* the number of the newest dirty set */
    bool is_given_up;
    struct move_counters counters;
    uint64_t switches, drained;
};

static struct memory_node *mover_node(const struct instant_mover *mover, const struct cw_map *map,
                                      uint32_t number)
{
    return mover->fixture->nodes[cw_map_node(map, number)->id[1] - '0'];
}

static struct memory_node *mover_owner(const struct instant_mover *mover, const struct cw_map *map,
                                       struct slice key)
{
    return mover_node(mover, map, cw_locate_key(map, key.ptr, key.len));
}

static bool mover_is_own(struct slice key)
{
    return key.len > 0 && key.ptr[0] == '\0';
}

/* Brings a key of `from` as it is to the node where it goes. */
static void mover_copy(struct instant_mover *mover, struct memory_node *from, struct slice key)
{
    struct memory_node *to = mover_owner(mover, mover->to, key);
    struct memory_item *item = memory_find(from, key);
    if (to == from)
        return;
    memory_delete(to, key);
    if (item)
        memory_value_copy(&memory_dict_put(&to->keys, key)->value, &item->value);
}

/* Removes from a node the keys that have their owner elsewhere, and dirty sets if wanted. False
 * when there were none; a walk during which a dict shrinks may pass some by. */
static bool mover_purge_some(struct instant_mover *mover, struct memory_node *node, bool with_sets)
{
    bool found = false;
    struct memory_item *next = memory_dict_next(&node->keys, NULL);
    while (next) {
        struct memory_item *item = next;
        struct slice key = memory_slice(item->name);
        next = memory_dict_next(&node->keys, item);
        if (mover_is_own(key) ? with_sets : mover_owner(mover, mover->from, key) != node)
            found |= memory_delete(node, key);
    }
    return found;
}

/* On all nodes; dirty sets only when nobody adds to them any more. */
static void mover_purge(struct instant_mover *mover, bool with_sets)
{
    for (uint32_t i = 0; i < mover->fixture->node_count; i++)
        while (mover_purge_some(mover, mover->fixture->nodes[i], with_sets)) {
        }
}

static void mover_copy_all(struct instant_mover *mover)
{
    mover_purge(mover, false);
    for (uint32_t i = 0; i < cw_map_node_count(mover->from); i++) {
        struct memory_node *node = mover_node(mover, mover->from, i);
        for (struct memory_item *item = memory_dict_next(&node->keys, NULL); item;
             item = memory_dict_next(&node->keys, item)) {
            struct slice key = memory_slice(item->name);
            /* What arrived from another source just now goes nowhere from here. */
            if (!mover_is_own(key) && mover_owner(mover, mover->from, key) == node)
                mover_copy(mover, node, key);
        }
    }
}

static struct slice mover_set_name(uint32_t number)
{
    static char name[32];
    int len = snprintf(name, sizeof name, "%ccw:dirty:%u", '\0', number);
    return (struct slice){name, (size_t)len};
}

static void mover_drain(struct instant_mover *mover, uint32_t set)
{
    for (uint32_t i = 0; i < cw_map_node_count(mover->from); i++) {
        struct memory_node *node = mover_node(mover, mover->from, i);
        struct memory_item *dirty = memory_find(node, mover_set_name(set));
        if (!dirty || mover->faults.ignores_marks)
            continue;
        for (struct memory_item *item = memory_dict_next(&dirty->value.members, NULL); item;
             item = memory_dict_next(&dirty->value.members, item)) {
            struct slice member = memory_slice(item->name);
            CW_ASSERT(member.len > 0 && member.ptr[0] == 'k');
            mover_copy(mover, node, (struct slice){member.ptr + 1, member.len - 1});
            mover->drained++;
        }
    }
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* On some worker's loop; the mover goes on on its own. */
static void mover_acked(void *context)
{
    struct instant_mover *mover = context;
    if (!mover->faults.ignores_acks)
        io_timer_start(mover->timer, 1 + random_below(&mover->random, 20));
}

static void mover_set(struct instant_mover *mover, enum mover_step step, enum move_phase phase)
{
    struct pool_state what = {.map = mover->from,
                              .next = phase == MOVE_NONE ? NULL : mover->to,
                              .phase = phase,
                              .counters = phase == MOVE_NONE ? NULL : &mover->counters};
    if (phase == MOVE_TRACKING)
        what.dirty_set = mover_set_name(++mover->set);
    mover->step = step;
    CW_ASSERT(router_set_state(mover->fixture->router, 0, &what, mover_acked, mover) == 0);
    if (mover->faults.ignores_acks)
        io_timer_start(mover->timer, 1);
}

static void mover_begin(struct instant_mover *mover)
{
    uint32_t nodes = mover->fixture->node_count;
    uint32_t count = 1 + (uint32_t)random_below(&mover->random, nodes);
    cw_map_unref(&mover->to);
    mover->to = fixture_map((uint32_t)random_below(&mover->random, nodes - count + 1), count);
    mover_set(mover, STEP_PREPARED, MOVE_PREPARED);
}

/* Switches, or gives up now and then. */
static void mover_end(struct instant_mover *mover)
{
    mover->is_given_up = random_below(&mover->random, 5) == 0;
    if (!mover->is_given_up) {
        struct cw_map *old = mover->from;
        mover->from = mover->to;
        mover->to = old;
        mover->switches++;
    }
    mover_set(mover, STEP_ENDED, MOVE_NONE);
}

static void mover_timer(void *context)
{
    struct instant_mover *mover = context;
    switch (mover->step) {
    case STEP_IDLE: mover_begin(mover); break;
    case STEP_PREPARED: mover_set(mover, STEP_TRACKED, MOVE_TRACKING); break;
    case STEP_TRACKED:
        mover_copy_all(mover);
        mover_set(mover, STEP_TRACKED_AGAIN, MOVE_TRACKING);
        break;
    case STEP_TRACKED_AGAIN:
        mover_drain(mover, mover->set - 1);
        mover_set(mover, STEP_FROZEN, MOVE_FROZEN);
        break;
    case STEP_FROZEN:
        mover_drain(mover, mover->set);
        mover_end(mover);
        break;
    case STEP_ENDED:
        mover_purge(mover, true);
        mover->step = STEP_IDLE;
        io_timer_start(mover->timer, 1 + random_below(&mover->random, 50));
        break;
    }
}

static struct instant_mover *instant_mover_create(struct fixture *fixture, uint64_t seed,
                                                  struct instant_mover_faults faults)
{
    struct instant_mover *mover = calloc(1, sizeof *mover);
    mover->fixture = fixture;
    mover->random.state = seed ^ 0x3071;
    mover->faults = faults;
    mover->from = cw_map_ref(fixture->map);
    CW_ASSERT(io_loop_create(&mover->loop) == 0);
    CW_ASSERT(io_timer_create(mover->loop, mover_timer, mover, &mover->timer) == 0);
    io_timer_start(mover->timer, 50);
    return mover;
}

/* Before the workers end: nothing is acknowledged after that. */
static void instant_mover_stop(struct instant_mover *mover)
{
    io_timer_destroy(&mover->timer);
    io_loop_destroy(&mover->loop);
    cw_map_unref(&mover->from);
    cw_map_unref(&mover->to);
}

/* After the workers, which count in it. */
static void instant_mover_destroy(struct instant_mover **mover)
{
    free(*mover);
    *mover = NULL;
}

#endif
