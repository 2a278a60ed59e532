#include "move/copy_big_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/refusal.h"

enum {
    FIRST_ASK = 64,
    ASK_MAX = MOVE_CHUNK_ELEMENTS - 16, /* a scan gives some more than it was asked for */
    ASK_MIN = 16,
    SLOW_NS = 4 * 1000 * 1000, /* a chunk longer on its way than the fastest, twice */
};

/* ---- lifecycle --------------------------------------------------------------------------------
 */

static void copy_free(struct copy_big *copy)
{
    if (copy->timer)
        io_timer_destroy(&copy->timer);
    buffer_release(&copy->name);
    buffer_release(&copy->args);
    key_list_release(&copy->groups);
    key_list_release(&copy->fields);
    free(copy);
}

void copy_big_stop(struct copy_big **copy_at)
{
    struct copy_big *copy = *copy_at;
    *copy_at = NULL;
    if (!copy)
        return;
    peer_forget(copy->source, copy, sizeof *copy);
    peer_forget(copy->target, copy, sizeof *copy);
    copy_free(copy);
}

static void end_copy(struct copy_big *copy)
{
    struct job_end end = copy->end;
    job_done done = copy->done;
    void *context = copy->context;
    if (end.result == JOB_DONE && !copy->is_gone && !(copy->is_left && *copy->is_left)) {
        end.count = 1;
        copy->move->progress->keys_copied++;
    }
    copy_free(copy);
    done(context, &end);
}

void copy_big_fail(struct copy_big *copy, enum job_result result, const char *format, ...)
{
    va_list list;
    if (copy->is_failed)
        return;
    copy->is_failed = true;
    copy->end.result = result;
    va_start(list, format);
    vsnprintf(copy->end.problem, sizeof copy->end.problem, format, list);
    va_end(list);
}

void copy_big_fail_strange(struct copy_big *copy, const struct peer *peer, const char *command)
{
    copy_big_fail(copy, JOB_FAILED, "node '%s' gave an answer to %s that makes no sense",
                  peer_id(peer), command);
}

/* ---- calls and answers ------------------------------------------------------------------------
 */

static void call(struct copy_big *copy, struct peer *peer, const struct slice *args, size_t count,
                 peer_reply callback)
{
    if (copy->is_failed)
        return;
    if (peer_call(peer, args, count, callback, copy))
        copy->pending++;
    else
        copy_big_fail(copy, JOB_FAILED, "no memory for a call to node '%s'", peer_id(peer));
}

void copy_big_ask(struct copy_big *copy, const struct slice *args, size_t count,
                  peer_reply callback)
{
    call(copy, copy->source, args, count, callback);
}

void copy_big_tell(struct copy_big *copy, const struct slice *args, size_t count,
                   peer_reply callback)
{
    call(copy, copy->target, args, count, callback);
}

bool copy_big_is_answered(struct copy_big *copy, struct peer *peer, const char *reply, size_t len)
{
    struct slice error;
    copy->pending--;
    if (len == 0) {
        copy_big_fail(copy, JOB_FAILED, "%s", peer_problem(peer));
        return false;
    }
    if (!answer_is_error(reply, len, &error))
        return true;
    if (peer == copy->source &&
        (answer_error_is(error, "WRONGTYPE") || answer_error_is(error, "ERR no such key")))
        copy->is_gone = true;
    else if (!copy->is_failed) {
        char problem[MOVE_PROBLEM_SIZE];
        enum job_result result = refusal_read(peer_id(peer), error, problem);
        copy_big_fail(copy, result, "%s", problem);
    }
    return false;
}

void copy_big_on_written(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    copy_big_is_answered(copy, copy->target, reply, len);
    copy_big_go_on(copy);
}

/* ---- the end ----------------------------------------------------------------------------------
 */

struct slice copy_big_name(const struct copy_big *copy)
{
    return copy->is_direct ? copy->key : copy->temporary;
}

/* Whatever comes, it is over. */
static void on_removed(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    copy_big_is_answered(copy, copy->target, reply, len);
    copy_big_go_on(copy);
}

/* Whether the key is one for the list of big keys, that its caller would rather have it on. */
static bool is_to_be_left(const struct copy_big *copy)
{
    return copy->is_left && !copy->is_whole && copy->type->has_elements &&
           copy->chunks >= copy->chunks_max;
}

/* Leaves nothing on the target that is half a key. */
static void clear_target(struct copy_big *copy)
{
    struct slice args[] = {slice_of("UNLINK"), copy->temporary, copy->key};
    copy_big_spoil(copy);
    size_t count = copy->is_gone || copy->is_direct ? 3 : 2;
    copy->next = end_copy;
    if (peer_call(copy->target, args, count, on_removed, copy)) {
        copy->pending++;
        peer_flush(copy->target);
    } else {
        copy_big_fail(copy, JOB_FAILED, "no memory for a call to node '%s'", peer_id(copy->target));
    }
    copy_big_go_on(copy);
}

void copy_big_go_on(struct copy_big *copy)
{
    if (copy->pending)
        return;
    if ((copy->is_failed || copy->is_gone) && copy->next != end_copy)
        clear_target(copy);
    else
        copy->next(copy);
}

/* RENAME finds nothing when the expiry that was just set is in the past. */
static void on_renamed(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct slice error;
    if (copy->expires_ms >= 0 && answer_is_error(reply, len, &error) &&
        answer_error_is(error, "ERR no such key")) {
        copy->pending--;
        copy->is_gone = true;
    } else {
        copy_big_is_answered(copy, copy->target, reply, len);
    }
    copy_big_go_on(copy);
}

static void tell_expiry(struct copy_big *copy)
{
    char text[24];
    struct slice name = copy_big_name(copy);
    snprintf(text, sizeof text, "%" PRId64, copy->expires_ms);
    struct slice expire[] = {slice_of("PEXPIREAT"), name, slice_of(text)};
    struct slice persist[] = {slice_of("PERSIST"), name};
    if (copy->expires_ms >= 0)
        copy_big_tell(copy, expire, 3, copy_big_on_written);
    else if (!copy->is_direct)
        copy_big_tell(copy, persist, 2, copy_big_on_written);
}

/* What stands under the name is unlinked before, because RENAME would free it on the spot. */
void copy_big_finish(struct copy_big *copy)
{
    struct slice unlink[] = {slice_of("UNLINK"), copy->key};
    struct slice rename[] = {slice_of("RENAME"), copy->temporary, copy->key};
    copy->next = end_copy;
    tell_expiry(copy);
    if (!copy->is_direct) {
        copy_big_tell(copy, unlink, 2, copy_big_on_written);
        copy_big_tell(copy, rename, 3, on_renamed);
    }
    peer_flush(copy->target);
    copy_big_go_on(copy);
}

/* ---- chunks -----------------------------------------------------------------------------------
 */

/* The temporary key was there a moment ago; if it is not, what follows would be half a key. */
static void on_renewed(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    int64_t number;
    if (copy_big_is_answered(copy, copy->target, reply, len) &&
        (!answer_is_integer(reply, len, &number) || number != 1))
        copy_big_fail(copy, JOB_FAILED,
                      "node '%s' lost a key while it was copied: does it evict, or was it flushed?",
                      peer_id(copy->target));
    copy_big_go_on(copy);
}

static void renew(struct copy_big *copy)
{
    char text[24];
    snprintf(text, sizeof text, "%d", COPY_BIG_TTL_MS);
    struct slice args[] = {slice_of("PEXPIRE"), copy->temporary, slice_of(text)};
    if (!copy->is_direct)
        copy_big_tell(copy, args, 3, on_renewed);
}

void copy_big_begin_chunk(struct copy_big *copy)
{
    struct slice args[] = {slice_of("UNLINK"), copy->temporary, copy->key};
    if (copy->is_begun)
        renew(copy);
    else
        copy_big_tell(copy, args, copy->is_direct ? 3 : 2, copy_big_on_written);
}

void copy_big_end_chunk(struct copy_big *copy)
{
    copy_big_send_added(copy);
    if (!copy->is_begun)
        renew(copy);
    copy->is_begun = true;
    copy->chunks++;
    copy->move->progress->chunks++;
    peer_flush(copy->target);
}

void copy_big_send_added(struct copy_big *copy)
{
    size_t count = copy->args.len / sizeof(struct slice);
    if (count)
        copy_big_tell(copy, (const struct slice *)(const void *)buffer_bytes(&copy->args), count,
                      copy_big_on_written);
    copy->bytes += copy->args_bytes;
    copy->move->progress->bytes_copied += copy->args_bytes;
    buffer_clear(&copy->args);
    copy->args_bytes = copy->args_elements = 0;
}

void copy_big_add_arg(struct copy_big *copy, struct slice arg)
{
    if (!buffer_append(&copy->args, &arg, sizeof arg))
        copy_big_fail(copy, JOB_FAILED, "no memory for a call to node '%s'", peer_id(copy->target));
    copy->args_bytes += arg.len;
}

void copy_big_add(struct copy_big *copy, const char *command, const struct slice *parts,
                  size_t count)
{
    if (copy->args_elements >= MOVE_CHUNK_ELEMENTS || copy->args_bytes >= MOVE_CHUNK_BYTES)
        copy_big_send_added(copy);
    if (copy->args.len == 0) {
        copy_big_add_arg(copy, slice_of(command));
        copy_big_add_arg(copy, copy_big_name(copy));
    }
    for (size_t i = 0; i < count; i++)
        copy_big_add_arg(copy, parts[i]);
    copy->args_elements++;
}

void copy_big_adapt(struct copy_big *copy, uint64_t elements, uint64_t bytes)
{
    if (elements == 0)
        return;
    uint64_t fit = MOVE_CHUNK_BYTES / (bytes / elements + 1);
    copy->ask = fit > copy->ask_max ? copy->ask_max : fit ? (uint32_t)fit : 1;
}

void copy_big_on_chunk(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    uint64_t before = copy->bytes;
    struct answer answer = answer_start(reply, len);
    if (copy_big_is_answered(copy, copy->source, reply, len) && !copy->is_failed) {
        if (!copy->type->take(copy, copy->type, &answer))
            copy_big_fail_strange(copy, copy->source, copy->type->read);
        throttle_take(copy->move->throttle, 0, copy->bytes - before);
    }
    copy_big_go_on(copy);
}

/* Comes right after the chunk, so it also tells whether the chunk was the key's. */
static void on_expiry(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    if (copy_big_is_answered(copy, copy->source, reply, len)) {
        if (!answer_is_integer(reply, len, &copy->expires_ms))
            copy_big_fail_strange(copy, copy->source, "PEXPIRETIME");
        else if (copy->expires_ms == -2)
            copy->is_gone = true;
    }
    copy_big_go_on(copy);
}

void copy_big_ask_expiry(struct copy_big *copy)
{
    struct slice args[] = {slice_of("PEXPIRETIME"), copy->key};
    copy_big_ask(copy, args, 2, on_expiry);
}

static void on_timer(void *context);

static void wait_a_while(struct copy_big *copy, uint64_t wait_ms)
{
    if (!copy->timer && io_timer_create(copy->move->loop, on_timer, copy, &copy->timer) < 0) {
        copy_big_fail(copy, JOB_FAILED, "no memory for a timer");
        copy_big_go_on(copy);
        return;
    }
    io_timer_start(copy->timer, wait_ms);
}

/* The target takes a large string without an answer to each piece, and one at a time. */
static bool is_behind(const struct copy_big *copy)
{
    return peer_unwritten(copy->target) > MOVE_CHUNK_BYTES ||
           (copy->sending == SENDING_NOTHING && !peer_can_stream(copy->target));
}

/* Before the next chunk. */
static uint64_t time_to_wait_ms(const struct copy_big *copy)
{
    const struct move *move = copy->move;
    uint64_t wait_ms = move->is_urgent ? 0
                                       : throttle_wait_ms(move->throttle, io_now_ms(move->loop));
    return wait_ms == 0 && is_behind(copy) ? 1 : wait_ms;
}

/* Smaller chunks for nodes that are busy, or have to get memory for a table that grows; the way
 * there and back is none of their business. */
static void note_time(struct copy_big *copy)
{
    uint64_t took_ns = io_now_ns(copy->move->loop) - copy->asked_ns;
    if (copy->asked_ns == 0)
        return;
    copy->asked_ns = 0;
    if (copy->fastest_ns == 0 || took_ns < copy->fastest_ns)
        copy->fastest_ns = took_ns;
    if (took_ns > 2 * copy->fastest_ns + SLOW_NS)
        copy->ask_max = copy->ask_max / 2 > ASK_MIN ? copy->ask_max / 2 : ASK_MIN;
    else if (copy->ask_max < ASK_MAX)
        copy->ask_max += copy->ask_max / 8;
    if (copy->ask_max > ASK_MAX)
        copy->ask_max = ASK_MAX;
    if (copy->ask > copy->ask_max)
        copy->ask = copy->ask_max;
}

static void after_chunk(struct copy_big *copy)
{
    note_time(copy);
    if (is_to_be_left(copy)) {
        *copy->is_left = true;
        clear_target(copy);
    } else if (!copy->is_whole) {
        uint64_t wait_ms = time_to_wait_ms(copy);
        if (wait_ms)
            wait_a_while(copy, wait_ms);
        else
            copy_big_ask_chunk(copy);
    } else if (copy->type->after) {
        copy->type->after(copy);
    } else if (copy->is_begun) {
        copy_big_finish(copy);
    } else { /* it had gone, and another one has come */
        copy->is_gone = true;
        copy_big_go_on(copy);
    }
}

static void on_timer(void *context)
{
    after_chunk(context);
}

void copy_big_ask_chunk(struct copy_big *copy)
{
    copy->next = after_chunk;
    copy->asked_ns = io_now_ns(copy->move->loop);
    copy->type->ask(copy, copy->type);
    copy_big_ask_expiry(copy);
    peer_flush(copy->source);
    copy_big_go_on(copy);
}

/* ---- the beginning ----------------------------------------------------------------------------
 */

static void refuse_type(struct copy_big *copy, struct slice type)
{
    char key[64];
    copy_big_fail(copy, JOB_REFUSED,
                  "key '%s' on node '%s' has the type %.*s, whose values cannot be copied piece by "
                  "piece: delete it, or move it with the tools of its module",
                  refusal_printable(copy->key, key, sizeof key), peer_id(copy->source),
                  (int)(type.len < 64 ? type.len : 64), type.ptr);
}

static void on_type(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct slice name;
    if (copy_big_is_answered(copy, copy->source, reply, len)) {
        if (!answer_is_text(reply, len, &name))
            copy_big_fail_strange(copy, copy->source, "TYPE");
        else if (slice_is(name, "none"))
            copy->is_gone = true;
        else if (!(copy->type = copy_big_find_type(name)))
            refuse_type(copy, name);
    }
    copy_big_go_on(copy);
}

/* A copy that never was is freed by whoever made it. */
static struct copy_big *copy_create(struct move *move, uint32_t source, uint32_t target,
                                    struct slice key)
{
    struct copy_big *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->move = move;
    copy->source = move->from_peers[source];
    copy->target = move->to_peers[target];
    copy->ask = FIRST_ASK;
    copy->ask_max = ASK_MAX;
    copy->expires_ms = -1;
    copy->cursor[0] = '0';
    if (!buffer_append(&copy->name, move->prefix, move->prefix_len) ||
        !buffer_append(&copy->name, key.ptr, key.len)) {
        copy_free(copy);
        return NULL;
    }
    copy->temporary = (struct slice){buffer_bytes(&copy->name), copy->name.len};
    copy->key = (struct slice){copy->temporary.ptr + move->prefix_len, key.len};
    return copy;
}

void copy_big_leave_larger(struct copy_big *copy, uint32_t chunks_max, bool *ret_is_left)
{
    copy->chunks_max = chunks_max;
    copy->is_left = ret_is_left;
}

struct copy_big *copy_big_start(struct move *move, uint32_t source, uint32_t target,
                                struct slice key, job_done done, void *context)
{
    struct copy_big *copy = copy_create(move, source, target, key);
    if (!copy)
        return NULL;
    struct slice args[] = {slice_of("TYPE"), copy->key};
    copy->done = done;
    copy->context = context;
    copy->next = copy_big_ask_chunk;
    copy_big_ask(copy, args, 2, on_type);
    if (copy->pending == 0) {
        copy_free(copy);
        return NULL;
    }
    peer_flush(copy->source);
    return copy;
}
