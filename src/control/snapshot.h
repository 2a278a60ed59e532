/*
 * What the router knows of itself at one moment: asked from worker after worker, each on its own
 * loop, and put together for status and metrics. The asking waits, but never for ever: a worker
 * that does not come round within the time is an answer too.
 */
#ifndef CONTROL_SNAPSHOT_H
#define CONTROL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clockwise/clockwise.h>

#include "base/histogram.h"
#include "control/config.h"
#include "control/fleet.h"
#include "router/router.h"

/* A node as all workers see it, added up. */
struct snapshot_node {
    uint32_t workers_up, workers_probing, workers_down;
    uint64_t requests, errors, timeouts, in_flight, reconnects, bytes_out, bytes_in;
    bool is_embedded; /* then `store` is filled */
    struct embedded_node_stats store;
};

struct snapshot_pool {
    const struct config_pool *config;
    struct cw_map *map;          /* a reference of its own */
    struct snapshot_node *nodes; /* numbered as in the map */
    uint32_t workers_at_map;     /* workers that serve this generation by now */
    struct histogram latency;    /* microseconds */
};

struct snapshot {
    size_t pool_count;
    struct snapshot_pool *pools;
    uint32_t worker_count;
    struct worker_report *workers;
    struct worker_report total;
};

struct monitor;

int monitor_create(const struct config *config, struct router *router, const struct fleet *fleet,
                   uint32_t worker_count, struct monitor **ret_monitor);
/* After the workers have stopped. NULL is fine. */
void monitor_destroy(struct monitor **monitor);

/* Asks all workers. 0, -ETIMEDOUT or -ENOMEM. Any thread; one after the other. */
int monitor_read(struct monitor *monitor, uint32_t timeout_ms, struct snapshot **ret_snapshot);
void snapshot_destroy(struct snapshot **snapshot);

/* What most concerns an operator of what the workers say: down where one of them says so. */
enum node_health snapshot_health(const struct snapshot_node *node);
/* "up", "down", or "unknown" while nobody needed the node yet. */
const char *snapshot_health_name(enum node_health health);

#endif
