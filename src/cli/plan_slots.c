#include "cli/plan_slots.h"

#include <stdlib.h>

#include <clockwise/profile.h>

#include "cli/cli.h"

enum { WEIGHT_UNITS = 100000 }; /* of all nodes together */

/* The nodes with whole weights in proportion to what each should have; the caller frees them. */
static struct cw_node *copy_nodes(const struct cw_map *map)
{
    uint32_t count = cw_map_node_count(map);
    struct cw_node *nodes = calloc(count, sizeof *nodes);
    for (uint32_t i = 0; nodes && i < count; i++) {
        double weight = cw_map_ideal_share(map, i) * WEIGHT_UNITS + 0.5;
        nodes[i] = *cw_map_node(map, i);
        nodes[i].weight = weight < 1 ? 1 : (uint32_t)weight;
    }
    return nodes;
}

static int make_maps(const struct planned *planned, struct cw_map **ret_from,
                     struct cw_map **ret_to)
{
    struct cw_map_options options = {.placement = CW_PLACEMENT_SLOTS,
                                     .node_count = cw_map_node_count(planned->from)};
    struct cw_node *before = copy_nodes(planned->from), *after = copy_nodes(planned->to);
    int status = CW_ENOMEM;
    options.nodes = before;
    if (before && after)
        status = cw_map_create(&options, ret_from, NULL);
    if (status == CW_OK)
        status = cw_map_change(*ret_from, after, cw_map_node_count(planned->to), ret_to, NULL);
    free(before);
    free(after);
    return status;
}

int plan_with_slots(struct planned *planned)
{
    struct cw_map *from = NULL, *to = NULL;
    struct cw_plan *plan = NULL;
    if (!cw_map_profile_map(planned->from) || !cw_map_profile_map(planned->to))
        return CLI_OK;
    int status = make_maps(planned, &from, &to);
    if (status == CW_OK)
        status = cw_plan_create(from, to, &plan);
    if (status == CW_OK) {
        planned->has_slots = true;
        planned->slots_share = cw_plan_share(plan);
        planned->slots_needless_share = cw_plan_needless_share(plan);
    }
    cw_plan_destroy(&plan);
    cw_map_unref(&from);
    cw_map_unref(&to);
    /* More nodes than slots: then there is nothing to say. */
    return status == CW_ENOMEM ? cli_fail("out of memory") : CLI_OK;
}
