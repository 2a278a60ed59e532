/*
 * Holding: what waits while a pool is frozen, and how it goes on, one promise a test.
 * covers: hold
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/states_world.h"

static void freeze(struct world *world, uint32_t worker_count)
{
    world_begin(world, worker_count);
    world_set(world, MOVE_PREPARED, NULL);
    world_set(world, MOVE_TRACKING, NULL);
    world_set(world, MOVE_FROZEN, NULL);
    io_sim_run(20, NULL);
    assert_int_equal(world->acked, 3);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        recorder_take(world->nodes[i]);
}

static void a_held_write_and_all_behind_it_wait_for_the_switch(void **state)
{
    struct world world;
    freeze(&world, 3);
    const char *a = world_key(&world, 0, true, 0), *b = world_key(&world, 0, false, 0);
    assert_string_equal(
        text_ask(world.client,
                 text_of("GET %s\r\nSET %s 1\r\nGET %s\r\nSET %s 2\r\nPING\r\n", a, a, a, b)),
        "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), text_of("GET %s\n", a));
    assert_int_equal(world.counters.held, 1);
    world_switch(&world);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n+OK\r\n+OK\r\n+PONG\r\n");
    assert_string_equal(recorder_take(world.nodes[2]), text_of("SET %s 1\nGET %s\n", a, a));
    assert_string_equal(recorder_take(world.nodes[0]), text_of("SET %s 2\n", b));
    assert_true(world.counters.held_us_max >= 100000 && world.counters.held_us_max < 300000);
    assert_int_equal(world.acked, 4);
    world_stop(&world);
}

static void others_go_on_while_one_is_held(void **state)
{
    struct world world;
    freeze(&world, 1);
    struct text_client *other = text_client_create("router:7400");
    const char *a = world_key(&world, 0, true, 0), *b = world_key(&world, 0, false, 0);
    assert_string_equal(text_ask(world.client, text_of("MSET %s 1 %s 2\r\n", b, a)), "");
    assert_string_equal(text_ask(other, text_of("SET %s 1\r\nGET %s\r\n", b, a)), "+OK\r\n+OK\r\n");
    world_set(&world, MOVE_TRACKING, NULL); /* the freeze was given up */
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    assert_string_equal(
        recorder_take(world.nodes[0]),
        text_of("SET %s 1\nGET %s\nSADD dirty k%s\nMSET %s 1 %s 2\n", b, a, a, b, a));
    text_client_destroy(other);
    world_stop(&world);
}

static void replies_under_way_reach_a_client_that_is_held(void **state)
{
    struct world world;
    freeze(&world, 1);
    io_sim_stop(fixture_address(0));
    const char *a = world_key(&world, 0, true, 0);
    assert_string_equal(text_ask(world.client, text_of("GET %s\r\nSET %s 1\r\n", a, a)), "");
    io_sim_resume(fixture_address(0));
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), text_of("GET %s\n", a));
    world_switch(&world);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    world_stop(&world);
}

static void a_client_that_left_while_held_harms_nobody(void **state)
{
    struct world world;
    freeze(&world, 1);
    struct text_client *other = text_client_create("router:7400");
    const char *a = world_key(&world, 0, true, 0);
    text_ask(other, text_of("SET %s 1\r\nGET %s\r\n", a, a));
    text_ask(world.client, text_of("SET %s 2\r\n", a));
    text_client_destroy(other);
    io_sim_run(50, NULL);
    world_switch(&world);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    struct worker_report report;
    worker_read_report(world.workers[0], &report);
    assert_int_equal(report.clients, 1);
    world_stop(&world);
}

static void workers_end_with_clients_held(void **state)
{
    struct world world;
    freeze(&world, 2);
    text_ask(world.client, text_of("SET %s 2\r\n", world_key(&world, 0, true, 0)));
    assert_int_equal(world.counters.held, 1);
    world_stop(&world);
}

static void a_held_client_is_neither_idle_nor_late(void **state)
{
    struct world world;
    world_init(&world, 1);
    world.options.limits.half_request_ms = 100;
    world.options.limits.idle_ms = 200;
    world_start(&world);
    world_set(&world, MOVE_FROZEN, NULL);
    io_sim_run(20, NULL);
    const char *a = world_key(&world, 0, true, 0);
    /* Held with half a request behind it. */
    assert_string_equal(text_ask_for(world.client, text_of("SET %s 1\r\nGET ", a), 1000), "");
    world_switch(&world);
    assert_string_equal(text_ask_for(world.client, "x\r\n", 50), "+OK\r\n+OK\r\n");
    world_stop(&world);
}

static void a_write_is_held_again_if_the_next_state_is_frozen_too(void **state)
{
    struct world world;
    freeze(&world, 1);
    const char *a = world_key(&world, 0, true, 0);
    assert_string_equal(text_ask(world.client, text_of("SET %s 1\r\n", a)), "");
    world_set(&world, MOVE_FROZEN, NULL);
    assert_string_equal(text_ask(world.client, ""), "");
    assert_int_equal(world.counters.held, 1);
    world_switch(&world);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    assert_true(world.counters.held_us_max >= 300000);
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_held_write_and_all_behind_it_wait_for_the_switch),
        cmocka_unit_test(others_go_on_while_one_is_held),
        cmocka_unit_test(replies_under_way_reach_a_client_that_is_held),
        cmocka_unit_test(a_client_that_left_while_held_harms_nobody),
        cmocka_unit_test(workers_end_with_clients_held),
        cmocka_unit_test(a_held_client_is_neither_idle_nor_late),
        cmocka_unit_test(a_write_is_held_again_if_the_next_state_is_frozen_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
