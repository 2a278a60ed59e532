#include "move/copier.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "move/answer.h"

static void ask_dumps(struct copier_batch *batch);

/* ---- lifecycle --------------------------------------------------------------------------------
 */

void copier_init(struct copier *copier, struct job *job, uint32_t source,
                 void (*on_idle)(struct job *job))
{
    copier->job = job;
    copier->source = source;
    copier->peer = job->move->from_peers[source];
    copier->on_idle = on_idle;
    for (int i = 0; i < COPIER_BATCHES; i++)
        copier->batches[i].copier = copier;
}

void copier_release(struct copier *copier)
{
    copy_big_stop(&copier->by_value);
    for (int i = 0; i < COPIER_BATCHES; i++)
        key_list_release(&copier->batches[i].names);
}

/* ---- filling ----------------------------------------------------------------------------------
 */

struct copier_batch *copier_find_idle(struct copier *copier)
{
    for (int i = 0; i < COPIER_BATCHES; i++)
        if (!copier->batches[i].is_busy)
            return &copier->batches[i];
    return NULL;
}

void copier_add(struct copier_batch *batch, struct slice key, uint32_t target)
{
    CW_ASSERT(!batch->is_busy && batch->count < MOVE_BATCH);
    if (key_list_add(&batch->names, key))
        batch->keys[batch->count++] = (struct copier_key){.batch = batch, .target = target};
    else
        job_fail_memory(batch->copier->job);
}

static struct slice name_of(const struct copier_key *key)
{
    return key_list_at(&key->batch->names, (size_t)(key - key->batch->keys));
}

static void batch_done(struct copier_batch *batch)
{
    struct copier *copier = batch->copier;
    key_list_clear(&batch->names);
    batch->count = batch->at = 0;
    batch->is_busy = false;
    copier->busy_count--;
    if (!copier->job->is_ended)
        copier->on_idle(copier->job);
}

/* ---- big ones ---------------------------------------------------------------------------------
 */

static int64_t elements_max_of(const struct copier_key *key)
{
    const struct move *move = key->batch->copier->job->move;
    return move->elements_max ? move->elements_max : MOVE_BIG_ELEMENTS;
}

static uint64_t ask_bytes_of(const struct move *move)
{
    return move->elements_max ? move->ask_bytes : COPIER_ASK_BYTES;
}

static bool is_found(const struct big_found *found, struct slice key)
{
    for (size_t i = 0; i < key_list_count(&found->keys); i++)
        if (slice_equal(key_list_at(&found->keys, i), key))
            return true;
    return false;
}

void copier_found_big(struct job *job, uint32_t source, struct slice key)
{
    struct big_found *found = job->move->found;
    if (is_found(found, key))
        return;
    if (big_keys_count(job->move->big) + key_list_count(&found->keys) >= MOVE_BIG_KEYS_MAX) {
        job_fail(job, JOB_REFUSED,
                 "node '%s' has keys of more than %d elements or %d bytes, and more than %d of "
                 "them would move at once: move less at a time (change weights in steps)",
                 peer_id(job->move->from_peers[source]), MOVE_BIG_ELEMENTS, MOVE_BIG_BYTES,
                 MOVE_BIG_KEYS_MAX);
        return;
    }
    if (!buffer_append(&found->sources, &source, sizeof source)) {
        job_fail_memory(job);
    } else if (!key_list_add(&found->keys, key)) {
        found->sources.len -= sizeof source;
        job_fail_memory(job);
    }
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static struct peer *target_of(const struct copier_key *key)
{
    return key->batch->copier->job->move->to_peers[key->target];
}

/* One more reply to come before the batch's next step. */
static void ask(struct copier_key *key, struct peer *peer, const struct slice *args, size_t count,
                peer_reply callback)
{
    key->batch->waiting++;
    job_call(key->batch->copier->job, peer, args, count, callback, key);
}

static struct copier_key *begin_reply(void *context)
{
    struct copier_key *key = context;
    job_enter(key->batch->copier->job);
    key->batch->waiting--;
    return key;
}

static bool is_fine(struct copier_key *key, struct peer *peer, const char *reply, size_t len)
{
    return job_is_answered(key->batch->copier->job, peer, reply, len);
}

static void go_on(struct copier_batch *batch)
{
    if (batch->waiting == 0 && !batch->copier->job->is_ended)
        batch->next(batch);
}

static void end_reply(struct copier_key *key)
{
    struct job *job = key->batch->copier->job;
    go_on(key->batch);
    job_leave(job);
}

/* ---- lengths ----------------------------------------------------------------------------------
 */

/* The types whose values can be long, and what tells how long. */
static const struct {
    const char *name, *command;
    bool is_bytes;
} types[] = {
    {"string", "STRLEN", true}, {"hash", "HLEN", false},  {"list", "LLEN", false},
    {"set", "SCARD", false},    {"zset", "ZCARD", false}, {"stream", "XLEN", false},
};

/* What is asked about a key is refused when it is another now: then its mark brings it again. */
static bool is_wrong_type(const char *reply, size_t len)
{
    struct slice error;
    return answer_is_error(reply, len, &error) && answer_error_is(error, "WRONGTYPE");
}

static void take_length(struct copier_key *key, int64_t length)
{
    struct copier *copier = key->batch->copier;
    bool is_bytes = types[key->type].is_bytes;
    key->is_big = length > (is_bytes ? MOVE_BIG_BYTES : elements_max_of(key)) ||
                  (!is_bytes && key->size > MOVE_BIG_BYTES);
    if (key->is_big)
        copier_found_big(copier->job, copier->source, name_of(key));
}

static void on_length(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    struct peer *peer = key->batch->copier->peer;
    int64_t length;
    if (!is_wrong_type(reply, len) && is_fine(key, peer, reply, len)) {
        if (answer_is_integer(reply, len, &length))
            take_length(key, length);
        else
            job_fail_strange(key->batch->copier->job, peer, types[key->type].command);
    }
    end_reply(key);
}

static void ask_lengths(struct copier_batch *batch)
{
    batch->next = ask_dumps;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct copier_key *key = &batch->keys[i];
        if (!key->is_asked)
            continue;
        struct slice args[] = {slice_of(types[key->type].command), name_of(key)};
        ask(key, batch->copier->peer, args, 2, on_length);
    }
    go_on(batch);
}

static void take_type(struct copier_key *key, struct slice name)
{
    key->is_asked = false;
    for (uint8_t type = 0; type < sizeof types / sizeof types[0]; type++) {
        if (!slice_is(name, types[type].name))
            continue;
        key->type = type;
        key->is_asked = true;
    }
}

static void on_type(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    struct slice name;
    if (is_fine(key, key->batch->copier->peer, reply, len)) {
        if (answer_is_text(reply, len, &name))
            take_type(key, name);
        else
            job_fail_strange(key->batch->copier->job, key->batch->copier->peer, "TYPE");
    }
    end_reply(key);
}

static void ask_types(struct copier_batch *batch)
{
    batch->next = ask_lengths;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct slice args[] = {{"TYPE", 4}, name_of(&batch->keys[i])};
        if (batch->keys[i].is_asked)
            ask(&batch->keys[i], batch->copier->peer, args, 2, on_type);
    }
    go_on(batch);
}

/* ---- sizes ------------------------------------------------------------------------------------
 */

static void on_size(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    struct job *job = key->batch->copier->job;
    struct answer answer = answer_start(reply, len);
    int64_t size = 0;
    bool is_null;
    if (is_fine(key, key->batch->copier->peer, reply, len)) {
        if (!answer_integer_or_null(&answer, &size, &is_null))
            job_fail_strange(job, key->batch->copier->peer, "MEMORY USAGE");
        key->size = size > 0 ? (uint64_t)size : 0;
        /* An embedded node keeps strings, none so long that it has to be cut. */
        key->is_asked = key->size > ask_bytes_of(job->move) && !job->move->is_embedded;
    }
    end_reply(key);
}

static void ask_sizes(struct copier_batch *batch)
{
    struct copier *copier = batch->copier;
    bool is_embedded = copier->job->move->is_embedded;
    batch->next = ask_types;
    for (uint32_t i = 0; i < batch->count; i++) {
        struct slice usage[] = {{"MEMORY", 6}, {"USAGE", 5}, name_of(&batch->keys[i])};
        struct slice length[] = {{"STRLEN", 6}, name_of(&batch->keys[i])};
        ask(&batch->keys[i], copier->peer, is_embedded ? length : usage, is_embedded ? 2 : 3,
            on_size);
    }
    peer_flush(copier->peer);
}

/* ---- at the target ----------------------------------------------------------------------------
 */

/* Payloads of another version: keys are copied by value when the transition tries again. */
static bool is_refused_payload(struct copier_key *key, const char *reply, size_t len)
{
    struct slice error;
    struct copier *copier = key->batch->copier;
    if (!answer_is_error(reply, len, &error) || !answer_error_is(error, "ERR DUMP payload"))
        return false;
    copier->job->move->by_value = true;
    job_fail(copier->job, JOB_FAILED,
             "node '%s' does not take what node '%s' dumps (%.*s): from now on keys are copied by "
             "their values",
             peer_id(target_of(key)), peer_id(copier->peer), (int)(error.len < 80 ? error.len : 80),
             error.ptr);
    return true;
}

static void on_restored(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    struct job *job = key->batch->copier->job;
    if (!is_refused_payload(key, reply, len) && is_fine(key, target_of(key), reply, len)) {
        key->batch->copier->copied++;
        job->move->progress->keys_copied++;
    }
    end_reply(key);
}

static void on_removed(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    if (is_fine(key, target_of(key), reply, len))
        key->batch->copier->copied++;
    end_reply(key);
}

/* An expiry that is over makes no key: the target's own clock decides, as the source's would. */
static void restore(struct copier_key *key, struct slice payload)
{
    char expires[24];
    struct move *move = key->batch->copier->job->move;
    snprintf(expires, sizeof expires, "%" PRId64, key->expires_ms > 0 ? key->expires_ms : 0);
    struct slice args[] = {{"RESTORE", 7}, name_of(key),  slice_of(expires),
                           payload,        {"ABSTTL", 6}, {"REPLACE", 7}};
    ask(key, target_of(key), args, 6, on_restored);
    throttle_take(move->throttle, 0, payload.len);
    move->progress->bytes_copied += payload.len;
}

/* ---- dumps ------------------------------------------------------------------------------------
 */

static void on_expiry(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    struct peer *peer = key->batch->copier->peer;
    if (is_fine(key, peer, reply, len) && !answer_is_integer(reply, len, &key->expires_ms))
        job_fail_strange(key->batch->copier->job, peer, "PEXPIRETIME");
    end_reply(key);
}

static void flush_targets(const struct copier_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++)
        peer_flush(target_of(&batch->keys[i]));
}

/* The key may have gone since it was seen; then it must not be on the target either. */
static void on_dump(void *context, const char *reply, size_t len)
{
    struct copier_key *key = begin_reply(context);
    struct peer *peer = key->batch->copier->peer;
    struct resp_value value;
    struct slice unlink[] = {{"UNLINK", 6}, name_of(key)};
    if (is_fine(key, peer, reply, len)) {
        if (resp_read_value(reply, len, &value) != RESP_DONE || value.type != '$')
            job_fail_strange(key->batch->copier->job, peer, "DUMP");
        else if (value.is_null)
            ask(key, target_of(key), unlink, 2, on_removed);
        else
            restore(key, value.text);
    }
    if (--key->batch->dumps == 0)
        flush_targets(key->batch);
    end_reply(key);
}

/* The next portion of the batch; what the one before it held is with the targets. */
static void ask_dumps(struct copier_batch *batch)
{
    uint64_t bytes = 0, portion = batch->copier->job->move->portion_bytes;
    struct peer *peer = batch->copier->peer;
    if (!portion || portion > COPIER_PORTION_BYTES)
        portion = COPIER_PORTION_BYTES;
    if (batch->at == batch->count) {
        batch_done(batch);
        return;
    }
    batch->next = ask_dumps;
    for (; batch->at < batch->count && bytes < portion; batch->at++) {
        struct copier_key *key = &batch->keys[batch->at];
        struct slice expiry[] = {{"PEXPIRETIME", 11}, name_of(key)};
        struct slice dump[] = {{"DUMP", 4}, name_of(key)};
        if (key->is_big)
            continue;
        bytes += key->size;
        ask(key, peer, expiry, 2, on_expiry);
        ask(key, peer, dump, 2, on_dump);
        batch->dumps++;
    }
    peer_flush(peer);
    go_on(batch);
}

/* ---- by value ---------------------------------------------------------------------------------
 */

static void copy_next_by_value(struct copier *copier);

/* A large key would be copied whole whenever one element of it was written, so it is put among the
 * big ones, whose elements are marked. Not at full speed: the move is about to end then, maybe
 * frozen, and a key that has just grown must not put that off. Nor when the list is full: then it
 * is copied as it is. */
static void leave_large(struct copier *copier)
{
    const struct move *move = copier->job->move;
    size_t listed = big_keys_count(move->big) + key_list_count(&move->found->keys);
    copier->is_by_value_left = false;
    if (move->is_urgent || listed >= MOVE_BIG_KEYS_MAX)
        return;
    copy_big_leave_larger(copier->by_value, listed < COPIER_LISTED_FEW ? 1 : COPIER_MANY_CHUNKS,
                          &copier->is_by_value_left);
}

static void end_by_value(struct copier *copier)
{
    struct copier_batch *batch = copier->by_value_batch;
    if (copier->is_by_value_left)
        copier_found_big(copier->job, copier->source, name_of(&batch->keys[batch->at - 1]));
    else
        copier->copied++;
}

static void on_copied_by_value(void *context, const struct job_end *end)
{
    struct copier *copier = context;
    struct copier_batch *batch = copier->by_value_batch;
    job_enter(copier->job);
    copier->by_value = NULL;
    end_by_value(copier);
    copier->by_value_batch = NULL;
    if (end->result != JOB_DONE)
        job_fail_as(copier->job, end);
    else if (batch->at == batch->count)
        batch_done(batch);
    if (!copier->job->is_ended)
        copy_next_by_value(copier);
    job_leave(copier->job);
}

/* The next key of a batch that is not done; one at a time for all batches. */
static void copy_next_by_value(struct copier *copier)
{
    struct copier_batch *batch = NULL;
    for (int i = 0; i < COPIER_BATCHES && !batch; i++)
        if (copier->batches[i].is_busy && copier->batches[i].is_by_value)
            batch = &copier->batches[i];
    if (!batch || copier->by_value)
        return;
    struct copier_key *key = &batch->keys[batch->at++];
    copier->by_value_batch = batch;
    copier->by_value = copy_big_start(copier->job->move, copier->source, key->target, name_of(key),
                                      on_copied_by_value, copier);
    if (copier->by_value)
        leave_large(copier);
    else
        job_fail_memory(copier->job);
}

/* ---- starting ---------------------------------------------------------------------------------
 */

void copier_start(struct copier_batch *batch)
{
    struct move *move = batch->copier->job->move;
    CW_ASSERT(!batch->is_busy && batch->count > 0);
    batch->is_busy = true;
    batch->is_by_value = move->by_value;
    batch->copier->busy_count++;
    throttle_take(move->throttle, batch->count, 0);
    if (batch->is_by_value)
        copy_next_by_value(batch->copier);
    else
        ask_sizes(batch);
}
