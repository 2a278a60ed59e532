/* covers: move/look, move/estimate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/check.h"
#include "move/move_world.h"

static struct world world;

static const struct job_end *look_at(uint32_t node, struct node_facts *facts)
{
    memset(facts, 0xff, sizeof *facts);
    return world_run(&world,
                     job_look(&world.move, world.peers[node], facts, world_on_done, &world));
}

static void test_a_node_is_what_it_says(void **state)
{
    (void)state;
    struct node_facts facts;
    world_begin(&world, &world_calm);
    world.nodes[1]->dump_version = 11;
    world_do(&world, 1, "SET a 1");
    world_do(&world, 1, "SET b 1");
    assert_done(look_at(1, &facts));
    assert_int_equal(facts.dump_version, 11);
    assert_int_equal(facts.key_count, 2);
    assert_true(facts.run_id[0] != '\0');
    assert_true(facts.version[0] != '\0');
    assert_false(facts.is_replica || facts.is_loading || facts.is_cluster);
    assert_string_equal(facts.refusal, "");
    assert_int_equal(memory_size(world.nodes[1]), 2); /* the probe is gone */
    world_end(&world);
}

static void test_two_nodes_are_two_servers(void **state)
{
    (void)state;
    struct node_facts one, other;
    world_begin(&world, &world_calm);
    assert_done(look_at(0, &one));
    assert_done(look_at(1, &other));
    assert_string_not_equal(one.run_id, other.run_id);
    world_end(&world);
}

static void test_refused_writes_are_facts(void **state)
{
    (void)state;
    struct node_facts facts;
    world_begin(&world, &world_calm);
    world.nodes[0]->is_replica = true;
    assert_done(look_at(0, &facts));
    assert_true(facts.is_replica);
    assert_non_null(strstr(facts.refusal, "READONLY"));
    world_do(&world, 1, "SET a 1");
    world.nodes[1]->max_bytes = 1;
    assert_done(look_at(1, &facts));
    assert_non_null(strstr(facts.refusal, "OOM"));
    assert_non_null(strstr(facts.refusal, "; it has reached its maxmemory"));
    world.nodes[2]->is_loading = true; /* answers nothing else, not even to the peer's greeting */
    assert_ends(look_at(2, &facts), JOB_FAILED, "LOADING");
    world_end(&world);
}

static void test_a_silent_node_fails_the_job(void **state)
{
    (void)state;
    struct node_facts facts;
    world_begin(&world, &world_calm);
    memory_node_stop(world.nodes[2]);
    assert_ends(look_at(2, &facts), JOB_FAILED, "n2");
    memory_node_continue(world.nodes[2]);
    world_end(&world);
}

/* ---- estimates --------------------------------------------------------------------------------
 */

static void fill(uint32_t count)
{
    char name[32], value[101] = "";
    memset(value, 'v', 100);
    for (uint32_t i = 0; i < count; i++) {
        int len = snprintf(name, sizeof name, "key:%u", i);
        uint32_t owner = world_owner(&world, name);
        if (owner == 0)
            memory_set(world.nodes[0], (struct slice){name, (size_t)len},
                       (struct slice){value, i % 101});
    }
}

/* What moves from node 0, counted one by one. */
static uint64_t count_moving(uint32_t count)
{
    char name[32];
    uint64_t moving = 0;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "key:%u", i);
        moving += world_owner(&world, name) == 0 && world_moves(&world, name);
    }
    return moving;
}

static struct move_estimate estimate(uint64_t sample, uint64_t *keys_to, uint64_t *bytes_to)
{
    struct move_estimate result = {.keys_to = keys_to, .bytes_to = bytes_to};
    assert_done(
        world_run(&world, job_estimate(&world.move, 0, sample, &result, world_on_done, &world)));
    return result;
}

static void test_a_sample_larger_than_the_node_counts_exactly(void **state)
{
    (void)state;
    uint64_t keys_to[WORLD_NODES] = {[3] = 7}, bytes_to[WORLD_NODES] = {0};
    world_begin(&world, &world_calm);
    fill(3000);
    struct move_estimate result = estimate(10000, keys_to, bytes_to);
    assert_int_equal(result.keys, count_moving(3000));
    assert_int_equal(keys_to[3], 7 + result.keys); /* added to what was there */
    assert_int_equal(keys_to[0] + keys_to[1] + keys_to[2], 0);
    assert_int_equal(bytes_to[3], result.bytes);
    assert_true(result.bytes > result.keys * 50);
    world_end(&world);
}

static void test_a_sample_tells_of_the_whole(void **state)
{
    (void)state;
    world_begin(&world, &world_calm);
    fill(60000);
    uint64_t moving = count_moving(60000);
    struct move_estimate result = estimate(3000, NULL, NULL);
    assert_in_range(result.sampled, 3000, 4000);
    /* a quarter of 20,000; four times the standard error is 13 % */
    assert_in_range(result.keys, moving * 80 / 100, moving * 120 / 100);
    assert_in_range(result.bytes, result.keys * 50, result.keys * 400);
    world_end(&world);
}

static void test_the_heaviest_key_that_moves_is_named(void **state)
{
    (void)state;
    char name[64];
    world_begin(&world, &world_calm);
    fill(1000);
    world_do(&world, 0, "SET %s %0900d", world_name(&world, "heavy:", name), 1);
    struct move_estimate result = estimate(10000, NULL, NULL);
    assert_string_equal(result.heaviest, name);
    assert_true(result.heaviest_bytes >= 900);
    world_end(&world);
}

static void test_an_empty_node_moves_nothing(void **state)
{
    (void)state;
    world_begin(&world, &world_calm);
    struct move_estimate result = estimate(100, NULL, NULL);
    assert_int_equal(result.keys + result.bytes + result.sampled, 0);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_is_what_it_says),
        cmocka_unit_test(test_two_nodes_are_two_servers),
        cmocka_unit_test(test_refused_writes_are_facts),
        cmocka_unit_test(test_a_silent_node_fails_the_job),
        cmocka_unit_test(test_a_sample_larger_than_the_node_counts_exactly),
        cmocka_unit_test(test_a_sample_tells_of_the_whole),
        cmocka_unit_test(test_the_heaviest_key_that_moves_is_named),
        cmocka_unit_test(test_an_empty_node_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
