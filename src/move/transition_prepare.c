/*
 * PREPARED: no call of an earlier mover can come late any more, targets are cleared of what an
 * earlier attempt left, and the workers connect to new nodes.
 */
#include "move/transition.h"

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

/* A paused transition waits before it asks anything of the nodes. */
static void track_unless_paused(struct transition *transition)
{
    if (transition->info.is_paused)
        transition_later(transition, PAUSED_POLL_MS, track_unless_paused);
    else
        step_track(transition);
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
        if (transition_can_abandon(transition))
            transition_note_waiting(transition, transition->outcome.problem);
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
    else if (!transition_check(transition, problem))
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
