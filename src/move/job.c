#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "move/answer.h"
#include "move/job_internal.h"
#include "move/refusal.h"

static void on_timer(void *context);

/* ---- lifecycle --------------------------------------------------------------------------------
 */

void *job_create(const struct job_kind *kind, struct move *move, job_done done, void *context)
{
    struct job *job = calloc(1, kind->size);
    if (!job)
        return NULL;
    job->kind = kind;
    job->move = move;
    job->done = done;
    job->context = context;
    job->depth = 1;
    job->is_starting = true;
    if (io_timer_create(move->loop, on_timer, job, &job->timer) == 0)
        return job;
    free(job);
    return NULL;
}

static void forget_at(struct peer *const *peers, const struct cw_map *map, const struct job *job)
{
    for (uint32_t i = 0; peers && map && i < cw_map_node_count(map); i++)
        if (peers[i])
            peer_forget(peers[i], job, job->kind->size);
}

static void job_free(struct job *job)
{
    if (job->kind->release)
        job->kind->release(job);
    forget_at(job->move->from_peers, job->move->from, job);
    forget_at(job->move->to_peers, job->move->to, job);
    io_timer_destroy(&job->timer);
    free(job);
}

void job_stop(struct job **job_at)
{
    struct job *job = *job_at;
    *job_at = NULL;
    if (!job || job->is_told)
        return;
    job->is_stopped = true;
    if (job->depth == 0)
        job_free(job);
}

static void tell(struct job *job)
{
    job->is_told = true;
    job->done(job->context, &job->end);
}

void job_enter(struct job *job)
{
    job->depth++;
}

void job_leave(struct job *job)
{
    CW_ASSERT(job->depth > 0);
    if (--job->depth > 0)
        return;
    if (job->is_ended && !job->is_stopped)
        tell(job);
    if (job->is_ended || job->is_stopped)
        job_free(job);
}

/* What ended before the caller has the job is told from the timer. */
struct job *job_started(struct job *job)
{
    job->is_starting = false;
    job->depth--;
    if (job->is_ended)
        io_timer_start(job->timer, 0);
    return job;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

void job_finish(struct job *job)
{
    if (job->is_ended)
        return;
    job->is_ended = true;
    job->end.result = JOB_DONE;
}

void job_fail(struct job *job, enum job_result result, const char *format, ...)
{
    va_list list;
    if (job->is_ended)
        return;
    job->is_ended = true;
    job->end.result = job->is_lossy && result == JOB_FAILED ? JOB_VOID : result;
    va_start(list, format);
    vsnprintf(job->end.problem, sizeof job->end.problem, format, list);
    va_end(list);
}

void job_fail_memory(struct job *job)
{
    job_fail(job, JOB_FAILED,
             "no memory to move keys with; give the router more, or move less at "
             "a time");
}

void job_fail_strange(struct job *job, const struct peer *peer, const char *command)
{
    job_fail(job, JOB_FAILED, "node '%s' gave an answer to %s that makes no sense", peer_id(peer),
             command);
}

void job_fail_as(struct job *job, const struct job_end *end)
{
    job_fail(job, end->result, "%s", end->problem);
}

/* ---- calls ------------------------------------------------------------------------------------
 */

void job_call(struct job *job, struct peer *peer, const struct slice *args, size_t count,
              peer_reply callback, void *context)
{
    if (!job->is_ended && !peer_call(peer, args, count, callback, context))
        job_fail_memory(job);
}

bool job_is_answered(struct job *job, struct peer *peer, const char *reply, size_t len)
{
    struct slice error;
    char problem[MOVE_PROBLEM_SIZE];
    if (job->is_ended)
        return false;
    if (len == 0) {
        job_fail(job, JOB_FAILED, "%s", peer_problem(peer));
        return false;
    }
    if (!answer_is_error(reply, len, &error))
        return true;
    enum job_result result = refusal_read(peer_id(peer), error, problem);
    job_fail(job, result, "%s", problem);
    return false;
}

/* ---- waiting ----------------------------------------------------------------------------------
 */

static void on_timer(void *context)
{
    struct job *job = context;
    void (*then)(struct job *) = job->then;
    job->then = NULL;
    job_enter(job);
    if (then && !job->is_ended)
        then(job);
    job_leave(job);
}

void job_wait(struct job *job, uint64_t delay_ms, void (*then)(struct job *job))
{
    job->then = then;
    if (!job->is_ended)
        io_timer_start(job->timer, delay_ms);
}

bool job_may_send(struct job *job, void (*then)(struct job *job))
{
    if (job->move->is_urgent)
        return true;
    uint64_t wait_ms = throttle_wait_ms(job->move->throttle, io_now_ms(job->move->loop));
    if (wait_ms == 0)
        return true;
    job_wait(job, wait_ms, then);
    return false;
}

/* ---- which keys -------------------------------------------------------------------------------
 */

bool job_is_own_key(struct slice key)
{
    static const char own[] = "\0cw:";
    return key.len >= sizeof own - 1 && memcmp(key.ptr, own, sizeof own - 1) == 0;
}

bool move_target(const struct move *move, struct slice key, uint32_t from_node, uint32_t *ret_to)
{
    if (job_is_own_key(key) || cw_locate_key(move->from, key.ptr, key.len) != from_node)
        return false;
    uint32_t number = cw_locate_key(move->to, key.ptr, key.len);
    const struct cw_node *from = cw_map_node(move->from, from_node);
    const struct cw_node *to = cw_map_node(move->to, number);
    if (!from || !to) /* a profile may have no place for a key */
        return false;
    if (strcmp(from->id, to->id) == 0 && strcmp(from->address, to->address) == 0)
        return false;
    *ret_to = number;
    return true;
}
