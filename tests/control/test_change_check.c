/*
 * Wishes compared with a map: what becomes of them, and what is refused before any node is asked.
 * covers: control/change_check, control/change_json
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/change_check.h"
#include "control/change_json.h"

/* Nodes a, b and c, at generation 1. */
static struct cw_map *make_map(enum cw_placement placement)
{
    static const struct cw_node nodes[] = {
        {"a", "127.0.0.1:1", "x", 1}, {"b", "127.0.0.1:2", "y", 1}, {"c", "127.0.0.1:3", "", 2}};
    struct cw_map_options options = {.placement = placement, .nodes = nodes, .node_count = 3};
    struct cw_map *map = NULL;
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    return map;
}

struct tried {
    struct cw_map *map;
    struct change_request request;
    struct change change;
    struct change_problem problem;
    bool ok;
};

static struct tried try_it(const char *text, bool is_embedded)
{
    struct tried tried = {.map = make_map(CW_PLACEMENT_SLOTS)};
    struct change_pool pool = {"main", is_embedded, tried.map};
    if (!change_request_parse(text, strlen(text), &tried.request, &tried.problem))
        fail_msg("%s: %s", text, tried.problem.text);
    tried.ok = change_make(&pool, &tried.request, &tried.change, &tried.problem);
    return tried;
}

static void release(struct tried *tried)
{
    change_release(&tried->change);
    change_request_release(&tried->request);
    cw_map_unref(&tried->map);
}

static void assert_refused(const char *text, int status, const char *reason)
{
    struct tried tried = try_it(text, false);
    if (tried.ok)
        fail_msg("accepted: %s", text);
    if (!strstr(tried.problem.text, reason))
        fail_msg("%s\n  refused with: %s\n  wanted: %s", text, tried.problem.text, reason);
    assert_int_equal(tried.problem.status, status);
    release(&tried);
}

static void assert_made(const char *text, enum transition_kind kind, size_t count, const char *what)
{
    struct tried tried = try_it(text, false);
    if (!tried.ok)
        fail_msg("%s: %s", text, tried.problem.text);
    assert_string_equal(tried.change.what, what);
    assert_int_equal(tried.change.is_change, *what != 0);
    assert_int_equal(tried.change.kind, kind);
    assert_int_equal(tried.change.count, count);
    release(&tried);
}

#define NODE_A "{\"id\":\"a\",\"address\":\"127.0.0.1:1\",\"zone\":\"x\"}"
#define NODE_B "{\"id\":\"b\",\"address\":\"127.0.0.1:2\",\"zone\":\"y\"}"
#define NODE_C "{\"id\":\"c\",\"address\":\"127.0.0.1:3\",\"weight\":2}"

static void every_wish_becomes_its_change(void **state)
{
    assert_made("{\"add\":[{\"id\":\"d\",\"address\":\"h:1\"}],\"drain\":[\"a\"],"
                "\"weight\":[{\"id\":\"b\",\"weight\":3}]}",
                TRANSITION_CHANGE, 3, "drain a, weight b 1 to 3, add d");
    assert_made("{\"nodes\":[" NODE_C "," NODE_A "]}", TRANSITION_CHANGE, 2, "drain b");
    assert_made("{\"dead\":\"b\"}", TRANSITION_DEAD, 2, "dead b");
    assert_made("{\"replace\":{\"id\":\"b\",\"address\":\"h:9\"}}", TRANSITION_REPLACE, 3,
                "replace b 127.0.0.1:2 with h:9");
    assert_made("{\"placement\":\"ring\",\"tokens\":160}", TRANSITION_CHANGE, 3,
                "placement slots to ring");
}

static void another_placement_gets_its_map_made(void **state)
{
    struct tried tried = try_it("{\"placement\":\"ring\",\"tokens\":7}", false);
    assert_true(tried.ok);
    assert_int_equal(cw_map_placement(tried.change.to), CW_PLACEMENT_RING);
    assert_int_equal(cw_map_generation(tried.change.to), 2);
    assert_int_equal(cw_map_node_count(tried.change.to), 3);
    release(&tried);
}

static void a_file_with_one_new_address_replaces_that_node(void **state)
{
    assert_made("{\"nodes\":[" NODE_A "," NODE_C ",{\"id\":\"b\",\"address\":\"h:9\",\"zone\":"
                "\"y\"}]}",
                TRANSITION_REPLACE, 3, "replace b 127.0.0.1:2 with h:9");
    assert_refused("{\"nodes\":[" NODE_A ",{\"id\":\"b\",\"address\":\"h:9\",\"zone\":\"y\"}]}",
                   -EINVAL, "clockwise node replace b h:9");
}

static void what_is_as_wanted_is_no_change(void **state)
{
    assert_made("{\"nodes\":[" NODE_C "," NODE_A "," NODE_B "],\"slots\":16384,\"engine\":"
                "\"redis\",\"placement\":\"slots\",\"generation\":1}",
                TRANSITION_CHANGE, 3, "");
    assert_made("{\"weight\":[{\"id\":\"c\",\"weight\":2}]}", TRANSITION_CHANGE, 3, "");
    assert_made("{\"replace\":{\"id\":\"a\",\"address\":\"127.0.0.1:1\"}}", TRANSITION_REPLACE, 3,
                "");
}

static void removing_every_node_is_refused(void **state)
{
    assert_refused("{\"drain\":[\"a\",\"b\",\"c\"]}", -EINVAL, "would remove every node");
    assert_refused("{\"nodes\":[]}", -EINVAL, "would remove every node");
    assert_refused("{\"nodes\":[{\"id\":\"d\",\"address\":\"h:1\"}]}", -EINVAL,
                   "none of those that it has is among the 1 wanted; add the new ones first");
}

static void what_is_fixed_for_a_pools_life_is_refused(void **state)
{
    assert_refused("{\"nodes\":[" NODE_A "],\"slots\":1024}", -EINVAL, "write slots: 16384");
    assert_refused("{\"nodes\":[" NODE_A "],\"engine\":\"embedded\"}", -EINVAL,
                   "never changes it to embedded; write engine: redis");
    assert_refused("{\"placement\":\"profile\"}", -EINVAL, "cannot change to a profile");
    assert_refused("{\"placement\":\"ring\",\"tokens\":70000}", -EINVAL, "tokens");
    assert_refused("{\"placement\":\"jump\"}", -EINVAL, "jump");
    assert_refused("{\"placement\":\"rings\"}", -EINVAL, "use ring");
}

static void a_generation_that_changed_since_the_plan_is_refused(void **state)
{
    assert_refused("{\"drain\":[\"a\"],\"generation\":4}", -ESTALE,
                   "is at generation 1, and the plan was made on 4");
}

static void nodes_that_are_not_there_or_are_already_are_refused(void **state)
{
    assert_refused("{\"drain\":[\"d\"]}", -ENOENT, "has no node 'd'");
    assert_refused("{\"dead\":\"zz\"}", -ENOENT, "clockwise status");
    assert_refused("{\"weight\":[{\"id\":\"e\",\"weight\":1}]}", -ENOENT, "has no node 'e'");
    assert_refused("{\"replace\":{\"id\":\"e\",\"address\":\"h:1\"}}", -ENOENT, "no node 'e'");
    assert_refused("{\"add\":[{\"id\":\"a\",\"address\":\"h:1\"}]}", -EINVAL, "'a' already");
    assert_refused("{\"drain\":[\"a\"],\"add\":[{\"id\":\"a\",\"address\":\"h:1\"}]}", -EINVAL,
                   "'a' already");
    assert_refused("{\"nodes\":[" NODE_A "," NODE_A "]}", -EINVAL, "twice");
}

static void addresses_are_looked_at(void **state)
{
    assert_refused("{\"add\":[{\"id\":\"d\"}]}", -EINVAL, "no address");
    assert_refused("{\"add\":[{\"id\":\"d\",\"address\":\"nonsense\"}]}", -EINVAL, "node 'd': ");
    assert_refused("{\"add\":[{\"id\":\"d\",\"address\":\"127.0.0.1:2\"}]}", -EINVAL,
                   "'b' and 'd' would be one server");
    assert_refused("{\"replace\":{\"id\":\"a\",\"address\":\"127.0.0.1:2\"}}", -EINVAL,
                   "would be one server");
}

/* A wish for so many nodes more. */
static struct tried try_to_add(unsigned count)
{
    char text[4000] = "{\"add\":[";
    for (unsigned i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "{\"id\":\"n-%u\"}%s", i,
                 i + 1 < count ? "," : "]}");
    return try_it(text, true);
}

static void no_pool_gets_more_embedded_nodes_than_a_file_may_have(void **state)
{
    struct tried tried = try_to_add(61);
    assert_true(tried.ok);
    release(&tried);
    tried = try_to_add(62);
    assert_false(tried.ok);
    assert_non_null(strstr(tried.problem.text, "would have 65 embedded nodes, and at most 64"));
    release(&tried);
}

static void embedded_nodes_get_their_address_from_the_router(void **state)
{
    struct tried tried = try_it("{\"add\":[{\"id\":\"d\"}]}", true);
    assert_true(tried.ok);
    assert_string_equal(tried.change.nodes[3].address, "inproc:main/d");
    release(&tried);
    tried = try_it("{\"add\":[{\"id\":\"d\",\"address\":\"h:1\"}]}", true);
    assert_false(tried.ok);
    assert_non_null(strstr(tried.problem.text, "is embedded"));
    release(&tried);
    tried = try_it("{\"replace\":{\"id\":\"a\",\"address\":\"h:1\"}}", true);
    assert_false(tried.ok);
    assert_non_null(strstr(tried.problem.text, "is embedded"));
    release(&tried);
}

static void words_that_are_too_many_end_with_dots(void **state)
{
    static char text[20000];
    size_t len = (size_t)snprintf(text, sizeof text, "{\"add\":[");
    for (int i = 0; i < 200; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s{\"id\":\"node-%d\",\"address\":\"h:%d\"}", i ? "," : "", i,
                                i + 1);
    snprintf(text + len, sizeof text - len, "]}");
    struct tried tried = try_it(text, false);
    assert_true(tried.ok);
    size_t words = strlen(tried.change.what);
    assert_true(words > 300 && words < sizeof tried.change.what);
    assert_string_equal(tried.change.what + words - strlen(", …"), ", …");
    release(&tried);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static double real_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void a_plan_tells_shares_and_estimates(void **state)
{
    struct tried tried = try_it("{\"drain\":[\"c\"]}", false);
    struct change_pool pool = {"main", false, tried.map};
    uint64_t keys[] = {0, 0, 1000}, bytes[] = {0, 0, 5000}, keys_in[] = {400, 600},
             bytes_in[] = {2000, 3000};
    struct change_estimate estimate = {.from = tried.map,
                                       .keys = keys,
                                       .bytes = bytes,
                                       .keys_in = keys_in,
                                       .bytes_in = bytes_in,
                                       .sampled = 50,
                                       .heaviest_bytes = 99,
                                       .heaviest = "k\xff",
                                       .problem = "node 'a' is too small; make it larger"};
    assert_int_equal(
        cw_map_change(tried.map, tried.change.nodes, tried.change.count, &estimate.to, NULL),
        CW_OK);
    json_t *plan = change_plan_json(&pool, &tried.change, &estimate);
    assert_non_null(plan);
    assert_true(real_of(plan, "share") > 0.499 && real_of(plan, "share") < 0.501);
    assert_int_equal(json_integer_value(json_object_get(plan, "keys")), 1000);
    assert_int_equal(json_array_size(json_object_get(plan, "nodes")), 3);
    const json_t *moves = json_object_get(plan, "moves"), *node;
    assert_int_equal(json_array_size(moves), 2);
    double both = real_of(json_array_get(moves, 0), "keys") +
                  real_of(json_array_get(moves, 1), "keys");
    assert_true(both >= 998 && both <= 1000);
    node = json_array_get(json_object_get(plan, "nodes"), 2);
    assert_string_equal(json_string_value(json_object_get(node, "id")), "c");
    assert_int_equal(json_integer_value(json_object_get(node, "weight_after")), 0);
    assert_int_equal(json_integer_value(json_object_get(node, "keys_out")), 1000);
    const json_t *heaviest = json_object_get(plan, "heaviest");
    assert_string_equal(json_string_value(json_object_get(heaviest, "key")), "k\\xff");
    json_decref(plan);
    cw_map_unref(&estimate.to);
    release(&tried);
}

static void a_new_address_is_a_move_of_the_whole_share(void **state)
{
    struct tried tried = try_it("{\"replace\":{\"id\":\"c\",\"address\":\"h:9\"}}", false);
    struct change_pool pool = {"main", false, tried.map};
    uint64_t keys[] = {0, 0, 10}, none[] = {0, 0, 0};
    struct change_estimate estimate = {
        .from = tried.map, .keys = keys, .bytes = keys, .keys_in = none, .bytes_in = none};
    assert_int_equal(
        cw_map_change(tried.map, tried.change.nodes, tried.change.count, &estimate.to, NULL),
        CW_OK);
    json_t *plan = change_plan_json(&pool, &tried.change, &estimate);
    const json_t *moves = json_object_get(plan, "moves");
    assert_int_equal(json_array_size(moves), 1);
    assert_true(real_of(json_array_get(moves, 0), "share") > 0.49);
    assert_string_equal(json_string_value(json_object_get(json_array_get(moves, 0), "to_address")),
                        "h:9");
    json_decref(plan);
    cw_map_unref(&estimate.to);
    release(&tried);
}

static void a_transition_says_how_it_went(void **state)
{
    struct mover_report report = {.is_running = true};
    report.info = (struct transition_info){.id = 3, .state = TRANSITION_TRACKING};
    snprintf(report.info.what, sizeof report.info.what, "add d");
    report.progress.keys_scanned = 25;
    report.progress.keys_expected = 100;
    assert_string_equal(change_outcome(&report), "running");
    json_t *json = change_transition_json("main", &report);
    assert_string_equal(json_string_value(json_object_get(json, "state")), "tracking");
    assert_true(real_of(json, "part") > 0.249 && real_of(json, "part") < 0.251);
    json_decref(json);
    report.info.is_paused = true;
    assert_string_equal(change_outcome(&report), "paused");
    report.is_running = false;
    report.info.state = TRANSITION_STABLE;
    assert_string_equal(change_outcome(&report), "done");
    report.info.reached_ms[TRANSITION_ABORTING] = 5;
    assert_string_equal(change_outcome(&report), "cancelled");
    report.info = (struct transition_info){0};
    assert_string_equal(change_outcome(&report), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_wish_becomes_its_change),
        cmocka_unit_test(another_placement_gets_its_map_made),
        cmocka_unit_test(a_file_with_one_new_address_replaces_that_node),
        cmocka_unit_test(what_is_as_wanted_is_no_change),
        cmocka_unit_test(removing_every_node_is_refused),
        cmocka_unit_test(what_is_fixed_for_a_pools_life_is_refused),
        cmocka_unit_test(a_generation_that_changed_since_the_plan_is_refused),
        cmocka_unit_test(nodes_that_are_not_there_or_are_already_are_refused),
        cmocka_unit_test(addresses_are_looked_at),
        cmocka_unit_test(no_pool_gets_more_embedded_nodes_than_a_file_may_have),
        cmocka_unit_test(embedded_nodes_get_their_address_from_the_router),
        cmocka_unit_test(words_that_are_too_many_end_with_dots),
        cmocka_unit_test(a_plan_tells_shares_and_estimates),
        cmocka_unit_test(a_new_address_is_a_move_of_the_whole_share),
        cmocka_unit_test(a_transition_says_how_it_went),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
