/*
 * Big keys are copied while they change, vanish, and nodes fail, on the simulated io.
 *
 * covers: move/copy_big, move/copy_big_types, move/copy_big_job
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/copy_big_internal.h"
#include "move/move_world.h"

enum { FIELDS = 3000 };

static struct world world;
static char name[64];

/* What happens at the at-th command of a kind, counted from 1. */
struct happening {
    const char *command; /* NULL: any */
    uint32_t at, count;
    void (*what)(struct happening *happening);
    bool has_happened;
};

static void on_command(void *context, struct memory_call *call)
{
    struct happening *happening = context;
    if (happening->command && !memory_arg_is(call, 0, happening->command))
        return;
    if (++happening->count != happening->at)
        return;
    happening->has_happened = true;
    happening->what(happening);
}

static void happens(uint32_t node, struct happening *happening)
{
    world.nodes[node]->before = on_command;
    world.nodes[node]->before_context = happening;
}

static void fill_hash(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        world_do(&world, 0, "HSET %s field%u value%u", name, i, i * 3);
}

static void begin(void)
{
    world_begin(&world, &world_calm);
    for (int i = 0; i < WORLD_NODES; i++)
        world.nodes[i]->scan_whole_max = 0;
    world_name(&world, "big:", name);
    fill_hash(0, FIELDS);
}

static const struct job_end *copy(void)
{
    return world_run(&world, job_copy_big(&world.move, 0, world_key(name), world_on_done, &world));
}

static void assert_equal(void)
{
    assert_true(world_is_equal(&world, world_key(name), 0, 3));
    assert_int_equal(memory_size(world.nodes[3]), memory_size(world.nodes[0]));
}

static void test_a_hash_arrives_in_chunks(void **state)
{
    (void)state;
    begin();
    const struct job_end *end = copy();
    assert_done(end);
    assert_int_equal(end->count, 1);
    assert_equal();
    assert_true(world.progress.chunks >= FIELDS / MOVE_CHUNK_ELEMENTS);
    assert_int_equal(world.progress.big_keys, 1);
    assert_true(world.progress.bytes_copied >= FIELDS * 12);
    world_end(&world);
}

static void delete_key(struct happening *happening)
{
    (void)happening;
    memory_delete(world.nodes[0], world_key(name));
}

static void replace_key(struct happening *happening)
{
    delete_key(happening);
    memory_set(world.nodes[0], world_key(name), world_key("a string"));
}

/* At every single command that the source gets: whatever the copy was at, it ends well, and leaves
 * nothing when the key was gone before the last time that it was looked at. */
static void at_every_command(void (*what)(struct happening *))
{
    bool was_late = false;
    for (uint32_t at = 1; !was_late; at++) {
        struct happening happening = {.at = at, .what = what};
        begin();
        happens(0, &happening);
        const struct job_end *end = copy();
        was_late = !happening.has_happened;
        assert_done(end);
        assert_int_equal(end->count, was_late);
        assert_int_equal(memory_size(world.nodes[3]), was_late);
        world_end(&world);
        assert_in_range(at, 1, 100);
    }
}

static void test_a_key_that_vanishes_at_any_moment_leaves_nothing(void **state)
{
    (void)state;
    at_every_command(delete_key);
}

static void test_a_key_that_becomes_another_leaves_nothing_or_what_it_was(void **state)
{
    (void)state;
    for (uint32_t at = 3; at < 10; at++) {
        struct happening happening = {.command = "HSCAN", .at = at - 1, .what = replace_key};
        begin();
        happens(0, &happening);
        assert_done(copy());
        assert_int_equal(world.end.count, !happening.has_happened);
        assert_int_equal(memory_size(world.nodes[3]), !happening.has_happened);
        world_end(&world);
    }
}

static void change_fields(struct happening *happening)
{
    char field[32];
    struct memory_item *item = memory_find(world.nodes[0], world_key(name));
    for (uint32_t i = 0; i < 40; i++) {
        snprintf(field, sizeof field, "new%u.%u", happening->at, i);
        memory_dict_put(&item->value.members, world_key(field));
    }
    happening->at++;
}

/* A table that grows while it is walked through: no field is left out. */
static void test_fields_that_are_there_all_the_time_arrive(void **state)
{
    (void)state;
    struct happening happening = {.command = "HSCAN", .at = 1, .what = change_fields};
    begin();
    happens(0, &happening);
    assert_done(copy());
    assert_true(happening.at > 5);
    struct memory_item *there = memory_find(world.nodes[3], world_key(name));
    assert_non_null(there);
    for (uint32_t i = 0; i < FIELDS; i++) {
        char field[32];
        snprintf(field, sizeof field, "field%u", i);
        assert_non_null(memory_dict_find(&there->value.members, world_key(field)));
    }
    world_end(&world);
}

/* ---- the target fails -------------------------------------------------------------------------
 */

static struct slice temporary(char text[static 128])
{
    memcpy(text, world.move.prefix, world.move.prefix_len);
    memcpy(text + world.move.prefix_len, name, strlen(name));
    return (struct slice){text, world.move.prefix_len + strlen(name)};
}

static void lose_temporary(struct happening *happening)
{
    char text[128];
    (void)happening;
    memory_delete(world.nodes[3], temporary(text));
}

/* Evicted, or flushed: the second half alone would be half a key. */
static void test_a_temporary_key_that_is_lost_is_noticed(void **state)
{
    (void)state;
    for (uint32_t at = 2; at <= 5; at++) {
        struct happening happening = {.command = "PEXPIRE", .at = at, .what = lose_temporary};
        begin();
        happens(3, &happening);
        assert_ends(copy(), JOB_FAILED, "n3");
        assert_true(happening.has_happened);
        assert_int_equal(memory_size(world.nodes[3]), 0);
        assert_done(copy());
        assert_equal();
        world_end(&world);
    }
}

static void crash_target(struct happening *happening)
{
    (void)happening;
    memory_node_crash(world.nodes[3], MEMORY_LOST);
}

static void test_a_target_that_crashes_at_any_command_is_copied_to_again(void **state)
{
    (void)state;
    for (uint32_t at = 1; at < 60; at += 3) {
        struct happening happening = {.at = at, .what = crash_target};
        begin();
        happens(3, &happening);
        enum job_result result = copy()->result;
        assert_int_equal(result, happening.has_happened ? JOB_FAILED : JOB_DONE);
        if (happening.has_happened)
            memory_node_restart(world.nodes[3]);
        world.nodes[3]->before = NULL;
        assert_done(copy());
        assert_equal();
        world_end(&world);
    }
}

static void do_nothing(struct happening *happening)
{
    (void)happening;
}

/* What nobody goes on with has a time to live, from its first chunk on. */
static void test_an_abandoned_copy_disappears_by_itself(void **state)
{
    (void)state;
    char text[128];
    struct happening happening = {.command = "PEXPIRE", .at = 3, .what = do_nothing};
    begin();
    happens(3, &happening);
    struct job *job = job_copy_big(&world.move, 0, world_key(name), world_on_done, &world);
    io_sim_run(WORLD_LIMIT_MS, &happening.has_happened);
    job_stop(&job);
    struct memory_item *item = memory_find(world.nodes[3], temporary(text));
    uint64_t expire_ms = item ? item->value.expire_ms : 0;
    assert_in_range(expire_ms, io_wall_ms(world.loop) + 1,
                    io_wall_ms(world.loop) + COPY_BIG_TTL_MS);
    world_end(&world);
}

/* ---- how fast ---------------------------------------------------------------------------------
 */

static uint64_t time_of_copy(bool is_urgent)
{
    static const struct throttle_settings slow = {.bytes_per_second = 10000};
    begin();
    throttle_init(&world.throttle, &slow, io_now_ms(world.loop));
    world.move.is_urgent = is_urgent;
    uint64_t start = io_now_ms(world.loop);
    assert_done(copy());
    uint64_t took = io_now_ms(world.loop) - start;
    assert_equal();
    world_end(&world);
    return took;
}

static void test_the_throttle_holds_between_chunks(void **state)
{
    (void)state;
    assert_true(time_of_copy(false) > 2000); /* more than 40,000 bytes */
    assert_true(time_of_copy(true) < 500);
}

static void test_only_values_of_redis_itself_can_be_copied(void **state)
{
    (void)state;
    static const char *const known[] = {"string", "hash", "list", "set", "zset", "stream"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_non_null(copy_big_find_type(slice_of(known[i])));
    assert_null(copy_big_find_type(slice_of("ReJSON-RL")));
    assert_null(copy_big_find_type(slice_of("none")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hash_arrives_in_chunks),
        cmocka_unit_test(test_a_key_that_vanishes_at_any_moment_leaves_nothing),
        cmocka_unit_test(test_a_key_that_becomes_another_leaves_nothing_or_what_it_was),
        cmocka_unit_test(test_fields_that_are_there_all_the_time_arrive),
        cmocka_unit_test(test_a_temporary_key_that_is_lost_is_noticed),
        cmocka_unit_test(test_a_target_that_crashes_at_any_command_is_copied_to_again),
        cmocka_unit_test(test_an_abandoned_copy_disappears_by_itself),
        cmocka_unit_test(test_the_throttle_holds_between_chunks),
        cmocka_unit_test(test_only_values_of_redis_itself_can_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
