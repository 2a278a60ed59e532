/*
 * The pages of the admin address with which a fleet is changed: what is below /v1/pools/NAME/.
 *
 *   POST plan                     what a change would move (change_request.h); changes nothing
 *   POST transitions              the same, and it is started
 *   GET  transition               the one that runs, or the last one
 *   POST transition/pause         and resume, cancel; throttle with {"keys_per_second": …, …}
 *   GET  history                  the journal
 *
 * The mover answers on its own loop, so these pages wait, but never for ever.
 */
#ifndef CONTROL_ADMIN_CHANGE_H
#define CONTROL_ADMIN_CHANGE_H

#include <stdatomic.h>

#include "control/admin_answer.h"
#include "control/config.h"
#include "control/map_folder.h"
#include "move/mover.h"

struct admin_change {
    const struct config *config;
    struct router *router;
    struct mover *mover;
    const struct map_folder *journals; /* NULL: maps are not stored, so nothing can be changed */
    const atomic_bool *is_stopping;
    uint32_t timeout_ms; /* how long the mover may take */
};

struct admin_question {
    const char *method, *url;
    const char *body; /* body_len bytes, of a POST */
    size_t body_len;
    const char *peer; /* who asks, as "127.0.0.1:53122" */
};

/* Whether admin_change_page() has an answer, be it that there is no such pool. */
bool admin_change_has_page(const char *url);
/* Answers, or returns false when there is no such page. Any thread. */
bool admin_change_page(const struct admin_change *change, const struct admin_question *question,
                       struct answer *answer);

#endif
