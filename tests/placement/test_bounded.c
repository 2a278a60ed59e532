/*
 * Bounded load: no node goes above its bound, and who is not full is not disturbed.
 */
#include "placement/fleet.h"

static void no_node_goes_above_its_bound(void **state)
{
    for_each_placement(p) for_each_seed(seed, 6)
    {
        static const uint32_t slacks[] = {0, 20, 50, 100, 250, 1000};
        struct random random = {seed};
        uint32_t weight = fleet_can(p, CW_CAN_WEIGHTS) ? 4 : 1;
        struct fleet *fleet = fleet_create(seed, 1 + seed * 4, weight, 0);
        struct cw_map *map = fleet_map(fleet, p);
        uint64_t loads[FLEET_NODES_MAX] = {0}, kept = 0;
        struct cw_load load = {.loads = loads, .slack_permille = slacks[seed - 1]};
        for (int i = 0; i < 4000; i++) {
            uint64_t hash = random_next(&random);
            uint32_t node = cw_locate_bounded(map, hash, &load);
            double bound = (double)(load.total + 1) * cw_map_ideal_share(map, node) *
                           (1 + load.slack_permille / 1000.0);
            check((double)loads[node] < bound + 1e-6, "%s, seed %llu: %llu at a bound of %f",
                  cw_placement_name(p), (unsigned long long)seed, (unsigned long long)loads[node],
                  bound);
            kept += node == cw_locate(map, hash);
            loads[node]++;
            load.total++;
        }
        check(load.slack_permille < 1000 || kept > 3500, "%s: only %llu stayed",
              cw_placement_name(p), (unsigned long long)kept);
        cw_map_unref(&map);
        free(fleet);
    }
}

static void an_owner_with_room_is_the_owner(void **state)
{
    struct fleet *fleet = fleet_create(1, 10, 3, 0);
    struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_SLOTS);
    uint64_t loads[10] = {0};
    struct cw_load load = {.loads = loads};
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(cw_locate_bounded(map, i << 50, &load), cw_locate(map, i << 50));
    cw_map_unref(&map);
    free(fleet);
}

/* All of one node's overflow: as even over the others as draws are. */
static void the_overflow_of_a_full_node_spreads_over_all_others(void **state)
{
    struct fleet *fleet = fleet_create(1, 11, 1, 0);
    struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_RING);
    uint64_t loads[11] = {[4] = 1000000};
    struct cw_load load = {.loads = loads, .total = 1000000};
    double counts[11] = {0};
    struct random random = {3};
    for (int spilled = 0; spilled < 10000;) {
        uint64_t hash = random_next(&random);
        if (cw_locate(map, hash) != 4)
            continue;
        counts[cw_locate_bounded(map, hash, &load)]++;
        spilled++;
    }
    assert_true(counts[4] == 0);
    for (int i = 0; i < 11; i++)
        check(i == 4 || (counts[i] > 850 && counts[i] < 1150), "node %d got %.0f", i, counts[i]);
    cw_map_unref(&map);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_node_goes_above_its_bound),
        cmocka_unit_test(an_owner_with_room_is_the_owner),
        cmocka_unit_test(the_overflow_of_a_full_node_spreads_over_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
