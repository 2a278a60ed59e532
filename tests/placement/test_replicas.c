/*
 * The k owners of a key.
 * covers: placement/pick
 */
#include "placement/fleet.h"

static uint32_t weight_max(enum cw_placement placement, uint32_t wanted)
{
    return fleet_can(placement, CW_CAN_WEIGHTS) ? wanted : 1;
}

/* A node without a zone is a zone of its own. */
static bool same_zone(const struct cw_map *map, uint32_t one, uint32_t other)
{
    const char *zone = cw_map_node(map, one)->zone;
    return *zone && strcmp(zone, cw_map_node(map, other)->zone) == 0;
}

static size_t count_zones(const struct cw_map *map, const uint32_t *nodes, size_t count)
{
    size_t zones = 0;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && !same_zone(map, nodes[i], nodes[j]))
            j++;
        zones += j == i;
    }
    return zones;
}

static size_t zone_count(const struct cw_map *map)
{
    uint32_t all[FLEET_NODES_MAX];
    for (uint32_t i = 0; i < cw_map_node_count(map); i++)
        all[i] = i;
    return count_zones(map, all, cw_map_node_count(map));
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void check_owners(const struct cw_map *map, uint64_t hash, size_t k, uint64_t seed)
{
    uint32_t owners[CW_REPLICA_COUNT_MAX + 1];
    size_t want = smaller(smaller(k, cw_map_node_count(map)), CW_REPLICA_COUNT_MAX);
    size_t count = cw_locate_n(map, hash, k, owners);
    if (!fleet_can(cw_map_placement(map), CW_CAN_REPLICAS))
        want = smaller(want, 1);
    check(count == want, "seed %llu: %zu owners instead of %zu", (unsigned long long)seed, count,
          want);
    if (count == 0)
        return;
    assert_int_equal(owners[0], cw_locate(map, hash));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            check(owners[i] != owners[j], "seed %llu: node %u twice", (unsigned long long)seed,
                  owners[i]);
    size_t zones = smaller(zone_count(map), count);
    check(count_zones(map, owners, zones) == zones, "seed %llu: the first %zu are not in %zu zones",
          (unsigned long long)seed, zones, zones);
}

static void owners_are_distinct_and_zones_are_spread(void **state)
{
    for_each_placement(p) for_each_seed(seed, 40)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + (size_t)random_below(&random, 40),
                                           weight_max(p, 4), seed % 6);
        if (seed % 5 == 0)
            fleet->nodes[0].zone = "";
        struct cw_map *map = fleet_map(fleet, p);
        for (int i = 0; i < 200; i++)
            check_owners(map, random_next(&random), (size_t)random_below(&random, 20), seed);
        cw_map_unref(&map);
        free(fleet);
    }
}

static void fewer_owners_are_the_first_of_more(void **state)
{
    for_each_placement(p) for_each_seed(seed, 20)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 25, weight_max(p, 3), seed % 5);
        struct cw_map *map = fleet_map(fleet, p);
        for (int i = 0; i < 100; i++) {
            uint64_t hash = random_next(&random);
            uint32_t all[CW_REPLICA_COUNT_MAX], some[CW_REPLICA_COUNT_MAX];
            size_t count = cw_locate_n(map, hash, CW_REPLICA_COUNT_MAX, all);
            assert_int_equal(count, fleet_can(p, CW_CAN_REPLICAS) ? CW_REPLICA_COUNT_MAX : 1);
            for (size_t k = 1; k <= count; k++) {
                assert_int_equal(cw_locate_n(map, hash, k, some), k);
                assert_memory_equal(all, some, k * sizeof *all);
            }
        }
        cw_map_unref(&map);
        free(fleet);
    }
}

static bool contains(const struct cw_map *map, const uint32_t *nodes, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(cw_map_node(map, nodes[i])->id, id) == 0)
            return true;
    return false;
}

/* With slots the owner of a slot may change by the planner's choice, the others by ranking: losing
 * a node that holds no copy of a key changes nothing for that key unless its slot moved. */
static void losing_a_node_without_a_copy_changes_no_copies(void **state)
{
    static const enum cw_placement minimal[] = {CW_PLACEMENT_SLOTS, CW_PLACEMENT_RING,
                                                CW_PLACEMENT_RENDEZVOUS, CW_PLACEMENT_JUMPBACK};
    for (size_t m = 0; m < sizeof minimal / sizeof *minimal; m++)
        for_each_seed(seed, 20)
        {
            struct random random = {seed};
            struct fleet *fleet = fleet_create(seed, 30, 1, 5);
            char gone[32];
            memcpy(gone, fleet->ids[3], sizeof gone);
            struct cw_map *from = fleet_map(fleet, minimal[m]);
            fleet_remove(fleet, 3);
            struct cw_map *to = fleet_change(from, fleet);
            for (int i = 0; i < 500; i++) {
                uint64_t hash = random_next(&random);
                uint32_t before[3], after[3];
                cw_locate_n(from, hash, 3, before);
                cw_locate_n(to, hash, 3, after);
                if (contains(from, before, 3, gone))
                    continue;
                for (size_t j = 0; j < 3; j++)
                    assert_string_equal(cw_map_node(from, before[j])->id,
                                        cw_map_node(to, after[j])->id);
            }
            cw_map_unref(&from);
            cw_map_unref(&to);
            free(fleet);
        }
}

/* Facts 4.3: primary and all copies; for slots the primaries are exact. */
static void copies_are_spread_in_proportion_to_weight(void **state)
{
    struct fleet *fleet = fleet_create(5, 40, 1, 0);
    struct cw_map *map = fleet_map_of(fleet, (struct cw_map_options){.slot_count = 1u << 17});
    double copies[40] = {0}, keys = 0;
    for (uint64_t i = 0; i < 1u << 16; i++, keys++) {
        uint32_t owners[3];
        cw_locate_n(map, i << 48, 3, owners);
        for (int j = 0; j < 3; j++)
            copies[owners[j]]++;
    }
    for (int i = 0; i < 40; i++) {
        double fair = copies[i] / (keys * 3 / 40);
        check(fair > 0.93 && fair < 1.07, "node %d has %.3f times its share of copies", i, fair);
    }
    cw_map_unref(&map);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_are_distinct_and_zones_are_spread),
        cmocka_unit_test(fewer_owners_are_the_first_of_more),
        cmocka_unit_test(losing_a_node_without_a_copy_changes_no_copies),
        cmocka_unit_test(copies_are_spread_in_proportion_to_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
