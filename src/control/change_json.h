/*
 * What the admin address tells of changes, as JSON: a plan with estimates, and a transition.
 */
#ifndef CONTROL_CHANGE_JSON_H
#define CONTROL_CHANGE_JSON_H

#include <jansson.h>

#include "control/change_check.h"
#include "control/change_wait.h"
#include "control/journal.h"

/* What a change would do. The estimate may be NULL only where nothing would change. A new
 * reference, or NULL when memory is out. Cost: that of cw_plan_create() or cw_plan_estimate(). */
json_t *change_plan_json(const struct change_pool *pool, const struct change *change,
                         const struct change_estimate *estimate);

/* A transition that runs, or the last one. */
json_t *change_transition_json(const char *pool, const struct mover_report *report);

/* One that this router did not carry out itself (last_transition()): without "progress", "throttle"
 * and "writes", which nobody knows any more. */
json_t *change_ended_json(const char *pool, const struct mover_report *report);

/* The journal's entries, oldest first. */
json_t *change_history_json(const char *pool, const struct journal_entry *entries, size_t count);

/* "none", "running", "paused", "done" or "cancelled". */
const char *change_outcome(const struct mover_report *report);

/* Text that may be anything (a key's name) as a JSON string in which it can be read. */
json_t *change_any_text(const char *text);

#endif
