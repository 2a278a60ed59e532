/* covers: move/check */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "move/check.h"

enum { NODES = 3 };

/* Two nodes become three. */
struct stage {
    struct cw_node nodes[NODES];
    struct cw_map *from, *to;
    struct node_facts from_facts[NODES], to_facts[NODES];
    uint64_t bytes_in[NODES];
    struct check_input input;
    char problem[MOVE_PROBLEM_SIZE];
    bool by_value;
};

static void make_facts(struct node_facts *facts, const char *run_id)
{
    *facts = (struct node_facts){.dump_version = 10, .memory_used = 1 << 20, .key_count = 5};
    snprintf(facts->run_id, sizeof facts->run_id, "%s-run-id-of-forty-letters", run_id);
    snprintf(facts->version, sizeof facts->version, "7.0.15");
}

static void stage_set(struct stage *stage)
{
    static const char *const ids[] = {"alpha", "beta", "gamma"};
    static const char *const addresses[] = {"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"};
    memset(stage, 0, sizeof *stage);
    for (uint32_t i = 0; i < NODES; i++) {
        stage->nodes[i] = (struct cw_node){.id = ids[i], .address = addresses[i], .weight = 1};
        make_facts(&stage->from_facts[i], ids[i]);
        make_facts(&stage->to_facts[i], ids[i]);
    }
    struct cw_map_options options = {.nodes = stage->nodes, .node_count = 2, .slot_count = 64};
    assert_int_equal(cw_map_create(&options, &stage->from, NULL), 0);
    assert_int_equal(cw_map_change(stage->from, stage->nodes, NODES, &stage->to, NULL), 0);
    stage->bytes_in[2] = 100 << 20;
    stage->input = (struct check_input){.from = stage->from,
                                        .to = stage->to,
                                        .from_facts = stage->from_facts,
                                        .to_facts = stage->to_facts,
                                        .bytes_in = stage->bytes_in};
}

static bool check(struct stage *stage)
{
    return check_nodes(&stage->input, &stage->by_value, stage->problem);
}

static void stage_clear(struct stage *stage)
{
    cw_map_unref(&stage->from);
    cw_map_unref(&stage->to);
}

/* A refusal names the node, what is wrong, and after "; " what to do. */
static void assert_refused(struct stage *stage, const char *node, const char *reason,
                           const char *remedy)
{
    assert_false(check(stage));
    const char *semicolon = strstr(stage->problem, "; ");
    if (!strstr(stage->problem, node) || !strstr(stage->problem, reason) || !semicolon ||
        !strstr(semicolon, remedy))
        fail_msg("not about %s, %s, %s: %s", node, reason, remedy, stage->problem);
}

static void test_nodes_that_fit_are_let_through_in_silence(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage);
    assert_true(check(&stage));
    assert_string_equal(stage.problem, "");
    assert_false(stage.by_value);
    stage.input.bytes_in = NULL;
    assert_true(check(&stage));
    stage_clear(&stage);
}

static void test_one_server_under_two_names_is_refused(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage);
    make_facts(&stage.to_facts[2], "alpha");
    assert_refused(&stage, "'alpha' (10.0.0.1:6379)", "same server", "a server of its own");
    assert_non_null(strstr(stage.problem, "'gamma' (10.0.0.3:6379)"));
    make_facts(&stage.to_facts[0], "elsewhere"); /* seen only in the old map */
    assert_refused(&stage, "'alpha'", "same server", "");
    stage_clear(&stage);
}

static void test_nodes_without_a_run_id_are_no_twins(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage);
    for (uint32_t i = 0; i < NODES; i++)
        stage.from_facts[i].run_id[0] = stage.to_facts[i].run_id[0] = '\0';
    assert_true(check(&stage));
    stage_clear(&stage);
}

/* Its new address leads to the server that it has already. */
static void test_a_replacement_by_the_same_server_is_refused(void **state)
{
    (void)state;
    struct stage stage;
    struct cw_map *map;
    stage_set(&stage);
    stage.nodes[0].address = "cache-alias:6379";
    assert_int_equal(cw_map_change(stage.from, stage.nodes, 2, &map, NULL), 0);
    stage.input.to = map;
    assert_refused(&stage, "cache-alias:6379", "same server", "own");
    make_facts(&stage.to_facts[0], "another");
    assert_true(check(&stage));
    cw_map_unref(&map);
    stage_clear(&stage);
}

static void test_what_a_node_cannot_do_is_named(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage);
    struct node_facts *target = &stage.to_facts[2], good = *target;
    target->is_replica = true;
    assert_refused(&stage, "'gamma'", "replica", "primary");
    *target = good;
    target->is_loading = true;
    assert_refused(&stage, "'gamma'", "loading", "try again");
    *target = good;
    target->is_cluster = true;
    assert_refused(&stage, "'gamma'", "cluster mode", "outside");
    *target = good;
    snprintf(target->version, sizeof target->version, "6.2.14");
    assert_refused(&stage, "'gamma'", "6.2.14", "7.0");
    *target = good;
    snprintf(target->version, sizeof target->version, "valkey 8.0.1");
    assert_true(check(&stage));
    snprintf(target->version, sizeof target->version, "10.0.0");
    assert_true(check(&stage));
    snprintf(target->refusal, sizeof target->refusal, "takes no writes; look at its log");
    assert_refused(&stage, "'gamma'", "takes no writes", "log");
    *target = good;
    stage.from_facts[1].is_replica = true; /* it gives keys, and dirty marks are written there */
    assert_refused(&stage, "'beta'", "replica", "primary");
    stage_clear(&stage);
}

/* A node that neither gives nor gets anything is left alone. */
static void test_a_node_that_has_no_part_in_it_may_be_as_it_is(void **state)
{
    (void)state;
    struct stage stage;
    struct cw_map *map;
    stage_set(&stage);
    stage.nodes[0].address = "10.0.0.9:6379";
    assert_int_equal(cw_map_change(stage.from, stage.nodes, 2, &map, NULL), 0);
    stage.input.to = map;
    make_facts(&stage.to_facts[0], "new");
    stage.bytes_in[2] = 0;
    stage.to_facts[1].is_loading = stage.from_facts[1].is_loading = true;
    assert_true(check(&stage));
    stage.from_facts[0].is_loading = true;
    assert_refused(&stage, "'alpha'", "loading", "");
    cw_map_unref(&map);
    stage_clear(&stage);
}

static void test_too_little_room_is_refused_or_warned_of(void **state)
{
    (void)state;
    struct stage stage;
    stage_set(&stage);
    stage.to_facts[2].memory_max = 64 << 20;
    assert_refused(&stage, "'gamma'", "about 100 MiB come", "over 101 MiB");
    assert_non_null(strstr(stage.problem, "room for 63 MiB"));
    stage.to_facts[2].evicts = true;
    assert_true(check(&stage));
    assert_non_null(strstr(stage.problem, "'gamma'"));
    assert_non_null(strstr(stage.problem, "evict"));
    stage.to_facts[2].memory_max = 101 << 20;
    assert_true(check(&stage));
    assert_string_equal(stage.problem, "");
    stage.to_facts[2].evicts = false;
    stage.to_facts[2].memory_max = 1; /* full beyond its limit */
    assert_refused(&stage, "'gamma'", "room for 0 bytes", "maxmemory");
    stage_clear(&stage);
}

static void test_payloads_that_do_not_fit_are_copied_by_value(void **state)
{
    (void)state;
    static const struct {
        uint64_t source, target;
        bool by_value;
    } cases[] = {
        {10, 10, false}, {10, 11, false}, {11, 10, true},  {11, 12, false},
        {12, 80, true},  {80, 12, true},  {11, 80, false}, {80, 80, false},
        {80, 81, false}, {0, 10, true},   {10, 0, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stage stage;
        stage_set(&stage);
        stage.from_facts[0].dump_version = stage.from_facts[1].dump_version = cases[i].source;
        stage.to_facts[2].dump_version = cases[i].target;
        assert_true(check(&stage));
        if (stage.by_value != cases[i].by_value)
            fail_msg("case %zu: by value %d", i, stage.by_value);
        stage_clear(&stage);
    }
}

static void test_which_versions_know_lifetimes_of_fields(void **state)
{
    (void)state;
    static const struct {
        const char *version;
        bool knows;
    } cases[] = {{"7.0.15", false},      {"7.2.5", false}, {"7.4.0", true},
                 {"8.0.1", true},        {"10.1.0", true}, {"valkey 8.1.0", false},
                 {"valkey 9.0.0", true}, {"", false},      {"clockwise 0.1.0", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct node_facts facts = {0};
        snprintf(facts.version, sizeof facts.version, "%s", cases[i].version);
        assert_int_equal(node_facts_has_field_times(&facts), cases[i].knows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_versions_know_lifetimes_of_fields),
        cmocka_unit_test(test_nodes_that_fit_are_let_through_in_silence),
        cmocka_unit_test(test_one_server_under_two_names_is_refused),
        cmocka_unit_test(test_nodes_without_a_run_id_are_no_twins),
        cmocka_unit_test(test_a_replacement_by_the_same_server_is_refused),
        cmocka_unit_test(test_what_a_node_cannot_do_is_named),
        cmocka_unit_test(test_a_node_that_has_no_part_in_it_may_be_as_it_is),
        cmocka_unit_test(test_too_little_room_is_refused_or_warned_of),
        cmocka_unit_test(test_payloads_that_do_not_fit_are_copied_by_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
