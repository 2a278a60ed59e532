/*
 * What maps of profiles refuse, and why; settings by name.
 */
#include "profiles/profile_helper.h"

static void a_map_without_servers_is_refused(void **state)
{
    struct cw_profile_options none = {0};
    assert_refused("twemproxy-ketama", &none, CW_ENO_NODES, "at least one server");
    assert_refused("mcrouter-ch3", &none, CW_ENO_NODES, "at least one server");
    assert_refused("kafka", &none, CW_EINVAL, "table of 0 places");
    assert_refused("guava-consistent-hash", &none, CW_EINVAL, "0 buckets");
    none.node_count = 3;
    assert_refused("nginx-hash", &none, CW_EINVAL, "none is given");
    assert_int_equal(cw_profile_map_create(NULL, &none, NULL, NULL), CW_EINVAL);
}

static void weights_are_judged_as_the_system_judges_them(void **state)
{
    static const struct {
        const char *profile;
        double weight;
        enum cw_status status;
    } cases[] = {
        {"twemproxy-ketama", 0, CW_EBAD_WEIGHT},   {"twemproxy-ketama", -1, CW_EBAD_WEIGHT},
        {"twemproxy-ketama", 1.5, CW_EBAD_WEIGHT}, {"twemproxy-ketama", NAN, CW_EBAD_WEIGHT},
        {"nginx-hash", 0, CW_EBAD_WEIGHT},         {"nginx-hash", 1e12, CW_EBAD_WEIGHT},
        {"haproxy-consistent", 0, CW_OK},          {"haproxy-consistent", 257, CW_EBAD_WEIGHT},
        {"cache-memcached-fast", 3.5, CW_OK},      {"cache-memcached-fast", 0, CW_EBAD_WEIGHT},
        {"mcrouter-weighted-ch3", 0, CW_OK},       {"mcrouter-weighted-ch3", 2, CW_EBAD_WEIGHT},
        {"libmemcached-ketama-weighted", 0, CW_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        node nodes[] = {{.address = "10.0.0.1:11211", .weight = 1},
                        {.address = "10.0.0.2:11211", .weight = cases[i].weight}};
        struct cw_profile_options options = {.nodes = nodes, .node_count = 2};
        struct cw_profile_map *map = NULL;
        if (cases[i].status != CW_OK) {
            assert_refused(cases[i].profile, &options, cases[i].status, "10.0.0.2:11211");
            continue;
        }
        map = make(cases[i].profile, &options);
        cw_profile_map_unref(&map);
    }
}

static void addresses_that_the_system_would_not_understand_are_refused(void **state)
{
    assert_node_refused("twemproxy-ketama", (node){.address = "cache1", .weight = 1},
                        CW_EBAD_ADDRESS, "write host:port");
    assert_node_refused("libmemcached-ketama", (node){.address = "::1:11211", .weight = 1},
                        CW_EBAD_ADDRESS, "[::1]:11211");
    assert_node_refused("libmemcached-ketama", (node){.address = "[::1", .weight = 1},
                        CW_EBAD_ADDRESS, "without its ]");
    assert_node_refused("dalli", (node){.address = "/run/m.sock", .weight = 1}, CW_EBAD_ADDRESS,
                        "no unix sockets");
    assert_node_refused("spymemcached-ketama", (node){.address = "cache1:11211", .weight = 1},
                        CW_EBAD_ADDRESS, "host/ip:port");
    assert_node_refused("nginx-hash", (node){.weight = 1}, CW_EBAD_ADDRESS, "server 2");
    assert_node_refused("twemproxy-ketama",
                        (node){.address = "10.0.0.2:11211", .weight = 1, .is_down = 1}, CW_EINVAL,
                        "leave it out");
}

static void what_would_be_ambiguous_is_refused(void **state)
{
    node twins[] = {{.address = "10.0.0.1:11211", .weight = 1},
                    {.address = "10.0.0.1:11211", .weight = 2}};
    node ids[] = {{.address = "10.0.0.1:1", .weight = 1, .number = 7},
                  {.address = "10.0.0.1:2", .weight = 1, .number = 7}};
    struct cw_profile_options options = {.nodes = twins, .node_count = 2};
    assert_refused("twemproxy-modula", &options, CW_EDUPLICATE_ID, "twemproxy refuses");
    options.nodes = ids;
    assert_refused("haproxy-consistent", &options, CW_EDUPLICATE_ID, "number 7");
    options.topology = "";
    assert_refused("redis-cluster", &options, CW_EINVAL, "exclude each other");
}

static void settings_that_a_profile_does_not_know_are_refused(void **state)
{
    node one = {.address = "10.0.0.1:11211", .weight = 1};
    struct cw_profile_options options = {.nodes = &one, .node_count = 1, .salt = "x"};
    assert_refused("twemproxy-ketama", &options, CW_EINVAL, "no setting salt");
    options.salt = NULL;
    options.hash = "md4";
    assert_refused("twemproxy-ketama", &options, CW_EINVAL, "no hash 'md4'");
    options.hash = "crc"; /* libmemcached's name */
    assert_refused("twemproxy-ketama", &options, CW_EINVAL, "no hash 'crc'");
    options.hash = NULL;
    options.tag = "{";
    assert_refused("twemproxy-ketama", &options, CW_EINVAL, "two characters");
    options.tag = NULL;
    options.server_key = "name";
    assert_refused("haproxy-consistent", &options, CW_EINVAL, "addr-port");
    options.server_key = "guid";
    assert_refused("haproxy-consistent", &options, CW_EBAD_ID, "guid");
    options.server_key = NULL;
    options.size = 65536;
    assert_refused("envoy-maglev", &options, CW_EINVAL, "prime");
    struct cw_profile_options topology = {.replication = "3"};
    assert_refused("cassandra", &topology, CW_EINVAL, "nodetool ring");
    topology.topology = "10.0.0.1 dc1 r1 5\n";
    topology.topology_len = strlen(topology.topology);
    topology.replication = "dc2:3";
    assert_refused("cassandra", &topology, CW_EINVAL, "dc2:3");
}

static void settings_are_set_by_name_from_text(void **state)
{
    struct cw_profile_options options = {0};
    struct cw_error error = {0};
    static const char *const bad[][2] = {{"points", "-1"},        {"points", "1x"},
                                         {"points", ""},          {"size", "1e9"},
                                         {"load", "nan"},         {"load", "x"},
                                         {"hush", "md5"},         {"nodes", "a"},
                                         {"size", "99999999999"}, {"unsigned_char", "maybe"}};
    assert_int_equal(cw_profile_options_set(&options, "hash", "md5", &error), CW_OK);
    assert_int_equal(cw_profile_options_set(&options, "points", "40", &error), CW_OK);
    assert_int_equal(cw_profile_options_set(&options, "load", "1.25", &error), CW_OK);
    assert_int_equal(cw_profile_options_set(&options, "unsigned_char", "yes", &error), CW_OK);
    assert_int_equal(cw_profile_options_set(&options, "topology", "text", &error), CW_OK);
    assert_string_equal(options.hash, "md5");
    assert_int_equal(options.points, 40);
    assert_true(options.load == 1.25 && options.unsigned_char == 1);
    assert_int_equal(options.topology_len, 4);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (cw_profile_options_set(&options, bad[i][0], bad[i][1], &error) != CW_EINVAL)
            fail_msg("%s=%s was taken", bad[i][0], bad[i][1]);
    assert_int_equal(options.points, 40);
    assert_string_equal(cw_profile_setting_name(CW_PROFILE_SERVER_KEY), "server_key");
    assert_non_null(cw_profile_setting_help(CW_PROFILE_UNSIGNED_CHAR));
    assert_null(cw_profile_setting_name((enum cw_profile_setting)(1 << 20)));
}

static void more_points_than_can_be_kept_are_refused(void **state)
{
    node heavy = {.address = "10.0.0.1:11211", .weight = 1000000};
    struct cw_profile_options options = {.nodes = &heavy, .node_count = 1};
    assert_refused("nginx-hash-consistent", &options, CW_EBAD_TOKENS, "smaller ones");
    heavy.weight = 1;
    options.size = 9000000;
    assert_refused("envoy-ring-hash", &options, CW_EINVAL, "above the greatest");
    options.size = options.size_max = 4000000000u;
    assert_refused("envoy-ring-hash", &options, CW_EBAD_TOKENS, "smaller ones");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_without_servers_is_refused),
        cmocka_unit_test(weights_are_judged_as_the_system_judges_them),
        cmocka_unit_test(addresses_that_the_system_would_not_understand_are_refused),
        cmocka_unit_test(what_would_be_ambiguous_is_refused),
        cmocka_unit_test(settings_that_a_profile_does_not_know_are_refused),
        cmocka_unit_test(settings_are_set_by_name_from_text),
        cmocka_unit_test(more_points_than_can_be_kept_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
