#include "control/metrics.h"

#include <inttypes.h>

#include "control/version.h"

enum metric_scope { SCOPE_ROUTER, SCOPE_WORKER, SCOPE_POOL, SCOPE_NODE, SCOPE_STORE };

enum metric_id {
#define METRIC(scope, name, type, value, help) METRIC_##name,
#include "control/metrics.def"
    METRIC_COUNT
};

struct metric {
    enum metric_scope scope;
    const char *name, *type, *help;
};

static const struct metric metrics[] = {
#define METRIC(scope, name, type, value, help) {SCOPE_##scope, #name, #type, help},
#include "control/metrics.def"
};

/* What the expressions of the table may name. */
struct sample {
    const struct metrics_router *router;
    const struct worker_report *worker;
    const struct snapshot_pool *pool;
    const struct cw_map *map;
    const struct snapshot_node *node;
    uint32_t index;
};

static double value_of(enum metric_id id, const struct sample *sample)
{
    const struct metrics_router *router = sample->router;
    const struct worker_report *worker = sample->worker;
    const struct snapshot_pool *pool = sample->pool;
    const struct cw_map *map = sample->map;
    const struct snapshot_node *node = sample->node;
    uint32_t index = sample->index;
    (void)index;
    /* clang-format off */
    switch (id) {
#define METRIC(scope, name, type, value, help)                                                     \
    case METRIC_##name: return (double)(value);
#include "control/metrics.def"
    case METRIC_COUNT: break;
    }
    /* clang-format on */
    return 0;
}

/* ---- one metric ------------------------------------------------------------------------------ */

/* Counters are shown as the whole numbers that they are. */
static void print_value(double value, struct buffer *out)
{
    if (value == (double)(uint64_t)value)
        buffer_printf(out, " %" PRIu64 "\n", (uint64_t)value);
    else
        buffer_printf(out, " %.9g\n", value);
}

static void print_head(const char *name, const char *type, const char *help, struct buffer *out)
{
    buffer_printf(out, "# HELP clockwise_%s %s\n# TYPE clockwise_%s %s\n", name, help, name, type);
}

static void print_workers(enum metric_id id, const struct snapshot *snapshot, struct buffer *out)
{
    for (uint32_t i = 0; i < snapshot->worker_count; i++) {
        struct sample sample = {.worker = &snapshot->workers[i]};
        buffer_printf(out, "clockwise_%s{worker=\"%" PRIu32 "\"}", metrics[id].name, i);
        print_value(value_of(id, &sample), out);
    }
}

static void print_nodes(enum metric_id id, const struct snapshot_pool *pool, struct buffer *out)
{
    for (uint32_t i = 0; i < cw_map_node_count(pool->map); i++) {
        struct sample sample = {.map = pool->map, .node = &pool->nodes[i], .index = i};
        if (metrics[id].scope == SCOPE_STORE && !sample.node->is_embedded)
            continue;
        buffer_printf(out, "clockwise_%s{pool=\"%s\",node=\"%s\"}", metrics[id].name,
                      pool->config->name, cw_map_node(pool->map, i)->id);
        print_value(value_of(id, &sample), out);
    }
}

static void print_pool(enum metric_id id, const struct snapshot_pool *pool, struct buffer *out)
{
    struct sample sample = {.pool = pool, .map = pool->map};
    buffer_printf(out, "clockwise_%s{pool=\"%s\"}", metrics[id].name, pool->config->name);
    print_value(value_of(id, &sample), out);
}

static void print_metric(enum metric_id id, const struct snapshot *snapshot,
                         const struct metrics_router *router, struct buffer *out)
{
    enum metric_scope scope = metrics[id].scope;
    print_head(metrics[id].name, metrics[id].type, metrics[id].help, out);
    if (scope == SCOPE_ROUTER) {
        buffer_printf(out, "clockwise_%s", metrics[id].name);
        print_value(value_of(id, &(struct sample){.router = router}), out);
    } else if (scope == SCOPE_WORKER) {
        print_workers(id, snapshot, out);
    }
    for (size_t i = 0; i < snapshot->pool_count; i++) {
        if (scope == SCOPE_POOL)
            print_pool(id, &snapshot->pools[i], out);
        else if (scope == SCOPE_NODE || scope == SCOPE_STORE)
            print_nodes(id, &snapshot->pools[i], out);
    }
}

/* ---- latency --------------------------------------------------------------------------------- */

static const char latency_name[] = "pool_request_seconds";
static const char latency_help[] = "Time from a request's arrival to its reply.";

/* Requests that took no longer than a bound, as far as the histogram's steps tell. */
static uint64_t count_up_to(const struct histogram *histogram, uint64_t bound_us)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS && histogram_bucket_limit(i) <= bound_us; i++)
        count += histogram->counts[i];
    return count;
}

static void print_latency(const struct snapshot_pool *pool, struct buffer *out)
{
    static const uint64_t bounds_us[] = {50,     100,     250,     500,     1000,    2500,
                                         5000,   10000,   25000,   50000,   100000,  250000,
                                         500000, 1000000, 2500000, 5000000, 10000000};
    const char *name = pool->config->name;
    const struct histogram *latency = &pool->latency;
    for (size_t i = 0; i < sizeof bounds_us / sizeof *bounds_us; i++)
        buffer_printf(out, "clockwise_%s_bucket{pool=\"%s\",le=\"%g\"} %" PRIu64 "\n", latency_name,
                      name, (double)bounds_us[i] / 1e6, count_up_to(latency, bounds_us[i]));
    buffer_printf(out, "clockwise_%s_bucket{pool=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", latency_name,
                  name, latency->count);
    buffer_printf(out, "clockwise_%s_sum{pool=\"%s\"} %.6f\n", latency_name, name,
                  (double)latency->sum / 1e6);
    buffer_printf(out, "clockwise_%s_count{pool=\"%s\"} %" PRIu64 "\n", latency_name, name,
                  latency->count);
}

/* ---- all ------------------------------------------------------------------------------------- */

void metrics_print(const struct snapshot *snapshot, const struct metrics_router *router,
                   struct buffer *out)
{
    print_head("info", "gauge", "The version that runs.", out);
    buffer_append_text(out, "clockwise_info{version=\"" CLOCKWISE_VERSION "\"} 1\n");
    for (int id = 0; id < METRIC_COUNT; id++)
        print_metric((enum metric_id)id, snapshot, router, out);
    print_head(latency_name, "histogram", latency_help, out);
    for (size_t i = 0; i < snapshot->pool_count; i++)
        print_latency(&snapshot->pools[i], out);
}

void metrics_print_reference(struct buffer *out)
{
    static const char *const labels[] = {"", "worker", "pool", "pool, node",
                                         "pool, node (embedded)"};
    buffer_append_text(out, "\n# Metrics\n\nAt `/metrics` of the admin address, for Prometheus.\n\n"
                            "| name | type | labels | meaning |\n|---|---|---|---|\n"
                            "| `clockwise_info` | gauge | version | The version that runs. |\n");
    for (int id = 0; id < METRIC_COUNT; id++)
        buffer_printf(out, "| `clockwise_%s` | %s | %s | %s |\n", metrics[id].name,
                      metrics[id].type, labels[metrics[id].scope], metrics[id].help);
    buffer_printf(out, "| `clockwise_%s` | histogram | pool | %s |\n", latency_name, latency_help);
}
