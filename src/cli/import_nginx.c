/*
 * An `upstream` block of nginx, wherever it stands in the file.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import.h"
#include "cli/import_nginx_statements.h"

enum { NAMES_SIZE = 256 };

struct reading {
    struct import *import;
    const char *wanted, *engine;
    bool is_stream; /* where a port must be written */
    struct import_pool *pool;
    bool has_hash, has_servers;
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool is_block(const struct nginx_statement *statement, const char *name)
{
    return statement->end == '{' && statement->count > 0 && is(statement->words[0], name);
}

static void remark(struct reading *reading, enum import_weight weight,
                   const struct nginx_statement *statement, const char *text)
{
    import_remark(reading->import, weight, statement->line, statement->words[0], "%s", text);
}

/* ---- servers --------------------------------------------------------------------------------- */

/* A name, not an address: its addresses come from DNS. */
static bool is_host_name(const char *text)
{
    if (text[0] == '[' || strncmp(text, "unix:", 5) == 0)
        return false;
    size_t host = strcspn(text, ":");
    return strspn(text, "0123456789.") < host;
}

static bool has_port(const char *text)
{
    const char *colon = strrchr(text, ':');
    return colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
}

static void bad_server(struct reading *reading, const struct nginx_statement *statement,
                       const char *text)
{
    import_remark(reading->import, IMPORT_WRONG, statement->line, NULL, "server '%.60s': %s",
                  statement->words[1], text);
}

/* False after a remark. */
static bool read_weight(struct reading *reading, const struct nginx_statement *statement,
                        const char *text, struct import_node *node)
{
    uint64_t weight;
    if (!import_number(text, CW_WEIGHT_MAX, &weight) || weight == 0) {
        bad_server(reading, statement,
                   "the weight is not a whole number of 1 or more, which nginx refuses; leave the "
                   "server out, or mark it as down");
        return false;
    }
    node->place.weight = (double)weight;
    return true;
}

static void tell_left_out(struct reading *reading, const struct nginx_statement *statement,
                          const char *names)
{
    if (*names)
        import_remark(reading->import, IMPORT_NOTE, statement->line, NULL,
                      "server '%.60s': not carried over: %s", statement->words[1], names);
}

/* The parameters behind the address. False when the server gets no keys, or after a remark. */
static bool read_parameters(struct reading *reading, const struct nginx_statement *statement,
                            struct import_node *node)
{
    char names[NAMES_SIZE] = "";
    for (size_t i = 2; i < statement->count; i++) {
        const char *word = statement->words[i];
        size_t len = strlen(names);
        if (strncmp(word, "weight=", 7) == 0) {
            if (!read_weight(reading, statement, word + 7, node))
                return false;
        } else if (is(word, "down")) {
            node->place.is_down = true;
        } else if (is(word, "backup")) {
            import_remark(reading->import, IMPORT_NOTE, statement->line, NULL,
                          "server '%.60s': a backup gets no keys while another server is up; it is "
                          "left out",
                          statement->words[1]);
            return false;
        } else {
            snprintf(names + len, sizeof names - len, "%s%.*s", len ? ", " : "",
                     (int)strcspn(word, "="), word);
        }
    }
    tell_left_out(reading, statement, names);
    return true;
}

static void take_server(struct reading *reading, const struct nginx_statement *statement)
{
    struct import *import = reading->import;
    struct import_node node = {.line = statement->line, .place.weight = 1};
    if (statement->count < 2) {
        remark(reading, IMPORT_WRONG, statement, "write `server ADDRESS;`");
        return;
    }
    const char *text = statement->words[1];
    bool is_socket = strncmp(text, "unix:", 5) == 0, is_whole = is_socket || has_port(text);
    reading->has_servers = true;
    if (!is_whole && reading->is_stream) {
        bad_server(reading, statement, "no port, which nginx refuses in a stream; write one");
        return;
    }
    node.address = is_whole ? text : import_textf(import, "%.255s:80", text);
    node.place.address = text;
    node.id = text;
    if (!read_parameters(reading, statement, &node))
        return;
    if (is_host_name(text))
        import_remark(
            import, IMPORT_NOTE, statement->line, NULL,
            "server '%.60s': if the name has several addresses, nginx takes them in turns "
            "for one key; clockwise takes one",
            text);
    import_add_node(import, reading->pool, &node);
}

/* ---- the block ------------------------------------------------------------------------------- */

static void take_hash(struct reading *reading, const struct nginx_statement *statement)
{
    bool is_consistent = statement->count > 2 && is(statement->words[2], "consistent");
    reading->has_hash = true;
    if (statement->count < 2 || (statement->count > 2 && !is_consistent)) {
        remark(reading, IMPORT_WRONG, statement, "write `hash KEY;` or `hash KEY consistent;`");
        return;
    }
    reading->pool->profile = cw_profile_find(is_consistent ? "nginx-hash-consistent"
                                                           : "nginx-hash");
    if (!is(statement->words[1], "$memcached_key") && !is(statement->words[1], "$redis_key"))
        import_remark(reading->import, IMPORT_NOTE, statement->line, "hash",
                      "the key is the value of %.60s", statement->words[1]);
}

static bool is_other_method(const char *word)
{
    static const char *const words[] = {"ip_hash",    "least_conn", "random", "least_time",
                                        "chash",      "fair",       "sticky", "sticky_cookie",
                                        "check_keys", NULL};
    for (size_t i = 0; words[i]; i++)
        if (is(word, words[i]))
            return true;
    return false;
}

static void take_statement(struct reading *reading, const struct nginx_statement *statement)
{
    const char *word = statement->words[0];
    if (is(word, "server"))
        take_server(reading, statement);
    else if (is(word, "hash"))
        take_hash(reading, statement);
    else if (is_other_method(word)) {
        reading->has_hash = true; /* said once */
        remark(reading, IMPORT_MOVES, statement,
               "does not place by a key, or by a rule that no profile has; there is no place to "
               "keep");
    } else if (is(word, "include") || is(word, "state"))
        remark(reading, IMPORT_WRONG, statement,
               "another file is not read; write its servers here");
    else
        remark(reading, IMPORT_NOTE, statement, "not carried over");
}

/* ---- a server that stands twice -------------------------------------------------------------- */

static int by_text_and_line(const void *one, const void *other)
{
    const struct import_node *a = *(const struct import_node *const *)one;
    const struct import_node *b = *(const struct import_node *const *)other;
    int order = strcmp(a->place.address, b->place.address);
    return order ? order : (a > b) - (a < b);
}

/* To a ring it is one server: the points of the lesser weight are among those of the greater. */
static void merge_twins(struct import *import, struct import_pool *pool)
{
    struct import_node **nodes = import_alloc(import, (pool->node_count + 1) * sizeof(void *));
    size_t kept = 0;
    if (!nodes)
        return;
    for (size_t i = 0; i < pool->node_count; i++)
        nodes[i] = &pool->nodes[i];
    qsort(nodes, pool->node_count, sizeof *nodes, by_text_and_line);
    for (size_t i = 1, first = 0; i < pool->node_count; i++) {
        struct import_node *one = nodes[first], *twin = nodes[i];
        if (strcmp(one->place.address, twin->place.address) != 0) {
            first = i;
            continue;
        }
        import_remark(import, IMPORT_NOTE, twin->line, NULL,
                      "server '%.60s' stands in line %u already; to the ring they are one, of the "
                      "greater weight",
                      twin->place.address, one->line);
        if (twin->place.weight > one->place.weight)
            one->place.weight = twin->place.weight;
        twin->id = NULL;
    }
    for (size_t i = 0; i < pool->node_count; i++)
        if (pool->nodes[i].id)
            pool->nodes[kept++] = pool->nodes[i];
    pool->node_count = kept;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void read_block(struct reading *reading, struct nginx_reader *statements, unsigned line)
{
    const struct nginx_statement *statement;
    unsigned depth = 1;
    reading->pool = import_add_pool(reading->import, reading->wanted, line, "nginx-hash");
    if (!reading->pool)
        return;
    reading->pool->engine = reading->engine;
    while (depth > 0 && (statement = nginx_reader_next(statements)) != NULL) {
        if (statement->count && depth == 1)
            take_statement(reading, statement);
        depth += statement->end == '{';
        depth -= statement->end == '}';
    }
    if (depth > 0)
        import_remark(reading->import, IMPORT_WRONG, line, NULL,
                      "the block that begins here has no end; write its }");
    if (strcmp(reading->pool->profile->name, "nginx-hash-consistent") == 0)
        merge_twins(reading->import, reading->pool);
    if (!reading->has_hash)
        import_remark(reading->import, IMPORT_MOVES, line, NULL,
                      "upstream '%.60s' has no `hash`: nginx takes its servers in turns, and there "
                      "is no place to keep",
                      reading->wanted);
    if (!reading->has_servers)
        import_remark(reading->import, IMPORT_WRONG, line, NULL, "upstream '%.60s' has no servers",
                      reading->wanted);
}

/* ---- which upstream -------------------------------------------------------------------------- */

/* What speaks to the upstream, as "memcached_pass NAME" or "proxy_pass http://NAME/path". */
static const char *engine_of(const struct nginx_statement *statement)
{
    const char *word = statement->words[0];
    return is(word, "memcached_pass")                          ? "memcached"
           : is(word, "redis2_pass") || is(word, "redis_pass") ? "redis"
                                                               : NULL;
}

static void find_engine(struct reading *reading)
{
    struct nginx_reader statements;
    const struct nginx_statement *statement;
    nginx_reader_init(&statements, reading->import);
    while ((statement = nginx_reader_next(&statements)) != NULL)
        if (statement->count > 1 && engine_of(statement) &&
            is(statement->words[1], reading->wanted))
            reading->engine = engine_of(statement);
}

/* The only upstream, or the only one with a hash; NULL after saying that there are several, or
 * none. */
static const char *choose_upstream(struct import *import)
{
    struct nginx_reader statements;
    const struct nginx_statement *statement;
    const char *name = NULL, *last = NULL, *hashed = NULL;
    char names[NAMES_SIZE] = "";
    size_t count = 0, hashed_count = 0;
    nginx_reader_init(&statements, import);
    while ((statement = nginx_reader_next(&statements)) != NULL) {
        if (is_block(statement, "upstream") && statement->count > 1) {
            size_t len = strlen(names);
            name = last = statement->words[1];
            snprintf(names + len, sizeof names - len, "%s%.60s", count++ ? ", " : "", name);
        } else if (name && statement->count && is(statement->words[0], "hash")) {
            hashed = name;
            hashed_count++;
        }
        if (statement->end == '}')
            name = NULL;
    }
    if (import->counts[IMPORT_WRONG])
        return NULL;
    if (count == 1 || hashed_count == 1)
        return count == 1 ? last : hashed;
    import_remark(import, IMPORT_WRONG, 0, NULL,
                  count ? "several upstreams: %s; say which with --upstream"
                        : "no upstream is in it (files that it includes are not read)%s",
                  names);
    return NULL;
}

static void read_nginx(struct import *import)
{
    struct reading reading = {.import = import};
    struct nginx_reader statements;
    const struct nginx_statement *statement;
    reading.wanted = import->section ? import->section : choose_upstream(import);
    if (!reading.wanted)
        return;
    find_engine(&reading);
    nginx_reader_init(&statements, import);
    while ((statement = nginx_reader_next(&statements)) != NULL) {
        if (is_block(statement, "stream") || is_block(statement, "http"))
            reading.is_stream = is_block(statement, "stream");
        if (is_block(statement, "upstream") && statement->count > 1 &&
            is(statement->words[1], reading.wanted)) {
            read_block(&reading, &statements, statement->line);
            return;
        }
    }
}

/* "upstream NAME {" at the start of a line. */
static bool looks_like_nginx(const char *text)
{
    for (const char *at = text; (at = strstr(at, "upstream")) != NULL; at += 8) {
        const char *start = at;
        while (start > text && (start[-1] == ' ' || start[-1] == '\t'))
            start--;
        if ((start == text || start[-1] == '\n' || start[-1] == '{') &&
            isspace((unsigned char)at[8]))
            return true;
    }
    return false;
}

const struct import_format import_format_nginx = {
    .name = "nginx",
    .what = "an upstream block of nginx.conf",
    .section = "upstream",
    .looks_like = looks_like_nginx,
    .read = read_nginx,
};
