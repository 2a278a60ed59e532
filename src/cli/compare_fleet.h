/*
 * The nodes that placements are compared on, and the three changes of them that are tried: one node
 * more, one gone, one of another weight.
 */
#ifndef CLI_COMPARE_FLEET_H
#define CLI_COMPARE_FLEET_H

#include <stdbool.h>

#include <clockwise/clockwise.h>

#include "cli/cli.h"
#include "cli/plan_change.h"

enum fleet_change { FLEET_ADD, FLEET_REMOVE, FLEET_WEIGH, FLEET_CHANGES };

struct fleet {
    char pool[64];       /* "" when it comes from no configuration */
    struct cw_map *map;  /* validates and owns the nodes; any placement numbers them alike */
    struct cw_map *even; /* the same nodes, all of weight 1 */
    bool has_weights;    /* not all are equal */
    uint32_t slot_count, tokens_per_weight, table_size; /* 0: the default */
    char texts[FLEET_CHANGES][512];                     /* "ID,weight=W", "ID", "ID=W" */
};

/* The options of the fleet, for the command's table; MAP_SOURCE_OPTIONS besides. */
#define FLEET_OPTIONS                                                                              \
    {"nodes", 'n', "N", "N nodes of weight 1 (10 unless something else is said)."},                \
        {"node", 0, "ID[,weight=W][,zone=Z]", "A node; may stand several times."},                 \
        {"add", 'a', "ID[,weight=W][,zone=Z]",                                                     \
         "The node that is added (one of the usual weight unless set)."},                          \
        {"remove", 'r', "ID", "The node that is removed (one in the middle unless set)."},         \
    {                                                                                              \
        "weight", 'w', "ID=W", "The node that gets another weight (one in the middle: double)."    \
    }

/* CLI_OK, or another exit code after saying why. */
int fleet_open(const struct cli_args *args, struct fleet *ret_fleet);
void fleet_release(struct fleet *fleet);

/* The nodes after a change; `is_even`: weights are not looked at. `removed` is another node than
 * the one that the fleet names, or NULL. Release the list in any case. */
int fleet_apply(const struct fleet *fleet, const struct cli_command *command,
                enum fleet_change change, const char *removed, bool is_even,
                struct node_list *ret_list);
/* The id of the node that changes. */
void fleet_changed_id(const struct fleet *fleet, enum fleet_change change, char *ret_id,
                      size_t size);

#endif
