/*
 * The last transition of a pool as its journal tells of it: for a router that was started since,
 * whose mover knows only what it did itself.
 */
#ifndef CONTROL_LAST_TRANSITION_H
#define CONTROL_LAST_TRANSITION_H

#include <stdbool.h>
#include <stddef.h>

#include "control/journal.h"
#include "move/mover.h"

/* Makes a report of the last transition among entries, oldest first. What the journal does not tell
 * is 0: the progress, the counters, the throttle; the maps are NULL. False when there was none. */
bool last_transition(const struct journal_entry *entries, size_t count,
                     struct mover_report *ret_report);

#endif
