/*
 * Envoy's placements against the rings and tables that its own unit tests print (hosts and
 * positions only; no program of Envoy's was run), and gRPC's against Envoy's.
 *
 * covers: profile_points_own, profile_fill_more, profile_rows_envoy
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <clockwise/profile.h>

struct point {
    unsigned host; /* its number, from the first port on */
    uint64_t at;
};

/* The servers 127.0.0.1:first_port and following; names are the two digits if they count. */
static struct cw_profile_map *make(const char *profile, unsigned first_port, unsigned count,
                                   int named, struct cw_profile_options *options)
{
    static char addresses[8][32], names[8][8];
    struct cw_profile_node nodes[8];
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    for (unsigned i = 0; i < count; i++) {
        snprintf(addresses[i], sizeof addresses[i], "127.0.0.1:%u", first_port + i);
        snprintf(names[i], sizeof names[i], "%u", first_port + i);
        nodes[i] = (struct cw_profile_node){
            .address = addresses[i], .name = named ? names[i] : NULL, .weight = 1};
        if (count == 2 && i == 1)
            nodes[i].weight = 2;
    }
    options->nodes = nodes;
    options->node_count = count;
    if (cw_profile_map_create(cw_profile_find(profile), options, &map, &error) != CW_OK)
        fail_msg("%s: %s", profile, error.message);
    return map;
}

/* A position belongs to the first point that is not before it, and behind the last to the first. */
static void assert_ring(struct cw_profile_map *map, const struct point *points, size_t count)
{
    uint64_t last;
    for (size_t i = 0; i < count; i++) {
        uint64_t behind = points[i].at + 1;
        assert_int_equal(cw_profile_range_at(map, points[i].at, &last), points[i].host);
        assert_int_equal(cw_profile_range_at(map, behind, &last), points[(i + 1) % count].host);
    }
    assert_int_equal(cw_profile_range_at(map, 0, &last), points[0].host);
    assert_int_equal(cw_profile_range_at(map, UINT64_MAX, &last), points[0].host);
    cw_profile_map_unref(&map);
}

static void the_ring_of_six_hosts_is_the_one_that_envoy_prints(void **state)
{
    static const struct point points[] = {
        {4, 833437586790550860u},   {2, 928266305478181108u},   {0, 1033482794131418490u},
        {5, 3551244743356806947u},  {3, 3851675632748031481u},  {1, 5583722120771150861u},
        {1, 6311230543546372928u},  {3, 7700377290971790572u},  {5, 13144177310400110813u},
        {2, 13444792449719432967u}, {4, 15516499411664133160u}, {0, 16117243373044804889u}};
    struct cw_profile_options options = {.size = 12};
    assert_ring(make("envoy-ring-hash", 90, 6, 0, &options), points, 12);
    /* In this order gRPC's ring is the same one. */
    assert_ring(make("grpc-ring-hash", 90, 6, 0, &options), points, 12);
}

static void the_ring_by_murmur_is_the_one_that_envoy_prints(void **state)
{
    static const struct point points[] = {
        {5, 1358027074129602068u},  {3, 4361834613929391114u},  {4, 7224494972555149682u},
        {1, 7701421856454313576u},  {2, 8649315368077433379u},  {4, 8739448859063030639u},
        {1, 9887544217113020895u},  {2, 10150910876324007731u}, {3, 15168472011420622455u},
        {0, 15427156902705414897u}, {5, 16375050414328759093u}, {0, 17613279263364193813u}};
    struct cw_profile_options options = {.size = 12, .hash = "murmur_hash_2"};
    assert_ring(make("envoy-ring-hash", 80, 6, 0, &options), points, 12);
}

static void the_ring_by_hostname_is_the_one_that_envoy_prints(void **state)
{
    static const struct point points[] = {
        {5, 1975508444536362413u},  {5, 2376063919839173711u},  {3, 2386806903309390596u},
        {4, 6749904478991551885u},  {3, 6803900775736438537u},  {2, 7225015537174310577u},
        {0, 8787465352164086522u},  {2, 11282020843382717940u}, {1, 13723418369486627818u},
        {0, 13776502110861797421u}, {1, 14338313586354474791u}, {4, 15364271037087512980u}};
    struct cw_profile_options options = {.size = 12};
    assert_ring(make("envoy-ring-hash", 90, 6, 1, &options), points, 12);
}

static void assert_table(struct cw_profile_map *map, const uint32_t *owners, size_t count)
{
    uint64_t last;
    assert_true(cw_profile_position_max(map) == count - 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(cw_profile_range_at(map, i, &last), owners[i]);
    cw_profile_map_unref(&map);
}

static void maglev_tables_are_those_that_envoy_prints(void **state)
{
    static const uint32_t by_address[] = {2, 4, 0, 1, 5, 0, 3}, by_name[] = {2, 5, 0, 3, 4, 1, 0};
    static const uint32_t weighted[] = {1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1};
    struct cw_profile_options options = {.size = 7};
    assert_table(make("envoy-maglev", 90, 6, 0, &options), by_address, 7);
    assert_table(make("envoy-maglev-host-order", 90, 6, 0, &options), by_address, 7);
    assert_table(make("envoy-maglev", 90, 6, 1, &options), by_name, 7);
    options.size = 17;
    assert_table(make("envoy-maglev", 90, 2, 0, &options), weighted, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ring_of_six_hosts_is_the_one_that_envoy_prints),
        cmocka_unit_test(the_ring_by_murmur_is_the_one_that_envoy_prints),
        cmocka_unit_test(the_ring_by_hostname_is_the_one_that_envoy_prints),
        cmocka_unit_test(maglev_tables_are_those_that_envoy_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
