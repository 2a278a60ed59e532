/* covers: compare_lookup */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <clockwise/clockwise.h>

#include "cli/commands.h"
#include "cli/compare_measure.h"

static struct key_set *keys;

/* A fleet as the command opens it from its arguments, and one placement measured on it. */
struct bench {
    char words[16][32];
    char *argv[16];
    struct cli_args args;
    struct fleet fleet;
    struct measure measure;
    struct placement_result result;
};

static void open_bench(struct bench *bench, size_t count, const char *const *words)
{
    for (size_t i = 0; i < count; i++) {
        snprintf(bench->words[i], sizeof bench->words[i], "%s", words[i]);
        bench->argv[i] = bench->words[i];
    }
    assert_int_equal(cli_args_parse(&command_compare, (int)count, bench->argv, &bench->args),
                     CLI_OK);
    assert_int_equal(fleet_open(&bench->args, &bench->fleet), CLI_OK);
    bench->measure = (struct measure){
        .command = &command_compare, .fleet = &bench->fleet, .keys = keys, .steps = 1};
}

static void measure(struct bench *bench, enum cw_placement placement)
{
    placement_result_release(&bench->result);
    assert_int_equal(measure_placement(&bench->measure, placement, &bench->result), CLI_OK);
    assert_true(bench->result.is_measured);
}

static void close_bench(struct bench *bench)
{
    placement_result_release(&bench->result);
    fleet_release(&bench->fleet);
    cli_args_release(&bench->args);
}

#define BENCH(bench, ...)                                                                          \
    static const char *const words[] = {__VA_ARGS__};                                              \
    struct bench bench = {0};                                                                      \
    open_bench(&bench, sizeof words / sizeof *words, words)

static void expect_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.5f, wanted %.5f within %.5f", got, want, tolerance);
}

static void modulo_moves_ten_times_the_ideal(void **state)
{
    BENCH(bench, "--nodes", "9");
    measure(&bench, CW_PLACEMENT_MODULO);
    const struct change_result *add = &bench.result.changes[FLEET_ADD];
    expect_near(add->ideal, 0.1, 1e-9);
    expect_near(add->moved, 0.9, 0.01);
    expect_near(add->needless, 0.8, 0.01);
    assert_false(bench.result.changes[FLEET_WEIGH].is_measured);
    assert_string_equal(bench.result.changes[FLEET_WEIGH].why, "it knows no weights");
    close_bench(&bench);
}

static void consistent_placements_move_nothing_without_need(void **state)
{
    static const enum cw_placement placements[] = {CW_PLACEMENT_SLOTS, CW_PLACEMENT_RING,
                                                   CW_PLACEMENT_RENDEZVOUS, CW_PLACEMENT_JUMP,
                                                   CW_PLACEMENT_JUMPBACK};
    BENCH(bench, "--nodes", "9");
    for (size_t i = 0; i < sizeof placements / sizeof *placements; i++) {
        measure(&bench, placements[i]);
        for (size_t change = 0; change < FLEET_CHANGES; change++) {
            const struct change_result *one = &bench.result.changes[change];
            assert_true(one->needless == 0);
            if (one->is_measured && placements[i] != CW_PLACEMENT_RING)
                expect_near(one->moved, one->ideal, 0.015);
        }
        assert_int_equal(bench.result.heirs.count, 8);
        assert_true(bench.result.heirs.excess < 2.5);
        assert_true(bench.result.single_ns > 0 && bench.result.batch_ns > 0);
        assert_true(bench.result.memory > 0 && bench.result.build_seconds > 0);
    }
    close_bench(&bench);
}

static void round_gives_a_dead_node_one_heir_and_loses_only_the_last(void **state)
{
    BENCH(bench, "--nodes", "8");
    measure(&bench, CW_PLACEMENT_JUMP);
    assert_true(bench.result.changes[FLEET_REMOVE].is_last);
    assert_string_equal(bench.result.changes[FLEET_REMOVE].id, "node-8");
    measure(&bench, CW_PLACEMENT_ROUND);
    assert_true(bench.result.changes[FLEET_REMOVE].is_last);
    assert_true(bench.result.heirs.largest > 0.5);
    measure(&bench, CW_PLACEMENT_SLOTS);
    assert_false(bench.result.changes[FLEET_REMOVE].is_last);
    assert_string_equal(bench.result.changes[FLEET_REMOVE].id, "node-5");
    close_bench(&bench);
}

static void weights_are_followed_or_said_to_be_ignored(void **state)
{
    BENCH(bench, "--node", "a", "--node", "b,zone=x", "--node", "c,weight=2", "--weight", "c=1");
    assert_true(bench.fleet.has_weights);
    measure(&bench, CW_PLACEMENT_SLOTS);
    assert_false(bench.result.ignores_weights);
    expect_near(bench.result.key_balance.peak, 1, 0.03);
    /* c shrinks: all that moves comes from it. */
    expect_near(bench.result.changes[FLEET_WEIGH].ideal, 2 / 4.0 - 1 / 3.0, 1e-9);
    assert_true(bench.result.changes[FLEET_WEIGH].needless == 0);
    measure(&bench, CW_PLACEMENT_JUMP);
    assert_true(bench.result.ignores_weights);
    expect_near(bench.result.key_balance.peak, 4 / 3.0, 0.03);
    expect_near(bench.result.key_balance.lowest, 2 / 3.0, 0.03);
    expect_near(bench.result.changes[FLEET_ADD].ideal, 0.25, 1e-9);
    close_bench(&bench);
}

static void equal_weights_of_two_are_equal(void **state)
{
    BENCH(bench, "--node", "a,weight=2", "--node", "b,weight=2");
    measure(&bench, CW_PLACEMENT_JUMP);
    assert_false(bench.result.ignores_weights);
    expect_near(bench.result.changes[FLEET_ADD].moved, 1 / 3.0, 0.02);
    assert_string_equal(bench.fleet.texts[FLEET_ADD], "new,weight=2");
    close_bench(&bench);
}

static void the_only_node_cannot_go(void **state)
{
    BENCH(bench, "--nodes", "1", "--remove", "node-1");
    bench.result = (struct placement_result){0};
    assert_int_equal(measure_placement(&bench.measure, CW_PLACEMENT_RING, &bench.result), CLI_OK);
    assert_false(bench.result.changes[FLEET_REMOVE].is_measured);
    assert_string_equal(bench.result.changes[FLEET_REMOVE].why, "there is only one node");
    close_bench(&bench);
}

static void what_cannot_be_built_is_said(void **state)
{
    BENCH(bench, "--nodes", "3");
    bench.fleet.table_size = 1000; /* no prime */
    assert_int_equal(measure_placement(&bench.measure, CW_PLACEMENT_MAGLEV, &bench.result), CLI_OK);
    assert_false(bench.result.is_measured);
    assert_non_null(strstr(bench.result.why, "prime"));
    close_bench(&bench);
}

static void balance_is_relative_to_weights(void **state)
{
    BENCH(bench, "--node", "a", "--node", "b,weight=3");
    struct balance balance = balance_of(bench.fleet.map, (uint64_t[]){25, 75});
    expect_near(balance.peak, 1, 1e-12);
    expect_near(balance.deviation, 0, 1e-12);
    balance = balance_of(bench.fleet.map, (uint64_t[]){50, 50});
    expect_near(balance.peak, 2, 1e-12);
    expect_near(balance.lowest, 2 / 3.0, 1e-12);
    expect_near(balance.deviation, sqrt((1 + 1 / 9.0) / 2), 1e-12);
    /* One key, by lot: on a 1 of 4 times, 4 times too much there, or nothing; and so for b. */
    struct key_set one = {.count = 1, .lines = 5, .square_sum = 25};
    struct chance chance = chance_of(bench.fleet.map, &one);
    expect_near(chance.keys, sqrt((3 + 1 / 3.0) / 2), 1e-12);
    expect_near(chance.lines, chance.keys, 1e-12);
    close_bench(&bench);
}

static int make_keys(void **state)
{
    keys = key_set_create(100000);
    if (!keys || key_set_generate(keys, 20000, 0, 1, NULL) < 0)
        return -1;
    key_set_finish(keys);
    return 0;
}

static int drop_keys(void **state)
{
    key_set_destroy(&keys);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modulo_moves_ten_times_the_ideal),
        cmocka_unit_test(consistent_placements_move_nothing_without_need),
        cmocka_unit_test(round_gives_a_dead_node_one_heir_and_loses_only_the_last),
        cmocka_unit_test(weights_are_followed_or_said_to_be_ignored),
        cmocka_unit_test(equal_weights_of_two_are_equal),
        cmocka_unit_test(the_only_node_cannot_go),
        cmocka_unit_test(what_cannot_be_built_is_said),
        cmocka_unit_test(balance_is_relative_to_weights),
    };
    return cmocka_run_group_tests(tests, make_keys, drop_keys);
}
