/*
 * Peers: the mover's own connection to a node. Calls are pipelined and answered in their order,
 * each to its callback.
 *
 * A call that got no answer in time may still be executed later, and a RESTORE that comes late
 * brings old data back. So after a missed deadline or a broken connection the peer connects anew,
 * kills its old connection at the node (CLIENT KILL ID, the id was asked with CLIENT ID at the
 * start), and only when the node has confirmed that is anything else sent: what had no answer until
 * then has either been executed or never will be.
 *
 * Used by one loop. Nothing here calls back before it has returned.
 */
#ifndef MOVE_PEER_H
#define MOVE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io.h"
#include "wire/resp.h"

enum {
    PEER_CALLS_MAX = 1024,        /* under way at once; peer_has_room(). A batch that begins when
                                     there is room may go beyond; at four times that much
                                     peer_call() refuses */
    PEER_OUT_MAX = 8 << 20,       /* bytes not written yet; likewise */
    PEER_REPLY_LEN_MAX = 1 << 30, /* bytes of one reply */
};

struct peer;

struct peer_options {
    const char *id, *address;        /* for messages; an io.h address */
    const char *username, *password; /* NULL: none */
    const char *client_name;         /* CLIENT SETNAME, for whoever looks at the node */
    uint64_t timeout_ms;             /* silence while a reply is owed */
    bool spares_old;                 /* does not end its old connection: a negative control */
};

/* The reply's bytes (whole, RESP2), valid during the call; len 0: no answer will come (the
 * connection broke or was too slow: peer_problem() says why; it may or may not have been
 * executed). */
typedef void (*peer_reply)(void *context, const char *reply, size_t len);

/* Copies the options. Connects at the first call. 0 or -ENOMEM. */
int peer_create(struct io_loop *loop, const struct peer_options *options, struct peer **ret_peer);
/* No callback comes after this. NULL is fine. */
void peer_destroy(struct peer **peer);

/* Queues a command; callback may be NULL. False when memory is out, nothing is queued then. Calls
 * made while the node is unreachable fail as the connection does: after timeout_ms at the latest.
 */
bool peer_call(struct peer *peer, const struct slice *args, size_t arg_count, peer_reply callback,
               void *context);
/* How a call ends that is made piece by piece. */
struct peer_stream_end {
    const char *option, *value; /* its last two arguments; or, when it is given up, ... */
    const char *spoiled;        /* ... this value, as long, for which the node refuses the call */
};

/* A call with one argument that is too long to be gathered: args, that argument of `len` bytes,
 * which peer_stream_add() brings piece by piece, and the two of `end` (kept by pointer). When it is
 * given up before, by peer_stream_spoil() or peer_forget(), zero bytes are put in for what is
 * missing. Calls made meanwhile are written after it. The node is overdue only while it takes
 * nothing, not while pieces are missing. One at a time: false when there is one, or memory is out.
 */
bool peer_stream(struct peer *peer, const struct slice *args, size_t arg_count, uint64_t len,
                 const struct peer_stream_end *end, peer_reply callback, void *context);
/* The next bytes, not more than are missing. False when memory is out, nothing is queued then. When
 * the connection has failed, and the callback told it, they are dropped. Its caller sees to it that
 * peer_unwritten() does not grow. */
bool peer_stream_add(struct peer *peer, struct slice bytes);
/* Gives it up; it still is answered. */
void peer_stream_spoil(struct peer *peer);
/* Whether there is none under way. One that was given up is until the node has taken it all. */
bool peer_can_stream(const struct peer *peer);
/* Bytes that are queued, of all calls. */
size_t peer_unwritten(const struct peer *peer);
/* Writes what is queued, as far as the connection takes it. Calls made inside a callback of this
 * peer are written when the callback has returned, all others a millisecond later at the latest:
 * whoever queues a batch for another peer says so at its end. Never calls back. */
void peer_flush(struct peer *peer);
/* Calls whose context lies in [from, from + size) are answered to nobody. They may be
 * executed. */
void peer_forget(struct peer *peer, const void *from, size_t size);
/* Whether another call may be queued within the bounds. Has its caller told when there is room
 * again is not needed: a reply to a call under way is the moment to look again. */
bool peer_has_room(const struct peer *peer);
/* Why the last calls failed: "node 'cache-3' (10.0.0.3:6379) did not answer within 1000 ms". */
const char *peer_problem(const struct peer *peer);
/* Counts connections made and ended: the same number means that it is the same one all the time. */
uint64_t peer_connection_count(const struct peer *peer);
const char *peer_id(const struct peer *peer);

/* Smoothed time from call to answer, in microseconds; 0: not known yet. */
uint64_t peer_latency_us(const struct peer *peer);

#endif
