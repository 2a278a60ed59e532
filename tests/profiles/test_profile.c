/*
 * Profiles beside the golden files: the list, names, order and ties, shares and ranges.
 */
#include "profiles/profile_helper.h"

/* ---- the list -------------------------------------------------------------------------------- */

static void every_profile_is_described_and_found_by_its_own_name(void **state)
{
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        assert_ptr_equal(cw_profile_find(profile->name), profile);
        const char *const texts[] = {profile->family, profile->rule, profile->versions,
                                     profile->evidence};
        for (size_t j = 0; j < 4; j++)
            if (!texts[j] || !*texts[j])
                fail_msg("%s has no text number %zu", profile->name, j);
        assert_non_null(profile->limits);
        assert_non_null(profile->hash);
        assert_true(strcmp(profile->evidence, "real program") == 0 ||
                    strcmp(profile->evidence, "test vectors") == 0 ||
                    strcmp(profile->evidence, "source") == 0);
    }
    assert_null(cw_profile_at(cw_profile_count()));
    assert_null(cw_profile_find("ketama"));
    assert_null(cw_profile_find(NULL));
}

static void the_hashes_of_a_profile_are_listed_and_its_default_is_one_of_them(void **state)
{
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        int found = 0;
        size_t count = 0;
        for (const char *name; (name = cw_profile_hash_at(profile, count)) != NULL; count++)
            found |= strcmp(name, profile->hash) == 0;
        assert_true((count > 0) == ((profile->settings & CW_PROFILE_HASH) != 0));
        if (count && !found)
            fail_msg("%s has no hash '%s'", profile->name, profile->hash);
    }
    assert_non_null(cw_profile_hash_at(cw_profile_find("twemproxy-ketama"), 11));
    assert_null(cw_profile_hash_at(cw_profile_find("twemproxy-ketama"), 12));
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t owner_at(const struct cw_profile_map *map, uint64_t position)
{
    uint64_t last;
    return cw_profile_range_at(map, position, &last);
}

/* The part of 1000 keys that two fleets of the same servers place alike. */
static unsigned agreement(const char *profile, const node *one, const node *other, size_t count)
{
    struct cw_profile_map *a = make_nodes(profile, one, count);
    struct cw_profile_map *b = make_nodes(profile, other, count);
    unsigned same = 0;
    for (unsigned i = 0; i < 1000; i++) {
        char key[16];
        size_t len = (size_t)snprintf(key, sizeof key, "key:%u", i);
        same += cw_profile_locate(a, key, len) == cw_profile_locate(b, key, len);
    }
    cw_profile_map_unref(&a);
    cw_profile_map_unref(&b);
    return same;
}

static void a_default_port_is_not_part_of_a_name_where_the_system_drops_it(void **state)
{
    static const node with[] = {{.address = "a:11211", .weight = 1},
                                {.address = "b:11211", .weight = 1}};
    static const node without[] = {{.address = "a", .weight = 1}, {.address = "b", .weight = 1}};
    static const node other[] = {{.address = "a:11212", .weight = 1},
                                 {.address = "b:11212", .weight = 1}};
    assert_int_equal(agreement("libmemcached-ketama-weighted", with, without, 2), 1000);
    assert_in_range(agreement("libmemcached-ketama-weighted", with, other, 2), 300, 700);
    assert_in_range(agreement("npm-hashring", with, without, 2), 300, 700);
    assert_in_range(agreement("nginx-hash-consistent", with, without, 2), 300, 700);
}

static void a_name_of_its_own_stands_for_the_address(void **state)
{
    static const node old[] = {{.address = "10.0.0.1:11211", .weight = 1, .name = "one"},
                               {.address = "10.0.0.2:11211", .weight = 1, .name = "two"}};
    static const node new[] = {{.address = "10.9.9.9:22122", .weight = 1, .name = "one"},
                               {.address = "10.9.9.8:22122", .weight = 1, .name = "two"}};
    assert_int_equal(agreement("twemproxy-ketama", old, new, 2), 1000);
    assert_int_equal(agreement("envoy-ring-hash", old, new, 2), 1000);
}

static void ipv6_and_sockets_have_the_names_that_the_systems_give_them(void **state)
{
    static const node v6[] = {{.address = "[::1]:11212", .weight = 1},
                              {.address = "/run/m.sock", .weight = 1}};
    static const node named[] = {{.address = "x:1", .weight = 1, .name = "::1:11212"},
                                 {.address = "y:1", .weight = 1, .name = "/run/m.sock:0"}};
    static const node named_nc[] = {{.address = "x:1", .weight = 1, .name = "[::1]:11212"},
                                    {.address = "y:1", .weight = 1, .name = "/run/m.sock:"}};
    assert_int_equal(agreement("libmemcached-ketama-weighted", v6, named, 2), 1000);
    assert_int_equal(agreement("twemproxy-ketama", v6, named_nc, 2), 1000);
}

/* ---- order and ties -------------------------------------------------------------------------- */

static void order_matters_where_the_system_does_not_sort(void **state)
{
    static const node nodes[] = {{.address = "10.0.0.30:11211", .weight = 1},
                                 {.address = "10.0.0.2:11211", .weight = 2}};
    static const struct {
        const char *profile;
        int matters;
    } cases[] = {{"libmemcached-modula", 1}, {"twemproxy-modula", 0},   {"nginx-hash", 1},
                 {"twemproxy-ketama", 0},    {"haproxy-consistent", 1}, {"mcrouter-ch3", 1},
                 {"envoy-maglev", 0},        {"grpc-ring-hash", 0},     {"gomemcache", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        node turned[] = {nodes[1], nodes[0]};
        struct cw_profile_map *a = make_nodes(cases[i].profile, nodes, 2);
        struct cw_profile_map *b = make_nodes(cases[i].profile, turned, 2);
        unsigned moved = 0;
        for (unsigned k = 0; k < 1000; k++) {
            char key[16];
            size_t len = (size_t)snprintf(key, sizeof key, "key:%u", k);
            moved += cw_profile_locate(a, key, len) == cw_profile_locate(b, key, len);
        }
        if ((moved > 0) != cases[i].matters)
            fail_msg("%s: %u of 1000 keys move when servers change places", cases[i].profile,
                     moved);
        cw_profile_map_unref(&a);
        cw_profile_map_unref(&b);
    }
}

/* Two servers whose names give the same point, found by trying 4000 names: the position of that
 * point belongs to one of them by the rule for ties. */
static void assert_tie(const char *profile, const char *one, const char *other, uint64_t position,
                       const char *winner_as_given, const char *winner_turned)
{
    node given[] = {{.address = one, .weight = 1}, {.address = other, .weight = 1}};
    node turned[] = {given[1], given[0]};
    struct cw_profile_map *a = make_nodes(profile, given, 2);
    struct cw_profile_map *b = make_nodes(profile, turned, 2);
    assert_string_equal(cw_profile_map_node(a, owner_at(a, position))->address, winner_as_given);
    assert_string_equal(cw_profile_map_node(b, owner_at(b, position))->address, winner_turned);
    cw_profile_map_unref(&a);
    cw_profile_map_unref(&b);
}

static void equal_points_go_to_the_server_that_the_system_gives_them_to(void **state)
{
    const char *a = "10.1.0.138:11211", *b = "10.1.2.63:11211"; /* without port in their names */
    const char *c = "10.1.0.72:11211", *d = "10.1.1.102:11211"; /* with it */
    assert_tie("libmemcached-ketama-weighted", a, b, 3849517208, a, b);
    assert_tie("twemproxy-ketama", a, b, 3849517208, b, b);
    assert_tie("npm-memcached", a, b, 3849517208, a, b);
    assert_tie("xmemcached-ketama-nginx", a, b, 3849517208, b, a);
    assert_tie("libketama", c, d, 4057872511, c, d);
    assert_tie("spymemcached-ketama", c, d, 4057872511, d, c);
}

static void one_server_has_all_keys(void **state)
{
    static const node one = {.address = "10.0.0.1:11211", .name = "g", .weight = 1};
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        struct cw_profile_options options = {.nodes = &one, .node_count = 1};
        struct cw_profile_map *map = NULL;
        if (profile->settings & CW_PROFILE_TOPOLOGY || !strcmp(profile->name, "couchbase-vbucket"))
            continue;
        map = make(profile->name, &options);
        assert_int_equal(cw_profile_locate(map, "key", 3), 0);
        assert_int_equal(cw_profile_locate(map, "", 0), 0);
        uint32_t nodes[4];
        assert_int_equal(cw_profile_locate_n(map, "key", 3, 4, nodes), 1);
        double share = cw_profile_map_share(map, 0);
        if (share >= 0 && fabs(share - 1) > 1e-9)
            fail_msg("%s gives its only server %g", profile->name, share);
        cw_profile_map_unref(&map);
    }
}

static void a_key_that_nginx_places_by_turns_has_no_place(void **state)
{
    static const node two[] = {{.address = "a:1", .weight = 1}, {.address = "b:1", .weight = 1}};
    const char *const names[] = {"nginx-hash", "nginx-hash-consistent"};
    for (size_t i = 0; i < 2; i++) {
        struct cw_profile_map *map = make_nodes(names[i], two, 2);
        const void *keys[] = {"", "key"};
        size_t lens[] = {0, 3};
        uint32_t nodes[2];
        assert_int_equal(cw_profile_locate(map, "", 0), CW_NO_NODE);
        assert_int_equal(cw_profile_locate_n(map, "", 0, 2, nodes), 0);
        cw_profile_locate_batch(map, keys, lens, 2, nodes);
        assert_int_equal(nodes[0], CW_NO_NODE);
        assert_in_range(nodes[1], 0, 1);
        cw_profile_map_unref(&map);
    }
}

static void plain_char_of_arm_moves_keys_with_high_bytes_only(void **state)
{
    static const node five[] = {{.address = "a", .weight = 1},
                                {.address = "b", .weight = 1},
                                {.address = "c", .weight = 1},
                                {.address = "d", .weight = 1},
                                {.address = "e", .weight = 1}};
    struct cw_profile_options options = {.nodes = five, .node_count = 5};
    struct cw_profile_map *x86 = make("libmemcached-modula", &options);
    options.unsigned_char = 1;
    struct cw_profile_map *arm = make("libmemcached-modula", &options);
    unsigned moved = 0;
    for (unsigned i = 0; i < 1000; i++) {
        char key[32];
        size_t len = (size_t)snprintf(key, sizeof key, "key:%u", i);
        assert_int_equal(cw_profile_locate(x86, key, len), cw_profile_locate(arm, key, len));
        len = (size_t)snprintf(key, sizeof key, "sch\xc3\xb6n:%u", i);
        moved += cw_profile_locate(x86, key, len) != cw_profile_locate(arm, key, len);
    }
    assert_in_range(moved, 700, 900);
    cw_profile_map_unref(&x86);
    cw_profile_map_unref(&arm);
}

/* ---- shares and ranges ----------------------------------------------------------------------- */

static void assert_ranges_and_shares_agree(const struct cw_profile_map *map, const char *name)
{
    uint64_t max = cw_profile_position_max(map), at = 0, last;
    double sums[5] = {0}, total = 0;
    for (;; at = last + 1) {
        uint32_t owner = cw_profile_range_at(map, at, &last);
        assert_in_range(owner, 0, 4);
        assert_true(last >= at && last <= max);
        sums[owner] += ((double)(last - at) + 1) / ((double)max + 1);
        if (last == max)
            break;
    }
    for (uint32_t i = 0; i < 5; i++) {
        double share = cw_profile_map_share(map, i);
        total += share;
        if (fabs(share - sums[i]) > 1e-9)
            fail_msg("%s: node %u has %g, by its ranges %g", name, i, share, sums[i]);
    }
    assert_true(fabs(total - 1) < 1e-9);
}

static void ranges_cover_all_positions_and_add_up_to_the_shares(void **state)
{
    static const node five[] = {{.address = "10.0.0.1:11211", .name = "a", .weight = 1},
                                {.address = "10.0.0.2:11211", .name = "b", .weight = 1},
                                {.address = "10.0.0.3:11211", .name = "c", .weight = 1},
                                {.address = "10.0.0.4:11211", .name = "d", .weight = 1},
                                {.address = "10.0.0.5:11211", .name = "e", .weight = 1}};
    unsigned seen = 0;
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        if (profile->settings & CW_PROFILE_TOPOLOGY || !strcmp(profile->name, "couchbase-vbucket"))
            continue;
        struct cw_profile_map *map = make_nodes(profile->name, five, 5);
        assert_true(cw_profile_map_memory(map) > 0);
        if (cw_profile_position_max(map)) {
            assert_ranges_and_shares_agree(map, profile->name);
            seen++;
        }
        cw_profile_map_unref(&map);
    }
    assert_true(seen > 30);
}

static void positions_are_comparable_only_if_keys_are_hashed_alike(void **state)
{
    static const node two[] = {{.address = "a:1", .weight = 1}, {.address = "b:1", .weight = 1}};
    struct cw_profile_options options = {.nodes = two, .node_count = 2};
    struct cw_profile_map *nc = make("twemproxy-ketama", &options);
    options.hash = "md5";
    struct cw_profile_map *nc_md5 = make("twemproxy-ketama", &options);
    struct cw_profile_map *lib_md5 = make("libmemcached-ketama-weighted", &options);
    options.tag = "{}";
    struct cw_profile_map *nc_tag = make("twemproxy-ketama", &options);
    assert_true(cw_profile_same_positions(nc_md5, lib_md5));
    assert_false(cw_profile_same_positions(nc, nc_md5));
    assert_false(cw_profile_same_positions(nc_md5, nc_tag));
    cw_profile_map_unref(&nc);
    cw_profile_map_unref(&nc_md5);
    cw_profile_map_unref(&lib_md5);
    cw_profile_map_unref(&nc_tag);
}

static void a_reference_keeps_a_map_alive(void **state)
{
    static const node one = {.address = "a:1", .weight = 1};
    struct cw_profile_map *map = make_nodes("twemproxy-ketama", &one, 1);
    struct cw_profile_map *more = cw_profile_map_ref(map);
    cw_profile_map_unref(&map);
    assert_null(map);
    assert_string_equal(cw_profile_map_node(more, 0)->address, "a:1");
    assert_string_equal(cw_profile_map_profile(more)->name, "twemproxy-ketama");
    assert_null(cw_profile_map_node(more, 1));
    assert_int_equal(cw_profile_map_node_count(more), 1);
    cw_profile_map_unref(&more);
    cw_profile_map_unref(&more);
    cw_profile_map_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_is_described_and_found_by_its_own_name),
        cmocka_unit_test(the_hashes_of_a_profile_are_listed_and_its_default_is_one_of_them),
        cmocka_unit_test(a_default_port_is_not_part_of_a_name_where_the_system_drops_it),
        cmocka_unit_test(a_name_of_its_own_stands_for_the_address),
        cmocka_unit_test(ipv6_and_sockets_have_the_names_that_the_systems_give_them),
        cmocka_unit_test(order_matters_where_the_system_does_not_sort),
        cmocka_unit_test(equal_points_go_to_the_server_that_the_system_gives_them_to),
        cmocka_unit_test(one_server_has_all_keys),
        cmocka_unit_test(a_key_that_nginx_places_by_turns_has_no_place),
        cmocka_unit_test(plain_char_of_arm_moves_keys_with_high_bytes_only),
        cmocka_unit_test(ranges_cover_all_positions_and_add_up_to_the_shares),
        cmocka_unit_test(positions_are_comparable_only_if_keys_are_hashed_alike),
        cmocka_unit_test(a_reference_keeps_a_map_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
