/*
 * The part of the contract of io.h that is about timers, turns and listeners: see scenarios.h.
 */
#ifndef TESTS_IO_SCENARIOS_LOOP_H
#define TESTS_IO_SCENARIOS_LOOP_H

#include "io/stage.h"

#define LOOP_SCENARIOS(X)                                                                          \
    X(timers_fire_in_order_and_never_early)                                                        \
    X(a_timer_may_stop_move_and_destroy_others)                                                    \
    X(a_timer_of_no_delay_does_not_keep_the_loop_to_itself)                                        \
    X(posted_calls_keep_their_order_and_run_between_turns)                                         \
    X(output_left_for_the_end_of_a_turn_goes_out_before_the_loop_sleeps)                           \
    X(a_paused_listener_lets_its_clients_wait)                                                     \
    X(a_listener_may_be_closed_by_its_own_callback)

/* ---- timers ---------------------------------------------------------------------------------- */

struct alarm_clock {
    struct stage *stage;
    struct io_timer *timer;
    uint64_t due_ms;
    char name;
    char *log;
};

static void ring(void *context)
{
    struct alarm_clock *clock = context;
    size_t len = strlen(clock->log);
    CHECK(io_now_ms(clock->stage->loop) >= clock->due_ms);
    CHECK(io_now_ns(clock->stage->loop) / 1000000 >= clock->due_ms);
    clock->log[len] = clock->name;
    clock->log[len + 1] = 0;
}

static void clock_set(struct alarm_clock *clock, uint64_t delay_ms)
{
    clock->due_ms = io_now_ms(clock->stage->loop) + delay_ms;
    io_timer_start(clock->timer, delay_ms);
}

static void clock_make(struct alarm_clock *clock, struct stage *stage, char name, char *log)
{
    *clock = (struct alarm_clock){.stage = stage, .name = name, .log = log};
    CHECK_INT(io_timer_create(stage->loop, ring, clock, &clock->timer), 0);
}

static void timers_fire_in_order_and_never_early(struct stage *stage)
{
    struct alarm_clock clocks[4];
    char log[16] = "";
    for (unsigned i = 0; i < 4; i++)
        clock_make(&clocks[i], stage, (char)('a' + i), log);
    uint64_t start_ms = io_now_ms(stage->loop), wall_ms = io_wall_ms(stage->loop);
    clock_set(&clocks[0], 30);
    clock_set(&clocks[1], 10);
    clock_set(&clocks[2], 10);
    clock_set(&clocks[3], 0);
    stage_wait(stage, 60);
    assert_string_equal(log, "dbca");
    CHECK(io_now_ms(stage->loop) - start_ms >= 60);
    CHECK(io_wall_ms(stage->loop) > wall_ms);
    CHECK(io_wall_ms(stage->loop) > 1700000000000);
    for (unsigned i = 0; i < 4; i++)
        io_timer_destroy(&clocks[i].timer);
}

struct meddler {
    struct alarm_clock clocks[4];
    struct io_timer *timer;
};

static void meddle(void *context)
{
    struct meddler *meddler = context;
    io_timer_stop(meddler->clocks[0].timer);
    clock_set(&meddler->clocks[1], 20);
    io_timer_destroy(&meddler->clocks[2].timer);
    io_timer_destroy(&meddler->timer); /* itself */
}

static void a_timer_may_stop_move_and_destroy_others(struct stage *stage)
{
    struct meddler meddler;
    char log[16] = "";
    for (unsigned i = 0; i < 4; i++) {
        clock_make(&meddler.clocks[i], stage, (char)('a' + i), log);
        clock_set(&meddler.clocks[i], 10 + i);
    }
    CHECK_INT(io_timer_create(stage->loop, meddle, &meddler, &meddler.timer), 0);
    io_timer_start(meddler.timer, 3);
    stage_wait(stage, 50);
    assert_string_equal(log, "db");
    for (unsigned i = 0; i < 4; i++)
        io_timer_destroy(&meddler.clocks[i].timer);
}

static void restart(void *context)
{
    struct io_timer **timer = context;
    io_timer_start(*timer, 0);
}

static void a_timer_of_no_delay_does_not_keep_the_loop_to_itself(struct stage *stage)
{
    struct io_timer *timer;
    CHECK_INT(io_timer_create(stage->loop, restart, &timer, &timer), 0);
    io_timer_start(timer, 0);
    stage_wait(stage, 10);
    io_timer_destroy(&timer);
}

/* ---- turns ----------------------------------------------------------------------------------- */

struct turns {
    struct stage *stage;
    char log[64];
    unsigned ends, ends_at_event;
    bool event_is_open; /* something happened since the last end of a turn */
    struct io_conn *conn;
    bool has_output;
};

static void turns_end(void *context)
{
    struct turns *turns = context;
    turns->ends++;
    turns->event_is_open = false;
    if (!turns->has_output)
        return;
    turns->has_output = false;
    ssize_t count = write_bytes(turns->conn, "x", 1);
    CHECK(count == 1 || count == -EAGAIN); /* then IO_WRITABLE makes output again */
}

static void turns_log(struct turns *turns, char what)
{
    size_t len = strlen(turns->log);
    CHECK(len + 1 < sizeof turns->log);
    turns->log[len] = what;
}

static void post_c(void *context)
{
    struct turns *turns = context;
    turns_log(turns, 'c');
    stage_finish(turns->stage);
}

static void post_b(void *context)
{
    turns_log(context, 'b');
}

static void post_a(void *context)
{
    struct turns *turns = context;
    CHECK(!turns->event_is_open);
    CHECK(turns->ends > turns->ends_at_event);
    turns_log(turns, 'a');
    CHECK_INT(io_post(turns->stage->loop, post_c, turns), 0);
}

static void turns_timer(void *context)
{
    struct turns *turns = context;
    turns->event_is_open = true;
    turns->ends_at_event = turns->ends;
    CHECK_INT(io_post(turns->stage->loop, post_a, turns), 0);
    CHECK_INT(io_post(turns->stage->loop, post_b, turns), 0);
    turns_log(turns, 't');
}

static void posted_calls_keep_their_order_and_run_between_turns(struct stage *stage)
{
    struct turns turns = {.stage = stage};
    struct io_timer *timer;
    io_on_turn_end(stage->loop, turns_end, &turns);
    CHECK_INT(io_timer_create(stage->loop, turns_timer, &turns, &timer), 0);
    io_timer_start(timer, 1);
    stage_run(stage);
    assert_string_equal(turns.log, "tabc");
    CHECK(!turns.event_is_open);
    io_timer_destroy(&timer);
    io_on_turn_end(stage->loop, NULL, NULL);
}

static void turns_have_output(void *context)
{
    struct turns *turns = context;
    turns->has_output = true;
}

static void turns_answer(void *context, int events)
{
    struct turns *turns = context;
    char byte;
    turns_log(turns, events & IO_READABLE ? 'r' : 'w');
    if ((events & IO_READABLE) && io_read(turns->conn, &byte, 1) == 1)
        stage_finish(turns->stage);
    turns->has_output = events & IO_WRITABLE; /* output of an event */
}

/* Output of an event, of a timer and of a posted call; nothing else would ever wake the loop. */
static void output_left_for_the_end_of_a_turn_goes_out_before_the_loop_sleeps(struct stage *stage)
{
    struct turns turns = {.stage = stage};
    struct io_timer *timer;
    stage_listen(stage, echo_accept, stage);
    CHECK_INT(io_connect(stage->loop, stage->address, turns_answer, &turns, &turns.conn), 0);
    io_on_turn_end(stage->loop, turns_end, &turns);
    stage_run(stage);
    CHECK_INT(io_timer_create(stage->loop, turns_have_output, &turns, &timer), 0);
    io_timer_start(timer, 2);
    stage_run(stage);
    CHECK_INT(io_post(stage->loop, turns_have_output, &turns), 0);
    stage_run(stage);
    io_close(&turns.conn);
    io_timer_destroy(&timer);
    io_on_turn_end(stage->loop, NULL, NULL);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static void a_paused_listener_lets_its_clients_wait(struct stage *stage)
{
    struct talker talker;
    unsigned talking = 0;
    stage_listen(stage, echo_accept, stage);
    io_listener_pause(stage->listener, true);
    talker_start(&talker, stage, stage->address, 7, 1000, &talking);
    stage_wait(stage, 30);
    CHECK(talker.connected); /* to the kernel */
    CHECK_INT(talker.received, 0);
    CHECK(list_is_empty(&stage->guests));
    io_listener_pause(stage->listener, false);
    stage_run(stage);
    CHECK_INT(talker.error, 0);
    CHECK_INT(io_listener_rest_count(stage->listener), 0);
}

static void accept_the_only_one(void *context, struct io_conn *conn)
{
    struct stage *stage = context;
    io_listener_close(&stage->listener);
    echo_accept(stage, conn);
}

static void a_listener_may_be_closed_by_its_own_callback(struct stage *stage)
{
    struct talker talkers[3];
    unsigned talking = 0, served = 0;
    stage_listen(stage, accept_the_only_one, stage);
    for (unsigned i = 0; i < 3; i++)
        talker_start(&talkers[i], stage, stage->address, i, 1000, &talking);
    stage_run(stage);
    for (unsigned i = 0; i < 3; i++)
        served += talkers[i].error == 0;
    CHECK_INT(served, 1);
}

#endif
