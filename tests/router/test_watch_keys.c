/*
 * WATCH over memory nodes, one promise a test. (While keys move: test_watch_moves.c.)
 * covers: watch
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/transaction_world.h"

static const char incremented[] = "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n";
static const char nothing_done[] = "+OK\r\n+QUEUED\r\n*-1\r\n";
static const char increment[] = "MULTI\r\nINCR {x}1\r\nEXEC\r\n";

static struct memory_node *node_of(struct transactions *world, const char *key)
{
    return world->fixture.nodes[cw_locate_key(world->fixture.map, key, strlen(key))];
}

static uint32_t connections_of(const struct memory_node *node)
{
    uint32_t count = 0;
    list_for_each (link, &node->conns)
        count++;
    return count;
}

static void exec_is_done_if_nobody_wrote(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(text_ask(world.a, "WATCH {x}1 {x}2\r\nGET {x}1\r\n"), "+OK\r\n$-1\r\n");
    text_ask(world.b, "GET {x}1\r\nSET {x}3 1\r\n");
    assert_string_equal(text_ask(world.a, increment), incremented);
    transactions_end(&world);
}

static void exec_answers_nil_and_does_nothing_if_somebody_wrote(void **state)
{
    static const char *const writes[] = {"SET {x}1 7\r\n", "DEL {x}2\r\n", "FLUSHALL\r\n",
                                         "MULTI\r\nSET {x}2 1\r\nEXEC\r\n"};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        struct transactions world;
        transactions_begin(&world);
        text_ask(world.a, "SET {x}2 2\r\nWATCH {x}1\r\nWATCH {x}2\r\n");
        text_ask(world.b, writes[i]);
        assert_string_equal(text_ask(world.a, increment), nothing_done);
        assert_string_equal(text_ask(world.b, "DEL {x}1\r\n"), i == 0 ? ":1\r\n" : ":0\r\n");
        /* and is over then */
        assert_string_equal(text_ask(world.a, increment), incremented);
        transactions_end(&world);
    }
}

static void its_own_writes_count_too(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "WATCH {x}1\r\nSET {x}1 1\r\n");
    assert_string_equal(text_ask(world.a, increment), nothing_done);
    transactions_end(&world);
}

static void writes_between_multi_and_exec_count(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "WATCH {x}1\r\nMULTI\r\nINCR {x}1\r\n");
    text_ask(world.b, "SET {x}1 5\r\n");
    assert_string_equal(text_ask(world.a, "EXEC\r\n"), "*-1\r\n");
    transactions_end(&world);
}

static void an_empty_transaction_tells_whether_somebody_wrote(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(text_ask(world.a, "WATCH {x}1\r\nMULTI\r\nEXEC\r\n"),
                        "+OK\r\n+OK\r\n*0\r\n");
    text_ask(world.a, "WATCH {x}1\r\n");
    text_ask(world.b, "SET {x}1 1\r\n");
    assert_string_equal(text_ask(world.a, "MULTI\r\nEXEC\r\n"), "+OK\r\n*-1\r\n");
    transactions_end(&world);
}

/* What is asked before, meanwhile and after takes two connections, and stays in order. */
static void a_pipeline_with_a_watch_in_it_is_done_in_order(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(
        text_ask(world.a, "SET {x}1 4\r\nINCR {x}1\r\nWATCH {x}1\r\nGET {x}1\r\nMULTI\r\n"
                          "INCR {x}1\r\nEXEC\r\nINCR {x}1\r\nGET {x}1\r\nWATCH {x}1\r\n"
                          "INCR {x}1\r\nUNWATCH\r\nINCR {x}1\r\nGET {x}1\r\n"),
        "+OK\r\n:5\r\n+OK\r\n$1\r\n5\r\n+OK\r\n+QUEUED\r\n*1\r\n:6\r\n:7\r\n$1\r\n7\r\n+OK\r\n"
        ":8\r\n+OK\r\n:9\r\n$1\r\n9\r\n");
    transactions_end(&world);
}

/* Held up on the client's own connection, an answer is not overtaken on the other one. */
static void what_follows_exec_waits_for_it(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "WATCH {x}1\r\n");
    memory_node_delay(node_of(&world, "{x}1"), "EXEC", 1, 50, false);
    assert_string_equal(text_ask(world.a, "MULTI\r\nSET {x}1 1\r\nEXEC\r\nGET {x}1\r\nSET {x}1 "
                                          "2\r\nGET {x}1\r\n"),
                        "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n$1\r\n1\r\n+OK\r\n$1\r\n2\r\n");
    transactions_end(&world);
}

/* ---- how it ends ----------------------------------------------------------------------------- */

static void the_connection_goes_to_the_next_client_with_nothing_watched(void **state)
{
    static const char *const ends[] = {
        "UNWATCH\r\n",       "MULTI\r\nDISCARD\r\n",          "RESET\r\n",
        "MULTI\r\nEXEC\r\n", "MULTI\r\nnonsense\r\nEXEC\r\n", "MULTI\r\nEXEC x\r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct transactions world;
        transactions_begin(&world);
        struct memory_node *node = node_of(&world, "{x}1");
        text_ask(world.a, "WATCH {x}1\r\n");
        uint32_t connections = connections_of(node);
        const char *answer = text_ask(world.a, ends[i]);
        assert_true(strncmp(answer, "+OK\r\n", 5) == 0 || strncmp(answer, "+RESET", 6) == 0);
        assert_string_equal(text_ask(world.b, "WATCH {x}2\r\n"), "+OK\r\n");
        assert_int_equal(connections_of(node), connections);
        text_ask(world.a, "SET {x}1 0\r\n"); /* which only the first client watched */
        assert_string_equal(text_ask(world.b, increment), incremented);
        transactions_end(&world);
    }
}

static void a_client_that_leaves_leaves_no_watch(void **state)
{
    static const char under_way[] = "MULTI\r\nGET {x}1\r\nEXEC\r\n";
    static const char *const lasts[] = {"", "MULTI\r\n", "QUIT\r\n", under_way};
    for (size_t i = 0; i < sizeof lasts / sizeof lasts[0]; i++) {
        struct transactions world;
        transactions_begin(&world);
        text_ask(world.a, "WATCH {x}1\r\n");
        text_send(world.a, lasts[i]);
        io_sim_run(lasts[i] == under_way ? 0 : 20, NULL);
        io_close(&world.a->conn);
        io_sim_run(50, NULL);
        assert_string_equal(text_ask(world.b, "WATCH {x}2\r\nSET {x}1 0\r\n"), "+OK\r\n+OK\r\n");
        assert_string_equal(text_ask(world.b, increment), incremented);
        transactions_end(&world);
    }
}

static void discard_and_unwatch_end_it(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "WATCH {x}1\r\nMULTI\r\nINCR {x}1\r\nDISCARD\r\nWATCH {x}1\r\nUNWATCH\r\n");
    text_ask(world.b, "SET {x}1 0\r\n");
    assert_string_equal(text_ask(world.a, increment), incremented);
    assert_string_equal(text_ask(world.a, "UNWATCH\r\n"), "+OK\r\n");
    transactions_end(&world);
}

/* ---- how it is lost -------------------------------------------------------------------------- */

static void a_connection_that_broke_makes_exec_nil(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    struct memory_node *node = node_of(&world, "{x}1");
    text_ask(world.a, "WATCH {x}1\r\n");
    memory_node_crash(node, MEMORY_KEPT);
    memory_node_restart(node);
    io_sim_run(1000, NULL);
    assert_string_equal(text_ask(world.a, "GET {x}1\r\n"), "$-1\r\n");   /* others' connection */
    assert_string_equal(text_ask(world.a, "WATCH {x}2\r\n"), "+OK\r\n"); /* mends nothing */
    assert_string_equal(text_ask(world.a, increment), nothing_done);
    assert_string_equal(text_ask(world.a, "WATCH {x}1\r\n"), "+OK\r\n"); /* is a new one */
    assert_string_equal(text_ask(world.a, increment), incremented);
    transactions_end(&world);
}

static void a_connection_that_breaks_under_exec_fails_it(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    struct memory_node *node = node_of(&world, "{x}1");
    text_ask(world.a, "WATCH {x}1\r\n");
    memory_node_delay(node, "EXEC", 1, 100, false);
    text_ask_for(world.a, increment, 20);
    memory_node_crash(node, MEMORY_KEPT);
    assert_memory_equal(text_ask(world.a, ""), "-NODEDOWN node 'n", 17);
    memory_node_restart(node);
    io_sim_run(1000, NULL);
    assert_string_equal(text_ask(world.a, increment), incremented);
    transactions_end(&world);
}

static void the_other_protocol_makes_exec_nil(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "WATCH {x}1\r\nHELLO 2\r\n");
    assert_string_equal(text_ask(world.a, increment), incremented);
    text_ask(world.a, "DEL {x}1\r\nWATCH {x}1\r\nHELLO 3\r\n");
    assert_string_equal(text_ask(world.a, "GET {x}1\r\n"), "_\r\n");
    assert_string_equal(text_ask(world.a, increment), "+OK\r\n+QUEUED\r\n_\r\n");
    text_ask(world.a, "WATCH {x}1\r\n");
    assert_string_equal(text_ask(world.a, increment), incremented);
    transactions_end(&world);
}

/* With on_node_down: next. Writes go back to the owner, where nobody watches. */
static void an_owner_that_comes_back_makes_exec_nil(void **state)
{
    for (int watches_more = 0; watches_more < 2; watches_more++) {
        struct transactions world;
        transactions_init(&world);
        world.fixture.pool.on_node_down = NODE_DOWN_NEXT;
        transactions_start(&world);
        struct memory_node *owner = node_of(&world, "{x}1");
        memory_node_crash(owner, MEMORY_KEPT);
        text_ask_for(world.a, "GET {x}1\r\n", 1000);
        assert_string_equal(text_ask(world.a, "WATCH {x}1\r\n"), "+OK\r\n");
        assert_string_equal(text_ask(world.a, increment), incremented); /* by the next node */
        text_ask(world.a, "WATCH {x}1\r\n");
        memory_node_restart(owner);
        io_sim_run(1000, NULL);
        if (watches_more)
            assert_string_equal(text_ask(world.a, "WATCH {x}2\r\n"), "+OK\r\n");
        assert_string_equal(text_ask(world.a, increment), nothing_done);
        text_ask(world.b, "SET {x}2 1\r\n"); /* which is watched on nobody's connection */
        assert_string_equal(text_ask(world.a, increment), incremented); /* by the owner */
        transactions_end(&world);
    }
}

static void resp3_gets_its_nil(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "HELLO 3\r\nWATCH {x}1\r\n");
    text_ask(world.b, "SET {x}1 3\r\n");
    assert_string_equal(text_ask(world.a, increment), "+OK\r\n+QUEUED\r\n_\r\n");
    transactions_end(&world);
}

static void a_refused_watch_is_as_none_if_the_client_waits_for_the_answer(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    struct memory_node *node = node_of(&world, "{x}1");
    text_ask(world.a, "WATCH {x}1\r\nUNWATCH\r\n"); /* the connection is there */
    node->is_loading = true;
    assert_string_equal(text_ask(world.a, "WATCH {x}1\r\n"),
                        "-LOADING Redis is loading the dataset in memory\r\n");
    node->is_loading = false;
    assert_string_equal(text_ask(world.a, increment), incremented);
    node->is_loading = true;
    memory_node_delay(node, "WATCH", 1, 50, false);
    text_ask_for(world.a, "WATCH {x}1\r\nMULTI\r\nINCR {x}1\r\n", 80);
    node->is_loading = false;
    assert_string_equal(text_ask(world.a, "EXEC\r\n"), "*-1\r\n");
    transactions_end(&world);
}

static void a_watch_that_the_node_refused_makes_exec_nil(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    struct memory_node *node = node_of(&world, "{x}1");
    text_ask(world.a, "WATCH {x}2\r\n");
    node->is_loading = true;
    assert_string_equal(text_ask(world.a, "WATCH {x}1\r\n"),
                        "-LOADING Redis is loading the dataset in memory\r\n");
    node->is_loading = false;
    assert_string_equal(text_ask(world.a, increment), nothing_done);
    transactions_end(&world);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void keys_of_two_nodes_are_refused(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    const char *first = key_on_node(world.fixture.map, 0, 0);
    const char *second = key_on_node(world.fixture.map, 1, 0);
    const char *crossing = text_join(text_join(first, "' is on 'n0' and '"),
                                     text_join(second, "' on 'n1'; a common hash tag"));
    const char *both = text_join(first, text_join(" ", text_join(second, "\r\n")));
    const char *answer = text_ask(world.a, text_join("WATCH ", both));
    assert_memory_equal(answer, "-CROSSNODE 'WATCH' needs", 24);
    assert_non_null(strstr(answer, crossing));
    /* Nothing is watched then. */
    assert_string_equal(text_ask(world.a, "MULTI\r\nEXEC\r\n"), "+OK\r\n*0\r\n");
    text_ask(world.a, text_join("WATCH ", text_join(first, "\r\n")));
    assert_non_null(
        strstr(text_ask(world.a, text_join("WATCH ", text_join(second, "\r\n"))), crossing));
    answer = text_ask(world.a, text_join("MULTI\r\nINCR ", text_join(second, "\r\nEXEC\r\n")));
    assert_memory_equal(answer, "+OK\r\n-CROSSNODE 'MULTI' needs", 29);
    assert_non_null(strstr(answer, crossing));
    assert_non_null(strstr(answer, "\r\n-EXECABORT Transaction discarded because of previous"));
    transactions_end(&world);
}

static void the_words_of_misuse_are_those_of_redis(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(text_ask(world.a, "WATCH\r\nMULTI\r\nWATCH {x}1\r\nEXEC\r\n"),
                        "-ERR wrong number of arguments for 'watch' command\r\n+OK\r\n"
                        "-ERR WATCH inside MULTI is not allowed\r\n*0\r\n");
    transactions_end(&world);
}

static void so_many_may_watch_at_one_node(void **state)
{
    struct transactions world;
    transactions_init(&world);
    world.fixture.options.limits.own_links_max = 1;
    transactions_start(&world);
    text_ask(world.a, "WATCH {x}1\r\n");
    const char *answer = text_ask(world.b, "WATCH {x}1\r\n");
    assert_memory_equal(answer, "-BUSY node 'n", 13);
    assert_non_null(strstr(answer, "(limits.own_connections)"));
    assert_string_equal(text_ask(world.b, "MULTI\r\nEXEC\r\n"), "+OK\r\n*0\r\n");
    text_ask(world.a, "UNWATCH\r\n");
    assert_string_equal(text_ask(world.b, "WATCH {x}1\r\n"), "+OK\r\n");
    transactions_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exec_is_done_if_nobody_wrote),
        cmocka_unit_test(exec_answers_nil_and_does_nothing_if_somebody_wrote),
        cmocka_unit_test(its_own_writes_count_too),
        cmocka_unit_test(writes_between_multi_and_exec_count),
        cmocka_unit_test(an_empty_transaction_tells_whether_somebody_wrote),
        cmocka_unit_test(a_pipeline_with_a_watch_in_it_is_done_in_order),
        cmocka_unit_test(what_follows_exec_waits_for_it),
        cmocka_unit_test(the_connection_goes_to_the_next_client_with_nothing_watched),
        cmocka_unit_test(a_client_that_leaves_leaves_no_watch),
        cmocka_unit_test(discard_and_unwatch_end_it),
        cmocka_unit_test(a_connection_that_broke_makes_exec_nil),
        cmocka_unit_test(a_connection_that_breaks_under_exec_fails_it),
        cmocka_unit_test(the_other_protocol_makes_exec_nil),
        cmocka_unit_test(an_owner_that_comes_back_makes_exec_nil),
        cmocka_unit_test(resp3_gets_its_nil),
        cmocka_unit_test(a_refused_watch_is_as_none_if_the_client_waits_for_the_answer),
        cmocka_unit_test(a_watch_that_the_node_refused_makes_exec_nil),
        cmocka_unit_test(keys_of_two_nodes_are_refused),
        cmocka_unit_test(the_words_of_misuse_are_those_of_redis),
        cmocka_unit_test(so_many_may_watch_at_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
