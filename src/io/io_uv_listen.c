/*
 * Listeners of the libuv implementation: a listening socket, or a name inside the process whose
 * connecting threads signal through an async handle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/address.h"
#include "io/inproc.h"
#include "io/io_uv_internal.h"
#include "io/socket.h"

enum {
    ACCEPTS_A_TURN = 64, /* so that a flood of clients leaves time for those who are here */
    REST_MS = 100,       /* no descriptors, no memory: how long until the next try */
};

/* libuv needs the handle's memory longer than the listener lives. */
struct doorbell {
    uv_async_t uv;
    struct io_listener *listener;
};

struct io_listener {
    struct io_loop *loop;
    struct list link;
    io_accept_callback callback;
    void *context;
    struct watch *watch; /* a socket, or ... */
    struct inproc *inproc;
    struct doorbell *doorbell;
    struct io_timer *rest;
    bool paused, resting;
    uint64_t rest_count;
    dev_t unix_device; /* of the socket's file, to remove no other one */
    ino_t unix_inode;
    struct address address;
    char text[IO_ADDRESS_LEN_MAX];
};

/* ---- accepting ------------------------------------------------------------------------------- */

static void want(struct io_listener *listener)
{
    bool open = !listener->paused && !listener->resting;
    if (listener->watch)
        watch_want(listener->watch, open ? UV_READABLE : 0);
    else if (open)
        uv_async_send(&listener->doorbell->uv); /* those who came meanwhile */
}

static void rest(struct io_listener *listener)
{
    listener->resting = true;
    listener->rest_count++;
    io_timer_start(listener->rest, REST_MS);
    want(listener);
}

static void on_rested(void *context)
{
    struct io_listener *listener = context;
    listener->resting = false;
    want(listener);
}

/* The one client that gave up or was lost; the next may be fine (accept(2)). */
static bool is_error_of_client(int error)
{
    switch (error) {
    case -ECONNABORTED:
    case -EINTR:
    case -EPROTO:
    case -EPERM:
    case -ENETDOWN:
    case -ENOPROTOOPT:
    case -EHOSTDOWN:
    case -ENONET:
    case -EHOSTUNREACH:
    case -EOPNOTSUPP:
    case -ENETUNREACH: return true;
    default: return false;
    }
}

static int next_client(struct io_listener *listener)
{
    return listener->inproc ? inproc_accept(listener->inproc) : socket_accept(listener->watch->fd);
}

/* True when there may be more to accept. The callback may close or pause the listener. */
static bool accept_one(struct io_listener *listener)
{
    struct io_loop *loop = listener->loop;
    int fd = next_client(listener);
    if (fd == -EAGAIN)
        return false;
    if (is_error_of_client(fd))
        return true;
    struct io_conn *conn = fd < 0 ? NULL : conn_adopt(loop, fd);
    if (!conn) {
        rest(listener);
        return false;
    }
    loop->accepting = listener;
    listener->callback(listener->context, conn);
    return loop->accepting && !listener->paused;
}

static void on_clients(void *owner, int events)
{
    struct io_listener *listener = owner;
    (void)events;
    for (int i = 0; i < ACCEPTS_A_TURN; i++)
        if (!accept_one(listener))
            return;
    want(listener); /* rings the doorbell again; a socket stays readable by itself */
}

static void on_doorbell(uv_async_t *uv)
{
    struct doorbell *doorbell = uv->data;
    struct io_listener *listener = doorbell->listener;
    if (listener && !listener->paused && !listener->resting)
        on_clients(listener, UV_READABLE);
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static void ring(void *context)
{
    struct doorbell *doorbell = context;
    uv_async_send(&doorbell->uv);
}

static int open_inproc(struct io_listener *listener)
{
    struct doorbell *doorbell = calloc(1, sizeof *doorbell);
    if (!doorbell)
        return -ENOMEM;
    int rc = uv_async_init(&listener->loop->uv, &doorbell->uv, on_doorbell);
    if (rc != 0) {
        free(doorbell);
        return rc;
    }
    doorbell->uv.data = doorbell;
    doorbell->listener = listener;
    listener->doorbell = doorbell;
    return inproc_open(listener->address.host, ring, doorbell, &listener->inproc);
}

static void note_unix_file(struct io_listener *listener)
{
    struct stat status;
    if (listener->address.kind == ADDRESS_UNIX && lstat(listener->address.host, &status) == 0) {
        listener->unix_device = status.st_dev;
        listener->unix_inode = status.st_ino;
    }
}

/* Another process may have put its own socket there since. */
static void remove_unix_file(const struct io_listener *listener)
{
    struct stat status;
    if (listener->address.kind == ADDRESS_UNIX && listener->unix_inode != 0 &&
        lstat(listener->address.host, &status) == 0 && status.st_dev == listener->unix_device &&
        status.st_ino == listener->unix_inode)
        unlink(listener->address.host);
}

static int open_socket(struct io_listener *listener)
{
    int fd;
    int rc = socket_listen(&listener->address, &fd);
    if (rc != 0)
        return rc;
    note_unix_file(listener);
    listener->watch = watch_open(listener->loop, fd, on_clients, listener);
    if (!listener->watch) {
        close(fd);
        return -ENOMEM;
    }
    want(listener);
    return 0;
}

static int open_listener(struct io_listener *listener)
{
    int rc = io_timer_create(listener->loop, on_rested, listener, &listener->rest);
    if (rc != 0)
        return rc;
    rc = listener->address.kind == ADDRESS_INPROC ? open_inproc(listener) : open_socket(listener);
    address_format(&listener->address, listener->text);
    return rc;
}

int io_listen(struct io_loop *loop, const char *address, io_accept_callback callback, void *context,
              struct io_listener **ret_listener)
{
    struct address parsed;
    int rc = address_parse(address, &parsed, NULL);
    if (rc != 0)
        return rc;
    struct io_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return -ENOMEM;
    listener->loop = loop;
    listener->callback = callback;
    listener->context = context;
    listener->address = parsed;
    list_push_back(&loop->listeners, &listener->link);
    rc = open_listener(listener);
    if (rc != 0) {
        io_listener_close(&listener);
        return rc;
    }
    *ret_listener = listener;
    return 0;
}

const char *io_listener_address(const struct io_listener *listener)
{
    return listener->text;
}

uint64_t io_listener_rest_count(const struct io_listener *listener)
{
    return listener->rest_count;
}

void io_listener_pause(struct io_listener *listener, bool pause)
{
    listener->paused = pause;
    want(listener);
}

static void free_doorbell(uv_handle_t *handle)
{
    free(handle->data);
}

static void close_doorbell(struct doorbell *doorbell)
{
    if (!doorbell)
        return;
    doorbell->listener = NULL;
    uv_close((uv_handle_t *)&doorbell->uv, free_doorbell);
}

void io_listener_close(struct io_listener **listener)
{
    struct io_listener *old = *listener;
    if (!old)
        return;
    remove_unix_file(old);
    inproc_close(&old->inproc); /* first: from now on no other thread rings the doorbell */
    close_doorbell(old->doorbell);
    watch_close(&old->watch);
    io_timer_destroy(&old->rest);
    list_remove(&old->link);
    if (old->loop->accepting == old)
        old->loop->accepting = NULL;
    free(old);
    *listener = NULL;
}

void listeners_close(struct io_loop *loop)
{
    while (!list_is_empty(&loop->listeners)) {
        struct io_listener *listener = list_entry(loop->listeners.next, struct io_listener, link);
        io_listener_close(&listener);
    }
}

int io_address_is_free(const char *address)
{
    struct address parsed;
    int rc = address_parse(address, &parsed, NULL);
    if (rc != 0)
        return rc;
    return parsed.kind == ADDRESS_INPROC ? inproc_is_free(parsed.host)
                                         : socket_address_is_free(&parsed);
}
