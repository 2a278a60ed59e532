/*
 * What the workers are told, and their acknowledgements: posts from their loops to the mover's.
 */
#include <errno.h>
#include <stdlib.h>

#include "move/transition.h"

struct ack {
    struct transition *transition;
    transition_step then;
    uint64_t run;
    struct list in_transition;
};

static void acknowledged(void *context)
{
    struct ack *ack = context;
    struct transition *transition = ack->transition;
    transition_step then = ack->run == transition->run ? ack->then : NULL;
    list_remove(&ack->in_transition);
    free(ack);
    if (then)
        then(transition);
}

/* On some worker's loop. Without memory for the message the transition waits for ever: it can be
 * cancelled. */
static void on_acknowledged(void *context)
{
    struct ack *ack = context;
    io_post(ack->transition->options->loop, acknowledged, ack);
}

static int tell_workers(struct transition *transition, enum move_phase phase, struct ack *ack)
{
    struct pool_state state = {.map = transition->map};
    if (phase != MOVE_NONE) {
        state.next = transition->info.to;
        state.phase = phase;
        state.counters = &transition->counters;
    }
    if (phase == MOVE_TRACKING || phase == MOVE_FROZEN) {
        state.dirty_set = (struct slice){transition->dirty_set, transition->dirty_set_len};
        state.big = transition->move.big;
    }
    return router_set_state(transition->options->router, transition->pool, &state, on_acknowledged,
                            ack);
}

static void tell_again(struct transition *transition)
{
    transition_tell_workers(transition, transition->told, transition->told_then);
}

/* For the negative control of the simulation. */
static void go_on_unacknowledged(struct transition *transition, struct ack *ack)
{
    transition_step then = ack->then;
    if (!(transition->options->left_out & MOVER_WITHOUT_ACKNOWLEDGEMENT) || !then)
        return;
    ack->then = NULL;
    transition_later(transition, 1, then);
}

void transition_tell_workers(struct transition *transition, enum move_phase phase,
                             transition_step then)
{
    struct ack *ack = calloc(1, sizeof *ack);
    int status = -ENOMEM;
    transition->told = phase;
    transition->told_then = then;
    if (ack) {
        *ack = (struct ack){.transition = transition, .then = then, .run = transition->run};
        list_push_back(&transition->acks, &ack->in_transition);
        status = tell_workers(transition, phase, ack);
    }
    if (status == 0) {
        go_on_unacknowledged(transition, ack);
        return;
    }
    if (ack)
        list_remove(&ack->in_transition);
    free(ack);
    transition_trouble(transition, "out of memory for telling the workers", tell_again);
}

void transition_forget_acks(struct transition *transition)
{
    list_for_each (entry, &transition->acks)
        free(list_entry(entry, struct ack, in_transition));
    list_init(&transition->acks);
}
