/* The contract of io.h on the simulated network under many seeds, and the faults it makes.
 * covers: io_sim_conn, io_sim_listen, io_sim_loop */
#include "io/scenarios.h"

#include "io/io_sim.h"

enum { SEEDS = 50 };

static const struct io_sim_options calm = {.seed = 1, .delay_min_us = 50, .delay_max_us = 50};
static const struct io_sim_options rough = {.seed = 1,
                                            .delay_min_us = 10,
                                            .delay_max_us = 2000,
                                            .split_permille = 300,
                                            .window_bytes = 5000};

/* ---- the shared scenarios -------------------------------------------------------------------- */

static void play(void (*scenario)(struct stage *stage), const struct io_sim_options *options)
{
    struct stage stage;
    snprintf(variant, sizeof variant, "seed %llu, splits %u/1000",
             (unsigned long long)options->seed, options->split_permille);
    io_sim_begin(options);
    stage_open(&stage, "sim:0");
    scenario(&stage);
    stage_close(&stage);
    io_sim_end();
}

#define SCENARIO_TEST(name)                                                                        \
    static void name##_under_any_seed(void **state)                                                \
    {                                                                                              \
        struct io_sim_options options = rough;                                                     \
        play(name, &calm);                                                                         \
        for (options.seed = 1; options.seed <= SEEDS; options.seed++)                              \
            play(name, &options);                                                                  \
    }
SCENARIOS(SCENARIO_TEST)

int main(void)
{
#define ENTRY(name) cmocka_unit_test(name##_under_any_seed),
    const struct CMUnitTest tests[] = {SCENARIOS(ENTRY)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
