/*
 * Waiting for a transition to end: a bar on a terminal, lines elsewhere, a summary at the end. The
 * transition is the router's: whoever stops waiting does not stop it.
 */
#ifndef CLI_APPLY_WATCH_H
#define CLI_APPLY_WATCH_H

#include <jansson.h>

#include "cli/cli.h"

/* Waits until the pool's transition ends, or is paused with a reason. CLI_OK when it was carried
 * out, with its last state in *ret_transition (a new reference; NULL is fine). Interrupted, it says
 * how to look, and the process ends as one that was interrupted. */
int apply_watch(const char *admin, const char *pool, json_t **ret_transition);

/* "tracking, 41 %, 1200 keys/s, 1.2 MB, p99 0.4 ms, 0:12 left", without a state where has_state is
 * false. */
void apply_append_progress(const json_t *transition, bool has_state, struct buffer *out);

/* "done: add cache-4; 12345 keys (1.2 MB) moved in 12.3 s; writes were held for 1.3 ms at most" */
void apply_append_summary(const json_t *transition, struct buffer *out);

#endif
