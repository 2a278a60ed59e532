/*
 * Nodes that are down, by each policy of the pool.
 * covers: down
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/states_world.h"

/* Node 0 is stopped and known to be down. */
static void begin_down(struct world *world, enum node_down_policy policy)
{
    world_init(world, 1);
    world->pool.on_node_down = policy;
    world_start(world);
    text_ask(world->client, text_of("GET %s\r\n", world_key(world, 0, false, 0)));
    io_sim_stop(fixture_address(0));
    text_ask_for(world->client, text_of("SET %s 1\r\n", world_key(world, 0, false, 0)), 700);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        recorder_take(world->nodes[i]);
}

static void by_default_reads_and_writes_fail(void **state)
{
    struct world world;
    begin_down(&world, NODE_DOWN_FAIL);
    const char *a = world_key(&world, 0, false, 0), *b = world_key(&world, 1, false, 0);
    assert_memory_equal(text_ask(world.client, text_of("GET %s\r\n", a)), "-NODEDOWN node 'n0'",
                        19);
    assert_memory_equal(text_ask(world.client, text_of("SET %s 1\r\n", a)), "-NODEDOWN node 'n0'",
                        19);
    assert_string_equal(text_ask(world.client, text_of("GET %s\r\n", b)), "+OK\r\n");
    world_stop(&world);
}

static void a_cache_answers_reads_as_misses_and_fails_writes(void **state)
{
    struct world world;
    begin_down(&world, NODE_DOWN_MISS);
    const char *a = world_key(&world, 0, false, 0), *b = world_key(&world, 1, false, 0);
    assert_string_equal(
        text_ask(world.client, text_of("GET %s\r\nGET %s\r\nHGETALL %s\r\nTTL %s\r\n", b, a, a, a)),
        "+OK\r\n$-1\r\n*0\r\n:-2\r\n");
    assert_memory_equal(text_ask(world.client, text_of("SET %s 1\r\n", a)), "-NODEDOWN node 'n0'",
                        19);
    assert_memory_equal(text_ask(world.client, text_of("SRANDMEMBER %s\r\n", a)),
                        "-NODEDOWN node 'n0'", 19);
    text_ask(world.client, "HELLO 3\r\n");
    assert_string_equal(text_ask(world.client, text_of("GET %s\r\nHGETALL %s\r\n", a, a)),
                        "_\r\n%0\r\n");
    world_stop(&world);
}

static void a_cache_misses_the_part_of_a_split_that_is_down(void **state)
{
    struct world world;
    begin_down(&world, NODE_DOWN_MISS);
    const char *a = world_key(&world, 0, false, 0), *b = world_key(&world, 0, false, 1);
    assert_string_equal(text_ask(world.client, text_of("MGET %s %s\r\n", a, b)),
                        "*2\r\n$-1\r\n$-1\r\n");
    assert_string_equal(text_ask(world.client, text_of("EXISTS %s %s\r\n", a, b)), ":0\r\n");
    assert_memory_equal(text_ask(world.client, text_of("DEL %s %s\r\n", a, b)), "-NODEDOWN", 9);
    assert_memory_equal(text_ask(world.client, "DBSIZE\r\n"), "-NODEDOWN", 9);
    world_stop(&world);
}

static void a_read_that_waits_at_a_node_that_goes_down_is_a_miss(void **state)
{
    struct world world;
    world_init(&world, 1);
    world.pool.on_node_down = NODE_DOWN_MISS;
    world_start(&world);
    const char *a = world_key(&world, 0, false, 0);
    io_sim_stop(fixture_address(0));
    const char *answer = text_ask_for(world.client, text_of("GET %s\r\nSET %s 1\r\n", a, a), 700);
    assert_memory_equal(answer, "$-1\r\n-NODEDOWN node 'n0'", 24);
    world_stop(&world);
}

static void the_next_node_stands_in_until_the_owner_is_back(void **state)
{
    struct world world;
    begin_down(&world, NODE_DOWN_NEXT);
    const char *a = world_key(&world, 0, false, 0), *b = world_key(&world, 1, false, 0);
    assert_string_equal(text_ask(world.client, text_of("SET %s 1\r\nMSET %s 2 %s 3\r\n", a, a, b)),
                        "+OK\r\n+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[1]),
                        text_of("SET %s 1\nMSET %s 2 %s 3\n", a, a, b));
    io_sim_resume(fixture_address(0));
    io_sim_run(1000, NULL);
    recorder_take(world.nodes[0]); /* what it had got before it was known to be down */
    assert_string_equal(text_ask(world.client, text_of("GET %s\r\n", a)), "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), text_of("GET %s\n", a));
    world_stop(&world);
}

static void nobody_stands_in_while_keys_move_or_when_all_are_down(void **state)
{
    struct world world;
    begin_down(&world, NODE_DOWN_NEXT);
    const char *a = world_key(&world, 0, false, 0), *b = world_key(&world, 1, false, 0);
    world_set(&world, MOVE_PREPARED, NULL);
    assert_memory_equal(text_ask(world.client, text_of("SET %s 1\r\n", a)), "-NODEDOWN node 'n0'",
                        19);
    world_set(&world, MOVE_NONE, NULL);
    io_sim_stop(fixture_address(1));
    text_ask_for(world.client, text_of("GET %s\r\n", b), 700);
    assert_memory_equal(text_ask(world.client, text_of("SET %s 1\r\n", a)), "-NODEDOWN node 'n0'",
                        19);
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_default_reads_and_writes_fail),
        cmocka_unit_test(a_cache_answers_reads_as_misses_and_fails_writes),
        cmocka_unit_test(a_cache_misses_the_part_of_a_split_that_is_down),
        cmocka_unit_test(a_read_that_waits_at_a_node_that_goes_down_is_a_miss),
        cmocka_unit_test(the_next_node_stands_in_until_the_owner_is_back),
        cmocka_unit_test(nobody_stands_in_while_keys_move_or_when_all_are_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
