/*
 * The walk through a source: every key that moves is copied, page by page. The next page is asked
 * for while the batches of the last one are still under way.
 */
#include <string.h>

#include "move/copier.h"
#include "move/key_scan.h"

struct copy {
    struct job job;
    uint32_t source;
    struct key_scan scan;
    struct key_list page;  /* its keys that move */
    struct buffer targets; /* a uint32_t a key */
    size_t at;             /* of the page: the next one to be copied */
    struct copier copier;
};

static struct copy *copy_of(struct job *job)
{
    return (struct copy *)job;
}

static void release(struct job *job)
{
    struct copy *copy = copy_of(job);
    copier_release(&copy->copier);
    key_list_release(&copy->page);
    buffer_release(&copy->targets);
}

static const struct job_kind kind = {sizeof(struct copy), release};

static void on_key(struct job *job, struct slice key)
{
    struct copy *copy = copy_of(job);
    uint32_t target;
    job->move->progress->keys_scanned++;
    if (!move_target(job->move, key, copy->source, &target) || big_keys_has(job->move->big, key))
        return;
    if (!buffer_append(&copy->targets, &target, sizeof target) || !key_list_add(&copy->page, key))
        job_fail_memory(job);
    if (job->move->samples)
        key_sample_offer(&job->move->samples[copy->source], key);
}

static void fill(struct copy *copy, struct copier_batch *batch)
{
    size_t count = key_list_count(&copy->page);
    for (; copy->at < count && !copier_is_full(batch); copy->at++) {
        uint32_t target;
        memcpy(&target, buffer_bytes(&copy->targets) + copy->at * sizeof target, sizeof target);
        copier_add(batch, key_list_at(&copy->page, copy->at), target);
    }
}

static void go_on(struct job *job);

static void next_page(struct copy *copy)
{
    key_list_clear(&copy->page);
    buffer_clear(&copy->targets);
    copy->at = 0;
    copy->job.end.count = copy->copier.copied;
    if (copy->scan.is_over && copy->copier.busy_count == 0)
        job_finish(&copy->job);
    else if (!copy->scan.is_over && job_may_send(&copy->job, go_on))
        key_scan_next(&copy->scan);
}

/* Does what can be done now; called again when a page has come, a batch is done, or the throttle
 * may let another one go. */
static void go_on(struct job *job)
{
    struct copy *copy = copy_of(job);
    struct copier_batch *batch;
    while (!job->is_ended && copy->at < key_list_count(&copy->page)) {
        if (!(batch = copier_find_idle(&copy->copier)) || !job_may_send(job, go_on))
            return;
        fill(copy, batch);
        if (!job->is_ended)
            copier_start(batch);
    }
    if (!job->is_ended && !copy->scan.is_asked)
        next_page(copy);
}

struct job *job_copy(struct move *move, uint32_t source, job_done done, void *context)
{
    struct copy *copy = job_create(&kind, move, done, context);
    if (!copy)
        return NULL;
    copy->source = source;
    copy->scan.on_key = on_key;
    copy->scan.on_page = go_on;
    key_scan_init(&copy->scan, &copy->job, move->from_peers[source], "0");
    copier_init(&copy->copier, &copy->job, source, go_on);
    key_scan_next(&copy->scan);
    return job_started(&copy->job);
}
