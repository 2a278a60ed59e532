/*
 * From the configuration to maps and to what the router is made of.
 */
#include "control/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/clockwise.h>

#include "control/address_check.h"
#include "control/options.h"
#include "control/yaml_tree.h"
#include "router/router.h"
#include "store/embedded_node.h"

enum { WORKERS_BY_DEFAULT_MAX = 4 };

_Static_assert(ENGINE_REDIS == 0 && ENGINE_EMBEDDED == 1, "the order of choices_engine");
_Static_assert(CW_PLACEMENT_SLOTS == 0 && CW_PLACEMENT_ROUND == 6,
               "the order of choices_placement");
_Static_assert((int)CW_PLACEMENT_PROFILE < (int)CONFIG_PROFILE_FIRST,
               "numbers of placements and profiles");
_Static_assert(DURABILITY_ALWAYS == 0 && DURABILITY_EVERYSEC == 1 && DURABILITY_NO == 2,
               "the order of choices_durability");

_Static_assert(NODE_DOWN_FAIL == 0 && NODE_DOWN_MISS == 1 && NODE_DOWN_NEXT == 2,
               "the order of choices_on_node_down");

static void problem_at(struct problems *problems, const struct yaml_node *map, const char *key,
                       const struct cw_error *error)
{
    const struct yaml_node *at = yaml_find_key(map, key);
    at = at ? at : map;
    problems_add(problems, at->line, at->column, "%s", error->message);
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* The address of an embedded node, in memory of the configuration. */
static const char *inproc_address(struct config *config, const struct config_pool *pool,
                                  const struct config_node *node)
{
    size_t size = strlen("inproc:/") + strlen(pool->name) + strlen(node->id) + 1;
    char *address = yaml_tree_alloc(config->tree, size);
    if (address)
        snprintf(address, size, "inproc:%s/%s", pool->name, node->id);
    return address;
}

/* cw_map_create() stops at the first node that it does not like and names it, but not where it
 * stands; so each is tried alone before, in a map of its own. */
static int check_node(const struct config_node *node, const struct cw_node *as_given,
                      struct problems *problems)
{
    static const char *const keys[] = {"id", "weight", "zone", "address"};
    static const enum cw_status statuses[] = {CW_EBAD_ID, CW_EBAD_WEIGHT, CW_EBAD_ZONE,
                                              CW_EBAD_ADDRESS};
    struct cw_map_options options = {
        .nodes = as_given, .node_count = 1, .slot_count = CW_SLOT_COUNT_MIN};
    struct cw_error error = {0};
    struct cw_map *map = NULL;
    int status = cw_map_create(&options, &map, &error);
    cw_map_unref(&map);
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (status == (int)statuses[i]) {
            problem_at(problems, node->yaml, keys[i], &error);
            return -EINVAL;
        }
    return status == CW_ENOMEM ? -ENOMEM : 0;
}

/* What our own placements would make of a weight that only a profile understands. */
static uint32_t weight_of(const struct config_node *node)
{
    double weight = node->server_weight;
    if (weight < 0)
        return (uint32_t)node->weight;
    return weight >= 1 && weight <= CW_WEIGHT_MAX && weight == (double)(uint32_t)weight
               ? (uint32_t)weight
               : 1;
}

static int gather_nodes(struct config *config, struct config_pool *pool, struct cw_node *ret_nodes,
                        struct problems *problems)
{
    int status = 0;
    for (size_t i = 0; i < pool->node_count; i++) {
        const struct config_node *node = &pool->nodes[i];
        bool is_embedded = pool->engine == ENGINE_EMBEDDED;
        ret_nodes[i] = (struct cw_node){
            .id = node->id,
            .address = is_embedded ? inproc_address(config, pool, node) : node->address,
            .zone = node->zone,
            .weight = weight_of(node),
        };
        if (is_embedded && !ret_nodes[i].address)
            return -ENOMEM;
        int checked = check_node(node, &ret_nodes[i], problems);
        status = checked < 0 ? checked : status;
    }
    return status;
}

static int create_map(struct config_pool *pool, const struct cw_node *nodes,
                      struct problems *problems)
{
    if (pool->profile)
        return config_make_profile_map(pool, nodes, problems);
    bool is_slots = pool->placement == CW_PLACEMENT_SLOTS;
    bool is_ring = pool->placement == CW_PLACEMENT_RING;
    struct cw_map_options options = {
        .placement = (enum cw_placement)pool->placement,
        .nodes = nodes,
        .node_count = pool->node_count,
        .slot_count = is_slots ? (uint32_t)pool->slots : 0,
        .tokens_per_weight = is_ring ? (uint32_t)pool->tokens : 0,
    };
    struct cw_error error = {0};
    cw_map_unref(&pool->map);
    int status = cw_map_create(&options, &pool->map, &error);
    if (status == CW_OK)
        return 0;
    if (status == CW_ENOMEM)
        return -ENOMEM;
    const char *key = status == CW_EBAD_SLOTS       ? "slots"
                      : status == CW_EBAD_TOKENS    ? "tokens"
                      : status == CW_ENOT_SUPPORTED ? "placement"
                                                    : "nodes";
    problem_at(problems, pool->yaml, key, &error);
    return -EINVAL;
}

static int make_map(struct config *config, struct config_pool *pool, struct problems *problems)
{
    struct cw_node *nodes = calloc(pool->node_count, sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    int status = gather_nodes(config, pool, nodes, problems);
    if (status == 0)
        status = create_map(pool, nodes, problems);
    free(nodes);
    return status;
}

int config_make_maps(struct config *config, struct problems *problems)
{
    int status = 0;
    for (size_t i = 0; i < config->pool_count; i++) {
        int made = make_map(config, &config->pools[i], problems);
        status = made < 0 ? made : status;
    }
    if (status == -ENOMEM)
        problems_add(problems, 0, 0, "out of memory");
    return status;
}

/* ---- to the router --------------------------------------------------------------------------- */

char *config_map_folder(const struct config *config, bool *ret_is_off)
{
    const char *folder = config->map_store_file;
    char *path = NULL;
    *ret_is_off = folder && strcmp(folder, "off") == 0;
    if (*ret_is_off)
        return NULL;
    if (folder)
        return strdup(folder);
    return asprintf(&path, "%s/maps", config->data_dir) < 0 ? NULL : path;
}

uint32_t config_worker_count(const struct config *config)
{
    if (config->workers > 0)
        return (uint32_t)config->workers;
    /* Of these each worker would need one of its own. */
    for (size_t i = 0; i < config->pool_count; i++)
        if (address_has_one_listener(config->pools[i].listen))
            return 1;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1                        ? 1
           : cores > WORKERS_BY_DEFAULT_MAX ? WORKERS_BY_DEFAULT_MAX
                                            : (uint32_t)cores;
}

static struct router_limits limits_of(const struct config_limits *limits)
{
    return (struct router_limits){
        .client_count_max = (uint32_t)limits->clients,
        .pipeline_max = (uint32_t)limits->pipeline,
        .client_memory_max = (size_t)limits->client_memory,
        .key_len_max = (uint32_t)limits->key,
        .node_queue_max = (uint32_t)limits->node_queue,
        .own_links_max = (uint32_t)limits->own_connections,
        .reply_len_max = (size_t)limits->reply,
        .half_request_ms = (uint64_t)limits->half_request_ms,
        .idle_ms = (uint64_t)limits->idle_ms,
        .request =
            {
                .arg_count_max = (uint32_t)limits->arguments,
                .arg_len_max = (uint32_t)limits->value,
                .inline_len_max = (uint32_t)limits->inline_len,
                .request_len_max = (size_t)limits->request,
            },
    };
}

static struct pool_settings settings_of(const struct config_pool *pool)
{
    return (struct pool_settings){
        .name = pool->name,
        .listen = pool->listen,
        .engine = (enum engine)pool->engine,
        .map = pool->map,
        .connections = (uint32_t)pool->connections,
        .timeout_ms = (uint64_t)pool->timeout_ms,
        .probe_interval_ms = (uint64_t)pool->probe_interval_ms,
        .probe_interval_max_ms = (uint64_t)pool->probe_interval_max_ms,
        .on_node_down = (enum node_down_policy)pool->on_node_down,
        .username = pool->username,
        .password = pool->password,
        .client_password = pool->client_password,
    };
}

int config_to_router(const struct config *config, struct router_options *ret_options)
{
    struct pool_settings *pools = calloc(config->pool_count, sizeof *pools);
    if (!pools)
        return -ENOMEM;
    for (size_t i = 0; i < config->pool_count; i++)
        pools[i] = settings_of(&config->pools[i]);
    *ret_options = (struct router_options){
        .pools = pools,
        .pool_count = (uint32_t)config->pool_count,
        .worker_count = config_worker_count(config),
        .limits = limits_of(&config->limits),
    };
    return 0;
}
