/*
 * What a person wants of a pool, as the pages `plan` and `transitions` are told it: JSON, read
 * strictly. Unknown keys are errors with the nearest right name. Whether it makes sense for the
 * pool is change_check.h's.
 *
 *   {"nodes": [{"id": "a", "address": "10.0.0.1:6379", "weight": 1, "zone": "z"}, …]}  all of them
 *   {"add": [node, …], "drain": ["id", …], "weight": [{"id": "a", "weight": 2}, …]}    or changes
 *   {"replace": {"id": "a", "address": "10.0.0.9:6379"}}
 *   {"dead": "a"}
 *
 * and with any of them "placement", "engine", "slots", "tokens" (as in the configuration; compared
 * with what there is), "generation" (planned on that one), "deep", "purge", "no_copy", "throttle":
 * {"keys_per_second": 0, "bytes_per_second": 0, "automatic": true}, "who".
 */
#ifndef CONTROL_CHANGE_REQUEST_H
#define CONTROL_CHANGE_REQUEST_H

#include <jansson.h>

#include <clockwise/clockwise.h>

#include "move/throttle.h"

enum { CHANGE_TEXT_SIZE = 600 };

/* Why something is refused, as "reason; remedy", and the negative errno that it is. */
struct change_problem {
    int status;
    char text[CHANGE_TEXT_SIZE];
};
/* Returns false. */
bool change_refuse(struct change_problem *problem, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct change_nodes {
    struct cw_node *nodes; /* weight 0: not said; address NULL: not said */
    size_t count;
};

struct change_request {
    json_t *root;   /* owns the texts */
    bool has_nodes; /* `nodes` are all that there shall be */
    struct change_nodes nodes, add, weigh;
    const char **drain;
    size_t drain_count;
    struct cw_node replace; /* id NULL: none */
    const char *dead;       /* NULL: none, and so below */
    const char *placement, *engine, *who;
    uint64_t slots, tokens, generation; /* 0: not said */
    bool is_deep, may_purge, no_copy;
    struct throttle_settings throttle; /* automatic, without limits, unless said */
};

/* Reads a body. False with the reason; then nothing is left to release. */
bool change_request_parse(const char *text, size_t len, struct change_request *ret_request,
                          struct change_problem *ret_problem);
/* Reads {"keys_per_second": …, …} alone, the body of `throttle`. */
bool change_throttle_parse(const char *text, size_t len, struct throttle_settings *ret_settings,
                           struct change_problem *ret_problem);
void change_request_release(struct change_request *request);

#endif
