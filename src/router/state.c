/*
 * The states of pools: what all workers are told at once. Each worker gets a state as a post to its
 * loop, so it takes it between two turns, in the order in which the states were set; or none of
 * them does, if a post could not be made.
 */
#include "router/blocking.h"

#include <errno.h>
#include <stdlib.h>

static void release_what(struct pool_state *what)
{
    cw_map_unref(&what->map);
    cw_map_unref(&what->next);
    big_keys_unref(&what->big);
    free((void *)(uintptr_t)what->dirty_set.ptr);
}

static bool copy_what(struct pool_state *to, const struct pool_state *from)
{
    *to = *from;
    to->map = cw_map_ref(from->map);
    to->next = from->next ? cw_map_ref(from->next) : NULL;
    to->big = from->big ? big_keys_ref(from->big) : NULL;
    to->dirty_set = (struct slice){NULL, from->dirty_set.len};
    if (!from->dirty_set.len)
        return true;
    char *name = malloc(from->dirty_set.len);
    if (name)
        memcpy(name, from->dirty_set.ptr, from->dirty_set.len);
    to->dirty_set.ptr = name;
    return name != NULL;
}

static struct state *state_create(struct router *router, uint32_t pool,
                                  const struct pool_state *what)
{
    uint32_t worker_count = router->options.worker_count;
    struct state *state = calloc(1, sizeof *state + worker_count * sizeof state->eras[0]);
    if (!state)
        return NULL;
    state->router = router;
    state->pool = pool;
    state->references = worker_count + 1;
    state->unacked = worker_count;
    for (uint32_t i = 0; i < worker_count; i++)
        state->eras[i].state = state;
    if (!copy_what(&state->what, what)) {
        release_what(&state->what);
        free(state);
        return NULL;
    }
    mutex_lock(&router->lock);
    list_push_back(&router->all_states, &state->in_router);
    mutex_unlock(&router->lock);
    return state;
}

struct state *state_create_first(struct router *router, uint32_t pool, struct cw_map *map)
{
    return state_create(router, pool, &(struct pool_state){.map = map});
}

void state_destroy(struct state *state)
{
    list_remove(&state->in_router);
    release_what(&state->what);
    free(state);
}

static void drop(struct state *state, uint32_t count)
{
    struct router *router = state->router;
    if (__atomic_sub_fetch(&state->references, count, __ATOMIC_ACQ_REL) > 0)
        return;
    mutex_lock(&router->lock);
    state_destroy(state);
    mutex_unlock(&router->lock);
}

void state_unref(struct state **state_ptr)
{
    struct state *state = *state_ptr;
    *state_ptr = NULL;
    if (state)
        drop(state, 1);
}

/* ---- giving it to the workers -----------------------------------------------------------------
 */

/* Waits until router_set_state() has posted to all or given up. */
static bool is_void(struct state *state)
{
    mutex_lock(&state->router->lock);
    bool is_void = state->is_void;
    mutex_unlock(&state->router->lock);
    return is_void;
}

static void take_state(void *context)
{
    struct era *era = context;
    struct state *state = era->state;
    struct pool *pool = &era->worker->pools[state->pool];
    if (is_void(state)) {
        state_unref(&state);
    } else if (pool_set_state(pool, &state->what) < 0) {
        /* Never acknowledged, so whoever waits for it does not go on. */
        worker_log(era->worker, 3,
                   "event=state_not_taken pool=%s worker=%u generation=%llu phase=%d "
                   "reason=\"out of memory\"",
                   pool->settings->name, era->worker->index,
                   (unsigned long long)cw_map_generation(state->what.map), (int)state->what.phase);
        state_unref(&state);
    } else {
        era_begin(pool, era);
        blocking_new_state(pool);
    }
}

/* Returns to how many workers it was posted. */
static uint32_t post_to_all(struct router *router, struct state *state)
{
    for (uint32_t i = 0; i < router->options.worker_count; i++) {
        struct worker *worker = router->workers[i];
        state->eras[i].worker = worker;
        if (io_post(worker->loop, take_state, &state->eras[i]) < 0)
            return i;
    }
    return router->options.worker_count;
}

int router_set_state(struct router *router, uint32_t pool, const struct pool_state *what,
                     io_callback acked, void *context)
{
    struct state *state = state_create(router, pool, what), *old = NULL;
    if (!state)
        return -ENOMEM;
    state->acked = acked;
    state->context = context;
    mutex_lock(&router->lock);
    uint32_t posted = post_to_all(router, state), missed = router->options.worker_count - posted;
    state->is_void = missed > 0;
    if (!missed) {
        old = router->states[pool];
        router->states[pool] = state;
    }
    mutex_unlock(&router->lock);
    state_unref(&old);
    if (!missed)
        return 0;
    drop(state, missed + 1);
    return -ENOMEM;
}

int router_set_map(struct router *router, uint32_t pool, struct cw_map *map)
{
    return router_set_state(router, pool, &(struct pool_state){.map = map}, NULL, NULL);
}

struct cw_map *router_map(struct router *router, uint32_t pool)
{
    mutex_lock(&router->lock);
    struct cw_map *map = cw_map_ref(router->states[pool]->what.map);
    mutex_unlock(&router->lock);
    return map;
}
