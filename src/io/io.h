/*
 * All that the router may know of the outside: a loop with a clock, timers, connections and
 * listeners. Two implementations, of which a program links one: io_uv.c (libuv, real sockets) and
 * io_sim.c (a simulated network, one seed; io_sim.h steers it). The same router code runs on both.
 *
 * The model is readiness: a connection tells that it can be read or written, the owner then calls
 * io_read() or io_write(), which never block and may do less than asked. Whatever a callback does,
 * even closing its own or another connection, is allowed; after io_close() no callback of that
 * connection comes any more. Readiness is a level: what was not read is told again in the next
 * turn. Nothing of what is declared here ever calls back before it has returned. A loop and all
 * that belongs to it are used by one thread; only io_post() and io_loop_stop() may be called from
 * other threads.
 *
 * Addresses are text: "127.0.0.1:6379", "[::1]:6379", "localhost:6379" (resolved at each
 * io_connect()), "unix:/run/redis.sock", and "inproc:NAME" for nodes inside this process.
 */
#ifndef IO_IO_H
#define IO_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct io_loop;
struct io_conn;
struct io_listener;

enum { IO_ADDRESS_LEN_MAX = 272 };

enum io_events {
    IO_READABLE = 1, /* io_read() will give bytes, the end, or an error */
    IO_WRITABLE = 2, /* connected, or room again after a short io_write() */
};

/* ---- loop ------------------------------------------------------------------------------------ */

/* 0 or a negative errno. */
int io_loop_create(struct io_loop **ret_loop);
/* Closes all that is still open: pointers to its connections, listeners and timers are void then.
 * Posted calls that have not run are dropped. May wait for name look-ups under way. Not from a
 * callback of the loop, and only when no other thread posts to it any more. NULL is fine. */
void io_loop_destroy(struct io_loop **loop);
/* Runs until io_loop_stop(), which counts also when it came first. (The simulation runs all its
 * loops from io_sim_run() instead.) */
void io_loop_run(struct io_loop *loop);
void io_loop_stop(struct io_loop *loop);

/* Time since some fixed moment, in milliseconds and nanoseconds; read once a turn. */
uint64_t io_now_ms(const struct io_loop *loop);
uint64_t io_now_ns(const struct io_loop *loop);
/* Time of day: milliseconds since 1970 UTC. */
uint64_t io_wall_ms(const struct io_loop *loop);

typedef void (*io_callback)(void *context);

/* Runs a function on the loop's thread, between two turns: no event is half handled, and the end of
 * the turn was told. The only way in from another thread. Calls are kept in order; one that posts
 * again is run a turn later. 0, or -ENOMEM. */
int io_post(struct io_loop *loop, io_callback callback, void *context);

/* Sets what runs at the end of every turn, after all events, timers and posted calls and before the
 * loop sleeps: where output gathered during the turn is flushed. It may run when nothing happened.
 */
void io_on_turn_end(struct io_loop *loop, io_callback callback, void *context);

/* ---- timers ---------------------------------------------------------------------------------- */

struct io_timer; /* made by the loop, started and stopped at will; one-shot */

int io_timer_create(struct io_loop *loop, io_callback callback, void *context,
                    struct io_timer **ret_timer);
void io_timer_destroy(struct io_timer **timer);
/* Fires once after delay_ms (0 counts as 1), never early by io_now_ms(); starting again moves it.
 */
void io_timer_start(struct io_timer *timer, uint64_t delay_ms);
void io_timer_stop(struct io_timer *timer);

/* ---- listeners ------------------------------------------------------------------------------- */

/* A client has come and is the callee's to close. It is silent until io_conn_set(). */
typedef void (*io_accept_callback)(void *context, struct io_conn *conn);

/* Listens. Several loops (threads) may listen on one TCP address: the kernel spreads the clients
 * (SO_REUSEPORT), which it would also do between two processes of one user: ask
 * io_address_is_free() once at the start. A unix or inproc address has one listener; -EADDRINUSE
 * comes for the second, while the file of a dead one is replaced. "host:0" takes a free port. A
 * host name is resolved at once, blocking. 0 or a negative errno: -EINVAL or -ENAMETOOLONG for the
 * text (address_problem() says why), else the socket's. */
int io_listen(struct io_loop *loop, const char *address, io_accept_callback callback, void *context,
              struct io_listener **ret_listener);
/* The address as it really is, with the port that was taken. */
const char *io_listener_address(const struct io_listener *listener);
/* Stops and resumes accepting; clients then wait in the kernel's queue. */
void io_listener_pause(struct io_listener *listener, bool pause);
/* How often accepting had to rest for a moment because descriptors or memory were used up. */
uint64_t io_listener_rest_count(const struct io_listener *listener);
/* Its connections stay open. Nulls the pointer; NULL is fine. */
void io_listener_close(struct io_listener **listener);

/* 0 when nobody listens on the address, this process included; -EADDRINUSE, or another reason why
 * it can't be listened on. */
int io_address_is_free(const char *address);

/* ---- connections ----------------------------------------------------------------------------- */

/* What happened. When a connection breaks, what is waited for comes, and io_read() (after the bytes
 * that came before) or io_write() tells the error; while neither is waited for, nothing comes. */
typedef void (*io_event_callback)(void *context, int events);

/* Starts to connect and returns at once; the callback has IO_WRITABLE when connected, or
 * IO_READABLE when it failed (io_read() then gives the negative errno). Reading is watched from the
 * start. There is no time limit: close it when it takes too long. 0, or -EINVAL, -ENAMETOOLONG,
 * -ENOMEM; every other failure comes through the callback. */
int io_connect(struct io_loop *loop, const char *address, io_event_callback callback, void *context,
               struct io_conn **ret_conn);

/* Takes over an accepted connection and starts watching it for reading. */
void io_conn_set(struct io_conn *conn, io_event_callback callback, void *context);

/* Turns on or off being told of readability. */
void io_watch_reading(struct io_conn *conn, bool watch);

/* Bytes read (> 0), 0 at the end, -EAGAIN when there is nothing now, or another negative errno.
 * len must not be 0. */
ssize_t io_read(struct io_conn *conn, void *bytes, size_t len);

/* Bytes written, maybe fewer than offered; then IO_WRITABLE comes when there is room again (and
 * only then). -EAGAIN when nothing could be written, or another negative errno. */
ssize_t io_write(struct io_conn *conn, const struct iovec *parts, int part_count);

/* The peer's and our own address as text; "?" where there is none. */
void io_peer_address(const struct io_conn *conn, char ret_text[static IO_ADDRESS_LEN_MAX]);
void io_own_address(const struct io_conn *conn, char ret_text[static IO_ADDRESS_LEN_MAX]);

/* Closes; no callback comes after this. Nulls the pointer; NULL is fine. */
void io_close(struct io_conn **conn);

#endif
