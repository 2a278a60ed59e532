/*
 * What holds for every placement, and what its capabilities promise.
 * covers: rendezvous, modulo, rank_batch, jump_batch, jumpback_batch, round_batch
 */
#include "placement/fleet.h"
#include "placement/map.h"

static uint32_t weight_max(enum cw_placement placement, uint32_t wanted)
{
    return fleet_can(placement, CW_CAN_WEIGHTS) ? wanted : 1;
}

static void a_batch_is_what_single_lookups_are(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 7, 63, 64, 65, 100, 129, 500, 1000, 1025};
    for_each_placement(p) for (uint32_t i = 0; i < 6 * sizeof sizes / sizeof *sizes; i++)
    {
        struct random random = {i + 1};
        struct fleet *fleet = fleet_create(i + 1, sizes[i / 6], i & 1 ? weight_max(p, 5) : 1, 0);
        struct cw_map_options options = {.placement = p, .no_vectors = i / 2 % 2};
        struct cw_map *map = fleet_map_of(fleet, options);
        uint64_t hashes[700];
        uint32_t owners[701];
        size_t count = 1 + (size_t)random_below(&random, 700);
        for (size_t j = 0; j < count; j++)
            hashes[j] = random_next(&random);
        hashes[0] = 0;
        hashes[count - 1] = UINT64_MAX;
        owners[count] = 12345;
        cw_locate_batch(map, hashes, count, owners);
        for (size_t j = 0; j < count; j++)
            check(owners[j] == cw_locate(map, hashes[j]), "%s, %zu nodes, hash %016llx",
                  cw_placement_name(p), sizes[i / 6], (unsigned long long)hashes[j]);
        assert_int_equal(owners[count], 12345);
        cw_map_unref(&map);
        free(fleet);
    }
}

static void the_order_of_nodes_does_not_matter(void **state)
{
    for_each_placement(p) for_each_seed(seed, 10)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 40, weight_max(p, 3), 0);
        struct cw_map *one = fleet_map(fleet, p);
        fleet_shuffle(fleet, seed);
        struct cw_map *other = fleet_map(fleet, p);
        for (int i = 0; i < 1000; i++) {
            uint64_t hash = random_next(&random);
            assert_int_equal(cw_locate(one, hash), cw_locate(other, hash));
        }
        cw_map_unref(&one);
        cw_map_unref(&other);
        free(fleet);
    }
}

/* 60 samples a node on average; 2.2 times the fair count is beyond 8 standard deviations of the
 * uniform ones and beyond what a ring of 160 tokens shows. */
static void no_node_gets_much_more_than_its_share(void **state)
{
    for_each_placement(p) for_each_seed(seed, 6)
    {
        size_t size = 5 + seed * 30;
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, size, weight_max(p, 4), 0);
        struct cw_map *map = fleet_map(fleet, p);
        double counts[FLEET_NODES_MAX] = {0};
        size_t samples = size * 60;
        for (size_t i = 0; i < samples; i++)
            counts[cw_locate(map, random_next(&random))]++;
        for (uint32_t i = 0; i < size; i++) {
            double fair = cw_map_ideal_share(map, i) * (double)samples;
            check(counts[i] < fair * 1.6 + 5 * 8, "%s, seed %llu: node %u has %.0f, fair is %.1f",
                  cw_placement_name(p), (unsigned long long)seed, i, counts[i], fair);
        }
        cw_map_unref(&map);
        free(fleet);
    }
}

static bool moves_minimally(enum cw_placement placement)
{
    return placement != CW_PLACEMENT_MAGLEV && placement != CW_PLACEMENT_ROUND &&
           placement != CW_PLACEMENT_MODULO;
}

static void check_move(const struct cw_map *from, const struct cw_map *to, uint64_t hash,
                       const char *only_to, const char *only_from, uint64_t seed)
{
    const char *old = fleet_owner(from, hash), *new = fleet_owner(to, hash);
    if (strcmp(old, new) == 0)
        return;
    if (only_to && strcmp(new, only_to) == 0)
        return;
    if (only_from && strcmp(old, only_from) == 0)
        return;
    fail_msg("%s, seed %llu: %016llx went from %s to %s", cw_placement_name(cw_map_placement(from)),
             (unsigned long long)seed, (unsigned long long)hash, old, new);
}

static void adding_a_node_moves_keys_only_to_it(void **state)
{
    for_each_placement(p) for_each_seed(seed, 40)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + seed * 2, 1, 0);
        struct cw_map *from = fleet_map(fleet, p);
        fleet_add(fleet, 21, 1, 0);
        struct cw_map *to = fleet_change(from, fleet);
        for (int i = 0; moves_minimally(p) && i < 2000; i++)
            check_move(from, to, random_next(&random), "node-21", NULL, seed);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void removing_a_node_moves_only_its_keys(void **state)
{
    for_each_placement(p) for_each_seed(seed, 40)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 2 + seed * 2, 1, 0);
        struct cw_map *from = fleet_map(fleet, p);
        char gone[32];
        memcpy(gone, fleet->ids[0], sizeof gone);
        fleet_remove(fleet, 0);
        struct cw_map *to = NULL;
        struct cw_error error = {0};
        int status = cw_map_change(from, fleet->nodes, fleet->count, &to, &error);
        if (!fleet_can(p, CW_CAN_REMOVE_ANY) && status != CW_OK) {
            assert_int_equal(status, CW_ENOT_SUPPORTED);
            assert_non_null(strstr(error.message, gone));
        }
        for (int i = 0; status == CW_OK && moves_minimally(p) && i < 2000; i++)
            check_move(from, to, random_next(&random), NULL, gone, seed);
        assert_true(status == CW_OK || !fleet_can(p, CW_CAN_REMOVE_ANY));
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

/* A weight that grows pulls keys only to its node. */
static void a_weight_pulls_keys_only_to_its_node(void **state)
{
    for_each_placement(p) for_each_seed(seed, 20)
    {
        if (!fleet_can(p, CW_CAN_WEIGHTS) || !moves_minimally(p) || p == CW_PLACEMENT_SLOTS)
            continue; /* slots: within one slot of quotas, see test_slots.c */
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 2 + seed * 2, 5, 0);
        struct cw_map *from = fleet_map(fleet, p);
        fleet->nodes[1].weight += 2;
        struct cw_map *to = fleet_change(from, fleet);
        for (int i = 0; i < 2000; i++)
            check_move(from, to, random_next(&random), fleet->ids[1], NULL, seed);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void weights_are_refused_where_there_are_none(void **state)
{
    for_each_placement(p)
    {
        struct cw_node nodes[] = {{.id = "a", .weight = 1}, {.id = "b", .weight = 2}};
        struct cw_map_options options = {.placement = p, .nodes = nodes, .node_count = 2};
        struct cw_map *map = NULL;
        struct cw_error error = {0};
        int status = cw_map_create(&options, &map, &error);
        if (fleet_can(p, CW_CAN_WEIGHTS)) {
            assert_int_equal(status, CW_OK);
        } else {
            assert_int_equal(status, CW_ENOT_SUPPORTED);
            assert_non_null(strstr(error.message, "has no weights"));
        }
        cw_map_unref(&map);
    }
}

static void every_map_comes_back_from_its_text(void **state)
{
    for_each_placement(p) for_each_seed(seed, 8)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + seed * 3, weight_max(p, 3), 3);
        struct cw_map *first = fleet_map(fleet, p);
        fleet_add(fleet, 3, 1, 3);
        if (fleet_can(p, CW_CAN_REMOVE_ANY))
            fleet_remove(fleet, 0);
        struct cw_map *map = fleet_change(first, fleet), *again = NULL;
        char *text = fleet_text(map);
        struct cw_error error;
        int status = cw_map_from_text(text, strlen(text), &again, &error);
        check(status == CW_OK, "%u:%u: %s\n%s", error.line, error.column, error.message, text);
        char *text_again = fleet_text(again);
        assert_string_equal(text, text_again);
        for (int i = 0; i < 1000; i++) {
            uint64_t hash = random_next(&random);
            assert_int_equal(cw_locate(map, hash), cw_locate(again, hash));
        }
        free(text);
        free(text_again);
        cw_map_unref(&first);
        cw_map_unref(&map);
        cw_map_unref(&again);
        free(fleet);
    }
}

/* Walks all ranges: shares are exact, and a range has one owner from end to end. */
static void ranges_cover_the_hash_space(void **state)
{
    for_each_placement(p) for_each_seed(seed, 8)
    {
        struct fleet *fleet = fleet_create(seed, seed * seed, weight_max(p, 3), 0);
        struct cw_map *map = fleet_map(fleet, p);
        double sums[FLEET_NODES_MAX] = {0};
        uint64_t at = 0, last = 0;
        uint32_t node;
        if (cw_map_range_at(map, 0, &node, &last) != CW_OK) {
            assert_false(fleet_can(p, CW_CAN_RANGES));
            cw_map_unref(&map);
            free(fleet);
            continue;
        }
        for (;; at = last + 1) {
            assert_int_equal(cw_map_range_at(map, at, &node, &last), CW_OK);
            assert_true(last >= at);
            assert_int_equal(cw_locate(map, at), node);
            assert_int_equal(cw_locate(map, last), node);
            assert_int_equal(cw_locate(map, at + (last - at) / 2), node);
            sums[node] += (double)(last - at) * 0x1p-64;
            if (last == UINT64_MAX)
                break;
        }
        for (uint32_t i = 0; i < fleet->count; i++) {
            double off = sums[i] - cw_map_share(map, i);
            check(off < 1e-9 && off > -1e-9, "%s, seed %llu: node %u owns %f, says %f",
                  cw_placement_name(p), (unsigned long long)seed, i, sums[i], cw_map_share(map, i));
        }
        cw_map_unref(&map);
        free(fleet);
    }
}

static void an_estimate_is_within_its_error(void **state)
{
    for_each_placement(p) for_each_seed(seed, 10)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 3 + seed * 2, weight_max(p, 3), 0);
        struct cw_map *from = fleet_map(fleet, p);
        fleet_add(fleet, 3, 1, 0);
        struct cw_map *to = fleet_change(from, fleet);
        struct cw_plan *plan = NULL, *exact = NULL;
        assert_int_equal(cw_plan_estimate(from, to, 5000, &plan), CW_OK);
        double error = cw_plan_share_error(plan), share = 0;
        if (cw_plan_create(from, to, &exact) == CW_OK) {
            share = cw_plan_share(exact);
            assert_true(cw_plan_share_error(exact) == 0);
        } else {
            assert_false(fleet_can(p, CW_CAN_RANGES));
            for (int i = 0; i < 20000; i++) {
                uint64_t hash = random_next(&random);
                share += strcmp(fleet_owner(from, hash), fleet_owner(to, hash)) != 0;
            }
            share /= 20000;
        }
        assert_true(error > 0 && error < 0.02);
        double off = share - cw_plan_share(plan);
        check(off < 2 * error && off > -2 * error, "%s, seed %llu: %f moves, not %f +- %f",
              cw_placement_name(p), (unsigned long long)seed, share, cw_plan_share(plan), error);
        cw_plan_destroy(&plan);
        cw_plan_destroy(&exact);
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void one_hundred_thousand_nodes_are_a_map(void **state)
{
    enum { NODES = CW_NODE_COUNT_MAX };
    struct cw_node *nodes = calloc(NODES, sizeof *nodes);
    char(*ids)[16] = calloc(NODES, sizeof *ids);
    assert_true(nodes && ids);
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(ids[i], sizeof ids[i], "n%u", i);
        nodes[i] = (struct cw_node){.id = ids[i], .weight = 1};
    }
    for_each_placement(p)
    {
        struct cw_map_options options = {.placement = p,
                                         .nodes = nodes,
                                         .node_count = NODES,
                                         .slot_count = 64,
                                         .tokens_per_weight = 4,
                                         .table_size = 400009};
        struct cw_map *map = NULL;
        uint64_t hashes[64];
        uint32_t owners[64];
        assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
        for (uint32_t i = 0; i < 64; i++)
            hashes[i] = mix_stream(5, i);
        cw_locate_batch(map, hashes, 64, owners);
        for (uint32_t i = 0; i < 64; i++)
            assert_true(owners[i] < NODES && owners[i] == cw_locate(map, hashes[i]));
        cw_map_unref(&map);
    }
    free(nodes);
    free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_what_single_lookups_are),
        cmocka_unit_test(the_order_of_nodes_does_not_matter),
        cmocka_unit_test(no_node_gets_much_more_than_its_share),
        cmocka_unit_test(adding_a_node_moves_keys_only_to_it),
        cmocka_unit_test(removing_a_node_moves_only_its_keys),
        cmocka_unit_test(a_weight_pulls_keys_only_to_its_node),
        cmocka_unit_test(weights_are_refused_where_there_are_none),
        cmocka_unit_test(every_map_comes_back_from_its_text),
        cmocka_unit_test(ranges_cover_the_hash_space),
        cmocka_unit_test(an_estimate_is_within_its_error),
        cmocka_unit_test(one_hundred_thousand_nodes_are_a_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
