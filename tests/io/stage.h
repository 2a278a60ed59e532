/*
 * What the scenarios stand on: a loop with one listener, an echo server behind it, talkers that
 * send bytes which anybody can compute and check that they come back, and checks that name the
 * variant (kind of address, or seed) in which they failed.
 */
#ifndef TESTS_IO_STAGE_H
#define TESTS_IO_STAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/list.h"
#include "base/random.h"
#include "io/io.h"

/* ---- checks ---------------------------------------------------------------------------------- */

static char variant[IO_ADDRESS_LEN_MAX + 64];

static inline void check_int(const char *what, long long got, long long wanted, int line)
{
    if (got != wanted)
        fail_msg("line %d, with %s: %s is %lld, not %lld", line, variant, what, got, wanted);
}

static inline void check_true(const char *what, bool holds, int line)
{
    if (!holds)
        fail_msg("line %d, with %s: it is not so that %s", line, variant, what);
}

#define CHECK_INT(got, wanted) check_int(#got, (long long)(got), (long long)(wanted), __LINE__)
#define CHECK(condition)       check_true(#condition, (condition), __LINE__)

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
    struct io_loop *loop;
    struct io_listener *listener;
    struct io_timer *timer;
    const char *listen_at;
    const char *address; /* the listener's, once it listens */
    bool done;
    struct list guests; /* accepted by the echo server */
};

static inline void stage_open(struct stage *stage, const char *listen_at)
{
    *stage = (struct stage){.listen_at = listen_at};
    list_init(&stage->guests);
    CHECK_INT(io_loop_create(&stage->loop), 0);
}

static inline void stage_listen(struct stage *stage, io_accept_callback callback, void *context)
{
    CHECK_INT(io_listen(stage->loop, stage->listen_at, callback, context, &stage->listener), 0);
    stage->address = io_listener_address(stage->listener);
}

static inline void stage_finish(void *context)
{
    struct stage *stage = context;
    stage->done = true;
    io_loop_stop(stage->loop);
}

/* Runs until somebody calls stage_finish(). */
static inline void stage_run(struct stage *stage)
{
    stage->done = false;
    io_loop_run(stage->loop);
    CHECK(stage->done);
}

/* Lets time pass, for what should not happen in it. */
static inline void stage_wait(struct stage *stage, uint64_t delay_ms)
{
    if (!stage->timer)
        CHECK_INT(io_timer_create(stage->loop, stage_finish, stage, &stage->timer), 0);
    io_timer_start(stage->timer, delay_ms);
    stage_run(stage);
}

static inline ssize_t write_bytes(struct io_conn *conn, const void *bytes, size_t len)
{
    struct iovec part = {NULL, len};
    memcpy(&part.iov_base, &bytes, sizeof bytes);
    return io_write(conn, &part, 1);
}

/* ---- a probe: a connection that notes what it is told ---------------------------------------- */

struct probe {
    struct stage *stage;
    struct io_conn *conn;
    int events; /* all that came, or-ed */
    unsigned calls;
    unsigned finish_at; /* ends the run at that many calls; 0: never */
};

static inline void probe_note(void *context, int events)
{
    struct probe *probe = context;
    probe->events |= events;
    if (++probe->calls == probe->finish_at)
        stage_finish(probe->stage);
}

static inline void probe_connect(struct probe *probe, struct stage *stage)
{
    *probe = (struct probe){.stage = stage, .finish_at = 1};
    CHECK_INT(io_connect(stage->loop, stage->address, probe_note, probe, &probe->conn), 0);
    CHECK_INT(probe->calls, 0);
    stage_run(stage);
    probe->finish_at = 0;
}

/* An io_accept_callback: keeps the client, unwatched. */
static inline void probe_accept(void *context, struct io_conn *conn)
{
    struct probe *probe = context;
    io_conn_set(conn, probe_note, probe);
    io_watch_reading(conn, false);
    probe->conn = conn;
}

/* Reads for about a second, or until the result is what is wanted. */
static inline void probe_read_until(struct probe *probe, ssize_t wanted)
{
    char byte;
    ssize_t got = io_read(probe->conn, &byte, 1);
    for (int i = 0; i < 1000 && got != wanted; i++) {
        stage_wait(probe->stage, 1);
        got = io_read(probe->conn, &byte, 1);
    }
    CHECK_INT(got, wanted);
}

/* ---- the echo server ------------------------------------------------------------------------- */

enum { GUEST_PENDING_MAX = 64 * 1024 };

struct guest {
    struct list link;
    struct io_conn *conn;
    struct buffer pending;
};

static inline void guest_leave(struct guest *guest)
{
    io_close(&guest->conn);
    buffer_release(&guest->pending);
    list_remove(&guest->link);
    free(guest);
}

/* False when the connection is over. */
static inline bool guest_read(struct guest *guest)
{
    char bytes[16 * 1024];
    ssize_t count = io_read(guest->conn, bytes, sizeof bytes);
    if (count > 0)
        buffer_append(&guest->pending, bytes, (size_t)count);
    return count > 0 || count == -EAGAIN;
}

static inline bool guest_write(struct guest *guest)
{
    if (guest->pending.len == 0)
        return true;
    ssize_t count = write_bytes(guest->conn, buffer_bytes(&guest->pending), guest->pending.len);
    if (count > 0)
        buffer_take(&guest->pending, (size_t)count);
    return count > 0 || count == -EAGAIN;
}

static inline void guest_event(void *context, int events)
{
    struct guest *guest = context;
    bool goes_on = true;
    if (events & IO_READABLE)
        goes_on = guest_read(guest);
    if (goes_on)
        goes_on = guest_write(guest);
    if (!goes_on) {
        guest_leave(guest);
        return;
    }
    io_watch_reading(guest->conn, guest->pending.len < GUEST_PENDING_MAX);
}

/* An io_accept_callback with the stage as its context. */
static inline void echo_accept(void *context, struct io_conn *conn)
{
    struct stage *stage = context;
    struct guest *guest = calloc(1, sizeof *guest);
    assert_non_null(guest);
    guest->conn = conn;
    list_push_back(&stage->guests, &guest->link);
    io_conn_set(conn, guest_event, guest);
}

/* Destroys the loop too, and so whatever a scenario left open. */
static inline void stage_close(struct stage *stage)
{
    while (!list_is_empty(&stage->guests))
        guest_leave(list_entry(stage->guests.next, struct guest, link));
    io_loop_destroy(&stage->loop);
    CHECK(stage->loop == NULL);
}

/* ---- talkers --------------------------------------------------------------------------------- */

/* Sends bytes 0 .. total-1 of its stream and checks that they come back in order. */
struct talker {
    struct stage *stage;
    struct io_conn *conn;
    uint64_t seed, total, sent, received;
    int error; /* what ended it early; 0: nothing did */
    bool connected, is_over;
    unsigned *talking; /* how many still are; the last one finishes the stage */
};

/* The stream is the seed's numbers, eight bytes each; copied from any place of it. */
static inline void talker_bytes(const struct talker *talker, uint64_t index, uint8_t *to,
                                size_t len)
{
    for (; len > 0; index++, to++, len--)
        *to = (uint8_t)(random_mix(talker->seed + index / 8) >> (index % 8 * 8));
}

static inline void talker_end(struct talker *talker, int error)
{
    talker->error = error;
    talker->is_over = true;
    io_close(&talker->conn);
    if (--*talker->talking == 0)
        stage_finish(talker->stage);
}

/* 0, or what ends it. */
static inline int talker_send(struct talker *talker)
{
    uint8_t bytes[16 * 1024];
    while (talker->sent < talker->total) {
        uint64_t left = talker->total - talker->sent;
        size_t len = left < sizeof bytes ? (size_t)left : sizeof bytes;
        talker_bytes(talker, talker->sent, bytes, len);
        ssize_t count = write_bytes(talker->conn, bytes, len);
        if (count < 0)
            return count == -EAGAIN ? 0 : (int)count;
        talker->sent += (uint64_t)count;
        if ((size_t)count < len)
            return 0;
    }
    return 0;
}

static inline int talker_receive(struct talker *talker)
{
    uint8_t bytes[16 * 1024], wanted[16 * 1024];
    ssize_t count = io_read(talker->conn, bytes, sizeof bytes);
    if (count == -EAGAIN)
        return 0;
    if (count <= 0)
        return count == 0 ? -EPIPE : (int)count;
    talker_bytes(talker, talker->received, wanted, (size_t)count);
    if (memcmp(bytes, wanted, (size_t)count) != 0)
        return -EBADMSG;
    talker->received += (uint64_t)count;
    return 0;
}

static inline void talker_event(void *context, int events)
{
    struct talker *talker = context;
    int error = 0;
    if (events & IO_READABLE)
        error = talker_receive(talker);
    if (error == 0 && (events & IO_WRITABLE)) {
        talker->connected = true;
        error = talker_send(talker);
    }
    if (error != 0 || talker->received == talker->total)
        talker_end(talker, error);
}

static inline void talker_start(struct talker *talker, struct stage *stage, const char *address,
                                uint64_t seed, uint64_t total, unsigned *talking)
{
    *talker = (struct talker){.stage = stage, .seed = seed, .total = total, .talking = talking};
    ++*talking;
    CHECK_INT(io_connect(stage->loop, address, talker_event, talker, &talker->conn), 0);
}

#endif
