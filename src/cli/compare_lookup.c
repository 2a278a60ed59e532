/*
 * How long lookups and building take. Keys come in an order that has nothing to do with where they
 * live, so that a large table costs the cache misses that it costs in earnest.
 */
#include "cli/compare_clock.h"
#include "cli/compare_measure.h"

enum {
    CHUNK = 1024,
    RUNS = 3,
    RUN_NS = 4000000,
    BUILD_NS = 30000000, /* no further run once this is spent */
};

/* One chunk of hashes from `at` on; returns how many. */
typedef size_t lookup_fn(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         volatile uint32_t *sink);

static size_t look_up_single(const struct cw_map *map, const uint64_t *hashes, size_t count,
                             volatile uint32_t *sink)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += cw_locate(map, hashes[i]);
    *sink = sum;
    return count;
}

static size_t look_up_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                            volatile uint32_t *sink)
{
    uint32_t nodes[CHUNK];
    cw_locate_batch(map, hashes, count, nodes);
    *sink = nodes[0];
    return count;
}

static double run_once(const struct cw_map *map, const struct key_set *keys, lookup_fn *look_up)
{
    volatile uint32_t sink;
    uint64_t start = clock_cpu_ns(), passed, looked_up = 0;
    size_t at = 0;
    do {
        size_t count = keys->count - at < CHUNK ? keys->count - at : CHUNK;
        looked_up += look_up(map, keys->hashes + at, count, &sink);
        at = at + count < keys->count ? at + count : 0;
        passed = clock_cpu_ns() - start;
    } while (passed < RUN_NS);
    return (double)passed / (double)looked_up;
}

static double best_of_runs(const struct cw_map *map, const struct key_set *keys, lookup_fn *look_up)
{
    double best = 0;
    for (int i = 0; i < RUNS; i++) {
        double ns = run_once(map, keys, look_up);
        best = i && best < ns ? best : ns;
    }
    return best;
}

double lookup_single_ns(const struct cw_map *map, const struct key_set *keys)
{
    return best_of_runs(map, keys, look_up_single);
}

double lookup_batch_ns(const struct cw_map *map, const struct key_set *keys)
{
    return best_of_runs(map, keys, look_up_batch);
}

double build_seconds_of(const struct cw_map_options *options)
{
    uint64_t spent = 0, best = 0;
    for (int i = 0; i < RUNS && spent < BUILD_NS; i++) {
        struct cw_map *map = NULL;
        uint64_t start = clock_cpu_ns();
        if (cw_map_create(options, &map, NULL) != CW_OK)
            return 0;
        uint64_t passed = clock_cpu_ns() - start;
        cw_map_unref(&map);
        best = i && best < passed ? best : passed;
        spent += passed;
    }
    return (double)best * 1e-9;
}
