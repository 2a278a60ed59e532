/*
 * The metrics table (metrics.def) as Prometheus text, and as a part of the reference.
 */
#ifndef CONTROL_METRICS_H
#define CONTROL_METRICS_H

#include "base/buffer.h"
#include "control/snapshot.h"

struct metrics_router {
    double uptime_seconds;
    uint32_t worker_count;
};

void metrics_print(const struct snapshot *snapshot, const struct metrics_router *router,
                   struct buffer *out);
void metrics_print_reference(struct buffer *out);

#endif
