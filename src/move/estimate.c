/*
 * What moves from a node, by looking at some of its keys. A cursor of SCAN is the number of a
 * bucket of the table with its bits reversed, and any number is one: random numbers below the
 * table's size begin at buckets drawn evenly.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "move/answer.h"
#include "move/check.h"
#include "move/job_internal.h"
#include "move/key_scan.h"
#include "move/refusal.h"

enum { WEIGHED_MAX = 1024, EMPTY_PAGES_MAX = 16, KEY_OVERHEAD = 64 };

struct estimate;

/* A key that is weighed; context of the call. */
struct weighed {
    struct estimate *estimate;
    uint32_t target;
};

struct estimate {
    struct job job;
    struct peer *peer;
    uint32_t source;
    uint64_t sample, key_count;
    bool is_exact; /* all keys are looked at */
    struct random random;
    struct key_scan scan;
    uint64_t page_count;
    struct move_estimate *result;

    struct buffer seen; /* struct seen by number in `to` */
    struct key_list page;
    uint32_t pending;
    struct weighed weighed[WEIGHED_MAX];
};

struct seen {
    uint64_t keys, weighed, bytes;
};

static void next_page(struct estimate *estimate);

static void release(struct job *job)
{
    struct estimate *estimate = (struct estimate *)job;
    key_list_release(&estimate->page);
    buffer_release(&estimate->seen);
}

static const struct job_kind estimate_kind = {sizeof(struct estimate), release};

static struct seen *seen_at(const struct estimate *estimate, uint32_t target)
{
    return (struct seen *)(void *)buffer_bytes(&estimate->seen) + target;
}

/* ---- the end ----------------------------------------------------------------------------------
 */

/* number * up / down, which may be more than 64 bits in between. */
static uint64_t scale(uint64_t number, uint64_t up, uint64_t down)
{
    return down ? (uint64_t)((unsigned __int128)number * up / down) : 0;
}

static void sum_up(struct estimate *estimate)
{
    struct move_estimate *result = estimate->result;
    uint64_t sampled = result->sampled;
    uint64_t all = estimate->is_exact ? sampled : estimate->key_count;
    for (uint32_t i = 0; i < cw_map_node_count(estimate->job.move->to); i++) {
        const struct seen *seen = seen_at(estimate, i);
        uint64_t keys = scale(seen->keys, all, sampled);
        uint64_t bytes = scale(keys, seen->bytes, seen->weighed);
        result->keys += keys;
        result->bytes += bytes;
        if (result->keys_to)
            result->keys_to[i] += keys;
        if (result->bytes_to)
            result->bytes_to[i] += bytes;
    }
    estimate->job.end.count = sampled;
    job_finish(&estimate->job);
}

/* ---- weighing ---------------------------------------------------------------------------------
 */

static struct slice name_of(const struct weighed *weighed)
{
    return key_list_at(&weighed->estimate->page, (size_t)(weighed - weighed->estimate->weighed));
}

static void note_weight(struct weighed *weighed, uint64_t bytes)
{
    struct estimate *estimate = weighed->estimate;
    struct seen *seen = seen_at(estimate, weighed->target);
    struct move_estimate *result = estimate->result;
    seen->weighed++;
    seen->bytes += bytes;
    if (bytes > result->heaviest_bytes) {
        result->heaviest_bytes = bytes;
        refusal_printable(name_of(weighed), result->heaviest, sizeof result->heaviest);
    }
}

/* A null: the key has gone meanwhile. */
static void on_weight(void *context, const char *reply, size_t len)
{
    struct weighed *weighed = context;
    struct estimate *estimate = weighed->estimate;
    struct answer answer = answer_start(reply, len);
    int64_t number;
    bool is_null;
    job_enter(&estimate->job);
    estimate->pending--;
    if (job_is_answered(&estimate->job, estimate->peer, reply, len)) {
        uint64_t more = estimate->job.move->is_embedded ? name_of(weighed).len + KEY_OVERHEAD : 0;
        if (!answer_integer_or_null(&answer, &number, &is_null) || (!is_null && number < 0))
            job_fail_strange(&estimate->job, estimate->peer, "MEMORY USAGE");
        else if (!is_null)
            note_weight(weighed, (uint64_t)number + more);
    }
    if (estimate->pending == 0 && !estimate->job.is_ended)
        next_page(estimate);
    job_leave(&estimate->job);
}

static void weigh_page(struct estimate *estimate)
{
    size_t count = key_list_count(&estimate->page);
    bool is_embedded = estimate->job.move->is_embedded;
    for (size_t i = 0; i < count && !estimate->job.is_ended; i++) {
        struct slice key = key_list_at(&estimate->page, i);
        struct slice memory[] = {slice_of("MEMORY"), slice_of("USAGE"), key};
        struct slice length[] = {slice_of("STRLEN"), key};
        estimate->pending++;
        job_call(&estimate->job, estimate->peer, is_embedded ? length : memory, is_embedded ? 2 : 3,
                 on_weight, &estimate->weighed[i]);
    }
    peer_flush(estimate->peer);
}

/* ---- walking ----------------------------------------------------------------------------------
 */

static void on_key(struct job *job, struct slice key)
{
    struct estimate *estimate = (struct estimate *)job;
    uint32_t target;
    if (job_is_own_key(key))
        return;
    estimate->result->sampled++;
    if (!move_target(job->move, key, estimate->source, &target))
        return;
    seen_at(estimate, target)->keys++;
    size_t number = key_list_count(&estimate->page);
    if (number == WEIGHED_MAX)
        return;
    if (!key_list_add(&estimate->page, key))
        job_fail_memory(job);
    estimate->weighed[number] = (struct weighed){estimate, target};
}

static void on_page(struct job *job)
{
    struct estimate *estimate = (struct estimate *)job;
    if (key_list_count(&estimate->page) > 0)
        weigh_page(estimate);
    else
        next_page(estimate);
}

static bool is_enough(const struct estimate *estimate)
{
    if (estimate->is_exact)
        return estimate->scan.is_over;
    return estimate->result->sampled >= estimate->sample ||
           estimate->page_count >= 4 * (estimate->sample / MOVE_SCAN_COUNT) + EMPTY_PAGES_MAX;
}

/* The table has a power of two of buckets, about as many as keys. */
static void random_cursor(struct estimate *estimate, char *ret_text, size_t size)
{
    uint64_t buckets = 1;
    while (buckets < estimate->key_count && buckets < (uint64_t)1 << 48)
        buckets *= 2;
    snprintf(ret_text, size, "%" PRIu64, random_below(&estimate->random, buckets));
}

static void start_page(struct estimate *estimate)
{
    char cursor[24] = "0";
    if (!estimate->is_exact)
        random_cursor(estimate, cursor, sizeof cursor);
    key_scan_init(&estimate->scan, &estimate->job, estimate->peer, cursor);
    estimate->scan.on_key = on_key;
    estimate->scan.on_page = on_page;
}

static void next_page(struct estimate *estimate)
{
    key_list_clear(&estimate->page);
    if (is_enough(estimate)) {
        sum_up(estimate);
        return;
    }
    if (!estimate->is_exact)
        start_page(estimate);
    estimate->page_count++;
    key_scan_next(&estimate->scan);
}

static void on_size(void *context, const char *reply, size_t len)
{
    struct estimate *estimate = context;
    int64_t number;
    job_enter(&estimate->job);
    if (job_is_answered(&estimate->job, estimate->peer, reply, len)) {
        if (answer_is_integer(reply, len, &number) && number >= 0) {
            estimate->key_count = (uint64_t)number;
            estimate->is_exact = estimate->key_count <= estimate->sample;
            start_page(estimate);
            next_page(estimate);
        } else {
            job_fail_strange(&estimate->job, estimate->peer, "DBSIZE");
        }
    }
    job_leave(&estimate->job);
}

struct job *job_estimate(struct move *move, uint32_t source, uint64_t sample,
                         struct move_estimate *result, job_done done, void *context)
{
    struct estimate *estimate = job_create(&estimate_kind, move, done, context);
    struct slice args[] = {slice_of("DBSIZE")};
    if (!estimate)
        return NULL;
    size_t seen_size = cw_map_node_count(move->to) * sizeof(struct seen);
    estimate->peer = move->from_peers[source];
    estimate->source = source;
    estimate->sample = sample;
    estimate->random.state = io_now_ns(move->loop) ^ source;
    estimate->result = result;
    result->keys = result->bytes = result->sampled = result->heaviest_bytes = 0;
    result->heaviest[0] = '\0';
    char *seen = buffer_reserve(&estimate->seen, seen_size);
    if (seen) {
        memset(seen, 0, seen_size);
        buffer_added(&estimate->seen, seen_size);
        job_call(&estimate->job, estimate->peer, args, 1, on_size, estimate);
        peer_flush(estimate->peer);
    } else {
        job_fail_memory(&estimate->job);
    }
    return job_started(&estimate->job);
}
