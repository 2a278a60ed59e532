/*
 * What a person wants of a pool, read strictly.
 * covers: control/change_request, control/admin_guard
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "control/admin_guard.h"
#include "control/change_request.h"

static void assert_refused(const char *text, const char *reason)
{
    struct change_request request;
    struct change_problem problem = {0};
    if (change_request_parse(text, strlen(text), &request, &problem)) {
        change_request_release(&request);
        fail_msg("read: %s", text);
    }
    if (!strstr(problem.text, reason))
        fail_msg("%s\n  refused with: %s\n  wanted: %s", text, problem.text, reason);
    assert_true(problem.status < 0);
}

static void everything_that_can_be_asked_is_read(void **state)
{
    static const char text[] =
        "{\"add\": [{\"id\": \"d\", \"address\": \"h:1\", \"weight\": 2, \"zone\": \"z\"}],"
        " \"drain\": [\"a\", \"b\"], \"weight\": [{\"id\": \"c\", \"weight\": 3}],"
        " \"placement\": \"ring\", \"engine\": \"redis\", \"slots\": 64, \"tokens\": 160,"
        " \"generation\": 7, \"deep\": true, \"purge\": true, \"no_copy\": false, \"who\": \"x\","
        " \"throttle\": {\"keys_per_second\": 10, \"bytes_per_second\": 20, \"automatic\": false}}";
    struct change_request request;
    struct change_problem problem;
    assert_true(change_request_parse(text, sizeof text - 1, &request, &problem));
    assert_false(request.has_nodes);
    assert_int_equal(request.add.count, 1);
    assert_string_equal(request.add.nodes[0].address, "h:1");
    assert_int_equal(request.add.nodes[0].weight, 2);
    assert_int_equal(request.drain_count, 2);
    assert_string_equal(request.drain[1], "b");
    assert_int_equal(request.weigh.nodes[0].weight, 3);
    assert_string_equal(request.placement, "ring");
    assert_int_equal(request.generation, 7);
    assert_int_equal(request.slots, 64);
    assert_true(request.is_deep && request.may_purge && !request.no_copy);
    assert_int_equal(request.throttle.bytes_per_second, 20);
    assert_false(request.throttle.is_automatic);
    assert_string_equal(request.who, "x");
    change_request_release(&request);
}

static void the_throttle_is_automatic_unless_said(void **state)
{
    struct change_request request;
    struct change_problem problem;
    struct throttle_settings settings = {0};
    assert_true(change_request_parse("{\"dead\":\"a\"}", 12, &request, &problem));
    assert_true(request.throttle.is_automatic);
    assert_string_equal(request.dead, "a");
    change_request_release(&request);
    assert_true(change_throttle_parse("{\"keys_per_second\":5}", 21, &settings, &problem));
    assert_true(settings.is_automatic);
    assert_int_equal(settings.keys_per_second, 5);
    assert_false(change_throttle_parse("{\"keys\":5}", 10, &settings, &problem));
}

static void unknown_keys_are_errors_with_the_nearest_name(void **state)
{
    assert_refused("{\"drian\": [\"a\"]}", "unknown key 'drian'; did you mean 'drain'?");
    assert_refused("{\"dead\": \"a\", \"xyzzy\": 1}", "unknown key 'xyzzy'; leave it out");
    assert_refused("{\"add\": [{\"id\": \"a\", \"adress\": \"h:1\"}]}", "did you mean 'address'?");
    assert_refused("{\"dead\": \"a\", \"throttle\": {\"automatik\": true}}", "'automatic'?");
}

static void what_is_no_question_is_refused(void **state)
{
    assert_refused("", "no JSON");
    assert_refused("{\"dead\": \"a\"", "no JSON: line 1");
    assert_refused("{\"dead\": \"a\", \"dead\": \"b\"}", "duplicate");
    assert_refused("[]", "no JSON object");
    assert_refused("{}", "nothing is asked for");
    assert_refused("{\"dead\": 5}", "'dead' is no text");
    assert_refused("{\"dead\": \"a\", \"deep\": 1}", "neither true nor false");
    assert_refused("{\"dead\": \"a\", \"generation\": -1}", "no whole number");
    assert_refused("{\"dead\": \"a\", \"generation\": 1.5}", "no whole number");
    assert_refused("{\"nodes\": {}}", "'nodes' is no list");
    assert_refused("{\"nodes\": [5]}", "a node is no JSON object");
    assert_refused("{\"nodes\": [{\"address\": \"h:1\"}]}", "no id");
    assert_refused("{\"add\": [{\"id\": \"a\", \"weight\": 0}]}", "drain it");
    assert_refused("{\"weight\": [{\"id\": \"a\"}]}", "an id and a weight");
    assert_refused("{\"replace\": {\"id\": \"a\"}}", "the new address");
    assert_refused("{\"drain\": [5]}", "list of ids");
    assert_refused("{\"drain\": \"a\"}", "no list");
}

static void what_excludes_each_other_is_refused(void **state)
{
    assert_refused("{\"dead\": \"a\", \"drain\": [\"b\"]}", "exclude each other");
    assert_refused("{\"nodes\": [], \"add\": []}", "exclude each other");
    assert_refused("{\"replace\": {\"id\": \"a\", \"address\": \"h:1\"}, \"dead\": \"a\"}",
                   "exclude each other");
    assert_refused("{\"dead\": \"a\", \"placement\": \"ring\"}", "does not go with");
    assert_refused("{\"drain\": [\"a\"], \"no_copy\": true}", "'replace' alone");
}

static void more_nodes_than_a_transition_has_are_refused(void **state)
{
    static char text[40000];
    size_t len = (size_t)snprintf(text, sizeof text, "{\"drain\": [\"a\"");
    for (int i = 0; i < 1024; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, ", \"n%d\"", i);
    snprintf(text + len, sizeof text - len, "]}");
    assert_refused(text, "more than 1024 nodes");
}

/* ---- who may change anything ----------------------------------------------------------------- */

static unsigned guard(struct admin_headers headers, bool is_loopback)
{
    unsigned code = 0;
    return admin_guard_change(&headers, is_loopback, &code) ? code : 0;
}

static void a_web_page_may_change_nothing(void **state)
{
    static const char json[] = "application/json";
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, "127.0.0.1:7480"}, true), 0);
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, "localhost:7480"}, true), 0);
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, "[::1]:7480"}, true), 0);
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, NULL}, true), 0);
    assert_int_equal(
        guard((struct admin_headers){"application/json; charset=utf-8", NULL, NULL, NULL}, true),
        0);
    assert_int_equal(guard((struct admin_headers){json, "http://evil", NULL, NULL}, true), 403);
    assert_int_equal(guard((struct admin_headers){json, "null", NULL, NULL}, true), 403);
    assert_int_equal(guard((struct admin_headers){json, NULL, "cross-site", NULL}, true), 403);
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, "evil.example"}, true), 403);
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, "127.evil.example"}, true),
                     403);
    assert_int_equal(guard((struct admin_headers){json, NULL, NULL, "router-1:7480"}, false), 0);
    assert_int_equal(guard((struct admin_headers){"text/plain", NULL, NULL, NULL}, true), 415);
    assert_int_equal(guard((struct admin_headers){"application/jsonx", NULL, NULL, NULL}, true),
                     415);
    assert_int_equal(guard((struct admin_headers){NULL, NULL, NULL, NULL}, true), 415);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_that_can_be_asked_is_read),
        cmocka_unit_test(the_throttle_is_automatic_unless_said),
        cmocka_unit_test(unknown_keys_are_errors_with_the_nearest_name),
        cmocka_unit_test(what_is_no_question_is_refused),
        cmocka_unit_test(what_excludes_each_other_is_refused),
        cmocka_unit_test(more_nodes_than_a_transition_has_are_refused),
        cmocka_unit_test(a_web_page_may_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
