/*
 * What a wrong configuration is told, word for word.
 * covers: control/config_check, control/yaml_tree, control/problems
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "control/config_helper.h"

static void expect_bytes(const char *text, size_t len, const char *want)
{
    char lines[16384];
    struct config *config = read_text_of(text, len, lines, sizeof lines);
    if (config)
        fail_msg("taken:\n%s", text);
    if (strcmp(lines, want) != 0)
        fail_msg("\n%s\n--- said\n%s--- wanted\n%s", text, lines, want);
}

static void expect(const char *text, const char *want)
{
    expect_bytes(text, strlen(text), want);
}

/* A pool that would be fine, with one line more in it. */
static void expect_in_pool(const char *line, const char *want)
{
    char text[1024];
    snprintf(text, sizeof text,
             "pools:\n  a:\n    listen: 127.0.0.1:7400\n    nodes: [{id: x, address: 'h:1'}]\n"
             "    %s\n",
             line);
    expect(text, want);
}

static void expect_in_embedded_pool(const char *line, const char *want)
{
    char text[1024];
    snprintf(text, sizeof text,
             "pools:\n  a:\n    listen: 127.0.0.1:7400\n    engine: embedded\n    %s\n", line);
    expect(text, want);
}

/* The same with a line in front of it. */
static void expect_at_top(const char *line, const char *want)
{
    char text[1024];
    snprintf(text, sizeof text,
             "%s\npools: {a: {listen: '127.0.0.1:7400', nodes: [{id: x, address: 'h:1'}]}}\n",
             line);
    expect(text, want);
}

static void expect_node(const char *node, const char *want)
{
    char text[1024];
    snprintf(text, sizeof text, "pools:\n  a:\n    listen: 127.0.0.1:7400\n    nodes:\n    - %s\n",
             node);
    expect(text, want);
}

static void unknown_keys_are_placed_and_suggest(void **state)
{
    expect_node("{id: x, address: 'h:1', wieght: 2}",
                "f:5:31: pools.a.nodes[0]: unknown key 'wieght'; did you mean 'weight'?\n");
    expect_in_pool("timeuot: 1s",
                   "f:5:5: pools.a: unknown key 'timeuot'; did you mean 'timeout'?\n");
    expect_at_top("Limits: {}", "f:1:1: unknown key 'Limits'; did you mean 'limits'?\n");
    expect_at_top("qwertz: 1", "f:1:1: unknown key 'qwertz'; see `clockwise help --reference`\n");
    expect_at_top("limits: {valu: 1kb}",
                  "f:1:10: limits: unknown key 'valu'; did you mean 'value'?\n");
}

static void values_of_the_wrong_kind_are_placed(void **state)
{
    expect_at_top("workers: four", "f:1:10: workers: 'four' is not a whole number; use 0 to 256\n");
    expect_at_top("workers: [1]", "f:1:10: workers: is a list; write one value\n");
    expect_at_top("workers:", "f:1:9: workers: has no value; write one or leave the key out\n");
    expect_at_top("limits: 5", "f:1:9: limits: is a value; write a map of keys and values\n");
    expect_at_top("limits: [5]", "f:1:9: limits: is a list; write a map of keys and values\n");
    expect_at_top("data_dir: ''", "f:1:11: data_dir: is empty; give it a value or leave it out\n");
    expect_in_pool("timeout: 5",
                   "f:5:14: pools.a.timeout: '5' has no unit; write 5ms, 5s, 5m or 5h\n");
    expect_node("x", "f:5:7: pools.a.nodes[0]: is a value; write a map of keys and values\n");
    expect("- a\n", "f:1:1: is a list; write a map of keys and values\n");
    expect("pools: [a]\n", "f:1:8: pools: is a list; write a map from names to pools\n");
    expect("pools: {a: 5}\n", "f:1:12: pools.a: is a value; write a map of keys and values\n");
}

static void what_is_needed_is_asked_for(void **state)
{
    expect("", "f: is empty; write at least one pool (see `clockwise help --example`)\n");
    expect("# nothing\n",
           "f: is empty; write at least one pool (see `clockwise help --example`)\n");
    expect("workers: 1\n",
           "f:1:1: 'pools' is missing; write at least one pool (see `clockwise help "
           "--example`)\n");
    expect("pools:\n", "f:1:7: pools: is nothing; write a map from names to pools\n");
    expect("pools: {}\n", "f:1:8: pools: 0 pools; write 1 to 256\n");
    expect("pools: {a: {nodes: [{id: x, address: 'h:1'}]}}\n",
           "f:1:12: pools.a: 'listen' is missing; set it\n");
    expect("pools: {a: {listen: 'h:1'}}\n",
           "f:1:12: pools.a has no nodes; write nodes: and at least one\n");
    expect("pools: {a: {listen: 'h:1', nodes: []}}\n",
           "f:1:28: pools.a has no nodes; write nodes: and at least one\n");
    expect("pools: {a: {listen: {}, nodes: [{id: x, address: 'h:1'}]}}\n",
           "f:1:13: pools.a.listen: no address; write redis: host:port\n");
    expect_node("{address: 'h:1'}", "f:5:7: pools.a.nodes[0]: 'id' is missing; set it\n");
    expect_node("{id: x}", "f:5:7: node 'x' has no address; write address: host:port\n");
}

static void what_is_not_there_yet_says_so(void **state)
{
    expect_at_top("map_store: {etcd: ['http://127.0.0.1:2379']}",
                  "f:1:19: map_store.etcd: not supported yet; leave it out\n");
    expect("pools: {a: {listen: {redis: 'h:1', memcached: 'h:2'}, nodes: [{id: x, address: "
           "'h:3'}]}}\n",
           "f:1:47: pools.a.listen.memcached: not supported yet; leave it out\n");
}

static void every_problem_is_told_in_the_order_of_the_file(void **state)
{
    expect(
        "wrokers: 1\n"
        "limits: {value: 3xb, key: lots}\n"
        "pools:\n"
        "  a:\n"
        "    listen: nowhere\n"
        "    nodes:\n"
        "    - {id: x, weight: 0}\n"
        "    - {zone: z}\n",
        "f:1:1: unknown key 'wrokers'; did you mean 'workers'?\n"
        "f:2:17: limits.value: '3xb' has the unknown unit 'xb'; use b, kb, mb, gb or tb\n"
        "f:2:27: limits.key: 'lots' is not a whole number with a unit (b, kb, mb, gb or tb)\n"
        "f:5:13: pools.a.listen: 'nowhere' is no address: the port is missing (write host:port)\n"
        "f:7:23: pools.a.nodes[0].weight: '0' is out of range; use 1 to 1000000\n"
        "f:8:7: pools.a.nodes[1]: 'id' is missing; set it\n");
}

static void the_first_twenty_problems_are_told_and_the_rest_counted(void **state)
{
    char text[4096] = "", lines[16384];
    for (int i = 0; i < 30; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "qqq%d: 1\n", i);
    assert_null(read_text_of(text, strlen(text), lines, sizeof lines));
    assert_non_null(strstr(lines, "f:19:1: "));
    assert_null(strstr(lines, "f:20:1: "));
    assert_non_null(strstr(lines, "f: and 11 more\n"));
}

static void yaml_beyond_plain_maps_and_lists_is_refused(void **state)
{
    expect_at_top("a: &x {b: 1}\nlog: *x",
                  "f:1:1: unknown key 'a'; see `clockwise help --reference`\n"
                  "f:1:4: anchors (&name) are not supported; write the value where it is used\n"
                  "f:2:6: aliases (*name) are not supported; write the value out\n");
    expect_at_top("workers: !!int 3", "f:1:10: tags (!name) are not supported; leave it out\n");
    expect_at_top("log: {level: info}\nlog: {level: warn}",
                  "f:2:1: 'log' is here a second time; the first is in line 1\n");
    expect_at_top("{a: 1}: 2", "f:1:1: a key must be a word, not a map\n");
    expect("a: 1\n---\nb: 1\n", "f:2:1: a second document; a file has one\n");
    expect("pools:\n\ta: 1\n", "f:2:1: a tab; YAML is indented with blanks\n");
    expect("pools: {a: 1\n",
           "f:2:1: not YAML: did not find expected ',' or '}' while parsing a flow "
           "mapping\n");
    expect("a: 'b\n", "f:2:1: not YAML: found unexpected end of stream while scanning a quoted "
                      "scalar\n");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    expect_bytes(
        "a: 1\nb: \0\n", 10,
        "f:2:4: not text: a control character or a byte that is not UTF-8; is this YAML?\n");
    expect_bytes(
        "\x7f"
        "ELF\x02\x01",
        6, "f:1:1: not text: a control character or a byte that is not UTF-8; is this YAML?\n");
    expect("a: \xff\xfe\n",
           "f:1:4: not text: a control character or a byte that is not UTF-8; is this YAML?\n");
    expect_at_top("data_dir: \"a\\0b\"", "f:1:11: a NUL byte in a value\n");
    expect_at_top("\"\\e[31m\": 1",
                  "f:1:1: unknown key '?[31m'; see `clockwise help --reference`\n");
}

static void depth_keys_and_laughs_are_bounded(void **state)
{
    char text[64 << 10];
    memset(text, '[', 60000);
    text[60000] = 0;
    expect(text, "f:1:17: maps and lists are nested more than 16 deep\n");
    size_t len = 0;
    for (int i = 0; i < 1100; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "k%d: 1\n", i);
    expect(text, "f:1025:1: more than 1024 keys in one map; use fewer\n");
    expect_at_top("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
                  "f:1:1: unknown key 'a'; see `clockwise help --reference`\n"
                  "f:1:4: anchors (&name) are not supported; write the value where it is used\n"
                  "f:2:1: unknown key 'b'; see `clockwise help --reference`\n"
                  "f:2:4: anchors (&name) are not supported; write the value where it is used\n"
                  "f:2:8: aliases (*name) are not supported; write the value out\n"
                  "f:2:11: aliases (*name) are not supported; write the value out\n"
                  "f:3:1: unknown key 'c'; see `clockwise help --reference`\n"
                  "f:3:5: aliases (*name) are not supported; write the value out\n"
                  "f:3:8: aliases (*name) are not supported; write the value out\n");
}

static void pools_are_told_apart(void **state)
{
    expect("pools: {a/b: {listen: 'h:1', nodes: [{id: x, address: 'h:3'}]}}\n",
           "f:1:9: pools.a/b: 'a/b' is no name for a pool; use 1 to 63 letters, digits and . _ - "
           "and no dot in front\n");
    expect("pools:\n  a: {listen: 'h:1', nodes: [{id: x, address: 'h:3'}]}\n"
           "  b: {listen: 'h:1', nodes: [{id: x, address: 'h:3'}]}\n",
           "f:3:7: pools 'a' and 'b' both listen on h:1; give each its own address\n");
    expect("pools:\n  a: {listen: 'h:1', nodes: [{id: x, address: 'h:3'}]}\n"
           "  a: {listen: 'h:2', nodes: [{id: x, address: 'h:3'}]}\n",
           "f:3:3: 'a' is here a second time; the first is in line 2\n");
    expect_at_top("admin: 127.0.0.1:7400",
                  "f:2:13: pool 'a' listens on 127.0.0.1:7400, which is the admin address; change "
                  "one of them\n");
    expect_at_top("admin: unix:/run/a.sock",
                  "f:1:1: admin: 'unix:/run/a.sock' is a socket's path, over which no HTTP is "
                  "served; write host:port\n");
}

static void nodes_are_told_apart(void **state)
{
    expect_in_pool("placement: slots\n  b:\n    listen: h:9\n    nodes:\n"
                   "    - {id: y, address: 'h:1'}\n"
                   "    - {id: y, address: 'h:2'}\n"
                   "    - {id: z, address: 'h:2'}",
                   "f:10:8: node id 'y' is here a second time; the first is in line 9\n"
                   "f:11:15: nodes 'y' and 'z' have the same address h:2; each is a server of its "
                   "own\n");
    expect_node("{id: x, address: '127.0.0.1:0'}",
                "f:5:15: node 'x' has port 0, on which no server can be reached; write its port\n");
    expect_node("{id: x, address: '127.0.0.1:7400'}",
                "f:5:15: node 'x' has the address on which the router itself listens; name the "
                "server's\n");
}

static void what_the_map_refuses_is_placed_at_its_node(void **state)
{
    expect_node("{id: 'a b', address: 'h:1'}",
                "f:5:8: node id 'a b': use 1 to 63 letters, digits and . _ - : @ / [ ]\n");
    expect_node("{id: x, address: 'h:1', zone: 'a b'}",
                "f:5:31: node 'x' has zone 'a b': use at most 63 letters, digits and . _ - : @ / [ "
                "]\n");
    expect_node("{id: x, address: 'unix:/a b'}",
                "f:5:15: node 'x' has address 'unix:/a b': use at most 255 printable characters "
                "without space, quotes and backslash\n");
    expect_in_pool("slots: 1000", "f:5:5: 1000 slots: use a power of two from 64 to 16777216\n");
    expect_in_pool("placement: ring\n    tokens: 70000",
                   "f:6:13: pools.a.tokens: '70000' is out of range; use 1 to 65536\n");
}

static void keys_without_a_meaning_are_refused(void **state)
{
    expect_in_pool("tokens: 5", "f:5:5: pools.a.tokens: only with placement ring; leave it out\n");
    expect_in_pool("placement: ring\n    slots: 64",
                   "f:6:5: pools.a.slots: only with placement slots; leave it out\n");
    expect_in_pool("durability: no",
                   "f:5:5: pools.a.durability: only with engine embedded; leave it out\n");
    expect_in_pool(
        "username: u",
        "f:5:5: pools.a.username: only with a password for engine redis; leave it out\n");
    expect_in_pool("size_max: 1gb",
                   "f:5:5: pools.a.size_max: only with engine embedded; leave it out\n");
    expect_in_embedded_pool("nodes: [{id: x}]\n    password: p",
                            "f:6:5: pools.a.password: only with engine redis; leave it out\n");
}

static void embedded_nodes_have_no_address_and_ids_that_are_folders(void **state)
{
    expect_in_embedded_pool("nodes: [{id: x, address: 'h:1'}]",
                            "f:5:21: node 'x' is embedded in the router and has no address; leave "
                            "it out\n");
    expect_in_embedded_pool("nodes: [{id: ../x}]",
                            "f:5:14: '../x' is no id for an embedded node, whose folder it names; "
                            "use no '/' and no '.' in front\n");
}

static void values_that_contradict_each_other_are_refused(void **state)
{
    expect_at_top("limits: {value: 2kb, key: 3kb}",
                  "f:1:22: limits.key: 3kb is more than limits.value, which is 2kb; raise that or "
                  "lower this\n");
    expect_at_top("limits: {request: 2mb}",
                  "f:1:9: limits.value: 64mb is more than limits.request, which is 2mb; raise that "
                  "or lower this\n");
    expect_in_pool("probe_interval: 10s",
                   "f:5:5: pools.a.probe_interval: 10000ms is more than probe_interval_max, which "
                   "is 5000ms\n");
}

static void commands_that_cannot_be_are_refused(void **state)
{
    expect_in_pool("commands: [{name: get}]",
                   "f:5:17: command 'get' is known anyway; leave it out\n");
    expect_in_pool("commands: [{name: a b}]",
                   "f:5:17: 'a b' is no name for a command; use letters, digits and . _ -\n");
    expect_in_pool("commands: [{name: x.y, first_key: 3, arity: 4, last_key: 2}]",
                   "f:5:52: command 'x.y': last_key 2 is before first_key 3\n");
    expect_in_pool("commands: [{name: x.y, arity: 1}]",
                   "f:5:28: command 'x.y': arity 1 leaves no room for first_key 1\n");
    expect_in_pool("commands: {name: x.y}",
                   "f:5:15: pools.a.commands: is a map; write a list, each item behind a '-'\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_keys_are_placed_and_suggest),
        cmocka_unit_test(values_of_the_wrong_kind_are_placed),
        cmocka_unit_test(what_is_needed_is_asked_for),
        cmocka_unit_test(what_is_not_there_yet_says_so),
        cmocka_unit_test(every_problem_is_told_in_the_order_of_the_file),
        cmocka_unit_test(the_first_twenty_problems_are_told_and_the_rest_counted),
        cmocka_unit_test(yaml_beyond_plain_maps_and_lists_is_refused),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(depth_keys_and_laughs_are_bounded),
        cmocka_unit_test(pools_are_told_apart),
        cmocka_unit_test(nodes_are_told_apart),
        cmocka_unit_test(what_the_map_refuses_is_placed_at_its_node),
        cmocka_unit_test(keys_without_a_meaning_are_refused),
        cmocka_unit_test(embedded_nodes_have_no_address_and_ids_that_are_folders),
        cmocka_unit_test(values_that_contradict_each_other_are_refused),
        cmocka_unit_test(commands_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
