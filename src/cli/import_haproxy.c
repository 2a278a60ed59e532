/*
 * A backend of haproxy.cfg (or a `listen`), with what the defaults say. HAProxy places by the
 * number of a server; the numbers are written down, so that a server may later be added anywhere.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import.h"
#include "cli/import_haproxy_server.h"
#include "cli/import_haproxy_words.h"
#include "cli/import_words.h"

enum { DEFAULTS_COUNT_MAX = 64, NAMES_SIZE = 256 };

/* What a backend may have from the defaults. */
struct settings {
    const char *name; /* of the defaults; "" for those without */
    const char *balance;
    unsigned balance_line, hash_line;
    const char *method, *function; /* of hash-type; NULL: not said */
    bool has_avalanche;
    const char *server_key;
    double weight;
    bool is_down;
};

struct reading {
    struct import *import;
    const char *wanted; /* the backend that is read */
    struct settings defaults[DEFAULTS_COUNT_MAX];
    size_t defaults_count;
    struct settings *settings;  /* of the section we are in; NULL: it is none of interest */
    struct settings of_backend; /* while it is read */
    struct import_pool *pool;   /* while it is read */
    uint64_t *numbers;          /* of all its servers, those that are left out too; 0: automatic */
    size_t number_count, number_room;
    size_t *nodes; /* the server's place in the pool; SIZE_MAX: left out */
};

static void note(struct reading *reading, const struct import_line *line, const char *text)
{
    import_remark(reading->import, IMPORT_NOTE, line->number, line->words[0], "%s", text);
}

static void moves(struct reading *reading, const struct import_line *line, const char *text)
{
    import_remark(reading->import, IMPORT_MOVES, line->number, line->words[0], "%s", text);
}

static void wrong(struct reading *reading, const struct import_line *line, const char *text)
{
    import_remark(reading->import, IMPORT_WRONG, line->number, line->words[0], "%s", text);
}

static const char *word(const struct import_line *line, size_t index)
{
    return index < line->count ? line->words[index] : "";
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* ---- servers --------------------------------------------------------------------------------- */

static bool note_number(struct reading *reading, uint32_t number, size_t node)
{
    if (reading->number_count == reading->number_room) {
        size_t room = reading->number_room ? reading->number_room * 2 : 64;
        uint64_t *numbers = import_alloc(reading->import, room * sizeof *numbers);
        size_t *nodes = import_alloc(reading->import, room * sizeof *nodes);
        if (!numbers || !nodes)
            return false;
        if (reading->number_count) {
            memcpy(numbers, reading->numbers, reading->number_count * sizeof *numbers);
            memcpy(nodes, reading->nodes, reading->number_count * sizeof *nodes);
        }
        reading->numbers = numbers;
        reading->nodes = nodes;
        reading->number_room = room;
    }
    reading->numbers[reading->number_count] = number;
    reading->nodes[reading->number_count++] = node;
    return true;
}

static void add_server(struct reading *reading, const struct import_line *line,
                       struct haproxy_server *server)
{
    struct import_pool *pool = reading->pool;
    size_t place = pool->node_count;
    if (server->is_backup) {
        import_remark(reading->import, IMPORT_NOTE, line->number, NULL,
                      "server '%.60s': a backup gets no keys while another server is up; it is "
                      "left out",
                      word(line, 1));
        note_number(reading, server->node.place.number, SIZE_MAX);
        return;
    }
    if (!import_add_node(reading->import, pool, &server->node) ||
        !note_number(reading, server->node.place.number, place))
        return;
    const char *id = pool->nodes[place].id, *name = word(line, 1);
    if (strncmp(id, name, strlen(name)) == 0 && id[strlen(name)])
        import_remark(reading->import, IMPORT_WRONG, line->number, NULL,
                      "a second server of the name '%.60s', which HAProxy refuses", name);
}

static void take_server(struct reading *reading, const struct import_line *line)
{
    struct settings *settings = &reading->of_backend;
    struct haproxy_server server = {
        .node = {.line = line->number,
                 .id = word(line, 1),
                 .place = {.weight = settings->weight, .is_down = settings->is_down}}};
    if (line->count < 3) {
        wrong(reading, line, "write `server NAME ADDRESS:PORT`");
        return;
    }
    server.node.address = haproxy_read_address(reading->import, word(line, 2));
    server.node.place.address = server.node.address;
    if (line->has_variable)
        haproxy_bad_server(reading->import, line, &server,
                           "a variable, whose value is not known here; write it");
    else if (!server.node.address)
        haproxy_bad_server(reading->import, line, &server,
                           "no port (HAProxy then takes the client's); write ADDRESS:PORT");
    haproxy_read_options(reading->import, line, 3, &server);
    haproxy_tell_left_out(reading->import, line, &server);
    if (server.server_key && settings->server_key && !is(server.server_key, settings->server_key))
        haproxy_bad_server(
            reading->import, line, &server,
            "another hash-key than the server before, which no profile has; write one for "
            "all (default-server)");
    if (server.server_key)
        settings->server_key = server.server_key;
    if (!server.is_bad)
        add_server(reading, line, &server);
}

static void take_default_server(struct reading *reading, const struct import_line *line)
{
    struct settings *settings = reading->settings;
    struct haproxy_server server = {
        .node.place = {.weight = settings->weight, .is_down = settings->is_down}};
    haproxy_read_options(reading->import, line, 1, &server);
    settings->weight = server.node.place.weight;
    settings->is_down = server.node.place.is_down;
    if (server.server_key)
        settings->server_key = server.server_key;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* As HAProxy numbers: configured ids stand, the others count up from the position over those that
 * are taken. Backups count too, which is why the numbers must be written down. */
static void write_numbers(struct reading *reading)
{
    size_t count = reading->number_count, taken = 0, at = 0;
    uint64_t *ids = import_alloc(reading->import, (count + 1) * sizeof *ids), next = 1;
    if (!ids)
        return;
    for (size_t i = 0; i < count; i++)
        if (reading->numbers[i])
            ids[taken++] = reading->numbers[i];
    qsort(ids, taken, sizeof *ids, by_value);
    for (size_t i = 0; i < count; i++, next++) {
        uint64_t number = reading->numbers[i];
        if (!number) {
            for (; at < taken && ids[at] <= next; at++)
                next += ids[at] == next;
            number = next;
        }
        if (reading->nodes[i] != SIZE_MAX)
            reading->pool->nodes[reading->nodes[i]].place.number = (uint32_t)number;
    }
}

/* ---- the rule -------------------------------------------------------------------------------- */

static void take_hash_type(struct reading *reading, const struct import_line *line)
{
    struct settings *settings = reading->settings;
    settings->method = word(line, 1);
    settings->function = line->count > 2 ? word(line, 2) : NULL;
    settings->has_avalanche = is(word(line, 3), "avalanche");
    settings->hash_line = line->number;
    if (!is(settings->method, "consistent") && !is(settings->method, "map-based"))
        wrong(reading, line, "write consistent or map-based");
    if (settings->function && !haproxy_is_function(settings->function))
        wrong(reading, line, "no such function; write sdbm, djb2, wt6, crc32 or none");
    if (line->count > 3 && !settings->has_avalanche)
        wrong(reading, line, "the only modifier is avalanche");
}

static void take_balance(struct reading *reading, const struct import_line *line)
{
    reading->settings->balance = word(line, 1);
    reading->settings->balance_line = line->number;
}

static void judge_balance(struct reading *reading)
{
    const struct settings *settings = &reading->of_backend;
    const char *balance = settings->balance ? settings->balance : "roundrobin";
    unsigned line = settings->balance ? settings->balance_line : reading->pool->line;
    const char *what = haproxy_balance_key(balance);
    if (what)
        import_remark(reading->import, IMPORT_NOTE, line, "balance", "%s", what);
    else if (is(balance, "source"))
        import_remark(reading->import, IMPORT_MOVES, line, "balance",
                      "source hashes clients' addresses in a way of its own, which no profile has; "
                      "use balance hash src");
    else
        import_remark(reading->import, IMPORT_MOVES, line, "balance",
                      "%.30s does not place by keys; there is no place to keep", balance);
}

static void take_rule(struct reading *reading)
{
    const struct settings *settings = &reading->of_backend;
    struct import_pool *pool = reading->pool;
    bool is_consistent = settings->method && is(settings->method, "consistent");
    pool->profile = cw_profile_find(is_consistent ? "haproxy-consistent" : "haproxy-map-based");
    judge_balance(reading);
    if (settings->function)
        pool->options.hash = import_textf(reading->import, "%s%s", settings->function,
                                          settings->has_avalanche ? "-avalanche" : "");
    if (!is_consistent)
        return;
    if (settings->server_key && !is(settings->server_key, "id")) /* the default */
        pool->options.server_key = settings->server_key;
    if (!settings->server_key || strncmp(settings->server_key, "id", 2) == 0)
        write_numbers(reading);
    if (!settings->server_key || is(settings->server_key, "id"))
        import_remark(
            reading->import, IMPORT_NOTE, settings->hash_line, "hash-type",
            "releases 3.0 to 3.2 before the fix of October 2025 place by another rule; if "
            "yours is one, add --placement haproxy-3.0-consistent");
}

/* ---- sections -------------------------------------------------------------------------------- */

static struct settings *find_defaults(struct reading *reading, const char *name)
{
    for (size_t i = reading->defaults_count; i-- > 0;)
        if (!name || is(reading->defaults[i].name, name))
            return &reading->defaults[i];
    return NULL;
}

/* `defaults [NAME] [from NAME]`, `backend NAME [from NAME]`: what holds before the first line. */
static struct settings inherit(struct reading *reading, const struct import_line *line)
{
    const char *from = NULL;
    for (size_t i = 1; i + 1 < line->count; i++)
        if (is(line->words[i], "from"))
            from = line->words[i + 1];
    bool is_defaults = is(line->words[0], "defaults");
    const struct settings *found = is_defaults && !from ? NULL : find_defaults(reading, from);
    if (from && !found)
        wrong(reading, line, "no defaults of the name behind `from` stand above");
    return found ? *found : (struct settings){.name = "", .weight = 1};
}

static void open_defaults(struct reading *reading, const struct import_line *line)
{
    if (reading->defaults_count == DEFAULTS_COUNT_MAX) {
        wrong(reading, line, "more than 64 sections of defaults");
        return;
    }
    struct settings settings = inherit(reading, line);
    settings.name = is(word(line, 1), "from") ? "" : word(line, 1);
    reading->settings = &reading->defaults[reading->defaults_count++];
    *reading->settings = settings;
}

static void close_section(struct reading *reading)
{
    if (reading->pool)
        take_rule(reading);
    if (reading->pool && reading->pool->node_count == 0 &&
        reading->import->counts[IMPORT_WRONG] == 0)
        import_remark(reading->import, IMPORT_WRONG, reading->pool->line, NULL,
                      "'%.60s' has no servers", reading->wanted);
    reading->pool = NULL;
    reading->settings = NULL;
}

static void open_backend(struct reading *reading, const struct import_line *line)
{
    if (!is(word(line, 1), reading->wanted))
        return;
    if (reading->import->pool_count) {
        wrong(reading, line, "a second section of this name, which HAProxy refuses");
        return;
    }
    reading->of_backend = inherit(reading, line);
    reading->settings = &reading->of_backend;
    reading->pool = import_add_pool(reading->import, word(line, 1), line->number, NULL);
}

static bool is_backend(const char *word)
{
    return is(word, "backend") || is(word, "listen");
}

/* What sends requests past the hash. */
static bool overrides_hash(const struct import_line *line)
{
    return is(line->words[0], "use-server") || is(line->words[0], "cookie") ||
           (is(line->words[0], "stick") && !is(word(line, 1), "store-response"));
}

static void take_timeout(struct reading *reading, const struct import_line *line)
{
    uint32_t ms;
    if (!is(word(line, 1), "server"))
        note(reading, line, "not carried over");
    else if (!haproxy_duration(word(line, 2), &ms))
        wrong(reading, line, "no time; write 30s, 500ms or 2m");
    else
        reading->pool->timeout_ms = ms;
}

static void take_backend_line(struct reading *reading, const struct import_line *line)
{
    const char *key = line->words[0];
    if (is(key, "server"))
        take_server(reading, line);
    else if (is(key, "server-template"))
        wrong(reading, line, "the servers come from DNS; write a `server` line for each");
    else if (is(key, "hash-balance-factor"))
        note(reading, line,
             "under load HAProxy sends keys on to other servers; clockwise never does, nor does "
             "HAProxy while it is idle");
    else if (is(key, "bind"))
        note(reading, line, "not carried over; set listen");
    else if (is(key, "timeout"))
        take_timeout(reading, line);
    else if (overrides_hash(line))
        moves(reading, line, "sends requests elsewhere than the hash says; leave it out first");
    else if (!haproxy_is_silent(key))
        note(reading, line, "not carried over");
}

static void take_line(struct reading *reading, const struct import_line *line)
{
    const char *key = line->words[0];
    if (key[0] == '.' && (is(key, ".if") || is(key, ".elif")))
        wrong(reading, line, "conditions are not evaluated here; write what holds");
    else if (haproxy_is_section(key)) {
        close_section(reading);
        if (is(key, "defaults"))
            open_defaults(reading, line);
        else if (is_backend(key))
            open_backend(reading, line);
    } else if (!reading->settings)
        return;
    else if (line->is_cut)
        wrong(reading, line, "more than 128 words in a line");
    else if (is(key, "balance"))
        take_balance(reading, line);
    else if (is(key, "hash-type"))
        take_hash_type(reading, line);
    else if (is(key, "default-server"))
        take_default_server(reading, line);
    else if (reading->pool)
        take_backend_line(reading, line);
}

/* ---- which backend --------------------------------------------------------------------------- */

/* The only backend with servers; NULL after saying that there are several, or none. */
static const char *choose_backend(struct import *import)
{
    struct import_lines lines;
    const struct import_line *line;
    const char *name = NULL, *chosen = NULL;
    char names[NAMES_SIZE] = "";
    size_t count = 0;
    import_lines_init(&lines, import);
    while ((line = import_lines_next(&lines)) != NULL) {
        if (haproxy_is_section(line->words[0]))
            name = is_backend(line->words[0]) ? word(line, 1) : NULL;
        if (!name || strncmp(line->words[0], "server", 6) != 0 || name == chosen)
            continue;
        size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s%.60s", count ? ", " : "", name);
        chosen = name;
        count++;
    }
    if (count == 1)
        return chosen;
    import_remark(import, IMPORT_WRONG, 0, NULL,
                  count ? "several backends have servers: %s; say which with --backend"
                        : "no backend with servers is in it%s",
                  names);
    return NULL;
}

static void read_haproxy(struct import *import)
{
    struct import_lines lines;
    const struct import_line *line;
    struct reading *reading = import_alloc(import, sizeof *reading);
    if (!reading)
        return;
    reading->import = import;
    reading->wanted = import->section ? import->section : choose_backend(import);
    if (!reading->wanted)
        return;
    import_lines_init(&lines, import);
    while ((line = import_lines_next(&lines)) != NULL)
        take_line(reading, line);
    close_section(reading);
}

static bool looks_like_haproxy(const char *text)
{
    static const char *const starts[] = {"backend ", "listen ", "frontend ", "defaults", "global"};
    bool is_start = true;
    for (const char *at = text; *at; is_start = *at++ == '\n') {
        for (size_t i = 0; is_start && i < sizeof starts / sizeof *starts; i++) {
            size_t len = strlen(starts[i]);
            if (strncmp(at, starts[i], len) == 0 && (i < 3 || strchr(" \t\r\n", at[len])))
                return true;
        }
    }
    return false;
}

const struct import_format import_format_haproxy = {
    .name = "haproxy",
    .what = "a backend of haproxy.cfg",
    .section = "backend",
    .looks_like = looks_like_haproxy,
    .read = read_haproxy,
};
