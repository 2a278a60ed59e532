/* The connections of an embedded node: bytes in, bytes out, and when to stop doing either. */
#include <errno.h>
#include <stdlib.h>

#include "store/node.h"

enum {
    READ_CHUNK_BYTES = 16 << 10,
    READ_TURN_BYTES = 256 << 10, /* from one connection in one turn */
};

void conn_want_send(struct conn *conn)
{
    if (list_is_empty(&conn->unsent))
        list_push_back(&conn->node->unsent, &conn->unsent);
}

static void want_execution(struct conn *conn)
{
    if (list_is_empty(&conn->ready))
        list_push_back(&conn->node->ready, &conn->ready);
}

void conn_close(struct conn *conn)
{
    list_remove(&conn->link);
    list_remove(&conn->ready);
    list_remove(&conn->unsent);
    conn->node->conn_count--;
    io_close(&conn->io);
    resp_request_release(&conn->request);
    buffer_release(&conn->in);
    buffer_release(&conn->out);
    free(conn);
}

bool node_kill_conn(void *context, uint64_t id)
{
    struct embedded_node *node = context;
    list_for_each (link, &node->conns) {
        struct conn *conn = list_entry(link, struct conn, link);
        if (conn->session.id != id)
            continue;
        conn->is_killed = true;
        conn_want_send(conn);
        return true;
    }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether the connection is to be read at all. */
static bool wants_input(const struct conn *conn)
{
    return !conn->is_held && !conn->is_ended && !conn->is_broken && !conn->is_killed &&
           !conn->session.is_closing;
}

static void watch(struct conn *conn)
{
    bool is_watched = wants_input(conn);
    if (is_watched != conn->is_watched)
        io_watch_reading(conn->io, is_watched);
    conn->is_watched = is_watched;
}

/* One piece. What io_read() says; -ENOMEM when there is no room for more. */
static ssize_t read_piece(struct conn *conn)
{
    char *to = buffer_reserve(&conn->in, READ_CHUNK_BYTES);
    if (!to)
        return -ENOMEM;
    ssize_t count = io_read(conn->io, to, buffer_room(&conn->in));
    if (count > 0)
        buffer_added(&conn->in, (size_t)count);
    return count;
}

static void read_turn(struct conn *conn)
{
    size_t before = conn->in.len;
    ssize_t count = 1;
    while (count > 0 && conn->in.len - before < READ_TURN_BYTES)
        count = read_piece(conn);
    if (count == 0)
        conn->is_ended = true;
    else if (count < 0 && count != -EAGAIN)
        conn->is_broken = true;
    if (conn->in.len > before)
        want_execution(conn);
    watch(conn);
    if (!conn->is_watched)
        conn_want_send(conn);
}

static void on_event(void *context, int events)
{
    struct conn *conn = context;
    if (events & IO_WRITABLE) {
        conn->is_blocked = false;
        conn_want_send(conn);
    }
    if (events & IO_READABLE && wants_input(conn))
        read_turn(conn);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void send_some(struct conn *conn)
{
    while (conn->out.len && !conn->is_blocked) {
        struct iovec part = {buffer_bytes(&conn->out), conn->out.len};
        ssize_t count = io_write(conn->io, &part, 1);
        if (count > 0)
            buffer_take(&conn->out, (size_t)count);
        else if (count != -EAGAIN)
            conn->is_broken = true;
        if (conn->is_broken)
            return;
        conn->is_blocked = conn->out.len > 0;
    }
    buffer_trim(&conn->out, NODE_KEEP_BYTES);
}

/* Stops reading a client that does not read its replies, and goes on when it has. */
static void hold_or_go_on(struct conn *conn)
{
    bool is_held = conn->out.len >= (conn->is_held ? NODE_OUT_LEN_MAX / 2 : NODE_OUT_LEN_MAX);
    if (conn->is_held && !is_held && conn->in.len)
        want_execution(conn);
    conn->is_held = is_held;
    watch(conn);
}

/* Whether there is nothing more to do for it. What it sent before it ended is executed first. */
static bool is_done(const struct conn *conn)
{
    if (conn->is_broken)
        return true;
    bool is_last = conn->session.is_closing || (conn->is_ended && list_is_empty(&conn->ready));
    return is_last && conn->out.len == 0;
}

void node_send_all(struct embedded_node *node)
{
    list_for_each (link, &node->unsent) {
        struct conn *conn = list_entry(link, struct conn, unsent);
        list_remove(link);
        if (conn->is_killed) /* what it was owed is not told any more */
            conn->is_broken = true;
        if (!conn->is_broken)
            send_some(conn);
        if (!conn->is_broken)
            hold_or_go_on(conn);
        if (is_done(conn))
            conn_close(conn);
    }
}

/* ---- accepting ------------------------------------------------------------------------------- */

static void refuse(struct io_conn *io)
{
    static char sorry[] = "-ERR max number of clients reached\r\n";
    struct iovec part = {sorry, sizeof sorry - 1};
    io_write(io, &part, 1);
    io_close(&io);
}

void node_accept(void *context, struct io_conn *io)
{
    struct embedded_node *node = context;
    struct conn *conn = node->conn_count < NODE_CONN_COUNT_MAX ? calloc(1, sizeof *conn) : NULL;
    if (!conn) {
        refuse(io);
        return;
    }
    conn->node = node;
    conn->io = io;
    conn->is_watched = true;
    conn->session = (struct session){.id = ++node->last_session_id, .protocol = 2};
    resp_request_init(&conn->request);
    list_init(&conn->ready);
    list_init(&conn->unsent);
    list_push_back(&node->conns, &conn->link);
    node->conn_count++;
    io_conn_set(io, on_event, conn);
}
