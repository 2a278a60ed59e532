/*
 * Transactions while keys move, one promise a test: what is marked and where, what waits, and where
 * it is done at last.
 * covers: exec
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/states_world.h"

static void take_all(struct world *world)
{
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        recorder_take(world->nodes[i]);
}

static void go_to(struct world *world, enum move_phase phase)
{
    for (int i = MOVE_PREPARED; i <= (int)phase; i++)
        world_set(world, (enum move_phase)i, NULL);
    io_sim_run(20, NULL);
    take_all(world);
}

static void the_marks_of_all_its_writes_go_before_multi(void **state)
{
    struct world world;
    world_begin(&world, 1);
    go_to(&world, MOVE_TRACKING);
    const char *a = world_key(&world, 0, true, 0), *b = world_key(&world, 0, true, 1);
    const char *still = world_key(&world, 0, false, 0);
    text_ask(world.client,
             text_of("MULTI\r\nSET %s 1\r\nGET %s\r\nSET %s 2\r\nDEL %s\r\n", a, b, still, b));
    assert_string_equal(recorder_take(world.nodes[0]), ""); /* nothing is there before EXEC */
    assert_string_equal(text_ask(world.client, "EXEC\r\n"), "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s\nSADD dirty k%s\nMULTI\nSET %s 1\nGET %s\nSET %s "
                                "2\nDEL %s\nEXEC\n",
                                a, b, a, b, still, b));
    assert_int_equal(world.counters.marks, 2);
    world_stop(&world);
}

static void reads_and_keys_that_stay_need_no_mark(void **state)
{
    struct world world;
    world_begin(&world, 1);
    go_to(&world, MOVE_TRACKING);
    const char *moving = world_key(&world, 1, true, 0), *still = world_key(&world, 1, false, 0);
    text_ask(world.client, text_of("MULTI\r\nGET %s\r\nSET %s 2\r\nEXEC\r\n", moving, still));
    assert_string_equal(recorder_take(world.nodes[1]),
                        text_of("MULTI\nGET %s\nSET %s 2\nEXEC\n", moving, still));
    assert_int_equal(world.counters.marks, 0);
    world_stop(&world);
}

static void a_mark_that_fails_is_counted(void **state)
{
    struct world world;
    world_begin(&world, 1);
    go_to(&world, MOVE_TRACKING);
    world.nodes[0]->mark_reply = "-OOM command not allowed\r\n";
    const char *a = world_key(&world, 0, true, 0);
    assert_string_equal(text_ask(world.client, text_of("MULTI\r\nSET %s 1\r\nEXEC\r\n", a)),
                        "+OK\r\n+QUEUED\r\n+OK\r\n");
    assert_int_equal(world.counters.marks_failed, 1);
    world_stop(&world);
}

/* It belongs to the state in which EXEC was said, not MULTI. */
static void what_was_said_before_tracking_is_marked_by_exec(void **state)
{
    struct world world;
    world_begin(&world, 1);
    const char *a = world_key(&world, 0, true, 0);
    text_ask(world.client, text_of("MULTI\r\nSET %s 1\r\n", a));
    go_to(&world, MOVE_TRACKING);
    assert_int_equal(world.acked, 2); /* an open transaction delays no state */
    text_ask(world.client, "EXEC\r\n");
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s\nMULTI\nSET %s 1\nEXEC\n", a, a));
    world_stop(&world);
}

static void one_that_a_node_still_has_delays_a_state(void **state)
{
    struct world world;
    world_begin(&world, 1);
    io_sim_stop(fixture_address(0));
    text_ask_for(world.client,
                 text_of("MULTI\r\nSET %s 1\r\nEXEC\r\n", world_key(&world, 0, true, 0)), 20);
    world_set(&world, MOVE_PREPARED, NULL);
    io_sim_run(100, NULL);
    assert_int_equal(world.acked, 0);
    io_sim_resume(fixture_address(0));
    io_sim_run(20, NULL);
    assert_int_equal(world.acked, 1);
    world_stop(&world);
}

static void exec_with_a_write_that_moves_waits_and_is_done_by_the_new_owner(void **state)
{
    struct world world;
    world_begin(&world, 1);
    go_to(&world, MOVE_FROZEN);
    const char *moving = world_key(&world, 0, true, 0);
    assert_string_equal(text_ask(world.client, text_of("MULTI\r\nGET %s\r\nSET %s 1\r\nEXEC\r\n"
                                                       "PING\r\n",
                                                       moving, moving)),
                        "+OK\r\n+QUEUED\r\n+QUEUED\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), "");
    assert_int_equal(world.counters.held, 1);
    world_switch(&world);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n+PONG\r\n");
    assert_string_equal(recorder_take(world.nodes[2]),
                        text_of("MULTI\nGET %s\nSET %s 1\nEXEC\n", moving, moving));
    assert_string_equal(recorder_take(world.nodes[0]), "");
    world_stop(&world);
}

static void when_the_transition_is_cancelled_the_old_owner_does_it(void **state)
{
    struct world world;
    world_begin(&world, 1);
    go_to(&world, MOVE_FROZEN);
    const char *moving = world_key(&world, 0, true, 0);
    text_ask(world.client, text_of("MULTI\r\nSET %s 1\r\nEXEC\r\n", moving));
    world_set(&world, MOVE_NONE, NULL);
    assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), text_of("MULTI\nSET %s 1\nEXEC\n", moving));
    world_stop(&world);
}

static void reads_of_what_moves_and_writes_of_what_stays_do_not_wait(void **state)
{
    struct world world;
    world_begin(&world, 1);
    go_to(&world, MOVE_FROZEN);
    const char *moving = world_key(&world, 0, true, 0), *still = world_key(&world, 0, false, 0);
    assert_string_equal(
        text_ask(world.client, text_of("MULTI\r\nGET %s\r\nSET %s 1\r\nEXEC\r\n", moving, still)),
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("MULTI\nGET %s\nSET %s 1\nEXEC\n", moving, still));
    world_stop(&world);
}

static void keys_that_the_switch_parts_are_refused_by_exec(void **state)
{
    struct world world;
    world_begin(&world, 1);
    const char *moving = world_key(&world, 0, true, 0), *still = world_key(&world, 0, false, 0);
    text_ask(world.client, text_of("MULTI\r\nSET %s 1\r\nSET %s 1\r\n", moving, still));
    world_switch(&world);
    io_sim_run(20, NULL);
    take_all(&world);
    assert_string_equal(
        text_ask(world.client, "EXEC\r\n"),
        text_of("-CROSSNODE 'MULTI' needs all its keys on one node, but '%s' is on 'n2' and '%s' "
                "on 'n0'; a common hash tag, as in {x}1 and {x}2, keeps keys together\r\n",
                moving, still));
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        assert_string_equal(recorder_take(world.nodes[i]), "");
    assert_string_equal(text_ask(world.client, "EXEC\r\n"), "-ERR EXEC without MULTI\r\n");
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_marks_of_all_its_writes_go_before_multi),
        cmocka_unit_test(reads_and_keys_that_stay_need_no_mark),
        cmocka_unit_test(a_mark_that_fails_is_counted),
        cmocka_unit_test(what_was_said_before_tracking_is_marked_by_exec),
        cmocka_unit_test(one_that_a_node_still_has_delays_a_state),
        cmocka_unit_test(exec_with_a_write_that_moves_waits_and_is_done_by_the_new_owner),
        cmocka_unit_test(when_the_transition_is_cancelled_the_old_owner_does_it),
        cmocka_unit_test(reads_of_what_moves_and_writes_of_what_stays_do_not_wait),
        cmocka_unit_test(keys_that_the_switch_parts_are_refused_by_exec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
