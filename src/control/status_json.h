/*
 * A snapshot as JSON: what /v1/status and /v1/pools answer.
 */
#ifndef CONTROL_STATUS_JSON_H
#define CONTROL_STATUS_JSON_H

#include "base/buffer.h"
#include "control/snapshot.h"

struct mover;

/* False when memory is out. With a mover (else NULL) pools have their transition and losses. */
bool status_print_json(const struct snapshot *snapshot, double uptime_seconds, struct mover *mover,
                       struct buffer *out);
bool pools_print_json(const struct config *config, struct router *router, struct buffer *out);

#endif
