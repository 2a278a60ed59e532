/*
 * WATCH while keys move, one promise a test: it holds in every phase, and not over the switch.
 * covers: watch, exec
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

/* Watches a key that moves, and begins to write it when a phase has come. */
static const char *watch_and_set(struct world *world, enum move_phase phase)
{
    world_begin(world, 1);
    const char *key = world_key(world, 0, true, 0);
    assert_string_equal(text_ask(world->client, text_of("WATCH %s\r\n", key)), "+OK\r\n");
    for (int i = MOVE_PREPARED; i <= (int)phase; i++)
        world_set(world, (enum move_phase)i, NULL);
    io_sim_run(20, NULL);
    assert_int_equal(world->acked, phase); /* what is watched delays no state */
    take_all(world);
    text_ask(world->client, text_of("MULTI\r\nSET %s 1\r\n", key));
    return key;
}

static void it_holds_in_every_phase_before_the_switch(void **state)
{
    for (int phase = MOVE_NONE; phase <= MOVE_TRACKING; phase++) {
        struct world world;
        const char *key = watch_and_set(&world, (enum move_phase)phase);
        assert_string_equal(text_ask(world.client, "EXEC\r\n"), "+OK\r\n");
        const char *mark = phase == MOVE_TRACKING ? text_of("SADD dirty k%s\n", key) : "";
        assert_string_equal(recorder_take(world.nodes[0]),
                            text_of("%sMULTI\nSET %s 1\nEXEC\n", mark, key));
        world_stop(&world);
    }
}

static void held_by_the_freeze_it_is_nil_after_the_switch(void **state)
{
    struct world world;
    watch_and_set(&world, MOVE_FROZEN);
    assert_string_equal(text_ask(world.client, "EXEC\r\n"), "");
    assert_int_equal(world.counters.held, 1);
    world_switch(&world);
    assert_string_equal(text_ask(world.client, "PING\r\n"), "*-1\r\n+PONG\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), "UNWATCH\n");
    assert_string_equal(recorder_take(world.nodes[2]), "");
    world_stop(&world);
}

static void held_by_the_freeze_it_holds_if_that_is_given_up(void **state)
{
    for (int is_cancelled = 0; is_cancelled < 2; is_cancelled++) {
        struct world world;
        const char *key = watch_and_set(&world, MOVE_FROZEN);
        assert_string_equal(text_ask(world.client, "EXEC\r\n"), "");
        world_set(&world, is_cancelled ? MOVE_NONE : MOVE_TRACKING, NULL);
        assert_string_equal(text_ask(world.client, ""), "+OK\r\n");
        assert_string_equal(recorder_take(world.nodes[0]),
                            text_of("%sMULTI\nSET %s 1\nEXEC\n",
                                    is_cancelled ? "" : text_of("SADD dirty k%s\n", key), key));
        world_stop(&world);
    }
}

/* Another worker that has switched may have had the watched key written at its new owner. */
static void exec_waits_for_the_end_of_the_freeze_whatever_it_does(void **state)
{
    struct world world;
    world_begin(&world, 1);
    const char *moves = world_key(&world, 0, true, 0), *stays = world_key(&world, 0, false, 0);
    text_ask(world.client, text_of("WATCH %s\r\n", moves));
    for (int i = MOVE_PREPARED; i <= MOVE_FROZEN; i++)
        world_set(&world, (enum move_phase)i, NULL);
    io_sim_run(20, NULL);
    take_all(&world);
    assert_string_equal(
        text_ask(world.client, text_of("MULTI\r\nGET %s\r\nSET %s 1\r\nEXEC\r\n", stays, stays)),
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n");
    world_switch(&world);
    assert_string_equal(text_ask(world.client, ""), "*-1\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), "UNWATCH\n");
    world_stop(&world);
}

static void over_the_switch_exec_is_nil_whatever_is_watched(void **state)
{
    for (int moves = 0; moves < 2; moves++) {
        struct world world;
        world_begin(&world, 1);
        const char *key = world_key(&world, 0, moves, 0), *more = world_key(&world, 0, moves, 1);
        text_ask(world.client, text_of("WATCH %s\r\nGET %s\r\n", key, key));
        for (int i = MOVE_PREPARED; i <= MOVE_FROZEN; i++)
            world_set(&world, (enum move_phase)i, NULL);
        world_switch(&world);
        io_sim_run(20, NULL);
        take_all(&world);
        /* Not even if more is watched now, at whichever node. */
        assert_string_equal(
            text_ask(world.client, text_of("WATCH %s\r\nMULTI\r\nSET %s 1\r\nEXEC\r\n", more, key)),
            "+OK\r\n+OK\r\n+QUEUED\r\n*-1\r\n");
        assert_string_equal(recorder_take(world.nodes[0]), "UNWATCH\n");
        assert_string_equal(recorder_take(world.nodes[2]), "");
        /* The next try is a new one, under the new map. */
        assert_string_equal(
            text_ask(world.client, text_of("WATCH %s\r\nMULTI\r\nSET %s 1\r\nEXEC\r\n", key, key)),
            "+OK\r\n+OK\r\n+QUEUED\r\n+OK\r\n");
        const char *record = recorder_take(world.nodes[moves ? 2 : 0]);
        assert_non_null(strstr(record, text_of("WATCH %s\nMULTI\nSET %s 1\nEXEC\n", key, key)));
        world_stop(&world);
    }
}

static void a_node_that_goes_with_the_switch_takes_the_watch_with_it(void **state)
{
    struct world world;
    world_begin(&world, 1);
    const char *key = world_key(&world, 1, false, 0);
    text_ask(world.client, text_of("WATCH %s\r\n", key));
    cw_map_unref(&world.then);
    world.then = world_map(2, 1, NULL);
    world_switch(&world);
    io_sim_run(2000, NULL); /* it is destroyed by then */
    assert_string_equal(
        text_ask(world.client, text_of("GET %s\r\nMULTI\r\nSET %s 1\r\nEXEC\r\n", key, key)),
        "+OK\r\n+OK\r\n+QUEUED\r\n*-1\r\n");
    assert_string_equal(text_ask(world.client, "UNWATCH\r\n"), "+OK\r\n");
    world_stop(&world);
}

/* A user that may say MULTI and not EXEC leaves the connection, which is everybody's, in between.
 */
static void a_node_that_refuses_exec_loses_its_connection(void **state)
{
    for (int is_watched = 0; is_watched < 2; is_watched++) {
        struct world world;
        world_begin(&world, 1);
        struct text_client *other = text_client_create("router:7400");
        const char *key = world_key(&world, 0, false, 0);
        world.nodes[0]->exec_reply = "-NOPERM this user may not run the 'exec' command\r\n";
        text_ask(world.client, text_of(is_watched ? "WATCH %s\r\n" : "GET %s\r\n", key));
        uint32_t before = world.nodes[0]->connects;
        assert_string_equal(
            text_ask(world.client, text_of("MULTI\r\nSET %s 1\r\nEXEC\r\n", key)),
            "+OK\r\n+QUEUED\r\n-NOPERM this user may not run the 'exec' command\r\n");
        text_ask(other, text_of(is_watched ? "WATCH %s\r\n" : "GET %s\r\n", key));
        assert_int_equal(world.nodes[0]->connects, before + 1);
        assert_string_equal(text_ask(world.client, text_of("GET %s\r\n", key)), "+OK\r\n");
        text_client_destroy(other);
        world_stop(&world);
    }
}

/* One that is read in pieces lies in a buffer of the connection that is closed for it. */
static void its_refusal_may_be_long(void **state)
{
    static char refusal[100 * 1024];
    struct world world;
    world_begin(&world, 1);
    memset(refusal, 'x', sizeof refusal - 3);
    memcpy(refusal, "-NOPERM ", 8);
    memcpy(refusal + sizeof refusal - 3, "\r\n", 3);
    world.nodes[0]->exec_reply = refusal;
    const char *key = world_key(&world, 0, false, 0);
    assert_memory_equal(text_ask(world.client, text_of("MULTI\r\nSET %s 1\r\nEXEC\r\n", key)),
                        "+OK\r\n+QUEUED\r\n-NOPERM xxxxxxxx", 29);
    assert_string_equal(text_ask(world.client, text_of("GET %s\r\n", key)), "+OK\r\n");
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_in_every_phase_before_the_switch),
        cmocka_unit_test(held_by_the_freeze_it_is_nil_after_the_switch),
        cmocka_unit_test(held_by_the_freeze_it_holds_if_that_is_given_up),
        cmocka_unit_test(exec_waits_for_the_end_of_the_freeze_whatever_it_does),
        cmocka_unit_test(over_the_switch_exec_is_nil_whatever_is_watched),
        cmocka_unit_test(a_node_that_goes_with_the_switch_takes_the_watch_with_it),
        cmocka_unit_test(a_node_that_refuses_exec_loses_its_connection),
        cmocka_unit_test(its_refusal_may_be_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
