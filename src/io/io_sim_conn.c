/*
 * The connections of the simulation: pairs of byte streams. What is written goes as pieces, each
 * with a delay of its own, which arrive in order at the other end's buffer; the writer may have
 * only so many bytes unread over there. The network works whether or not the loop of an end is
 * stopped, as a kernel does.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "io/io_sim_internal.h"

enum { RETELL_MAX_US = 1024 };

enum piece_kind { PIECE_BYTES, PIECE_END, PIECE_RESET };

/* On its way; belongs to the connection that it goes to. */
struct piece {
    struct event event;
    struct list link;
    struct io_conn *to;
    enum piece_kind kind;
    size_t len;
    char bytes[];
};

/* ---- being told ------------------------------------------------------------------------------ */

static bool is_readable(const struct io_conn *conn)
{
    return !conn->connecting && (conn->in.len > 0 || conn->at_end || conn->error);
}

static bool has_room(const struct io_conn *conn)
{
    return !conn->peer || conn->unread < world.options.window_bytes || conn->error;
}

/* Sets the event that tells of readability, unless it is set, not wanted, or there is nothing. */
static void tell_readable(struct io_conn *conn, uint64_t delay_us)
{
    if (conn->callback && conn->reading && is_readable(conn) && !event_is_set(&conn->read_event))
        event_in(&conn->read_event, delay_us);
}

static void tell_writable(struct io_conn *conn, uint64_t delay_us)
{
    if (conn->callback && conn->writing && has_room(conn) && !event_is_set(&conn->write_event))
        event_in(&conn->write_event, delay_us);
}

/* Sometimes both come in one call, as from a kernel. */
static int take_writable_too(struct io_conn *conn)
{
    if (!conn->writing || !has_room(conn) || !world_chance(1, 2))
        return 0;
    event_cancel(&conn->write_event);
    conn->writing = false;
    return IO_WRITABLE;
}

/* To an owner who is told and does not read, more and more slowly: it would be a busy loop
 * anywhere, but here it would also be all that the run consists of. */
static uint64_t retell_delay_us(struct io_conn *conn)
{
    uint64_t delay_us = conn->retell_us;
    if (conn->retell_us < RETELL_MAX_US)
        conn->retell_us *= 2;
    return delay_us;
}

/* Readiness is a level: the next telling is set before the callback, after which the connection may
 * be gone, and finds out by itself when there is nothing left. */
static void on_read_event(struct event *event)
{
    struct io_conn *conn = list_entry(event, struct io_conn, read_event);
    if (!is_readable(conn) || !(conn->reading || conn->failed))
        return;
    if (!conn->failed)
        event_in(&conn->read_event, retell_delay_us(conn));
    conn->callback(conn->context, IO_READABLE | take_writable_too(conn));
}

static void on_write_event(struct event *event)
{
    struct io_conn *conn = list_entry(event, struct io_conn, write_event);
    if (!conn->connecting && !(conn->writing && has_room(conn)))
        return;
    conn->connecting = false;
    conn->writing = false;
    tell_readable(conn, 1);
    conn->callback(conn->context, IO_WRITABLE);
}

/* ---- the network ----------------------------------------------------------------------------- */

static void unlink_peer(struct io_conn *conn)
{
    if (conn->peer)
        conn->peer->peer = NULL;
    conn->peer = NULL;
}

static void arrive_reset(struct io_conn *conn)
{
    unlink_peer(conn);
    conn->error = -ECONNRESET;
    tell_readable(conn, 0);
    tell_writable(conn, 0);
}

static void arrive_bytes(struct io_conn *conn, const struct piece *piece)
{
    for (size_t i = 0; i < piece->len; i++)
        world_note((uint8_t)piece->bytes[i]);
    if (world_chance(world.options.cut_per_million, 1000000)) {
        conn_cut(conn);
        return;
    }
    bool kept = buffer_append(&conn->in, piece->bytes, piece->len);
    CW_ASSERT(kept);
    tell_readable(conn, 0);
}

static void free_piece(struct piece *piece)
{
    event_cancel(&piece->event);
    list_remove(&piece->link);
    free(piece);
}

static void on_arrive(struct event *event)
{
    struct piece *piece = list_entry(event, struct piece, event);
    struct io_conn *conn = piece->to;
    if (conn->error) {
        /* what comes after the break is lost */
    } else if (piece->kind == PIECE_RESET) {
        arrive_reset(conn);
    } else if (piece->kind == PIECE_END) {
        conn->at_end = true;
        tell_readable(conn, 0);
    } else {
        arrive_bytes(conn, piece);
    }
    free_piece(piece);
}

static struct piece *new_piece(struct io_conn *to, enum piece_kind kind, size_t len)
{
    struct piece *piece = malloc(sizeof *piece + len);
    CW_ASSERT(piece);
    piece->to = to;
    piece->kind = kind;
    piece->len = len;
    event_init(&piece->event, EVENT_ARRIVE, NULL, to->id, on_arrive);
    list_push_back(&to->incoming, &piece->link);
    return piece;
}

static void send_piece(struct piece *piece)
{
    struct io_conn *to = piece->to;
    uint64_t at_us = world.now_us + world_delay_us();
    if (at_us > to->last_arrival_us)
        to->last_arrival_us = at_us;
    event_in(&piece->event, to->last_arrival_us - world.now_us);
}

static void send_reset(struct io_conn *to)
{
    if (to->reset_is_coming)
        return;
    to->reset_is_coming = true;
    send_piece(new_piece(to, PIECE_RESET, 0));
}

void conn_cut(struct io_conn *conn)
{
    struct io_conn *peer = conn->peer;
    arrive_reset(conn);
    if (peer) {
        send_reset(peer);
        tell_writable(peer, world_delay_us());
    }
}

/* ---- connecting ------------------------------------------------------------------------------ */

static struct io_conn *new_conn(struct io_loop *loop)
{
    struct io_conn *conn = calloc(1, sizeof *conn);
    if (!conn)
        return NULL;
    conn->loop = loop;
    conn->id = world_new_id();
    conn->retell_us = 1;
    event_init(&conn->read_event, EVENT_READ, loop, conn->id, on_read_event);
    event_init(&conn->write_event, EVENT_WRITE, loop, conn->id, on_write_event);
    event_init(&conn->network_event, EVENT_CONNECT, NULL, conn->id, NULL);
    list_init(&conn->queued);
    list_init(&conn->incoming);
    list_push_back(&loop->conns, &conn->link);
    return conn;
}

static void on_refused(struct event *event)
{
    struct io_conn *conn = list_entry(event, struct io_conn, network_event);
    conn->connecting = false;
    conn->failed = true;
    conn->error = -ECONNREFUSED;
    event_in(&conn->read_event, 0);
}

static void refuse(struct io_conn *conn)
{
    conn->network_event.run = on_refused;
    event_in(&conn->network_event, world_delay_us());
}

static void establish(struct io_conn *client, struct io_conn *server)
{
    uint64_t delay_us = world_delay_us();
    client->peer = server;
    server->peer = client;
    memcpy(server->own_address, client->peer_address, sizeof server->own_address);
    memcpy(server->peer_address, client->own_address, sizeof server->peer_address);
    client->last_arrival_us = world.now_us + delay_us; /* no byte comes before the connection */
    event_in(&client->write_event, delay_us);
}

/* The client's first packet gets there. With a full queue it is lost: connecting then hangs, as it
 * does with a server that is stopped for long. */
static void on_connect(struct event *event)
{
    struct io_conn *client = list_entry(event, struct io_conn, network_event);
    struct io_listener *listener = listener_find(client->peer_address);
    if (!listener) {
        refuse(client);
        return;
    }
    struct io_conn *server = new_conn(listener->loop);
    CW_ASSERT(server);
    if (listener_enqueue(listener, server))
        establish(client, server);
    else
        io_close(&server);
}

int io_connect(struct io_loop *loop, const char *address, io_event_callback callback, void *context,
               struct io_conn **ret_conn)
{
    if (strlen(address) >= IO_ADDRESS_LEN_MAX)
        return -ENAMETOOLONG;
    struct io_conn *conn = new_conn(loop);
    if (!conn)
        return -ENOMEM;
    conn->callback = callback;
    conn->context = context;
    conn->connecting = conn->reading = true;
    snprintf(conn->peer_address, sizeof conn->peer_address, "%s", address);
    snprintf(conn->own_address, sizeof conn->own_address, "sim-client:%llu",
             (unsigned long long)conn->id);
    conn->network_event.run = on_connect;
    event_in(&conn->network_event, world_delay_us());
    *ret_conn = conn;
    return 0;
}

/* ---- use ------------------------------------------------------------------------------------- */

void io_conn_set(struct io_conn *conn, io_event_callback callback, void *context)
{
    conn->callback = callback;
    conn->context = context;
    io_watch_reading(conn, true);
}

void io_watch_reading(struct io_conn *conn, bool watch)
{
    conn->reading = watch;
    tell_readable(conn, 1);
}

static void acknowledge(struct io_conn *conn, size_t len)
{
    if (!conn->peer)
        return;
    conn->peer->unread -= (uint32_t)len;
    tell_writable(conn->peer, world_delay_us());
}

/* Cuts a count short now and then, at a random place: 1 .. count. */
static size_t maybe_split(size_t count)
{
    if (count < 2 || !world_chance(world.options.split_permille, 1000))
        return count;
    return 1 + (size_t)random_below(&world.random, count);
}

ssize_t io_read(struct io_conn *conn, void *bytes, size_t len)
{
    CW_ASSERT(len > 0);
    if (conn->connecting)
        return -EAGAIN;
    conn->retell_us = 1;
    if (conn->in.len == 0)
        return conn->error ? conn->error : conn->at_end ? 0 : -EAGAIN;
    event_cancel(&conn->read_event);
    tell_readable(conn, 1);
    if (world_chance(world.options.split_permille, 8000))
        return -EAGAIN; /* a false alarm, as kernels may raise them */
    size_t count = maybe_split(len < conn->in.len ? len : conn->in.len);
    memcpy(bytes, buffer_bytes(&conn->in), count);
    buffer_take(&conn->in, count);
    acknowledge(conn, count);
    return (ssize_t)count;
}

static size_t total_len(const struct iovec *parts, int part_count)
{
    size_t len = 0;
    for (int i = 0; i < part_count; i++)
        len += parts[i].iov_len;
    return len;
}

/* Copies bytes [skip, skip + len) of the parts. */
static void gather(const struct iovec *parts, size_t skip, char *to, size_t len)
{
    for (; len > 0; parts++) {
        if (skip >= parts->iov_len) {
            skip -= parts->iov_len;
            continue;
        }
        size_t count = parts->iov_len - skip < len ? parts->iov_len - skip : len;
        memcpy(to, (const char *)parts->iov_base + skip, count);
        to += count;
        len -= count;
        skip = 0;
    }
}

/* In one piece, or now and then in two that travel apart. */
static void transmit(struct io_conn *to, const struct iovec *parts, size_t len)
{
    size_t first_len = maybe_split(len);
    struct piece *first = new_piece(to, PIECE_BYTES, first_len);
    gather(parts, 0, first->bytes, first_len);
    send_piece(first);
    if (first_len == len)
        return;
    struct piece *rest = new_piece(to, PIECE_BYTES, len - first_len);
    gather(parts, first_len, rest->bytes, len - first_len);
    send_piece(rest);
}

/* How much of an offer is taken: what there is room for, or less, even nothing. */
static size_t accept_len(const struct io_conn *conn, size_t offered)
{
    uint32_t window = world.options.window_bytes;
    size_t room = window > conn->unread ? window - conn->unread : 0;
    size_t count = !conn->peer || offered < room ? offered : room;
    if (world_chance(world.options.split_permille, 1000))
        count = (size_t)random_below(&world.random, count + 1);
    return count;
}

ssize_t io_write(struct io_conn *conn, const struct iovec *parts, int part_count)
{
    size_t offered = total_len(parts, part_count);
    if (conn->error)
        return conn->error;
    if (conn->connecting)
        return -EAGAIN;
    size_t count = accept_len(conn, offered);
    if (count > 0 && conn->peer) {
        conn->unread += (uint32_t)count;
        transmit(conn->peer, parts, count);
    } else if (count > 0) { /* nobody there any more: the answer to these bytes is a reset */
        send_reset(conn);
    }
    if (count < offered) {
        conn->writing = true;
        tell_writable(conn, world_delay_us());
    }
    return count > 0 || offered == 0 ? (ssize_t)count : -EAGAIN;
}

void io_peer_address(const struct io_conn *conn, char ret_text[static IO_ADDRESS_LEN_MAX])
{
    memcpy(ret_text, conn->peer_address, IO_ADDRESS_LEN_MAX);
}

void io_own_address(const struct io_conn *conn, char ret_text[static IO_ADDRESS_LEN_MAX])
{
    memcpy(ret_text, conn->own_address, IO_ADDRESS_LEN_MAX);
}

/* ---- closing --------------------------------------------------------------------------------- */

/* Whether bytes of the peer will come to where nobody is any more. */
static bool expects_bytes(struct io_conn *conn)
{
    for (struct list *link = conn->incoming.next; link != &conn->incoming; link = link->next)
        if (list_entry(link, struct piece, link)->kind == PIECE_BYTES)
            return true;
    return false;
}

/* The bytes on their way get there; then the other end sees the end, or, as TCP has it when bytes
 * were left unread here, a reset. Bytes that come too late are answered by a reset after the end.
 */
static void say_goodbye(struct io_conn *conn)
{
    struct io_conn *peer = conn->peer;
    if (!peer)
        return;
    unlink_peer(conn);
    if (conn->in.len > 0)
        send_reset(peer);
    else
        send_piece(new_piece(peer, PIECE_END, 0));
    if (expects_bytes(conn))
        send_reset(peer);
    tell_writable(peer, world_delay_us());
}

void io_close(struct io_conn **conn)
{
    struct io_conn *old = *conn;
    if (!old)
        return;
    say_goodbye(old);
    while (!list_is_empty(&old->incoming))
        free_piece(list_entry(old->incoming.next, struct piece, link));
    event_cancel(&old->read_event);
    event_cancel(&old->write_event);
    event_cancel(&old->network_event);
    buffer_release(&old->in);
    list_remove(&old->link);
    free(old);
    *conn = NULL;
}
