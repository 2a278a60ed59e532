/* covers: move/purge */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/move_world.h"

static const struct slice own_dirty = {"\0cw:dirty:7.1", 13},
                          own_temporary = {"\0cw:mig:7.1:k", 13}, own_other = {"\0cw:fence", 9};

static void set_key(struct world *world, uint32_t node, struct slice key)
{
    memory_set(world->nodes[node], key, world_key("value"));
}

/* Keys k0 .. k999 at their owners, a few of our own on each node. */
static void begin(struct world *world)
{
    char key[32];
    world_begin(world, &world_calm);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        set_key(world, world_owner(world, key), world_key(key));
    }
    for (uint32_t i = 0; i < WORLD_NODES; i++) {
        set_key(world, i, own_dirty);
        set_key(world, i, own_temporary);
        set_key(world, i, own_other);
    }
}

static bool has(struct world *world, uint32_t node, struct slice key)
{
    return memory_find(world->nodes[node], key) != NULL;
}

static uint64_t purge(struct world *world, enum purge_what what, uint32_t node, bool is_dry)
{
    assert_done(
        world_run(world, job_purge(&world->move, what, node, is_dry, world_on_done, world)));
    return world->end.count;
}

/* How many of k0 .. k999 a node has, and how many of these move away from it. */
static void count_keys(struct world *world, uint32_t node, uint64_t *ret_all, uint64_t *ret_moving)
{
    char key[32];
    *ret_all = *ret_moving = 0;
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%d", i);
        *ret_all += has(world, node, world_key(key));
        *ret_moving += has(world, node, world_key(key)) && world_moves(world, key);
    }
}

static void test_what_moved_away_is_removed_and_nothing_else(void **state)
{
    (void)state;
    struct world world;
    uint64_t all, moving, left, left_moving;
    begin(&world);
    for (uint32_t i = 0; i < WORLD_FROM; i++) {
        count_keys(&world, i, &all, &moving);
        assert_true(moving > 20);
        assert_true(purge(&world, PURGE_LEFT, i, false) >= moving);
        count_keys(&world, i, &left, &left_moving);
        assert_int_equal(left_moving, 0);
        assert_int_equal(left, all - moving);
        assert_false(has(&world, i, own_dirty) || has(&world, i, own_temporary));
        assert_true(has(&world, i, own_other));
    }
    assert_true(world.progress.keys_purged > 60);
    world_end(&world);
}

/* A node that holds keys of others (it served them under an older map) loses none of those. */
static void test_keys_that_are_not_its_own_stay(void **state)
{
    (void)state;
    struct world world;
    char moving[64];
    begin(&world);
    set_key(&world, 1, world_key(world_name(&world, "a", moving))); /* node 0's */
    purge(&world, PURGE_LEFT, 1, false);
    assert_true(has(&world, 1, world_key(moving)));
    world_end(&world);
}

static void test_what_arrived_is_removed_when_a_change_is_cancelled(void **state)
{
    (void)state;
    struct world world;
    uint64_t all, moving;
    begin(&world);
    world_copy_all(&world);
    assert_true(memory_size(world.nodes[3]) > 100);
    set_key(&world, 3, world_key("stays")); /* not a key that would come to it, or it moves */
    bool stays = !world_moves(&world, "stays");
    purge(&world, PURGE_ARRIVED, 3, false);
    count_keys(&world, 3, &all, &moving);
    assert_int_equal(all, 0);
    assert_int_equal(has(&world, 3, world_key("stays")), stays);
    assert_true(has(&world, 3, own_dirty) && has(&world, 3, own_other));
    assert_false(has(&world, 3, own_temporary));
    for (uint32_t i = 0; i < WORLD_FROM; i++) { /* sources are never touched by it */
        count_keys(&world, i, &all, &moving);
        purge(&world, PURGE_ARRIVED, i, false);
        uint64_t after, after_moving;
        count_keys(&world, i, &after, &after_moving);
        assert_int_equal(after, all);
    }
    world_end(&world);
}

static void test_a_dry_run_counts_and_removes_nothing(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    assert_int_equal(purge(&world, PURGE_ARRIVED, 3, true), 0);
    uint64_t copied = world_copy_all(&world);
    assert_true(copied > 0);
    int64_t before = memory_size(world.nodes[3]);
    assert_true(purge(&world, PURGE_ARRIVED, 3, true) >= (uint64_t)before - 3);
    assert_int_equal(memory_size(world.nodes[3]), before);
    assert_int_equal(world.progress.keys_purged, 0);
    world_end(&world);
}

static void test_marks_alone_can_be_removed(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    int64_t before = memory_size(world.nodes[0]);
    assert_int_equal(purge(&world, PURGE_MARKS, 0, false), 0);
    assert_int_equal(memory_size(world.nodes[0]), before - 1);
    assert_false(has(&world, 0, own_dirty));
    world_end(&world);
}

/* The node keeps its id and gets another address: the old server is cleared, the new one not. */
static void test_a_node_that_was_replaced_is_told_from_its_successor(void **state)
{
    (void)state;
    struct world world;
    struct peer *to_peers[WORLD_FROM];
    struct cw_node nodes[WORLD_FROM];
    uint64_t all, moving;
    begin(&world);
    for (uint32_t i = 0; i < WORLD_FROM; i++) {
        nodes[i] = *cw_map_node(world.move.from, i);
        to_peers[i] = world.peers[i];
    }
    nodes[0].address = world_addresses[3];
    to_peers[0] = world.peers[3];
    cw_map_unref(&world.move.to);
    assert_int_equal(cw_map_change(world.move.from, nodes, WORLD_FROM, &world.move.to, NULL),
                     CW_OK);
    world.move.to_peers = to_peers;
    count_keys(&world, 0, &all, &moving);
    assert_int_equal(moving, all);
    assert_true(world_copy_all(&world) >= all);
    assert_true(purge(&world, PURGE_LEFT, 0, false) >= all);
    count_keys(&world, 0, &all, &moving);
    assert_int_equal(all, 0);
    count_keys(&world, 3, &all, &moving);
    assert_true(all > 100);
    purge(&world, PURGE_LEFT, 1, false);
    purge(&world, PURGE_ARRIVED, 1, false);
    count_keys(&world, 1, &all, &moving);
    assert_true(all > 100);
    purge(&world, PURGE_ARRIVED, 0, false); /* cancelled after all: the new server is cleared */
    count_keys(&world, 3, &all, &moving);
    assert_int_equal(all, 0);
    world_end(&world);
}

static void test_purging_is_throttled(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    throttle_init(&world.throttle, &(struct throttle_settings){.keys_per_second = 10},
                  io_now_ms(world.loop));
    uint64_t began_us = io_sim_now_us();
    uint64_t count = purge(&world, PURGE_LEFT, 0, false);
    assert_true(count > MOVE_BATCH + 10);
    assert_true(io_sim_now_us() - began_us > (count - MOVE_BATCH) * 90000);
    world_end(&world);
}

static void test_a_node_that_goes_away_fails_the_purge(void **state)
{
    (void)state;
    struct world world;
    begin(&world);
    memory_node_crash(world.nodes[0], MEMORY_KEPT);
    struct job *job = job_purge(&world.move, PURGE_LEFT, 0, false, world_on_done, &world);
    assert_ends(world_run(&world, job), JOB_FAILED, "node 'n0'");
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_moved_away_is_removed_and_nothing_else),
        cmocka_unit_test(test_keys_that_are_not_its_own_stay),
        cmocka_unit_test(test_what_arrived_is_removed_when_a_change_is_cancelled),
        cmocka_unit_test(test_a_dry_run_counts_and_removes_nothing),
        cmocka_unit_test(test_marks_alone_can_be_removed),
        cmocka_unit_test(test_a_node_that_was_replaced_is_told_from_its_successor),
        cmocka_unit_test(test_purging_is_throttled),
        cmocka_unit_test(test_a_node_that_goes_away_fails_the_purge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
