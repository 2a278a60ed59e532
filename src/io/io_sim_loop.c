/*
 * The loops of the simulation, their clock, posts and timers.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "io/io_sim_internal.h"

/* Where the clocks stand at virtual time 0: far from 0, which is no time of any machine that is up,
 * and at the start of 2025. */
static const uint64_t NOW_AT_START_MS = 3600 * 1000;
static const uint64_t WALL_AT_START_MS = 1735689600000;

struct post {
    struct event event;
    struct list link;
    io_callback callback;
    void *context;
};

struct io_timer {
    struct event event;
    struct list link;
    io_callback callback;
    void *context;
};

/* ---- turns ----------------------------------------------------------------------------------- */

void io_on_turn_end(struct io_loop *loop, io_callback callback, void *context)
{
    loop->turn_end = callback;
    loop->turn_end_context = context;
}

void loop_begin_turn(struct io_loop *loop)
{
    if (list_is_empty(&loop->turn))
        list_push_back(&world.turns, &loop->turn);
}

void loop_end_turn(struct io_loop *loop)
{
    if (list_is_empty(&loop->turn))
        return;
    list_remove(&loop->turn);
    if (loop->turn_end)
        loop->turn_end(loop->turn_end_context);
}

void loop_hold(struct io_loop *loop, struct event *event)
{
    list_push_back(&loop->held, &event->held);
}

void io_loop_run(struct io_loop *loop)
{
    world_run(UINT64_MAX, &loop->stop);
    loop->stop = false;
}

void io_loop_stop(struct io_loop *loop)
{
    loop->stop = true;
}

uint64_t io_now_ms(const struct io_loop *loop)
{
    return NOW_AT_START_MS + world.now_us / 1000;
}

uint64_t io_now_ns(const struct io_loop *loop)
{
    return (NOW_AT_START_MS * 1000 + world.now_us) * 1000;
}

uint64_t io_wall_ms(const struct io_loop *loop)
{
    return WALL_AT_START_MS + world.now_us / 1000;
}

/* ---- posts ----------------------------------------------------------------------------------- */

static void drop_post(struct post *post)
{
    event_cancel(&post->event);
    list_remove(&post->link);
    free(post);
}

static void on_post(struct event *event)
{
    struct post *post = list_entry(event, struct post, event);
    io_callback callback = post->callback;
    void *context = post->context;
    drop_post(post);
    callback(context);
}

int io_post(struct io_loop *loop, io_callback callback, void *context)
{
    struct post *post = malloc(sizeof *post);
    if (!post)
        return -ENOMEM;
    *post = (struct post){.callback = callback, .context = context};
    event_init(&post->event, EVENT_POST, loop, world_new_id(), on_post);
    event_in(&post->event, 1);
    list_push_back(&loop->posts, &post->link);
    return 0;
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void on_timer(struct event *event)
{
    struct io_timer *timer = list_entry(event, struct io_timer, event);
    timer->callback(timer->context);
}

int io_timer_create(struct io_loop *loop, io_callback callback, void *context,
                    struct io_timer **ret_timer)
{
    struct io_timer *timer = malloc(sizeof *timer);
    if (!timer)
        return -ENOMEM;
    *timer = (struct io_timer){.callback = callback, .context = context};
    event_init(&timer->event, EVENT_TIMER, loop, world_new_id(), on_timer);
    list_push_back(&loop->timers, &timer->link);
    *ret_timer = timer;
    return 0;
}

void io_timer_destroy(struct io_timer **timer)
{
    if (!*timer)
        return;
    event_cancel(&(*timer)->event);
    list_remove(&(*timer)->link);
    free(*timer);
    *timer = NULL;
}

void io_timer_start(struct io_timer *timer, uint64_t delay_ms)
{
    event_in(&timer->event, (delay_ms ? delay_ms : 1) * 1000);
}

void io_timer_stop(struct io_timer *timer)
{
    event_cancel(&timer->event);
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

int io_loop_create(struct io_loop **ret_loop)
{
    CW_ASSERT(world.exists); /* io_sim_begin() comes first */
    struct io_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return -ENOMEM;
    list_init(&loop->turn);
    list_init(&loop->held);
    list_init(&loop->conns);
    list_init(&loop->listeners);
    list_init(&loop->timers);
    list_init(&loop->posts);
    list_push_back(&world.loops, &loop->link);
    *ret_loop = loop;
    return 0;
}

static void close_net(struct io_loop *loop)
{
    while (!list_is_empty(&loop->listeners)) {
        struct io_listener *listener = list_entry(loop->listeners.next, struct io_listener, link);
        io_listener_close(&listener);
    }
    while (!list_is_empty(&loop->conns)) {
        struct io_conn *conn = list_entry(loop->conns.next, struct io_conn, link);
        io_close(&conn);
    }
}

void io_loop_destroy(struct io_loop **loop)
{
    struct io_loop *old = *loop;
    if (!old)
        return;
    close_net(old);
    while (!list_is_empty(&old->timers)) {
        struct io_timer *timer = list_entry(old->timers.next, struct io_timer, link);
        io_timer_destroy(&timer);
    }
    while (!list_is_empty(&old->posts))
        drop_post(list_entry(old->posts.next, struct post, link));
    list_remove(&old->turn);
    list_remove(&old->link);
    free(old);
    *loop = NULL;
}
