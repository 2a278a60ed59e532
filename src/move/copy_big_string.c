/*
 * How a large string is read in pieces and written by one SET that goes out piece by piece.
 *
 * A server reads a long argument into the memory that becomes the value, a bit whenever something
 * has come, and the command itself takes microseconds. What was rejected: APPEND copies all that is
 * there when the memory does not suffice (a second, of 200 MB), and SETRANGE of the last byte, to
 * have the memory at once, clears it in one go (as long).
 *
 * The length is said at the beginning, so the string must still be as long when its pieces come.
 * What it has grown by meanwhile is left out: it was written meanwhile, so it is marked and the
 * string comes again. When it has become shorter, the SET is spoiled and all begins anew, after
 * some times only when its mark is drained.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "move/copy_big_internal.h"

static_assert(COPY_BIG_TTL_MS == 600000, "ends says another time");
/* Redis takes no number with zeros before it, and no time of zero. */
static const struct peer_stream_end ends = {"PX", "600000", "000000"};

enum { RESTARTS_MAX = 3 };

static void on_length(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    int64_t length;
    if (copy_big_is_answered(copy, copy->source, reply, len)) {
        if (answer_is_integer(reply, len, &length) && length >= 0)
            copy->length = (uint64_t)length;
        else
            copy_big_fail_strange(copy, copy->source, "STRLEN");
    }
    copy_big_go_on(copy);
}

static void ask(struct copy_big *copy, const struct copy_big_type *type)
{
    char first[24], last[24];
    struct slice length[] = {slice_of("STRLEN"), copy->key};
    snprintf(first, sizeof first, "%" PRIu64, copy->position);
    snprintf(last, sizeof last, "%" PRIu64, copy->position + MOVE_CHUNK_BYTES - 1);
    struct slice args[] = {slice_of(type->read), copy->key, slice_of(first), slice_of(last)};
    if (copy->position == 0)
        copy_big_ask(copy, length, 2, on_length);
    copy_big_ask(copy, args, 4, copy_big_on_chunk);
}

/* ---- the command that goes out in pieces ------------------------------------------------------
 */

/* While pieces are sent nothing need be pending: then the copy waits for its timer. */
static void on_sent(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    enum copy_big_sending sending = copy->sending;
    copy->sending = SENDING_NOTHING;
    if (sending == SENDING_PIECES) {
        copy->pending++;
        if (copy->timer)
            io_timer_stop(copy->timer);
    }
    if (sending == SENDING_SPOILED && len)
        copy->pending--;
    else if (copy_big_is_answered(copy, copy->target, reply, len) && sending == SENDING_PIECES)
        copy_big_fail_strange(copy, copy->target, "SET");
    copy_big_go_on(copy);
}

static void begin(struct copy_big *copy)
{
    struct slice unlink[] = {slice_of("UNLINK"), copy->temporary};
    struct slice set[] = {slice_of("SET"), copy->temporary};
    copy_big_tell(copy, unlink, 2, copy_big_on_written);
    if (copy->is_failed)
        return;
    copy->is_begun = true;
    if (peer_stream(copy->target, set, 2, copy->length, &ends, on_sent, copy))
        copy->sending = SENDING_PIECES;
    else
        copy_big_fail(copy, JOB_FAILED, "no memory for a call to node '%s'", peer_id(copy->target));
}

void copy_big_spoil(struct copy_big *copy)
{
    if (copy->sending != SENDING_PIECES)
        return;
    copy->sending = SENDING_SPOILED;
    copy->pending++;
    peer_stream_spoil(copy->target);
}

static void restart(struct copy_big *copy)
{
    copy_big_spoil(copy);
    copy->position = 0;
    copy->is_begun = false;
    copy->is_gone = ++copy->restarts > RESTARTS_MAX;
}

static void send_piece(struct copy_big *copy, struct slice bytes)
{
    if (!peer_stream_add(copy->target, bytes)) {
        copy_big_fail(copy, JOB_FAILED, "no memory for a call to node '%s'", peer_id(copy->target));
        return;
    }
    copy->position += bytes.len;
    copy->bytes += bytes.len;
    copy->chunks++;
    copy->move->progress->bytes_copied += bytes.len;
    copy->move->progress->chunks++;
    copy->is_whole = copy->position == copy->length;
    if (copy->is_whole) {
        copy->sending = SENDING_WHOLE;
        copy->pending++;
    }
    peer_flush(copy->target);
}

/* ---- pieces -----------------------------------------------------------------------------------
 */

/* Under its own name; an empty string and a number arrive as what they are. */
static void take_small(struct copy_big *copy, struct slice bytes)
{
    copy->is_whole = copy->is_direct = true;
    copy_big_begin_chunk(copy);
    copy_big_add(copy, "SET", &bytes, 1);
    copy_big_end_chunk(copy);
}

static bool take(struct copy_big *copy, const struct copy_big_type *type, struct answer *answer)
{
    struct slice bytes;
    (void)type;
    if (!answer_text(answer, &bytes))
        return false;
    if (copy->position == 0 && (bytes.len < MOVE_CHUNK_BYTES || copy->length <= bytes.len)) {
        take_small(copy, bytes);
        return true;
    }
    if (copy->position == 0 && !peer_can_stream(copy->target))
        return true; /* this piece is asked for again */
    if (copy->position == 0)
        begin(copy);
    uint64_t missing = copy->length - copy->position;
    size_t want = missing < MOVE_CHUNK_BYTES ? (size_t)missing : MOVE_CHUNK_BYTES;
    if (copy->is_failed)
        return true;
    if (bytes.len < want)
        restart(copy);
    else
        send_piece(copy, (struct slice){bytes.ptr, want});
    return true;
}

const struct copy_big_type copy_big_string = {
    .name = "string",
    .read = "GETRANGE",
    .write = "SET",
    .parts = 1,
    .ask = ask,
    .take = take,
};
