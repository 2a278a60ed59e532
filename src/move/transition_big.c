/*
 * Big keys between two rounds. Those that jobs have met are published to the workers together with
 * the next dirty set: from then on single elements of them are marked. The set before is drained
 * first, for its marks of whole big keys would only have them copied twice; then they are copied,
 * one after the other, and the rounds go on. A key that stands in the list already and was found
 * again was written as a whole: it is copied once more. One that is written as a whole all the time
 * would be copied for ever: after some rounds such keys are left for the freeze, within its budget.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/refusal.h"
#include "move/transition.h"

static void copy_next(struct transition *transition);

static uint32_t source_of(const struct transition *transition, size_t index)
{
    uint32_t source;
    memcpy(&source, buffer_bytes(&transition->found.sources) + index * sizeof source,
           sizeof source);
    return source;
}

static void all_copied(struct transition *transition)
{
    key_list_clear(&transition->found.keys);
    buffer_clear(&transition->found.sources);
    transition->big_then(transition);
}

static void on_copied(void *context, const struct job_end *end)
{
    struct transition *transition = context;
    transition->big_job = NULL;
    if (end->result == JOB_DONE) {
        transition->big_next++;
        copy_next(transition);
    } else if (end->result == JOB_FAILED && transition->freeze == FREEZE_NONE) {
        transition_trouble(transition, end->problem, copy_next);
    } else {
        transition->outcome = *end;
        transition_went_well(transition);
    }
}

/* Whether a key was found before, too: it is copied once. */
static bool is_repeated(const struct transition *transition, size_t index)
{
    const struct key_list *found = &transition->found.keys;
    struct slice key = key_list_at(found, index);
    for (size_t i = 0; i < index; i++) {
        struct slice other = key_list_at(found, i);
        if (other.len == key.len && memcmp(other.ptr, key.ptr, key.len) == 0)
            return true;
    }
    return false;
}

static void copy_next(struct transition *transition)
{
    while (transition->big_next < key_list_count(&transition->found.keys) &&
           is_repeated(transition, transition->big_next))
        transition->big_next++;
    size_t index = transition->big_next;
    if (index == key_list_count(&transition->found.keys)) {
        all_copied(transition);
        return;
    }
    transition->big_job = job_copy_big(&transition->move, source_of(transition, index),
                                       key_list_at(&transition->found.keys, index), on_copied,
                                       transition);
    if (!transition->big_job)
        transition_trouble(transition, "out of memory for copying a large key", copy_next);
}

static bool all_are_listed(const struct transition *transition)
{
    for (size_t i = 0; i < key_list_count(&transition->found.keys); i++)
        if (!big_keys_has(transition->move.big, key_list_at(&transition->found.keys, i)))
            return false;
    return true;
}

static void drained_before(struct transition *transition)
{
    if (!transition_went_well(transition))
        return;
    if (!all_are_listed(transition)) {
        step_big(transition);
        return;
    }
    transition->big_rounds++;
    transition_copy_found(transition, step_rotate);
}

void transition_copy_found(struct transition *transition, transition_step then)
{
    transition->big_then = then;
    transition->big_next = 0;
    copy_next(transition);
}

bool transition_is_chasing(const struct transition *transition)
{
    return transition->big_rounds >= BIG_ROUNDS_MAX;
}

void transition_give_up_found(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE], shown[64];
    size_t index = transition->big_next < key_list_count(&transition->found.keys)
                       ? transition->big_next
                       : 0;
    job_stop(&transition->big_job);
    io_timer_stop(transition->timer);
    transition->timer_then = NULL;
    transition->big_rounds = 0;
    snprintf(problem, sizeof problem,
             "key '%s' is large and written as a whole all the time, and takes longer to copy than "
             "writes may wait; it is tried again: write less to it, or make it smaller",
             refusal_printable(key_list_at(&transition->found.keys, index), shown, sizeof shown));
    transition_note(transition, problem);
}

static void published(struct transition *transition)
{
    transition_drain_closed(transition, drained_before);
}

static void opened(struct transition *transition)
{
    if (transition_went_well(transition))
        transition_tell_workers(transition, MOVE_TRACKING, published);
}

/* The list with what was found; false when memory is out. */
static bool extend_list(struct transition *transition)
{
    const struct key_list *found = &transition->found.keys;
    size_t count = key_list_count(found), more = 0;
    struct slice *keys = calloc(count, sizeof *keys);
    struct big_keys *list = NULL;
    for (size_t i = 0; keys && i < count; i++)
        if (!big_keys_has(transition->move.big, key_list_at(found, i)))
            keys[more++] = key_list_at(found, i);
    bool fine = keys && big_keys_create(transition->move.big, keys, more, &list) == 0;
    free(keys);
    if (!fine)
        return false;
    big_keys_unref(&transition->move.big);
    transition->move.big = list;
    transition->progress.big_keys = big_keys_count(list);
    return true;
}

void step_big(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE];
    size_t count = big_keys_count(transition->move.big) + key_list_count(&transition->found.keys);
    if (count > MOVE_BIG_KEYS_MAX) {
        snprintf(problem, sizeof problem,
                 "over %d keys are larger than %d elements or %d bytes; move fewer keys at a time",
                 MOVE_BIG_KEYS_MAX, MOVE_BIG_ELEMENTS, MOVE_BIG_BYTES);
        transition->outcome = (struct job_end){.result = JOB_REFUSED};
        memcpy(transition->outcome.problem, problem, sizeof problem);
        transition_went_well(transition);
    } else if (!extend_list(transition)) {
        transition_trouble(transition, "out of memory for the list of large keys", step_big);
    } else {
        transition_open_next_set(transition, opened);
    }
}
