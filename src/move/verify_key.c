#include <stdio.h>
#include <string.h>

#include "move/verify_internal.h"

static void take_outside(struct verify_key *key);

struct slice verify_name(const struct verify_key *key)
{
    return (struct slice){buffer_bytes(&key->name), key->name.len};
}

/* ---- calls and answers ------------------------------------------------------------------------
 */

void verify_ask(struct verify_side *side, const struct slice *args, size_t count,
                peer_reply callback)
{
    struct job *job = &side->key->verify->job;
    job_call(job, side->peer, args, count, callback, side);
    if (!job->is_ended)
        side->key->pending++;
}

bool verify_enter(struct verify_side *side, const char *reply, size_t len)
{
    struct slice error;
    struct verify_key *key = side->key;
    struct job *job = &key->verify->job;
    job_enter(job);
    key->pending--;
    if (answer_is_error(reply, len, &error) &&
        (answer_error_is(error, "WRONGTYPE") || answer_error_is(error, "ERR no such key"))) {
        key->differs = "has changed meanwhile";
        return false;
    }
    return job_is_answered(job, side->peer, reply, len);
}

void verify_leave(struct verify_key *key)
{
    struct job *job = &key->verify->job;
    if (key->pending == 0 && !job->is_ended) {
        if (key->differs)
            verify_key_end(key);
        else
            key->next(key);
    }
    job_leave(job);
}

/* ---- the end ----------------------------------------------------------------------------------
 */

static bool is_absent(const struct verify_side *side)
{
    return side->expires_ms == -2 || strcmp(side->type, "none") == 0;
}

/* Two nodes do not drop a key in the same moment, nor are both asked in the same one. */
static bool expires_now(const struct verify_key *key)
{
    int64_t now = (int64_t)io_wall_ms(key->verify->job.move->loop);
    for (int i = VERIFY_SOURCE; i <= VERIFY_TARGET; i++) {
        int64_t at = key->sides[i].expires_ms;
        if (at >= 0 && at <= now + VERIFY_MOMENT_MS)
            return true;
    }
    return false;
}

void verify_key_end(struct verify_key *key)
{
    if (key->differs && expires_now(key))
        key->differs = NULL;
    verify_key_done(key);
}

/* ---- type, expiry, length ---------------------------------------------------------------------
 */

static void on_type(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    struct slice type;
    if (verify_enter(side, reply, len)) {
        if (answer_is_text(reply, len, &type))
            snprintf(side->type, sizeof side->type, "%.*s", (int)(type.len < 64 ? type.len : 64),
                     type.ptr);
        else
            job_fail_strange(&side->key->verify->job, side->peer, "TYPE");
    }
    verify_leave(side->key);
}

static void on_expiry(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    if (verify_enter(side, reply, len) && !answer_is_integer(reply, len, &side->expires_ms))
        job_fail_strange(&side->key->verify->job, side->peer, "PEXPIRETIME");
    verify_leave(side->key);
}

static void on_length(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    if (verify_enter(side, reply, len) && !answer_is_integer(reply, len, &side->length))
        job_fail_strange(&side->key->verify->job, side->peer,
                         verify_length_command(side->key->type));
    verify_leave(side->key);
}

/* A null when the key has gone: its length will tell. */
static void on_memory(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    if (verify_enter(side, reply, len))
        answer_is_integer(reply, len, &side->key->memory_bytes);
    verify_leave(side->key);
}

static void on_dump(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    if (verify_enter(side, reply, len))
        side->digest = cw_hash(reply, len);
    verify_leave(side->key);
}

/* Equal payloads are equal values; different ones say nothing, but where there is no other way. */
static void take_dumps(struct verify_key *key)
{
    if (key->sides[VERIFY_SOURCE].digest == key->sides[VERIFY_TARGET].digest) {
        verify_key_end(key);
    } else if (key->type) {
        verify_value(key);
    } else {
        key->differs = "has another value (of a module, by its DUMP)";
        verify_key_end(key);
    }
}

static void ask_dumps(struct verify_key *key)
{
    struct slice args[] = {slice_of("DUMP"), verify_name(key)};
    key->next = take_dumps;
    for (int i = VERIFY_SOURCE; i <= VERIFY_TARGET; i++)
        verify_ask(&key->sides[i], args, 2, on_dump);
}

static void take_lengths(struct verify_key *key)
{
    const struct move *move = key->verify->job.move;
    if (key->sides[VERIFY_SOURCE].length != key->sides[VERIFY_TARGET].length) {
        key->differs = "has another length";
        verify_key_end(key);
    } else if (key->how != VERIFY_VALUE || (!key->type && move->by_value)) {
        verify_key_end(key);
    } else if (!key->type) {
        ask_dumps(key);
    } else if (move->by_value || move->is_embedded || key->memory_bytes > MOVE_BIG_BYTES ||
               key->sides[VERIFY_SOURCE].length > MOVE_BIG_BYTES ||
               (key->sides[VERIFY_SOURCE].length > MOVE_BIG_ELEMENTS && key->memory_bytes == 0)) {
        verify_value(key);
    } else {
        ask_dumps(key);
    }
}

static void ask_lengths(struct verify_key *key)
{
    const struct move *move = key->verify->job.move;
    struct slice memory[] = {slice_of("MEMORY"), slice_of("USAGE"), verify_name(key)};
    key->next = take_lengths;
    for (int i = VERIFY_SOURCE; i <= VERIFY_TARGET && key->type; i++) {
        struct slice args[] = {slice_of(verify_length_command(key->type)), verify_name(key)};
        verify_ask(&key->sides[i], args, 2, on_length);
    }
    if (key->how == VERIFY_VALUE && !move->is_embedded && !move->by_value)
        verify_ask(&key->sides[VERIFY_SOURCE], memory, 3, on_memory);
    if (key->pending == 0 && !key->verify->job.is_ended)
        take_lengths(key);
}

static void take_outside(struct verify_key *key)
{
    const struct verify_side *source = &key->sides[VERIFY_SOURCE];
    const struct verify_side *target = &key->sides[VERIFY_TARGET];
    if (is_absent(source) && is_absent(target)) {
        verify_key_end(key);
        return;
    }
    if (is_absent(source) || is_absent(target))
        key->differs = is_absent(source) ? "is only on the target" : "is not on the target";
    else if (key->how == VERIFY_EXISTS)
        key->differs = NULL;
    else if (strcmp(source->type, target->type) != 0)
        key->differs = "has another type";
    else if (source->expires_ms != target->expires_ms)
        key->differs = "expires at another time";
    key->type = verify_find_type(source->type);
    if (key->differs || key->how == VERIFY_EXISTS)
        verify_key_end(key);
    else
        ask_lengths(key);
}

void verify_key_start(struct verify_key *key, struct verify *verify, struct slice name,
                      uint32_t target)
{
    const struct move *move = verify->job.move;
    key->verify = verify;
    key->how = verify->how;
    key->is_used = true;
    key->differs = NULL;
    key->type = NULL;
    key->memory_bytes = 0;
    key->next = take_outside;
    buffer_clear(&key->name);
    if (!buffer_append(&key->name, name.ptr, name.len)) {
        job_fail_memory(&verify->job);
        return;
    }
    struct slice type[] = {slice_of("TYPE"), verify_name(key)};
    struct slice expiry[] = {slice_of("PEXPIRETIME"), verify_name(key)};
    for (int i = VERIFY_SOURCE; i <= VERIFY_TARGET; i++) {
        struct verify_side *side = &key->sides[i];
        memset(side, 0, sizeof *side);
        side->key = key;
        side->peer = i == VERIFY_SOURCE ? move->from_peers[verify->source] : move->to_peers[target];
        verify_ask(side, type, 2, on_type);
        verify_ask(side, expiry, 2, on_expiry);
    }
}
