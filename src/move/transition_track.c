/*
 * TRACKING: writes of moving keys are marked in the owner's dirty set, and everything is copied;
 * then come rounds, in each of which the workers go over to the next dirty set and acknowledge it,
 * and the closed one is drained. When few marks are left, the freeze begins.
 */
#include <string.h>

#include "move/transition.h"

static struct job *open_set(struct transition *transition, uint32_t node, job_done done,
                            void *context)
{
    struct slice set = {transition->dirty_set, transition->dirty_set_len};
    return job_open_set(&transition->move, node, set, done, context);
}

static struct job *copy_source(struct transition *transition, uint32_t node, job_done done,
                               void *context)
{
    return job_copy(&transition->move, node, done, context);
}

static struct job *drain_closed(struct transition *transition, uint32_t node, job_done done,
                                void *context)
{
    struct slice set = {transition->closed_set, transition->closed_set_len};
    key_list_clear(&transition->from_ends[node].drained);
    return job_drain(&transition->move, node, set, &transition->from_ends[node].drained, done,
                     context);
}

static struct job *compare_deep(struct transition *transition, uint32_t node, job_done done,
                                void *context)
{
    return job_verify_deep(&transition->move, node, &transition->from_ends[node].differ, done,
                           context);
}

static struct job *compare_sample(struct transition *transition, uint32_t node, job_done done,
                                  void *context)
{
    return job_verify_values(&transition->move, node, &transition->move.samples[node].keys,
                             &transition->from_ends[node].differ, done, context);
}

static const struct node_jobs open_sets = {"opening a dirty set on", false, true, open_set};
static const struct node_jobs copy_sources = {"copying from", false, true, copy_source};
static const struct node_jobs drain_sets = {"catching up with", false, false, drain_closed};
static const struct node_jobs compare_samples = {"comparing a sample of", false, true,
                                                 compare_sample};
static const struct node_jobs compare_all = {"comparing all of", false, true, compare_deep};

bool transition_has_found(const struct transition *transition)
{
    return key_list_count(&transition->found.keys) > 0;
}

void transition_open_next_set(struct transition *transition, transition_step then)
{
    transition->epoch++;
    transition_name_set(transition);
    transition_run_jobs(transition, &open_sets, then);
}

void transition_drain_closed(struct transition *transition, transition_step then)
{
    transition_run_jobs(transition, &drain_sets, then);
}

static void copied(struct transition *transition)
{
    if (!transition_went_well(transition))
        return;
    if (transition_has_found(transition))
        step_big(transition);
    else
        step_rotate(transition);
}

static void tracking(struct transition *transition)
{
    transition_run_jobs(transition, &copy_sources, copied);
}

static void stored_tracking(struct transition *transition)
{
    transition_tell_workers(transition, MOVE_TRACKING, tracking);
}

static void opened_first(struct transition *transition)
{
    if (transition_went_well(transition))
        transition_put(transition, TRANSITION_TRACKING, stored_tracking, NULL);
}

/* After the copy began, a node that was started anew has lost it, or the marks. */
static void remember_run_ids(struct transition_end *ends, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(ends[i].run_id, ends[i].facts.run_id, sizeof ends[i].run_id);
}

void step_track(struct transition *transition)
{
    uint32_t from_count = cw_map_node_count(transition->info.from);
    remember_run_ids(transition->from_ends, from_count);
    remember_run_ids(transition->to_ends, cw_map_node_count(transition->info.to));
    for (uint32_t i = 0; i < from_count; i++)
        transition->progress.keys_expected += transition->from_ends[i].facts.key_count;
    transition->throttle.before_source_us = transition_slowest_source_us(transition);
    transition_open_next_set(transition, opened_first);
}

void step_drain(struct transition *transition)
{
    transition->round++;
    transition->move.is_urgent = transition->round > ROUNDS_THROTTLED &&
                                 !transition->info.is_paused;
    transition_drain_closed(transition, step_drained);
}

static void opened_next(struct transition *transition)
{
    if (transition_went_well(transition))
        transition_tell_workers(transition, MOVE_TRACKING, step_drain);
}

void step_rotate(struct transition *transition)
{
    if (transition->options->left_out & MOVER_WITHOUT_ROTATION) {
        memcpy(transition->closed_set, transition->dirty_set, sizeof transition->closed_set);
        transition->closed_set_len = transition->dirty_set_len;
        transition_run_jobs(transition, &open_sets, step_drain);
        return;
    }
    transition_open_next_set(transition, opened_next);
}

/* Keys that were written while they were compared differ for a moment: they are marked, so they are
 * copied again; job_verify() under the freeze looks at them once more. */
static void compared(struct transition *transition)
{
    if (transition->outcome.result == JOB_DIFFERS)
        transition->outcome.result = JOB_DONE;
    if (!transition_went_well(transition))
        return;
    transition->is_compared = true;
    step_rotate(transition);
}

void step_drained(struct transition *transition)
{
    bool is_few = transition->outcome.count <= transition->options->freeze_keys;
    if (!transition_went_well(transition))
        return;
    mover_publish(transition);
    bool has_found = transition_has_found(transition);
    bool is_left = transition_is_chasing(transition) && is_few && !transition->info.is_paused;
    if (!has_found)
        transition->big_rounds = 0;
    if (has_found && !is_left)
        step_big(transition);
    else if (transition->info.is_paused)
        transition_later(transition, PAUSED_POLL_MS, step_rotate);
    else if (is_few && !transition->is_compared)
        transition_run_jobs(transition, transition->info.is_deep ? &compare_all : &compare_samples,
                            compared);
    else if (is_few)
        step_freeze(transition);
    else
        step_rotate(transition);
}
