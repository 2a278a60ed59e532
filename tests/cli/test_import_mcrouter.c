/* covers: cli/import_yaml */
#include "cli/import_helper.h"

#define LISTEN "    listen: 127.0.0.1:7400  # chosen: the file names none\n"
#define ENGINE "    engine: memcached  # for locate and plan: serve does not route it yet\n"

static void gives(const char *text, const char *pools)
{
    becomes(&import_format_mcrouter, NULL, text, pools);
}

static void wrong(const char *text, const char *remark)
{
    says(&import_format_mcrouter, NULL, IMPORT_WRONG, text, remark);
}

static void moves(const char *text, const char *remark)
{
    says(&import_format_mcrouter, NULL, IMPORT_MOVES, text, remark);
}

static void a_pool_without_a_hash_is_ch3(void **state)
{
    gives("// a comment\n{\"pools\": {\"A\": {\n\t\"servers\": [ \"10.0.0.3:11211\", /* x */ "
          "\"[::1]:11211\",\n\"10.0.0.1:5001:ascii:plain\"], \"server_timeout\": 200}},\n"
          "\"route\": \"PoolRoute|A\"}\n",
          "  A:\n" LISTEN ENGINE "    placement: mcrouter-ch3\n    timeout: 200ms\n    nodes:\n"
          "      - {id: 10.0.0.3:11211, address: 10.0.0.3:11211}\n"
          "      - {id: \"[::1]:11211\", address: \"[::1]:11211\"}\n"
          "      - {id: 10.0.0.1:5001, address: 10.0.0.1:5001}\n");
}

static void the_route_says_the_hash_and_its_salt(void **state)
{
    gives("{\"pools\":{\"A\":{\"servers\":[\"a:1\",\"b:2\"]}},\"route\":{\"type\":\"PoolRoute\","
          "\"pool\":\"A\",\"hash\":{\"hash_func\":\"Crc32\",\"salt\":\"x y\"}}}",
          "  A:\n" LISTEN ENGINE "    placement: mcrouter-crc32\n    profile: {salt: \"x y\"}\n"
          "    nodes:\n      - {id: a:1, address: a:1}\n      - {id: b:2, address: b:2}\n");
}

static void weights_of_the_pool_or_the_route_are_carried_over(void **state)
{
    gives("{\"servers\":[\"a:1\",\"b:2\"],\"weights\":[1,0.1]}",
          "  pool:\n" LISTEN ENGINE "    placement: mcrouter-weighted-ch3\n    nodes:\n"
          "      - {id: a:1, address: a:1}\n"
          "      - {id: b:2, address: b:2, weight: 0.10000000000000001}\n");
    says(&import_format_mcrouter, NULL, IMPORT_NOTE,
         "{\"servers\":[\"a:1\",\"b:2\"],\n\"weights\":[0.25]}",
         "f:2: option 'weights': 1 for 2 servers; mcrouter takes 0.5");
    wrong("{\"servers\":[\"a:1\"],\"hash\":\"WeightedCh3\"}",
          "option 'weights': WeightedCh3 wants a list of weights");
    wrong("{\"servers\":[\"a:1\"],\"weights\":[\"x\"]}", "'x' is not a number of 0 or more");
    wrong("{\"servers\":[\"a:1\"],\"weights\":[-1]}", "'-1' is not a number of 0 or more");
    wrong("{\"servers\":[\"a:1\"],\"weights\":[2]}", "weight 2: use a number from 0 to 1");
}

static void rendezvous_hashes_tags(void **state)
{
    gives("{\"servers\":[\"a:1\",\"b:2\"],\"tags\":[\"x\",\"y z\"],\"hash\":{\"hash_func\":"
          "\"WeightedRendezvous\",\"weights\":{\"y z\":3}}}",
          "  pool:\n" LISTEN ENGINE "    placement: mcrouter-weighted-rendezvous\n    nodes:\n"
          "      - {id: a:1, address: a:1, name: x, weight: 0.5}\n"
          "      - {id: b:2, address: b:2, name: \"y z\", weight: 3}\n");
    wrong("{\"servers\":[\"a:1\",\"b:2\"],\n\"hash\":\"Rendezvous\",\"tags\":[\"x\"]}",
          "f:2: option 'tags': pool 'pool' is asked by rendezvous hashing");
}

static void several_pools_are_several_pools_and_one_can_be_named(void **state)
{
    static const char text[] = "{\"pools\":{\"A\":{\"servers\":[\"a:1\"]},\"B\":{\"servers\":"
                               "[\"b:1\"]}},\"route\":\"PoolRoute|B\"}";
    import_from(&import_format_mcrouter, NULL, text, strlen(text));
    assert_int_equal(imported.import.pool_count, 2);
    done();
    import_from(&import_format_mcrouter, "B", text, strlen(text));
    assert_string_equal(imported.import.pools[0].name, "B");
    assert_int_equal(imported.import.pool_count, 1);
    done();
}

#define POOLS "{\"pools\":{\"A\":{\"servers\":[\"a:1\",\"b:2\"]}},\n\"route\":"

static void what_chooses_between_pools_moves_keys(void **state)
{
    moves(POOLS "{\"type\":\"AllSyncRoute\",\"children\":[\"PoolRoute|A\"]}}",
          "f:2: option 'type': AllSyncRoute chooses between");
    moves(POOLS "{\"type\":\"PoolRoute\",\"pool\":\"A\",\"hash\":\"Latest\"}}",
          "f:2: option 'hash_func': no profile has 'Latest'");
    moves(POOLS "{\"type\":\"PoolRoute\",\"pool\":\"A\",\"shard_splits\":{}}}",
          "f:2: option 'shard_splits': places keys by more than the hash");
    moves(POOLS "[\"PoolRoute|A\",{\"type\":\"PoolRoute\",\"pool\":\"A\",\"hash\":\"Crc32\"}]}",
          "f:2: option 'hash': pool 'A' is asked by Crc32 here and by Ch3 above");
}

static void what_is_not_carried_over_is_said(void **state)
{
    says(&import_format_mcrouter, NULL, IMPORT_NOTE,
         POOLS "{\"type\":\"FailoverRoute\",\"children\":[\"Pool|A\"]}}",
         "f:2: option 'type': FailoverRoute is not carried over");
    says(&import_format_mcrouter, NULL, IMPORT_NOTE,
         POOLS "{\"type\":\"PoolRoute\",\"pool\":\"A\",\"shadows\":[]}}",
         "f:2: option 'shadows': not carried over");
    says(&import_format_mcrouter, NULL, IMPORT_NOTE,
         "{\"servers\":[\"a:1\"],\n\"qos\":{\"class\":1}}", "f:2: option 'qos': not carried over");
}

static void mistakes_have_their_line(void **state)
{
    wrong("{\"pools\":{},\n}", "f:2: not JSON: ");
    wrong("{\"a\":1,\"a\":2}", "f:1: not JSON: duplicate");
    wrong("[1]", "f:1: no JSON object");
    wrong("{\"pools\":1}", "f:1: no map of \"pools\"");
    wrong("{\"pools\":{\"A\":{\"servers\":[]}}}", "f:1: pool 'A' has no list of servers");
    wrong("{\"pools\":{\n\"A\":{\"servers\":[\n\"h\"]}}}", "f:3: server 'h': write host:port");
    wrong("{\"servers\":[\"h:0\"]}", "f:1: server 'h:0': write host:port");
    wrong("{\"servers\":[\"::1:5\"]}", "f:1: server '::1:5': write host:port");
    wrong("{\"servers\":[{\"type\":\"NullRoute\"}]}", "f:1: a server that is a route of its own");
    wrong("{\"servers\":[\"a:1\"],\"inherit\":\"B\"}", "option 'inherit': write the other pool's");
    wrong(POOLS "\"PoolRoute|B\"}", "f:2: no pool of the name 'B'");
    wrong("{\"pools\":{\"A\":{\"servers\":[\"a:1\"]}},\"macros\":{}}", "macros are not expanded");
    wrong("{\"servers\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}", "nested more than 16 deep");
}

static void it_is_recognised_by_its_servers(void **state)
{
    assert_true(import_format_mcrouter.looks_like(" {\"servers\":[]}"));
    assert_true(import_format_mcrouter.looks_like("/* */{\"servers\":[]}"));
    assert_false(import_format_mcrouter.looks_like("x {\"servers\":[]}"));
    assert_false(import_format_mcrouter.looks_like("{}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_without_a_hash_is_ch3),
        cmocka_unit_test(the_route_says_the_hash_and_its_salt),
        cmocka_unit_test(weights_of_the_pool_or_the_route_are_carried_over),
        cmocka_unit_test(rendezvous_hashes_tags),
        cmocka_unit_test(several_pools_are_several_pools_and_one_can_be_named),
        cmocka_unit_test(what_chooses_between_pools_moves_keys),
        cmocka_unit_test(what_is_not_carried_over_is_said),
        cmocka_unit_test(mistakes_have_their_line),
        cmocka_unit_test(it_is_recognised_by_its_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
