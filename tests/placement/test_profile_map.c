/*
 * Profiles as maps: order, following, plans, and what cannot be.
 * covers: placement/profile, placement/plan_profile
 */
#include "placement/profile_maps.h"

/* ---- asking ---------------------------------------------------------------------------------- */

static void nodes_are_numbered_by_id_and_keep_their_places(void **state)
{
    struct cw_map *map = make_three("twemproxy-ketama");
    static const char *const names[] = {"third", "", ""};
    for (uint32_t i = 0; i < 3; i++) {
        struct cw_profile_node server;
        uint32_t place;
        assert_int_equal(cw_map_server(map, i, &server, &place), CW_OK);
        assert_int_equal(place, 2 - i);
        assert_string_equal(server.name, names[i]);
        assert_string_equal(server.address, cw_map_node(map, i)->address);
    }
    assert_string_equal(cw_map_placement_name(map), "twemproxy-ketama");
    assert_string_equal(cw_placement_name(cw_map_placement(map)), "profile");
    cw_map_unref(&map);
}

static void another_order_is_another_placement_where_the_system_divides(void **state)
{
    struct cw_node turned[] = {three[2], three[0], three[1]};
    for (int by_order = 0; by_order < 2; by_order++) {
        const char *name = by_order ? "libmemcached-modula" : "libmemcached-ketama-weighted";
        struct cw_map *map = make(name, three, 3, NULL), *other = make(name, turned, 3, NULL);
        assert_true((count_moved(map, other) > 0) == by_order);
        cw_map_unref(&map);
        cw_map_unref(&other);
    }
}

static void a_hash_has_no_place(void **state)
{
    struct cw_map *map = make_three("twemproxy-ketama");
    uint64_t hashes[] = {1, 2}, last;
    uint32_t nodes[16] = {0};
    assert_int_equal(cw_locate(map, 1), CW_NO_NODE);
    cw_locate_batch(map, hashes, 2, nodes);
    assert_int_equal(nodes[0], CW_NO_NODE);
    assert_int_equal(nodes[1], CW_NO_NODE);
    assert_int_equal(cw_locate_n(map, 1, 3, nodes), 0);
    assert_int_equal(cw_map_range_at(map, 0, nodes, &last), CW_ENOT_SUPPORTED);
    assert_int_equal(cw_map_node_range(map, 0, hashes, &last), CW_ENOT_SUPPORTED);
    uint64_t loads[3] = {0};
    struct cw_load load = {.loads = loads, .slack_permille = 100};
    assert_true(cw_locate_bounded(map, 1, &load) < 3);
    cw_map_unref(&map);
}

static void a_key_without_a_place_has_no_node(void **state)
{
    struct cw_map *map = make("nginx-hash-consistent", three, 3, NULL);
    uint32_t node, nodes[3];
    const void *keys[] = {"a", "", "b"};
    size_t lens[] = {1, 0, 1};
    assert_int_equal(cw_locate_key(map, "", 0), CW_NO_NODE);
    assert_int_equal(cw_locate_key(map, NULL, 0), CW_NO_NODE);
    assert_int_equal(cw_locate_key_n(map, "", 0, 3, &node), 0);
    cw_locate_keys(map, keys, lens, 3, nodes);
    assert_true(nodes[0] < 3 && nodes[1] == CW_NO_NODE && nodes[2] < 3);
    cw_map_unref(&map);
}

static void shares_are_the_systems(void **state)
{
    struct cw_map *map = make_three("twemproxy-modula");
    double sum = 0;
    for (uint32_t i = 0; i < 3; i++)
        sum += cw_map_share(map, i);
    assert_true(sum > 0.999 && sum < 1.001);
    assert_true(cw_map_share(map, 1) == 0.5 && cw_map_ideal_share(map, 1) == 0.5);
    cw_map_unref(&map);
    map = make_three("libmemcached-modula"); /* ignores weights */
    assert_true(cw_map_ideal_share(map, 1) > 0.33 && cw_map_ideal_share(map, 1) < 0.34);
    cw_map_unref(&map);
    map = make_three("pymemcache"); /* knows of no shares: what it promises */
    assert_true(cw_map_share(map, 1) > 0.33 && cw_map_share(map, 1) < 0.34);
    assert_true(cw_map_memory(map) > 100);
    cw_map_unref(&map);
}

/* ---- following ------------------------------------------------------------------------------- */

static void a_new_address_moves_no_key(void **state)
{
    struct cw_map *map = make_three("twemproxy-ketama");
    struct cw_node nodes[] = {three[0], three[1], three[2]};
    nodes[0].address = "192.168.7.7:11211";
    struct cw_map *to = change(map, nodes, 3), *fresh = make("twemproxy-ketama", nodes, 3, NULL);
    struct cw_profile_node server;
    uint32_t place;
    assert_int_equal(count_moved(map, to), 0);
    assert_true(count_moved(map, fresh) > 0);
    assert_int_equal(cw_map_server(to, 2, &server, &place), CW_OK);
    assert_string_equal(server.address, "10.0.0.1:11211");
    assert_int_equal(cw_map_generation(to), 2);
    cw_map_unref(&map);
    cw_map_unref(&to);
    cw_map_unref(&fresh);
}

static void new_nodes_stand_at_the_end_in_their_order(void **state)
{
    struct cw_map *map = make_three("libmemcached-modula");
    struct cw_node nodes[] = {{.id = "aa", .address = "h:1", .weight = 1},
                              {.id = "0", .address = "h:2", .weight = 1},
                              three[2],
                              three[0]};
    struct cw_map *to = change(map, nodes, 4);
    static const uint32_t places[] = {3, 1, 2, 0}; /* of 0, a, aa, c */
    for (uint32_t i = 0; i < 4; i++) {
        struct cw_profile_node server;
        uint32_t place;
        assert_int_equal(cw_map_server(to, i, &server, &place), CW_OK);
        assert_int_equal(place, places[i]);
    }
    cw_map_unref(&map);
    cw_map_unref(&to);
}

static void a_changed_weight_is_the_systems_and_others_stay(void **state)
{
    static const struct cw_profile_node servers[] = {
        {.weight = 0.5}, {.weight = 0.25}, {.weight = 1}};
    struct cw_profile_options options = {.nodes = servers, .node_count = 3};
    struct cw_node nodes[] = {three[0], three[1], three[2]};
    struct cw_profile_node server;
    uint32_t place;
    nodes[1].weight = 1;
    struct cw_map *map = make("mcrouter-weighted-ch3", nodes, 3, &options);
    struct cw_map *to = change(map, nodes, 2), *again;
    assert_int_equal(cw_map_server(to, 1, &server, &place), CW_OK);
    assert_true(server.weight == 0.5);
    nodes[1].weight = 7;
    struct cw_error error;
    assert_int_equal(cw_map_change(map, nodes, 3, &again, &error), CW_EBAD_WEIGHT);
    assert_non_null(strstr(error.message, "a number from 0 to 1"));
    struct cw_profile_node others[] = {servers[0], {.weight = 0.125, .name = "x"}, servers[2]};
    assert_int_equal(cw_map_change_servers(map, nodes, others, 3, &again, &error), CW_OK);
    assert_int_equal(cw_map_server(again, 1, &server, &place), CW_OK);
    assert_true(server.weight == 0.125);
    assert_string_equal(server.name, "x");
    cw_map_unref(&map);
    cw_map_unref(&to);
    cw_map_unref(&again);
}

/* ---- topologies ------------------------------------------------------------------------------ */

static void a_topologys_servers_are_found_among_the_nodes(void **state)
{
    struct cw_profile_options options = with_slots();
    struct cw_map *map = make("redis-cluster", three, 3, &options);
    assert_string_equal(id_of(map, "foo"), "b"); /* slot 12182 */
    assert_true(cw_map_share(map, 0) == 0);
    assert_true(cw_map_share(map, 2) == 51.0 / 16384);
    size_t nowhere = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key%u", i);
        nowhere += strcmp(id_of(map, key), "nowhere") == 0;
    }
    assert_in_range(nowhere, 1, KEYS / 50); /* slots 151 to 199 */
    struct cw_node nodes[] = {three[0], three[1], {.id = "new", .address = "h:1", .weight = 1}};
    struct cw_map *to = change(map, nodes, 3);
    assert_string_equal(id_of(to, "foo"), "b");
    assert_true(cw_map_share(to, cw_map_find_node(to, "new")) == 0);
    cw_map_unref(&map);
    cw_map_unref(&to);
}

static void an_owner_that_is_no_node_is_refused(void **state)
{
    struct cw_profile_options options = with_slots();
    struct cw_map *map = NULL, *to = NULL;
    struct cw_error error;
    assert_int_equal(try_map("redis-cluster", three, 1, &options, &map, &error), CW_ENO_SUCH_NODE);
    assert_non_null(strstr(error.message, "10.0.0.2:11211"));
    map = make("redis-cluster", three, 3, &options);
    assert_int_equal(cw_map_change(map, three + 1, 2, &to, &error), CW_ENO_SUCH_NODE);
    cw_map_unref(&map);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void what_is_no_map_of_nodes_is_refused(void **state)
{
    struct cw_map *map = NULL;
    struct cw_error error;
    struct cw_profile_options two = {.nodes = three_servers, .node_count = 2};
    struct cw_profile_options unknown = {.salt = "x"};
    assert_int_equal(try_map("no such", three, 3, NULL, &map, &error), CW_EINVAL);
    assert_int_equal(try_map("twemproxy-ketama", three, 3, &two, &map, &error), CW_EINVAL);
    assert_int_equal(try_map("twemproxy-ketama", three, 3, &unknown, &map, &error), CW_EINVAL);
    assert_int_equal(try_map("couchbase-vbucket", three, 3, NULL, &map, &error), CW_EINVAL);
    assert_non_null(strstr(error.message, "size"));
    assert_int_equal(try_map("redis-cluster", three, 3, NULL, &map, &error), CW_ENOT_SUPPORTED);
    assert_non_null(strstr(error.message, "topology"));
    struct cw_map_options ring = {.placement = CW_PLACEMENT_RING,
                                  .nodes = three,
                                  .node_count = 3,
                                  .profile = cw_profile_find("cassandra")};
    assert_int_equal(cw_map_create(&ring, &map, &error), CW_EINVAL);
    ring.profile = NULL;
    assert_int_equal(cw_map_create(&ring, &map, &error), CW_OK);
    struct cw_map *to = NULL;
    assert_int_equal(cw_map_change_servers(map, three, three_servers, 3, &to, &error),
                     CW_ENOT_SUPPORTED);
    struct cw_profile_node server;
    uint32_t place;
    assert_int_equal(cw_map_server(map, 0, &server, &place), CW_ENOT_SUPPORTED);
    assert_null(cw_map_profile_map(map));
    assert_string_equal(cw_map_placement_name(map), "ring");
    cw_map_unref(&map);
    struct cw_profile_node none[] = {{.weight = 0}, {.weight = 0}, {.weight = 0}};
    struct cw_profile_options nothing = {.nodes = none, .node_count = 3};
    assert_int_equal(try_map("haproxy-consistent", three, 3, &nothing, &map, &error),
                     CW_EBAD_WEIGHT);
}

/* ---- plans ----------------------------------------------------------------------------------- */

static void a_plan_of_one_profile_is_exact(void **state)
{
    static const char *const names[] = {"twemproxy-ketama", "nginx-hash-consistent",
                                        "libmemcached-ketama", "haproxy-consistent"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct cw_map *map = make_three(names[i]);
        struct cw_node nodes[] = {
            three[0], three[1], three[2], {.id = "d", .address = "10.0.0.4:11211", .weight = 1}};
        struct cw_map *to = change(map, nodes, 4);
        struct cw_plan *plan = NULL, *estimate = NULL;
        assert_int_equal(cw_plan_create(map, to, &plan), CW_OK);
        assert_int_equal(cw_plan_estimate(map, to, 1 << 16, &estimate), CW_OK);
        assert_true(cw_plan_share_error(plan) == 0 && cw_plan_share_error(estimate) > 0);
        double difference = cw_plan_share(plan) - cw_plan_share(estimate);
        check(cw_plan_share(plan) > 0.1 && difference * difference < 0.01 * 0.01, "%s: %g and %g",
              names[i], cw_plan_share(plan), cw_plan_share(estimate));
        uint32_t from, target;
        size_t moved = 0;
        for (unsigned k = 0; k < KEYS; k++) {
            char key[16];
            size_t len = (size_t)snprintf(key, sizeof key, "key%u", k);
            moved += (size_t)cw_plan_locate_key(plan, key, len, &from, &target);
        }
        assert_int_equal(moved, count_moved(map, to));
        assert_int_equal(cw_plan_locate(plan, 1, &from, &target), 0);
        cw_plan_destroy(&plan);
        cw_plan_destroy(&estimate);
        cw_map_unref(&map);
        cw_map_unref(&to);
    }
}

static void needless_movement_of_a_system_is_seen(void **state)
{
    char addresses[25][24], ids[25][8];
    struct cw_node nodes[25];
    for (unsigned i = 0; i < 25; i++) {
        snprintf(addresses[i], sizeof addresses[i], "10.0.1.%u:11211", i + 1);
        snprintf(ids[i], sizeof ids[i], "n%u", i);
        nodes[i] = (struct cw_node){.id = ids[i], .address = addresses[i], .weight = 1};
    }
    struct cw_map *map = make("libmemcached-ketama-weighted", nodes, 24, NULL);
    struct cw_map *to = change(map, nodes, 25);
    struct cw_plan *plan = NULL;
    assert_int_equal(cw_plan_create(map, to, &plan), CW_OK);
    /* 25 equal servers have 156 points instead of 160. */
    assert_true(cw_plan_needless_share(plan) > 0.015 && cw_plan_needless_share(plan) < 0.035);
    cw_plan_destroy(&plan);
    cw_map_unref(&map);
    cw_map_unref(&to);
}

static void a_profile_and_another_placement_are_compared_by_keys(void **state)
{
    struct cw_map *profile = make_three("twemproxy-ketama"), *ring = NULL;
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RING, .nodes = three, .node_count = 3};
    struct cw_plan *plan = NULL;
    assert_int_equal(cw_map_create(&options, &ring, NULL), CW_OK);
    assert_int_equal(cw_plan_create(profile, ring, &plan), CW_ENOT_SUPPORTED);
    assert_int_equal(cw_plan_estimate(profile, ring, 20000, &plan), CW_OK);
    /* Two unrelated placements of weights 1, 2, 1 agree on 1/16 + 4/16 + 1/16. */
    assert_true(cw_plan_share(plan) > 0.45 && cw_plan_share(plan) < 0.75);
    cw_plan_destroy(&plan);
    cw_map_unref(&ring);
    cw_map_unref(&profile);
}

static void keys_without_a_place_do_not_move(void **state)
{
    struct cw_profile_options options = with_slots();
    struct cw_map *map = make("redis-cluster", three, 3, &options);
    options.topology = "i1 10.0.0.2:11211@1 master - 0 0 1 connected 0-16383\n";
    options.topology_len = strlen(options.topology);
    struct cw_map *to = make("redis-cluster", three, 3, &options);
    struct cw_plan *plan = NULL;
    size_t count;
    assert_int_equal(cw_plan_create(map, to, &plan), CW_OK);
    assert_true(cw_plan_share(plan) == 51.0 / 16384);
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    assert_int_equal(count, 1);
    assert_int_equal(moves[0].from_node, 2);
    assert_int_equal(moves[0].to_node, 1);
    assert_int_equal(moves[0].range_count, 1);
    cw_plan_destroy(&plan);
    cw_map_unref(&map);
    cw_map_unref(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_numbered_by_id_and_keep_their_places),
        cmocka_unit_test(another_order_is_another_placement_where_the_system_divides),
        cmocka_unit_test(a_hash_has_no_place),
        cmocka_unit_test(a_key_without_a_place_has_no_node),
        cmocka_unit_test(shares_are_the_systems),
        cmocka_unit_test(a_new_address_moves_no_key),
        cmocka_unit_test(new_nodes_stand_at_the_end_in_their_order),
        cmocka_unit_test(a_changed_weight_is_the_systems_and_others_stay),
        cmocka_unit_test(a_topologys_servers_are_found_among_the_nodes),
        cmocka_unit_test(an_owner_that_is_no_node_is_refused),
        cmocka_unit_test(what_is_no_map_of_nodes_is_refused),
        cmocka_unit_test(a_plan_of_one_profile_is_exact),
        cmocka_unit_test(needless_movement_of_a_system_is_seen),
        cmocka_unit_test(a_profile_and_another_placement_are_compared_by_keys),
        cmocka_unit_test(keys_without_a_place_do_not_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
