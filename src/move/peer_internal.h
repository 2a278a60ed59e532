/*
 * What the files of peers share: peer.c connects and queues calls, peer_read.c matches replies to
 * them, peer_greet.c says what comes first on a connection, peer_stream.c has calls that are made
 * piece by piece.
 */
#ifndef MOVE_PEER_INTERNAL_H
#define MOVE_PEER_INTERNAL_H

#include "base/buffer.h"
#include "io/io.h"
#include "move/peer.h"

enum {
    PEER_PROBLEM_SIZE = 400,
    PEER_RUN_ID_SIZE = 48,
    PEER_GREETINGS_MAX = 8,
    PEER_KEEP_LEN = 256 << 10, /* of empty buffers */
};

enum peer_state {
    PEER_CLOSED,
    PEER_CONNECTING,
    PEER_GREETING, /* calls wait until the node has said who it is, and killed what was before */
    PEER_READY,
};

enum peer_greeting {
    GREETING_AUTH,
    GREETING_SETNAME,
    GREETING_ID,
    GREETING_INFO,
    GREETING_PING,
    GREETING_KILL,
};

struct peer_slot {
    peer_reply callback; /* NULL: answered to nobody */
    void *context;
    uint64_t called_ns; /* 0: says nothing about the node's latency */
    uint64_t end;       /* where its bytes end, counted as `written` is */
};

/* A call of which not all is queued yet. */
struct peer_stream {
    bool is_open, is_spoiled;
    uint64_t missing; /* bytes */
    uint64_t end;     /* of its slot */
    const struct peer_stream_end *says;
    struct buffer held; /* calls that were made meanwhile */
};

struct peer {
    struct io_loop *loop;
    char *id, *address, *username, *password, *client_name;
    uint64_t timeout_ms;
    struct io_conn *conn;
    struct io_timer *timer;   /* deadlines, and when to connect again */
    struct io_timer *flusher; /* writes what nobody flushed */
    enum peer_state state;
    struct buffer greeting, out, in;
    struct resp_scanner scanner;
    struct peer_stream stream;
    bool spares_old;
    bool is_blocked; /* the connection takes no more bytes now */
    bool is_broken;  /* failed where it may not call back: the timer tells it */
    bool timer_runs, flusher_runs;
    struct peer_slot *slots; /* a ring of calls under way, oldest at head */
    uint32_t head, count, capacity;
    uint64_t written;  /* bytes of calls written so far */
    uint64_t heard_ms; /* the last sign of life, or when the oldest call was made */
    uint64_t deadline_ms, retry_at_ms;
    uint64_t latency_ns;
    uint64_t connection_count;
    /* the greeting */
    enum peer_greeting greetings[PEER_GREETINGS_MAX]; /* whose replies are to come, in order */
    uint32_t greeting_at, greeting_count;
    int64_t client_id, old_client_id; /* of this connection; of one to be killed, or 0 */
    char run_id[PEER_RUN_ID_SIZE], old_run_id[PEER_RUN_ID_SIZE]; /* "": not known */
    uint32_t busy;                                               /* callbacks on the stack */
    bool is_destroyed;
    char problem[PEER_PROBLEM_SIZE];
};

/* Reads what has come and calls back; the peer may be destroyed in that. */
void peer_read(struct peer *peer);
/* Takes the oldest call out of the ring. There is one. */
struct peer_slot peer_pop_slot(struct peer *peer);
/* Closes the connection and fails all that is under way; the peer may be destroyed in that. */
void peer_fail(struct peer *peer, const char *why);
/* Starts the greeting. False when memory is out. */
bool peer_greet(struct peer *peer);
/* What to do about a connection that broke, with "; " before it; "" where it may be anything. */
const char *peer_remedy(const struct peer *peer);
/* Takes one reply to it; the state is PEER_READY after the last. Returns NULL, or why the
 * connection can't be used, in text of `size` bytes. */
const char *peer_greeted(struct peer *peer, const char *reply, size_t len, char *text, size_t size);
/* Queues a call as peer_call() does. A call of three arguments more goes on with the text `open`
 * (else NULL) and then with `more` bytes that are to come. */
bool peer_queue(struct peer *peer, const struct peer_slot *slot, const struct slice *args,
                size_t arg_count, const char *open, uint64_t more);
/* Has what is queued written: now when it is much, soon else. */
void peer_flush_soon(struct peer *peer);
/* Has the peer told that its connection cannot go on, from its timer. */
void peer_break_later(struct peer *peer);
/* The oldest call is the stream, and nothing of it is queued: the node waits for us. */
bool peer_stream_starves(const struct peer *peer);
/* The oldest call is the stream, which is not whole. */
bool peer_stream_is_first(const struct peer *peer);
/* More of a spoiled stream, when nothing else is queued. False when there is nothing. */
bool peer_stream_refill(struct peer *peer);
/* The connection has gone. */
void peer_stream_drop(struct peer *peer);
/* Remembers the connection that breaks as one to be killed, if it may still have commands. */
void peer_remember_old(struct peer *peer);

#endif
