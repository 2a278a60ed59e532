/*
 * clockwise apply: makes a running router's pool what a configuration says of it.
 */
#include "cli/apply_go.h"

#include "cli/commands.h"
#include "control/config.h"
#include "router/router.h"

static json_t *node_json(const struct config_node *node, bool is_embedded)
{
    json_t *object = json_pack("{s:s, s:I}", "id", node->id, "weight", (json_int_t)node->weight);
    if (object && !is_embedded && node->address)
        json_object_set_new(object, "address", json_string(node->address));
    if (object && node->zone)
        json_object_set_new(object, "zone", json_string(node->zone));
    return object;
}

/* All that the file says of the pool which a router cannot change by itself, or may not. */
static json_t *wish_of(const struct config_pool *pool)
{
    bool is_embedded = pool->engine == ENGINE_EMBEDDED;
    enum cw_placement placement = cw_map_placement(pool->map);
    json_t *nodes = json_array();
    for (size_t i = 0; i < pool->node_count; i++)
        json_array_append_new(nodes, node_json(&pool->nodes[i], is_embedded));
    static const char *const engines[] = {
        [ENGINE_REDIS] = "redis",
        [ENGINE_EMBEDDED] = "embedded",
        [CONFIG_ENGINE_MEMCACHED] = "memcached",
        [CONFIG_ENGINE_OTHER] = "other",
    };
    json_t *wish = json_pack("{s:o, s:s, s:s}", "nodes", nodes, "engine", engines[pool->engine],
                             "placement", cw_placement_name(placement));
    if (wish && placement == CW_PLACEMENT_SLOTS)
        json_object_set_new(wish, "slots", json_integer(cw_map_slot_count(pool->map)));
    if (wish && placement == CW_PLACEMENT_RING)
        json_object_set_new(wish, "tokens", json_integer((json_int_t)pool->tokens));
    return wish;
}

static int run(const struct cli_args *args)
{
    struct config *config;
    size_t index;
    if (args->operand_count != 1)
        return cli_usage(args->command, "which configuration? clockwise apply FILE");
    int status = map_source_read_config(args->operands[0], cli_value(args, "pool"), &config,
                                        &index);
    if (status != CLI_OK)
        return status;
    status = apply_go(args, config->pools[index].name, wish_of(&config->pools[index]), NULL);
    config_destroy(&config);
    return status;
}

static const struct cli_option options[] = {
    APPLY_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_apply = {
    .name = "apply",
    .operands = "FILE",
    .summary = "Make a pool of the running router what a configuration says of its nodes.",
    .details = "Compares the file with the router's map, shows what would move (estimated by "
               "sampling the nodes),\nasks, and carries it out while clients work. Only nodes, "
               "weights, zones and the placement are\nchanged; everything else in the file is read "
               "when a router starts. A node's new address is a\nchange of its own: `clockwise "
               "node replace`.\n\n"
               "  clockwise apply clockwise.yaml --dry-run\n"
               "  clockwise apply clockwise.yaml --throttle keys=20000,auto\n",
    .options = options,
    .run = run,
};
