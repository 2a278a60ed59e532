/*
 * The listeners of the simulation. Addresses are names; only "…:0" is looked into, for a port.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io_sim_internal.h"

enum { QUEUE_LEN_MAX = 1024 };

/* ---- finding --------------------------------------------------------------------------------- */

/* The n-th that listens on an address and lives, or NULL. */
static struct io_listener *nth_at(const char *address, uint64_t n)
{
    list_for_each (loop_link, &world.loops) {
        struct io_loop *loop = list_entry(loop_link, struct io_loop, link);
        list_for_each (link, &loop->listeners) {
            struct io_listener *listener = list_entry(link, struct io_listener, link);
            if (strcmp(listener->address, address) == 0 && !listener->killed && n-- == 0)
                return listener;
        }
    }
    return NULL;
}

/* As the kernel spreads clients over the sockets that share a port. */
struct io_listener *listener_find(const char *address)
{
    uint64_t count = 0;
    while (nth_at(address, count))
        count++;
    return count ? nth_at(address, random_below(&world.random, count)) : NULL;
}

int io_address_is_free(const char *address)
{
    return nth_at(address, 0) ? -EADDRINUSE : 0;
}

/* ---- accepting ------------------------------------------------------------------------------- */

static void leave_queue(struct io_conn *conn)
{
    if (!conn->listener)
        return;
    conn->listener->queue_len--;
    conn->listener = NULL;
    list_remove(&conn->queued);
}

static void on_accept(struct event *event)
{
    struct io_conn *conn = list_entry(event, struct io_conn, network_event);
    struct io_listener *listener = conn->listener;
    if (listener->paused)
        return; /* resuming sets the event again */
    leave_queue(conn);
    listener->callback(listener->context, conn);
}

bool listener_enqueue(struct io_listener *listener, struct io_conn *conn)
{
    if (listener->queue_len == QUEUE_LEN_MAX)
        return false;
    listener->queue_len++;
    conn->listener = listener;
    list_push_back(&listener->queue, &conn->queued);
    event_init(&conn->network_event, EVENT_ACCEPT, listener->loop, conn->id, on_accept);
    event_in(&conn->network_event, 0);
    return true;
}

void io_listener_pause(struct io_listener *listener, bool pause)
{
    listener->paused = pause;
    if (pause)
        return;
    list_for_each (link, &listener->queue) {
        struct io_conn *conn = list_entry(link, struct io_conn, queued);
        event_in(&conn->network_event, 1);
    }
}

uint64_t io_listener_rest_count(const struct io_listener *listener)
{
    return 0; /* descriptors do not run out here */
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static bool ends_with_port_zero(const char *address)
{
    size_t len = strlen(address);
    return len > 2 && strcmp(address + len - 2, ":0") == 0;
}

static void set_address(struct io_listener *listener, const char *address)
{
    int len = (int)strlen(address);
    if (ends_with_port_zero(address))
        snprintf(listener->address, sizeof listener->address, "%.*s:%u", len - 2, address,
                 ++world.last_port);
    else
        snprintf(listener->address, sizeof listener->address, "%s", address);
}

static bool may_be_shared(const char *address)
{
    return strncmp(address, "unix:", 5) != 0 && strncmp(address, "inproc:", 7) != 0;
}

int io_listen(struct io_loop *loop, const char *address, io_accept_callback callback, void *context,
              struct io_listener **ret_listener)
{
    if (strlen(address) >= IO_ADDRESS_LEN_MAX - sizeof "65535")
        return -ENAMETOOLONG;
    if (!may_be_shared(address) && nth_at(address, 0))
        return -EADDRINUSE;
    struct io_listener *listener = calloc(1, sizeof *listener);
    if (!listener)
        return -ENOMEM;
    listener->loop = loop;
    listener->callback = callback;
    listener->context = context;
    list_init(&listener->queue);
    list_push_back(&loop->listeners, &listener->link);
    set_address(listener, address);
    *ret_listener = listener;
    return 0;
}

const char *io_listener_address(const struct io_listener *listener)
{
    return listener->address;
}

void io_listener_close(struct io_listener **listener)
{
    struct io_listener *old = *listener;
    if (!old)
        return;
    while (!list_is_empty(&old->queue)) { /* the kernel resets them */
        struct io_conn *conn = list_entry(old->queue.next, struct io_conn, queued);
        leave_queue(conn);
        conn_cut(conn);
        io_close(&conn);
    }
    list_remove(&old->link);
    free(old);
    *listener = NULL;
}
