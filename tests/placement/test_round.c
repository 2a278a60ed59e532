/*
 * Round-hashing: the closed form against the growth that defines it, and its inverse.
 */
#include "placement/fleet.h"
#include "placement/round.h"

enum { SERVERS_MAX = 700 };

/* Growth as the paper tells it: groups of arcs, each arc with its server; adding a server cuts the
 * next group into one arc more, the new server's last. When every group has twice the base, each
 * splits in two. */
struct grown {
    uint32_t servers[2 * SERVERS_MAX]; /* of group q: q * s_max .. */
    uint32_t group_count, s, next, s_max;
};

static void grow_split(struct grown *grown)
{
    uint32_t old[2 * SERVERS_MAX], half = grown->s / 2;
    memcpy(old, grown->servers, sizeof old);
    for (uint32_t q = 0; q < grown->group_count; q++)
        for (uint32_t p = 0; p < half; p++) {
            grown->servers[2 * q * grown->s_max + p] = old[q * grown->s_max + p];
            grown->servers[(2 * q + 1) * grown->s_max + p] = old[q * grown->s_max + half + p];
        }
    grown->group_count *= 2;
    grown->s = half;
}

static void grow(struct grown *grown, uint32_t server, uint32_t base)
{
    grown->servers[grown->next * grown->s_max + grown->s] = server;
    if (++grown->next < grown->group_count)
        return;
    grown->next = 0;
    if (++grown->s == 2 * base)
        grow_split(grown);
}

static uint32_t grown_locate(const struct grown *grown, uint64_t hash)
{
    unsigned __int128 position = (unsigned __int128)hash * grown->group_count;
    uint32_t q = (uint32_t)(position >> 64);
    uint32_t arcs = grown->s + (q < grown->next);
    return grown->servers[q * grown->s_max + (uint32_t)mix_high((uint64_t)position, arcs)];
}

static void check_growth(unsigned base_bits, uint32_t servers)
{
    uint32_t base = 1u << base_bits;
    struct random random = {base_bits};
    struct grown grown = {.group_count = 1, .s = base, .s_max = 2 * base};
    for (uint32_t i = 0; i < base; i++)
        grown.servers[i] = i;
    for (uint32_t n = base; n < servers; n++) {
        struct round round = round_init(n, base_bits);
        for (int i = 0; i < 50; i++) {
            uint64_t hash = random_next(&random);
            check(round_locate(&round, hash) == grown_locate(&grown, hash),
                  "S %u, %u servers, hash %016llx: %u, grown %u", base, n, (unsigned long long)hash,
                  round_locate(&round, hash), grown_locate(&grown, hash));
        }
        grow(&grown, n, base);
    }
}

static void the_closed_form_is_what_growth_makes(void **state)
{
    check_growth(0, SERVERS_MAX / 2);
    check_growth(3, SERVERS_MAX);
    check_growth(6, SERVERS_MAX);
}

static void each_server_owns_exactly_its_range(void **state)
{
    for (unsigned base_bits = 0; base_bits <= 7; base_bits++)
        for (uint32_t n = 1; n < 600; n += 1 + n / 40) {
            struct round round = round_init(n, base_bits);
            uint64_t sum = 0;
            for (uint32_t server = 0; server < n; server++) {
                uint64_t first, last;
                round_range(&round, server, &first, &last);
                assert_true(first <= last);
                assert_int_equal(round_locate(&round, first), server);
                assert_int_equal(round_locate(&round, last), server);
                assert_true(n == 1 || first == 0 || round_locate(&round, first - 1) != server);
                assert_true(n == 1 || last == UINT64_MAX ||
                            round_locate(&round, last + 1) != server);
                sum += last - first + 1;
            }
            assert_true(sum == 0); /* 2^64: every hash has one owner */
        }
}

/* 1 + 1/S, the bound; S is 64 in maps. */
static void the_longest_range_is_within_its_bound(void **state)
{
    for (uint32_t n = 64; n < 1000; n += 7) {
        struct fleet *fleet = fleet_create(1, n, 1, 0);
        struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_ROUND);
        for (uint32_t i = 0; i < n; i++)
            check(cw_map_share(map, i) * n <= 1 + 1 / 64.0 + 1e-12, "%u nodes: %f", n,
                  cw_map_share(map, i) * n);
        cw_map_unref(&map);
        free(fleet);
    }
}

static void a_map_knows_the_range_of_a_node(void **state)
{
    struct fleet *fleet = fleet_create(1, 100, 1, 0);
    struct cw_map *map = fleet_map(fleet, CW_PLACEMENT_ROUND);
    struct cw_map *ring = fleet_map(fleet, CW_PLACEMENT_RING);
    uint64_t first, last;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(cw_map_node_range(map, i, &first, &last), CW_OK);
        assert_int_equal(cw_locate(map, first), i);
        assert_int_equal(cw_locate(map, last), i);
    }
    assert_int_equal(cw_map_node_range(map, 100, &first, &last), CW_ENO_SUCH_NODE);
    assert_int_equal(cw_map_node_range(ring, 1, &first, &last), CW_ENOT_SUPPORTED);
    cw_map_unref(&map);
    cw_map_unref(&ring);
    free(fleet);
}

/* Facts 2: half of one group moves, and the new server gets its arc of it. */
static void adding_a_server_moves_half_of_one_group(void **state)
{
    struct fleet *fleet = fleet_create(1, 1000, 1, 0);
    struct cw_map *from = fleet_map(fleet, CW_PLACEMENT_ROUND);
    fleet_add(fleet, 1, 1, 0);
    struct cw_map *to = fleet_change(from, fleet);
    struct cw_plan *plan = NULL;
    assert_int_equal(cw_plan_create(from, to, &plan), CW_OK);
    double half_group = 1 / 8.0 / 2; /* 1000 = 8 * 125 */
    check(cw_plan_share(plan) > half_group * 0.999 && cw_plan_share(plan) < half_group * 1.001,
          "%f moves", cw_plan_share(plan));
    cw_plan_destroy(&plan);
    cw_map_unref(&from);
    cw_map_unref(&to);
    free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_form_is_what_growth_makes),
        cmocka_unit_test(each_server_owns_exactly_its_range),
        cmocka_unit_test(the_longest_range_is_within_its_bound),
        cmocka_unit_test(a_map_knows_the_range_of_a_node),
        cmocka_unit_test(adding_a_server_moves_half_of_one_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
