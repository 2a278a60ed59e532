/*
 * Marks: what is put into a node's dirty set before a write of keys that move, one promise a test.
 * covers: mark
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/big_keys.h"
#include "router/states_world.h"

static void track(struct world *world, struct big_keys *big)
{
    world_begin(world, 1);
    world_set(world, MOVE_PREPARED, NULL);
    world_set(world, MOVE_TRACKING, big);
    io_sim_run(20, NULL);
    assert_int_equal(world->acked, 2);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        recorder_take(world->nodes[i]);
}

static void a_mark_goes_right_before_the_write_and_its_reply_to_nobody(void **state)
{
    struct world world;
    track(&world, NULL);
    const char *moving = world_key(&world, 0, true, 0), *staying = world_key(&world, 0, false, 0);
    assert_string_equal(text_ask(world.client, text_of("GET %s\r\nSET %s 1\r\nSET %s 2\r\n", moving,
                                                       moving, staying)),
                        "+OK\r\n+OK\r\n+OK\r\n");
    assert_string_equal(
        recorder_take(world.nodes[0]),
        text_of("GET %s\nSADD dirty k%s\nSET %s 1\nSET %s 2\n", moving, moving, moving, staying));
    assert_int_equal(world.counters.marks, 1);
    assert_int_equal(world.counters.marks_failed, 0);
    world_stop(&world);
}

static void each_part_of_a_split_marks_its_own_moving_keys(void **state)
{
    struct world world;
    track(&world, NULL);
    const char *a = world_key(&world, 0, true, 0), *b = world_key(&world, 0, false, 0);
    const char *c = world_key(&world, 0, true, 1), *d = world_key(&world, 1, false, 0);
    const char *e = world_key(&world, 1, true, 0);
    assert_string_equal(
        text_ask(world.client, text_of("MSET %s 1 %s 2 %s 3 %s 4 %s 5\r\n", a, b, d, e, c)),
        "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s k%s\nMSET %s 1 %s 2 %s 5\n", a, c, a, b, c));
    assert_string_equal(recorder_take(world.nodes[1]),
                        text_of("SADD dirty k%s\nMSET %s 3 %s 4\n", e, d, e));
    assert_string_equal(text_ask(world.client, text_of("DEL %s %s\r\n", b, d)), ":2\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), text_of("DEL %s\n", b));
    assert_string_equal(text_ask(world.client, text_of("MGET %s %s\r\n", a, c)), "+OK\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), text_of("MGET %s %s\n", a, c));
    assert_int_equal(world.counters.marks, 3);
    world_stop(&world);
}

static void a_command_of_several_keys_marks_those_that_move(void **state)
{
    struct world world;
    track(&world, NULL);
    const char *a = world_key(&world, 0, true, 0), *b = world_key(&world, 0, false, 0);
    const char *c = world_key(&world, 0, true, 1);
    text_ask(world.client, text_of("RENAME %s %s\r\n", b, a));
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s\nRENAME %s %s\n", a, b, a));
    text_ask(world.client, text_of("ZUNIONSTORE %s 2 %s %s\r\n", a, b, c));
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s k%s\nZUNIONSTORE %s 2 %s %s\n", c, a, a, b, c));
    text_ask(world.client, text_of("EVAL x 1 %s y\r\n", a));
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s\nEVAL x 1 %s y\n", a, a));
    text_ask(world.client, "EVAL x 0\r\n");
    assert_string_equal(recorder_take(world.nodes[0]), "EVAL x 0\n");
    world_stop(&world);
}

static void big_keys_are_marked_by_their_elements(void **state)
{
    struct world world;
    struct big_keys *big;
    world_init(&world, 1);
    world.now = world_map(1, WORLD_NOW, NULL);
    world.then = world_map(2, WORLD_THEN, NULL);
    const char *a = world_key(&world, 0, true, 0);
    cw_map_unref(&world.now);
    cw_map_unref(&world.then);
    const struct slice keys[] = {{a, strlen(a)}};
    assert_int_equal(big_keys_create(NULL, keys, 1, &big), 0);
    track(&world, big);
    big_keys_unref(&big); /* the workers have it */
    const char *e = text_of("e\\x00\\x00\\x00\\x%02x%s", (unsigned)strlen(a), a);
    const struct {
        const char *command, *mark;
    } cases[] = {
        {text_of("HSET %s f 1 g 2", a), text_of("%sf %sg", e, e)},
        {text_of("ZADD %s NX CH 1 m 2 n", a), text_of("%sm %sn", e, e)},
        {text_of("ZINCRBY %s 1 m", a), text_of("%sm", e)},
        {text_of("SREM %s m n", a), text_of("%sm %sn", e, e)},
        {text_of("HINCRBY %s f 1", a), text_of("%sf", e)},
        {text_of("DEL %s", a), text_of("k%s", a)},
        {text_of("SPOP %s", a), text_of("k%s", a)},
        {text_of("EXPIRE %s 10", a), NULL},
        {text_of("HGETALL %s", a), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text_ask(world.client, text_of("%s\r\n", cases[i].command));
        assert_string_equal(recorder_take(world.nodes[0]),
                            cases[i].mark
                                ? text_of("SADD dirty %s\n%s\n", cases[i].mark, cases[i].command)
                                : text_of("%s\n", cases[i].command));
    }
    world_stop(&world);
}

static void marks_that_a_node_refuses_are_counted(void **state)
{
    struct world world;
    track(&world, NULL);
    world.nodes[0]->mark_reply = "-OOM command not allowed\r\n";
    const char *a = world_key(&world, 0, true, 0);
    assert_string_equal(text_ask(world.client, text_of("SET %s 1\r\nGET %s\r\n", a, a)),
                        "+OK\r\n+OK\r\n");
    assert_int_equal(world.counters.marks_failed, 1);
    world_stop(&world);
}

static void a_full_node_queue_takes_neither_mark_nor_write(void **state)
{
    struct world world;
    world_init(&world, 1);
    world.options.limits.node_queue_max = 3;
    world_start(&world);
    world_set(&world, MOVE_TRACKING, NULL);
    io_sim_run(20, NULL);
    recorder_take(world.nodes[0]);
    const char *a = world_key(&world, 0, true, 0), *b = world_key(&world, 0, true, 1);
    const char *answer = text_ask(world.client,
                                  text_of("SET %s 1\r\nSET %s 2\r\nGET %s\r\n", a, b, a));
    assert_non_null(strstr(answer, "+OK\r\n-BUSY node 'n0'"));
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD dirty k%s\nSET %s 1\nGET %s\n", a, a, a));
    world_stop(&world);
}

static void without_tracking_nothing_is_marked(void **state)
{
    static const enum move_phase phases[] = {MOVE_NONE, MOVE_PREPARED};
    struct world world;
    world_begin(&world, 1);
    const char *a = world_key(&world, 0, true, 0);
    for (size_t i = 0; i < 2; i++) {
        world_set(&world, phases[i], NULL);
        io_sim_run(20, NULL);
        recorder_take(world.nodes[0]);
        text_ask(world.client, text_of("SET %s 1\r\n", a));
        assert_string_equal(recorder_take(world.nodes[0]), text_of("SET %s 1\n", a));
    }
    world_stop(&world);
}

static void the_dirty_set_of_the_newest_state_is_used(void **state)
{
    struct world world;
    track(&world, NULL);
    const char *a = world_key(&world, 0, true, 0);
    struct pool_state what = {.map = world.now,
                              .next = world.then,
                              .phase = MOVE_TRACKING,
                              .dirty_set = {"\0cw:dirty:7:2", 13},
                              .counters = &world.counters};
    assert_int_equal(router_set_state(world.router, 0, &what, world_acked, &world), 0);
    text_ask(world.client, text_of("SET %s 1\r\n", a));
    assert_string_equal(recorder_take(world.nodes[0]),
                        text_of("SADD \\x00cw:dirty:7:2 k%s\nSET %s 1\n", a, a));
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_goes_right_before_the_write_and_its_reply_to_nobody),
        cmocka_unit_test(each_part_of_a_split_marks_its_own_moving_keys),
        cmocka_unit_test(a_command_of_several_keys_marks_those_that_move),
        cmocka_unit_test(big_keys_are_marked_by_their_elements),
        cmocka_unit_test(marks_that_a_node_refuses_are_counted),
        cmocka_unit_test(a_full_node_queue_takes_neither_mark_nor_write),
        cmocka_unit_test(without_tracking_nothing_is_marked),
        cmocka_unit_test(the_dirty_set_of_the_newest_state_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
