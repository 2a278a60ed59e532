/*
 * What the clients feel: the workers' latency histograms are read every half second, and the
 * difference to the last reading is what happened in between. While nothing moves it is kept as
 * what is usual; while something does, the throttle compares the two.
 */
#include <stdlib.h>
#include <string.h>

#include "move/mover_internal.h"

static uint64_t difference_p99(const struct histogram *now, const struct histogram *before)
{
    struct histogram *between = calloc(1, sizeof *between);
    uint64_t p99 = 0;
    if (!between)
        return 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        between->counts[i] = now->counts[i] - before->counts[i];
    between->count = now->count - before->count;
    between->max = now->max;
    if (between->count)
        p99 = histogram_percentile(between, 0.99);
    free(between);
    return p99;
}

static void take_up(struct observation *observation)
{
    struct transition *transition = &observation->mover->pools[observation->pool].transition;
    uint64_t p99 = difference_p99(&observation->now, &observation->before);
    observation->before = observation->now;
    observation->p99_us = p99;
    bool is_moving = transition->is_running && transition->info.state >= TRANSITION_TRACKING;
    if (!is_moving) {
        if (p99)
            observation->before_p99_us = p99;
        return;
    }
    if (!transition->throttle.before_p99_us)
        transition->throttle.before_p99_us = observation->before_p99_us;
    throttle_observe(&transition->throttle, io_now_ms(observation->mover->options.loop), p99,
                     transition_slowest_source_us(transition));
}

static void on_mover_loop(void *context)
{
    struct observation *observation = context;
    take_up(observation);
    observation->is_asked = false;
}

static void on_worker(struct worker *worker, void *context)
{
    struct observation *observation = context;
    histogram_merge(&observation->now, worker_latency(worker, observation->pool));
}

/* On the last worker's loop. If there is no memory for the post, nothing is observed any more. */
static void on_all(void *context)
{
    struct observation *observation = context;
    io_post(observation->mover->options.loop, on_mover_loop, observation);
}

void observation_init(struct observation *observation, struct mover *mover, uint32_t pool)
{
    observation->mover = mover;
    observation->pool = pool;
}

void mover_observe(struct mover *mover, uint32_t pool)
{
    struct observation *observation = &mover->pools[pool].observation;
    uint64_t now = io_now_ms(mover->options.loop);
    if (observation->is_asked || now < observation->asked_ms + OBSERVE_MS)
        return;
    observation->asked_ms = now;
    observation->is_asked = true;
    memset(&observation->now, 0, sizeof observation->now);
    if (router_visit(mover->options.router, on_worker, on_all, observation) < 0)
        observation->is_asked = false;
}
