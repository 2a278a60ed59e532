/*
 * The proxy inside memcached: the pools of its Lua configuration, as far as they are literal:
 * mcp.pool(backends, options), and the `pools{...}` of its route library. Nothing is run.
 */
#include <stdio.h>
#include <string.h>

#include "cli/import.h"
#include "cli/import_lua.h"

struct reading {
    struct import *import;
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void wrong(struct reading *reading, unsigned line, const char *option, const char *text)
{
    import_remark(reading->import, IMPORT_WRONG, line, option, "%s", text);
}

/* ---- backends -------------------------------------------------------------------------------- */

static const char not_literal[] = "no literal: only what is written out is read here; write "
                                  "mcp.backend('name', 'host', port)";

static bool add_backend(struct reading *reading, struct import_pool *pool, unsigned line,
                        const char *label, const char *host, const char *port)
{
    uint64_t number;
    if (!*host || !import_number(port, 65535, &number) || number == 0) {
        import_remark(reading->import, IMPORT_WRONG, line, NULL,
                      "backend '%.60s': no host, or a port that is no number from 1 to 65535; "
                      "write both",
                      label);
        return false;
    }
    struct import_node node = {.line = line, .id = label, .place.weight = 1};
    node.address = import_address(reading->import, host, port);
    node.place.address = node.address;
    return import_add_node(reading->import, pool, &node);
}

/* "host:port", as the route library takes it. */
static bool add_text(struct reading *reading, struct import_pool *pool,
                     const struct lua_value *value)
{
    const char *colon = strrchr(value->text, ':');
    size_t len = colon ? (size_t)(colon - value->text) : strlen(value->text);
    const char *host = import_text_of(reading->import, value->text, len);
    return add_backend(reading, pool, value->line, value->text, host, colon ? colon + 1 : "");
}

static bool add_table(struct reading *reading, struct import_pool *pool,
                      const struct lua_value *table)
{
    const char *label = lua_text(lua_find(table, "label")),
               *host = lua_text(lua_find(table, "host"));
    return add_backend(reading, pool, table->line, *label ? label : host, host,
                       lua_text(lua_find(table, "port")));
}

static const struct lua_value *argument(const struct lua_value *call, unsigned index)
{
    const struct lua_entry *entry = call->first;
    for (; entry && index > 0; index--)
        entry = entry->next;
    return entry ? entry->value : NULL;
}

/* False after a remark. */
static bool add_value(struct reading *reading, struct import_pool *pool,
                      const struct lua_value *value)
{
    if (value->kind == LUA_STRING)
        return add_text(reading, pool, value);
    if (value->kind == LUA_TABLE)
        return add_table(reading, pool, value);
    if (value->kind != LUA_CALL || !is(value->text, "mcp.backend")) {
        wrong(reading, value->line, NULL, not_literal);
        return false;
    }
    const struct lua_value *first = argument(value, 0);
    if (first && first->kind == LUA_TABLE)
        return add_table(reading, pool, first);
    const struct lua_value *host = argument(value, 1);
    if (!host || host->kind != LUA_STRING) {
        wrong(reading, value->line, NULL, not_literal);
        return false;
    }
    return add_backend(reading, pool, value->line, lua_text(first), host->text,
                       lua_text(argument(value, 2)));
}

/* ---- options --------------------------------------------------------------------------------- */

static void take_distribution(struct reading *reading, struct import_pool *pool,
                              const struct lua_value *options)
{
    static const struct {
        const char *mode, *profile;
    } modes[] = {{"", "memcached-proxy-ring"},
                 {"ketama", "memcached-proxy-ring-ketama"},
                 {"twemproxy", "memcached-proxy-ring-twemproxy"},
                 {"evcache", "memcached-proxy-ring-evcache"}};
    const struct lua_value *dist = lua_find(options, "dist");
    const char *mode = lua_text(lua_find(options, "omode"));
    if (!dist || is(lua_text(dist), "mcp.dist_jump_hash") || is(lua_text(dist), "nil"))
        return;
    if (!is(lua_text(dist), "mcp.dist_ring_hash")) {
        import_remark(reading->import, IMPORT_MOVES, dist->line, "dist",
                      "no profile has '%.40s'; use mcp.dist_jump_hash or mcp.dist_ring_hash",
                      lua_text(dist));
        return;
    }
    pool->profile = NULL;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (is(mode, modes[i].mode) || (i == 0 && is(mode, "default")))
            pool->profile = cw_profile_find(modes[i].profile);
    if (!pool->profile) {
        pool->profile = cw_profile_find(modes[0].profile);
        import_remark(reading->import, IMPORT_WRONG, dist->line, "omode",
                      "no such mode: '%.40s'; there are ketama, twemproxy and evcache", mode);
    }
}

static void take_hash(struct reading *reading, struct import_pool *pool,
                      const struct lua_value *hash)
{
    if (is(lua_text(hash), "mcp.dist_ring_hash.hash"))
        pool->options.hash = "md5";
    else if (!is(lua_text(hash), "mcp.hash_xxhash"))
        import_remark(reading->import, IMPORT_MOVES, hash->line, "hash",
                      "no profile has '%.40s'; use the default or mcp.dist_ring_hash.hash",
                      lua_text(hash));
}

static void take_filter(struct reading *reading, struct import_pool *pool,
                        const struct lua_value *filter, const struct lua_value *options)
{
    const struct lua_value *value = lua_find(options, "filter_conf");
    const char *conf = value && value->kind == LUA_STRING ? value->text : "";
    bool is_tags = is(lua_text(filter), "tags");
    if (!is_tags && !is(lua_text(filter), "stop"))
        wrong(reading, filter->line, "filter", "memcached knows only tags and stop; write one");
    else if (strlen(conf) < 2)
        wrong(reading, filter->line, "filter_conf",
              "missing, or shorter than two characters, which memcached refuses; write it");
    else if (is_tags && conf[0] == conf[1])
        import_remark(reading->import, IMPORT_MOVES, filter->line, "filter_conf",
                      "two equal characters: memcached then takes the end of a tag for its "
                      "beginning, which no profile does; use two that differ");
    else if (is_tags)
        pool->options.tag = import_text_of(reading->import, conf, 2);
    else
        pool->options.stop = conf;
}

static void take_buckets(struct reading *reading, struct import_pool *pool,
                         const struct lua_value *value)
{
    uint64_t points;
    if (import_number(lua_text(value), 1000000, &points) && points > 0)
        pool->options.points = (uint32_t)points;
    else
        wrong(reading, value->line, "obuckets", "not a number from 1 to 1000000");
}

static void take_option(struct reading *reading, struct import_pool *pool,
                        const struct lua_value *options, const struct lua_entry *option)
{
    const char *key = option->key ? option->key : "";
    const struct lua_value *value = option->value;
    if (is(key, "hash"))
        take_hash(reading, pool, value);
    else if (is(key, "filter"))
        take_filter(reading, pool, value, options);
    else if (is(key, "obuckets"))
        take_buckets(reading, pool, value);
    else if (is(key, "seed") && value->kind == LUA_STRING)
        pool->options.salt = value->text;
    else if (is(key, "seed") || is(key, "hash_mask"))
        import_remark(reading->import, IMPORT_MOVES, value->line, key,
                      is(key, "seed") ? "no literal text; write it out"
                                      : "no profile masks hashes; leave it out");
    else if (!is(key, "dist") && !is(key, "omode") && !is(key, "filter_conf"))
        import_remark(reading->import, IMPORT_NOTE, value->line, key, "not carried over");
}

static void take_options(struct reading *reading, struct import_pool *pool,
                         const struct lua_value *options)
{
    if (!options || is(lua_text(options), "nil"))
        return;
    if (options->kind != LUA_TABLE) {
        wrong(reading, options->line, NULL,
              "the pool's options are no literal table; write them "
              "out");
        return;
    }
    take_distribution(reading, pool, options);
    for (const struct lua_entry *option = options->first; option; option = option->next)
        if (option->value)
            take_option(reading, pool, options, option);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static void take_pool(struct reading *reading, const char *name, unsigned line,
                      const struct lua_value *backends, const struct lua_value *options)
{
    struct import *import = reading->import;
    if (import->section && !is(import->section, name))
        return;
    struct import_pool *pool = import_add_pool(import, *name ? name : "pool", line,
                                               "memcached-proxy-jump");
    if (!pool)
        return;
    pool->engine = "memcached";
    if (!backends || backends->kind != LUA_TABLE) {
        wrong(reading, line, NULL, "the pool's backends are no literal table; write them out");
        return;
    }
    for (const struct lua_entry *entry = backends->first; entry; entry = entry->next)
        if (entry->value && !add_value(reading, pool, entry->value))
            return;
    if (pool->node_count == 0)
        wrong(reading, line, NULL, "the pool has no backends");
    take_options(reading, pool, options);
}

static void take_call(void *user, const char *name, const struct lua_value *call)
{
    struct reading *reading = user;
    const struct lua_value *first = argument(call, 0);
    if (is(call->text, "mcp.pool"))
        take_pool(reading, name, call->line, first, argument(call, 1));
    else if (is(call->text, "pools") && first && first->kind == LUA_TABLE)
        for (const struct lua_entry *entry = first->first; entry; entry = entry->next)
            if (entry->value)
                take_pool(reading, entry->key ? entry->key : "", entry->value->line,
                          lua_find(entry->value, "backends"), lua_find(entry->value, "options"));
}

static void read_memcached_proxy(struct import *import)
{
    struct reading reading = {.import = import};
    lua_read(import, take_call, &reading);
}

static bool looks_like_memcached_proxy(const char *text)
{
    return strstr(text, "mcp.pool") || (strstr(text, "pools") && strstr(text, "backends"));
}

const struct import_format import_format_memcached_proxy = {
    .name = "memcached-proxy",
    .what = "the Lua of memcached's own proxy, its literal pools",
    .section = "pool",
    .looks_like = looks_like_memcached_proxy,
    .read = read_memcached_proxy,
};
