/*
 * Runs of the router in the simulated world, from a seed: clients that check, faults, and keys that
 * move if wanted.
 */
#ifndef TESTS_ROUTER_SIMULATION_H
#define TESTS_ROUTER_SIMULATION_H

#include "router/checker.h"
#include "router/instant_mover.h"

struct run {
    uint64_t checked, errors, cuts, trace;
    uint64_t switches, drained, held;
    char wrong[256];
};

struct run_options {
    uint64_t seed;
    bool with_faults;
    uint32_t lie_permille;
    bool swaps_maps; /* between two maps of different nodes, without moving data: keys get lost */
    bool moves_keys;
    struct instant_mover_faults faults;
};

static void play_faults(struct random *random, uint32_t nodes)
{
    for (int round = 0; round < 6; round++) {
        uint32_t node = (uint32_t)random_below(random, nodes);
        bool is_stop = random_below(random, 2);
        io_sim_run(200 + random_below(random, 400), NULL);
        if (is_stop)
            io_sim_stop(fixture_address(node));
        else
            io_sim_kill(fixture_address(node));
        io_sim_run(100 + random_below(random, 1200), NULL);
        if (is_stop)
            io_sim_resume(fixture_address(node));
        else
            io_sim_revive(fixture_address(node));
    }
}

static struct run run(const struct run_options *options)
{
    struct fixture fixture;
    struct checker checkers[CLIENTS];
    struct random random = {options->seed ^ 0x5eed};
    struct run result = {0};
    struct instant_mover *mover = NULL;
    struct io_sim_options sim = {.seed = options->seed,
                                 .delay_min_us = 5,
                                 .delay_max_us = 2000,
                                 .split_permille = 300,
                                 .cut_per_million = options->with_faults ? 500 : 0,
                                 .window_bytes = 4096};
    fixture_init(&fixture, 2 + (uint32_t)random_below(&random, 4), 2);
    fixture.pool.connections = 1 + (uint32_t)random_below(&random, 2);
    fixture_start(&fixture, &sim);
    for (uint32_t i = 0; i < fixture.node_count; i++)
        fixture.nodes[i]->lie_permille = options->lie_permille;
    for (uint32_t i = 0; i < CLIENTS; i++)
        checker_init(&checkers[i], i, options->seed);
    if (options->moves_keys)
        mover = instant_mover_create(&fixture, options->seed, options->faults);
    io_sim_run(500, NULL);
    if (options->swaps_maps) {
        struct cw_map *other = fixture_map(1, fixture.node_count - 1);
        router_set_map(fixture.router, 0, other);
        io_sim_run(500, NULL);
        cw_map_unref(&other);
    }
    if (options->with_faults)
        play_faults(&random, fixture.node_count);
    io_sim_run(2000, NULL);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        result.checked += checkers[i].checked;
        result.errors += checkers[i].errors;
        result.cuts += checkers[i].cuts;
        if (checkers[i].wrong[0] && !result.wrong[0])
            memcpy(result.wrong, checkers[i].wrong, sizeof result.wrong);
        checker_fini(&checkers[i]);
    }
    result.trace = io_sim_trace();
    if (mover) {
        result.switches = mover->switches;
        result.drained = mover->drained;
        result.held = mover->counters.held;
        instant_mover_stop(mover);
    }
    fixture_stop(&fixture);
    instant_mover_destroy(&mover);
    return result;
}

static uint64_t seed_count(void)
{
    const char *text = getenv("CW_SIM_SEEDS");
    return text ? strtoull(text, NULL, 10) : 25;
}

/* In how many of ten runs the checker finds something wrong. */
static int runs_found_wrong(struct run_options options)
{
    int found = 0;
    for (options.seed = 1; options.seed <= 10; options.seed++)
        found += run(&options).wrong[0] != '\0';
    return found;
}

#endif
