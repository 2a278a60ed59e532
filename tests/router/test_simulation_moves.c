/*
 * The router under faults from a seed while keys move from map to map (instant_mover.h). Negative
 * controls show that the checker finds a mover that does not wait for acknowledgements, and one
 * that does not look at the marks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/simulation.h"

static void no_write_is_lost_while_keys_move(void **state)
{
    uint64_t switches = 0, drained = 0, held = 0, checked = 0;
    for (uint64_t seed = 1; seed <= seed_count(); seed++) {
        struct run result = run(
            &(struct run_options){.seed = seed, .moves_keys = true, .with_faults = seed % 2 == 0});
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, result.wrong);
        if (seed % 2)
            assert_int_equal(result.errors, 0); /* nothing failed because keys moved */
        switches += result.switches;
        drained += result.drained;
        held += result.held;
        checked += result.checked;
    }
    print_message("%" PRIu64 " seeds: %" PRIu64 " replies checked, %" PRIu64 " switches, %" PRIu64
                  " marks drained, %" PRIu64 " writes held\n",
                  seed_count(), checked, switches, drained, held);
    assert_true(switches > 5 * seed_count() && drained > 100 * seed_count());
    assert_true(held > 5 * seed_count());
}

static void the_checker_finds_a_mover_that_waits_for_no_acknowledgement(void **state)
{
    struct run_options options = {.moves_keys = true, .faults = {.ignores_acks = true}};
    assert_true(runs_found_wrong(options) >= 5);
}

static void the_checker_finds_a_mover_that_looks_at_no_marks(void **state)
{
    struct run_options options = {.moves_keys = true, .faults = {.ignores_marks = true}};
    assert_true(runs_found_wrong(options) >= 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_write_is_lost_while_keys_move),
        cmocka_unit_test(the_checker_finds_a_mover_that_waits_for_no_acknowledgement),
        cmocka_unit_test(the_checker_finds_a_mover_that_looks_at_no_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
