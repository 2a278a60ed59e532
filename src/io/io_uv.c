/*
 * io.h over libuv: the loop, its clock, posts and timers. The other parts are io_uv_watch.c
 * (descriptors), io_uv_conn.c and io_uv_listen.c.
 *
 * One turn in libuv's order: timers, then the prepare handle, then the poll (sleep, events), then
 * the memory of closed handles. The end of our turn is the prepare handle: it comes after the
 * events of one round and the timers of the next, and right before the sleep, so one place catches
 * the output of both. Posted calls run there as well, when no event is half done: that is what
 * "between two turns" means. The check handle would come before the timers and is not needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "io/io_uv_internal.h"

struct post {
    struct list link;
    io_callback callback;
    void *context;
};

struct io_timer {
    uv_timer_t uv;
    struct io_loop *loop;
    struct list link;
    io_callback callback;
    void *context;
    uint64_t due_ms;
};

/* ---- posts ----------------------------------------------------------------------------------- */

void loop_wake(struct io_loop *loop)
{
    uv_async_send(&loop->wake);
}

static void on_wake(uv_async_t *wake)
{
    struct io_loop *loop = wake->data;
    loop->woken = true;
    if (atomic_exchange(&loop->stop, false))
        uv_stop(&loop->uv);
}

int io_post(struct io_loop *loop, io_callback callback, void *context)
{
    struct post *post = malloc(sizeof *post);
    if (!post)
        return -ENOMEM;
    *post = (struct post){.callback = callback, .context = context};
    pthread_mutex_lock(&loop->posts_lock);
    bool first = list_is_empty(&loop->posts);
    list_push_back(&loop->posts, &post->link);
    pthread_mutex_unlock(&loop->posts_lock);
    if (first) /* whoever made the queue non-empty has woken the loop already */
        loop_wake(loop);
    return 0;
}

static void take_posts(struct io_loop *loop, struct list *taken)
{
    list_init(taken);
    pthread_mutex_lock(&loop->posts_lock);
    list_move_all(taken, &loop->posts);
    pthread_mutex_unlock(&loop->posts_lock);
}

/* Only those that were there: a call that posts itself again waits for the next turn. */
static void run_posts(struct io_loop *loop)
{
    struct list taken;
    take_posts(loop, &taken);
    while (!list_is_empty(&taken)) {
        struct post *post = list_entry(taken.next, struct post, link);
        struct post call = *post;
        list_remove(&post->link);
        free(post);
        call.callback(call.context);
    }
}

static void drop_posts(struct io_loop *loop)
{
    struct list taken;
    take_posts(loop, &taken);
    while (!list_is_empty(&taken)) {
        struct post *post = list_entry(taken.next, struct post, link);
        list_remove(&post->link);
        free(post);
    }
}

/* ---- turns ----------------------------------------------------------------------------------- */

void io_on_turn_end(struct io_loop *loop, io_callback callback, void *context)
{
    loop->turn_end = callback;
    loop->turn_end_context = context;
}

static void tell_turn_end(struct io_loop *loop)
{
    if (loop->turn_end)
        loop->turn_end(loop->turn_end_context);
}

static void forget_time(struct io_loop *loop)
{
    *loop->clock = (struct turn_clock){0};
}

static void end_of_turn(struct io_loop *loop)
{
    tell_turn_end(loop);
    if (loop->woken) {
        loop->woken = false;
        run_posts(loop);
        conns_tell_failed(loop);
        tell_turn_end(loop);
    }
    watches_arm(loop);
    forget_time(loop);
}

static void on_prepare(uv_prepare_t *prepare)
{
    end_of_turn(prepare->data);
}

void io_loop_run(struct io_loop *loop)
{
    forget_time(loop);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    end_of_turn(loop); /* what the last turn still has to say */
}

void io_loop_stop(struct io_loop *loop)
{
    atomic_store(&loop->stop, true);
    loop_wake(loop);
}

/* ---- the clock ------------------------------------------------------------------------------- */

uint64_t io_now_ns(const struct io_loop *loop)
{
    if (loop->clock->now_ns == 0)
        loop->clock->now_ns = uv_hrtime();
    return loop->clock->now_ns;
}

uint64_t io_now_ms(const struct io_loop *loop)
{
    return io_now_ns(loop) / 1000000;
}

uint64_t io_wall_ms(const struct io_loop *loop)
{
    struct timespec now;
    if (loop->clock->wall_ms == 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        loop->clock->wall_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    }
    return loop->clock->wall_ms;
}

/* ---- timers ---------------------------------------------------------------------------------- */

int io_timer_create(struct io_loop *loop, io_callback callback, void *context,
                    struct io_timer **ret_timer)
{
    struct io_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return -ENOMEM;
    *timer = (struct io_timer){.loop = loop, .callback = callback, .context = context};
    uv_timer_init(&loop->uv, &timer->uv);
    timer->uv.data = timer;
    list_push_back(&loop->timers, &timer->link);
    *ret_timer = timer;
    return 0;
}

static void free_timer(uv_handle_t *handle)
{
    free(handle->data);
}

void io_timer_destroy(struct io_timer **timer)
{
    if (!*timer)
        return;
    list_remove(&(*timer)->link);
    uv_close((uv_handle_t *)&(*timer)->uv, free_timer);
    *timer = NULL;
}

/* A timer may fire in the turn whose clock was read before it was due; then the clock is read
 * again, so that whoever compares the time with the deadline finds it passed. */
static void on_timer(uv_timer_t *uv)
{
    struct io_timer *timer = uv->data;
    if (io_now_ms(timer->loop) < timer->due_ms)
        forget_time(timer->loop);
    timer->callback(timer->context);
}

/* libuv counts from a clock of its own, which may lag behind ours by some milliseconds. And it
 * would fire a timer of no delay that starts itself again for ever, without ever polling. */
void io_timer_start(struct io_timer *timer, uint64_t delay_ms)
{
    uint64_t now_ms = io_now_ms(timer->loop), uv_ms = uv_now(&timer->loop->uv);
    if (delay_ms == 0)
        delay_ms = 1;
    timer->due_ms = now_ms + delay_ms;
    uv_timer_start(&timer->uv, on_timer, delay_ms + (now_ms > uv_ms ? now_ms - uv_ms : 0), 0);
}

void io_timer_stop(struct io_timer *timer)
{
    uv_timer_stop(&timer->uv);
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static void init_lists(struct io_loop *loop)
{
    list_init(&loop->conns);
    list_init(&loop->listeners);
    list_init(&loop->timers);
    list_init(&loop->dirty);
    list_init(&loop->failed);
    list_init(&loop->posts);
}

static int init_handles(struct io_loop *loop)
{
    int rc = uv_async_init(&loop->uv, &loop->wake, on_wake);
    if (rc != 0)
        return rc;
    uv_prepare_init(&loop->uv, &loop->prepare);
    uv_prepare_start(&loop->prepare, on_prepare);
    loop->wake.data = loop->prepare.data = loop;
    return 0;
}

int io_loop_create(struct io_loop **ret_loop)
{
    struct io_loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return -ENOMEM;
    init_lists(loop);
    loop->clock = &loop->clock_memory;
    pthread_mutex_init(&loop->posts_lock, NULL);
    int rc = uv_loop_init(&loop->uv);
    if (rc != 0)
        goto fail_memory;
    rc = init_handles(loop);
    if (rc != 0)
        goto fail_loop;
    *ret_loop = loop;
    return 0;

fail_loop:
    uv_loop_close(&loop->uv);
fail_memory:
    pthread_mutex_destroy(&loop->posts_lock);
    free(loop);
    return rc;
}

static void close_everything(struct io_loop *loop)
{
    listeners_close(loop);
    conns_close(loop);
    while (!list_is_empty(&loop->timers)) {
        struct io_timer *timer = list_entry(loop->timers.next, struct io_timer, link);
        io_timer_destroy(&timer);
    }
}

void io_loop_destroy(struct io_loop **loop)
{
    struct io_loop *old = *loop;
    if (!old)
        return;
    close_everything(old);
    uv_close((uv_handle_t *)&old->wake, NULL);
    uv_close((uv_handle_t *)&old->prepare, NULL);
    uv_run(&old->uv, UV_RUN_DEFAULT); /* close callbacks, and name look-ups under way */
    int rc = uv_loop_close(&old->uv);
    CW_ASSERT(rc == 0);
    drop_posts(old);
    pthread_mutex_destroy(&old->posts_lock);
    free(old);
    *loop = NULL;
}
