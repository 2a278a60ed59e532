/*
 * A snapshot as JSON: what /v1/status and /v1/pools answer.
 */
#ifndef CONTROL_STATUS_JSON_H
#define CONTROL_STATUS_JSON_H

#include "base/buffer.h"
#include "control/snapshot.h"

/* False when memory is out. */
bool status_print_json(const struct snapshot *snapshot, double uptime_seconds, struct buffer *out);
bool pools_print_json(const struct config *config, struct router *router, struct buffer *out);

#endif
