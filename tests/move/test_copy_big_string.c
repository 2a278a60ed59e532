/*
 * Large strings are copied while they change, vanish, and nodes fail, on the simulated io. No byte
 * of their values is zero, so what was filled up would be seen.
 *
 * covers: move/copy_big_string, move/peer_stream
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/copy_big_internal.h"
#include "move/move_world.h"

enum { LEN = 5 * MOVE_CHUNK_BYTES + 1234 };

static struct world world;
static char name[64], bytes[2 * LEN];

/* What happens to the string at a command that a node gets, counted from 1, and as often as said.
 */
static struct {
    uint32_t at, times, count;
    void (*what)(void);
} happening;

static void on_command(void *context, struct memory_call *call)
{
    (void)context;
    (void)call;
    if (++happening.count < happening.at || happening.times == 0)
        return;
    happening.times--;
    happening.what();
}

static void happens(uint32_t node, uint32_t at, uint32_t times, void (*what)(void))
{
    happening.at = at;
    happening.times = times;
    happening.count = 0;
    happening.what = what;
    world.nodes[node]->before = on_command;
}

static void set(size_t len)
{
    memory_set(world.nodes[0], world_key(name), (struct slice){bytes, len});
}

static void begin(size_t len)
{
    world_begin(&world, &world_calm);
    world_name(&world, "big:", name);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(1 + i * 7 % 251);
    set(len);
}

static struct job *start(void)
{
    return job_copy_big(&world.move, 0, world_key(name), world_on_done, &world);
}

static const struct job_end *copy(void)
{
    return world_run(&world, start());
}

static bool arrived(size_t len)
{
    struct memory_item *item = memory_find(world.nodes[3], world_key(name));
    assert_int_equal(memory_size(world.nodes[3]), item ? 1 : 0); /* no temporary key */
    return item && memory_text_is(item->value.text, (struct slice){bytes, len});
}

static void test_strings_of_every_length_arrive(void **state)
{
    (void)state;
    static const size_t lengths[] = {
        0,  1, MOVE_CHUNK_BYTES - 1, MOVE_CHUNK_BYTES, MOVE_CHUNK_BYTES + 1, 2 * MOVE_CHUNK_BYTES,
        LEN};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        begin(lengths[i]);
        assert_done(copy());
        assert_int_equal(world.end.count, 1);
        assert_true(arrived(lengths[i]));
        assert_true(world.progress.bytes_copied >= lengths[i]);
        uint64_t expire_ms = io_wall_ms(world.loop) + 86400123;
        world_do(&world, 0, "PEXPIREAT %s %" PRIu64, name, expire_ms);
        assert_done(copy());
        assert_true(world_is_equal(&world, world_key(name), 0, 3));
        assert_true(arrived(lengths[i]));
        world_end(&world);
    }
}

static void shorten(void)
{
    set(LEN - MOVE_CHUNK_BYTES);
}

static void shorten_to_little(void)
{
    set(5);
}

static void extend(void)
{
    set(LEN + MOVE_CHUNK_BYTES);
}

static void vanish(void)
{
    memory_delete(world.nodes[0], world_key(name));
}

/* Once, at every single command of the source: `len` is what the string has after it. What arrives
 * is one of the two values, if anything. */
static void at_every_command(void (*what)(void), size_t len, bool may_be_gone)
{
    uint32_t times = 0;
    for (uint32_t at = 1; times == 0; at++) {
        begin(LEN);
        happens(0, at, 1, what);
        assert_done(copy());
        times = happening.times;
        assert_true(arrived(LEN) || (times == 0 && (arrived(len) || may_be_gone)));
        world_end(&world);
        assert_in_range(at, 1, 200);
    }
}

static void test_one_that_changes_its_length_arrives_as_it_was_or_is(void **state)
{
    (void)state;
    at_every_command(shorten, LEN - MOVE_CHUNK_BYTES, false);
    at_every_command(shorten_to_little, 5, false);
    at_every_command(extend, LEN + MOVE_CHUNK_BYTES, false);
    at_every_command(vanish, 0, true);
}

static void shorten_again(void)
{
    set(LEN - happening.count * 1000);
}

/* It is marked and comes again; until then there is nothing, rather than something wrong. */
static void test_one_that_becomes_shorter_all_the_time_is_given_up(void **state)
{
    (void)state;
    begin(LEN);
    happens(0, 1, 100000, shorten_again);
    assert_done(copy());
    assert_int_equal(world.end.count, 0);
    assert_false(arrived(LEN));
    assert_int_equal(memory_size(world.nodes[3]), 0);
    world_end(&world);
}

/* ---- the job is ended early, nodes fail -------------------------------------------------------
 */

static bool has_happened;

static void note(void)
{
    has_happened = true;
}

static void test_one_that_is_ended_early_leaves_nothing_and_disturbs_nobody(void **state)
{
    (void)state;
    for (uint32_t at = 2; at < 14; at++) {
        begin(LEN);
        has_happened = false;
        happens(0, at, 1, note);
        struct job *job = start();
        io_sim_run(WORLD_LIMIT_MS, &has_happened);
        uint64_t connections = peer_connection_count(world.peers[3]);
        job_stop(&job);
        world_run(&world, job_copy_big(&world.move, 0, world_key(name), world_on_done, &world));
        assert_true(arrived(LEN));
        assert_true(peer_connection_count(world.peers[3]) <= (connections ? connections : 1));
        world_end(&world);
    }
}

static void crash_source(void)
{
    memory_node_crash(world.nodes[0], MEMORY_KEPT);
}

static void crash_target(void)
{
    memory_node_crash(world.nodes[3], MEMORY_LOST);
}

static void at_every_command_crash(uint32_t node, void (*crash)(void), uint32_t first)
{
    uint32_t times = 0;
    for (uint32_t at = first; times == 0; at++) {
        begin(LEN);
        happens(node, at, 1, crash);
        enum job_result result = copy()->result;
        times = happening.times;
        assert_int_equal(result, times == 0 ? JOB_FAILED : JOB_DONE);
        world.nodes[node]->before = NULL;
        if (times == 0)
            memory_node_restart(world.nodes[node]);
        assert_true(times == 1 || node == 3 || memory_size(world.nodes[3]) == 0);
        assert_done(copy());
        assert_true(arrived(LEN));
        world_end(&world);
        assert_in_range(at, 1, 200);
    }
}

static void test_nodes_that_crash_at_any_command_are_copied_from_and_to_again(void **state)
{
    (void)state;
    at_every_command_crash(0, crash_source, 1);
    at_every_command_crash(3, crash_target, 1);
}

static void stop_target(void)
{
    memory_node_stop(world.nodes[3]);
}

/* It takes what the window lets it and is silent then. */
static void test_a_target_that_stops_in_the_middle_is_overdue(void **state)
{
    (void)state;
    begin(LEN);
    happens(0, 9, 1, stop_target);
    assert_ends(copy(), JOB_FAILED, "did not answer within 200 ms");
    memory_node_continue(world.nodes[3]);
    assert_done(copy());
    assert_true(arrived(LEN));
    world_end(&world);
}

/* The target owes nothing while the pieces are missing, however long that takes. */
static void test_a_target_that_waits_for_the_throttle_is_not_overdue(void **state)
{
    (void)state;
    static const struct throttle_settings slow = {.bytes_per_second = MOVE_CHUNK_BYTES};
    begin(LEN);
    throttle_init(&world.throttle, &slow, io_now_ms(world.loop));
    uint64_t start_ms = io_now_ms(world.loop);
    assert_done(copy());
    assert_true(io_now_ms(world.loop) - start_ms > 4 * WORLD_TIMEOUT_MS);
    assert_true(arrived(LEN));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings_of_every_length_arrive),
        cmocka_unit_test(test_one_that_changes_its_length_arrives_as_it_was_or_is),
        cmocka_unit_test(test_one_that_becomes_shorter_all_the_time_is_given_up),
        cmocka_unit_test(test_one_that_is_ended_early_leaves_nothing_and_disturbs_nobody),
        cmocka_unit_test(test_nodes_that_crash_at_any_command_are_copied_from_and_to_again),
        cmocka_unit_test(test_a_target_that_stops_in_the_middle_is_overdue),
        cmocka_unit_test(test_a_target_that_waits_for_the_throttle_is_not_overdue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
