/*
 * nutcracker.yml: a map of pools. What nutcracker itself refuses is refused here, in the same cases
 * (version 0.5.0: `nutcracker -t` was asked): anchors and aliases, a boolean that is neither true
 * nor false, servers of weight 0 or of one name, unknown directives.
 */
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/import.h"
#include "cli/import_yaml.h"
#include "control/yaml_tree.h"

enum { TIMEOUT_MS_MAX = 3600000, CONNECTIONS_MAX = 16 };

/* A pool's directives while it is read. */
struct reading {
    struct import *import;
    struct import_pool *pool;
    const struct yaml_node *key; /* what is read just now */
    bool is_redis;
    bool has_timeout;
    const struct yaml_node *distribution, *redis_auth, *servers;
};

static void remark(struct reading *reading, enum import_weight weight, const char *text)
{
    import_remark(reading->import, weight, reading->key->line, reading->key->text, "%s", text);
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool read_bool(struct reading *reading)
{
    const char *text = reading->key->value->text;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        import_remark(reading->import, IMPORT_WRONG, reading->key->line, reading->key->text,
                      "'%.40s' is neither true nor false, and nutcracker takes nothing else; write "
                      "one of them",
                      text);
    return strcmp(text, "true") == 0;
}

/* -1 where it is none. */
static int64_t read_number(struct reading *reading)
{
    uint64_t number;
    if (import_number(reading->key->value->text, INT32_MAX, &number))
        return (int64_t)number;
    import_remark(reading->import, IMPORT_WRONG, reading->key->line, reading->key->text,
                  "'%.40s' is not a whole number; write one", reading->key->value->text);
    return -1;
}

/* ---- directives ------------------------------------------------------------------------------ */

/* "host:port", or "/path" and maybe its mode. */
static void read_listen(struct reading *reading)
{
    struct import *import = reading->import;
    const char *text = reading->key->value->text;
    const char *colon = strrchr(text, ':');
    if (text[0] == '/') {
        size_t len = strcspn(text, " ");
        reading->pool->listen = import_textf(import, "unix:%.*s", (int)len, text);
        if (text[len])
            remark(reading, IMPORT_NOTE,
                   "the socket's mode is not carried over; set it with the umask");
        return;
    }
    if (!colon || colon == text) {
        remark(reading, IMPORT_WRONG, "no host:port; write one, or the /path of a socket");
        return;
    }
    const char *host = import_text_of(import, text, (size_t)(colon - text));
    reading->pool->listen = import_address(import, host, colon + 1);
}

static void read_hash(struct reading *reading)
{
    const char *text = reading->key->value->text;
    if (import_has_hash(cw_profile_find("twemproxy-ketama"), text))
        reading->pool->options.hash = import_text(reading->import, text);
    else
        import_remark(reading->import, IMPORT_WRONG, reading->key->line, "hash",
                      "nutcracker knows no '%.40s'; write the name of one of its hashes "
                      "(docs/profiles.md)",
                      text);
}

static void read_tag(struct reading *reading)
{
    const char *text = reading->key->value->text;
    if (strlen(text) == 2)
        reading->pool->options.tag = import_text(reading->import, text);
    else
        remark(reading, IMPORT_WRONG, "must be two characters, as \"{}\"");
}

static void read_timeout(struct reading *reading)
{
    int64_t timeout = read_number(reading);
    reading->has_timeout = timeout > 0;
    if (timeout > TIMEOUT_MS_MAX)
        remark(reading, IMPORT_NOTE, "longer than clockwise waits; it is an hour here");
    if (timeout > 0)
        reading->pool->timeout_ms = timeout > TIMEOUT_MS_MAX ? TIMEOUT_MS_MAX : (uint32_t)timeout;
}

static void read_connections(struct reading *reading)
{
    int64_t count = read_number(reading);
    if (count == 0)
        remark(reading, IMPORT_WRONG, "nutcracker refuses 0; write 1 or more");
    if (count > CONNECTIONS_MAX)
        remark(reading, IMPORT_NOTE,
               "clockwise has at most 16 connections to a node, of each worker; it is 16 here");
    if (count > 0)
        reading->pool->connections = count > CONNECTIONS_MAX ? CONNECTIONS_MAX : (uint32_t)count;
}

static void read_redis(struct reading *reading)
{
    reading->is_redis = read_bool(reading);
}

static void read_database(struct reading *reading)
{
    if (read_number(reading) > 0)
        remark(reading, IMPORT_MOVES,
               "clockwise uses database 0 alone, and would not find these keys; move them to it");
}

static void read_eject(struct reading *reading)
{
    if (read_bool(reading))
        remark(reading, IMPORT_NOTE,
               "unless on_node_down says otherwise, a failed node's keys fail fast, with an error "
               "that names the node, until it answers again; nothing is placed anew");
}

static void read_preconnect(struct reading *reading)
{
    read_bool(reading); /* clockwise always does */
}

static void read_keepalive(struct reading *reading)
{
    if (read_bool(reading))
        remark(reading, IMPORT_NOTE,
               "not carried over; clockwise finds a silent node with its own probes");
}

static void read_reuseport(struct reading *reading)
{
    read_bool(reading); /* clockwise always does, for its workers */
}

static void read_backlog(struct reading *reading)
{
    if (read_number(reading) >= 0)
        remark(reading, IMPORT_NOTE,
               "not carried over; the system's own limit (somaxconn) is "
               "what counts");
}

static void read_clients(struct reading *reading)
{
    if (read_number(reading) > 0)
        remark(reading, IMPORT_NOTE,
               "clockwise counts the clients of the whole router; set limits.clients");
}

static void read_retry(struct reading *reading)
{
    if (read_number(reading) >= 0)
        remark(reading, IMPORT_NOTE,
               "not carried over; clockwise asks a failed node at once and then ever less often "
               "(probe_interval, probe_interval_max)");
}

static void read_failure_limit(struct reading *reading)
{
    if (read_number(reading) >= 0)
        remark(reading, IMPORT_NOTE,
               "not carried over; a node that owes a reply for the timeout has failed");
}

static void read_auth(struct reading *reading)
{
    reading->redis_auth = reading->key;
    reading->pool->password = import_text(reading->import, reading->key->value->text);
    reading->pool->client_password = reading->pool->password;
}

static void read_distribution(struct reading *reading)
{
    reading->distribution = reading->key;
}

static void read_servers(struct reading *reading)
{
    reading->servers = reading->key;
}

static const struct directive {
    const char *name;
    void (*read)(struct reading *reading);
} directives[] = {
    {"listen", read_listen},
    {"client_connections", read_clients},
    {"hash", read_hash},
    {"hash_tag", read_tag},
    {"distribution", read_distribution},
    {"timeout", read_timeout},
    {"backlog", read_backlog},
    {"preconnect", read_preconnect},
    {"redis", read_redis},
    {"redis_auth", read_auth},
    {"redis_db", read_database},
    {"tcpkeepalive", read_keepalive},
    {"reuseport", read_reuseport},
    {"auto_eject_hosts", read_eject},
    {"server_connections", read_connections},
    {"server_retry_timeout", read_retry},
    {"server_failure_limit", read_failure_limit},
    {"servers", read_servers},
};

enum { DIRECTIVE_COUNT = sizeof directives / sizeof *directives };

/* ---- servers --------------------------------------------------------------------------------- */

/* "host:port:weight name" or "/path:weight name", cut from the end as nutcracker does. */
struct server {
    char *host, *port, *weight, *name;
};

static char *cut_last(char *text, char at)
{
    char *place = strrchr(text, at);
    if (!place)
        return NULL;
    *place = 0;
    return place + 1;
}

static const char *cut_server(char *text, struct server *ret_server)
{
    static const char form[] = "write host:port:weight or /path:weight, and maybe a name behind a "
                               "blank";
    static char no_port[1];
    struct server server = {.host = text, .port = no_port};
    server.name = cut_last(text, ' ');
    server.weight = cut_last(text, ':');
    if (server.weight && text[0] != '/')
        server.port = cut_last(text, ':');
    if (!server.weight || !server.port || !*server.host)
        return form;
    *ret_server = server;
    return NULL;
}

static const char *check_server(const struct server *server, uint64_t *ret_weight)
{
    uint64_t port;
    if (!import_number(server->weight, CW_WEIGHT_MAX, ret_weight))
        return "the weight is not a whole number from 1 to 1000000";
    if (*ret_weight == 0)
        return "a weight of 0, which nutcracker refuses; leave the server out, or write 1 or more";
    if (server->host[0] != '/' && (!import_number(server->port, 65535, &port) || port == 0))
        return "the port is not a number from 1 to 65535";
    return NULL;
}

static void add_server(struct reading *reading, const struct yaml_node *item)
{
    struct import *import = reading->import;
    struct server server = {0};
    uint64_t weight = 0;
    char *copy = import_alloc(import, strlen(item->text) + 1);
    if (!copy)
        return;
    memcpy(copy, item->text, strlen(item->text));
    const char *problem = cut_server(copy, &server);
    if (!problem)
        problem = check_server(&server, &weight);
    if (problem) {
        import_remark(import, IMPORT_WRONG, item->line, NULL, "server '%.60s': %s", item->text,
                      problem);
        return;
    }
    bool is_socket = server.host[0] == '/';
    struct import_node node = {.line = item->line};
    node.address = is_socket ? import_textf(import, "unix:%s", server.host)
                             : import_address(import, server.host, server.port);
    node.place.address = is_socket ? node.address
                                   : import_textf(import, "%s:%s", server.host, server.port);
    node.place.name = server.name;
    node.place.weight = (double)weight;
    import_add_node(import, reading->pool, &node);
}

/* ---- servers of one name --------------------------------------------------------------------- */

/* The name that nutcracker compares: the third field, or what stands in the file without the
 * weight, less the port 11211. */
struct named {
    const char *name;
    size_t len;
    unsigned line;
};

static struct named name_of(const struct import_node *node)
{
    const char *name = node->place.name ? node->place.name : node->place.address;
    size_t len = strlen(name);
    if (!node->place.name && len > 6 && strcmp(name + len - 6, ":11211") == 0)
        len -= 6;
    return (struct named){name, len, node->line};
}

static int by_name_and_line(const void *one, const void *other)
{
    const struct named *a = one, *b = other;
    size_t len = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->name, b->name, len);
    if (order == 0 && a->len != b->len)
        order = a->len < b->len ? -1 : 1;
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static void refuse_twins(struct import *import, const struct import_pool *pool)
{
    struct named *names = import_alloc(import, pool->node_count * sizeof *names);
    if (!names)
        return;
    for (size_t i = 0; i < pool->node_count; i++)
        names[i] = name_of(&pool->nodes[i]);
    qsort(names, pool->node_count, sizeof *names, by_name_and_line);
    for (size_t i = 1; i < pool->node_count; i++)
        if (names[i].len == names[i - 1].len &&
            memcmp(names[i].name, names[i - 1].name, names[i].len) == 0)
            import_remark(import, IMPORT_WRONG, names[i].line, NULL,
                          "a second server of the name '%.*s' (the first is in line %u), which "
                          "nutcracker refuses; give each its own name behind a blank",
                          (int)(names[i].len < 60 ? names[i].len : 60), names[i].name,
                          names[i - 1].line);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static void take_servers(struct reading *reading)
{
    const struct yaml_node *list = reading->servers ? reading->servers->value : NULL;
    if (!list || list->kind != YAML_KIND_LIST || !list->first) {
        import_remark(reading->import, IMPORT_WRONG,
                      list ? reading->servers->line : reading->pool->line, NULL,
                      "pool '%.60s' has no list of servers; nutcracker wants one, and so does "
                      "clockwise",
                      reading->pool->name);
        return;
    }
    for (const struct yaml_node *item = list->first; item; item = item->next) {
        if (item->kind == YAML_KIND_SCALAR)
            add_server(reading, item);
        else
            import_remark(reading->import, IMPORT_WRONG, item->line, "servers",
                          "%s where a server must stand; write host:port:weight",
                          yaml_kind_name(item));
    }
    refuse_twins(reading->import, reading->pool);
}

static void take_distribution(struct reading *reading)
{
    static const char *const names[] = {"ketama", "modula", "random"};
    const struct yaml_node *key = reading->distribution;
    const char *name = key ? key->value->text : "ketama";
    bool is_random = strcmp(name, "random") == 0;
    reading->pool->profile = cw_profile_find(strcmp(name, "modula") == 0 ? "twemproxy-modula"
                                                                         : "twemproxy-ketama");
    if (is_random)
        import_remark(reading->import, IMPORT_MOVES, key->line, "distribution",
                      "random is no placement: any key may be on any server; take ketama, and "
                      "expect misses");
    else if (strcmp(name, "ketama") != 0 && strcmp(name, "modula") != 0) {
        const char *nearest = suggest_nearest(name, names, 3);
        import_remark(reading->import, IMPORT_WRONG, key->line, "distribution",
                      "nutcracker knows no '%.40s'; write %s", name,
                      nearest ? nearest : "ketama, modula or random");
    }
}

static void take_rest(struct reading *reading)
{
    struct import_pool *pool = reading->pool;
    pool->engine = reading->is_redis ? "redis" : "memcached";
    if (!reading->is_redis && reading->redis_auth)
        import_remark(reading->import, IMPORT_WRONG, reading->redis_auth->line, "redis_auth",
                      "the pool is not redis: true; nutcracker refuses that");
    if (!reading->has_timeout)
        import_remark(reading->import, IMPORT_NOTE, pool->line, "timeout",
                      "pool '%.60s' has none, so nutcracker waits for ever; clockwise waits 1s for "
                      "a silent node (timeout)",
                      pool->name);
}

static void read_directive(struct reading *reading, const struct yaml_node *key)
{
    const char *names[DIRECTIVE_COUNT];
    bool is_list = strcmp(key->text, "servers") == 0;
    for (size_t i = 0; i < DIRECTIVE_COUNT; i++) {
        names[i] = directives[i].name;
        if (strcmp(key->text, directives[i].name) != 0)
            continue;
        reading->key = key;
        if (!is_list && key->value->kind != YAML_KIND_SCALAR)
            import_remark(reading->import, IMPORT_WRONG, key->line, key->text,
                          "%s where one value must stand", yaml_kind_name(key->value));
        else if (!key->is_broken && !key->value->is_broken)
            directives[i].read(reading);
        return;
    }
    const char *nearest = suggest_nearest(key->text, names, DIRECTIVE_COUNT);
    import_remark(reading->import, IMPORT_WRONG, key->line, key->text,
                  "nutcracker knows no such directive%s%s; leave it out",
                  nearest ? "; did you mean " : "", nearest ? nearest : "");
}

static void read_pool(struct import *import, const struct yaml_node *key)
{
    struct reading reading = {.import = import};
    if (import->section && strcmp(import->section, key->text) != 0)
        return;
    if (key->value->kind != YAML_KIND_MAP) {
        import_remark(import, IMPORT_WRONG, key->line, NULL,
                      "pool '%.60s' is %s; write a map of directives", key->text,
                      yaml_kind_name(key->value));
        return;
    }
    reading.pool = import_add_pool(import, key->text, key->line, NULL);
    if (!reading.pool)
        return;
    for (const struct yaml_node *child = key->value->first; child; child = child->next)
        read_directive(&reading, child);
    take_distribution(&reading);
    take_servers(&reading);
    take_rest(&reading);
}

static void read_pools(struct import *import)
{
    struct yaml_tree *tree = import_yaml(import, import->text, import->len);
    const struct yaml_node *root = tree ? yaml_tree_root(tree) : NULL;
    if (!tree)
        return;
    if (!root || root->kind != YAML_KIND_MAP)
        import_remark(import, IMPORT_WRONG, root ? root->line : 0, NULL,
                      "%s where a map from names to pools must stand",
                      root ? yaml_kind_name(root) : "nothing");
    else
        for (const struct yaml_node *key = root->first; key && !import->no_memory; key = key->next)
            read_pool(import, key);
    yaml_tree_destroy(&tree);
}

/* A line "servers:" that is indented. */
static bool looks_like_nutcracker(const char *text)
{
    for (const char *at = text; (at = strstr(at, "servers:")) != NULL; at++) {
        const char *start = at;
        while (start > text && start[-1] == ' ')
            start--;
        if (start < at && start > text && start[-1] == '\n')
            return true;
    }
    return false;
}

const struct import_format import_format_nutcracker = {
    .name = "nutcracker",
    .what = "twemproxy's nutcracker.yml, all pools",
    .section = "pool",
    .looks_like = looks_like_nutcracker,
    .read = read_pools,
};
