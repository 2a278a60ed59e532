/*
 * Clients that wait, when no connection can be made by which they could be woken: they fail, and
 * so do all that wait at that node, at once. The linker has io_connect() replaced here.
 *
 * covers: blocking
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/blocking_stage.h"

int __real_io_connect(struct io_loop *loop, const char *address, io_event_callback callback,
                      void *context, struct io_conn **ret_conn);
int __wrap_io_connect(struct io_loop *loop, const char *address, io_event_callback callback,
                      void *context, struct io_conn **ret_conn);

static bool has_no_files;

int __wrap_io_connect(struct io_loop *loop, const char *address, io_event_callback callback,
                      void *context, struct io_conn **ret_conn)
{
    return has_no_files ? -EMFILE : __real_io_connect(loop, address, callback, context, ret_conn);
}

/* All clients speak RESP3, so the connection that would wake them is not there yet. */
static void begin_slow(struct stage *stage)
{
    static const struct io_sim_options slow = {
        .seed = 1, .delay_min_us = 3000, .delay_max_us = 4000, .window_bytes = 1 << 16};
    *stage = (struct stage){.acked = 0};
    fixture_init(&stage->fixture, NOW, 1);
    begin_with(stage, &slow);
    text_ask(stage->a, "HELLO 3\r\n");
    text_ask(stage->b, "HELLO 3\r\n");
}

static void both_fail_after(struct stage *stage, const char *request, uint64_t wait_ms)
{
    begin_slow(stage);
    text_send(stage->b, request);
    text_ask_for(stage->a, request, wait_ms);
    has_no_files = true;
    set_state(stage, MOVE_TRACKING, "dirty"); /* wakes writers; the switch wakes readers, too */
    switch_over(stage);
    assert_memory_equal(text_ask(stage->a, ""), "-NODEDOWN node 'n0'", 19);
    assert_memory_equal(text_ask(stage->b, ""), "-NODEDOWN node 'n0'", 19);
    assert_int_equal(blocked_clients(stage), 0);
    has_no_files = false;
    end(stage);
}

/* Before, while and after they come to wait. */
static void all_fail_who_wait_at_the_node(void **state)
{
    for (uint64_t wait_ms = 5; wait_ms <= 50; wait_ms += 5) {
        struct stage stage;
        begin_slow(&stage);
        char moves[32];
        memcpy(moves, stage.moves, sizeof moves);
        end(&stage);
        both_fail_after(&stage, text_of("BLPOP %s 0\r\n", moves), wait_ms);
        both_fail_after(&stage, text_of("XREAD BLOCK 0 STREAMS %s $\r\n", moves), wait_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_fail_who_wait_at_the_node)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
