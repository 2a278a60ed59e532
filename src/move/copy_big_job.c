/* Copying a big key as a job of a transition. */
#include "move/copy_big.h"
#include "move/job_internal.h"
#include "move/refusal.h"

struct big_job {
    struct job job;
    struct copy_big *copy;
};

static void release(struct job *job)
{
    copy_big_stop(&((struct big_job *)job)->copy);
}

static const struct job_kind big_kind = {sizeof(struct big_job), release};

static void on_copied(void *context, const struct job_end *end)
{
    struct big_job *big = context;
    job_enter(&big->job);
    big->copy = NULL;
    big->job.end.count = end->count;
    if (end->result == JOB_DONE)
        job_finish(&big->job);
    else
        job_fail_as(&big->job, end);
    job_leave(&big->job);
}

struct job *job_copy_big(struct move *move, uint32_t source, struct slice key, job_done done,
                         void *context)
{
    char shown[64];
    uint32_t target;
    struct big_job *big = job_create(&big_kind, move, done, context);
    if (!big)
        return NULL;
    if (!move_target(move, key, source, &target)) {
        job_fail(&big->job, JOB_REFUSED, "key '%s' does not move from node '%s'",
                 refusal_printable(key, shown, sizeof shown), peer_id(move->from_peers[source]));
    } else {
        big->copy = copy_big_start(move, source, target, key, on_copied, big);
        if (big->copy)
            move->progress->big_keys++;
        else
            job_fail_memory(&big->job);
    }
    return job_started(&big->job);
}
