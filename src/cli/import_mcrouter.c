/*
 * mcrouter's JSON: the pools, and from the routes the hash that each pool is asked by. A server is
 * its position in the pool; what the routes do between pools has no counterpart here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import.h"
#include "cli/import_yaml.h"

enum { NO_WEIGHT_PERCENT = 50, TIMEOUT_MS_MAX = 3600000 };

/* How a route asks a pool; NULL: none does yet. */
struct asked {
    const char *name; /* in the file */
    const char *function, *salt;
};

struct reading {
    struct import *import;
    const struct yaml_node *pools; /* the map of them */
    struct asked asked[IMPORT_POOL_COUNT_MAX];
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static const struct yaml_node *value_of(const struct yaml_node *map, const char *name)
{
    const struct yaml_node *key = yaml_find_key(map, name);
    return key ? key->value : NULL;
}

static const char *text_of(const struct yaml_node *value)
{
    return value && value->kind == YAML_KIND_SCALAR ? value->text : "";
}

static bool is_list(const struct yaml_node *value)
{
    return value && value->kind == YAML_KIND_LIST;
}

static struct import_pool *find_pool(struct reading *reading, const char *name)
{
    for (size_t i = 0; i < reading->import->pool_count; i++)
        if (is(reading->asked[i].name, name))
            return &reading->import->pools[i];
    return NULL;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *profile;
} hashes[] = {
    {"Ch3", "mcrouter-ch3"},
    {"WeightedCh3", "mcrouter-weighted-ch3"},
    {"Crc32", "mcrouter-crc32"},
    {"Rendezvous", "mcrouter-rendezvous"},
    {"WeightedRendezvous", "mcrouter-weighted-rendezvous"},
};

static void wrong(struct reading *reading, const struct yaml_node *at, const char *option,
                  const char *text)
{
    import_remark(reading->import, IMPORT_WRONG, at->line, option, "%s", text);
}

static bool read_weight(const char *text, double *ret_weight)
{
    char *end;
    double weight = strtod(text, &end);
    if (end == text || *end || !(weight >= 0 && weight <= 1e6))
        return false;
    *ret_weight = weight;
    return true;
}

static void set_weight(struct reading *reading, struct import_node *node,
                       const struct yaml_node *value)
{
    if (!value)
        node->place.weight = NO_WEIGHT_PERCENT / 100.0;
    else if (!read_weight(text_of(value), &node->place.weight))
        import_remark(reading->import, IMPORT_WRONG, value->line, "weights",
                      "'%.40s' is not a number of 0 or more", text_of(value));
}

/* WeightedCh3: a list, by position. */
static void take_weights(struct reading *reading, struct import_pool *pool,
                         const struct yaml_node *weights)
{
    const struct yaml_node *weight = weights->first;
    for (size_t i = 0; i < pool->node_count; i++) {
        set_weight(reading, &pool->nodes[i], weight);
        weight = weight ? weight->next : NULL;
    }
    if (weights->child_count != pool->node_count)
        import_remark(reading->import, IMPORT_NOTE, weights->line, "weights",
                      "%u for %zu servers; mcrouter takes 0.5 for those that are missing, and so "
                      "does what is written here",
                      weights->child_count, pool->node_count);
}

/* WeightedRendezvous: a map, by tag. */
static void take_weights_by_tag(struct reading *reading, struct import_pool *pool,
                                const struct yaml_node *weights)
{
    for (size_t i = 0; i < pool->node_count; i++)
        set_weight(reading, &pool->nodes[i], value_of(weights, pool->nodes[i].place.name));
}

/* Rendezvous hashes a tag for each server. False after a remark. */
static bool take_tags(struct reading *reading, struct import_pool *pool,
                      const struct yaml_node *tags, unsigned line)
{
    if (!is_list(tags) || tags->child_count != pool->node_count) {
        import_remark(reading->import, IMPORT_WRONG, line, "tags",
                      "pool '%.60s' is asked by rendezvous hashing, for which mcrouter wants a tag "
                      "for each of its %zu servers; write them",
                      pool->name, pool->node_count);
        return false;
    }
    const struct yaml_node *tag = tags->first;
    for (size_t i = 0; i < pool->node_count; i++, tag = tag->next)
        pool->nodes[i].place.name = import_text(reading->import, text_of(tag));
    return true;
}

/* What a PoolRoute and its pool say together: the route's hash has the last word. */
struct hash {
    const char *function, *salt;
    const struct yaml_node *weights, *tags;
    unsigned line;
};

static struct hash hash_of(const struct yaml_node *pool, const struct yaml_node *route)
{
    const struct yaml_node *hash = value_of(route, "hash");
    struct hash all = {.weights = value_of(pool, "weights"),
                       .tags = value_of(pool, "tags"),
                       .salt = text_of(value_of(hash, "salt")),
                       .line = hash    ? hash->line
                               : route ? route->line
                                       : pool->line};
    all.function = all.weights ? "WeightedCh3" : "Ch3";
    if (hash && hash->kind == YAML_KIND_SCALAR)
        all.function = hash->text;
    if (value_of(hash, "hash_func"))
        all.function = text_of(value_of(hash, "hash_func"));
    if (value_of(hash, "weights"))
        all.weights = value_of(hash, "weights");
    if (value_of(hash, "tags"))
        all.tags = value_of(hash, "tags");
    return all;
}

static void take_hash_weights(struct reading *reading, struct import_pool *pool,
                              const struct hash *hash)
{
    bool by_tag = is(hash->function, "WeightedRendezvous");
    enum yaml_kind kind = by_tag ? YAML_KIND_MAP : YAML_KIND_LIST;
    if (!hash->weights || hash->weights->kind != kind)
        import_remark(reading->import, IMPORT_WRONG, hash->line, "weights", "%s wants %s; write it",
                      hash->function,
                      by_tag ? "a map of weights by tag"
                             : "a list of weights, one for each server");
    else if (by_tag)
        take_weights_by_tag(reading, pool, hash->weights);
    else
        take_weights(reading, pool, hash->weights);
}

static void take_hash(struct reading *reading, struct import_pool *pool, const struct hash *hash)
{
    const struct cw_profile *profile = NULL;
    for (size_t i = 0; i < pool->node_count; i++) {
        pool->nodes[i].place.name = NULL;
        pool->nodes[i].place.weight = 1;
    }
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        if (is(hash->function, hashes[i].name))
            profile = cw_profile_find(hashes[i].profile);
    if (!profile) {
        import_remark(reading->import, IMPORT_MOVES, hash->line, "hash_func",
                      "no profile has '%.40s'; use Ch3, WeightedCh3, Crc32, Rendezvous or "
                      "WeightedRendezvous",
                      hash->function);
        return;
    }
    pool->profile = profile;
    if (*hash->salt)
        pool->options.salt = import_text(reading->import, hash->salt);
    if (strstr(hash->function, "Rendezvous") && !take_tags(reading, pool, hash->tags, hash->line))
        return;
    if (strncmp(hash->function, "Weighted", 8) == 0)
        take_hash_weights(reading, pool, hash);
}

/* ---- pools ----------------------------------------------------------------------------------- */

/* "host:port" and maybe ":protocol:security" behind it. */
static void add_server(struct reading *reading, struct import_pool *pool,
                       const struct yaml_node *item)
{
    struct import *import = reading->import;
    const char *text = text_of(item);
    size_t host = text[0] == '[' ? strcspn(text, "]") + 1 : strcspn(text, ":");
    const char *port = host < strlen(text) && text[host] == ':' ? text + host + 1 : "";
    size_t port_len = strcspn(port, ":");
    uint64_t number;
    const char *digits = import_text_of(import, port, port_len);
    if (!import_number(digits, 65535, &number) || number == 0 || host == 0) {
        import_remark(import, IMPORT_WRONG, item->line, NULL,
                      item->kind == YAML_KIND_SCALAR
                          ? "server '%.60s': write host:port, and IPv6 as [::1]:11211"
                          : "a server that is a route of its own%.0s; write host:port",
                      text);
        return;
    }
    struct import_node node = {.line = item->line, .place.weight = 1};
    node.address = import_text_of(import, text, host + 1 + port_len);
    node.place.address = node.address;
    import_add_node(import, pool, &node);
}

static bool is_known_of_pool(const char *key)
{
    static const char *const keys[] = {"servers",        "weights",  "tags",
                                       "server_timeout", "protocol", "name",
                                       "hostnames",      "hash",     NULL};
    for (size_t i = 0; keys[i]; i++)
        if (is(key, keys[i]))
            return true;
    return false;
}

static void take_settings(struct reading *reading, struct import_pool *pool,
                          const struct yaml_node *map)
{
    uint64_t ms;
    const char *timeout = text_of(value_of(map, "server_timeout"));
    if (import_number(timeout, TIMEOUT_MS_MAX, &ms))
        pool->timeout_ms = (uint32_t)ms;
    for (const struct yaml_node *key = map->first; key; key = key->next) {
        if (is(key->text, "inherit"))
            wrong(reading, key, key->text, "write the other pool's settings out");
        else if (!is_known_of_pool(key->text))
            import_remark(reading->import, IMPORT_NOTE, key->line, key->text, "not carried over");
    }
}

static void read_pool(struct reading *reading, const char *name, const struct yaml_node *map,
                      unsigned line)
{
    const struct yaml_node *servers = value_of(map, "servers");
    if (reading->import->section && !is(reading->import->section, name))
        return;
    if (!is_list(servers) || !servers->first) {
        import_remark(reading->import, IMPORT_WRONG, line, NULL,
                      "pool '%.60s' has no list of servers", name);
        return;
    }
    struct import_pool *pool = import_add_pool(reading->import, name, line, "mcrouter-ch3");
    if (!pool)
        return;
    pool->engine = "memcached";
    reading->asked[reading->import->pool_count - 1].name = name;
    for (const struct yaml_node *item = servers->first; item; item = item->next)
        add_server(reading, pool, item);
    take_settings(reading, pool, map);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* What a route of the type does to a key's place when all servers are well. */
static enum import_weight weight_of_route(const char *type)
{
    static const char *const harmless[] = {"PoolRoute",
                                           "ErrorRoute",
                                           "NullRoute",
                                           "DevNullRoute",
                                           "LoggingRoute",
                                           "RateLimitRoute",
                                           "OutstandingLimitRoute",
                                           "FailoverRoute",
                                           "FailoverWithExptimeRoute",
                                           "AsynclogRoute",
                                           NULL};
    for (size_t i = 0; harmless[i]; i++)
        if (is(type, harmless[i]))
            return IMPORT_NOTE;
    return IMPORT_MOVES;
}

static void judge_route(struct reading *reading, const struct yaml_node *type)
{
    const char *name = text_of(type);
    if (is(name, "PoolRoute"))
        return;
    if (weight_of_route(name) == IMPORT_NOTE)
        import_remark(reading->import, IMPORT_NOTE, type->line, "type",
                      "%.60s is not carried over; it changes no key's place while all servers are "
                      "well",
                      name);
    else
        import_remark(
            reading->import, IMPORT_MOVES, type->line, "type",
            "%.60s chooses between servers or pools, or asks several; a pool of clockwise "
            "is one placement for all its keys",
            name);
}

/* What a PoolRoute does besides hashing. */
static void judge_pool_route(struct reading *reading, const struct yaml_node *route)
{
    static const char *const moving[] = {"shard_splits", "bucketize", "useBucketHashSelector",
                                         "weights_rv", NULL};
    for (const struct yaml_node *key = route->first; key; key = key->next) {
        enum import_weight weight = IMPORT_NOTE;
        for (size_t i = 0; moving[i]; i++)
            if (is(key->text, moving[i]))
                weight = IMPORT_MOVES;
        if (is(key->text, "type") || is(key->text, "pool") || is(key->text, "hash") ||
            is(key->text, "name"))
            continue;
        import_remark(reading->import, weight, key->line, key->text,
                      weight == IMPORT_NOTE ? "not carried over"
                                            : "places keys by more than the hash; no profile has "
                                              "that");
    }
}

/* Takes the first route's hash; another one that differs has no place beside it. */
static void ask(struct reading *reading, struct import_pool *pool, const struct hash *hash)
{
    struct asked *asked = &reading->asked[pool - reading->import->pools];
    if (!asked->function)
        take_hash(reading, pool, hash);
    else if (!is(asked->function, hash->function) || !is(asked->salt, hash->salt))
        import_remark(reading->import, IMPORT_MOVES, hash->line, "hash",
                      "pool '%.60s' is asked by %.20s here and by %.20s above; a pool of clockwise "
                      "has one placement",
                      asked->name, hash->function, asked->function);
    if (!asked->function) {
        asked->function = hash->function;
        asked->salt = hash->salt;
    }
}

static void take_pool_route(struct reading *reading, const char *name,
                            const struct yaml_node *route, unsigned line)
{
    const struct yaml_node *map = value_of(reading->pools, name);
    struct import_pool *pool = find_pool(reading, name);
    if (!map) {
        import_remark(reading->import, IMPORT_WRONG, line, NULL, "no pool of the name '%.60s'",
                      name);
        return;
    }
    if (!pool)
        return; /* another one is wanted */
    struct hash hash = hash_of(map, route);
    hash.line = route ? hash.line : line;
    ask(reading, pool, &hash);
    if (route)
        judge_pool_route(reading, route);
}

/* Any part of the routes. The tree's depth is bounded. */
static void walk_routes(struct reading *reading, const struct yaml_node *node)
{
    const char *text = text_of(node);
    if (strncmp(text, "PoolRoute|", 10) == 0 || strncmp(text, "Pool|", 5) == 0) {
        take_pool_route(reading, strchr(text, '|') + 1, NULL, node->line);
        return;
    }
    const struct yaml_node *type = value_of(node, "type");
    if (type)
        judge_route(reading, type);
    if (is(text_of(type), "PoolRoute") && value_of(node, "pool")) {
        take_pool_route(reading, text_of(value_of(node, "pool")), node, node->line);
        return;
    }
    for (const struct yaml_node *child = node->first; child; child = child->next)
        walk_routes(reading, node->kind == YAML_KIND_MAP ? child->value : child);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* What the pool itself says holds where no route says more. */
static void take_own_hashes(struct reading *reading)
{
    for (const struct yaml_node *key = reading->pools->first; key; key = key->next) {
        struct import_pool *pool = find_pool(reading, key->text);
        struct hash hash = hash_of(key->value, NULL);
        if (pool)
            take_hash(reading, pool, &hash);
    }
}

static void read_root(struct reading *reading, const struct yaml_node *root)
{
    if (value_of(root, "servers")) {
        struct hash hash = hash_of(root, root);
        read_pool(reading, "pool", root, root->line);
        if (reading->import->pool_count)
            take_hash(reading, &reading->import->pools[0], &hash);
        return;
    }
    reading->pools = value_of(root, "pools");
    if (!reading->pools || reading->pools->kind != YAML_KIND_MAP) {
        import_remark(reading->import, IMPORT_WRONG, root->line, NULL, "no map of \"pools\" in it");
        return;
    }
    for (const struct yaml_node *key = reading->pools->first; key; key = key->next)
        read_pool(reading, key->text, key->value, key->line);
    take_own_hashes(reading);
    for (const struct yaml_node *key = root->first; key; key = key->next)
        if (is(key->text, "route") || is(key->text, "routes") || is(key->text, "named_handles"))
            walk_routes(reading, key->value);
        else if (!is(key->text, "pools"))
            import_remark(reading->import, is(key->text, "macros") ? IMPORT_WRONG : IMPORT_NOTE,
                          key->line, key->text,
                          is(key->text, "macros") ? "macros are not expanded here; write them out"
                                                  : "not carried over");
}

static void read_mcrouter(struct import *import)
{
    struct reading *reading = import_alloc(import, sizeof *reading);
    struct yaml_tree *tree = reading ? import_json(import, import->text, import->len) : NULL;
    const struct yaml_node *root = tree ? yaml_tree_root(tree) : NULL;
    if (reading)
        reading->import = import;
    if (root && root->kind == YAML_KIND_MAP)
        read_root(reading, root);
    else if (tree)
        import_remark(import, IMPORT_WRONG, 1, NULL, "no JSON object; is this mcrouter's?");
    yaml_tree_destroy(&tree);
}

/* An object with servers in it, maybe behind a comment. */
static bool looks_like_mcrouter(const char *text)
{
    const char *start = text + strspn(text, " \t\r\n");
    return (*start == '{' || *start == '/') && strstr(start, "\"servers\"");
}

const struct import_format import_format_mcrouter = {
    .name = "mcrouter",
    .what = "mcrouter's JSON, all pools",
    .section = "pool",
    .looks_like = looks_like_mcrouter,
    .read = read_mcrouter,
};
