/*
 * A job on each node that takes part in a step, all at the same time. Where the same job may be
 * done again, a node that fails is waited for; elsewhere the worst of how they ended decides.
 */
#include <stdio.h>
#include <string.h>

#include "move/transition.h"

static void start_job(struct node_job *slot);

static const char *node_id(const struct node_job *slot)
{
    const struct transition *transition = slot->transition;
    const struct cw_map *map = transition->job_kind->is_of_targets ? transition->info.to
                                                                   : transition->info.from;
    return cw_map_node(map, slot->node)->id;
}

static void one_less(struct transition *transition)
{
    if (--transition->jobs_left > 0)
        return;
    transition_step then = transition->jobs_then;
    transition->jobs_then = NULL;
    then(transition);
}

/* Keeps the worst end; the results are in the order of what has to be done about them. */
static void keep_outcome(struct job_end *outcome, const struct job_end *end)
{
    outcome->count += end->count;
    if (end->result <= outcome->result)
        return;
    outcome->result = end->result;
    memcpy(outcome->problem, end->problem, sizeof outcome->problem);
}

static void on_retry(void *context)
{
    start_job(context);
}

static bool try_later(struct node_job *slot)
{
    struct transition *transition = slot->transition;
    if (!slot->retry &&
        io_timer_create(transition->options->loop, on_retry, slot, &slot->retry) < 0)
        return false;
    slot->backoff_ms = slot->backoff_ms ? slot->backoff_ms * 2 : RETRY_FIRST_MS;
    if (slot->backoff_ms > RETRY_MAX_MS)
        slot->backoff_ms = RETRY_MAX_MS;
    io_timer_start(slot->retry, slot->backoff_ms);
    return true;
}

static void on_job_done(void *context, const struct job_end *end)
{
    struct node_job *slot = context;
    struct transition *transition = slot->transition;
    slot->job = NULL;
    slot->has_failed = end->result != JOB_DONE;
    if (end->result == JOB_FAILED && transition->job_kind->is_repeatable &&
        transition->freeze == FREEZE_NONE && try_later(slot)) {
        if (transition_can_abandon(transition))
            transition_note_waiting(transition, end->problem);
        else
            transition_note(transition, end->problem);
        return;
    }
    keep_outcome(&transition->outcome, end);
    one_less(transition);
}

static void start_job(struct node_job *slot)
{
    struct transition *transition = slot->transition;
    struct job_end end = {JOB_FAILED, 0, ""};
    slot->job = transition->job_kind->start(transition, slot->node, on_job_done, slot);
    if (slot->job)
        return;
    snprintf(end.problem, sizeof end.problem, "out of memory for %s node '%s'",
             transition->job_kind->doing, node_id(slot));
    on_job_done(slot, &end);
}

/* What the jobs asked goes out now and not when the peers' timers come round. */
static void flush_peers(const struct transition *transition)
{
    const struct move *move = &transition->move;
    for (uint32_t i = 0; move->from_peers && i < cw_map_node_count(move->from); i++)
        peer_flush(move->from_peers[i]);
    for (uint32_t i = 0; move->to_peers && i < cw_map_node_count(move->to); i++)
        peer_flush(move->to_peers[i]);
}

void transition_run_jobs(struct transition *transition, const struct node_jobs *kind,
                         transition_step then)
{
    const struct transition_end *ends = kind->is_of_targets ? transition->to_ends
                                                            : transition->from_ends;
    uint32_t count = cw_map_node_count(kind->is_of_targets ? transition->info.to
                                                           : transition->info.from);
    transition_stop_jobs(transition);
    transition->job_kind = kind;
    transition->jobs_then = then;
    transition->outcome = (struct job_end){JOB_DONE, 0, ""};
    transition->job_count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (ends[i].is_used && !ends[i].is_given_up)
            transition->jobs[transition->job_count++] = (struct node_job){.transition = transition,
                                                                          .node = i};
    /* One more than there are, so that jobs that fail at once do not end the step early. */
    transition->jobs_left = transition->job_count + 1;
    for (uint32_t i = 0; i < transition->job_count; i++)
        start_job(&transition->jobs[i]);
    flush_peers(transition);
    one_less(transition);
}

void transition_stop_jobs(struct transition *transition)
{
    for (uint32_t i = 0; i < transition->job_count; i++) {
        job_stop(&transition->jobs[i].job);
        io_timer_destroy(&transition->jobs[i].retry);
    }
    transition->job_count = 0;
    transition->jobs_then = NULL;
}

bool transition_went_well(struct transition *transition)
{
    const struct job_end *outcome = &transition->outcome;
    if (outcome->result == JOB_DONE)
        return true;
    if (outcome->result == JOB_REFUSED)
        transition->void_count = VOID_MAX; /* by itself it would only be refused again */
    transition_begin_anew(transition, outcome->problem);
    return false;
}
