/*
 * Dirty sets. While keys are copied, routers mark each key in a set of its own node before they
 * write it. When nobody adds to a set any more it is emptied here, and what it names is copied (or
 * removed) again.
 *
 * Marks are taken with SPOP, so a drain that fails has lost marks: it ends with JOB_VOID as if the
 * node had lost them. A node that evicts, or comes back with older data, loses marks too; so the
 * set has a sentinel, and as many members must come as there were.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "move/answer.h"
#include "move/drain.h"

/* No mark: those begin with 'k' or 'e'. */
static const struct slice sentinel = {"s", 1};

static const char void_remedy[] = "does it evict keys (maxmemory-policy), was it flushed or "
                                  "restarted?";

/* ---- making a set -----------------------------------------------------------------------------
 */

struct open_set {
    struct job job;
    struct peer *peer;
};

static const struct job_kind open_kind = {sizeof(struct open_set), NULL};

/* 0 would do as well: the set was made before and the answer was lost. */
static void on_opened(void *context, const char *reply, size_t len)
{
    struct open_set *open = context;
    int64_t added;
    job_enter(&open->job);
    if (job_is_answered(&open->job, open->peer, reply, len)) {
        if (answer_is_integer(reply, len, &added))
            job_finish(&open->job);
        else
            job_fail_strange(&open->job, open->peer, "SADD");
    }
    job_leave(&open->job);
}

struct job *job_open_set(struct move *move, uint32_t source, struct slice set, job_done done,
                         void *context)
{
    struct open_set *open = job_create(&open_kind, move, done, context);
    struct slice args[] = {{"SADD", 4}, set, sentinel};
    if (!open)
        return NULL;
    open->peer = move->from_peers[source];
    job_call(&open->job, open->peer, args, 3, on_opened, open);
    peer_flush(open->peer);
    return job_started(&open->job);
}

/* ---- emptying it: whole keys ------------------------------------------------------------------
 */

static void release(struct job *job)
{
    struct drain *drain = (struct drain *)job;
    copier_release(&drain->copier);
    buffer_release(&drain->set);
    buffer_release(&drain->order);
    key_list_release(&drain->keys);
    key_list_release(&drain->marks);
    big_keys_unref(&drain->big);
}

static const struct job_kind kind = {sizeof(struct drain), release};

static struct slice set_of(const struct drain *drain)
{
    return (struct slice){buffer_bytes(&drain->set), drain->set.len};
}

void drain_note(struct drain *drain, struct slice key)
{
    if (drain->drained && !key_list_add(drain->drained, key))
        job_fail_memory(&drain->job);
}

static void pop(struct drain *drain);
static void copy_keys(struct job *job);

/* Fills a batch from the page: keys that do not move (any more) need nothing. */
static void fill(struct drain *drain, struct copier_batch *batch)
{
    size_t count = key_list_count(&drain->keys);
    for (; drain->at < count && !copier_is_full(batch); drain->at++) {
        struct slice key = key_list_at(&drain->keys, drain->at);
        uint32_t target;
        if (!move_target(drain->job.move, key, drain->source, &target))
            continue;
        drain_note(drain, key);
        if (big_keys_has(drain->big, key))
            copier_found_big(&drain->job, drain->source, key);
        else
            copier_add(batch, key, target);
    }
}

static void copy_keys(struct job *job)
{
    struct drain *drain = (struct drain *)job;
    struct copier_batch *batch;
    while (!job->is_ended && drain->at < key_list_count(&drain->keys)) {
        if (!(batch = copier_find_idle(&drain->copier)) || !job_may_send(job, copy_keys))
            return;
        fill(drain, batch);
        if (!job->is_ended && batch->count > 0)
            copier_start(batch);
    }
    if (!job->is_ended && drain->copier.busy_count == 0) {
        key_list_clear(&drain->keys);
        drain->at = 0;
        drain_elements(drain);
    }
}

/* ---- emptying it: marks -----------------------------------------------------------------------
 */

static bool take_mark(struct drain *drain, struct slice mark)
{
    if (slice_equal(mark, sentinel)) {
        drain->has_sentinel = true;
        return true;
    }
    drain->job.move->progress->keys_dirty++;
    drain->job.end.count++;
    if (mark.len > 0 && mark.ptr[0] == 'k') {
        if (!key_list_add(&drain->keys, (struct slice){mark.ptr + 1, mark.len - 1}))
            job_fail_memory(&drain->job);
        return true;
    }
    return drain_add_element(drain, mark);
}

static bool take_marks(struct drain *drain, const char *reply, size_t len)
{
    struct answer answer = answer_start(reply, len);
    struct slice mark;
    size_t count;
    if (!answer_array(&answer, &count) || count > DRAIN_PAGE)
        return false;
    drain->is_empty = count < DRAIN_PAGE;
    drain->taken += count;
    for (; count > 0; count--)
        if (!answer_text(&answer, &mark) || !take_mark(drain, mark))
            return false;
    return true;
}

static void finish(struct drain *drain)
{
    job_finish(&drain->job);
}

/* All is taken: whether it was all there was. */
static void check(struct drain *drain)
{
    if (drain->taken != drain->expected || !drain->has_sentinel) {
        job_fail(&drain->job, JOB_VOID,
                 "node '%s' lost marks of keys that were written (%" PRIu64 " of %" PRIu64
                 " are there%s); %s",
                 peer_id(drain->peer), drain->taken, drain->expected,
                 drain->has_sentinel ? "" : ", not the first one", void_remedy);
        return;
    }
    drain->next = finish;
    drain_expiries(drain);
}

static void on_popped(void *context, const char *reply, size_t len)
{
    struct drain *drain = context;
    job_enter(&drain->job);
    if (job_is_answered(&drain->job, drain->peer, reply, len)) {
        if (!take_marks(drain, reply, len))
            job_fail_strange(&drain->job, drain->peer, "SPOP");
        drain->next = drain->is_empty ? check : pop;
        copy_keys(&drain->job);
    }
    job_leave(&drain->job);
}

static void pop(struct drain *drain)
{
    char count[16];
    snprintf(count, sizeof count, "%d", DRAIN_PAGE);
    struct slice args[] = {{"SPOP", 4}, set_of(drain), slice_of(count)};
    drain->job.is_lossy = true;
    job_call(&drain->job, drain->peer, args, 3, on_popped, drain);
    peer_flush(drain->peer);
}

static void on_counted(void *context, const char *reply, size_t len)
{
    struct drain *drain = context;
    int64_t count;
    job_enter(&drain->job);
    if (job_is_answered(&drain->job, drain->peer, reply, len)) {
        if (!answer_is_integer(reply, len, &count) || count < 0) {
            job_fail_strange(&drain->job, drain->peer, "SCARD");
        } else if (count == 0) {
            job_fail(&drain->job, JOB_VOID,
                     "node '%s' lost all marks of keys that were written; %s", peer_id(drain->peer),
                     void_remedy);
        } else {
            drain->expected = (uint64_t)count;
            pop(drain);
        }
    }
    job_leave(&drain->job);
}

/* A set of which all members were popped is no more, so there is nothing left to delete. */
struct job *job_drain(struct move *move, uint32_t source, struct slice set,
                      struct key_list *drained, job_done done, void *context)
{
    struct drain *drain = job_create(&kind, move, done, context);
    if (!drain)
        return NULL;
    drain->source = source;
    drain->peer = move->from_peers[source];
    drain->drained = drained;
    drain->next = pop;
    drain->big = move->big ? big_keys_ref(move->big) : NULL;
    copier_init(&drain->copier, &drain->job, source, copy_keys);
    if (!buffer_append(&drain->set, set.ptr, set.len))
        job_fail_memory(&drain->job);
    struct slice args[] = {{"SCARD", 5}, set_of(drain)};
    job_call(&drain->job, drain->peer, args, 2, on_counted, drain);
    peer_flush(drain->peer);
    return job_started(&drain->job);
}
