/*
 * Connections of the libuv implementation. A connection is on its way (resolving, then connecting,
 * maybe to one address after another), open, or failed with an error; closing frees it at once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "io/address.h"
#include "io/inproc.h"
#include "io/io_uv_internal.h"
#include "io/socket.h"

/* A look-up of a host name and the addresses that it found. libuv needs its memory until the
 * callback; a connection closed before that leaves it behind with conn NULL. */
struct lookup {
    uv_getaddrinfo_t uv;
    struct io_conn *conn;
    struct addrinfo *found;      /* NULL until found */
    const struct addrinfo *next; /* to be tried next */
};

struct io_conn {
    struct io_loop *loop;
    struct list link;
    struct list failed;
    io_event_callback callback; /* NULL: accepted, and nobody's yet */
    void *context;
    struct watch *watch;   /* NULL: resolving, or failed */
    struct lookup *lookup; /* while connecting to a host by name */
    int error;             /* what reading and writing give, once it is final */
    bool connecting, reading, writing;
};

/* ---- events ---------------------------------------------------------------------------------- */

static void want(struct io_conn *conn)
{
    if (conn->connecting || !conn->watch)
        return;
    watch_want(conn->watch, (conn->reading ? UV_READABLE : 0) | (conn->writing ? UV_WRITABLE : 0));
}

static void drop_lookup(struct io_conn *conn)
{
    struct lookup *lookup = conn->lookup;
    conn->lookup = NULL;
    if (!lookup)
        return;
    lookup->conn = NULL;
    if (!lookup->found) { /* its callback frees it, sooner when it can be cancelled */
        uv_cancel((uv_req_t *)&lookup->uv);
        return;
    }
    uv_freeaddrinfo(lookup->found);
    free(lookup);
}

/* Told at the end of the turn: io_connect() itself must not call back. */
static void fail(struct io_conn *conn, int error)
{
    drop_lookup(conn);
    watch_close(&conn->watch);
    conn->connecting = false;
    conn->error = error;
    list_push_back(&conn->loop->failed, &conn->failed);
    loop_wake(conn->loop);
}

void conns_tell_failed(struct io_loop *loop)
{
    struct list taken;
    list_init(&taken);
    list_move_all(&taken, &loop->failed);
    while (!list_is_empty(&taken)) {
        struct io_conn *conn = list_entry(taken.next, struct io_conn, failed);
        list_remove(&conn->failed);
        conn->callback(conn->context, IO_READABLE);
    }
}

static void connect_next(struct io_conn *conn, int error);

static void on_connected(struct io_conn *conn)
{
    int rc = socket_connect_result(conn->watch->fd);
    if (rc != 0) {
        watch_close(&conn->watch);
        connect_next(conn, rc);
        return;
    }
    drop_lookup(conn);
    conn->connecting = false;
    want(conn);
    conn->callback(conn->context, IO_WRITABLE);
}

static void on_ready(void *owner, int events)
{
    struct io_conn *conn = owner;
    int told = events & UV_READABLE ? IO_READABLE : 0;
    if (conn->connecting) {
        on_connected(conn);
        return;
    }
    if (events & UV_WRITABLE) {
        told |= IO_WRITABLE;
        conn->writing =
            false; /* until the next short write: mostly one made by this very callback */
        want(conn);
    }
    conn->callback(conn->context, told);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static int watch_connecting(struct io_conn *conn, int fd)
{
    conn->watch = watch_open(conn->loop, fd, on_ready, conn);
    if (!conn->watch) {
        close(fd);
        return -ENOMEM;
    }
    watch_want(conn->watch, UV_WRITABLE);
    return 0;
}

static int connect_to(struct io_conn *conn, const struct sockaddr *sockaddr, socklen_t len)
{
    int fd;
    int rc = socket_connect(sockaddr, len, &fd);
    return rc == 0 ? watch_connecting(conn, fd) : rc;
}

/* Goes on with the next address of the host after one failed with `error`. */
static void connect_next(struct io_conn *conn, int error)
{
    while (conn->lookup && conn->lookup->next) {
        const struct addrinfo *info = conn->lookup->next;
        conn->lookup->next = info->ai_next;
        error = connect_to(conn, info->ai_addr, info->ai_addrlen);
        if (error == 0)
            return;
    }
    fail(conn, error);
}

static int error_of_lookup(int status)
{
    if (status == UV_EAI_MEMORY)
        return -ENOMEM;
    return status == UV_EAI_AGAIN ? -ETIMEDOUT : -EHOSTUNREACH;
}

static void on_lookup(uv_getaddrinfo_t *uv, int status, struct addrinfo *found)
{
    struct lookup *lookup = uv->data;
    struct io_conn *conn = lookup->conn;
    if (!conn || status != 0) {
        uv_freeaddrinfo(found);
        free(lookup);
        if (!conn)
            return;
        conn->lookup = NULL;
        fail(conn, error_of_lookup(status));
        return;
    }
    lookup->found = found;
    lookup->next = found;
    connect_next(conn, -EHOSTUNREACH);
}

static int start_lookup(struct io_conn *conn, const struct address *address)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct lookup *lookup = calloc(1, sizeof *lookup);
    char port[8];
    if (!lookup)
        return -ENOMEM;
    snprintf(port, sizeof port, "%u", address->port);
    int rc = uv_getaddrinfo(&conn->loop->uv, &lookup->uv, on_lookup, address->host, port, &hints);
    if (rc != 0) {
        free(lookup);
        return -EHOSTUNREACH; /* the name is none that could be resolved */
    }
    lookup->uv.data = lookup;
    lookup->conn = conn;
    conn->lookup = lookup;
    return 0;
}

static int start_connecting(struct io_conn *conn, const struct address *address)
{
    struct sockaddr_storage sockaddr;
    socklen_t len;
    if (address->kind == ADDRESS_INPROC) {
        int fd = inproc_connect(address->host);
        return fd < 0 ? fd : watch_connecting(conn, fd);
    }
    if (address_to_sockaddr(address, &sockaddr, &len) != 0)
        return start_lookup(conn, address);
    return connect_to(conn, (const struct sockaddr *)&sockaddr, len);
}

static struct io_conn *new_conn(struct io_loop *loop)
{
    struct io_conn *conn = calloc(1, sizeof *conn);
    if (!conn)
        return NULL;
    conn->loop = loop;
    list_push_back(&loop->conns, &conn->link);
    list_init(&conn->failed);
    return conn;
}

int io_connect(struct io_loop *loop, const char *address, io_event_callback callback, void *context,
               struct io_conn **ret_conn)
{
    struct address parsed;
    int rc = address_parse(address, &parsed, NULL);
    if (rc != 0)
        return rc;
    if (parsed.kind == ADDRESS_TCP && parsed.port == 0)
        return -EINVAL;
    struct io_conn *conn = new_conn(loop);
    if (!conn)
        return -ENOMEM;
    conn->callback = callback;
    conn->context = context;
    conn->connecting = conn->reading = true;
    rc = start_connecting(conn, &parsed);
    if (rc != 0)
        fail(conn, rc);
    *ret_conn = conn;
    return 0;
}

/* ---- use ------------------------------------------------------------------------------------- */

struct io_conn *conn_adopt(struct io_loop *loop, int fd)
{
    struct io_conn *conn = new_conn(loop);
    if (conn)
        conn->watch = watch_open(loop, fd, on_ready, conn);
    if (conn && conn->watch)
        return conn;
    close(fd);
    io_close(&conn);
    return NULL;
}

void io_conn_set(struct io_conn *conn, io_event_callback callback, void *context)
{
    conn->callback = callback;
    conn->context = context;
    io_watch_reading(conn, true);
}

void io_watch_reading(struct io_conn *conn, bool watch)
{
    conn->reading = watch;
    want(conn);
}

/* An error is kept: the kernel tells it only once. */
ssize_t io_read(struct io_conn *conn, void *bytes, size_t len)
{
    if (conn->error)
        return conn->error;
    if (conn->connecting)
        return -EAGAIN;
    ssize_t count = socket_read(conn->watch->fd, bytes, len);
    if (count < 0 && count != -EAGAIN)
        conn->error = (int)count;
    return count;
}

static size_t total_len(const struct iovec *parts, int part_count)
{
    size_t len = 0;
    for (int i = 0; i < part_count; i++)
        len += parts[i].iov_len;
    return len;
}

/* A failed write is not kept: bytes that the peer sent before it broke off can still be read. */
ssize_t io_write(struct io_conn *conn, const struct iovec *parts, int part_count)
{
    size_t len = total_len(parts, part_count);
    if (conn->error)
        return conn->error;
    if (conn->connecting)
        return -EAGAIN;
    if (len == 0)
        return 0;
    ssize_t count = socket_write(conn->watch->fd, parts, part_count);
    if (count == -EAGAIN || (count >= 0 && (size_t)count < len)) {
        conn->writing = true;
        want(conn);
    }
    return count;
}

typedef int (*name_getter)(int fd, struct sockaddr *sockaddr, socklen_t *len);

static void format_name(const struct io_conn *conn, name_getter get, char *ret_text)
{
    struct sockaddr_storage sockaddr = {0};
    socklen_t len = sizeof sockaddr;
    if (conn->watch && get(conn->watch->fd, (struct sockaddr *)&sockaddr, &len) == 0)
        address_format_sockaddr(&sockaddr, len, ret_text);
    else
        snprintf(ret_text, IO_ADDRESS_LEN_MAX, "?");
}

void io_peer_address(const struct io_conn *conn, char ret_text[static IO_ADDRESS_LEN_MAX])
{
    format_name(conn, getpeername, ret_text);
}

void io_own_address(const struct io_conn *conn, char ret_text[static IO_ADDRESS_LEN_MAX])
{
    format_name(conn, getsockname, ret_text);
}

void io_close(struct io_conn **conn)
{
    if (!*conn)
        return;
    drop_lookup(*conn);
    watch_close(&(*conn)->watch);
    list_remove(&(*conn)->failed);
    list_remove(&(*conn)->link);
    free(*conn);
    *conn = NULL;
}

void conns_close(struct io_loop *loop)
{
    while (!list_is_empty(&loop->conns)) {
        struct io_conn *conn = list_entry(loop->conns.next, struct io_conn, link);
        io_close(&conn);
    }
}
