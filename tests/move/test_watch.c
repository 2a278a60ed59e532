/* A node that comes back without its data is noticed, and one that comes back with it is not.
 *
 * covers: move/mover_watch
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "move/transition_world.h"

static void begin(struct world *world)
{
    const struct io_sim_options sim = {
        .seed = 1, .delay_min_us = 5, .delay_max_us = 500, .window_bytes = 4096};
    world_begin(world, &sim, 3, 3, 1);
    world->mover_options.watch_ms = 200;
    memory_set(world->fixture.nodes[1], (struct slice){"key", 3}, (struct slice){"value", 5});
    world_start_router(world);
    io_sim_run(2000, NULL);
}

static struct mover_loss loss_after(struct world *world, enum memory_crash how)
{
    struct mover_loss loss;
    memory_node_crash(world->fixture.nodes[1], how);
    io_sim_run(1500, NULL);
    memory_node_restart(world->fixture.nodes[1]);
    io_sim_run(3000, NULL);
    mover_read_loss(world->mover, 0, &loss);
    return loss;
}

static void test_a_node_that_lost_its_data_is_named_once(void **state)
{
    struct world world;
    begin(&world);
    struct mover_loss loss = loss_after(&world, MEMORY_LOST);
    assert_int_equal(loss.count, 1);
    assert_string_equal(loss.node, "n1");
    assert_true(loss.seen_ms > 0);
    world_end(&world);
}

static void set_keys(struct memory_node *node, int count)
{
    for (int i = 0; i < count; i++) {
        char key[16];
        int len = snprintf(key, sizeof key, "key:%d", i);
        memory_set(node, (struct slice){key, (size_t)len}, (struct slice){"value", 5});
    }
}

/* Clients do not wait for the next look at a node that is back. */
static uint32_t losses_when_filled_again(int before, int after)
{
    struct world world;
    struct mover_loss loss;
    begin(&world);
    struct memory_node *node = world.fixture.nodes[1];
    set_keys(node, before);
    io_sim_run(1000, NULL);
    memory_node_crash(node, MEMORY_LOST);
    io_sim_run(1500, NULL);
    memory_node_restart(node);
    set_keys(node, after);
    io_sim_run(3000, NULL);
    mover_read_loss(world.mover, 0, &loss);
    world_end(&world);
    return (uint32_t)loss.count;
}

static void test_a_node_that_is_filled_again_at_once_has_lost_its_data_too(void **state)
{
    assert_int_equal(losses_when_filled_again(100, 3), 1);
}

static void test_a_node_that_has_much_of_what_it_had_is_not_named(void **state)
{
    assert_int_equal(losses_when_filled_again(100, 50), 0);
}

static void test_a_node_that_kept_it_is_not(void **state)
{
    struct world world;
    begin(&world);
    assert_int_equal(loss_after(&world, MEMORY_KEPT).count, 0);
    world_end(&world);
}

static void test_a_node_that_never_had_any_is_not(void **state)
{
    struct world world;
    begin(&world);
    memory_delete(world.fixture.nodes[1], (struct slice){"key", 3});
    io_sim_run(1000, NULL);
    assert_int_equal(loss_after(&world, MEMORY_LOST).count, 0);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_that_lost_its_data_is_named_once),
        cmocka_unit_test(test_a_node_that_is_filled_again_at_once_has_lost_its_data_too),
        cmocka_unit_test(test_a_node_that_has_much_of_what_it_had_is_not_named),
        cmocka_unit_test(test_a_node_that_kept_it_is_not),
        cmocka_unit_test(test_a_node_that_never_had_any_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
