/*
 * What jobs are made of. A kind of job is a struct that begins with a struct job; its functions are
 * called back by peers, timers and copies of big keys.
 *
 * Every callback begins with job_enter() and ends with job_leave(); between them the job stays
 * there, also after job_fail() or job_finish(), which only note how it ended: job_leave() then
 * stops what is under way, tells it, and frees the job. A job that has ended calls nobody any more
 * (job_call() does nothing), so callers need not ask after each step whether it still runs. It has
 * its calls forgotten by the address of their context, so every context is part of the job's
 * struct.
 *
 * Starting: job_create() has entered the job, job_started() leaves it; what ended meanwhile is told
 * from the loop.
 */
#ifndef MOVE_JOB_INTERNAL_H
#define MOVE_JOB_INTERNAL_H

#include "move/job.h"

struct job_kind {
    size_t size;                      /* of the struct that begins with struct job */
    void (*release)(struct job *job); /* frees what it holds, and stops what it started */
};

struct job {
    const struct job_kind *kind;
    struct move *move;
    job_done done;
    void *context;
    struct job_end end;
    struct io_timer *timer;
    void (*then)(struct job *job); /* when the timer fires; NULL: nothing is waited for */
    uint32_t depth;                /* callbacks on the stack */
    bool is_starting, is_ended, is_told, is_stopped;
    bool is_lossy; /* what it was about is lost when it fails: JOB_FAILED becomes JOB_VOID */
};

/* A zeroed job of the kind, entered; NULL when memory is out. */
void *job_create(const struct job_kind *kind, struct move *move, job_done done, void *context);
/* Leaves it, and returns it for the caller of job_copy() and its kind. */
struct job *job_started(struct job *job);

void job_enter(struct job *job);
/* The job may be gone after it. */
void job_leave(struct job *job);

/* The first end counts. */
void job_finish(struct job *job);
void job_fail(struct job *job, enum job_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void job_fail_memory(struct job *job);
/* The node answered something that makes no sense. */
void job_fail_strange(struct job *job, const struct peer *peer, const char *command);
/* Ends as another piece of work did that was part of it. */
void job_fail_as(struct job *job, const struct job_end *end);

/* Calls a node; ends the job when memory is out. Whoever has put its batch together calls
 * peer_flush(). */
void job_call(struct job *job, struct peer *peer, const struct slice *args, size_t count,
              peer_reply callback, void *context);
/* Whether the reply is one and no error; otherwise the job has failed with what it says. False also
 * when the job had ended before. */
bool job_is_answered(struct job *job, struct peer *peer, const char *reply, size_t len);

/* Calls `then` after delay_ms, entered. One at a time. */
void job_wait(struct job *job, uint64_t delay_ms, void (*then)(struct job *job));
/* Whether the throttle lets a batch go now; otherwise `then` is called when to ask again. While
 * writes are held (move->is_urgent) everything goes. */
bool job_may_send(struct job *job, void (*then)(struct job *job));

/* Whether a key is one of our own: dirty sets and temporary keys. */
bool job_is_own_key(struct slice key);

#endif
