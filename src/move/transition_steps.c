/*
 * The steps of a transition, in their order (the protocol and its reasons: docs/transitions.md).
 *
 *   look, estimate, check  nothing is stored yet: a refusal leaves no trace
 *   PREPARED    targets are cleared of what an earlier attempt left; workers connect to new nodes
 *   TRACKING    writes of moving keys are marked in the owner's dirty set; everything is copied;
 *               then rounds of: next dirty set, acknowledged; the closed one is drained
 *   FROZEN      few marks are left: writes of moving keys wait while they are copied and compared
 *   SWITCHED    stored: from now on the new map is true; workers take it up
 *   CLEANING    old owners are cleared
 *
 * Until SWITCHED is stored the old owners have everything, so every trouble leads back to TRACKING
 * or PREPARED and never forward.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/transition.h"

/* ---- looking --------------------------------------------------------------------------------- */

static struct job *look_at_source(struct transition *transition, uint32_t node, job_done done,
                                  void *context)
{
    return job_look(&transition->move, transition->move.from_peers[node],
                    &transition->from_ends[node].facts, done, context);
}

static struct job *look_at_target(struct transition *transition, uint32_t node, job_done done,
                                  void *context)
{
    return job_look(&transition->move, transition->move.to_peers[node],
                    &transition->to_ends[node].facts, done, context);
}

static struct job *estimate_source(struct transition *transition, uint32_t node, job_done done,
                                   void *context)
{
    struct move_estimate *estimate = &transition->from_ends[node].estimate;
    *estimate = (struct move_estimate){.bytes_to = transition->bytes_in,
                                       .keys_to = transition->keys_in};
    return job_estimate(&transition->move, node, ESTIMATE_SAMPLE, estimate, done, context);
}

static const struct node_jobs look_sources = {"looking at", false, false, look_at_source};
static const struct node_jobs look_targets = {"looking at", true, false, look_at_target};
static const struct node_jobs estimate_sources = {"looking at", false, false, estimate_source};

/* Sources, then targets. */
static void look_at_targets(struct transition *transition)
{
    if (transition->outcome.result == JOB_DONE)
        transition_run_jobs(transition, &look_targets, transition->looked_then);
    else
        transition->looked_then(transition);
}

void transition_look(struct transition *transition, transition_step then)
{
    transition->looked_then = then;
    transition_run_jobs(transition, &look_sources, look_at_targets);
}

/* Whether what was looked at went well; else the request is refused. */
static bool looked_well(struct transition *transition)
{
    if (transition->outcome.result == JOB_DONE)
        return true;
    transition_refuse(transition, -EIO, transition->outcome.problem);
    return false;
}

/* New nodes must be empty: whose data it is that stands there, nobody but a person knows. */
static bool targets_are_empty(struct transition *transition, char *ret_problem)
{
    const struct transition_info *info = &transition->info;
    for (uint32_t i = 0; i < cw_map_node_count(info->to); i++) {
        const struct cw_node *node = cw_map_node(info->to, i);
        uint32_t before = cw_map_find_node(info->from, node->id);
        bool is_new = before == CW_NO_NODE ||
                      !transition_is_same_node(node, cw_map_node(info->from, before));
        uint64_t count = transition->to_ends[i].facts.key_count;
        if (!is_new || count == 0 || info->may_purge || info->no_copy)
            continue;
        snprintf(ret_problem, MOVE_PROBLEM_SIZE,
                 "node '%s' (%s) is not empty: it has %llu keys; empty it (FLUSHALL there), or let "
                 "what stands in the way be removed with --purge",
                 node->id, node->address ? node->address : "", (unsigned long long)count);
        return false;
    }
    return true;
}

/* A server that is said to have the data already, and has none, would be every key's loss. */
static bool targets_have_data(struct transition *transition, char *ret_problem)
{
    const struct cw_map *to = transition->info.to;
    for (uint32_t i = 0; transition->info.no_copy && i < cw_map_node_count(to); i++) {
        const struct transition_end *end = &transition->to_ends[i];
        if (!end->is_used || end->facts.key_count > 0)
            continue;
        snprintf(ret_problem, MOVE_PROBLEM_SIZE,
                 "node '%s' (%s) is empty, so it cannot have the data already; leave --no-copy out "
                 "to have them copied, or give the node up if they are lost (clockwise node dead)",
                 cw_map_node(to, i)->id, cw_map_node(to, i)->address);
        return false;
    }
    return true;
}

static bool check(struct transition *transition, char *ret_problem)
{
    uint32_t from_count = cw_map_node_count(transition->info.from);
    uint32_t to_count = cw_map_node_count(transition->info.to);
    struct node_facts *facts = calloc((size_t)from_count + to_count, sizeof *facts);
    snprintf(ret_problem, MOVE_PROBLEM_SIZE, "out of memory");
    if (!facts)
        return false;
    for (uint32_t i = 0; i < from_count; i++)
        facts[i] = transition->from_ends[i].facts;
    for (uint32_t i = 0; i < to_count; i++)
        facts[from_count + i] = transition->to_ends[i].facts;
    const struct check_input input = {
        .from = transition->info.from,
        .to = transition->info.to,
        .from_facts = facts,
        .to_facts = facts + from_count,
        .bytes_in = transition->bytes_in,
    };
    bool fits = check_nodes(&input, &transition->move.by_value, ret_problem);
    free(facts);
    return fits;
}

static void answer_estimate(struct transition *transition, const char *problem)
{
    mover_estimated estimated = transition->estimated;
    uint32_t from_count = cw_map_node_count(transition->info.from);
    struct mover_estimate estimate = {
        .from = transition->info.from,
        .to = transition->info.to,
        .keys_in = transition->keys_in,
        .bytes_in = transition->bytes_in,
    };
    estimate.keys = calloc(from_count, sizeof *estimate.keys);
    estimate.bytes = calloc(from_count, sizeof *estimate.bytes);
    bool fine = estimate.keys && estimate.bytes;
    snprintf(estimate.problem, sizeof estimate.problem, "%s", problem);
    for (uint32_t i = 0; fine && i < from_count; i++) {
        const struct move_estimate *one = &transition->from_ends[i].estimate;
        estimate.keys[i] = one->keys;
        estimate.bytes[i] = one->bytes;
        estimate.sampled += one->sampled;
        if (one->heaviest_bytes <= estimate.heaviest_bytes)
            continue;
        estimate.heaviest_bytes = one->heaviest_bytes;
        memcpy(estimate.heaviest, one->heaviest, sizeof estimate.heaviest);
    }
    transition->estimated = NULL;
    estimated(transition->answer_context, fine ? 0 : -ENOMEM, fine ? "" : "out of memory",
              fine ? &estimate : NULL);
    free(estimate.keys);
    free(estimate.bytes);
    transition_end(transition);
}

static void answer_started(struct transition *transition)
{
    mover_answer answer = transition->answer;
    char text[64];
    snprintf(text, sizeof text, "transition %llu has begun",
             (unsigned long long)transition->info.id);
    transition->answer = NULL;
    if (answer)
        answer(transition->answer_context, 0, text);
    step_prepare(transition);
}

static void not_stored(struct transition *transition)
{
    char problem[TRANSITION_NOTE_SIZE];
    memcpy(problem, transition->info.note, sizeof problem);
    transition_refuse(transition, -EIO, problem);
}

static void decide(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE] = "";
    bool fits = check(transition, problem) && targets_are_empty(transition, problem) &&
                targets_have_data(transition, problem);
    if (transition->is_probe) {
        answer_estimate(transition, problem);
    } else if (!fits) {
        transition_refuse(transition, -EINVAL, problem);
    } else {
        transition->next_transition = transition->info.id + 1;
        transition_put(transition, TRANSITION_PREPARED, answer_started, not_stored);
    }
}

static void estimated(struct transition *transition)
{
    if (looked_well(transition))
        decide(transition);
}

static void looked(struct transition *transition)
{
    if (looked_well(transition))
        transition_run_jobs(transition, &estimate_sources, estimated);
}

void step_look(struct transition *transition)
{
    transition_look(transition, looked);
}

/* ---- PREPARED -------------------------------------------------------------------------------- */

static struct job *purge_target(struct transition *transition, uint32_t node, job_done done,
                                void *context)
{
    return job_purge(&transition->move, PURGE_ARRIVED, node, false, done, context);
}

static struct job *purge_marks(struct transition *transition, uint32_t node, job_done done,
                               void *context)
{
    return job_purge(&transition->move, PURGE_MARKS, node, false, done, context);
}

static struct job *fence_target(struct transition *transition, uint32_t node, job_done done,
                                void *context)
{
    return job_fence(&transition->move, transition->move.to_peers[node], transition->peer_name,
                     done, context);
}

static const struct node_jobs fence_targets = {"fencing", true, true, fence_target};
static const struct node_jobs purge_targets = {"clearing", true, true, purge_target};
static const struct node_jobs purge_sources = {"clearing the marks of", false, true, purge_marks};

void transition_clear_targets(struct transition *transition, transition_step then)
{
    transition_run_jobs(transition, &purge_targets, then);
}

void transition_clear_marks(struct transition *transition, transition_step then)
{
    transition_run_jobs(transition, &purge_sources, then);
}

static void track(struct transition *transition);

/* A paused transition waits before it asks anything of the nodes. */
static void track_unless_paused(struct transition *transition)
{
    if (transition->info.is_paused)
        transition_later(transition, PAUSED_POLL_MS, track_unless_paused);
    else
        track(transition);
}

static void purged_marks(struct transition *transition)
{
    if (transition_went_well(transition))
        track_unless_paused(transition);
}

static void purged_targets(struct transition *transition)
{
    if (!transition_went_well(transition))
        return;
    if (transition->info.attempt > 1)
        transition_clear_marks(transition, purged_marks);
    else
        track_unless_paused(transition);
}

static void prepared(struct transition *transition)
{
    if (transition->info.no_copy)
        step_switch(transition);
    else
        transition_clear_targets(transition, purged_targets);
}

static void fenced(struct transition *transition)
{
    transition_step then = transition->fenced_then;
    if (transition->outcome.result != JOB_DONE) {
        transition_trouble(transition, transition->outcome.problem, then);
        return;
    }
    transition->is_fenced = true;
    then(transition);
}

bool transition_fence(struct transition *transition, transition_step then)
{
    if (transition->is_fenced)
        return true;
    transition->fenced_then = then;
    transition_run_jobs(transition, &fence_targets, fenced);
    return false;
}

/* After a restart the nodes may be others than they were, so they are looked at again. */
static void looked_again(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE];
    if (transition->outcome.result != JOB_DONE)
        transition_trouble(transition, transition->outcome.problem, step_prepare);
    else if (!check(transition, problem))
        transition_trouble(transition, problem, step_prepare);
    else
        transition_tell_workers(transition, MOVE_PREPARED, prepared);
}

void step_prepare(struct transition *transition)
{
    if (!transition_fence(transition, step_prepare))
        return;
    if (transition->info.attempt > 1 && !transition->info.no_copy)
        transition_look(transition, looked_again);
    else
        transition_tell_workers(transition, MOVE_PREPARED, prepared);
}

/* ---- TRACKING -------------------------------------------------------------------------------- */

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

static void track(struct transition *transition)
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
