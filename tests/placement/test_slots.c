/*
 * The laws of slots and of its sticky planner.
 * covers: slots_fill, slots_follow, quota, rank
 * covers: placement/placement
 * placement/placement
 */
#include "placement/fleet.h"
#include "placement/quota.h"

static uint32_t slot_hash_owner(const struct cw_map *map, uint32_t slot)
{
    uint64_t width = UINT64_MAX / cw_map_slot_count(map) + 1;
    return cw_locate(map, slot * width);
}

static uint32_t count_of(const struct cw_map *map, uint32_t node)
{
    return (uint32_t)(cw_map_share(map, node) * cw_map_slot_count(map) + 0.5);
}

static void check_balance(const struct cw_map *map, uint64_t seed)
{
    for (uint32_t i = 0; i < cw_map_node_count(map); i++) {
        double ideal = cw_map_ideal_share(map, i) * cw_map_slot_count(map);
        double off = count_of(map, i) - ideal;
        check(off < 1 && off > -1, "seed %llu: node %u has %u slots, ideal is %f",
              (unsigned long long)seed, i, count_of(map, i), ideal);
    }
}

/* The slots that change owner, and the least number that could for the counts that came out. */
static void check_movement(const struct cw_map *from, const struct cw_map *to, uint64_t seed)
{
    uint32_t moved = 0, least = 0;
    for (uint32_t slot = 0; slot < cw_map_slot_count(from); slot++) {
        const struct cw_node *old = cw_map_node(from, slot_hash_owner(from, slot));
        uint32_t owner = slot_hash_owner(to, slot);
        const struct cw_node *new = cw_map_node(to, owner);
        if (strcmp(old->id, new->id) == 0)
            continue;
        moved++;
        uint32_t before = cw_map_find_node(from, new->id);
        check(before == CW_NO_NODE || count_of(to, owner) > count_of(from, before),
              "seed %llu: slot %u went from %s to %s, which did not grow", (unsigned long long)seed,
              slot, old->id, new->id);
    }
    for (uint32_t i = 0; i < cw_map_node_count(to); i++) {
        uint32_t before = cw_map_find_node(from, cw_map_node(to, i)->id);
        uint32_t had = before == CW_NO_NODE ? 0 : count_of(from, before);
        if (count_of(to, i) > had)
            least += count_of(to, i) - had;
    }
    check(moved == least, "seed %llu: %u slots moved, %u had to", (unsigned long long)seed, moved,
          least);
}

static void the_first_fill_is_within_one_slot_of_the_weights(void **state)
{
    for_each_seed(seed, 40)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + (size_t)random_below(&random, 150),
                                           1 + (uint32_t)random_below(&random, 20), 0);
        struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_SLOTS);
        check_balance(map, seed);
        cw_map_unref(&map);
        free(fleet);
    }
}

static void the_order_of_nodes_does_not_matter(void **state)
{
    for_each_seed(seed, 10)
    {
        struct fleet *fleet = fleet_create(seed, 30, 9, 3);
        struct cw_map *one = fleet_map(fleet, CW_PLACEMENT_SLOTS);
        fleet_shuffle(fleet, seed + 1);
        struct cw_map *other = fleet_map(fleet, CW_PLACEMENT_SLOTS);
        char *one_text = fleet_text(one), *other_text = fleet_text(other);
        assert_string_equal(one_text, other_text);
        free(one_text);
        free(other_text);
        cw_map_unref(&one);
        cw_map_unref(&other);
        free(fleet);
    }
}

static void adding_a_node_moves_only_slots_that_go_to_it(void **state)
{
    for_each_seed(seed, 20)
    {
        struct fleet *fleet = fleet_create(seed, 2 + seed * 5, 1, 0);
        struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_SLOTS);
        fleet_add(fleet, 7, 1, 0);
        struct cw_map *to = fleet_change(from, fleet);
        for (uint32_t slot = 0; slot < CW_SLOT_COUNT; slot++) {
            const char *new = cw_map_node(to, slot_hash_owner(to, slot))->id;
            const char *old = cw_map_node(from, slot_hash_owner(from, slot))->id;
            check(strcmp(new, old) == 0 || strcmp(new, "node-7") == 0,
                  "seed %llu: slot %u went from %s to %s", (unsigned long long)seed, slot, old,
                  new);
        }
        check_movement(from, to, seed);
        check_balance(to, seed);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void removing_a_node_moves_only_its_slots(void **state)
{
    for_each_seed(seed, 20)
    {
        struct fleet *fleet = fleet_create(seed, 2 + seed * 5, 1, 0);
        struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_SLOTS);
        char gone[32];
        memcpy(gone, fleet->ids[0], sizeof gone);
        fleet_remove(fleet, 0);
        struct cw_map *to = fleet_change(from, fleet);
        for (uint32_t slot = 0; slot < CW_SLOT_COUNT; slot++) {
            const char *new = cw_map_node(to, slot_hash_owner(to, slot))->id;
            const char *old = cw_map_node(from, slot_hash_owner(from, slot))->id;
            check(strcmp(new, old) == 0 || strcmp(old, gone) == 0,
                  "seed %llu: slot %u went from %s to %s", (unsigned long long)seed, slot, old,
                  new);
        }
        check_balance(to, seed);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

/* Random walks over fleets: the law must hold after any history. */
static void any_change_moves_exactly_what_it_must(void **state)
{
    for_each_seed(seed, 25)
    {
        struct random random = {seed * 77};
        struct fleet *fleet = fleet_create(seed, 3 + (size_t)random_below(&random, 60), 6, 4);
        struct cw_map *map = fleet_map_of(fleet, (struct cw_map_options){.slot_count = 2048});
        for (int step = 0; step < 12; step++) {
            uint64_t changes = 1 + random_below(&random, 4);
            for (uint64_t i = 0; i < changes; i++) {
                size_t at = (size_t)random_below(&random, fleet->count);
                uint64_t kind = random_below(&random, 3);
                if (kind == 0)
                    fleet_add(fleet, random_next(&random) >> 8,
                              1 + (uint32_t)random_below(&random, 6), 4);
                else if (kind == 1 && fleet->count > 1)
                    fleet_remove(fleet, at);
                else
                    fleet->nodes[at].weight = 1 + (uint32_t)random_below(&random, 9);
            }
            struct cw_map *next = fleet_change(map, fleet);
            check_balance(next, seed);
            check_movement(map, next, seed);
            assert_int_equal(cw_map_generation(next), step + 2);
            cw_map_unref(&map);
            map = next;
        }
        cw_map_unref(&map);
        free(fleet);
    }
}

/* Over all ways to round each node's share down or up, none needs fewer moves. */
static uint32_t fewest_moves(const struct cw_map *from, const struct cw_map *to)
{
    uint32_t count = cw_map_node_count(to), fewest = UINT32_MAX;
    for (uint32_t rounding = 0; rounding < 1u << count; rounding++) {
        uint64_t sum = 0;
        uint32_t moves = 0;
        for (uint32_t i = 0; i < count; i++) {
            const struct cw_node *node = cw_map_node(to, i);
            uint32_t before = cw_map_find_node(from, node->id);
            uint32_t had = before == CW_NO_NODE ? 0 : count_of(from, before);
            double ideal = cw_map_ideal_share(to, i) * cw_map_slot_count(to) + 1e-9;
            uint32_t quota = (uint32_t)ideal + (rounding >> i & 1);
            if (quota - ideal >= 1 - 2e-9)
                moves += 1u << 20; /* rounded up a share that is whole */
            sum += quota;
            moves += quota > had ? quota - had : 0;
        }
        if (sum == cw_map_slot_count(to) && moves < fewest)
            fewest = moves;
    }
    return fewest;
}

static void no_assignment_within_one_slot_needs_fewer_moves(void **state)
{
    for_each_seed(seed, 60)
    {
        struct random random = {seed * 31};
        struct fleet *fleet = fleet_create(seed, 2 + (size_t)random_below(&random, 5), 5, 0);
        struct cw_map *from = fleet_map_of(fleet, (struct cw_map_options){.slot_count = 64});
        fleet->nodes[0].weight = 1 + (uint32_t)random_below(&random, 9);
        if (seed % 3 == 0)
            fleet_add(fleet, 5, 1 + (uint32_t)random_below(&random, 3), 0);
        if (seed % 4 == 0)
            fleet_remove(fleet, 1);
        struct cw_map *to = fleet_change(from, fleet);
        uint32_t moved = 0;
        for (uint32_t slot = 0; slot < 64; slot++)
            moved += strcmp(cw_map_node(to, slot_hash_owner(to, slot))->id,
                            cw_map_node(from, slot_hash_owner(from, slot))->id) != 0;
        uint32_t fewest = fewest_moves(from, to);
        check(moved == fewest, "seed %llu: %u moved, %u are enough", (unsigned long long)seed,
              moved, fewest);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void a_change_of_nothing_moves_nothing(void **state)
{
    struct fleet *fleet = fleet_create(3, 37, 7, 2);
    struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_SLOTS);
    fleet->nodes[5].address = "10.0.0.9:1"; /* an address is no identity */
    struct cw_map *to = fleet_change(from, fleet);
    for (uint32_t slot = 0; slot < CW_SLOT_COUNT; slot++)
        assert_int_equal(slot_hash_owner(from, slot), slot_hash_owner(to, slot));
    cw_map_unref(&from);
    cw_map_unref(&to);
    free(fleet);
}

static void a_wildly_unequal_weight_may_get_no_slot(void **state)
{
    struct cw_node nodes[] = {{.id = "big", .weight = CW_WEIGHT_MAX}, {.id = "tiny", .weight = 1}};
    struct cw_map_options options = {.nodes = nodes, .node_count = 2};
    struct cw_map *map = NULL, *next = NULL;
    uint32_t owners[2];
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    assert_true(cw_map_share(map, 0) == 1);
    assert_int_equal(cw_locate_n(map, 12345, 2, owners), 2);
    assert_int_equal(owners[1], 1);
    nodes[1].weight = CW_WEIGHT_MAX;
    assert_int_equal(cw_map_change(map, nodes, 2, &next, NULL), CW_OK);
    assert_true(cw_map_share(next, 0) == 0.5);
    cw_map_unref(&map);
    cw_map_unref(&next);
}

static void more_nodes_than_slots_is_a_map_all_the_same(void **state)
{
    struct fleet *fleet = fleet_create(1, 200, 1, 0);
    struct cw_map *map = fleet_map_of(fleet, (struct cw_map_options){.slot_count = 64});
    uint32_t owning = 0;
    for (uint32_t i = 0; i < 200; i++)
        owning += cw_map_share(map, i) > 0;
    assert_int_equal(owning, 64);
    fleet_remove(fleet, 0);
    struct cw_map *next = fleet_change(map, fleet);
    check_movement(map, next, 1);
    cw_map_unref(&map);
    cw_map_unref(&next);
    free(fleet);
}

static void a_number_of_slots_that_is_no_power_of_two_is_refused(void **state)
{
    static const uint32_t bad[] = {1, 32, 63, 100, 16383, (1u << 24) + 1, 1u << 25, UINT32_MAX};
    struct cw_node node = {.id = "a", .weight = 1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct cw_map_options options = {.nodes = &node, .node_count = 1, .slot_count = bad[i]};
        struct cw_map *map = NULL;
        struct cw_error error;
        assert_int_equal(cw_map_create(&options, &map, &error), CW_EBAD_SLOTS);
        assert_non_null(strstr(error.message, "power of two"));
    }
}

static void a_name_finds_its_placement(void **state)
{
    for (int i = 0; cw_placement_name((enum cw_placement)i); i++) {
        enum cw_placement found;
        assert_int_equal(cw_placement_find(cw_placement_name((enum cw_placement)i), &found), CW_OK);
        assert_int_equal(found, i);
    }
    enum cw_placement none;
    assert_int_equal(cw_placement_find("slot", &none), CW_EINVAL);
    assert_int_equal(cw_placement_find(NULL, &none), CW_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_fill_is_within_one_slot_of_the_weights),
        cmocka_unit_test(the_order_of_nodes_does_not_matter),
        cmocka_unit_test(adding_a_node_moves_only_slots_that_go_to_it),
        cmocka_unit_test(removing_a_node_moves_only_its_slots),
        cmocka_unit_test(any_change_moves_exactly_what_it_must),
        cmocka_unit_test(no_assignment_within_one_slot_needs_fewer_moves),
        cmocka_unit_test(a_change_of_nothing_moves_nothing),
        cmocka_unit_test(a_wildly_unequal_weight_may_get_no_slot),
        cmocka_unit_test(more_nodes_than_slots_is_a_map_all_the_same),
        cmocka_unit_test(a_number_of_slots_that_is_no_power_of_two_is_refused),
        cmocka_unit_test(a_name_finds_its_placement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
