/*
 * The steps from FROZEN to STABLE, and the way back: ABORTING.
 *
 * The freeze has a budget. Over it writes go on at once, marked in a dirty set that was opened
 * before, and the rounds of catching up go on; nothing has been decided, so nothing can be lost.
 * What is being drained when that happens is drained to its end, for its marks are nowhere else any
 * more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/transition.h"

/* ---- before the freeze ----------------------------------------------------------------------- */

static uint64_t connections_of(struct peer *const *peers, struct transition_end *ends,
                               uint32_t count, bool keep)
{
    uint64_t changed = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t connections = ends[i].is_used ? peer_connection_count(peers[i]) : 0;
        changed += connections != ends[i].connection_count;
        if (keep)
            ends[i].connection_count = connections;
    }
    return changed;
}

/* Whether any node's connection is another one than at the last call with `keep`. */
static bool have_connections_changed(struct transition *transition, bool keep)
{
    const struct move *move = &transition->move;
    return connections_of(move->from_peers, transition->from_ends, cw_map_node_count(move->from),
                          keep) +
               connections_of(move->to_peers, transition->to_ends, cw_map_node_count(move->to),
                              keep) >
           0;
}

static const struct transition_end *find_restarted(const struct transition_end *ends,
                                                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (ends[i].is_used && strcmp(ends[i].run_id, ends[i].facts.run_id) != 0)
            return &ends[i];
    return NULL;
}

static bool has_restarted(const struct transition *transition)
{
    return find_restarted(transition->from_ends, cw_map_node_count(transition->info.from)) ||
           find_restarted(transition->to_ends, cw_map_node_count(transition->info.to));
}

/* ---- FROZEN ---------------------------------------------------------------------------------- */

static struct job *verify_source(struct transition *transition, uint32_t node, job_done done,
                                 void *context)
{
    return job_verify(&transition->move, node, &transition->from_ends[node].drained, done, context);
}

static const struct node_jobs verify_sources = {"comparing with", false, false, verify_source};

void step_unfreeze(struct transition *transition)
{
    enum freeze freeze = transition->freeze;
    if (freeze == FREEZE_NONE || freeze == FREEZE_SWITCH)
        return;
    transition->freeze = FREEZE_NONE;
    transition->info.state = TRANSITION_TRACKING;
    io_timer_stop(transition->budget);
    if (freeze == FREEZE_BIG)
        transition_give_up_found(transition);
    else
        transition_note(transition, "the freeze took too long, so writes go on; it is tried again");
    if (freeze == FREEZE_DRAIN) {
        transition_tell_workers(transition, MOVE_TRACKING, NULL);
        return;
    }
    transition->run++; /* the freeze's acknowledgement is not waited for any more */
    transition_stop_jobs(transition);
    transition_tell_workers(transition, MOVE_TRACKING,
                            freeze == FREEZE_ACK   ? step_drain
                            : freeze == FREEZE_BIG ? step_big
                                                   : step_rotate);
}

/* How far the freeze is, for whoever wonders what takes its time. */
static void log_freeze(const struct transition *transition, const char *reached)
{
    char text[64];
    uint64_t since_us = (io_now_ns(transition->options->loop) - transition->frozen_ns) / 1000;
    snprintf(text, sizeof text, "%s after %llu us", reached, (unsigned long long)since_us);
    transition_log(transition, 0, "transition_freeze", text);
}

static void verified(struct transition *transition)
{
    log_freeze(transition, "compared");
    const struct job_end *outcome = &transition->outcome;
    if (outcome->result != JOB_DONE)
        transition_begin_anew(transition, outcome->problem);
    else if (__atomic_load_n(&transition->counters.marks_failed, __ATOMIC_RELAXED))
        transition_begin_anew(transition, "a node refused to mark keys that were written: is its "
                                          "memory full? The copy begins anew");
    else if (have_connections_changed(transition, false))
        transition_begin_anew(transition, "a node's connection broke during the freeze");
    else
        step_switch(transition);
}

/* What a comparison found different may have been written just then: it is looked at again now that
 * nothing writes. */
static bool add_to_drained(struct key_list *drained, const struct key_list *keys)
{
    for (size_t i = 0; i < key_list_count(keys); i++)
        if (!key_list_add(drained, key_list_at(keys, i)))
            return false;
    return true;
}

static bool add_differing(struct transition *transition)
{
    for (uint32_t i = 0; i < cw_map_node_count(transition->info.from); i++) {
        struct transition_end *end = &transition->from_ends[i];
        if (!add_to_drained(&end->drained, &end->differ))
            return false;
        key_list_clear(&end->differ);
    }
    return true;
}

static void verify_last(struct transition *transition)
{
    if (!add_differing(transition)) {
        transition_begin_anew(transition, "out of memory");
        return;
    }
    transition->freeze = FREEZE_VERIFY;
    transition_run_jobs(transition, &verify_sources, verified);
}

static void drained_last(struct transition *transition)
{
    log_freeze(transition, "drained");
    if (transition->freeze == FREEZE_NONE) { /* the budget was over */
        step_drained(transition);
    } else if (transition->outcome.result != JOB_DONE) {
        transition_begin_anew(transition, transition->outcome.problem);
    } else if (!transition_has_found(transition)) {
        verify_last(transition);
    } else if (transition_is_chasing(transition)) {
        transition->freeze = FREEZE_BIG;
        transition_copy_found(transition, verify_last);
    } else { /* a key grew large: copied while writes go on */
        transition->freeze = FREEZE_NONE;
        io_timer_stop(transition->budget);
        transition_tell_workers(transition, MOVE_TRACKING, step_big);
    }
}

static void frozen(struct transition *transition)
{
    log_freeze(transition, "acknowledged");
    transition->freeze = FREEZE_DRAIN;
    transition_drain_closed(transition, drained_last);
}

static void stored_freeze(struct transition *transition)
{
    transition->freeze = FREEZE_ACK;
    transition->frozen_ns = io_now_ns(transition->options->loop);
    transition->move.is_urgent = true;
    io_timer_start(transition->budget, transition->options->freeze_budget_ms);
    transition_tell_workers(transition, MOVE_FROZEN, frozen);
}

/* The workers still use the closed set: they go over to the one that was opened for the freeze. */
static void use_open_set(struct transition *transition)
{
    transition->info.state = TRANSITION_TRACKING;
    transition_tell_workers(transition, MOVE_TRACKING, step_drain);
}

static void not_frozen(struct transition *transition)
{
    transition->info.state = TRANSITION_TRACKING;
    transition_trouble(transition, transition->info.note, use_open_set);
}

static void opened_spare(struct transition *transition)
{
    if (transition_went_well(transition))
        transition_put(transition, TRANSITION_FROZEN, stored_freeze, not_frozen);
}

static void looked_once_more(struct transition *transition)
{
    if (transition->outcome.result != JOB_DONE) {
        transition_trouble(transition, transition->outcome.problem, step_freeze);
    } else if (has_restarted(transition)) {
        transition_begin_anew(transition, "a node was started anew since the copy began");
    } else {
        have_connections_changed(transition, true);
        transition_open_next_set(transition, opened_spare);
    }
}

void step_freeze(struct transition *transition)
{
    transition_look(transition, looked_once_more);
}

/* ---- SWITCHED -------------------------------------------------------------------------------- */

static void stored_switch(struct transition *transition)
{
    log_freeze(transition, "stored");
    cw_map_unref(&transition->map);
    transition->map = cw_map_ref(transition->info.to);
    transition->freeze = FREEZE_NONE;
    transition->move.is_urgent = false;
    transition_tell_workers(transition, MOVE_NONE, step_switched);
    if (transition->frozen_ns)
        transition->info.held_us = (io_now_ns(transition->options->loop) - transition->frozen_ns) /
                                   1000;
}

/* The switch was not stored (a full disk, say): the old map is still true. */
static void not_switched(struct transition *transition)
{
    transition->freeze = FREEZE_VERIFY;
    step_unfreeze(transition);
}

static void not_switched_at_all(struct transition *transition)
{
    transition->info.state = TRANSITION_PREPARED;
    transition_trouble(transition, transition->info.note, step_switch);
}

void step_switch(struct transition *transition)
{
    bool is_frozen = transition->freeze != FREEZE_NONE;
    io_timer_stop(transition->budget);
    transition->freeze = FREEZE_SWITCH;
    transition_put(transition, TRANSITION_SWITCHED, stored_switch,
                   is_frozen ? not_switched : not_switched_at_all);
}

/* ---- CLEANING -------------------------------------------------------------------------------- */

static struct job *clean_source(struct transition *transition, uint32_t node, job_done done,
                                void *context)
{
    return job_purge(&transition->move, PURGE_LEFT, node, false, done, context);
}

static const struct node_jobs clean_sources = {"clearing", false, true, clean_source};

static void finish(struct transition *transition)
{
    transition_note_given_up(transition);
    transition_put(transition, TRANSITION_STABLE, transition_end, NULL);
}

static void finish_burnt(struct transition *transition)
{
    const char *dead = transition->info.dead_id;
    if (!dead[0] || transition_burn(transition, dead) == 0)
        finish(transition);
    else
        transition_trouble(transition, "out of memory", finish_burnt);
}

static void cleaned(struct transition *transition)
{
    if (transition->outcome.result == JOB_REFUSED)
        transition_note(transition, transition->outcome.problem); /* what is left harms nobody */
    finish_burnt(transition);
}

static void clean(struct transition *transition)
{
    if (transition->info.no_copy)
        finish_burnt(transition);
    else
        transition_run_jobs(transition, &clean_sources, cleaned);
}

static void stored_cleaning(struct transition *transition)
{
    transition_later(transition, transition->options->settle_ms, clean);
}

void step_switched(struct transition *transition)
{
    transition->throttle.is_paused = transition->info.is_paused = false;
    transition_put(transition, TRANSITION_CLEANING, stored_cleaning, NULL);
}

/* ---- ABORTING -------------------------------------------------------------------------------- */

static void cleared_marks(struct transition *transition)
{
    if (transition->outcome.result != JOB_DONE)
        transition_note(transition, transition->outcome.problem);
    finish(transition);
}

static void cleared_targets(struct transition *transition)
{
    if (transition->outcome.result != JOB_DONE)
        transition_note(transition, transition->outcome.problem);
    transition_clear_marks(transition, cleared_marks);
}

static void stored_abort(struct transition *transition)
{
    if (!transition_fence(transition, stored_abort))
        return;
    transition_clear_targets(transition, cleared_targets);
}

static void back_to_old(struct transition *transition)
{
    transition_put(transition, TRANSITION_ABORTING, stored_abort, NULL);
}

/* First the workers, so that nothing is held or marked while the rest is done. */
void step_abort(struct transition *transition)
{
    transition_stop_all(transition);
    transition->wants_cancel = false;
    transition->throttle.is_paused = transition->info.is_paused = false;
    transition->move.is_urgent = false;
    transition->info.state = TRANSITION_ABORTING;
    transition_tell_workers(transition, MOVE_NONE, back_to_old);
}

void step_clear_again(struct transition *transition)
{
    if (transition->info.state == TRANSITION_ABORTING)
        transition_put(transition, TRANSITION_ABORTING, stored_abort, NULL);
    else
        transition_put(transition, TRANSITION_CLEANING, clean, NULL);
}
