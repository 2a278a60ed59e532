/*
 * The laws of the ring, and its index against plain binary search.
 * covers: placement/ring_index, placement/ring_sort
 */
#include "placement/fleet.h"
#include "placement/ring.h"

static const struct ring *ring_of(const struct cw_map *map)
{
    return map->state;
}

/* A hash that is likely to find a fault: at a token, next to one, or anywhere. */
static uint64_t probe(const struct ring *ring, struct random *random)
{
    uint64_t token = ring->tokens[random_below(random, ring->token_count)];
    switch (random_below(random, 6)) {
    case 0: return token;
    case 1: return token + 1;
    case 2: return token - 1;
    case 3: return token ^ random_below(random, 1u << 20);
    default: return random_next(random);
    }
}

static void check_lookups(const struct cw_map *map, uint64_t seed, size_t count)
{
    struct random random = {seed};
    uint64_t hashes[64];
    uint32_t owners[64];
    while (count--) {
        size_t batch = 1 + (size_t)random_below(&random, 64);
        for (size_t i = 0; i < batch; i++)
            hashes[i] = probe(ring_of(map), &random);
        hashes[0] = count % 2 ? 0 : UINT64_MAX;
        cw_locate_batch(map, hashes, batch, owners);
        for (size_t i = 0; i < batch; i++) {
            uint32_t plain = ring_locate_plain(ring_of(map), hashes[i]);
            uint32_t single = cw_locate(map, hashes[i]);
            check(single == plain && owners[i] == plain,
                  "seed %llu: hash %016llx is %u's by search, %u's by index, %u's in a batch",
                  (unsigned long long)seed, (unsigned long long)hashes[i], plain, single,
                  owners[i]);
        }
    }
}

static void the_index_agrees_with_binary_search(void **state)
{
    for_each_seed(seed, 30)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + (size_t)random_below(&random, 60), 4, 0);
        uint32_t per_weight = 1 + (uint32_t)random_below(&random, seed % 3 ? 200 : 5);
        struct cw_map *map = fleet_map_of(fleet,
                                          (struct cw_map_options){.placement = CW_PLACEMENT_RING,
                                                                  .tokens_per_weight = per_weight});
        check_lookups(map, seed, 300);
        cw_map_unref(&map);
        free(fleet);
    }
}

/* Tokens that no hash gives: equal ones, equal in their upper 32 bits, many in one line. */
static void the_index_is_exact_on_crowded_and_equal_tokens(void **state)
{
    for_each_seed(seed, 20)
    {
        enum { TOKENS = 300 };
        struct random random = {seed};
        uint64_t tokens[TOKENS], scratch[TOKENS];
        uint32_t owners[TOKENS], scratch_owners[TOKENS];
        for (uint32_t i = 0; i < TOKENS; i++) {
            uint64_t middle = random_below(&random, 6) << 61;
            tokens[i] = middle + random_below(&random, seed % 2 ? 5 : (uint64_t)1 << 33);
            owners[i] = i;
        }
        struct ring ring = {.tokens = tokens, .owners = owners, .token_count = TOKENS};
        if (ring_sort(tokens, owners, scratch, scratch_owners, TOKENS)) {
            ring.tokens = scratch;
            ring.owners = scratch_owners;
        }
        for (uint32_t i = 1; i < TOKENS; i++)
            check(ring.tokens[i - 1] < ring.tokens[i] ||
                      (ring.tokens[i - 1] == ring.tokens[i] && ring.owners[i - 1] < ring.owners[i]),
                  "seed %llu: out of order at %u", (unsigned long long)seed, i);
        assert_int_equal(ring_index_build(&ring), CW_OK);
        for (int i = 0; i < 5000; i++) {
            uint64_t hash = ring.tokens[random_below(&random, TOKENS)] - 2 +
                            random_below(&random, 5);
            assert_int_equal(ring_locate(&ring, hash), ring_locate_plain(&ring, hash));
        }
        free(ring.lines);
    }
}

static void the_owner_is_the_first_token_clockwise(void **state)
{
    struct fleet *fleet = fleet_create(4, 5, 1, 0);
    struct cw_map *map = fleet_map_of(
        fleet, (struct cw_map_options){.placement = CW_PLACEMENT_RING, .tokens_per_weight = 3});
    const struct ring *ring = ring_of(map);
    assert_int_equal(ring->token_count, 15);
    for (uint32_t i = 0; i < 15; i++) {
        assert_int_equal(cw_locate(map, ring->tokens[i]), ring->owners[i]);
        assert_int_equal(cw_locate(map, ring->tokens[i] + 1), ring->owners[(i + 1) % 15]);
    }
    cw_map_unref(&map);
    free(fleet);
}

static void a_change_moves_keys_only_to_or_from_the_changed_node(void **state)
{
    for_each_seed(seed, 30)
    {
        struct fleet *fleet = fleet_create(seed, 2 + seed, 4, 0);
        struct random random = {seed};
        struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_RING);
        char changed[32];
        memcpy(changed, fleet->ids[0], sizeof changed);
        if (seed % 3 == 0)
            fleet_remove(fleet, 0);
        else if (seed % 3 == 1)
            fleet->nodes[0].weight += 2;
        else {
            fleet_add(fleet, 11, 3, 0);
            snprintf(changed, sizeof changed, "node-11");
        }
        struct cw_map *to = fleet_change(from, fleet);
        for (int i = 0; i < 3000; i++) {
            uint64_t hash = random_next(&random);
            const char *old = fleet_owner(from, hash), *new = fleet_owner(to, hash);
            if (seed % 3 == 0)
                check(strcmp(old, new) == 0 || strcmp(old, changed) == 0, "seed %llu: %s to %s",
                      (unsigned long long)seed, old, new);
            else
                check(strcmp(old, new) == 0 || strcmp(new, changed) == 0, "seed %llu: %s to %s",
                      (unsigned long long)seed, old, new);
        }
        cw_map_unref(&from);
        cw_map_unref(&to);
        free(fleet);
    }
}

static void the_order_of_nodes_does_not_matter(void **state)
{
    struct fleet *fleet = fleet_create(8, 20, 3, 0);
    struct cw_map *one = fleet_map(fleet, CW_PLACEMENT_RING);
    fleet_shuffle(fleet, 5);
    struct cw_map *other = fleet_map(fleet, CW_PLACEMENT_RING);
    assert_memory_equal(ring_of(one)->tokens, ring_of(other)->tokens,
                        ring_of(one)->token_count * sizeof(uint64_t));
    assert_memory_equal(ring_of(one)->owners, ring_of(other)->owners,
                        ring_of(one)->token_count * sizeof(uint32_t));
    cw_map_unref(&one);
    cw_map_unref(&other);
    free(fleet);
}

/* placement.md 4.1 measures peak/mean 1.21 and a deviation of 8 % at 100 nodes; 1.35 and 11 % are
 * beyond what any of its 20 seeds showed. */
static void shares_sum_to_1_and_are_as_fair_as_160_tokens_are(void **state)
{
    for_each_seed(seed, 20)
    {
        struct fleet *fleet = fleet_create(seed, 100, 1, 0);
        struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_RING);
        double sum = 0, squares = 0, peak = 0;
        for (uint32_t i = 0; i < 100; i++) {
            double fair = cw_map_share(map, i) * 100;
            sum += cw_map_share(map, i);
            squares += (fair - 1) * (fair - 1);
            peak = fair > peak ? fair : peak;
        }
        check(sum > 1 - 1e-12 && sum < 1 + 1e-12, "seed %llu: shares sum to %f",
              (unsigned long long)seed, sum);
        check(peak < 1.35 && squares / 100 < 0.11 * 0.11, "seed %llu: peak %f, variance %f",
              (unsigned long long)seed, peak, squares / 100);
        cw_map_unref(&map);
        free(fleet);
    }
}

static void one_node_owns_everything(void **state)
{
    struct cw_node node = {.id = "only", .weight = 1};
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RING, .nodes = &node, .node_count = 1, .tokens_per_weight = 1};
    struct cw_map *map = NULL;
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    assert_true(cw_map_share(map, 0) == 1);
    assert_int_equal(cw_locate(map, 0), 0);
    assert_int_equal(cw_locate(map, UINT64_MAX), 0);
    cw_map_unref(&map);
}

static void too_many_tokens_are_refused(void **state)
{
    struct cw_node node = {.id = "a", .weight = CW_WEIGHT_MAX};
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RING, .nodes = &node, .node_count = 1};
    struct cw_map *map = NULL;
    struct cw_error error;
    assert_int_equal(cw_map_create(&options, &map, &error), CW_EBAD_TOKENS);
    assert_non_null(strstr(error.message, "smaller weights or fewer tokens"));
    options.tokens_per_weight = 65537;
    assert_int_equal(cw_map_create(&options, &map, &error), CW_EBAD_TOKENS);
    assert_null(map);
}

static void the_map_keeps_at_most_24_bytes_a_token(void **state)
{
    struct fleet *fleet = fleet_create(8, 1000, 1, 0);
    struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_RING);
    check(cw_map_memory(map) < 1000 * 160 * 24, "%zu bytes", cw_map_memory(map));
    cw_map_unref(&map);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_index_agrees_with_binary_search),
        cmocka_unit_test(the_index_is_exact_on_crowded_and_equal_tokens),
        cmocka_unit_test(the_owner_is_the_first_token_clockwise),
        cmocka_unit_test(a_change_moves_keys_only_to_or_from_the_changed_node),
        cmocka_unit_test(the_order_of_nodes_does_not_matter),
        cmocka_unit_test(shares_sum_to_1_and_are_as_fair_as_160_tokens_are),
        cmocka_unit_test(one_node_owns_everything),
        cmocka_unit_test(too_many_tokens_are_refused),
        cmocka_unit_test(the_map_keeps_at_most_24_bytes_a_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
