/*
 * Placements that know numbers only.
 * covers: jump, jumpback
 */
#include "placement/fleet.h"
#include "placement/jump.h"
#include "placement/jumpback.h"
#include "placement/numbered.h"

static struct cw_map *map_of_ids(enum cw_placement placement, const char *const *ids, size_t count)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    for (size_t i = 0; i < count; i++) {
        fleet_add(fleet, i, 1, 0);
        snprintf(fleet->ids[i], sizeof fleet->ids[i], "%s", ids[i]);
    }
    struct cw_map *map = fleet_map(fleet, placement);
    free(fleet);
    return map;
}

static void a_new_pool_is_numbered_as_a_person_counts(void **state)
{
    static const char *const ids[] = {"s10", "s9", "s1", "b", "s09", "s1-2", "s1-10", "a20"};
    static const char *const order[] = {"a20", "b", "s1", "s1-2", "s1-10", "s09", "s9", "s10"};
    struct cw_map *map = map_of_ids(CW_PLACEMENT_JUMP, ids, 8);
    for (uint32_t i = 0; i < 8; i++)
        assert_int_equal(numbered_bucket_of(map, cw_map_find_node(map, order[i])), i);
    cw_map_unref(&map);
}

static void old_nodes_keep_their_numbers(void **state)
{
    static const char *const ids[] = {"m", "n", "o"};
    struct cw_map *map = map_of_ids(CW_PLACEMENT_JUMP, ids, 3), *next = NULL;
    struct cw_node nodes[] = {{.id = "a", .weight = 1},
                              {.id = "m", .weight = 1},
                              {.id = "n", .weight = 1},
                              {.id = "o", .weight = 1}};
    assert_int_equal(cw_map_change(map, nodes, 4, &next, NULL), CW_OK);
    assert_int_equal(numbered_bucket_of(next, 0), 3);
    assert_int_equal(numbered_bucket_of(next, 1), 0);
    assert_int_equal(numbered_bucket_of(next, 3), 2);
    cw_map_unref(&map);
    cw_map_unref(&next);
}

static void only_the_last_node_of_jump_can_go(void **state)
{
    static const char *const ids[] = {"a", "b", "c"};
    struct cw_map *map = map_of_ids(CW_PLACEMENT_JUMP, ids, 3), *next = NULL;
    struct cw_node without_b[] = {{.id = "a", .weight = 1}, {.id = "c", .weight = 1}};
    struct cw_node without_c[] = {{.id = "a", .weight = 1}, {.id = "b", .weight = 1}};
    struct cw_error error;
    assert_int_equal(cw_map_change(map, without_b, 2, &next, &error), CW_ENOT_SUPPORTED);
    assert_string_equal(error.message, "placement jump cannot remove node 'b' (bucket 1): only the "
                                       "last one, 'c', or use jumpback");
    assert_int_equal(cw_map_change(map, without_c, 2, &next, &error), CW_OK);
    cw_map_unref(&map);
    cw_map_unref(&next);
}

/* Answers that implementations in other languages publish in their tests. */
static void jump_is_what_others_compute(void **state)
{
    static const struct {
        uint64_t key;
        uint32_t buckets, bucket;
    } known[] = {{1, 1, 0},
                 {42, 57, 43},
                 {0xdead10cc, 1, 0},
                 {0xdead10cc, 666, 361},
                 {256, 1024, 520},
                 {0, 1, 0},
                 {10863919174838991, 11, 6},
                 {2016238256797177309u, 11, 3},
                 {1673758223894951030u, 11, 5},
                 {2, 100001, 80343},
                 {2201, 100001, 22152},
                 {2202, 100001, 15018}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(jump_bucket(known[i].key, known[i].buckets), known[i].bucket);
}

static void check_monotone(uint32_t (*bucket_of)(uint64_t, uint32_t), uint64_t hash, uint32_t to)
{
    uint32_t before = 0;
    for (uint32_t n = 1; n <= to; n++) {
        uint32_t bucket = bucket_of(hash, n);
        check(bucket == before || bucket == n - 1, "hash %016llx: %u buckets: %u after %u",
              (unsigned long long)hash, n, bucket, before);
        before = bucket;
    }
}

static void keys_only_ever_move_to_the_new_bucket(void **state)
{
    for_each_seed(seed, 300)
    {
        uint64_t hash = mix64(seed);
        check_monotone(jump_bucket, hash, 2100);
        check_monotone(jumpback_bucket, hash, 2100);
    }
}

/* Chi-square over 40 counts around powers of two; 4.5 is a chance of one in 100,000 or so. */
static void jumpback_is_uniform(void **state)
{
    for (uint32_t n = 2; n < 70; n++) {
        enum { PER_BUCKET = 1000 };
        double counts[70] = {0}, square = 0;
        for (uint32_t i = 0; i < n * PER_BUCKET; i++)
            counts[jumpback_bucket(mix_stream(n, i), n)]++;
        for (uint32_t i = 0; i < n; i++)
            square += (counts[i] - PER_BUCKET) * (counts[i] - PER_BUCKET) / PER_BUCKET;
        double z = (square - (n - 1)) * (square - (n - 1)) / (2.0 * (n - 1));
        check(square < n - 1 || z < 4.5 * 4.5, "%u buckets: chi-square %f", n, square);
    }
}

static uint32_t subset_bit(const struct cw_map *map, uint32_t node)
{
    return 1u << strtoul(cw_map_node(map, node)->id + 5, NULL, 10);
}

/* Choose-k: ranks are fair one by one, and growing by a node changes at most one of three. */
static void every_rank_of_jumpback_is_fair(void **state)
{
    enum { NODES = 20, KEYS = 40000 };
    double counts[3][NODES] = {{0}};
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    for (uint64_t i = 0; i < NODES; i++)
        fleet_add(fleet, i, 1, 0);
    struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_JUMPBACK);
    fleet_add(fleet, NODES, 1, 0);
    struct cw_map *next = fleet_change(map, fleet);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint32_t owners[3], new[3], set = 0, new_set = 0;
        cw_locate_n(map, mix_stream(1, i), 3, owners);
        cw_locate_n(next, mix_stream(1, i), 3, new);
        for (int j = 0; j < 3; j++) {
            counts[j][owners[j]]++;
            set |= subset_bit(map, owners[j]);
            new_set |= subset_bit(next, new[j]);
        }
        assert_true(set == new_set ||
                    (__builtin_popcount(set & new_set) == 2 && (new_set & 1u << NODES)));
    }
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < NODES; i++)
            check(counts[j][i] > 2000 - 270 && counts[j][i] < 2000 + 270, "rank %d, node %d: %.0f",
                  j, i, counts[j][i]);
    cw_map_unref(&map);
    cw_map_unref(&next);
    free(fleet);
}

static struct cw_map *remove_in_order(const struct fleet *fleet, const size_t *order, size_t count)
{
    struct fleet *left = fleet_copy(fleet);
    struct cw_map *map = fleet_map(left, CW_PLACEMENT_JUMPBACK);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (strcmp(left->ids[at], fleet->ids[order[i]]) != 0)
            at++;
        fleet_remove(left, at);
        struct cw_map *next = fleet_change(map, left);
        cw_map_unref(&map);
        map = next;
    }
    free(left);
    return map;
}

static void the_order_of_removals_does_not_matter(void **state)
{
    for_each_seed(seed, 10)
    {
        static const size_t orders[][6] = {
            {1, 4, 9, 2, 0, 8}, {8, 0, 2, 9, 4, 1}, {9, 8, 4, 2, 1, 0}};
        struct fleet *fleet = fleet_create(seed, 12, 1, 0);
        struct cw_map *maps[3];
        struct random random = {seed};
        for (int i = 0; i < 3; i++)
            maps[i] = remove_in_order(fleet, orders[i], 6);
        for (int i = 0; i < 3000; i++) {
            uint64_t hash = random_next(&random);
            assert_int_equal(cw_locate(maps[0], hash), cw_locate(maps[1], hash));
            assert_int_equal(cw_locate(maps[0], hash), cw_locate(maps[2], hash));
        }
        for (int i = 0; i < 3; i++)
            cw_map_unref(&maps[i]);
        free(fleet);
    }
}

/* 200 buckets of which one is left, or a few: past the 64th hole the rendezvous ranking decides. */
static void jumpback_is_fair_when_nearly_all_are_gone(void **state)
{
    enum { NODES = 200, LEFT = 4, KEYS = 8000 };
    struct fleet *fleet = fleet_create(3, NODES, 1, 2);
    struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_JUMPBACK);
    while (fleet->count > LEFT)
        fleet_remove(fleet, fleet->count - 1);
    struct cw_map *next = fleet_change(map, fleet);
    double counts[LEFT] = {0};
    for (uint64_t i = 0; i < KEYS; i++)
        counts[cw_locate(next, mix_stream(9, i))]++;
    for (int i = 0; i < LEFT; i++)
        check(counts[i] > KEYS / LEFT - 240 && counts[i] < KEYS / LEFT + 240, "node %d: %.0f", i,
              counts[i]);
    uint32_t owners[LEFT];
    assert_int_equal(cw_locate_n(next, 99, LEFT, owners), LEFT);
    cw_map_unref(&map);
    cw_map_unref(&next);
    free(fleet);
}

static void a_new_node_takes_the_lowest_hole_and_only_its_keys_come(void **state)
{
    struct fleet *fleet = fleet_create(5, 9, 1, 0);
    struct cw_map *full = fleet_map(fleet, CW_PLACEMENT_JUMPBACK);
    fleet_remove(fleet, 2);
    struct cw_map *holed = fleet_change(full, fleet);
    fleet_add(fleet, 1, 1, 0);
    struct cw_map *filled = fleet_change(holed, fleet);
    for (uint64_t i = 0; i < 5000; i++) {
        const char *old = fleet_owner(holed, mix_stream(1, i));
        const char *new = fleet_owner(filled, mix_stream(1, i));
        assert_true(strcmp(old, new) == 0 || strcmp(new, "node-1") == 0);
    }
    cw_map_unref(&full);
    cw_map_unref(&holed);
    cw_map_unref(&filled);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pool_is_numbered_as_a_person_counts),
        cmocka_unit_test(old_nodes_keep_their_numbers),
        cmocka_unit_test(only_the_last_node_of_jump_can_go),
        cmocka_unit_test(jump_is_what_others_compute),
        cmocka_unit_test(keys_only_ever_move_to_the_new_bucket),
        cmocka_unit_test(jumpback_is_uniform),
        cmocka_unit_test(every_rank_of_jumpback_is_fair),
        cmocka_unit_test(the_order_of_removals_does_not_matter),
        cmocka_unit_test(jumpback_is_fair_when_nearly_all_are_gone),
        cmocka_unit_test(a_new_node_takes_the_lowest_hole_and_only_its_keys_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
