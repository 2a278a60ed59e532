/*
 * Clearing a node: of what came to it (a transition was cancelled, or begins on a node with
 * residue), of what moved away from it, of dirty sets and temporary keys. UNLINK, so that the node
 * frees large values beside its work.
 */
#include <string.h>

#include "move/answer.h"
#include "move/key_scan.h"

struct purge {
    struct job job;
    enum purge_what what;
    uint32_t node;
    bool is_dry;
    struct peer *peer;
    struct key_scan scan;
    struct key_list page; /* its keys that go */
    size_t at, asked;     /* of the page: the next one to go; in the UNLINK under way */
};

static struct purge *purge_of(struct job *job)
{
    return (struct purge *)job;
}

static void release(struct job *job)
{
    key_list_release(&purge_of(job)->page);
}

static const struct job_kind kind = {sizeof(struct purge), release};

/* ---- what goes --------------------------------------------------------------------------------
 */

static bool starts_with(struct slice key, const char *prefix, size_t len)
{
    return key.len >= len && memcmp(key.ptr, prefix, len) == 0;
}

#define STARTS_WITH(key, prefix) starts_with(key, prefix, sizeof prefix - 1)

static bool is_own_to_go(enum purge_what what, struct slice key)
{
    if (STARTS_WITH(key, "\0cw:dirty:"))
        return what != PURGE_ARRIVED;
    return STARTS_WITH(key, "\0cw:mig:") && what != PURGE_MARKS;
}

/* A node is cleared of a key only when the maps say that another one has it. */
static bool is_to_go(const struct purge *purge, struct slice key)
{
    uint32_t owner, target;
    const struct move *move = purge->job.move;
    switch (purge->what) {
    case PURGE_LEFT: return move_target(move, key, purge->node, &target);
    case PURGE_ARRIVED:
        owner = cw_locate_key(move->from, key.ptr, key.len);
        return move_target(move, key, owner, &target) && target == purge->node;
    case PURGE_MARKS: break;
    }
    return false;
}

static void on_key(struct job *job, struct slice key)
{
    struct purge *purge = purge_of(job);
    bool is_own = job_is_own_key(key);
    if (!(is_own ? is_own_to_go(purge->what, key) : is_to_go(purge, key)))
        return;
    job->end.count += !is_own;
    if (!purge->is_dry && !key_list_add(&purge->page, key))
        job_fail_memory(job);
}

/* ---- going ------------------------------------------------------------------------------------
 */

static void go_on(struct job *job);

static void on_unlinked(void *context, const char *reply, size_t len)
{
    struct purge *purge = context;
    job_enter(&purge->job);
    if (job_is_answered(&purge->job, purge->peer, reply, len)) {
        purge->job.move->progress->keys_purged += purge->asked;
        purge->asked = 0;
        go_on(&purge->job);
    }
    job_leave(&purge->job);
}

static void unlink_some(struct purge *purge, size_t count)
{
    struct slice args[1 + MOVE_BATCH] = {slice_of("UNLINK")};
    for (size_t i = 0; i < count; i++)
        args[1 + i] = key_list_at(&purge->page, purge->at + i);
    purge->at += count;
    purge->asked = count;
    throttle_take(purge->job.move->throttle, count, 0);
    job_call(&purge->job, purge->peer, args, 1 + count, on_unlinked, purge);
    peer_flush(purge->peer);
}

static void go_on(struct job *job)
{
    struct purge *purge = purge_of(job);
    size_t left = key_list_count(&purge->page) - purge->at;
    if (left > 0) {
        if (job_may_send(job, go_on))
            unlink_some(purge, left < MOVE_BATCH ? left : MOVE_BATCH);
        return;
    }
    key_list_clear(&purge->page);
    purge->at = 0;
    if (purge->scan.is_over)
        job_finish(job);
    else if (job_may_send(job, go_on))
        key_scan_next(&purge->scan);
}

struct job *job_purge(struct move *move, enum purge_what what, uint32_t node, bool is_dry,
                      job_done done, void *context)
{
    struct purge *purge = job_create(&kind, move, done, context);
    if (!purge)
        return NULL;
    purge->what = what;
    purge->node = node;
    purge->is_dry = is_dry;
    purge->peer = what == PURGE_ARRIVED ? move->to_peers[node] : move->from_peers[node];
    purge->scan.on_key = on_key;
    purge->scan.on_page = go_on;
    key_scan_init(&purge->scan, &purge->job, purge->peer, "0");
    key_scan_next(&purge->scan);
    return job_started(&purge->job);
}
