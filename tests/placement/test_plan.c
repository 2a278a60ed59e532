/*
 * Plans against what really differs.
 * covers: placement/pairs
 */
#include "placement/fleet.h"

static struct cw_plan *plan_of(struct cw_map *from, struct cw_map *to)
{
    struct cw_plan *plan = NULL;
    assert_int_equal(cw_plan_create(from, to, &plan), CW_OK);
    return plan;
}

static struct cw_map *random_map(struct fleet *fleet, struct random *random)
{
    struct cw_map_options options = {.placement = random_below(random, 2) ? CW_PLACEMENT_RING
                                                                          : CW_PLACEMENT_SLOTS,
                                     .slot_count = 64u << random_below(random, 5),
                                     .tokens_per_weight = 1 + (uint32_t)random_below(random, 40)};
    return fleet_map_of(fleet, options);
}

static double move_share(const struct cw_plan *plan, uint32_t from, uint32_t to)
{
    size_t count;
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    for (size_t i = 0; i < count; i++)
        if (moves[i].from_node == from && moves[i].to_node == to)
            return moves[i].share;
    return 0;
}

/* Every sampled key that moves is in a move of the plan; sampled shares agree with exact ones. */
static void check_samples(const struct cw_plan *plan, const struct cw_map *from,
                          const struct cw_map *to, uint64_t seed)
{
    enum { SAMPLES = 20000 };
    struct random random = {seed};
    double moved = 0;
    for (int i = 0; i < SAMPLES; i++) {
        uint32_t old, new;
        uint64_t hash = random_next(&random);
        int moves = cw_plan_locate(plan, hash, &old, &new);
        assert_int_equal(old, cw_locate(from, hash));
        assert_int_equal(new, cw_locate(to, hash));
        assert_int_equal(moves, strcmp(fleet_owner(from, hash), fleet_owner(to, hash)) != 0);
        moved += moves;
        check((move_share(plan, old, new) > 0) == moves, "seed %llu: %u to %u",
              (unsigned long long)seed, old, new);
    }
    double off = moved / SAMPLES - cw_plan_share(plan);
    check(off < 0.02 && off > -0.02, "seed %llu: %f of the samples move, the plan says %f",
          (unsigned long long)seed, moved / SAMPLES, cw_plan_share(plan));
}

static void a_plan_is_what_really_differs(void **state)
{
    for_each_seed(seed, 30)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + (size_t)random_below(&random, 20), 4, 0);
        struct cw_map *from = random_map(fleet, &random);
        fleet_add(fleet, 12, 2, 0);
        if (fleet->count > 2)
            fleet_remove(fleet, 1);
        struct cw_map *to = random_map(fleet, &random);
        struct cw_plan *plan = plan_of(from, to);
        check_samples(plan, from, to, seed);
        cw_plan_destroy(&plan);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void moves_sum_to_the_share_in_order(void **state)
{
    for_each_seed(seed, 20)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 12, 4, 0);
        struct cw_map *from = random_map(fleet, &random);
        fleet->nodes[3].weight += 3;
        struct cw_map *to = random_map(fleet, &random);
        struct cw_plan *plan = plan_of(from, to);
        size_t count;
        const struct cw_move *moves = cw_plan_moves(plan, &count);
        double sum = 0;
        for (size_t i = 0; i < count; i++) {
            sum += moves[i].share;
            assert_true(moves[i].range_count > 0);
            assert_true(i == 0 || moves[i].share <= moves[i - 1].share);
            assert_string_not_equal(cw_map_node(from, moves[i].from_node)->id,
                                    cw_map_node(to, moves[i].to_node)->id);
        }
        check(sum - cw_plan_share(plan) < 1e-12 && cw_plan_share(plan) - sum < 1e-12, "%f", sum);
        cw_plan_destroy(&plan);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void adding_to_slots_moves_the_ideal_share_and_nothing_needless(void **state)
{
    for_each_seed(seed, 20)
    {
        struct fleet *fleet = fleet_create(seed, 3 + seed * 2, 1, 0);
        struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_SLOTS);
        fleet_add(fleet, 1, 1, 0);
        struct cw_map *to = fleet_change(from, fleet);
        struct cw_plan *plan = plan_of(from, to);
        double ideal = 1.0 / (double)fleet->count;
        double off = (cw_plan_share(plan) - ideal) * CW_SLOT_COUNT;
        check(off < 1 && off > -1, "seed %llu: %f slots off", (unsigned long long)seed, off);
        check(cw_plan_ideal_share(plan) - ideal < 1e-12, "ideal is %f", cw_plan_ideal_share(plan));
        assert_true(cw_plan_needless_share(plan) == 0);
        cw_plan_destroy(&plan);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void the_same_nodes_make_an_empty_plan(void **state)
{
    struct fleet *fleet = fleet_create(9, 9, 3, 0);
    struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_RING);
    struct cw_plan *plan = plan_of(from, from);
    size_t count = 1;
    assert_non_null(cw_plan_moves(plan, &count));
    assert_int_equal(count, 0);
    assert_true(cw_plan_share(plan) == 0 && cw_plan_ideal_share(plan) == 0);
    cw_map_unref(&from); /* the plan keeps the maps */
    uint32_t old, new;
    assert_int_equal(cw_plan_locate(plan, 77, &old, &new), 0);
    assert_int_equal(old, new);
    cw_plan_destroy(&plan);
    cw_plan_destroy(&plan);
    cw_plan_destroy(NULL);
    free(fleet);
}

static void everything_may_move(void **state)
{
    struct cw_node a = {.id = "a", .weight = 1}, b = {.id = "b", .weight = 1};
    struct cw_map_options options = {.placement = CW_PLACEMENT_RING, .nodes = &a, .node_count = 1};
    struct cw_map *from = NULL, *to = NULL;
    size_t count;
    assert_int_equal(cw_map_create(&options, &from, NULL), CW_OK);
    assert_int_equal(cw_map_change(from, &b, 1, &to, NULL), CW_OK);
    struct cw_plan *plan = plan_of(from, to);
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    assert_int_equal(count, 1);
    assert_true(moves[0].share == 1 && moves[0].range_count == 1);
    assert_true(cw_plan_share(plan) == 1 && cw_plan_ideal_share(plan) == 1);
    cw_plan_destroy(&plan);
    cw_map_unref(&from);
    cw_map_unref(&to);
}

static void a_plan_of_nothing_is_refused(void **state)
{
    struct cw_plan *plan = NULL;
    assert_int_equal(cw_plan_create(NULL, NULL, &plan), CW_EINVAL);
    assert_null(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_what_really_differs),
        cmocka_unit_test(moves_sum_to_the_share_in_order),
        cmocka_unit_test(adding_to_slots_moves_the_ideal_share_and_nothing_needless),
        cmocka_unit_test(the_same_nodes_make_an_empty_plan),
        cmocka_unit_test(everything_may_move),
        cmocka_unit_test(a_plan_of_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
