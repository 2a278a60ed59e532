/*
 * Reading: bytes come into the worker's one buffer, behind whatever was left of an unfinished
 * message last time, and messages are cut from there. So an idle connection holds no memory, and a
 * stream that is cut at any byte costs one small copy a read. Only a message that is long, or known
 * to become so, gets a buffer of its own, which then grows to what it needs.
 */
#include "router/internal.h"

#include <errno.h>

enum {
    LEFT_OVER_MAX = INTAKE_SIZE - READ_CHUNK, /* what may be copied in front of a read */
    OWN_READ_MAX = 16 * READ_CHUNK,
};

static bool is_long(const struct buffer *rest, size_t need)
{
    return rest->len > LEFT_OVER_MAX || need > READ_CHUNK;
}

static ssize_t read_into_own(struct io_conn *conn, struct buffer *rest, size_t need,
                             struct slice *ret_bytes)
{
    size_t missing = need > rest->len ? need - rest->len : 0;
    size_t size = missing < READ_CHUNK     ? READ_CHUNK
                  : missing > OWN_READ_MAX ? OWN_READ_MAX
                                           : missing;
    char *place = buffer_reserve(rest, size);
    ssize_t got = place ? io_read(conn, place, size) : -ENOMEM;
    if (got > 0) {
        buffer_added(rest, (size_t)got);
        *ret_bytes = (struct slice){buffer_bytes(rest), rest->len};
    }
    return got;
}

ssize_t intake_read(struct worker *worker, struct io_conn *conn, struct buffer *rest, size_t need,
                    struct slice *ret_bytes)
{
    if (is_long(rest, need))
        return read_into_own(conn, rest, need, ret_bytes);
    size_t left = rest->len;
    memcpy(worker->intake, buffer_bytes(rest), left);
    ssize_t got = io_read(conn, worker->intake + left, READ_CHUNK);
    if (got > 0) {
        buffer_clear(rest);
        *ret_bytes = (struct slice){worker->intake, left + (size_t)got};
    }
    return got;
}

bool intake_keep(struct worker *worker, struct buffer *rest, struct slice bytes, size_t used)
{
    bool fine = true;
    if (bytes.ptr == worker->intake)
        fine = buffer_append(rest, bytes.ptr + used, bytes.len - used);
    else
        buffer_take(rest, used);
    buffer_trim(rest, 0);
    return fine;
}
