/*
 * What can be wrong with a configuration although each value by itself is right.
 */
#include "control/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clockwise/clockwise.h>

#include "control/address_check.h"
#include "control/options.h"
#include "control/yaml_tree.h"
#include "router/router.h"

/* Where a key of a map stands, or the map itself where the value is a default. */
static const struct yaml_node *place_of(const struct yaml_node *map, const char *key)
{
    const struct yaml_node *found = yaml_find_key(map, key);
    return found ? found : map;
}

#define PLACE(node) (node)->line, (node)->column

/* ---- limits ---------------------------------------------------------------------------------- */

static void check_fits(const struct config *config, const char *small_key, int64_t small,
                       const char *large_key, int64_t large, struct problems *problems)
{
    char small_text[32], large_text[32];
    if (small <= large)
        return;
    const struct yaml_node *limits = yaml_find_key(config->yaml, "limits");
    const struct yaml_node *at = limits ? place_of(limits->value, small_key) : config->yaml;
    option_format_size(small, small_text, sizeof small_text);
    option_format_size(large, large_text, sizeof large_text);
    problems_add(problems, PLACE(at),
                 "limits.%s: %s is more than limits.%s, which is %s; raise that or lower this",
                 small_key, small_text, large_key, large_text);
}

static void check_limits(const struct config *config, struct problems *problems)
{
    const struct config_limits *limits = &config->limits;
    check_fits(config, "key", limits->key, "value", limits->value, problems);
    check_fits(config, "value", limits->value, "request", limits->request, problems);
    check_fits(config, "inline", limits->inline_len, "request", limits->request, problems);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void check_redis_node(const struct config_pool *pool, const struct config_node *node,
                             struct problems *problems)
{
    if (!node->address)
        problems_add(problems, PLACE(node->yaml),
                     "node '%.63s' has no address; write address: host:port", node->id);
    else if (address_has_port_zero(node->address))
        problems_add(problems, PLACE(place_of(node->yaml, "address")),
                     "node '%.63s' has port 0, on which no server can be reached; write its port",
                     node->id);
    else if (pool->listen && address_collides(node->address, pool->listen))
        problems_add(problems, PLACE(place_of(node->yaml, "address")),
                     "node '%.63s' has the address on which the router itself listens; name the "
                     "server's",
                     node->id);
}

/* The id names the node's folder, so it may not lead anywhere else. */
static void check_embedded_node(const struct config_node *node, struct problems *problems)
{
    if (node->address)
        problems_add(problems, PLACE(place_of(node->yaml, "address")),
                     "node '%.63s' is embedded in the router and has no address; leave it out",
                     node->id);
    if (strchr(node->id, '/') || node->id[0] == '.')
        problems_add(problems, PLACE(place_of(node->yaml, "id")),
                     "'%.63s' is no id for an embedded node, whose folder it names; use no '/' and "
                     "no '.' in front",
                     node->id);
}

/* By id or address, then in the order of the file. */
static const char *text_of(const struct config_node *node, bool by_address)
{
    const char *text = by_address ? node->address : node->id;
    return text ? text : "";
}

static int order(const struct config_node *a, const struct config_node *b, bool by_address)
{
    int texts = strcmp(text_of(a, by_address), text_of(b, by_address));
    return texts ? texts : (a > b) - (a < b);
}

static int order_by_id(const void *a, const void *b)
{
    return order(*(const struct config_node *const *)a, *(const struct config_node *const *)b,
                 false);
}

static int order_by_address(const void *a, const void *b)
{
    return order(*(const struct config_node *const *)a, *(const struct config_node *const *)b,
                 true);
}

static void report_twice(const struct config_node *first, const struct config_node *second,
                         bool by_address, struct problems *problems)
{
    if (by_address)
        problems_add(problems, PLACE(place_of(second->yaml, "address")),
                     "nodes '%.63s' and '%.63s' have the same address %s; each is a server of its "
                     "own",
                     first->id, second->id, second->address);
    else
        problems_add(problems, PLACE(place_of(second->yaml, "id")),
                     "node id '%.63s' is here a second time; the first is in line %u", second->id,
                     place_of(first->yaml, "id")->line);
}

static void check_twice(const struct config_node **sorted, size_t count, bool by_address,
                        struct problems *problems)
{
    qsort(sorted, count, sizeof *sorted, by_address ? order_by_address : order_by_id);
    size_t first = 0;
    for (size_t i = 1; i < count; i++) {
        const char *text = text_of(sorted[i], by_address);
        if (strcmp(text_of(sorted[first], by_address), text) != 0)
            first = i;
        else if (*text)
            report_twice(sorted[first], sorted[i], by_address, problems);
    }
}

/* What only a profile's servers have. */
static void check_server_keys(const struct config_pool *pool, const struct config_node *node,
                              struct problems *problems)
{
    static const char *const keys[] = {"name", "server", "number", "down"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !pool->profile; i++) {
        const struct yaml_node *at = yaml_find_key(node->yaml, keys[i]);
        if (at)
            problems_add(problems, PLACE(at),
                         "node '%.63s': %s is known only with a profile as the placement; leave "
                         "it out",
                         node->id, keys[i]);
    }
}

static int check_nodes(const struct config_pool *pool, struct problems *problems)
{
    const struct config_node **sorted = malloc((pool->node_count + 1) * sizeof *sorted);
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < pool->node_count; i++) {
        sorted[i] = &pool->nodes[i];
        check_server_keys(pool, &pool->nodes[i], problems);
        if (pool->engine == ENGINE_EMBEDDED)
            check_embedded_node(&pool->nodes[i], problems);
        else
            check_redis_node(pool, &pool->nodes[i], problems);
    }
    check_twice(sorted, pool->node_count, false, problems);
    check_twice(sorted, pool->node_count, true, problems);
    free(sorted);
    return 0;
}

/* ---- pools ----------------------------------------------------------------------------------- */

/* A key that was written but has no meaning with what else was chosen. */
static void refuse_key(const struct config_pool *pool, bool has_meaning, const char *key,
                       const char *only_with, struct problems *problems)
{
    const struct yaml_node *at = yaml_find_key(pool->yaml, key);
    if (at && !has_meaning)
        problems_add(problems, PLACE(at), "pools.%s.%s: only with %s; leave it out", pool->name,
                     key, only_with);
}

static void refuse_keys(const struct config_pool *pool, struct problems *problems)
{
    bool is_redis = pool->engine == ENGINE_REDIS, is_embedded = pool->engine == ENGINE_EMBEDDED;
    bool is_slots = pool->placement == CW_PLACEMENT_SLOTS;
    refuse_key(pool, is_slots, "slots", "placement slots", problems);
    refuse_key(pool, pool->placement == CW_PLACEMENT_RING, "tokens", "placement ring", problems);
    refuse_key(pool, pool->profile, "profile", "a profile as the placement", problems);
    refuse_key(pool, is_embedded, "durability", "engine embedded", problems);
    refuse_key(pool, is_embedded, "size_max", "engine embedded", problems);
    refuse_key(pool, is_redis, "commands", "engine redis", problems);
    refuse_key(pool, is_redis, "password", "engine redis", problems);
    refuse_key(pool, is_redis && pool->password, "username", "a password for engine redis",
               problems);
}

static void check_pool(const struct config_pool *pool, struct problems *problems)
{
    refuse_keys(pool, problems);
    if (!pool->listen)
        problems_add(problems, PLACE(place_of(pool->yaml, "listen")),
                     "pools.%s.listen: no address; write redis: host:port", pool->name);
    if (pool->node_count == 0)
        problems_add(problems, PLACE(place_of(pool->yaml, "nodes")),
                     "pools.%s has no nodes; write nodes: and at least one", pool->name);
    if (pool->engine == ENGINE_EMBEDDED && pool->node_count > CONFIG_EMBEDDED_NODES_MAX)
        problems_add(problems, PLACE(place_of(pool->yaml, "nodes")),
                     "pools.%s has %zu embedded nodes; use at most %d", pool->name,
                     pool->node_count, CONFIG_EMBEDDED_NODES_MAX);
    if (pool->probe_interval_ms > pool->probe_interval_max_ms)
        problems_add(problems, PLACE(place_of(pool->yaml, "probe_interval")),
                     "pools.%s.probe_interval: %" PRId64
                     "ms is more than probe_interval_max, which "
                     "is %" PRId64 "ms",
                     pool->name, pool->probe_interval_ms, pool->probe_interval_max_ms);
}

/* ---- commands -------------------------------------------------------------------------------- */

static bool is_command_name(const char *name)
{
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
           strlen(name);
}

static void check_command(const struct config_command *command, struct problems *problems)
{
    const struct yaml_node *at = command->yaml;
    if (!is_command_name(command->name))
        problems_add(problems, PLACE(place_of(at, "name")),
                     "'%.63s' is no name for a command; use letters, digits and . _ -",
                     command->name);
    else if (command_find(command->name, strlen(command->name)))
        problems_add(problems, PLACE(place_of(at, "name")),
                     "command '%.63s' is known anyway; leave it out", command->name);
    if (command->last_key >= 0 && command->last_key < command->first_key)
        problems_add(problems, PLACE(place_of(at, "last_key")),
                     "command '%.63s': last_key %" PRId64 " is before first_key %" PRId64,
                     command->name, command->last_key, command->first_key);
    int64_t least = command->arity < 0 ? -command->arity : command->arity;
    if (least < command->first_key + 1)
        problems_add(problems, PLACE(place_of(at, "arity")),
                     "command '%.63s': arity %" PRId64 " leaves no room for first_key %" PRId64,
                     command->name, command->arity, command->first_key);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static const struct yaml_node *listen_place(const struct config_pool *pool)
{
    return place_of(pool->yaml, "listen");
}

static void check_listeners(const struct config *config, size_t index, struct problems *problems)
{
    const struct config_pool *pool = &config->pools[index];
    if (!pool->listen)
        return;
    if (config->workers > 1 && address_has_one_listener(pool->listen))
        problems_add(problems, PLACE(listen_place(pool)),
                     "pool '%s': %" PRId64 " workers cannot share %s; set workers: 1, or write "
                     "host:port",
                     pool->name, config->workers, pool->listen);
    for (size_t i = 0; i < index; i++)
        if (config->pools[i].listen && address_collides(config->pools[i].listen, pool->listen))
            problems_add(problems, PLACE(listen_place(pool)),
                         "pools '%s' and '%s' both listen on %s; give each its own address",
                         config->pools[i].name, pool->name, pool->listen);
    if (address_collides(config->admin, pool->listen))
        problems_add(problems, PLACE(listen_place(pool)),
                     "pool '%s' listens on %s, which is the admin address; change one of them",
                     pool->name, pool->listen);
}

static void check_admin(const struct config *config, struct problems *problems)
{
    if (strncmp(config->admin, "unix:", 5) == 0)
        problems_add(problems, PLACE(place_of(config->yaml, "admin")),
                     "admin: '%.100s' is a socket's path, over which no HTTP is served; write "
                     "host:port",
                     config->admin);
}

int config_check(const struct config *config, struct problems *problems)
{
    size_t before = problems->count;
    int status = 0;
    check_limits(config, problems);
    check_admin(config, problems);
    for (size_t i = 0; i < config->pool_count && status == 0; i++) {
        const struct config_pool *pool = &config->pools[i];
        check_pool(pool, problems);
        check_listeners(config, i, problems);
        for (size_t j = 0; j < pool->command_count; j++)
            check_command(&pool->commands[j], problems);
        status = check_nodes(pool, problems);
    }
    if (status < 0)
        problems_add(problems, 0, 0, "out of memory");
    return problems->count > before ? -EINVAL : status;
}

int config_check_served(const struct config *config, struct problems *problems)
{
    size_t before = problems->count;
    for (size_t i = 0; i < config->pool_count; i++) {
        const struct config_pool *pool = &config->pools[i];
        if (pool->engine == CONFIG_ENGINE_MEMCACHED)
            problems_add(problems, PLACE(place_of(pool->yaml, "engine")),
                         "pools.%s.engine: memcached's protocol is not served yet; use the file "
                         "with `clockwise locate` and `plan`, or leave the pool out",
                         pool->name);
        else if (pool->engine == CONFIG_ENGINE_OTHER)
            problems_add(problems, PLACE(place_of(pool->yaml, "engine")),
                         "pools.%s.engine: serve speaks to redis servers only; use the file with "
                         "`clockwise locate` and `plan`, or write engine: redis if they are such",
                         pool->name);
    }
    return problems->count > before ? -EINVAL : 0;
}
