/*
 * The router's behaviour, one promise a test, over simulated loops without faults: relaying, order,
 * splits, refusals, dead nodes, new maps. (Faults from a seed: test_simulation.c.)
 * covers: router, worker, pool, node, link, client, intake, request, dispatch, split, scan
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/fixture.h"

static const struct io_sim_options calm = {
    .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 16};

struct world {
    struct fixture fixture;
    struct text_client *client;
};

static void start(struct world *world, uint32_t nodes)
{
    fixture_init(&world->fixture, nodes, 2);
    fixture_start(&world->fixture, &calm);
    world->client = text_client_create("router:7400");
}

static void stop(struct world *world)
{
    text_client_destroy(world->client);
    fixture_stop(&world->fixture);
}

static uint32_t node_of(struct world *world, const char *key)
{
    return cw_locate(world->fixture.map, cw_hash_tagged(key, strlen(key)));
}

static void a_key_goes_to_the_node_that_the_map_names(void **state)
{
    struct world world;
    start(&world, 4);
    for (int i = 0; i < 100; i++) {
        char command[64], key[16];
        snprintf(key, sizeof key, "key%d", i);
        snprintf(command, sizeof command, "SET %s %d\r\n", key, i);
        assert_string_equal(text_ask(world.client, command), "+OK\r\n");
        struct memory_node *owner = world.fixture.nodes[node_of(&world, key)];
        assert_non_null(memory_find(owner, (struct slice){key, strlen(key)}));
    }
    assert_string_equal(text_ask(world.client, "GET key7\r\n"), "$1\r\n7\r\n");
    assert_string_equal(text_ask(world.client, "GET nothing\r\n"), "$-1\r\n");
    stop(&world);
}

static void replies_come_in_the_order_of_the_requests(void **state)
{
    struct world world;
    char commands[4096] = "", expected[8192] = "";
    start(&world, 4);
    for (int i = 0; i < 60; i++) {
        size_t at = strlen(commands), to = strlen(expected);
        snprintf(commands + at, sizeof commands - at, i % 3 ? "SET k%d v%d\r\n" : "ECHO e%d\r\n", i,
                 i);
        if (i % 3)
            snprintf(expected + to, sizeof expected - to, "+OK\r\n");
        else
            snprintf(expected + to, sizeof expected - to, "$%d\r\ne%d\r\n", i < 10 ? 2 : 3, i);
    }
    assert_string_equal(text_ask(world.client, commands), expected);
    stop(&world);
}

static void mget_is_split_and_merged_in_the_order_of_the_keys(void **state)
{
    struct world world;
    start(&world, 4);
    assert_string_equal(text_ask(world.client, "MSET a 1 b 2 c 3 d 4 e 5 f 6\r\n"), "+OK\r\n");
    assert_string_equal(
        text_ask(world.client, "MGET f x a b y c d e a\r\n"),
        "*9\r\n$1\r\n6\r\n$-1\r\n$1\r\n1\r\n$1\r\n2\r\n$-1\r\n$1\r\n3\r\n$1\r\n4\r\n"
        "$1\r\n5\r\n$1\r\n1\r\n");
    assert_string_equal(text_ask(world.client, "DEL a b x c\r\n"), ":3\r\n");
    assert_string_equal(text_ask(world.client, "DBSIZE\r\n"), ":3\r\n");
    stop(&world);
}

static void a_split_command_asks_each_owner_once(void **state)
{
    struct world world;
    start(&world, 4);
    text_ask(world.client, "PING\r\n");
    text_ask(world.client, "MGET a b c d e f g h i j k l m n o p q r s t u v\r\n");
    for (uint32_t i = 0; i < 4; i++)
        assert_true(world.fixture.nodes[i]->commands <= 2); /* a PING, and one MGET */
    stop(&world);
}

static void a_command_that_cannot_be_split_is_refused_naming_both_nodes(void **state)
{
    struct world world;
    char command[128];
    start(&world, 3);
    snprintf(command, sizeof command, "RENAME %s %s\r\n", key_on_node(world.fixture.map, 0, 0),
             key_on_node(world.fixture.map, 2, 0));
    const char *answer = text_ask(world.client, command);
    assert_memory_equal(answer, "-CROSSNODE ", 11);
    assert_non_null(strstr(answer, "'n0'"));
    assert_non_null(strstr(answer, "'n2'"));
    assert_int_equal(world.fixture.nodes[0]->commands + world.fixture.nodes[2]->commands, 0);
    stop(&world);
}

static void hash_tags_keep_keys_together(void **state)
{
    struct world world;
    start(&world, 4);
    text_ask(world.client, "MSET {u}1 a {u}2 b {u}3 c\r\n");
    assert_int_equal(memory_size(world.fixture.nodes[node_of(&world, "u")]), 3);
    stop(&world);
}

static void scan_walks_through_all_nodes(void **state)
{
    struct world world;
    char cursor[32] = "0", command[64];
    int keys = 0, rounds = 0;
    start(&world, 3);
    for (int i = 0; i < 30; i++) {
        snprintf(command, sizeof command, "SET key%d x\r\n", i);
        text_ask(world.client, command);
    }
    do {
        snprintf(command, sizeof command, "SCAN %s\r\n", cursor);
        const char *answer = text_ask(world.client, command);
        assert_int_equal(sscanf(answer, "*2\r\n$%*d\r\n%31s", cursor), 1);
        for (const char *at = strstr(answer, "key"); at; at = strstr(at + 1, "key"))
            keys++;
        assert_true(++rounds < 100);
    } while (strcmp(cursor, "0") != 0);
    assert_int_equal(keys, 30);
    assert_memory_equal(text_ask(world.client, "SCAN 9999999999999999\r\n"), "-ERR invalid cursor",
                        19);
    stop(&world);
}

static void a_stopped_node_fails_its_keys_naming_it_and_serves_again(void **state)
{
    struct world world;
    char command[64];
    start(&world, 3);
    snprintf(command, sizeof command, "SET %s 1\r\n", key_on_node(world.fixture.map, 1, 0));
    assert_string_equal(text_ask(world.client, command), "+OK\r\n");
    io_sim_stop(fixture_address(1));
    assert_string_equal(text_ask_for(world.client, command, 400), "");
    const char *answer = text_ask_for(world.client, "", 200); /* the deadline is 500 ms */
    assert_memory_equal(answer, "-NODEDOWN node 'n1' (sim-n1:1) did not answer within 500 ms", 59);
    answer = text_ask_for(world.client, command, 20); /* from now on it fails at once */
    assert_memory_equal(answer, "-NODEDOWN node 'n1'", 19);
    snprintf(command, sizeof command, "SET %s 1\r\n", key_on_node(world.fixture.map, 0, 0));
    assert_string_equal(text_ask_for(world.client, command, 20), "+OK\r\n");
    io_sim_resume(fixture_address(1));
    io_sim_run(1000, NULL);
    snprintf(command, sizeof command, "SET %s 2\r\n", key_on_node(world.fixture.map, 1, 0));
    assert_string_equal(text_ask(world.client, command), "+OK\r\n");
    stop(&world);
}

/* Once, a client that asked for many large values made the node look dead to everybody. */
static void a_node_that_is_busy_with_long_replies_is_not_silent(void **state)
{
    const struct io_sim_options slow = {
        .seed = 1, .delay_min_us = 10000, .delay_max_us = 10000, .window_bytes = 1000};
    enum { COUNT = 60, VALUE_LEN = 2000, REPLY_LEN = 7 + VALUE_LEN + 2 };
    struct world world;
    char command[VALUE_LEN + 64], value[VALUE_LEN + 1] = "";
    start(&world, 3);
    memset(value, 'v', VALUE_LEN);
    snprintf(command, sizeof command, "SET %s %s\r\n", key_on_node(world.fixture.map, 1, 0), value);
    assert_string_equal(text_ask(world.client, command), "+OK\r\n");
    snprintf(command, sizeof command, "GET %s\r\n", key_on_node(world.fixture.map, 1, 0));
    io_sim_set(&slow); /* 100 kB a second: these replies take more than twice the deadline */
    for (int i = 0; i < COUNT; i++)
        text_send(world.client, command);
    io_sim_run(10000, NULL);
    assert_int_equal(world.client->in.len, COUNT * REPLY_LEN);
    assert_null(memmem(buffer_bytes(&world.client->in), world.client->in.len, "NODEDOWN", 8));
    stop(&world);
}

/* Once, a long value on its way to a node made that node look dead. */
static void a_node_that_is_taking_a_long_request_is_not_silent(void **state)
{
    const struct io_sim_options slow = {
        .seed = 1, .delay_min_us = 10000, .delay_max_us = 10000, .window_bytes = 1000};
    enum { VALUE_LEN = 200000 };
    struct world world;
    char command[320];
    static char value[VALUE_LEN];
    start(&world, 3);
    const char *key = key_on_node(world.fixture.map, 1, 0);
    memset(value, 'v', VALUE_LEN);
    io_sim_set(&slow); /* 100 kB a second: this request takes four times the deadline */
    for (int stopped = 0; stopped < 2; stopped++) {
        if (stopped)
            io_sim_stop(fixture_address(1));
        snprintf(command, sizeof command, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%d\r\n", strlen(key),
                 key, VALUE_LEN);
        text_send(world.client, command);
        text_send_bytes(world.client, value, VALUE_LEN);
        const char *answer = text_ask_for(world.client, "\r\n", 9000);
        if (stopped)
            assert_memory_equal(answer, "-NODEDOWN node 'n1'", 19);
        else
            assert_string_equal(answer, "+OK\r\n");
    }
    stop(&world);
}

static void a_killed_node_fails_at_once_and_serves_again(void **state)
{
    struct world world;
    char command[64];
    start(&world, 3);
    snprintf(command, sizeof command, "SET %s 1\r\n", key_on_node(world.fixture.map, 2, 0));
    assert_string_equal(text_ask(world.client, command), "+OK\r\n");
    io_sim_kill(fixture_address(2));
    io_sim_run(50, NULL);
    assert_memory_equal(text_ask(world.client, command),
                        "-NODEDOWN node 'n2' (sim-n2:1) cannot be connected: Connection refused",
                        70);
    io_sim_revive(fixture_address(2));
    io_sim_run(1000, NULL);
    assert_string_equal(text_ask(world.client, command), "+OK\r\n");
    stop(&world);
}

static void a_split_that_touches_a_dead_node_is_its_error(void **state)
{
    struct world world;
    start(&world, 3);
    io_sim_kill(fixture_address(0));
    io_sim_run(10, NULL);
    text_ask(world.client, "DBSIZE\r\n");
    assert_memory_equal(text_ask(world.client, "DBSIZE\r\n"), "-NODEDOWN node 'n0'", 19);
    stop(&world);
}

static void a_new_map_is_swapped_in_and_nothing_under_way_is_lost(void **state)
{
    struct world world;
    char commands[2048] = "", expected[1024] = "";
    start(&world, 4);
    struct cw_map *three = fixture_map(0, 3);
    for (int i = 0; i < 50; i++) {
        snprintf(commands + strlen(commands), sizeof commands - strlen(commands), "SET k%d v\r\n",
                 i);
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "+OK\r\n");
    }
    assert_string_equal(text_ask_for(world.client, "PING\r\n", 50), "+PONG\r\n");
    text_send(world.client, commands);
    assert_int_equal(router_set_map(world.fixture.router, 0, three), 0);
    assert_string_equal(text_ask(world.client, ""), expected);
    uint64_t before = world.fixture.nodes[3]->commands;
    assert_string_equal(text_ask(world.client, commands), expected);
    assert_int_equal(world.fixture.nodes[3]->commands, before);
    cw_map_unref(&three);
    stop(&world);
}

static void a_new_address_of_a_node_moves_no_key_but_its_connection(void **state)
{
    struct world world;
    struct cw_node moved[2] = {{.id = "n0", .address = fixture_address(2), .weight = 1},
                               {.id = "n1", .address = fixture_address(1), .weight = 1}};
    struct cw_map *map;
    start(&world, 3);
    struct cw_map *two = fixture_map(0, 2);
    assert_int_equal(cw_map_change(two, moved, 2, &map, NULL), CW_OK);
    router_set_map(world.fixture.router, 0, map);
    for (int i = 0; i < 40; i++) {
        char command[32];
        snprintf(command, sizeof command, "SET k%d v\r\n", i);
        assert_string_equal(text_ask(world.client, command), "+OK\r\n");
    }
    assert_int_equal(memory_size(world.fixture.nodes[0]), 0);
    assert_int_equal(memory_size(world.fixture.nodes[1]) + memory_size(world.fixture.nodes[2]), 40);
    cw_map_unref(&map);
    cw_map_unref(&two);
    stop(&world);
}

static void resp3_clients_get_connections_of_their_own_kind(void **state)
{
    struct world world;
    start(&world, 2);
    assert_memory_equal(text_ask(world.client, "HELLO 3\r\n"), "%7\r\n", 4);
    assert_string_equal(text_ask(world.client, "GET nothing\r\n"), "_\r\n");
    assert_string_equal(text_ask(world.client, "MGET a b c d\r\n"), "*4\r\n_\r\n_\r\n_\r\n_\r\n");
    struct text_client *other = text_client_create("router:7400");
    assert_string_equal(text_ask(other, "GET nothing\r\n"), "$-1\r\n");
    text_client_destroy(other);
    stop(&world);
}

static void a_node_without_resp3_is_named_to_resp3_clients_only(void **state)
{
    struct world world;
    start(&world, 1);
    world.fixture.nodes[0]->refuses_resp3 = true;
    struct text_client *other = text_client_create("router:7400");
    assert_string_equal(text_ask(other, "GET nothing\r\n"), "$-1\r\n");
    text_ask(world.client, "HELLO 3\r\n");
    const char *answer = text_ask(world.client, "GET nothing\r\n");
    assert_non_null(
        strstr(answer, "NODEDOWN node 'n0' (sim-n0:1) refuses us: ERR unknown command"));
    assert_string_equal(text_ask(other, "GET nothing\r\n"), "$-1\r\n");
    text_client_destroy(other);
    stop(&world);
}

static void refusals_name_the_command_and_keep_the_connection(void **state)
{
    static const struct {
        const char *command, *answer;
    } cases[] = {
        {"NOSUCH a\r\n", "-ERR unknown command 'NOSUCH'"},
        {"GET\r\n", "-ERR wrong number of arguments for 'get' command\r\n"},
        {"SHUTDOWN\r\n", "-ERR 'SHUTDOWN' is not available through the router: "},
        {"WAIT 1 0\r\n", "-ERR 'WAIT' is not available through the router: "},
        {"SELECT 1\r\n", "-ERR DB index is out of range"},
        {"MSET a 1 b\r\n", "-ERR "},
        {"EVAL x 99 a\r\n", "-ERR "},
        {"CLIENT KILL x\r\n", "-ERR CLIENT KILL is not available"},
        {"PING\r\n", "+PONG\r\n"},
    };
    struct world world;
    start(&world, 2);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *answer = text_ask(world.client, cases[i].command);
        if (strncmp(answer, cases[i].answer, strlen(cases[i].answer)) != 0)
            fail_msg("%s gave %s", cases[i].command, answer);
        assert_int_equal(answer[strlen(answer) - 1], '\n');
    }
    stop(&world);
}

static void half_closed_clients_get_what_they_asked_for(void **state)
{
    struct world world;
    start(&world, 2);
    assert_string_equal(text_ask(world.client, "SET a 1\r\nQUIT\r\nSET b 1\r\n"), "+OK\r\n+OK\r\n");
    assert_true(world.client->is_closed);
    assert_int_equal(memory_size(world.fixture.nodes[0]) + memory_size(world.fixture.nodes[1]), 1);
    stop(&world);
}

static void garbage_gets_an_error_and_is_closed(void **state)
{
    struct world world;
    start(&world, 2);
    assert_memory_equal(text_ask(world.client, "*2\r\n$-5\r\nGET\r\n"), "-ERR Protocol error", 19);
    assert_true(world.client->is_closed);
    stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_goes_to_the_node_that_the_map_names),
        cmocka_unit_test(replies_come_in_the_order_of_the_requests),
        cmocka_unit_test(mget_is_split_and_merged_in_the_order_of_the_keys),
        cmocka_unit_test(a_split_command_asks_each_owner_once),
        cmocka_unit_test(a_command_that_cannot_be_split_is_refused_naming_both_nodes),
        cmocka_unit_test(hash_tags_keep_keys_together),
        cmocka_unit_test(scan_walks_through_all_nodes),
        cmocka_unit_test(a_stopped_node_fails_its_keys_naming_it_and_serves_again),
        cmocka_unit_test(a_node_that_is_busy_with_long_replies_is_not_silent),
        cmocka_unit_test(a_node_that_is_taking_a_long_request_is_not_silent),
        cmocka_unit_test(a_killed_node_fails_at_once_and_serves_again),
        cmocka_unit_test(a_split_that_touches_a_dead_node_is_its_error),
        cmocka_unit_test(a_new_map_is_swapped_in_and_nothing_under_way_is_lost),
        cmocka_unit_test(a_new_address_of_a_node_moves_no_key_but_its_connection),
        cmocka_unit_test(resp3_clients_get_connections_of_their_own_kind),
        cmocka_unit_test(a_node_without_resp3_is_named_to_resp3_clients_only),
        cmocka_unit_test(refusals_name_the_command_and_keep_the_connection),
        cmocka_unit_test(half_closed_clients_get_what_they_asked_for),
        cmocka_unit_test(garbage_gets_an_error_and_is_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
