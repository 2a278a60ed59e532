/*
 * Transitions under faults from a seed: a router of several workers whose clients count what was
 * acknowledged, while nodes join, leave, change their weights and addresses, and while the router
 * is killed, nodes crash and stop, connections are cut, commands come late, dirty sets are lost,
 * disks are full, and people pause and cancel. Afterwards every transition must have ended, every
 * counted write must be there, deleted keys must be gone, and every key must stand on its owner
 * alone.
 *
 * CW_SIM_SEEDS says how many seeds, CW_SIM_FIRST the first, CW_SIM_LOG=1 shows what happens.
 *
 * covers: move/transition, move/transition_look, move/transition_prepare, move/transition_track
 * covers: move/transition_switch, move/transition_jobs, move/transition_open
 * covers: move/transition_record, move/transition_workers, move/mover
 * covers: move/transition_big, move/transition_plan, move/mover_copy, move/mover_observe
 * covers: move/fence, move/transition_abandon
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "move/transition_run.h"

/* ---- a run ----------------------------------------------------------------------------------- */

static void heal(struct run *run)
{
    struct io_sim_options calm = {
        .delay_min_us = 5, .delay_max_us = 500, .split_permille = 100, .window_bytes = 4096};
    for (uint32_t i = 0; i < ALL_NODES; i++) {
        mend(run, i);
        memory_node_delay(run->world.fixture.nodes[i], "", 0, 0, false);
    }
    run->world.store.full_permille = run->world.store.late_error_permille = 0;
    io_sim_set(&calm);
    end_lag(run);
    revive_router(run);
    tell(run, MOVER_RESUME);
}

static void wait_for_end(struct run *run)
{
    for (int i = 0; i < 600 && world_is_moving(&run->world); i++) {
        io_sim_run(100, NULL);
        if (i == 300 && run->options->left_out) /* what was left out must cost data, not time */
            tell(run, MOVER_CANCEL);
        if (i % 50 == 49) /* begun anew too often: a person looks, and goes on */
            tell(run, MOVER_RESUME);
    }
    if (world_is_moving(&run->world))
        wrong(run, "the transition does not end: %s, %s",
              transition_state_name(run->world.store.record->transition->state),
              run->world.store.record->transition->note);
}

static void count_big_keys(struct run *run)
{
    struct mover_report report;
    if (!mover_read(run->world.mover, 0, &report))
        return;
    run->big_keys += (uint32_t)report.progress.big_keys;
    mover_report_release(&report);
}

static void play(struct run *run)
{
    for (uint32_t change = 0; change < 3; change++) {
        io_sim_run(20 + random_below(&run->random, 100), NULL);
        start_change(run);
        for (uint32_t step = 0; step < STEPS_MAX; step++) {
            io_sim_run(1 + random_below(&run->random, 12), NULL);
            if (run->is_router_down && chance(run, 300))
                revive_router(run);
            else if (run->lagging >= 0 && chance(run, 200))
                end_lag(run);
            else if (run->options->with_faults && !run->is_router_down && chance(run, 200))
                fault(run);
            if (step > 20 && !world_is_moving(&run->world))
                break;
        }
        heal(run);
        wait_for_end(run);
        count_big_keys(run);
    }
}

static void start_clients(struct run *run)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        move_client_init(&run->clients[i], i, run->options->seed);
        /* Under WATCH a client waits for all that it asked: then less is late at once. */
        run->clients[i].transacts = run->options->favoured < 0;
    }
    for (uint32_t i = 0; i < QUEUES && run->options->with_queues; i++)
        queue_init(&run->queues[i], i, run->options->seed);
}

static void stop_clients(struct run *run)
{
    for (uint32_t i = 0; i < CLIENTS; i++)
        run->clients[i].is_stopped = true;
    for (uint32_t i = 0; i < QUEUES; i++)
        run->queues[i].is_stopped = true;
}

static void end_clients(struct run *run, struct result *result)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        result->checked += run->clients[i].checked;
        result->writes += run->clients[i].writes;
        result->errors += run->clients[i].errors;
        result->transactions += run->clients[i].transactions;
        result->nils += run->clients[i].nils;
        move_client_fini(&run->clients[i]);
    }
    for (uint32_t i = 0; i < QUEUES && run->options->with_queues; i++) {
        result->errors += run->queues[i].errors;
        result->pops += run->queues[i].pops;
        result->empty_waits += run->queues[i].nils;
        result->unseen += run->queues[i].unseen;
        queue_fini(&run->queues[i]);
    }
}

static struct result play_seed(const struct run_options *options)
{
    struct run *run = calloc(1, sizeof *run);
    struct result result = {0};
    CW_ASSERT(run);
    run->options = options;
    run->lagging = -1;
    run->random.state = options->seed ^ 0xfeed;
    struct io_sim_options sim = {.seed = options->seed,
                                 .delay_min_us = 5,
                                 .delay_max_us = 2000,
                                 .split_permille = 200,
                                 .cut_per_million = options->with_faults ? 100 : 0,
                                 .window_bytes = 4096};
    world_begin(&run->world, &sim, ALL_NODES, FIRST_NODES,
                1 + (uint32_t)random_below(&run->random, 3));
    run->world.mover_options.left_out = options->left_out;
    run->world.mover_options.elements_max = !options->left_out && chance(run, 500)
                                                ? 2
                                                : 0; /* many keys are big */
    if (options->with_faults && chance(run, 300)) {
        run->world.store.full_permille = 30;
        run->world.store.late_error_permille = 30;
    }
    put_cold_keys(run);
    world_start_router(&run->world);
    start_clients(run);
    play(run);
    stop_clients(run);
    io_sim_run(3000, NULL);
    check_all(run);
    end_clients(run, &result);
    result.changes = run->changes;
    result.kills = run->kills;
    result.crashes = run->crashes;
    result.cancels = run->cancels;
    result.abandons = run->abandons;
    result.big_keys = run->big_keys;
    memcpy(result.states, run->world.store.states, sizeof result.states);
    memcpy(result.wrong, run->wrong, sizeof result.wrong);
    result.trace = io_sim_trace();
    world_end(&run->world);
    free(run);
    return result;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void nothing_is_lost_under_faults(void **state)
{
    uint64_t first = number_from("CW_SIM_FIRST", 1), count = number_from("CW_SIM_SEEDS", 60);
    struct result sum = {0};
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct result result = play_seed(
            &(struct run_options){.seed = seed, .with_faults = true, .favoured = -1});
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, result.wrong);
        sum.checked += result.checked;
        sum.writes += result.writes;
        sum.errors += result.errors;
        sum.transactions += result.transactions;
        sum.nils += result.nils;
        sum.changes += result.changes;
        sum.kills += result.kills;
        sum.crashes += result.crashes;
        sum.cancels += result.cancels;
        sum.abandons += result.abandons;
        sum.big_keys += result.big_keys;
        for (int i = 0; i < TRANSITION_STATE_COUNT; i++)
            sum.states[i] |= result.states[i];
    }
    print_message("%" PRIu64 " seeds: %" PRIu64 " replies checked, %" PRIu64 " counted writes, "
                  "%" PRIu64 " transactions, %" PRIu64 " of them nil, %" PRIu64 " errors, %" PRIu64
                  " changes, %" PRIu64 " router kills, %" PRIu64 " node crashes, %" PRIu64
                  " cancels, %" PRIu64 " abandoned, %" PRIu64 " big keys\n",
                  count, sum.checked, sum.writes, sum.transactions + sum.nils, sum.nils, sum.errors,
                  sum.changes, sum.kills, sum.crashes, sum.cancels, sum.abandons, sum.big_keys);
    assert_true(count < 20 || sum.big_keys > 100);
    assert_true(count < 60 || sum.abandons > 0);
    for (int i = 0; i < TRANSITION_STATE_COUNT && count >= 20; i++)
        assert_true(sum.states[i]);
}

static void without_faults_no_request_fails(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1010; seed++) {
        struct result result = play_seed(&(struct run_options){.seed = seed, .favoured = -1});
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, result.wrong);
        assert_int_equal(result.errors, 0);
        assert_true(result.states[TRANSITION_SWITCHED]);
    }
}

static void what_clients_wait_for_comes_out_once(void **state)
{
    uint64_t first = number_from("CW_SIM_FIRST", 1), count = number_from("CW_SIM_SEEDS", 60) / 3;
    struct result sum = {0};
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++) {
        bool with_faults = seed % 4 != 0;
        struct result result = play_seed(&(struct run_options){
            .seed = seed, .with_faults = with_faults, .with_queues = true, .favoured = -1});
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, result.wrong);
        if (!with_faults)
            assert_int_equal(result.errors, 0);
        sum.pops += result.pops;
        sum.empty_waits += result.empty_waits;
        sum.unseen += result.unseen;
    }
    print_message("%" PRIu64 " seeds: %" PRIu64 " elements came out, %" PRIu64 " waits ended with "
                  "nil, %" PRIu64 " unseen\n",
                  count, sum.pops, sum.empty_waits, sum.unseen);
    assert_true(count < 10 || (sum.pops > 1000 && sum.empty_waits > 50));
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    struct run_options options = {.seed = 5, .with_faults = true, .favoured = -1};
    assert_int_equal(play_seed(&options).trace, play_seed(&options).trace);
}

/* The first seed in which the checker finds something wrong; 0: none of them. */
static uint64_t first_found(unsigned left_out, enum fault favoured)
{
    uint64_t count = number_from("CW_SIM_CONTROL_SEEDS", 1000);
    for (uint64_t seed = 1; seed <= count; seed++) {
        struct run_options options = {
            .seed = seed, .with_faults = true, .left_out = left_out, .favoured = (int)favoured};
        struct result result = play_seed(&options);
        if (!result.wrong[0])
            continue;
        print_message("found with seed %" PRIu64 ": %s\n", seed, result.wrong);
        options.left_out = 0; /* it is what was left out that was found */
        result = play_seed(&options);
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ", nothing left out: %s", seed, result.wrong);
        return seed;
    }
    return 0;
}

static void without_acknowledgement_it_is_found(void **state)
{
    (void)state;
    assert_int_not_equal(first_found(MOVER_WITHOUT_ACKNOWLEDGEMENT, FAULT_LAG), 0);
}

static void without_rotation_it_is_found(void **state)
{
    (void)state;
    assert_int_not_equal(first_found(MOVER_WITHOUT_ROTATION, FAULT_LATE_WRITE), 0);
}

static void without_killing_late_calls_it_is_found(void **state)
{
    (void)state;
    assert_int_not_equal(first_found(MOVER_WITHOUT_KILL, FAULT_LATE_RESTORE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_under_faults),
        cmocka_unit_test(without_faults_no_request_fails),
        cmocka_unit_test(what_clients_wait_for_comes_out_once),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(without_acknowledgement_it_is_found),
        cmocka_unit_test(without_rotation_it_is_found),
        cmocka_unit_test(without_killing_late_calls_it_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
