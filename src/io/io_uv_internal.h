/*
 * What the files of the libuv implementation share. Memory: libuv hands a handle's memory back in
 * its close callback, later than our io_close() and the like return; every handle therefore lives
 * in an allocation of its own that only libuv outlives, and the objects of io.h are freed at once.
 */
#ifndef IO_IO_UV_INTERNAL_H
#define IO_IO_UV_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "base/list.h"
#include "io/io.h"

/* Read at most once a turn, when first asked for; 0 is "not read yet". */
struct turn_clock {
    uint64_t now_ns, wall_ms;
};

struct io_loop {
    uv_loop_t uv;
    uv_prepare_t prepare; /* runs end_of_turn() right before each sleep */
    uv_async_t wake;
    bool woken; /* something waits in `posts` or `failed`, or to stop */
    atomic_bool stop;
    io_callback turn_end;
    void *turn_end_context;
    struct turn_clock *clock, clock_memory; /* a pointer, so that asking a const loop can fill it */
    struct list conns, listeners, timers;
    struct list dirty;             /* watches whose wanted events differ from the armed ones */
    struct list failed;            /* connections whose connecting failed, to be told */
    struct io_listener *accepting; /* whose callback runs; NULL again when that closed it */
    pthread_mutex_t posts_lock;
    struct list posts; /* the only list that other threads touch */
};

/* Makes the loop run its end of turn again instead of sleeping. From any thread. */
void loop_wake(struct io_loop *loop);

/* ---- watches --------------------------------------------------------------------------------- */

/* A descriptor in the poll set. Which events are wanted may change many times in a turn; the kernel
 * hears of it once, at the end of the turn, and not at all when nothing changed. */
struct watch {
    uv_poll_t poll;
    struct io_loop *loop;
    struct list dirty;
    int fd;
    int wanted, armed; /* UV_READABLE, UV_WRITABLE */
    void (*ready)(void *owner, int events);
    void *owner;
};

/* Owns the descriptor from now on, but not on failure. NULL when it can't be watched. */
struct watch *watch_open(struct io_loop *loop, int fd, void (*ready)(void *owner, int events),
                         void *owner);
void watch_want(struct watch *watch, int events);
/* Closes the descriptor too; `ready` does not come any more. NULL is fine. */
void watch_close(struct watch **watch);
void watches_arm(struct io_loop *loop);

/* ---- connections ----------------------------------------------------------------------------- */

/* A connection over a connected socket, not yet watched for reading. NULL when it can't be made;
 * the descriptor is then closed. */
struct io_conn *conn_adopt(struct io_loop *loop, int fd);
/* Tells the owners of connections whose connecting failed. */
void conns_tell_failed(struct io_loop *loop);
void conns_close(struct io_loop *loop);
void listeners_close(struct io_loop *loop);

#endif
