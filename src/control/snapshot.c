#include "control/snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"

struct monitor {
    const struct config *config;
    struct router *router;
    const struct fleet *fleet;
    uint32_t worker_count;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_taken;            /* a thread is in monitor_read() */
    bool is_asking;           /* the workers have `pending` until they say done */
    struct snapshot *pending; /* outlives a question that timed out */
};

/* ---- snapshots ------------------------------------------------------------------------------- */

void snapshot_destroy(struct snapshot **snapshot)
{
    if (!*snapshot)
        return;
    for (size_t i = 0; (*snapshot)->pools && i < (*snapshot)->pool_count; i++) {
        cw_map_unref(&(*snapshot)->pools[i].map);
        free((*snapshot)->pools[i].nodes);
    }
    free((*snapshot)->pools);
    free((*snapshot)->workers);
    free(*snapshot);
    *snapshot = NULL;
}

static bool fill_pools(struct snapshot *snapshot, struct monitor *monitor)
{
    for (size_t i = 0; i < snapshot->pool_count; i++) {
        struct snapshot_pool *pool = &snapshot->pools[i];
        pool->config = &monitor->config->pools[i];
        pool->map = router_map(monitor->router, (uint32_t)i);
        pool->nodes = calloc(cw_map_node_count(pool->map), sizeof *pool->nodes);
        if (!pool->nodes)
            return false;
    }
    return true;
}

static struct snapshot *snapshot_create(struct monitor *monitor)
{
    struct snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot)
        return NULL;
    snapshot->pool_count = monitor->config->pool_count;
    snapshot->worker_count = monitor->worker_count;
    snapshot->pools = calloc(snapshot->pool_count, sizeof *snapshot->pools);
    snapshot->workers = calloc(snapshot->worker_count, sizeof *snapshot->workers);
    if (!snapshot->pools || !snapshot->workers || !fill_pools(snapshot, monitor))
        snapshot_destroy(&snapshot);
    return snapshot;
}

/* ---- on the workers' loops ------------------------------------------------------------------- */

static void add_node(struct snapshot_node *sum, const struct node_report *report)
{
    sum->workers_up += report->health == NODE_UP;
    sum->workers_probing += report->health == NODE_PROBING;
    sum->workers_down += report->health == NODE_DOWN;
    sum->requests += report->requests;
    sum->errors += report->errors;
    sum->timeouts += report->timeouts;
    sum->in_flight += report->in_flight;
    sum->reconnects += report->reconnects;
    sum->bytes_out += report->bytes_out;
    sum->bytes_in += report->bytes_in;
}

static void visit_pool(struct snapshot_pool *pool, const struct worker *worker, uint32_t index)
{
    uint32_t count = worker_node_count(worker, index);
    for (uint32_t i = 0; i < count; i++) {
        struct node_report report;
        worker_read_node(worker, index, i, &report);
        /* A worker may still have another map: what it says of nodes that are gone is left out. */
        uint32_t node = cw_map_find_node(pool->map, report.id);
        if (node != CW_NO_NODE)
            add_node(&pool->nodes[node], &report);
    }
    pool->workers_at_map += worker_map_generation(worker, index) == cw_map_generation(pool->map);
    histogram_merge(&pool->latency, worker_latency(worker, index));
}

static void add_report(struct worker_report *sum, const struct worker_report *report)
{
    sum->clients += report->clients;
    sum->clients_total += report->clients_total;
    sum->blocked_clients += report->blocked_clients;
    sum->clients_refused += report->clients_refused;
    sum->requests += report->requests;
    sum->errors += report->errors;
    sum->split_requests += report->split_requests;
    sum->refused_commands += report->refused_commands;
    sum->bytes_in += report->bytes_in;
    sum->bytes_out += report->bytes_out;
}

static void visit(struct worker *worker, void *context)
{
    struct snapshot *snapshot = ((struct monitor *)context)->pending;
    uint32_t index = worker_index(worker);
    CW_ASSERT(index < snapshot->worker_count);
    worker_read_report(worker, &snapshot->workers[index]);
    add_report(&snapshot->total, &snapshot->workers[index]);
    for (size_t i = 0; i < snapshot->pool_count; i++)
        visit_pool(&snapshot->pools[i], worker, (uint32_t)i);
}

static void done(void *context)
{
    struct monitor *monitor = context;
    pthread_mutex_lock(&monitor->lock);
    monitor->is_asking = false;
    pthread_cond_broadcast(&monitor->changed);
    pthread_mutex_unlock(&monitor->lock);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct timespec deadline_in(uint32_t timeout_ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += timeout_ms / 1000;
    at.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Waits until the workers have done. 0 or -ETIMEDOUT. */
static int wait_done(struct monitor *monitor, const struct timespec *deadline)
{
    int error = 0;
    pthread_mutex_lock(&monitor->lock);
    while (monitor->is_asking && error == 0)
        error = pthread_cond_timedwait(&monitor->changed, &monitor->lock, deadline);
    bool is_asking = monitor->is_asking;
    pthread_mutex_unlock(&monitor->lock);
    return is_asking ? -ETIMEDOUT : 0;
}

/* Threads that ask wait for each other. 0 or -ETIMEDOUT. */
static int take_turn(struct monitor *monitor, const struct timespec *deadline)
{
    int error = 0;
    pthread_mutex_lock(&monitor->lock);
    while (monitor->is_taken && error == 0)
        error = pthread_cond_timedwait(&monitor->changed, &monitor->lock, deadline);
    bool is_mine = !monitor->is_taken;
    monitor->is_taken = true;
    pthread_mutex_unlock(&monitor->lock);
    return is_mine ? 0 : -ETIMEDOUT;
}

static void give_turn(struct monitor *monitor)
{
    pthread_mutex_lock(&monitor->lock);
    monitor->is_taken = false;
    pthread_cond_broadcast(&monitor->changed);
    pthread_mutex_unlock(&monitor->lock);
}

static int start_asking(struct monitor *monitor)
{
    snapshot_destroy(&monitor->pending);
    monitor->pending = snapshot_create(monitor);
    if (!monitor->pending)
        return -ENOMEM;
    monitor->is_asking = true;
    int status = router_visit(monitor->router, visit, done, monitor);
    if (status < 0)
        monitor->is_asking = false;
    return status;
}

static void add_store(void *context, const char *pool_name, const char *id,
                      const struct embedded_node_stats *stats)
{
    struct snapshot *snapshot = context;
    for (size_t i = 0; i < snapshot->pool_count; i++) {
        struct snapshot_pool *pool = &snapshot->pools[i];
        uint32_t node = cw_map_find_node(pool->map, id);
        if (strcmp(pool->config->name, pool_name) != 0 || node == CW_NO_NODE)
            continue;
        pool->nodes[node].is_embedded = true;
        pool->nodes[node].store = *stats;
    }
}

/* In turn: `pending` is this thread's and the workers'. */
static int ask(struct monitor *monitor, const struct timespec *deadline,
               struct snapshot **ret_snapshot)
{
    /* A question that timed out before must come to its end first. */
    int status = wait_done(monitor, deadline);
    if (status == 0)
        status = start_asking(monitor);
    if (status == 0)
        status = wait_done(monitor, deadline);
    if (status < 0)
        return status;
    fleet_read_stats(monitor->fleet, add_store, monitor->pending);
    *ret_snapshot = monitor->pending;
    monitor->pending = NULL;
    return 0;
}

int monitor_read(struct monitor *monitor, uint32_t timeout_ms, struct snapshot **ret_snapshot)
{
    struct timespec deadline = deadline_in(timeout_ms);
    int status = take_turn(monitor, &deadline);
    if (status < 0)
        return status;
    status = ask(monitor, &deadline, ret_snapshot);
    give_turn(monitor);
    return status;
}

int monitor_create(const struct config *config, struct router *router, const struct fleet *fleet,
                   uint32_t worker_count, struct monitor **ret_monitor)
{
    pthread_condattr_t attributes;
    struct monitor *monitor = calloc(1, sizeof *monitor);
    if (!monitor)
        return -ENOMEM;
    monitor->config = config;
    monitor->router = router;
    monitor->fleet = fleet;
    monitor->worker_count = worker_count;
    pthread_mutex_init(&monitor->lock, NULL);
    /* Setting the clock must not make a question time out. */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&monitor->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    *ret_monitor = monitor;
    return 0;
}

void monitor_destroy(struct monitor **monitor)
{
    if (!*monitor)
        return;
    snapshot_destroy(&(*monitor)->pending);
    pthread_cond_destroy(&(*monitor)->changed);
    pthread_mutex_destroy(&(*monitor)->lock);
    free(*monitor);
    *monitor = NULL;
}

/* ---- health ---------------------------------------------------------------------------------- */

enum node_health snapshot_health(const struct snapshot_node *node)
{
    if (node->workers_down)
        return NODE_DOWN;
    return node->workers_up ? NODE_UP : NODE_PROBING;
}

const char *snapshot_health_name(enum node_health health)
{
    return health == NODE_UP ? "up" : health == NODE_DOWN ? "down" : "unknown";
}
