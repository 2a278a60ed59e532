/*
 * Clients that wait at a node while keys move to another, one promise a test.
 * covers: blocking, blocking_wake
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/blocking_stage.h"

static void a_client_waits_through_all_states_of_a_move(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.moves;
    assert_string_equal(text_ask(stage.a, text_of("BLPOP %s 0\r\nPING\r\n", key)), "");
    set_state(&stage, MOVE_PREPARED, "");
    assert_string_equal(text_ask(stage.a, ""), "");
    set_state(&stage, MOVE_TRACKING, "dirty1");
    assert_string_equal(text_ask(stage.a, ""), "");
    assert_true(is_marked(&stage, "dirty1", key));
    set_state(&stage, MOVE_TRACKING, "dirty2");
    assert_string_equal(text_ask(stage.a, ""), "");
    assert_true(is_marked(&stage, "dirty2", key));
    set_state(&stage, MOVE_FROZEN, "");
    assert_string_equal(text_ask(stage.a, ""), "");
    assert_int_equal(stage.acked, 4); /* no era is held open by who waits */
    assert_int_equal(stage.counters.held, 1);
    assert_true(list_is_empty(&stage.fixture.nodes[0]->blocked));
    switch_over(&stage);
    assert_string_equal(text_ask(stage.a, ""), "");
    assert_int_equal(stage.acked, 5);
    assert_string_equal(text_ask(stage.b, text_of("RPUSH %s x\r\n", key)), ":1\r\n");
    assert_string_equal(text_ask(stage.a, ""), text_of("%s+PONG\r\n", popped(key, "x")));
    assert_int_equal(list_len(&stage, 0, key) + list_len(&stage, NOW, key), 0);
    assert_int_equal(blocked_clients(&stage), 0);
    end(&stage);
}

static void who_waits_for_a_key_that_stays_is_left_alone(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.stays));
    uint64_t before = stage.fixture.nodes[0]->commands;
    set_state(&stage, MOVE_PREPARED, "");
    set_state(&stage, MOVE_TRACKING, "dirty1");
    set_state(&stage, MOVE_FROZEN, "");
    switch_over(&stage);
    io_sim_run(100, NULL);
    assert_int_equal(stage.acked, 4);
    assert_int_equal(stage.fixture.nodes[0]->commands, before);
    text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.stays));
    assert_string_equal(text_ask(stage.a, ""), popped(stage.stays, "x"));
    end(&stage);
}

static void an_era_is_not_over_while_one_waits_in_it(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
    /* UNBLOCK is held up, so the old state cannot be over. */
    memory_node_delay(stage.fixture.nodes[0], "CLIENT", 1, 200, false);
    set_state(&stage, MOVE_TRACKING, "dirty1");
    io_sim_run(100, NULL);
    assert_int_equal(stage.acked, 0);
    assert_false(is_marked(&stage, "dirty1", stage.moves));
    io_sim_run(200, NULL);
    assert_int_equal(stage.acked, 1);
    assert_true(is_marked(&stage, "dirty1", stage.moves));
    end(&stage);
}

static void unblock_is_repeated_when_it_overtook_the_command(void **state)
{
    struct stage stage;
    begin(&stage);
    memory_node_delay(stage.fixture.nodes[0], "BLPOP", 1, 100, false);
    text_ask_for(stage.a, text_of("BLPOP %s 0\r\n", stage.moves), 20);
    set_state(&stage, MOVE_TRACKING, "dirty1");
    io_sim_run(50, NULL);
    assert_int_equal(stage.acked, 0);
    io_sim_run(150, NULL);
    assert_int_equal(stage.acked, 1);
    assert_true(is_marked(&stage, "dirty1", stage.moves));
    text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.moves));
    assert_string_equal(text_ask(stage.a, ""), popped(stage.moves, "x"));
    end(&stage);
}

static void a_client_that_leaves_before_its_command_arrives_takes_nothing(void **state)
{
    struct stage stage;
    begin(&stage);
    memory_node_delay(stage.fixture.nodes[0], "BLPOP", 1, 100, false);
    text_ask_for(stage.a, text_of("BLPOP %s 0\r\n", stage.stays), 20);
    text_client_destroy(stage.a);
    stage.a = NULL;
    io_sim_run(300, NULL);
    text_ask(stage.b, text_of("RPUSH %s x\r\n", stage.stays));
    assert_int_equal(list_len(&stage, 0, stage.stays), 1);
    end(&stage);
}

static void the_time_that_is_left_goes_on(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask_for(stage.a, text_of("BLPOP %s 2\r\n", stage.moves), 1000);
    set_state(&stage, MOVE_TRACKING, "dirty1");
    assert_string_equal(text_ask_for(stage.a, "", 900), "");
    assert_string_equal(text_ask_for(stage.a, "", 150), "*-1\r\n");
    text_ask_for(stage.a, text_of("BLPOP %s 0.5\r\n", stage.moves), 100);
    set_state(&stage, MOVE_FROZEN, "");
    assert_string_equal(text_ask_for(stage.a, "", 1000), ""); /* it is held over its time */
    switch_over(&stage);
    assert_string_equal(text_ask_for(stage.a, "", 50), "*-1\r\n");
    end(&stage);
}

static void keys_that_come_apart_are_refused_at_the_switch(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s %s 0\r\nPING\r\n", stage.stays, stage.moves));
    set_state(&stage, MOVE_TRACKING, "dirty1");
    set_state(&stage, MOVE_FROZEN, "");
    io_sim_run(100, NULL);
    switch_over(&stage);
    const char *answer = text_ask(stage.a, "");
    assert_memory_equal(answer, "-CROSSNODE 'BLPOP'", 18);
    assert_non_null(strstr(answer, "\r\n+PONG\r\n"));
    assert_int_equal(blocked_clients(&stage), 0);
    end(&stage);
}

static void no_entry_of_a_stream_is_missed_over_the_switch(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.moves;
    assert_string_equal(text_ask(stage.b, text_of("XADD %s * f v\r\n", key)), "$3\r\n1-0\r\n");
    assert_string_equal(text_ask(stage.a, text_of("XREAD BLOCK 0 STREAMS %s $\r\n", key)), "");
    set_state(&stage, MOVE_TRACKING, "dirty1");
    set_state(&stage, MOVE_FROZEN, "");
    io_sim_run(100, NULL);
    assert_int_equal(stage.acked, 2); /* a read holds nothing up */
    /* The mover copies; UNBLOCK is late, and another client adds before it. */
    struct memory_value *copy =
        &memory_dict_put(&stage.fixture.nodes[NOW]->keys, (struct slice){key, strlen(key)})->value;
    memory_value_copy(copy, &memory_node_find(stage.fixture.nodes[0], key)->value);
    memory_node_delay(stage.fixture.nodes[0], "CLIENT", 1, 100, false);
    switch_over(&stage);
    io_sim_run(20, NULL);
    assert_string_equal(text_ask_for(stage.b, text_of("XADD %s * f v\r\n", key), 20),
                        "$3\r\n2-0\r\n");
    assert_int_equal(stage.acked, 2); /* so the old owner still has the stream */
    assert_string_equal(text_ask(stage.a, ""), "*1\r\n:2\r\n");
    assert_int_equal(stage.acked, 3);
    end(&stage);
}

static void a_stream_that_is_not_there_yet_begins_at_its_first_entry(void **state)
{
    struct stage stage;
    begin(&stage);
    const char *key = stage.moves;
    assert_string_equal(text_ask(stage.a, text_of("XREAD BLOCK 0 STREAMS %s $\r\n", key)), "");
    memory_node_delay(stage.fixture.nodes[0], "CLIENT", 1, 100, false);
    switch_over(&stage);
    io_sim_run(20, NULL);
    text_ask_for(stage.b, text_of("XADD %s * f v\r\n", key), 20);
    assert_string_equal(text_ask(stage.a, ""), "*1\r\n:1\r\n");
    end(&stage);
}

/* Pushes, states and clients that wait, in all orders: each element is popped once. */
static void no_element_is_lost_or_doubled_when_unblock_meets_a_push(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct stage stage = {.acked = 0};
        struct io_sim_options sim = calm;
        sim.seed = seed;
        sim.delay_max_us = 3000;
        struct random random = {seed};
        struct buffer wanted = BUFFER_INIT;
        fixture_init(&stage.fixture, NOW, 1);
        begin_with(&stage, &sim);
        for (int i = 0; i < 30; i++) {
            text_send(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
            io_sim_run(random_below(&random, 5), NULL);
            set_state(&stage, MOVE_TRACKING, text_of("dirty%d", i));
            io_sim_run(random_below(&random, 5), NULL);
            text_send(stage.b, text_of("RPUSH %s e%d\r\n", stage.moves, i));
            io_sim_run(random_below(&random, 30), NULL);
            buffer_append_text(&wanted, popped(stage.moves, text_of("e%d", i)));
        }
        buffer_append(&wanted, "", 1);
        const char *got = text_ask(stage.a, "");
        if (strcmp(got, buffer_bytes(&wanted)) != 0 || stage.acked != 30)
            fail_msg("seed %llu: %u acknowledged, got %s", (unsigned long long)seed, stage.acked,
                     got);
        buffer_release(&wanted);
        end(&stage);
    }
}

static void nothing_is_taken_for_a_client_that_left_during_the_freeze(void **state)
{
    struct stage stage;
    begin(&stage);
    text_ask(stage.a, text_of("BLPOP %s 0\r\n", stage.moves));
    set_state(&stage, MOVE_TRACKING, "dirty");
    set_state(&stage, MOVE_FROZEN, "dirty");
    io_sim_run(20, NULL);
    struct text_client *direct = text_client_create(fixture_address(NOW));
    text_ask(direct, text_of("RPUSH %s x\r\n", stage.moves));
    text_client_destroy(direct);
    text_client_destroy(stage.a);
    stage.a = NULL;
    io_sim_run(20, NULL);
    assert_int_equal(blocked_clients(&stage), 0);
    switch_over(&stage);
    io_sim_run(100, NULL);
    assert_int_equal(list_len(&stage, NOW, stage.moves), 1);
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_waits_through_all_states_of_a_move),
        cmocka_unit_test(who_waits_for_a_key_that_stays_is_left_alone),
        cmocka_unit_test(an_era_is_not_over_while_one_waits_in_it),
        cmocka_unit_test(unblock_is_repeated_when_it_overtook_the_command),
        cmocka_unit_test(a_client_that_leaves_before_its_command_arrives_takes_nothing),
        cmocka_unit_test(the_time_that_is_left_goes_on),
        cmocka_unit_test(keys_that_come_apart_are_refused_at_the_switch),
        cmocka_unit_test(no_entry_of_a_stream_is_missed_over_the_switch),
        cmocka_unit_test(a_stream_that_is_not_there_yet_begins_at_its_first_entry),
        cmocka_unit_test(no_element_is_lost_or_doubled_when_unblock_meets_a_push),
        cmocka_unit_test(nothing_is_taken_for_a_client_that_left_during_the_freeze),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
