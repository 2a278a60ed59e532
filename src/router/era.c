/*
 * Eras: which requests were sent under which state. A request counts in the era that was the newest
 * when it was put into a node's queue, until it is answered or has failed. An era is over when it
 * is not the newest, nothing counts in it, and all older ones are over; when the last era before it
 * is over, a worker acknowledges a state. What a client has sent and the worker has not dispatched
 * yet belongs to no era: it will be sent under a newer state.
 *
 * The price is an addition when a request is sent and a subtraction when it is over.
 */
#include "router/internal.h"

static void acknowledge(const struct pool *pool, struct state *state)
{
    if (pool->is_ending)
        return;
    if (__atomic_sub_fetch(&state->unacked, 1, __ATOMIC_ACQ_REL) == 0 && state->acked)
        state->acked(state->context);
}

void pool_end_eras(struct pool *pool)
{
    struct era *oldest = list_entry(pool->eras.next, struct era, in_pool);
    while (oldest->open == 0) {
        list_remove(&oldest->in_pool);
        state_unref(&oldest->state);
        oldest = list_entry(pool->eras.next, struct era, in_pool);
        acknowledge(pool, oldest->state);
    }
}

void era_begin(struct pool *pool, struct era *era)
{
    struct era *old = pool->era;
    era->pool = pool;
    era->open = 1;
    list_push_back(&pool->eras, &era->in_pool);
    pool->era = era;
    if (old)
        era_leave(old);
    else
        acknowledge(pool, era->state);
}

void pool_drop_eras(struct pool *pool)
{
    while (!list_is_empty(&pool->eras)) {
        struct era *era = list_entry(pool->eras.next, struct era, in_pool);
        list_remove(&era->in_pool);
        state_unref(&era->state);
    }
    pool->era = NULL;
}
