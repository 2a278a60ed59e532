/*
 * What was read, as a configuration of ours, and what could not be carried over, for people.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import.h"
#include "control/table.h"

enum { LISTEN_PORT = 7400 };

/* A text that notices when memory runs out, so that none is taken for whole which is not. */
struct output {
    struct buffer bytes;
    bool has_failed;
};

static void put_bytes(struct output *out, const char *bytes, size_t len)
{
    out->has_failed |= !buffer_append(&out->bytes, bytes, len);
}

static void put(struct output *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

static void putf(struct output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void putf(struct output *out, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len >= 0)
        put_bytes(out, text, (size_t)len);
    else
        out->has_failed = true;
    if (len >= 0)
        free(text);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

/* Whether a text means itself without quotes, also between braces. */
static bool is_plain(const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || !isalnum((unsigned char)text[0]) || text[len - 1] == ':')
        return false;
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._:/@-", *at))
            return false;
    return true;
}

static void write_text(struct output *out, const char *text)
{
    if (is_plain(text)) {
        put(out, text);
        return;
    }
    put(out, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            putf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            putf(out, "\\x%02x", c);
        else
            put_bytes(out, text, 1);
    }
    put(out, "\"");
}

static void write_key(struct output *out, const char *indent, const char *key, const char *text)
{
    if (!text)
        return;
    putf(out, "%s%s: ", indent, key);
    write_text(out, text);
    put(out, "\n");
}

/* Of a map in braces: a comma before all but the first. */
static void write_item(struct output *out, bool *is_first, const char *key, const char *text)
{
    putf(out, "%s%s: ", *is_first ? "" : ", ", key);
    write_text(out, text);
    *is_first = false;
}

/* ---- settings -------------------------------------------------------------------------------- */

static void write_text_setting(struct output *out, bool *is_first, enum cw_profile_setting setting,
                               const char *text)
{
    if (text && *text)
        write_item(out, is_first, cw_profile_setting_name(setting), text);
}

static void write_number_setting(struct output *out, bool *is_first,
                                 enum cw_profile_setting setting, uint32_t number)
{
    char text[16];
    snprintf(text, sizeof text, "%u", number);
    if (number)
        write_item(out, is_first, cw_profile_setting_name(setting), text);
}

static void write_short_settings(struct output *out, const struct cw_profile_options *options)
{
    struct output items = {.bytes = BUFFER_INIT};
    bool is_first = true;
    write_text_setting(&items, &is_first, CW_PROFILE_HASH, options->hash);
    write_text_setting(&items, &is_first, CW_PROFILE_TAG, options->tag);
    write_text_setting(&items, &is_first, CW_PROFILE_STOP, options->stop);
    write_text_setting(&items, &is_first, CW_PROFILE_SALT, options->salt);
    write_text_setting(&items, &is_first, CW_PROFILE_SERVER_KEY, options->server_key);
    write_number_setting(&items, &is_first, CW_PROFILE_POINTS, options->points);
    if (items.bytes.len)
        putf(out, "    profile: {%.*s}\n", (int)items.bytes.len, buffer_bytes(&items.bytes));
    out->has_failed |= items.has_failed;
    buffer_release(&items.bytes);
}

/* The lines as they are, but for blanks around them: the readers of topologies see words. */
static void write_topology(struct output *out, const struct cw_profile_options *options)
{
    put(out, "    profile:\n");
    if (options->replication)
        write_key(out, "      ", "replication", options->replication);
    put(out, "      topology: |\n");
    for (const char *at = options->topology; *at;) {
        const char *line = at + strspn(at, " \t");
        size_t len = strcspn(line, "\n");
        at = line + len + (line[len] == '\n');
        while (len > 0 && strchr(" \t\r", line[len - 1]))
            len--;
        if (len)
            putf(out, "        %.*s\n", (int)len, line);
    }
}

/* ---- pools ----------------------------------------------------------------------------------- */

static void write_node(struct output *out, const struct import_node *node)
{
    char number[32];
    bool is_first = true;
    put(out, "      - {");
    write_item(out, &is_first, "id", node->id);
    write_item(out, &is_first, "address", node->address);
    if (strcmp(node->place.address, node->address) != 0)
        write_item(out, &is_first, "server", node->place.address);
    if (node->place.name && *node->place.name)
        write_item(out, &is_first, "name", node->place.name);
    if (node->place.weight != 1) {
        snprintf(number, sizeof number, "%.17g", node->place.weight);
        write_item(out, &is_first, "weight", number);
    }
    if (node->place.number) {
        snprintf(number, sizeof number, "%u", node->place.number);
        write_item(out, &is_first, "number", number);
    }
    if (node->place.is_down)
        write_item(out, &is_first, "down", "yes");
    put(out, "}\n");
}

/* What has no address for its clients gets one of this machine alone. */
static void write_listen(struct output *out, const struct import_pool *pool, size_t index)
{
    if (pool->listen)
        write_key(out, "    ", "listen", pool->listen);
    else
        putf(out, "    listen: 127.0.0.1:%zu  # chosen: the file names none\n",
             LISTEN_PORT + index);
}

static void write_engine(struct output *out, const struct import_pool *pool)
{
    const char *engine = pool->engine ? pool->engine : "other";
    bool is_served = strcmp(engine, "redis") == 0;
    putf(out, "    engine: %s%s\n", engine,
         is_served ? "" : "  # for locate and plan: serve does not route it yet");
}

static void write_pool(struct output *out, const struct import_pool *pool, size_t index)
{
    putf(out, "  ");
    write_text(out, pool->name);
    put(out, ":\n");
    write_listen(out, pool, index);
    write_engine(out, pool);
    putf(out, "    placement: %s\n", pool->profile->name);
    if (pool->options.topology)
        write_topology(out, &pool->options);
    else
        write_short_settings(out, &pool->options);
    if (pool->timeout_ms)
        putf(out, "    timeout: %ums\n", pool->timeout_ms);
    if (pool->connections)
        putf(out, "    connections: %u\n", pool->connections);
    write_key(out, "    ", "password", pool->password);
    write_key(out, "    ", "client_password", pool->client_password);
    put(out, "    nodes:\n");
    for (size_t i = 0; i < pool->node_count; i++)
        write_node(out, &pool->nodes[i]);
}

/* ---- remarks --------------------------------------------------------------------------------- */

static void write_place(struct output *out, const char *file, const struct import_remark *remark)
{
    table_append_safe(&out->bytes, file, strlen(file));
    if (remark->line)
        putf(out, ":%u", remark->line);
    if (remark->column)
        putf(out, ":%u", remark->column);
    put(out, ": ");
}

/* Remarks quote what stands in the file: nothing of it may steer a terminal or end a comment. */
static void write_remark(struct output *out, const char *file, const struct import_remark *remark)
{
    write_place(out, file, remark);
    table_append_safe(&out->bytes, remark->text, strlen(remark->text));
    put(out, "\n");
}

/* By lines, so that a person goes through the file once. Insertion: there are few. */
static void order_remarks(const struct import *import, const struct import_remark **ret_order)
{
    for (size_t i = 0; i < import->remark_count; i++) {
        size_t at = i;
        for (; at > 0 && ret_order[at - 1]->line > import->remarks[i].line; at--)
            ret_order[at] = ret_order[at - 1];
        ret_order[at] = &import->remarks[i];
    }
}

static size_t count_untold(const struct import *import)
{
    size_t count = 0;
    for (unsigned i = 0; i <= IMPORT_WRONG; i++)
        count += import->counts[i];
    return count - import->remark_count;
}

void import_print_remarks(const struct import *import, const char *file, struct buffer *ret_text)
{
    struct output out = {.bytes = BUFFER_INIT};
    const struct import_remark *order[IMPORT_REMARK_COUNT_MAX];
    order_remarks(import, order);
    for (size_t i = 0; i < import->remark_count; i++)
        write_remark(&out, file, order[i]);
    if (count_untold(import))
        putf(&out, "%s: and %zu more\n", file, count_untold(import));
    *ret_text = out.bytes;
}

static void write_comments(const struct import *import, const char *file, struct output *out)
{
    const struct import_remark *order[IMPORT_REMARK_COUNT_MAX];
    order_remarks(import, order);
    if (import->remark_count)
        put(out, "#\n# What it could not carry over:\n");
    for (size_t i = 0; i < import->remark_count; i++) {
        put(out, "# ");
        write_remark(out, file, order[i]);
    }
    if (count_untold(import))
        putf(out, "# and %zu more\n", count_untold(import));
}

bool import_write(const struct import *import, const struct import_format *format, const char *file,
                  struct buffer *ret_text)
{
    struct output output = {.bytes = BUFFER_INIT}, *out = &output;
    putf(out, "# Made by `clockwise import --format %s` of ", format->name);
    table_append_safe(&out->bytes, file, strlen(file));
    put(out, ".\n# Every key stays where that put it.\n");
    write_comments(import, file, out);
    put(out, "pools:\n");
    for (size_t i = 0; i < import->pool_count; i++)
        write_pool(out, &import->pools[i], i);
    *ret_text = out->bytes;
    return !out->has_failed;
}
