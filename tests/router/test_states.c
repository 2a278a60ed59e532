/*
 * States of a pool, one promise a test: when they are acknowledged, and what becomes of nodes and
 * commands meanwhile. (Marks: test_marks.c; what waits: test_hold.c.)
 * covers: state, era, pool
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/states_world.h"

/* ---- acknowledgement ------------------------------------------------------------------------- */

static void idle_workers_acknowledge_at_once(void **state)
{
    struct world world;
    world_begin(&world, 3);
    world_set(&world, MOVE_PREPARED, NULL);
    assert_int_equal(world.acked, 0); /* never before the call has returned */
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 1);
    world_set(&world, MOVE_NONE, NULL);
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 2);
    world_stop(&world);
}

static void a_request_that_a_node_still_has_delays_it(void **state)
{
    struct world world;
    world_begin(&world, 3);
    io_sim_stop(fixture_address(0));
    text_ask_for(world.client, text_of("GET %s\r\n", world_key(&world, 0, true, 0)), 20);
    world_set(&world, MOVE_TRACKING, NULL);
    io_sim_run(200, NULL);
    assert_int_equal(world.acked, 0);
    io_sim_resume(fixture_address(0));
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 1);
    world_stop(&world);
}

static void one_busy_worker_of_three_delays_it(void **state)
{
    struct world world;
    struct text_client *others[8];
    world_begin(&world, 3);
    for (int i = 0; i < 8; i++)
        others[i] = text_client_create("router:7400");
    io_sim_run(20, NULL);
    io_sim_stop(fixture_address(1));
    text_ask_for(others[5], text_of("GET %s\r\n", world_key(&world, 1, false, 0)), 20);
    world_set(&world, MOVE_PREPARED, NULL);
    for (int i = 0; i < 8; i++) /* what comes later belongs to the new state */
        if (i != 5)
            text_ask_for(others[i], text_of("GET %s\r\n", world_key(&world, 0, false, 0)), 10);
    assert_int_equal(world.acked, 0);
    io_sim_resume(fixture_address(1));
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 1);
    for (int i = 0; i < 8; i++)
        text_client_destroy(others[i]);
    world_stop(&world);
}

static void a_broken_connection_or_a_missed_deadline_releases_it(void **state)
{
    struct world world;
    world_begin(&world, 2);
    for (int is_deadline = 0; is_deadline < 2; is_deadline++) {
        io_sim_stop(fixture_address(0));
        text_ask_for(world.client, text_of("GET %s\r\n", world_key(&world, 0, false, 0)), 20);
        world.acked = 0;
        world_set(&world, MOVE_PREPARED, NULL);
        io_sim_run(100, NULL);
        assert_int_equal(world.acked, 0);
        if (is_deadline)
            io_sim_run(600, NULL);
        else
            io_sim_kill(fixture_address(0));
        io_sim_run(20, NULL);
        assert_int_equal(world.acked, 1);
        io_sim_resume(fixture_address(0));
        io_sim_revive(fixture_address(0));
        io_sim_run(1000, NULL);
    }
    world_stop(&world);
}

static void the_parts_of_a_split_count(void **state)
{
    struct world world;
    world_begin(&world, 2);
    io_sim_stop(fixture_address(1));
    text_ask_for(world.client,
                 text_of("MSET %s 1 %s 2\r\n", world_key(&world, 0, false, 0),
                         world_key(&world, 1, false, 0)),
                 20);
    world_set(&world, MOVE_PREPARED, NULL);
    text_client_destroy(world.client); /* nobody waits for it, but the node may still do it */
    io_sim_run(100, NULL);
    assert_int_equal(world.acked, 0);
    io_sim_resume(fixture_address(1));
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 1);
    world.client = text_client_create("router:7400");
    world_stop(&world);
}

static void states_in_quick_succession_are_acknowledged_one_by_one(void **state)
{
    struct world world;
    world_begin(&world, 3);
    io_sim_stop(fixture_address(0));
    text_ask_for(world.client, text_of("GET %s\r\n", world_key(&world, 0, false, 0)), 20);
    world_set(&world, MOVE_PREPARED, NULL);
    world_set(&world, MOVE_TRACKING, NULL);
    text_ask_for(world.client, text_of("GET %s\r\n", world_key(&world, 1, false, 0)), 20);
    world_set(&world, MOVE_FROZEN, NULL);
    world_switch(&world);
    io_sim_run(100, NULL);
    assert_int_equal(world.acked, 0); /* the first GET is older than all of them */
    io_sim_resume(fixture_address(0));
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 4);
    assert_int_equal(worker_map_generation(world.workers[2], 0), 2);
    world_stop(&world);
}

static void states_that_no_worker_took_are_freed_with_the_router(void **state)
{
    struct world world;
    world_begin(&world, 3);
    world_set(&world, MOVE_TRACKING, NULL);
    world_set(&world, MOVE_FROZEN, NULL);
    world_stop(&world);
    assert_int_equal(world.acked, 0);
}

/* ---- nodes and keys -------------------------------------------------------------------------- */

static void nodes_to_come_are_connected_and_keep_their_connections(void **state)
{
    struct world world;
    world_begin(&world, 2);
    assert_int_equal(world.nodes[2]->connects, 0);
    world_set(&world, MOVE_PREPARED, NULL);
    io_sim_run(20, NULL);
    assert_int_equal(world.nodes[2]->connects, 2);
    assert_int_equal(worker_node_count(world.workers[0], 0), 2);
    world_set(&world, MOVE_TRACKING, NULL);
    world_set(&world, MOVE_FROZEN, NULL);
    world_switch(&world);
    io_sim_run(20, NULL);
    assert_int_equal(worker_node_count(world.workers[0], 0), 3);
    const char *a = world_key(&world, 0, true, 0);
    assert_string_equal(text_ask(world.client, text_of("SET %s 1\r\n", a)), "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[2]), text_of("SET %s 1\n", a));
    assert_int_equal(world.nodes[2]->connects, 2);
    world_stop(&world);
}

static void a_transition_given_up_lets_the_new_nodes_go(void **state)
{
    struct world world;
    world_begin(&world, 2);
    world_set(&world, MOVE_PREPARED, NULL);
    io_sim_run(20, NULL);
    world_set(&world, MOVE_NONE, NULL);
    io_sim_run(50, NULL);
    assert_true(list_is_empty(&world.nodes[2]->conns));
    world_stop(&world);
}

static void resp3_is_connected_ahead_if_it_is_in_use(void **state)
{
    struct world world;
    world_begin(&world, 1);
    text_ask(world.client, "HELLO 3\r\nGET a\r\n");
    world_set(&world, MOVE_PREPARED, NULL);
    io_sim_run(20, NULL);
    assert_int_equal(world.nodes[2]->connects, 2);
    world_stop(&world);
}

static void a_new_address_of_a_node_moves_its_keys(void **state)
{
    struct world world;
    world_begin(&world, 1);
    struct cw_map *replaced = world_map(2, WORLD_NOW, fixture_address(3));
    struct pool_state what = {.map = world.now,
                              .next = replaced,
                              .phase = MOVE_TRACKING,
                              .dirty_set = {"dirty", 5},
                              .counters = &world.counters};
    assert_int_equal(router_set_state(world.router, 0, &what, world_acked, &world), 0);
    io_sim_run(20, NULL);
    const char *a = world_key(&world, 1, false, 0), *b = world_key(&world, 0, false, 0);
    text_ask(world.client, text_of("SET %s 1\r\nSET %s 1\r\n", a, b));
    assert_string_equal(recorder_take(world.nodes[1]), text_of("SADD dirty k%s\nSET %s 1\n", a, a));
    assert_string_equal(recorder_take(world.nodes[0]), text_of("SET %s 1\n", b));
    assert_int_equal(router_set_map(world.router, 0, replaced), 0);
    text_ask(world.client, text_of("SET %s 2\r\n", a));
    assert_string_equal(recorder_take(world.nodes[3]), text_of("SET %s 2\n", a));
    cw_map_unref(&replaced);
    world_stop(&world);
}

static void flushes_are_refused_while_keys_move(void **state)
{
    struct world world;
    world_begin(&world, 1);
    world_set(&world, MOVE_PREPARED, NULL);
    assert_string_equal(text_ask(world.client, "FLUSHALL\r\n"),
                        "-TRYAGAIN keys of pool 'test' are moving to other nodes; FLUSHALL is "
                        "refused until the transition has ended (clockwise transition status)\r\n");
    world_switch(&world);
    assert_string_equal(text_ask(world.client, "FLUSHALL\r\n"), "+OK\r\n");
    world_stop(&world);
}

static void keys_of_the_router_are_refused_to_clients(void **state)
{
    struct world world;
    world_begin(&world, 1);
    static const char request[] = "*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$7\r\n\0cw:mig\r\n";
    text_send_bytes(world.client, request, sizeof request - 1);
    assert_memory_equal(text_ask(world.client, ""), "-ERR keys that begin with", 25);
    static const char near[] = "*2\r\n$3\r\nGET\r\n$4\r\n\0cw;\r\n";
    text_send_bytes(world.client, near, sizeof near - 1);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_workers_acknowledge_at_once),
        cmocka_unit_test(a_request_that_a_node_still_has_delays_it),
        cmocka_unit_test(one_busy_worker_of_three_delays_it),
        cmocka_unit_test(a_broken_connection_or_a_missed_deadline_releases_it),
        cmocka_unit_test(the_parts_of_a_split_count),
        cmocka_unit_test(states_in_quick_succession_are_acknowledged_one_by_one),
        cmocka_unit_test(states_that_no_worker_took_are_freed_with_the_router),
        cmocka_unit_test(nodes_to_come_are_connected_and_keep_their_connections),
        cmocka_unit_test(a_transition_given_up_lets_the_new_nodes_go),
        cmocka_unit_test(resp3_is_connected_ahead_if_it_is_in_use),
        cmocka_unit_test(a_new_address_of_a_node_moves_its_keys),
        cmocka_unit_test(flushes_are_refused_while_keys_move),
        cmocka_unit_test(keys_of_the_router_are_refused_to_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
