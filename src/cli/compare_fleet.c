#include "cli/compare_fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/map_source.h"
#include "placement/map.h"

enum { NODES_UNLESS_SET = 10 };

/* ---- the nodes ------------------------------------------------------------------------------- */

/* Rendezvous keeps no state and does everything: a map of it is nothing but checked nodes. */
static int make_map(const struct cw_node *nodes, size_t count, struct cw_map **ret_map)
{
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RENDEZVOUS, .nodes = nodes, .node_count = count};
    struct cw_error error = {0};
    if (cw_map_create(&options, ret_map, &error) != CW_OK)
        return cli_fail("%s", error.message);
    return CLI_OK;
}

static int nodes_of_source(const struct cli_args *args, struct fleet *fleet)
{
    struct map_source source;
    struct node_list list;
    int status = map_source_open(args, &source);
    if (status != CLI_OK)
        return status;
    snprintf(fleet->pool, sizeof fleet->pool, "%s", source.pool);
    fleet->slot_count = source.map->slot_count;
    fleet->tokens_per_weight = source.map->tokens_per_weight;
    fleet->table_size = source.map->table_size;
    status = node_list_init(&list, source.map, 0);
    if (status == CLI_OK)
        status = make_map(list.nodes, list.count, &fleet->map);
    node_list_release(&list);
    cw_map_unref(&source.map);
    return status;
}

static int nodes_of_options(const struct cli_args *args, struct fleet *fleet)
{
    struct node_list list;
    int status = node_list_init(&list, NULL, args->given_count);
    for (size_t i = 0; i < args->given_count && status == CLI_OK; i++)
        if (strcmp(args->given[i].option->name, "node") == 0)
            status = node_list_add(&list, args->command, args->given[i].value);
    if (status == CLI_OK)
        status = make_map(list.nodes, list.count, &fleet->map);
    node_list_release(&list);
    return status;
}

static int read_count(const struct cli_args *args, size_t *ret_count)
{
    const char *text = cli_value(args, "nodes");
    char *end = NULL;
    *ret_count = NODES_UNLESS_SET;
    if (!text)
        return CLI_OK;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || count < 1 || count > CW_NODE_COUNT_MAX)
        return cli_usage(args->command, "--nodes %s: use 1 to %u", text, CW_NODE_COUNT_MAX);
    *ret_count = count;
    return CLI_OK;
}

static int numbered_nodes(const struct cli_args *args, struct fleet *fleet)
{
    enum { ID_SIZE = 32 };
    size_t count;
    int status = read_count(args, &count);
    if (status != CLI_OK)
        return status;
    struct cw_node *nodes = calloc(count, sizeof *nodes);
    char *ids = calloc(count, ID_SIZE);
    for (size_t i = 0; nodes && ids && i < count; i++) {
        snprintf(ids + i * ID_SIZE, ID_SIZE, "node-%zu", i + 1);
        nodes[i] = (struct cw_node){.id = ids + i * ID_SIZE, .weight = 1};
    }
    status = nodes && ids ? make_map(nodes, count, &fleet->map) : cli_fail("out of memory");
    free(ids);
    free(nodes);
    return status;
}

static int make_even(struct fleet *fleet)
{
    struct node_list list;
    uint32_t first = cw_map_node(fleet->map, 0)->weight;
    int status = node_list_init(&list, fleet->map, 0);
    for (size_t i = 0; status == CLI_OK && i < list.count; i++) {
        fleet->has_weights |= list.nodes[i].weight != first;
        list.nodes[i].weight = 1;
    }
    if (status == CLI_OK)
        status = make_map(list.nodes, list.count, &fleet->even);
    node_list_release(&list);
    return status;
}

/* ---- what changes unless it is said ---------------------------------------------------------- */

static int by_weight(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* The weight that most nodes have; the least of several. 0 when memory is out. */
static uint32_t usual_weight(const struct cw_map *map)
{
    uint32_t count = cw_map_node_count(map), usual = 0, most = 0, run = 0;
    uint32_t *weights = calloc(count, sizeof *weights);
    if (!weights)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        weights[i] = cw_map_node(map, i)->weight;
    qsort(weights, count, sizeof *weights, by_weight);
    for (uint32_t i = 0; i < count; i++) {
        run = i && weights[i] == weights[i - 1] ? run + 1 : 1;
        if (run > most) {
            most = run;
            usual = weights[i];
        }
    }
    free(weights);
    return usual;
}

/* An id that no node has. */
static void new_id(const struct cw_map *map, char *ret_id, size_t size)
{
    snprintf(ret_id, size, "new");
    for (unsigned i = 2; cw_map_find_node(map, ret_id) != CW_NO_NODE; i++)
        snprintf(ret_id, size, "new-%u", i);
}

static int set_changes(const struct cli_args *args, struct fleet *fleet)
{
    static const char *const names[] = {"add", "remove", "weight"};
    const struct cw_node *middle = cw_map_node(fleet->map, cw_map_node_count(fleet->map) / 2);
    char id[CW_ID_LEN_MAX + 1];
    uint32_t usual = usual_weight(fleet->map);
    if (usual == 0)
        return cli_fail("out of memory");
    new_id(fleet->map, id, sizeof id);
    uint32_t twice = middle->weight > CW_WEIGHT_MAX / 2 ? middle->weight / 2 : middle->weight * 2;
    snprintf(fleet->texts[FLEET_ADD], sizeof *fleet->texts, "%s,weight=%u", id, usual);
    snprintf(fleet->texts[FLEET_REMOVE], sizeof *fleet->texts, "%s", middle->id);
    snprintf(fleet->texts[FLEET_WEIGH], sizeof *fleet->texts, "%s=%u", middle->id, twice);
    for (size_t i = 0; i < FLEET_CHANGES; i++) {
        const char *text = cli_value(args, names[i]);
        if (text && strlen(text) >= sizeof *fleet->texts)
            return cli_usage(args->command, "--%s: too long", names[i]);
        if (text)
            snprintf(fleet->texts[i], sizeof *fleet->texts, "%s", text);
    }
    return CLI_OK;
}

/* So that a slip of the pen is told before an hour of measuring. */
static int check_changes(const struct cli_args *args, const struct fleet *fleet)
{
    int status = CLI_OK;
    for (size_t i = 0; i < FLEET_CHANGES && status == CLI_OK; i++) {
        struct node_list list;
        struct cw_map *map = NULL;
        status = fleet_apply(fleet, args->command, (enum fleet_change)i, NULL, false, &list);
        if (status == CLI_OK && list.count)
            status = make_map(list.nodes, list.count, &map);
        node_list_release(&list);
        cw_map_unref(&map);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int open_nodes(const struct cli_args *args, struct fleet *fleet)
{
    bool has_source = cli_has(args, "config") || cli_has(args, "admin") || cli_has(args, "pool");
    if (has_source + cli_has(args, "nodes") + cli_has(args, "node") > 1)
        return cli_usage(args->command, "-c or --admin, --nodes and --node exclude each other");
    if (has_source)
        return nodes_of_source(args, fleet);
    return cli_has(args, "node") ? nodes_of_options(args, fleet) : numbered_nodes(args, fleet);
}

int fleet_open(const struct cli_args *args, struct fleet *ret_fleet)
{
    *ret_fleet = (struct fleet){0};
    int status = open_nodes(args, ret_fleet);
    if (status == CLI_OK)
        status = make_even(ret_fleet);
    if (status == CLI_OK)
        status = set_changes(args, ret_fleet);
    if (status == CLI_OK)
        status = check_changes(args, ret_fleet);
    if (status != CLI_OK)
        fleet_release(ret_fleet);
    return status;
}

void fleet_release(struct fleet *fleet)
{
    cw_map_unref(&fleet->map);
    cw_map_unref(&fleet->even);
}

int fleet_apply(const struct fleet *fleet, const struct cli_command *command,
                enum fleet_change change, const char *removed, bool is_even,
                struct node_list *ret_list)
{
    const char *text = removed ? removed : fleet->texts[change];
    int status = node_list_init(ret_list, is_even ? fleet->even : fleet->map, 1);
    if (status != CLI_OK)
        return status;
    if (change == FLEET_ADD)
        status = node_list_add(ret_list, command, text);
    else if (change == FLEET_REMOVE)
        status = node_list_remove(ret_list, command, text);
    else
        status = node_list_weigh(ret_list, command, text);
    for (size_t i = 0; is_even && i < ret_list->count; i++)
        ret_list->nodes[i].weight = 1;
    return status;
}

void fleet_changed_id(const struct fleet *fleet, enum fleet_change change, char *ret_id,
                      size_t size)
{
    const char *text = fleet->texts[change];
    snprintf(ret_id, size, "%.*s", (int)strcspn(text, change == FLEET_REMOVE ? "" : "=,"), text);
}
