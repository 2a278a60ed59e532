#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/refusal.h"
#include "move/verify_internal.h"

enum { LIST_PAGE = 512 };

/* ---- what both jobs do ------------------------------------------------------------------------
 */

static void release(struct job *job)
{
    struct verify *verify = (struct verify *)job;
    for (uint32_t i = 0; i < MOVE_BATCH; i++) {
        buffer_release(&verify->keys[i].name);
        buffer_release(&verify->keys[i].chunk);
    }
    key_list_release(&verify->page);
    buffer_release(&verify->targets);
}

static const struct job_kind verify_kind = {sizeof(struct verify), release};

struct verify *verify_create(struct move *move, uint32_t source, enum verify_how how, job_done done,
                             void *context)
{
    struct verify *verify = job_create(&verify_kind, move, done, context);
    if (!verify)
        return NULL;
    verify->source = source;
    verify->how = how;
    return verify;
}

static struct verify_key *free_key(struct verify *verify)
{
    for (uint32_t i = 0; i < MOVE_BATCH; i++)
        if (!verify->keys[i].is_used)
            return &verify->keys[i];
    return NULL;
}

static void start_keys(struct verify *verify)
{
    struct move *move = verify->job.move;
    while (verify->page_at < key_list_count(&verify->page) && verify->busy < MOVE_BATCH) {
        uint32_t target;
        struct slice name = key_list_at(&verify->page, verify->page_at++);
        struct verify_key *key = free_key(verify);
        if (!key || !move_target(move, name, verify->source, &target))
            continue;
        verify->busy++;
        throttle_take(move->throttle, 1, 0);
        verify_key_start(key, verify, name, target);
        if (key->sides[VERIFY_TARGET].peer)
            peer_flush(key->sides[VERIFY_TARGET].peer);
    }
    peer_flush(move->from_peers[verify->source]);
}

void verify_go_on(struct verify *verify)
{
    if (verify->job.is_ended)
        return;
    start_keys(verify);
    if (verify->busy == 0 && !verify->job.is_ended) {
        key_list_clear(&verify->page);
        verify->page_at = 0;
        verify->on_page_done(verify);
    }
}

void verify_key_done(struct verify_key *key)
{
    struct verify *verify = key->verify;
    verify->job.end.count++;
    verify->job.move->progress->keys_verified++;
    if (key->differs) {
        verify->job.move->progress->keys_differ++;
        verify->on_differ(verify, verify_name(key));
        if (!verify->job.end.problem[0]) {
            char shown[80];
            snprintf(verify->job.end.problem, sizeof verify->job.end.problem,
                     "key '%s' of node '%s' %s (node '%s')",
                     refusal_printable(verify_name(key), shown, sizeof shown),
                     peer_id(key->sides[VERIFY_SOURCE].peer), key->differs,
                     peer_id(key->sides[VERIFY_TARGET].peer));
        }
    }
    key->is_used = false;
    buffer_trim(&key->chunk, 0);
    verify->busy--;
    verify_go_on(verify);
}

/* Unlike job_fail(): the sentence is there already. */
void verify_finish(struct verify *verify, enum job_result result)
{
    job_finish(&verify->job);
    verify->job.end.result = result;
}

/* ---- a list of keys ---------------------------------------------------------------------------
 */

static void fill_page(struct job *job)
{
    struct verify *verify = (struct verify *)job;
    size_t count = key_list_count(verify->list);
    if (!job_may_send(job, fill_page))
        return;
    for (size_t i = 0; i < LIST_PAGE && verify->list_at < count; i++)
        if (!key_list_add(&verify->page, key_list_at(verify->list, verify->list_at++)))
            job_fail_memory(job);
    if (key_list_count(&verify->page) > 0)
        verify_go_on(verify);
    else
        verify_finish(verify, verify->job.end.problem[0] ? JOB_DIFFERS : JOB_DONE);
}

static void on_list_page_done(struct verify *verify)
{
    job_wait(&verify->job, 0, fill_page);
}

static void on_list_differs(struct verify *verify, struct slice key)
{
    if (verify->differ && !key_list_add(verify->differ, key))
        job_fail_memory(&verify->job);
}

static struct job *verify_list(struct verify *verify, const struct key_list *keys,
                               struct key_list *differ)
{
    if (!verify)
        return NULL;
    verify->list = keys;
    verify->differ = differ;
    verify->on_page_done = on_list_page_done;
    verify->on_differ = on_list_differs;
    fill_page(&verify->job);
    return job_started(&verify->job);
}

struct job *job_verify(struct move *move, uint32_t source, const struct key_list *keys,
                       job_done done, void *context)
{
    return verify_list(verify_create(move, source, VERIFY_OUTSIDE, done, context), keys, NULL);
}

struct job *job_verify_values(struct move *move, uint32_t source, const struct key_list *keys,
                              struct key_list *differ, job_done done, void *context)
{
    return verify_list(verify_create(move, source, VERIFY_VALUE, done, context), keys, differ);
}
