/*
 * The stored record of a pool: taken over at the start, put with each state. A put that reports an
 * error may be stored all the same (a folder that could not be synced, say), so the store is asked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/transition.h"

/* ---- putting ------------------------------------------------------------------------------- */

static void on_put(void *context, int status, const char *problem);

static void put(struct transition *transition)
{
    static const char *const engines[] = {
        [ENGINE_REDIS] = "redis",
        [ENGINE_EMBEDDED] = "embedded",
    };
    struct map_store *store = transition->options->store;
    bool is_stable = transition->info.state == TRANSITION_STABLE;
    bool is_switch = transition->info.state == TRANSITION_SWITCHED;
    struct map_record record = {
        .revision = transition->revision,
        .map = is_switch ? transition->info.to : transition->map,
        .next_transition = transition->next_transition,
        .engine = engines[transition->settings->engine],
        .burnt = (const char *const *)transition->burnt,
        .burnt_count = transition->burnt_count,
        .transition = is_stable ? NULL : &transition->info,
    };
    transition->is_putting = true;
    store->ops->put(store, transition->settings->name, &record, on_put, transition);
}

/* Whether a put that reported an error is stored all the same. */
static bool is_stored(struct transition *transition)
{
    struct map_store *store = transition->options->store;
    struct map_record *record = NULL;
    char problem[MOVE_PROBLEM_SIZE];
    int status = store->ops->load(store, transition->settings->name, &record, problem,
                                  sizeof problem);
    bool is = status == 0 && record->revision == transition->revision + 1;
    map_record_destroy(&record);
    return is;
}

static void put_again(struct transition *transition)
{
    put(transition);
}

static void on_put(void *context, int status, const char *problem)
{
    struct transition *transition = context;
    transition_step then = transition->put_then, failed = transition->put_failed;
    transition->is_putting = false;
    if (status == 0 || is_stored(transition)) {
        transition->is_stored = true;
        transition->revision++;
        transition->backoff_ms = 0;
        status = 0;
    }
    if (transition->pending_put) {
        transition->pending_put = false;
        put(transition);
        return;
    }
    if (status < 0) {
        if (!failed) {
            transition_trouble(transition, problem, put_again);
            return;
        }
        transition_note(transition, problem);
        failed(transition);
        return;
    }
    mover_publish(transition);
    transition_log(transition, 1, "transition_state",
                   transition_state_name(transition->info.state));
    if (transition->wants_cancel && transition->info.state < TRANSITION_SWITCHED)
        step_abort(transition);
    else if (then)
        then(transition);
}

void transition_put(struct transition *transition, enum transition_state state,
                    transition_step then, transition_step failed)
{
    transition->info.state = state;
    transition->info.reached_ms[state] = io_wall_ms(transition->options->loop);
    transition->info.keys_moved = transition->progress.keys_copied;
    transition->info.bytes_moved = transition->progress.bytes_copied;
    transition->put_then = then;
    transition->put_failed = failed;
    if (transition->is_putting)
        transition->pending_put = true;
    else
        put(transition);
}

static void was_not_needed(struct transition *transition)
{
    (void)transition; /* what is not stored now is stored with the next state */
}

/* A put that waits to be tried again stores this too, and what comes after it must not be lost. */
void transition_put_too(struct transition *transition)
{
    if (transition->is_putting || transition->timer_then == put_again)
        return;
    transition->put_then = NULL;
    transition->put_failed = was_not_needed;
    put(transition);
}

/* ---- taking over ------------------------------------------------------------------------------
 */

int transition_burn(struct transition *transition, const char *id)
{
    char **more = realloc(transition->burnt, (transition->burnt_count + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    transition->burnt = more;
    more[transition->burnt_count] = strdup(id);
    if (!more[transition->burnt_count])
        return -ENOMEM;
    transition->burnt_count++;
    return 0;
}

int transition_take_record(struct transition *transition, const struct map_record *record)
{
    transition->has_given_up = true; /* nobody knows whether */
    transition->revision = record->revision;
    transition->next_transition = record->next_transition ? record->next_transition : 1;
    transition->map = cw_map_ref(record->map);
    if (record->transition) {
        transition->info = *record->transition;
        cw_map_ref(transition->info.from);
        cw_map_ref(transition->info.to);
    }
    int status = 0;
    for (size_t i = 0; i < record->burnt_count && status == 0; i++)
        status = transition_burn(transition, record->burnt[i]);
    return status;
}

void transition_release_record(struct transition *transition)
{
    for (size_t i = 0; i < transition->burnt_count; i++)
        free(transition->burnt[i]);
    free(transition->burnt);
    cw_map_unref(&transition->map);
    cw_map_unref(&transition->info.from);
    cw_map_unref(&transition->info.to);
}
