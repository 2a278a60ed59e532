#include <stdlib.h>
#include <unistd.h>

#include "io/io_uv_internal.h"

static void mark(struct watch *watch)
{
    if (watch->wanted != watch->armed && list_is_empty(&watch->dirty))
        list_push_back(&watch->loop->dirty, &watch->dirty);
}

void watch_want(struct watch *watch, int events)
{
    watch->wanted = events;
    mark(watch);
}

/* On an error libuv stops the handle before it tells. We take it as "ready for all that is wanted",
 * and arm it again at the end of the turn: the socket itself gives the error to whoever reads or
 * writes, after the bytes that came before it. Events no longer wanted by now are dropped. */
static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    if (status < 0) {
        watch->armed = 0;
        events = UV_READABLE | UV_WRITABLE;
        mark(watch);
    }
    events &= watch->wanted;
    if (events)
        watch->ready(watch->owner, events);
}

struct watch *watch_open(struct io_loop *loop, int fd, void (*ready)(void *owner, int events),
                         void *owner)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch)
        return NULL;
    *watch = (struct watch){.loop = loop, .fd = fd, .ready = ready, .owner = owner};
    if (uv_poll_init(&loop->uv, &watch->poll, fd) != 0) {
        free(watch);
        return NULL;
    }
    watch->poll.data = watch;
    list_init(&watch->dirty);
    return watch;
}

static void free_watch(uv_handle_t *handle)
{
    free(handle->data);
}

/* uv_close() takes the descriptor out of the poll set, and out of the events of this turn that are
 * still to be told, so it can be closed, and its number used again, at once. */
void watch_close(struct watch **watch)
{
    if (!*watch)
        return;
    list_remove(&(*watch)->dirty);
    uv_close((uv_handle_t *)&(*watch)->poll, free_watch);
    close((*watch)->fd);
    *watch = NULL;
}

static void arm(struct watch *watch)
{
    if (watch->wanted == watch->armed)
        return;
    watch->armed = watch->wanted;
    if (watch->armed)
        uv_poll_start(&watch->poll, watch->armed, on_poll);
    else
        uv_poll_stop(&watch->poll);
}

void watches_arm(struct io_loop *loop)
{
    while (!list_is_empty(&loop->dirty)) {
        struct watch *watch = list_entry(loop->dirty.next, struct watch, dirty);
        list_remove(&watch->dirty);
        arm(watch);
    }
}
