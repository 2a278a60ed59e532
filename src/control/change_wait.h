/*
 * Waiting, on a thread of the admin address, for what the mover answers on its own loop. Whoever
 * asks and whoever answers each hold the object: an answer that comes too late finds it still there
 * and is thrown away.
 */
#ifndef CONTROL_CHANGE_WAIT_H
#define CONTROL_CHANGE_WAIT_H

#include <stdatomic.h>

#include "move/mover.h"

/* A copy of a mover_estimate. */
struct change_estimate {
    struct cw_map *from, *to; /* references */
    uint64_t *keys, *bytes, *keys_in, *bytes_in;
    uint64_t sampled, heaviest_bytes;
    char heaviest[MOVE_PROBLEM_SIZE], problem[MOVE_PROBLEM_SIZE];
};
void change_estimate_destroy(struct change_estimate **estimate);

struct change_answer {
    int status; /* what was answered; -ETIMEDOUT: nothing in time; -ECANCELED: the router ends */
    char text[MOVE_PROBLEM_SIZE];
    struct change_estimate *estimate; /* the caller's; NULL unless one was answered */
};

struct change_wait;

/* For one question. NULL when memory is out. */
struct change_wait *change_wait_create(void);
/* What the mover is given, with the object as its context; each is called at most once. */
void change_wait_answer(void *wait, int status, const char *text);
void change_wait_estimated(void *wait, int status, const char *text,
                           const struct mover_estimate *estimate);
/* Waits and nulls the pointer. With `asked` < 0 the question never went out: that is the answer, at
 * once. Gives up after the time, or when is_stopping becomes true. */
void change_wait_end(struct change_wait **wait, int asked, uint32_t timeout_ms,
                     const atomic_bool *is_stopping, struct change_answer *ret_answer);

#endif
