/*
 * What a right configuration becomes.
 * covers: control/config_router, control/config_file
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clockwise/clockwise.h>

#include "control/options.h"
#include "control/yaml_tree.h"
#include "router/router.h"
#include "store/embedded_node.h"
#include "control/config_helper.h"

static struct config *read_good(const char *text)
{
    char lines[4096];
    struct config *config = read_text_of(text, strlen(text), lines, sizeof lines);
    if (!config)
        fail_msg("%s", lines);
    return config;
}

static const char full[] =
    "# everything\n"
    "workers: 1\n"
    "data_dir: /tmp/data\n"
    "admin: 'off'\n"
    "log: {level: warn}\n"
    "limits:\n"
    "  clients: 17\n"
    "  pipeline: 18\n"
    "  client_memory: 1mb\n"
    "  arguments: 20\n"
    "  key: 1kb\n"
    "  value: 2kb\n"
    "  request: 3kb\n"
    "  inline: 1024\n"
    "  reply: 4kb\n"
    "  node_queue: 21\n"
    "  own_connections: 22\n"
    "  half_request: 5s\n"
    "  idle: 1h\n"
    "pools:\n"
    "  sessions:\n"
    "    listen: {redis: '127.0.0.1:7400'}\n"
    "    engine: redis\n"
    "    placement: ring\n"
    "    tokens: 40\n"
    "    connections: 2\n"
    "    timeout: 250ms\n"
    "    probe_interval: 200ms\n"
    "    probe_interval_max: 2s\n"
    "    on_node_down: miss\n"
    "    username: u\n"
    "    password: p w\n"
    "    client_password: \"c\"\n"
    "    commands:\n"
    "      - {name: JSON.GET, arity: -2, write: no}\n"
    "      - {name: TWO.KEYS, arity: 3, first_key: 1, last_key: 2, step: 1}\n"
    "    nodes:\n"
    "      - {id: cache-1, address: 10.0.0.1:6379, weight: 1, zone: a}\n"
    "      - id: cache-2\n"
    "        address: \"[::1]:6379\"\n"
    "        weight: 2\n"
    "        zone: ''\n"
    "  local:\n"
    "    listen: unix:/run/clockwise.sock\n"
    "    engine: embedded\n"
    "    slots: 1024\n"
    "    durability: always\n"
    "    size_max: 8gb\n"
    "    nodes: [{id: n1}, {id: n2}]\n";

static void every_key_arrives_at_the_router(void **state)
{
    struct config *config = read_good(full);
    struct router_options options;
    assert_int_equal(config_to_router(config, &options), 0);
    assert_int_equal(options.worker_count, 1);
    assert_int_equal(options.limits.client_count_max, 17);
    assert_int_equal(options.limits.pipeline_max, 18);
    assert_int_equal(options.limits.client_memory_max, 1 << 20);
    assert_int_equal(options.limits.request.arg_count_max, 20);
    assert_int_equal(options.limits.key_len_max, 1024);
    assert_int_equal(options.limits.request.arg_len_max, 2048);
    assert_int_equal(options.limits.request.request_len_max, 3072);
    assert_int_equal(options.limits.request.inline_len_max, 1024);
    assert_int_equal(options.limits.reply_len_max, 4096);
    assert_int_equal(options.limits.node_queue_max, 21);
    assert_int_equal(options.limits.own_links_max, 22);
    assert_int_equal(options.limits.half_request_ms, 5000);
    assert_int_equal(options.limits.idle_ms, 3600000);
    assert_int_equal(options.pool_count, 2);
    free((void *)(uintptr_t)options.pools);
    config_destroy(&config);
}

static void a_redis_pool_arrives_with_all_its_settings(void **state)
{
    struct config *config = read_good(full);
    struct router_options options;
    assert_int_equal(config_to_router(config, &options), 0);
    const struct pool_settings *pool = &options.pools[0];
    assert_string_equal(pool->name, "sessions");
    assert_string_equal(pool->listen, "127.0.0.1:7400");
    assert_int_equal(pool->engine, ENGINE_REDIS);
    assert_int_equal(pool->connections, 2);
    assert_int_equal(pool->timeout_ms, 250);
    assert_int_equal(pool->probe_interval_ms, 200);
    assert_int_equal(pool->probe_interval_max_ms, 2000);
    assert_int_equal(pool->on_node_down, NODE_DOWN_MISS);
    assert_string_equal(pool->username, "u");
    assert_string_equal(pool->password, "p w");
    assert_string_equal(pool->client_password, "c");
    assert_int_equal(cw_map_placement(pool->map), CW_PLACEMENT_RING);
    assert_int_equal(cw_map_node_count(pool->map), 2);
    assert_string_equal(cw_map_node(pool->map, 1)->address, "[::1]:6379");
    assert_int_equal(cw_map_node(pool->map, 1)->weight, 2);
    assert_string_equal(cw_map_node(pool->map, 0)->zone, "a");
    free((void *)(uintptr_t)options.pools);
    config_destroy(&config);
}

static void commands_of_modules_are_read(void **state)
{
    struct config *config = read_good(full);
    const struct config_pool *pool = config_find_pool(config, "sessions");
    assert_int_equal(pool->command_count, 2);
    assert_string_equal(pool->commands[0].name, "JSON.GET");
    assert_int_equal(pool->commands[0].arity, -2);
    assert_int_equal(pool->commands[0].first_key, 1);
    assert_int_equal(pool->commands[0].write, 0);
    assert_int_equal(pool->commands[1].arity, 3);
    assert_int_equal(pool->commands[1].last_key, 2);
    assert_int_equal(pool->commands[1].write, 1);
    config_destroy(&config);
}

static void embedded_nodes_get_addresses_inside_the_process(void **state)
{
    struct config *config = read_good(full);
    const struct config_pool *pool = config_find_pool(config, "local");
    assert_int_equal(pool->engine, ENGINE_EMBEDDED);
    assert_int_equal(pool->durability, DURABILITY_ALWAYS);
    assert_int_equal(pool->size_max, 8LL << 30);
    assert_int_equal(cw_map_slot_count(pool->map), 1024);
    assert_string_equal(cw_map_node(pool->map, 0)->address, "inproc:local/n1");
    assert_string_equal(cw_map_node(pool->map, 1)->address, "inproc:local/n2");
    config_destroy(&config);
}

static void the_rest_of_the_file_arrives(void **state)
{
    struct config *config = read_good(full);
    assert_string_equal(config->data_dir, "/tmp/data");
    assert_string_equal(config->admin, "off");
    assert_int_equal(config->log_level, 2);
    assert_null(config_find_pool(config, "other"));
    config_destroy(&config);
}

static void the_default_is_three_embedded_nodes(void **state)
{
    struct config *config = config_default();
    struct problems problems;
    problems_init(&problems);
    assert_int_equal(config_make_maps(config, &problems), 0);
    assert_int_equal(config->pool_count, 1);
    assert_string_equal(config->pools[0].name, "default");
    assert_string_equal(config->pools[0].listen, "127.0.0.1:7400");
    assert_int_equal(config->pools[0].node_count, 3);
    assert_string_equal(config->admin, "127.0.0.1:7480");
    assert_string_equal(config->data_dir, "./clockwise-data");
    assert_int_equal(config->limits.clients, 10000);
    assert_in_range(config_worker_count(config), 1, 4);
    config_destroy(&config);
}

static void the_order_of_nodes_and_the_way_they_are_written_never_matter(void **state)
{
    static const char *const texts[] = {
        "pools: {a: {listen: '127.0.0.1:1', nodes: [{id: x, address: 'h:1'}, {id: y, address: "
        "'h:2'}]}}",
        "\xef\xbb\xbfpools:\r\n  a:\r\n    listen: 127.0.0.1:1\r\n    nodes:\r\n    - address: "
        "h:2\r\n      id: \"y\"\r\n    - id: x\r\n      address: h:1\r\n      weight: 1\r\n",
        "---\n{\"pools\": {\"a\": {\"listen\": {\"redis\": \"127.0.0.1:1\"}, \"nodes\": [{\"id\": "
        "\"y\", \"address\": \"h:2\"}, {\"id\": \"x\", \"address\": \"h:1\"}]}}}\n...\n",
    };
    char *first = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct config *config = read_good(texts[i]);
        char *text = NULL;
        size_t len;
        assert_int_equal(cw_map_to_text(config->pools[0].map, &text, &len), CW_OK);
        if (first)
            assert_string_equal(text, first);
        else
            first = strdup(text);
        free(text);
        config_destroy(&config);
    }
    free(first);
}

static void yaml_words_stay_text(void **state)
{
    struct config *config = read_good("pools: {a: {listen: '127.0.0.1:1', client_password: null,\n"
                                      "  nodes: [{id: 0x10, address: 'h:1', zone: no}]}}");
    assert_string_equal(config->pools[0].nodes[0].id, "0x10");
    assert_string_equal(config->pools[0].nodes[0].zone, "no");
    assert_string_equal(config->pools[0].client_password, "null");
    config_destroy(&config);
}

static void sections_left_empty_keep_their_defaults(void **state)
{
    struct config *config = read_good("limits:\nlog: {}\npools:\n  a:\n    listen: 127.0.0.1:1\n"
                                      "    nodes: [{id: x, address: 'h:1'}]\n    commands: []\n");
    assert_int_equal(config->limits.pipeline, 1024);
    assert_int_equal(config->log_level, 1);
    config_destroy(&config);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void expect_file_problem(const char *path, const char *want)
{
    struct problems problems;
    struct config *config = NULL;
    problems_init(&problems);
    assert_true(config_read(path, &problems, &config) < 0);
    assert_null(config);
    assert_int_equal(problems.count, 1);
    assert_string_equal(problems.items[0].message, want);
}

static void files_that_cannot_be_read_say_why(void **state)
{
    char path[] = "/tmp/clockwise-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    expect_file_problem("/nonexistent/x.yaml", "no such file");
    expect_file_problem("/tmp", "is a folder; name a file in it");
    expect_file_problem("/dev/zero", "is neither a file nor a pipe");
    expect_file_problem(path, "is empty; write at least one pool (see `clockwise help --example`)");
    assert_int_equal(ftruncate(file, 100 << 20), 0);
    expect_file_problem(path, "is larger than 16mb; is this the configuration?");
    close(file);
    unlink(path);
}

static void a_file_reads_like_its_text(void **state)
{
    char path[] = "/tmp/clockwise-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, full, strlen(full)), strlen(full));
    close(file);
    struct problems problems;
    struct config *config = NULL;
    problems_init(&problems);
    assert_int_equal(config_read(path, &problems, &config), 0);
    assert_int_equal(config->pool_count, 2);
    config_destroy(&config);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_arrives_at_the_router),
        cmocka_unit_test(a_redis_pool_arrives_with_all_its_settings),
        cmocka_unit_test(commands_of_modules_are_read),
        cmocka_unit_test(embedded_nodes_get_addresses_inside_the_process),
        cmocka_unit_test(the_rest_of_the_file_arrives),
        cmocka_unit_test(the_default_is_three_embedded_nodes),
        cmocka_unit_test(the_order_of_nodes_and_the_way_they_are_written_never_matter),
        cmocka_unit_test(yaml_words_stay_text),
        cmocka_unit_test(sections_left_empty_keep_their_defaults),
        cmocka_unit_test(files_that_cannot_be_read_say_why),
        cmocka_unit_test(a_file_reads_like_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
