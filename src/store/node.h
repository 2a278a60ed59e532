/*
 * The inside of an embedded node, shared by its files: embedded_node.c makes and ends it and keeps
 * its timers, node_conn.c reads and writes its connections, node_batch.c executes what they sent.
 * Not for others.
 *
 * A turn of the loop: events only read bytes into the connections' buffers and put these
 * connections on the ready list. At the end of the turn their requests are executed as one batch in
 * one transaction; then it is committed, and only then are the replies written out.
 */
#ifndef STORE_NODE_H
#define STORE_NODE_H

#include <stdatomic.h>

#include "base/list.h"
#include "store/call.h"
#include "store/embedded_node.h"
#include "store/sync_thread.h"

enum {
    NODE_CONN_COUNT_MAX = 10000,
    NODE_BATCH_BYTES_MAX = 4 << 20, /* of requests in one transaction */
    NODE_OUT_LEN_MAX = 1 << 20, /* a connection with more to send is neither read nor executed */
    NODE_KEEP_BYTES = 16 << 10, /* of an empty buffer */
};

struct conn {
    struct list link;   /* node->conns */
    struct list ready;  /* node->ready or the batch: it has input to execute */
    struct list unsent; /* node->unsent: it is looked at before the turn ends */
    struct embedded_node *node;
    struct io_conn *io;
    struct buffer in, out;
    struct resp_request request;
    struct session session;
    bool is_blocked; /* the kernel takes no more of out until IO_WRITABLE */
    bool is_held;    /* neither read nor executed, because out is too long */
    bool is_watched; /* told of readability */
    bool is_ended;   /* no more input will come */
    bool is_broken;  /* to be closed without another word */
    bool is_killed;  /* the same, by somebody else's CLIENT KILL */
    /* of the batch that is executed */
    size_t executed; /* bytes of in */
    size_t out_mark; /* where out and session were when it began */
    struct session session_mark;
};

/* What embedded_node_read_stats() reads from any thread. */
struct node_stats {
    _Atomic uint64_t key_count, used_bytes, commands, commits, expired_keys, write_errors;
};

struct embedded_node {
    struct io_loop *loop;
    struct io_listener *listener;
    struct store *store;
    struct engine engine;
    struct resp_limits limits;
    struct list conns, ready, unsent;
    uint32_t conn_count;
    uint64_t last_session_id;
    enum durability durability;
    struct io_timer *sweep_timer, *sync_timer;
    struct sync_thread *sync_thread; /* NULL: on the loop, or no syncing at all */
    bool is_sync_due;                /* the sync timer runs */
    uint64_t sweep_armed_ms;         /* the expiry that the sweep timer was set for */
    struct node_stats stats;
    char *id;
};

/* Executes all that is ready. */
void node_run_batches(struct embedded_node *node);

void node_accept(void *context, struct io_conn *io);
/* Sends what the connections on the unsent list have to send, and closes those that are done. */
void node_send_all(struct embedded_node *node);
void conn_want_send(struct conn *conn);
void conn_close(struct conn *conn);
/* Of the engine: the connection with that id is closed at the end of the turn, and nothing of it is
 * executed before. Whether there is one. */
bool node_kill_conn(void *context, uint64_t id);

#endif
