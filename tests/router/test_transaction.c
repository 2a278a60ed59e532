/*
 * Transactions over memory nodes, one promise a test. (While keys move: test_transaction_moves.c;
 * what is watched: test_watch_keys.c; the words beside a real server's: process/test_transactions.)
 * covers: transaction, exec
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/transaction_world.h"

static void what_is_between_multi_and_exec_is_done_by_exec(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(text_ask(world.a, "MULTI\r\nSET {x}1 5\r\nINCR {x}1\r\nGET {x}2\r\n"),
                        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n");
    assert_string_equal(text_ask(world.b, "GET {x}1\r\n"), "$-1\r\n");
    assert_non_null(strstr(text_ask(world.b, "CLIENT LIST\r\n"), " multi=3 "));
    assert_string_equal(text_ask(world.a, "EXEC\r\n"), "*3\r\n+OK\r\n:6\r\n$-1\r\n");
    assert_string_equal(text_ask(world.b, "GET {x}1\r\n"), "$1\r\n6\r\n");
    assert_string_equal(text_ask(world.a, "EXEC\r\n"), "-ERR EXEC without MULTI\r\n");
    transactions_end(&world);
}

static void a_whole_pipeline_is_answered_in_its_order(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(text_ask(world.a, "SET {x}1 1\r\nGET other\r\nMULTI\r\nINCR {x}1\r\n"
                                          "EXEC\r\nGET {x}1\r\nMULTI\r\nEXEC\r\nPING\r\n"),
                        "+OK\r\n$-1\r\n+OK\r\n+QUEUED\r\n*1\r\n:2\r\n$1\r\n2\r\n+OK\r\n*0\r\n"
                        "+PONG\r\n");
    transactions_end(&world);
}

static void an_error_of_a_command_leaves_the_others(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(
        text_ask(world.a, "MULTI\r\nSET {x}1 5\r\nRPUSH {x}1 v\r\nGET {x}1\r\nEXEC\r\n"),
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n"
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n$1\r\n5\r\n");
    transactions_end(&world);
}

static void inline_quotes_and_binary_go_in_as_they_are(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "MULTI\r\nSET {x}1 \"a\\r\\nb\"\r\n");
    static const char binary[] = "*3\r\n$3\r\nSET\r\n$4\r\n{x}2\r\n$4\r\n\0\r\n\0\r\n";
    text_send_bytes(world.a, binary, sizeof binary - 1);
    assert_string_equal(text_ask(world.a, "EXEC\r\n"), "+QUEUED\r\n*2\r\n+OK\r\n+OK\r\n");
    assert_string_equal(text_ask(world.a, "GET {x}1\r\nSTRLEN {x}2\r\n"), "$4\r\na\r\nb\r\n:4\r\n");
    transactions_end(&world);
}

/* ---- sharing a connection -------------------------------------------------------------------- */

/* Nothing of others is executed between the first and the last command of a transaction. */
struct watcher {
    bool is_inside;
    uint32_t transactions, others_inside, others;
};

static void watch_order(void *context, struct memory_call *call)
{
    struct watcher *watcher = context;
    struct slice name = memory_arg(call, 0);
    if (memory_name_is(name, "MULTI"))
        watcher->is_inside = true;
    else if (memory_name_is(name, "EXEC"))
        watcher->is_inside = false;
    watcher->transactions += memory_name_is(name, "MULTI");
    bool is_other = memory_name_is(name, "GET");
    watcher->others += is_other;
    watcher->others_inside += is_other && watcher->is_inside;
}

static void transactions_of_two_clients_and_plain_requests_do_not_mix(void **state)
{
    struct transactions world;
    struct watcher watcher = {0};
    transactions_begin(&world);
    uint32_t node = cw_locate_key(world.fixture.map, "{x}1", 4);
    world.fixture.nodes[node]->before = watch_order;
    world.fixture.nodes[node]->before_context = &watcher;
    struct text_client *c = text_client_create("router:7400");
    for (int i = 0; i < 20; i++) {
        text_send(world.a, "MULTI\r\nINCR {x}1\r\n");
        text_send(world.b, "MULTI\r\nINCR {x}1\r\nINCR {x}2\r\n");
        text_send(c, "GET {x}1\r\n");
        io_sim_run((uint64_t)i % 3, NULL);
        text_send(world.b, "EXEC\r\nGET {x}2\r\n");
        text_send(c, "GET {x}1\r\n");
        text_send(world.a, "INCR {x}2\r\nEXEC\r\nGET {x}1\r\n");
    }
    io_sim_run(200, NULL);
    assert_int_equal(watcher.transactions, 40);
    assert_int_equal(watcher.others, 80);
    assert_int_equal(watcher.others_inside, 0);
    buffer_clear(&world.a->in);
    assert_string_equal(text_ask(world.a, "MGET {x}1 {x}2\r\n"), "*2\r\n$2\r\n40\r\n$2\r\n40\r\n");
    text_client_destroy(c);
    transactions_end(&world);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void the_words_of_misuse_are_those_of_redis(void **state)
{
    static const char aborted[] =
        "-EXECABORT Transaction discarded because of previous errors.\r\n";
    const struct {
        const char *said, *answer;
    } cases[] = {
        {"EXEC\r\n", "-ERR EXEC without MULTI\r\n"},
        {"DISCARD\r\n", "-ERR DISCARD without MULTI\r\n"},
        {"MULTI\r\nMULTI\r\nEXEC\r\n", "+OK\r\n-ERR MULTI calls can not be nested\r\n*0\r\n"},
        {"MULTI\r\nGET\r\nGET a\r\nEXEC\r\n",
         text_join("+OK\r\n-ERR wrong number of arguments for 'get' command\r\n+QUEUED\r\n",
                   aborted)},
        {"MULTI\r\nEXEC x\r\nEXEC\r\n",
         "+OK\r\n-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
         "command\r\n-ERR EXEC without MULTI\r\n"},
        {"MULTI\r\nDISCARD x\r\nEXEC\r\n",
         text_join("+OK\r\n-ERR wrong number of arguments for 'discard' command\r\n", aborted)},
        {"MULTI\r\nSET a 1\r\nDISCARD\r\nGET a\r\n", "+OK\r\n+QUEUED\r\n+OK\r\n$-1\r\n"},
        {"MULTI\r\nSET a 1\r\nRESET\r\nEXEC\r\n",
         "+OK\r\n+QUEUED\r\n+RESET\r\n-ERR EXEC without MULTI\r\n"},
        {"MULTI\r\nSET a 1\r\nQUIT\r\n", "+OK\r\n+QUEUED\r\n+OK\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct transactions world;
        transactions_begin(&world);
        assert_string_equal(text_ask(world.a, cases[i].said), cases[i].answer);
        assert_string_equal(text_ask(world.b, "GET a\r\n"), "$-1\r\n");
        transactions_end(&world);
    }
}

static void a_command_that_is_not_for_one_node_is_refused_and_spoils_it(void **state)
{
    static const char *const refused[] = {"DBSIZE",      "SCAN 0",        "FLUSHALL", "CLIENT ID",
                                          "HELLO 3",     "SUBSCRIBE c",   "INFO",     "nonsense",
                                          "AUTH secret", "EVAL s many k", "KEYS *",   "SELECT 0"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct transactions world;
        transactions_begin(&world);
        const char *answer = text_ask(
            world.a, text_join("MULTI\r\nSET a 1\r\n", text_join(refused[i], "\r\nEXEC\r\n")));
        assert_memory_equal(answer, "+OK\r\n+QUEUED\r\n-ERR ", 19);
        assert_non_null(strstr(answer, "\r\n-EXECABORT Transaction discarded because of previous "
                                       "errors.\r\n"));
        assert_string_equal(text_ask(world.a, "GET a\r\n"), "$-1\r\n");
        transactions_end(&world);
    }
}

static void the_error_names_the_command_and_why(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    assert_string_equal(text_ask(world.a, "MULTI\r\nDBSIZE\r\nCLIENT ID\r\n"),
                        "+OK\r\n-ERR 'DBSIZE' is not available inside MULTI: a transaction is done "
                        "by the one node that has its keys, and this command asks all nodes\r\n"
                        "-ERR 'CLIENT' is not available inside MULTI: a transaction is done by the "
                        "one node that has its keys, and this command is the router's own\r\n");
    transactions_end(&world);
}

static void keys_of_two_nodes_are_refused_naming_both(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    const char *first = key_on_node(world.fixture.map, 0, 0);
    const char *second = key_on_node(world.fixture.map, 1, 0);
    text_ask(world.a, "MULTI\r\n");
    text_ask(world.a, text_join(text_join("SET ", first), " 1\r\n"));
    const char *crossing = text_join(
        text_join(text_join("-CROSSNODE 'MULTI' needs all its keys on one node, but '", first),
                  text_join("' is on 'n0' and '", second)),
        "' on 'n1'; a common hash tag, as in {x}1 and {x}2, keeps keys together\r\n");
    assert_string_equal(text_ask(world.a, text_join(text_join("SET ", second), " 1\r\n")),
                        crossing);
    assert_string_equal(text_ask(world.a, text_join(text_join("MGET ", first),
                                                    text_join(" ", text_join(second, "\r\n")))),
                        crossing);
    assert_string_equal(text_ask(world.a, "EXEC\r\n"),
                        "-EXECABORT Transaction discarded because of previous errors.\r\n");
    transactions_end(&world);
}

static void ping_echo_time_and_commands_without_keys_go_with_the_others(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    for (uint32_t node = 0; node < 2; node++) {
        const char *key = key_on_node(world.fixture.map, node, 0);
        text_ask(world.a, text_join(text_join("GET ", key), "\r\n")); /* connects */
        uint64_t before = world.fixture.nodes[node]->commands;
        assert_string_equal(text_ask(world.a, text_join(text_join("MULTI\r\nPING\r\nINCR ", key),
                                                        "\r\nUNWATCH\r\nEXEC\r\n")),
                            "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+PONG\r\n:1\r\n+OK\r\n");
        assert_int_equal(world.fixture.nodes[node]->commands - before, 5);
    }
    assert_string_equal(text_ask(world.a, "MULTI\r\nPING\r\nEXEC\r\n"),
                        "+OK\r\n+QUEUED\r\n*1\r\n+PONG\r\n");
    transactions_end(&world);
}

static void embedded_nodes_have_none(void **state)
{
    struct transactions world;
    transactions_init(&world);
    world.fixture.pool.engine = ENGINE_EMBEDDED;
    transactions_start(&world);
    assert_string_equal(text_ask(world.a, "MULTI\r\n"),
                        "-ERR 'MULTI' is not served by embedded nodes; use a pool with engine: "
                        "redis\r\n");
    transactions_end(&world);
}

/* ---- RESP3 ----------------------------------------------------------------------------------- */

static void resp3_clients_have_them_too(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "HELLO 3\r\n");
    assert_string_equal(
        text_ask(world.a, "MULTI\r\nHSET {x}h f 1\r\nHGETALL {x}h\r\nGET {x}0\r\nEXEC\r\n"),
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:1\r\n%1\r\n$1\r\nf\r\n$1\r\n1\r\n_\r\n");
    transactions_end(&world);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void too_many_commands_are_refused(void **state)
{
    struct transactions world;
    transactions_init(&world);
    world.fixture.options.limits.node_queue_max = 16;
    transactions_start(&world);
    text_ask(world.a, "MULTI\r\n");
    for (int i = 0; i < 4; i++)
        assert_string_equal(text_ask(world.a, "INCR a\r\n"), "+QUEUED\r\n");
    assert_string_equal(
        text_ask(world.a, "INCR a\r\n"),
        "-ERR a transaction may have 4 commands (a quarter of limits.node_queue)\r\n");
    assert_string_equal(text_ask(world.a, "EXEC\r\n"),
                        "-EXECABORT Transaction discarded because of previous errors.\r\n");
    assert_string_equal(text_ask(world.a, "GET a\r\n"), "$-1\r\n");
    assert_string_equal(text_ask(world.a, "MULTI\r\nINCR a\r\nEXEC\r\n"),
                        "+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
    transactions_end(&world);
}

/* A client is not read from while it holds half of its memory, so a transaction has to stay below:
 * else its EXEC would never be read. */
static void too_many_bytes_are_refused_and_the_client_goes_on(void **state)
{
    struct transactions world;
    static char command[20000];
    transactions_init(&world);
    world.fixture.options.limits.client_memory_max = 1 << 18;
    transactions_start(&world);
    memset(command, 'v', sizeof command - 1);
    memcpy(command, "SET a ", 6);
    memcpy(command + sizeof command - 3, "\r\n", 3);
    text_ask(world.a, "MULTI\r\n");
    for (int i = 0; i < 3; i++)
        assert_string_equal(text_ask(world.a, command), "+QUEUED\r\n");
    assert_string_equal(text_ask(world.a, command),
                        "-ERR a transaction may have 65536 bytes (a quarter of "
                        "limits.client_memory)\r\n");
    for (int i = 0; i < 20; i++) /* nothing is kept any more */
        assert_string_equal(text_ask(world.a, command), "+QUEUED\r\n");
    assert_string_equal(text_ask(world.a, "EXEC\r\n"),
                        "-EXECABORT Transaction discarded because of previous errors.\r\n");
    assert_string_equal(text_ask(world.a, "GET a\r\n"), "$-1\r\n");
    transactions_end(&world);
}

/* A line of short words is kept as an array, which is several times as long. */
static void a_line_counts_as_what_is_kept_of_it(void **state)
{
    struct transactions world;
    static char line[2 * 1000 + 6] = "DEL";
    transactions_init(&world);
    world.fixture.options.limits.client_memory_max = 12 << 10;
    transactions_start(&world);
    for (size_t i = 0; i < 1000; i++)
        memcpy(line + 3 + 2 * i, " a", 2);
    memcpy(line + 3 + 2 * 1000, "\r\n", 3);
    text_ask(world.a, "MULTI\r\n");
    assert_string_equal(text_ask(world.a, line),
                        "-ERR a transaction may have 3072 bytes (a quarter "
                        "of limits.client_memory)\r\n");
    assert_string_equal(text_ask(world.a, "EXEC\r\nPING\r\n"),
                        "-EXECABORT Transaction discarded because of previous errors.\r\n"
                        "+PONG\r\n");
    transactions_end(&world);
}

static void a_full_queue_of_the_node_refuses_all_of_it(void **state)
{
    struct transactions world;
    transactions_init(&world);
    world.fixture.options.limits.node_queue_max = 12;
    transactions_start(&world);
    static const char exec[] = "MULTI\r\nSET {x}1 1\r\nSET {x}2 1\r\nEXEC\r\n";
    text_ask(world.a, "GET {x}1\r\n");
    memory_node_stop(world.fixture.nodes[cw_locate_key(world.fixture.map, "{x}1", 4)]);
    for (int i = 0; i < 9; i++) /* three places are left, and four needed */
        text_ask_for(world.b, "GET {x}1\r\n", 5);
    const char *answer = text_ask_for(world.a, exec, 5);
    assert_memory_equal(answer, "+OK\r\n+QUEUED\r\n+QUEUED\r\n-BUSY node 'n", 36);
    assert_non_null(strstr(answer, "has 9 requests waiting (limits.node_queue)\r\n"));
    memory_node_continue(world.fixture.nodes[cw_locate_key(world.fixture.map, "{x}1", 4)]);
    assert_string_equal(text_ask(world.a, "EXISTS {x}1\r\n"), ":0\r\n");
    assert_string_equal(text_ask(world.a, exec), "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n"
                                                 "+OK\r\n");
    transactions_end(&world);
}

static void a_long_transaction_goes_through(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "MULTI\r\n");
    for (int i = 0; i < 300; i++) /* many times what a link's queue begins with */
        text_send(world.a, "INCR a\r\n");
    text_ask(world.a, "");
    const char *answer = text_ask(world.a, "EXEC\r\n");
    assert_memory_equal(answer, "*300\r\n:1\r\n:2\r\n", 14);
    assert_string_equal(text_ask(world.b, "GET a\r\n"), "$3\r\n300\r\n");
    transactions_end(&world);
}

/* ---- nodes that fail ------------------------------------------------------------------------- */

static void a_full_node_says_why_it_refuses(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "SET {x}1 12345678901234567890\r\n");
    for (uint32_t i = 0; i < 2; i++)
        world.fixture.nodes[i]->max_bytes = 10;
    assert_string_equal(text_ask(world.a, "MULTI\r\nDEL {x}1\r\nSET {x}2 1\r\nEXEC\r\n"),
                        "+OK\r\n+QUEUED\r\n+QUEUED\r\n-EXECABORT Transaction discarded because of: "
                        "OOM command not allowed when used memory > 'maxmemory'.\r\n");
    assert_string_equal(text_ask(world.b, "EXISTS {x}1\r\n"), ":1\r\n");
    transactions_end(&world);
}

static void a_node_that_dies_before_exec_fails_it_and_nothing_is_done(void **state)
{
    struct transactions world;
    transactions_init(&world);
    world.fixture.pool.on_node_down = NODE_DOWN_MISS; /* there are no misses in transactions */
    transactions_start(&world);
    uint32_t node = cw_locate_key(world.fixture.map, "a", 1);
    assert_string_equal(text_ask(world.a, "MULTI\r\nGET a\r\nINCR a\r\n"),
                        "+OK\r\n+QUEUED\r\n+QUEUED\r\n");
    memory_node_crash(world.fixture.nodes[node], MEMORY_KEPT);
    io_sim_run(1000, NULL);
    assert_memory_equal(text_ask(world.a, "EXEC\r\n"), "-NODEDOWN node 'n", 17);
    assert_string_equal(text_ask(world.a, "GET a\r\n"), "$-1\r\n"); /* a miss */
    memory_node_restart(world.fixture.nodes[node]);
    io_sim_run(1000, NULL);
    assert_string_equal(text_ask(world.a, "GET a\r\nEXEC\r\n"),
                        "$-1\r\n-ERR EXEC without MULTI\r\n");
    transactions_end(&world);
}

static void crash_at_second_command(void *context, struct memory_call *call)
{
    if (memory_name_is(memory_arg(call, 0), "DEL"))
        memory_node_crash(context, MEMORY_KEPT);
}

static void a_node_that_dies_in_the_middle_has_done_nothing_of_it(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    struct memory_node *node = world.fixture.nodes[cw_locate_key(world.fixture.map, "a", 1)];
    node->before = crash_at_second_command;
    node->before_context = node;
    assert_string_equal(text_ask(world.a, "SET a 1\r\n"), "+OK\r\n");
    const char *answer = text_ask(world.a,
                                  "MULTI\r\nINCR a\r\nDEL a\r\nINCR a\r\nEXEC\r\nPING\r\n");
    assert_memory_equal(answer, "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n-NODEDOWN node 'n", 49);
    assert_non_null(strstr(answer, "is unknown\r\n+PONG\r\n"));
    node->before = NULL;
    memory_node_restart(node);
    io_sim_run(1000, NULL);
    assert_string_equal(text_ask(world.a, "GET a\r\n"), "$1\r\n1\r\n");
    transactions_end(&world);
}

static void a_client_that_goes_in_the_middle_leaves_nothing(void **state)
{
    struct transactions world;
    transactions_begin(&world);
    text_ask(world.a, "MULTI\r\nINCR a\r\n");
    io_close(&world.a->conn);
    io_sim_run(20, NULL);
    assert_string_equal(text_ask(world.b, "EXISTS a\r\n"), ":0\r\n");
    struct text_client *c = text_client_create("router:7400");
    text_ask(c, "MULTI\r\nINCR a\r\n");
    text_send(c, "EXEC\r\n"); /* sent, and the reply comes to nobody */
    io_sim_run(0, NULL);
    io_close(&c->conn);
    io_sim_run(100, NULL);
    assert_string_equal(text_ask(world.b, "PING\r\nGET b\r\n"), "+PONG\r\n$-1\r\n");
    text_client_destroy(c);
    transactions_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_between_multi_and_exec_is_done_by_exec),
        cmocka_unit_test(a_whole_pipeline_is_answered_in_its_order),
        cmocka_unit_test(an_error_of_a_command_leaves_the_others),
        cmocka_unit_test(inline_quotes_and_binary_go_in_as_they_are),
        cmocka_unit_test(transactions_of_two_clients_and_plain_requests_do_not_mix),
        cmocka_unit_test(the_words_of_misuse_are_those_of_redis),
        cmocka_unit_test(a_command_that_is_not_for_one_node_is_refused_and_spoils_it),
        cmocka_unit_test(the_error_names_the_command_and_why),
        cmocka_unit_test(keys_of_two_nodes_are_refused_naming_both),
        cmocka_unit_test(ping_echo_time_and_commands_without_keys_go_with_the_others),
        cmocka_unit_test(embedded_nodes_have_none),
        cmocka_unit_test(resp3_clients_have_them_too),
        cmocka_unit_test(too_many_commands_are_refused),
        cmocka_unit_test(too_many_bytes_are_refused_and_the_client_goes_on),
        cmocka_unit_test(a_line_counts_as_what_is_kept_of_it),
        cmocka_unit_test(a_full_queue_of_the_node_refuses_all_of_it),
        cmocka_unit_test(a_long_transaction_goes_through),
        cmocka_unit_test(a_full_node_says_why_it_refuses),
        cmocka_unit_test(a_node_that_dies_before_exec_fails_it_and_nothing_is_done),
        cmocka_unit_test(a_node_that_dies_in_the_middle_has_done_nothing_of_it),
        cmocka_unit_test(a_client_that_goes_in_the_middle_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
