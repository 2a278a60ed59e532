/* covers: move/copy, move/copier, move/key_scan, move/job */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/copier.h"
#include "move/move_world.h"

static void fill(struct world *world, uint64_t writes, uint64_t keys)
{
    struct random random = {.state = 5};
    for (uint64_t i = 0; i < writes; i++)
        world_write(world, &random, keys, NULL);
}

/* A value of so many bytes, on node 0. */
static void set_long(struct world *world, const char *key, size_t len)
{
    char *value = malloc(len);
    memset(value, 'v', len);
    struct slice args[] = {{"SET", 3}, world_key(key), {value, len}};
    world_call(world, 0, args, 3);
    free(value);
}

static void set_fields(struct world *world, const char *key, unsigned count, size_t len)
{
    char *value = malloc(len + 1), field[16];
    memset(value, 'v', len);
    value[len] = '\0';
    for (unsigned i = 0; i < count; i++) {
        snprintf(field, sizeof field, "f%u", i);
        struct slice args[] = {{"HSET", 4}, world_key(key), world_key(field), {value, len}};
        world_call(world, 0, args, 4);
    }
    free(value);
}

static void test_every_key_that_moves_arrives_as_it_is(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, &world_calm);
    fill(&world, 6000, 2000);
    struct slice own[] = {{"SET", 3}, {"\0cw:dirty:7.1", 13}, {"1", 1}};
    for (uint32_t i = 0; i < WORLD_FROM; i++)
        world_call(&world, i, own, 3);
    uint64_t copied = world_copy_all(&world);
    assert_int_equal(world_count_wrong(&world), 0);
    assert_true(copied >= (uint64_t)memory_size(world.nodes[3]));
    assert_in_range(memory_size(world.nodes[3]), 200, 800);
    assert_true(world.progress.keys_scanned >= 1000);
    assert_true(world.progress.bytes_copied > 1000);
    assert_int_equal(world.progress.keys_copied, copied);
    assert_int_equal(key_list_count(&world.found.keys), 0);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        assert_int_equal(world.nodes[i]->wrong_commands, 0);
    world_end(&world);
}

static void test_keys_arrive_through_a_network_that_cuts_everything_in_pieces(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, &(struct io_sim_options){.seed = 11,
                                                 .delay_min_us = 10,
                                                 .delay_max_us = 3000,
                                                 .split_permille = 200,
                                                 .window_bytes = 2000});
    fill(&world, 400, 200);
    world_copy_all(&world);
    assert_int_equal(world_count_wrong(&world), 0);
    world_end(&world);
}

static void test_a_node_without_keys_has_nothing_to_copy(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, &world_calm);
    assert_int_equal(world_copy_all(&world), 0);
    world_end(&world);
}

static void test_old_values_on_the_target_are_replaced(void **state)
{
    (void)state;
    struct world world;
    char key[64];
    world_begin(&world, &world_calm);
    world_name(&world, "key", key);
    world_do(&world, 0, "SET %s new", key);
    world_do(&world, 3, "RPUSH %s old older", key);
    world_copy_all(&world);
    assert_int_equal(world_count_wrong(&world), 0);
    world_end(&world);
}

/* ---- keys that go while they are copied -------------------------------------------------------
 */

static void delete_before_dump(void *context, struct memory_call *call)
{
    (void)context;
    if (memory_arg_is(call, 0, "DUMP"))
        memory_delete(call->node, memory_arg(call, 1));
}

static void test_a_key_that_is_gone_meanwhile_is_gone_on_the_target(void **state)
{
    (void)state;
    struct world world;
    char key[64];
    world_begin(&world, &world_calm);
    world_name(&world, "key", key);
    world_do(&world, 0, "SET %s value", key);
    world_do(&world, 3, "SET %s from-an-attempt-before", key);
    world.nodes[0]->before = delete_before_dump;
    world_copy_all(&world);
    assert_null(memory_node_find(world.nodes[3], key));
    world_end(&world);
}

static void test_a_key_whose_time_is_over_on_arrival_is_no_key(void **state)
{
    (void)state;
    struct world world;
    char key[64];
    world_begin(&world, &world_calm);
    world_name(&world, "key", key);
    world_do(&world, 0, "SET %s value PX 5000", key);
    world.nodes[3]->clock_offset_ms = 10000;
    world_copy_all(&world);
    assert_null(memory_node_find(world.nodes[3], key));
    world_end(&world);
}

/* ---- big keys ---------------------------------------------------------------------------------
 */

static bool is_found(const struct world *world, const char *key)
{
    for (size_t i = 0; i < key_list_count(&world->found.keys); i++) {
        struct slice found = key_list_at(&world->found.keys, i);
        uint32_t source;
        memcpy(&source, buffer_bytes(&world->found.sources) + i * sizeof source, sizeof source);
        if (found.len == strlen(key) && memcmp(found.ptr, key, found.len) == 0)
            return source == 0;
    }
    return false;
}

static void test_big_keys_are_found_and_not_copied(void **state)
{
    (void)state;
    struct world world;
    char hash[64], string[64], wide[64], small[64], longish[64];
    world_begin(&world, &world_calm);
    set_fields(&world, world_name(&world, "hash", hash), MOVE_BIG_ELEMENTS + 1, 20);
    set_long(&world, world_name(&world, "string", string), MOVE_BIG_BYTES + 1);
    set_fields(&world, world_name(&world, "wide", wide), 2000, 700);
    set_fields(&world, world_name(&world, "small", small), MOVE_BIG_ELEMENTS, 20);
    set_long(&world, world_name(&world, "long", longish), MOVE_BIG_BYTES);
    for (int round = 0; round < 2; round++) { /* found once, however often it is met */
        world_copy_all(&world);
        assert_int_equal(key_list_count(&world.found.keys), 3);
        assert_int_equal(world.found.sources.len, 3 * sizeof(uint32_t));
        assert_true(is_found(&world, hash) && is_found(&world, string) && is_found(&world, wide));
        assert_int_equal(memory_size(world.nodes[3]), 2);
    }
    /* Known ones are left to others. */
    struct slice known[] = {world_key(hash), world_key(small)};
    assert_int_equal(big_keys_create(NULL, known, 2, &world.move.big), 0);
    key_list_clear(&world.found.keys);
    buffer_clear(&world.found.sources);
    memory_delete(world.nodes[3], world_key(small));
    world_copy_all(&world);
    assert_int_equal(key_list_count(&world.found.keys), 2);
    assert_false(is_found(&world, hash));
    assert_null(memory_node_find(world.nodes[3], small));
    world_end(&world);
}

/* How many values were dumped and not restored yet, at most. */
static int dumped, dumped_max;

static void count_dumped(void *context, struct memory_call *call)
{
    (void)context;
    dumped += memory_arg_is(call, 0, "DUMP");
    dumped -= memory_arg_is(call, 0, "RESTORE");
    dumped_max = dumped > dumped_max ? dumped : dumped_max;
}

static void test_many_large_values_are_dumped_in_portions(void **state)
{
    (void)state;
    struct world world;
    char key[64], start[16];
    world_begin(&world, &world_calm);
    for (int i = 0; i < 40; i++) {
        snprintf(start, sizeof start, "s%d-", i);
        set_long(&world, world_name(&world, start, key), 300000);
    }
    dumped = dumped_max = 0;
    world.nodes[0]->before = world.nodes[3]->before = count_dumped;
    world_copy_all(&world);
    assert_int_equal(dumped, 0);
    assert_in_range(dumped_max, 2, COPIER_PORTION_BYTES / 300000 + 1);
    assert_int_equal(memory_size(world.nodes[3]), 40);
    assert_int_equal(world_count_wrong(&world), 0);
    /* Where many nodes are copied from each is asked for less, but always for a key. */
    world.move.portion_bytes = dumped_max = 1;
    world_copy_all(&world);
    assert_int_equal(dumped_max, 1);
    assert_int_equal(world_count_wrong(&world), 0);
    world_end(&world);
}

/* ---- failures ---------------------------------------------------------------------------------
 */

/* A world of some keys and one copy of node 0 that fails. */
static void copy_with(struct world *world, void (*breaks)(struct world *world),
                      enum job_result result, const char *part)
{
    world_begin(world, &world_calm);
    fill(world, 500, 300);
    breaks(world);
    assert_ends(world_run(world, job_copy(&world->move, 0, world_on_done, world)), result, part);
}

static void fill_target(struct world *world)
{
    world_do(world, 3, "SET x y");
    world->nodes[3]->max_bytes = 1;
}

static void test_a_full_target_is_a_matter_for_a_person(void **state)
{
    (void)state;
    struct world world;
    copy_with(&world, fill_target, JOB_REFUSED, "node 'n3'");
    assert_non_null(strstr(world.end.problem, "maxmemory"));
    world_end(&world);
}

static void make_replica(struct world *world)
{
    world->nodes[3]->is_replica = true;
}

static void test_a_replica_as_target_is_refused(void **state)
{
    (void)state;
    struct world world;
    copy_with(&world, make_replica, JOB_REFUSED, "READONLY");
    world_end(&world);
}

static void make_loading(struct world *world)
{
    world->nodes[0]->is_loading = true;
}

static void test_a_node_that_loads_may_be_tried_again(void **state)
{
    (void)state;
    struct world world;
    copy_with(&world, make_loading, JOB_FAILED, "LOADING");
    world.nodes[0]->is_loading = false;
    world_copy_all(&world);
    assert_int_equal(world_count_wrong(&world), 0);
    world_end(&world);
}

static void make_older(struct world *world)
{
    world->nodes[3]->dump_version = 9;
}

static void test_payloads_that_are_refused_make_the_next_attempt_copy_by_value(void **state)
{
    (void)state;
    struct world world;
    copy_with(&world, make_older, JOB_FAILED, "by their values");
    assert_true(world.move.by_value);
    world_copy_all(&world);
    assert_int_equal(world_count_wrong(&world), 0);
    assert_true(memory_size(world.nodes[3]) > 20);
    world_end(&world);
}

static void stop_target(struct world *world)
{
    memory_node_stop(world->nodes[3]);
}

static void test_a_stopped_target_fails_the_copy_and_continues(void **state)
{
    (void)state;
    struct world world;
    copy_with(&world, stop_target, JOB_FAILED, "node 'n3' (sim-n3:1) did not answer within 200 ms");
    memory_node_continue(world.nodes[3]);
    world_copy_all(&world);
    assert_int_equal(world_count_wrong(&world), 0);
    world_end(&world);
}

static uint64_t crash_at; /* the n-th DUMP */

static void crash_at_dump(void *context, struct memory_call *call)
{
    (void)context;
    if (memory_arg_is(call, 0, "DUMP") && crash_at-- == 0) {
        memory_node_crash(call->node, MEMORY_KEPT);
        memory_node_restart(call->node);
    }
}

static void test_a_source_that_is_restarted_fails_the_copy(void **state)
{
    (void)state;
    for (uint64_t at = 0; at < 20; at += 6) {
        struct world world;
        world_begin(&world, &world_calm);
        fill(&world, 500, 300);
        crash_at = at;
        world.nodes[0]->before = crash_at_dump;
        assert_ends(world_run(&world, job_copy(&world.move, 0, world_on_done, &world)), JOB_FAILED,
                    "node 'n0'");
        world.nodes[0]->before = NULL;
        world_copy_all(&world);
        assert_int_equal(world_count_wrong(&world), 0);
        world_end(&world);
    }
}

static void test_cut_connections_never_make_a_copy_wrong(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct world world;
        struct io_sim_options sim = world_calm;
        sim.seed = seed;
        world_begin(&world, &sim);
        fill(&world, 300, 200);
        sim.cut_per_million = 4000;
        io_sim_set(&sim);
        int attempts = 0;
        for (uint32_t i = 0; i < WORLD_FROM; attempts++) {
            assert_true(attempts < 1000);
            world_run(&world, job_copy(&world.move, i, world_on_done, &world));
            i += world.end.result == JOB_DONE;
            if (world.end.result != JOB_DONE)
                assert_int_equal(world.end.result, JOB_FAILED);
        }
        if (world_count_wrong(&world))
            fail_msg("seed %llu: %llu keys are wrong", (unsigned long long)seed,
                     (unsigned long long)world_count_wrong(&world));
        world_end(&world);
    }
}

/* ---- stopping, throttling ---------------------------------------------------------------------
 */

static void test_a_job_can_be_stopped_at_any_moment(void **state)
{
    (void)state;
    for (int by_value = 0; by_value < 2; by_value++) {
        for (uint64_t steps = 0; steps < 12; steps++) {
            struct world world;
            world_begin(&world, &world_calm);
            fill(&world, 300, 200);
            world.move.by_value = by_value;
            world.job = job_copy(&world.move, 0, world_on_done, &world);
            if (steps)
                io_sim_run(steps, &world.is_over);
            job_stop(&world.job);
            assert_null(world.job);
            world.is_over = false;
            io_sim_run(1000, NULL);
            assert_false(world.is_over);
            world_end(&world);
        }
    }
}

static void test_keys_are_copied_no_faster_than_told(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, &world_calm);
    fill(&world, 1500, 1000);
    uint64_t copied = world_copy_all(&world);
    throttle_init(&world.throttle, &(struct throttle_settings){.keys_per_second = 100},
                  io_now_ms(world.loop));
    uint64_t began_us = io_sim_now_us();
    world_copy_all(&world);
    uint64_t took_ms = (io_sim_now_us() - began_us) / 1000;
    assert_true(took_ms > (copied - MOVE_BATCH - 20) * 10);
    assert_true(took_ms < (copied + MOVE_BATCH) * 10 + 1000);
    /* While clients wait nothing else counts. */
    world.move.is_urgent = true;
    began_us = io_sim_now_us();
    world_copy_all(&world);
    assert_true(io_sim_now_us() - began_us < 100000);
    world_end(&world);
}

static void test_a_paused_copy_goes_on_when_it_is_resumed(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world, &world_calm);
    fill(&world, 500, 300);
    world.throttle.is_paused = true;
    world.job = job_copy(&world.move, 0, world_on_done, &world);
    io_sim_run(60000, &world.is_over);
    assert_false(world.is_over);
    assert_int_equal(memory_size(world.nodes[3]), 0);
    world.throttle.is_paused = false;
    assert_done(world_run(&world, world.job));
    assert_true(memory_size(world.nodes[3]) > 0);
    world_end(&world);
}

static void test_which_keys_move(void **state)
{
    (void)state;
    struct world world;
    char key[64];
    uint32_t target = 9;
    world_begin(&world, &world_calm);
    assert_true(move_target(&world.move, world_key(world_name(&world, "a", key)), 0, &target));
    assert_int_equal(target, 3);
    assert_false(move_target(&world.move, world_key(key), 1, &target)); /* not its owner */
    assert_false(move_target(&world.move, (struct slice){"\0cw:x", 5}, 0, &target));
    /* The same id at another address is another server. */
    struct cw_node nodes[WORLD_FROM];
    for (uint32_t i = 0; i < WORLD_FROM; i++)
        nodes[i] = *cw_map_node(world.move.from, i);
    nodes[0].address = "elsewhere:1";
    cw_map_unref(&world.move.to);
    assert_int_equal(cw_map_change(world.move.from, nodes, WORLD_FROM, &world.move.to, NULL),
                     CW_OK);
    uint32_t owner = world_owner(&world, "some key");
    assert_int_equal(world_moves(&world, "some key"), owner == 0);
    assert_true(world_moves(&world, key));
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_that_moves_arrives_as_it_is),
        cmocka_unit_test(test_keys_arrive_through_a_network_that_cuts_everything_in_pieces),
        cmocka_unit_test(test_a_node_without_keys_has_nothing_to_copy),
        cmocka_unit_test(test_old_values_on_the_target_are_replaced),
        cmocka_unit_test(test_a_key_that_is_gone_meanwhile_is_gone_on_the_target),
        cmocka_unit_test(test_a_key_whose_time_is_over_on_arrival_is_no_key),
        cmocka_unit_test(test_big_keys_are_found_and_not_copied),
        cmocka_unit_test(test_many_large_values_are_dumped_in_portions),
        cmocka_unit_test(test_a_full_target_is_a_matter_for_a_person),
        cmocka_unit_test(test_a_replica_as_target_is_refused),
        cmocka_unit_test(test_a_node_that_loads_may_be_tried_again),
        cmocka_unit_test(test_payloads_that_are_refused_make_the_next_attempt_copy_by_value),
        cmocka_unit_test(test_a_stopped_target_fails_the_copy_and_continues),
        cmocka_unit_test(test_a_source_that_is_restarted_fails_the_copy),
        cmocka_unit_test(test_cut_connections_never_make_a_copy_wrong),
        cmocka_unit_test(test_a_job_can_be_stopped_at_any_moment),
        cmocka_unit_test(test_keys_are_copied_no_faster_than_told),
        cmocka_unit_test(test_a_paused_copy_goes_on_when_it_is_resumed),
        cmocka_unit_test(test_which_keys_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
