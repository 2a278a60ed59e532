/*
 * Pools that are placed as another system does it: what is read, and what a wrong one is told, word
 * for word.
 * covers: control/config_profile
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include <clockwise/profile.h>

#include "control/config_helper.h"

/* A pool of a profile with these settings (a line, or "") and nodes (in a flow list). */
static struct config *read_pool(const char *profile, const char *settings, const char *nodes,
                                char *lines, size_t size)
{
    char text[4096];
    snprintf(text, sizeof text,
             "pools:\n  a:\n    listen: 127.0.0.1:7400\n    placement: %s\n    %s\n    nodes: "
             "[%s]\n",
             profile, settings, nodes);
    return read_text_of(text, strlen(text), lines, size);
}

static void expect(const char *profile, const char *settings, const char *nodes, const char *want)
{
    char lines[4096];
    struct config *config = read_pool(profile, settings, nodes, lines, sizeof lines);
    if (config)
        fail_msg("taken: %s %s %s", profile, settings, nodes);
    if (strcmp(lines, want) != 0)
        fail_msg("\n%s %s %s\n--- said\n%s--- wanted\n%s", profile, settings, nodes, lines, want);
}

static struct config *good(const char *profile, const char *settings, const char *nodes)
{
    char lines[4096];
    struct config *config = read_pool(profile, settings, nodes, lines, sizeof lines);
    if (!config)
        fail_msg("%s %s %s\n%s", profile, settings, nodes, lines);
    return config;
}

static struct cw_profile_node server_of(const struct config *config, const char *id,
                                        uint32_t *ret_place)
{
    const struct cw_map *map = config->pools[0].map;
    struct cw_profile_node server;
    assert_int_equal(cw_map_server(map, cw_map_find_node(map, id), &server, ret_place), CW_OK);
    return server;
}

#define TWO "{id: x, address: 'h:1'}, {id: b, address: 'h:2'}"

/* ---- what is read ---------------------------------------------------------------------------- */

static void servers_keep_their_order_names_and_weights(void **state)
{
    struct config *config = good("twemproxy-ketama", "profile: {hash: md5, tag: '{}'}",
                                 "{id: z, address: 'h:1', name: alpha, weight: 2}, "
                                 "{id: b, address: 'h:2', zone: q, server: '10.0.0.7:11211'}");
    uint32_t place;
    struct cw_profile_node server = server_of(config, "z", &place);
    assert_int_equal(place, 0);
    assert_string_equal(server.name, "alpha");
    assert_string_equal(server.address, "h:1");
    assert_true(server.weight == 2);
    server = server_of(config, "b", &place);
    assert_int_equal(place, 1);
    assert_string_equal(server.address, "10.0.0.7:11211");
    assert_true(server.weight == 1);
    const struct cw_map *map = config->pools[0].map;
    assert_string_equal(cw_map_placement_name(map), "twemproxy-ketama");
    assert_string_equal(cw_map_node(map, cw_map_find_node(map, "b"))->address, "h:2");
    struct cw_profile_options settings;
    cw_profile_map_settings(cw_map_profile_map(map), &settings);
    assert_string_equal(settings.hash, "md5");
    assert_string_equal(settings.tag, "{}");
    config_destroy(&config);
}

static void systems_own_weights_numbers_and_marks_are_taken(void **state)
{
    uint32_t place;
    struct config *config = good("mcrouter-weighted-ch3", "profile: {salt: s}",
                                 "{id: x, address: 'h:1', weight: 0.1}, "
                                 "{id: b, address: 'h:2', weight: 0}");
    assert_true(server_of(config, "x", &place).weight == 0.1);
    assert_true(server_of(config, "b", &place).weight == 0);
    config_destroy(&config);
    config = good("haproxy-consistent", "profile: {server_key: id}",
                  "{id: x, address: 'h:1', number: 4294967295, weight: 256}, "
                  "{id: b, address: 'h:2', weight: 0, down: yes}");
    assert_true(server_of(config, "x", &place).number == 4294967295u);
    assert_true(server_of(config, "b", &place).is_down);
    config_destroy(&config);
}

static void nodes_may_stand_before_the_placement(void **state)
{
    const char *text = "pools:\n  a:\n    nodes: [{id: x, address: 'h:1', weight: 0.5}]\n"
                       "    listen: 127.0.0.1:7400\n    placement: mcrouter-weighted-ch3\n";
    char lines[1024];
    struct config *config = read_text_of(text, strlen(text), lines, sizeof lines);
    if (!config)
        fail_msg("%s", lines);
    config_destroy(&config);
}

static void an_embedded_node_is_called_by_its_id(void **state)
{
    const char *text = "pools:\n  a:\n    listen: 127.0.0.1:7400\n    engine: embedded\n"
                       "    placement: libmemcached-modula\n    nodes: [{id: x}, {id: b}]\n";
    char lines[1024];
    struct config *config = read_text_of(text, strlen(text), lines, sizeof lines);
    if (!config)
        fail_msg("%s", lines);
    uint32_t place;
    assert_string_equal(server_of(config, "x", &place).address, "x");
    assert_int_equal(place, 0);
    config_destroy(&config);
}

static void a_topology_is_a_block(void **state)
{
    struct config *config = good("redis-cluster",
                                 "profile:\n      topology: |\n"
                                 "        i1 h:2@1 master - 0 0 1 connected 0-99 200-16383\n"
                                 "        i2 h:1@1 master - 0 0 1 connected 100-199",
                                 TWO);
    const struct cw_map *map = config->pools[0].map;
    assert_string_equal(cw_map_node(map, cw_locate_key(map, "foo", 3))->id, "b");
    assert_true(cw_map_share(map, cw_map_find_node(map, "x")) == 100.0 / 16384);
    config_destroy(&config);
}

/* IPv6 and unix sockets are what each system makes of them. */
static void other_addresses_are_the_systems(void **state)
{
    struct config *config = good("libmemcached-ketama-weighted", "",
                                 "{id: x, address: '[::1]:11211'}, "
                                 "{id: b, address: 'unix:/run/m.sock'}");
    config_destroy(&config);
    expect("xmemcached-libmemcached", "",
           "{id: x, address: 'h:1'}, {id: b, address: 'unix:/run/m'}",
           "f:6:46: node 'b': server 'unix:/run/m': this system has no unix sockets: use "
           "host:port\n");
    expect("spymemcached-ketama", "", "{id: x, address: '[::1]:11211'}",
           "f:6:21: node 'x': server '[::1]:11211': what Java makes of a name or of IPv6 cannot be "
           "seen from it: give the server the name host/ip:port\n");
    config = good("spymemcached-ketama", "",
                  "{id: x, address: '[::1]:11211', name: 'h/0:0:0:0:0:0:0:1:11211'}");
    config_destroy(&config);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void unknown_names_suggest_the_nearest(void **state)
{
    expect("twemproxy-ketma", "", TWO,
           "f:4:16: pools.a.placement: 'twemproxy-ketma' is unknown; did you mean "
           "'twemproxy-ketama'? (slots, ring, rendezvous, jump, jumpback, maglev or round, or a "
           "profile: `clockwise profiles`)\n");
    expect("xyz", "", TWO,
           "f:4:16: pools.a.placement: 'xyz' is unknown; use slots, ring, rendezvous, jump, "
           "jumpback, maglev or round, or a profile (`clockwise profiles` lists them)\n");
    expect("twemproxy-ketama", "profile: {hsh: md5}", TWO,
           "f:5:15: pools.a.profile: unknown key 'hsh'; did you mean 'hash'?\n");
    expect("twemproxy-ketama", "profile: {hash: fnv1a64}", TWO,
           "f:5:15: pools.a.profile.hash: twemproxy-ketama has no hash 'fnv1a64'; did you mean "
           "'fnv1_64'?\n");
    expect("envoy-ring-hash", "profile: {hash: qwertz}", TWO,
           "f:5:15: pools.a.profile.hash: envoy-ring-hash has no hash 'qwertz'; use xx_hash or "
           "murmur_hash_2\n");
    expect("twemproxy-ketama", "profile: {salt: x, points: 5}", TWO,
           "f:5:15: pools.a.profile.salt: twemproxy-ketama has no such setting; it has hash, tag, "
           "unsigned_char; leave it out\n"
           "f:5:24: pools.a.profile.points: twemproxy-ketama has no such setting; it has hash, "
           "tag, unsigned_char; leave it out\n");
    expect("envoy-ring-hash", "profile: {size: many}", TWO,
           "f:5:15: pools.a.profile.size: size 'many': use a whole number from 0 to 4294967295\n");
    expect("twemproxy-ketama", "profile: {tag: abc}", TWO,
           "f:5:20: pools.a.profile.tag: is 3 bytes long; use at most 2\n");
    expect("twemproxy-ketama", "profile: md5", TWO,
           "f:5:14: pools.a.profile: is a value; write a map of keys and values\n");
}

static void a_servers_fault_stands_at_its_place(void **state)
{
    expect("twemproxy-ketama", "", "{id: x, address: 'h:1'}, {id: b, address: 'h:2', weight: 0}",
           "f:6:62: node 'b': server 'h:2' has weight 0: use a whole number from 1 to 1000000\n");
    expect("twemproxy-ketama", "", "{id: x, address: 'h:1', weight: -1}",
           "f:6:45: pools.a.nodes[0].weight: '-1' is no weight; use a number from 0 to 1000000\n");
    expect("mcrouter-weighted-ch3", "", "{id: x, address: 'h:1', weight: 1.5}, " TWO,
           "f:6:52: node id 'x' is here a second time; the first is in line 6\n"
           "f:6:59: nodes 'x' and 'x' have the same address h:1; each is a server of its own\n");
    expect("mcrouter-weighted-ch3", "", "{id: x, address: 'h:1', weight: 1.5}",
           "f:6:37: node 'x': server 'h:1' has weight 1.5: use a number from 0 to 1\n");
    expect("twemproxy-ketama", "",
           "{id: x, address: 'h:1', name: n}, {id: b, address: 'h:2', "
           "name: n}, {id: c, address: 'h:3'}",
           "f:6:71: node 'b': two servers have the name 'n', which twemproxy refuses: give each "
           "its own\n");
    expect("haproxy-consistent", "",
           "{id: x, address: 'h:1', number: 3}, {id: b, address: 'h:2', "
           "number: 3}",
           "f:6:73: node 'b': two servers have the number 3: give each its own\n");
    expect("twemproxy-ketama", "", "{id: x, address: 'h:1'}, {id: b, address: 'h:2', down: yes}",
           "f:6:62: node 'b': server 'h:2' is marked as down, which twemproxy-ketama does not "
           "know: leave it out\n");
    expect("twemproxy-ketama", "", "{id: x, address: 'h:1', server: h}",
           "f:6:37: node 'x': server 'h': it has no port: write host:port\n");
    expect("twemproxy-ketama", "", "{id: x, address: h}",
           "f:6:30: pools.a.nodes[0].address: 'h' is no address: the port is missing (write "
           "host:port)\n");
    expect("twemproxy-ketama", "", "{id: x, address: 'h:1'}, {id: b, address: 'h:1'}",
           "f:6:46: nodes 'x' and 'b' have the same address h:1; each is a server of its own\n");
}

static void what_places_no_nodes_is_no_pool(void **state)
{
    expect("couchbase-vbucket", "", TWO,
           "f:4:5: pools.a.profile: servers and a size exclude each other: give one\n");
    expect("redis-cluster", "", TWO,
           "f:4:5: pools.a.profile: redis-cluster needs the cluster's own word on who owns what: "
           "set topology\n");
    expect(
        "redis-cluster", "profile: {topology: 'i1 h:7@1 master - 0 0 1 connected 0-99'}", TWO,
        "f:5:5: pools.a.profile: the topology gives keys to 'h:7', and no node has that address: "
        "add one, or give the topology of these nodes\n");
    expect("redis-cluster", "profile: {topology: 'i1 h:7@1 master - 0 0 1 connected 0-x'}", TWO,
           "f:5:5: pools.a.profile: topology, line 1: '0' is no range of slots\n");
}

static void without_a_profile_its_keys_are_refused(void **state)
{
    expect("slots", "profile: {hash: md5}", "{id: x, address: 'h:1', name: n, number: 1}",
           "f:5:5: pools.a.profile: only with a profile as the placement; leave it out\n"
           "f:6:37: node 'x': name is known only with a profile as the placement; leave it out\n"
           "f:6:46: node 'x': number is known only with a profile as the placement; leave it "
           "out\n");
    expect("slots", "", "{id: x, address: 'h:1', weight: 0.5}",
           "f:6:45: pools.a.nodes[0].weight: '0.5' is not a whole number; use 1 to 1000000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_keep_their_order_names_and_weights),
        cmocka_unit_test(systems_own_weights_numbers_and_marks_are_taken),
        cmocka_unit_test(nodes_may_stand_before_the_placement),
        cmocka_unit_test(an_embedded_node_is_called_by_its_id),
        cmocka_unit_test(a_topology_is_a_block),
        cmocka_unit_test(other_addresses_are_the_systems),
        cmocka_unit_test(unknown_names_suggest_the_nearest),
        cmocka_unit_test(a_servers_fault_stands_at_its_place),
        cmocka_unit_test(what_places_no_nodes_is_no_pool),
        cmocka_unit_test(without_a_profile_its_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
