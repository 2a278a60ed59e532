/*
 * What a placement does with a fleet and a set of keys: balance, movement, heirs, memory, time.
 */
#ifndef CLI_COMPARE_MEASURE_H
#define CLI_COMPARE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clockwise/clockwise.h>

#include "cli/compare_fleet.h"
#include "cli/compare_keys.h"
#include "cli/compare_progress.h"

enum { MEASURE_PLACEMENTS_MAX = 16, MEASURE_WHY_MAX = 256 };

/* Loads relative to what nodes should have by their weights: 1 is fair. */
struct balance {
    double peak, lowest;
    double deviation; /* root mean square of load / fair - 1 over the nodes */
};

struct change_result {
    bool is_measured;
    bool is_last;              /* removal: of the last node, as the placement can remove no other */
    char why[MEASURE_WHY_MAX]; /* when it is not measured */
    char id[CW_ID_LEN_MAX + 1];
    double moved;    /* of the distinct keys */
    double ideal;    /* the least that this change of shares needs */
    double needless; /* moved though neither from nor to the node that changed, or the wrong way */
};

/* Who got the keys of the node that was removed. */
struct heirs {
    size_t count, possible;
    char largest_id[CW_ID_LEN_MAX + 1];
    double largest; /* its part of the dead node's keys */
    double excess;  /* the largest part relative to the heir's weight: 1 is even */
    double peak;    /* of the loads of the nodes that are left */
    uint64_t *keys; /* by node of the fleet */
};

struct placement_result {
    enum cw_placement placement;
    unsigned capabilities;
    bool is_measured;
    bool ignores_weights; /* it knows none, and they differ: measured as if all were 1 */
    char why[MEASURE_WHY_MAX];
    uint64_t *keys, *lines; /* by node of the fleet */
    struct balance key_balance, line_balance;
    struct change_result changes[FLEET_CHANGES];
    struct heirs heirs;
    size_t memory;
    double build_seconds;
    double single_ns, batch_ns; /* a lookup of a hash */
};

/* What keys would deviate by if each went to a node by lot: the floor of every placement. */
struct chance {
    double keys, lines;
};

struct measure {
    const struct cli_command *command;
    const struct fleet *fleet;
    const struct key_set *keys;
    struct progress *progress;
    uint64_t steps_done, steps; /* for the progress bar */
};

struct balance balance_of(const struct cw_map *fleet, const uint64_t *loads);
struct chance chance_of(const struct cw_map *fleet, const struct key_set *keys);

/* CLI_OK, also when the placement cannot be made (why says it), or CLI_FAILED after saying why.
 * Release the result in any case. */
int measure_placement(struct measure *measure, enum cw_placement placement,
                      struct placement_result *ret_result);
void placement_result_release(struct placement_result *result);

/* ---- lookups (compare_lookup.c) -------------------------------------------------------------- */

/* Processor time of a lookup, the best of some short runs over the keys. */
double lookup_single_ns(const struct cw_map *map, const struct key_set *keys);
double lookup_batch_ns(const struct cw_map *map, const struct key_set *keys);
/* Builds the map some times; the best. 0 when it cannot be built. */
double build_seconds_of(const struct cw_map_options *options);

#endif
