/*
 * The simulated world: its queue of events, its clock, and the faults that a test can order.
 *
 * An instant is all events of one virtual microsecond. Each loop that had one gets its end of turn
 * when the instant is over, so a loop's turn has several events only when they really fall
 * together, for example after a stop. Whatever a callback causes happens at least 1 us later.
 */
#include "io/io_sim_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

enum { WINDOW_BYTES_DEFAULT = 64 * 1024 };

struct world world;

/* ---- the queue ------------------------------------------------------------------------------- */

static bool is_before(const struct event *a, const struct event *b)
{
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void put(struct event *event, size_t place)
{
    world.queue[place] = event;
    event->place = place;
}

static void sift_up(struct event *event, size_t place)
{
    for (; place > 1 && is_before(event, world.queue[place / 2]); place /= 2)
        put(world.queue[place / 2], place);
    put(event, place);
}

static void sift_down(struct event *event, size_t place)
{
    for (size_t child = place * 2; child <= world.queue_len; child = place * 2) {
        if (child < world.queue_len && is_before(world.queue[child + 1], world.queue[child]))
            child++;
        if (!is_before(world.queue[child], event))
            break;
        put(world.queue[child], place);
        place = child;
    }
    put(event, place);
}

static void grow_queue(void)
{
    if (world.queue_len + 1 < world.queue_capacity)
        return;
    world.queue_capacity = world.queue_capacity ? world.queue_capacity * 2 : 256;
    world.queue = realloc(world.queue, world.queue_capacity * sizeof *world.queue);
    CW_ASSERT(world.queue);
}

static void take_out(struct event *event)
{
    size_t place = event->place;
    struct event *last = world.queue[world.queue_len--];
    event->place = 0;
    if (last == event)
        return;
    if (is_before(last, event))
        sift_up(last, place);
    else
        sift_down(last, place);
}

void event_init(struct event *event, enum event_kind kind, struct io_loop *loop, uint64_t id,
                void (*run)(struct event *event))
{
    *event = (struct event){.kind = kind, .loop = loop, .id = id, .run = run};
    list_init(&event->held);
}

void event_in(struct event *event, uint64_t delay_us)
{
    event_cancel(event);
    event->at_us = world.now_us + delay_us;
    event->order = ++world.last_order;
    grow_queue();
    sift_up(event, ++world.queue_len);
}

void event_cancel(struct event *event)
{
    list_remove(&event->held);
    if (event->place)
        take_out(event);
}

bool event_is_set(const struct event *event)
{
    return event->place != 0 || !list_is_empty(&event->held);
}

/* ---- running --------------------------------------------------------------------------------- */

uint64_t world_new_id(void)
{
    CW_ASSERT(world.exists); /* io_sim_begin() comes first */
    return ++world.last_id;
}

void world_note(uint64_t what)
{
    world.trace = random_mix(world.trace * 31 + what);
}

uint64_t world_delay_us(void)
{
    uint64_t span = world.options.delay_max_us - world.options.delay_min_us;
    return world.options.delay_min_us + random_below(&world.random, span + 1);
}

bool world_chance(uint32_t part, uint32_t whole)
{
    return part > 0 && random_below(&world.random, whole) < part;
}

static void note_event(const struct event *event)
{
    world_note(event->at_us);
    world_note((uint64_t)event->kind << 56 ^ event->id);
}

/* False when its loop is stopped. */
static bool run_event(struct event *event)
{
    struct io_loop *loop = event->loop;
    take_out(event);
    if (loop && loop->is_stopped) {
        loop_hold(loop, event);
        return false;
    }
    if (loop && event->kind == EVENT_POST) /* posted calls run between turns */
        loop_end_turn(loop);
    if (loop)
        loop_begin_turn(loop);
    note_event(event);
    event->run(event);
    return true;
}

static void end_turns(void)
{
    while (!list_is_empty(&world.turns))
        loop_end_turn(list_entry(world.turns.next, struct io_loop, turn));
}

static uint64_t run_instant(void)
{
    uint64_t count = 0;
    world.now_us = world.queue[1]->at_us;
    while (world.queue_len > 0 && world.queue[1]->at_us == world.now_us)
        count += run_event(world.queue[1]);
    end_turns();
    return count;
}

uint64_t world_run(uint64_t end_us, const bool *stop)
{
    uint64_t count = 0;
    while (!(stop && *stop) && world.queue_len > 0 && world.queue[1]->at_us <= end_us)
        count += run_instant();
    return count;
}

uint64_t io_sim_run(uint64_t duration_ms, const bool *stop)
{
    uint64_t left_us = UINT64_MAX - world.now_us;
    uint64_t end_us = duration_ms < left_us / 1000 ? world.now_us + duration_ms * 1000 : UINT64_MAX;
    uint64_t count = world_run(end_us, stop);
    if (!(stop && *stop) && end_us != UINT64_MAX)
        world.now_us = end_us;
    return count;
}

uint64_t io_sim_now_us(void)
{
    return world.now_us;
}

uint64_t io_sim_trace(void)
{
    return world.trace;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void io_sim_set(const struct io_sim_options *options)
{
    struct io_sim_options *ours = &world.options;
    *ours = *options;
    if (ours->delay_min_us == 0)
        ours->delay_min_us = 1;
    if (ours->delay_max_us < ours->delay_min_us)
        ours->delay_max_us = ours->delay_min_us;
    if (ours->window_bytes == 0)
        ours->window_bytes = WINDOW_BYTES_DEFAULT;
}

void io_sim_begin(const struct io_sim_options *options)
{
    CW_ASSERT(!world.exists);
    world = (struct world){.exists = true, .random = {options->seed}, .last_port = 40000};
    list_init(&world.loops);
    list_init(&world.turns);
    io_sim_set(options);
}

void io_sim_end(void)
{
    CW_ASSERT(list_is_empty(&world.loops) && world.queue_len == 0);
    free(world.queue);
    world = (struct world){0};
}

/* ---- ordered faults -------------------------------------------------------------------------- */

/* Calls a function for every listener of an address. */
static void for_listeners(const char *address, void (*call)(struct io_listener *listener))
{
    list_for_each (loop_link, &world.loops) {
        struct io_loop *loop = list_entry(loop_link, struct io_loop, link);
        list_for_each (link, &loop->listeners) {
            struct io_listener *listener = list_entry(link, struct io_listener, link);
            if (strcmp(listener->address, address) == 0)
                call(listener);
        }
    }
}

void io_sim_stop_loop(struct io_loop *loop)
{
    loop->is_stopped = true;
}

static void stop_listener(struct io_listener *listener)
{
    io_sim_stop_loop(listener->loop);
}

void io_sim_stop(const char *address)
{
    for_listeners(address, stop_listener);
}

void io_sim_resume_loop(struct io_loop *loop)
{
    loop->is_stopped = false;
    while (!list_is_empty(&loop->held))
        event_in(list_entry(loop->held.next, struct event, held), 0);
}

static void resume_listener(struct io_listener *listener)
{
    io_sim_resume_loop(listener->loop);
}

void io_sim_resume(const char *address)
{
    for_listeners(address, resume_listener);
}

static void kill_listener(struct io_listener *listener)
{
    listener->killed = true;
    list_for_each (link, &listener->loop->conns) {
        struct io_conn *conn = list_entry(link, struct io_conn, link);
        if (strcmp(conn->own_address, listener->address) == 0)
            conn_cut(conn);
    }
}

void io_sim_kill(const char *address)
{
    for_listeners(address, kill_listener);
}

static void revive_listener(struct io_listener *listener)
{
    listener->killed = false;
}

void io_sim_revive(const char *address)
{
    for_listeners(address, revive_listener);
}
