/*
 * Clients that wait at a node, one promise a test.
 * covers: blocking
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/blocking_stage.h"

/* ---- waiting --------------------------------------------------------------------------------- */

static void what_is_there_is_taken_at_once(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.stays;
    /* Each takes another connection than the one before it, and still they are in order. */
    assert_string_equal(
        text_ask(stage.a, text_of("RPUSH %s 1 2 3\r\nBLPOP %s 0\r\nBRPOP %s 0\r\nLLEN %s\r\n", key,
                                  key, key, key)),
        text_of(":3\r\n%s%s:1\r\n", popped(key, "1"), popped(key, "3")));
    assert_int_equal(blocked_clients(&stage), 0);
    end(&stage);
}

static void what_was_asked_before_is_done_before(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.stays;
    text_ask(stage.a, text_of("RPUSH %s x x x\r\nBLPOP %s 0\r\n", key, key));
    memory_node_delay(stage.fixture.nodes[0], "LPUSH", 1, 50, false);
    assert_string_equal(
        text_ask(stage.a, text_of("LPUSH %s first\r\nBLPOP %s 0\r\nLLEN %s\r\n", key, key, key)),
        text_of(":3\r\n%s:2\r\n", popped(key, "first")));
    end(&stage);
}

static void a_client_waits_until_another_pushes(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.stays;
    assert_string_equal(text_ask(stage.a, text_of("BLPOP none{%s} %s 0\r\n", key, key)), "");
    assert_int_equal(blocked_clients(&stage), 1);
    assert_string_equal(text_ask(stage.b, text_of("RPUSH %s x\r\n", key)), ":1\r\n");
    assert_string_equal(text_ask(stage.a, ""), popped(key, "x"));
    assert_int_equal(blocked_clients(&stage), 0);
    assert_string_equal(text_ask(stage.a, text_of("BLMOVE %s %s LEFT RIGHT 0\r\n", key, key)), "");
    text_ask(stage.b, text_of("RPUSH %s y\r\n", key));
    assert_string_equal(text_ask(stage.a, ""), "$1\r\ny\r\n");
    end(&stage);
}

static void all_keys_have_to_be_on_one_node(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *other = key_on_node(stage.fixture.map, 1, 0);
    assert_memory_equal(text_ask(stage.a, text_of("BLPOP %s %s 0\r\n", stage.stays, other)),
                        "-CROSSNODE 'BLPOP' needs all its keys on one node", 49);
    assert_string_equal(text_ask(stage.a, "PING\r\n"), "+PONG\r\n");
    end(&stage);
}

static void what_is_behind_waits_too(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.stays;
    assert_string_equal(text_ask(stage.a, text_of("SET a 1\r\nBLPOP %s 0\r\nGET a\r\n", key)),
                        "+OK\r\n");
    assert_string_equal(text_ask(stage.a, "SET a 2\r\nGET a\r\nECHO x\r\n"), "");
    assert_string_equal(text_ask(stage.b, text_of("GET a\r\nRPUSH %s v\r\n", key)),
                        "$1\r\n1\r\n:1\r\n");
    assert_string_equal(text_ask(stage.a, ""),
                        text_of("%s$1\r\n1\r\n+OK\r\n$1\r\n2\r\n$1\r\nx\r\n", popped(key, "v")));
    end(&stage);
}

static void the_timeout_ends_with_nil(void **state)
{
    struct stage stage;
    begin(&stage);
    assert_string_equal(text_ask_for(stage.a, text_of("BLPOP %s 1.5\r\n", stage.stays), 1450), "");
    assert_string_equal(text_ask_for(stage.a, "", 100), "*-1\r\n");
    end(&stage);
}

static void a_client_that_waits_for_long_takes_no_node_down(void **state)
{
    struct stage stage;
    begin(&stage);
    assert_string_equal(text_ask_for(stage.a, text_of("BLPOP %s 0\r\n", stage.stays), 60000), "");
    assert_string_equal(text_ask(stage.b, text_of("SET %s v\r\n", stage.moves)), "+OK\r\n");
    struct node_report report;
    worker_read_node(stage.fixture.workers[0], 0, 0, &report);
    assert_int_equal(report.health, NODE_UP);
    assert_int_equal(report.in_flight, 1);
    assert_int_equal(report.timeouts, 0);
    end(&stage);
}

static void what_a_client_waited_for_stays_when_it_leaves(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\nSET behind 1\r\n", stage.stays));
    text_client_destroy(stage.a);
    stage.a = NULL;
    io_sim_run(50, NULL);
    assert_int_equal(blocked_clients(&stage), 0);
    text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.stays));
    assert_int_equal(list_len(&stage, 0, stage.stays), 1);
    assert_string_equal(text_ask(stage.b, "GET behind\r\n"), "$-1\r\n");
    end(&stage);
}

static void its_connection_serves_the_next_client(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.stays;
    text_ask(stage.a, text_of("BLPOP %s 0.01\r\n", key));
    uint64_t before = stage.fixture.nodes[0]->last_conn_id;
    for (int i = 0; i < 20; i++) {
        text_ask(stage.a, text_of("BLPOP %s 0\r\n", key));
        text_client_destroy(stage.a); /* UNBLOCK must not meet the next one */
        stage.a = text_client_create("router:7400");
        io_sim_run(20, NULL);
        text_ask(stage.b, text_of("BLPOP %s 0\r\n", key));
        text_ask(stage.a, text_of("RPUSH %s x\r\n", key));
        assert_string_equal(text_ask(stage.b, ""), popped(key, "x"));
    }
    assert_true(stage.fixture.nodes[0]->last_conn_id <= before + 1); /* the shared one */
    end(&stage);
}

/* ---- failing --------------------------------------------------------------------------------- */

static void a_node_that_dies_fails_those_who_wait(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays));
    memory_node_crash(stage.fixture.nodes[0], MEMORY_KEPT);
    assert_memory_equal(text_ask(stage.a, ""), "-NODEDOWN node 'n0' (sim-n0:1) closed the", 40);
    assert_int_equal(blocked_clients(&stage), 0);
    assert_string_equal(text_ask(stage.a, "PING\r\n"), "+PONG\r\n");
    end(&stage);
}

static void a_node_that_is_found_down_fails_those_who_wait(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays));
    memory_node_stop(stage.fixture.nodes[0]);
    text_ask_for(stage.b, text_of("GET %s\r\n", stage.stays), 1000);
    assert_string_equal(text_ask(stage.a, ""),
                        "-NODEDOWN node 'n0' (sim-n0:1) did not answer within 500 ms\r\n");
    assert_memory_equal(text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays)),
                        "-NODEDOWN node 'n0'", 19);
    end(&stage);
}

static void a_silent_node_is_given_up_after_the_timeout(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 1\r\n", stage.stays));
    memory_node_stop(stage.fixture.nodes[0]);
    assert_string_equal(text_ask_for(stage.a, "", 1000), "");
    assert_memory_equal(text_ask_for(stage.a, "", 500), "-NODEDOWN node 'n0'", 19);
    end(&stage);
}

static void over_the_limit_the_error_names_it(void **state)
{
    struct stage stage = {.acked = 0};
    fixture_init(&stage.fixture, NOW, 1);
    stage.fixture.options.limits.own_links_max = 1;
    begin_with(&stage, &calm);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays));
    const char *answer = text_ask(stage.b, text_of("BLPOP %s 0\r\n", stage.stays));
    assert_memory_equal(answer, "-BUSY node 'n0' (sim-n0:1) has 1 connections", 44);
    assert_non_null(strstr(answer, "(limits.own_connections)\r\n"));
    assert_string_equal(text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.stays)), ":1\r\n");
    assert_string_equal(text_ask(stage.a, ""), popped(stage.stays, "x"));
    end(&stage);
}

static void who_waits_where_another_node_stood_in_goes_back(void **state)
{
    struct stage stage = {.acked = 0};
    fixture_init(&stage.fixture, NOW, 1);
    stage.fixture.pool.on_node_down = NODE_DOWN_NEXT;
    begin_with(&stage, &calm);
    memory_node_crash(stage.fixture.nodes[0], MEMORY_KEPT);
    text_ask(stage.b, text_of("GET %s\r\n", stage.stays));
    assert_string_equal(text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays)), "");
    assert_false(list_is_empty(&stage.fixture.nodes[1]->blocked));
    memory_node_restart(stage.fixture.nodes[0]);
    io_sim_run(1000, NULL);
    assert_true(list_is_empty(&stage.fixture.nodes[1]->blocked));
    assert_string_equal(text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.stays)), ":1\r\n");
    assert_string_equal(text_ask(stage.a, ""), popped(stage.stays, "x"));
    end(&stage);
}

static void where_unblock_is_not_allowed_the_connection_is_closed(void **state)
{
    struct stage stage;
    begin(&stage);
    stage.fixture.nodes[0]->refuses_unblock = true;
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
    set_state(&stage, MOVE_TRACKING, "dirty");
    assert_string_equal(text_ask(stage.a, ""),
                        "-NODEDOWN node 'n0' (sim-n0:1) refuses to end a wait (CLIENT UNBLOCK): "
                        "ERR unknown subcommand\r\n");
    assert_int_equal(stage.acked, 1);
    assert_true(list_is_empty(&stage.fixture.nodes[0]->blocked));
    assert_string_equal(text_ask(stage.b, text_of("SET %s v\r\n", stage.stays)), "+OK\r\n");
    end(&stage);
}

static void a_wait_that_its_node_does_not_know_ends(void **state)
{
    struct stage stage;
    begin(&stage);
    stage.fixture.nodes[0]->unblocks_nobody = true;
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
    set_state(&stage, MOVE_TRACKING, "dirty");
    assert_string_equal(text_ask_for(stage.a, "", 300), "");
    assert_int_equal(stage.acked, 0);
    assert_string_equal(text_ask_for(stage.a, "", 300),
                        "-NODEDOWN node 'n0' (sim-n0:1) did not answer within 500 ms\r\n");
    assert_int_equal(stage.acked, 1);
    assert_string_equal(text_ask(stage.b, text_of("SET %s v\r\n", stage.stays)), "+OK\r\n");
    end(&stage);
}

static void a_client_that_its_node_does_not_know_leaves(void **state)
{
    struct stage stage;
    begin(&stage);
    stage.fixture.nodes[0]->unblocks_nobody = true;
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
    text_client_destroy(stage.a);
    stage.a = NULL;
    io_sim_run(1000, NULL);
    assert_true(list_is_empty(&stage.fixture.nodes[0]->blocked));
    assert_int_equal(blocked_clients(&stage), 0);
    end(&stage);
}

static void a_node_that_is_busy_with_a_script_is_asked_again(void **state)
{
    struct stage stage;
    begin(&stage);
    stage.fixture.nodes[0]->busy_unblocks = 3;
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
    set_state(&stage, MOVE_TRACKING, "dirty");
    assert_string_equal(text_ask(stage.a, ""), "");
    assert_int_equal(stage.fixture.nodes[0]->busy_unblocks, 0);
    assert_int_equal(stage.acked, 1);
    text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.moves));
    assert_string_equal(text_ask(stage.a, ""), popped(stage.moves, "x"));
    end(&stage);
}

static void who_waited_for_long_is_not_idle_when_it_is_answered(void **state)
{
    struct stage stage = {.acked = 0};
    fixture_init(&stage.fixture, NOW, 1);
    stage.fixture.options.limits.idle_ms = 300;
    begin_with(&stage, &calm);
    text_ask_for(stage.a, text_of("BLPOP %s 1\r\n", stage.stays), 900);
    assert_string_equal(text_ask_for(stage.a, "", 200), "*-1\r\n");
    assert_string_equal(text_ask_for(stage.a, "PING\r\n", 200), "+PONG\r\n");
    end(&stage);
}

static void workers_end_while_clients_wait(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays));
    memory_node_stop(stage.fixture.nodes[0]);
    text_ask(stage.b, text_of("BLPOP %s 0\r\n", stage.moves));
    set_state(&stage, MOVE_TRACKING, "dirty");
    io_sim_run(50, NULL); /* they are being woken, and no answer comes */
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_taken_at_once),
        cmocka_unit_test(what_was_asked_before_is_done_before),
        cmocka_unit_test(a_client_waits_until_another_pushes),
        cmocka_unit_test(all_keys_have_to_be_on_one_node),
        cmocka_unit_test(what_is_behind_waits_too),
        cmocka_unit_test(the_timeout_ends_with_nil),
        cmocka_unit_test(a_client_that_waits_for_long_takes_no_node_down),
        cmocka_unit_test(what_a_client_waited_for_stays_when_it_leaves),
        cmocka_unit_test(its_connection_serves_the_next_client),
        cmocka_unit_test(a_node_that_dies_fails_those_who_wait),
        cmocka_unit_test(a_node_that_is_found_down_fails_those_who_wait),
        cmocka_unit_test(a_silent_node_is_given_up_after_the_timeout),
        cmocka_unit_test(over_the_limit_the_error_names_it),
        cmocka_unit_test(who_waits_where_another_node_stood_in_goes_back),
        cmocka_unit_test(where_unblock_is_not_allowed_the_connection_is_closed),
        cmocka_unit_test(a_wait_that_its_node_does_not_know_ends),
        cmocka_unit_test(a_client_that_its_node_does_not_know_leaves),
        cmocka_unit_test(a_node_that_is_busy_with_a_script_is_asked_again),
        cmocka_unit_test(who_waited_for_long_is_not_idle_when_it_is_answered),
        cmocka_unit_test(workers_end_while_clients_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
