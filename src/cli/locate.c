/*
 * clockwise locate: where does a key live? Keys as arguments get a table on a terminal; keys on
 * standard input are streamed, so that a file of any length can be asked about.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/clockwise.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/json_write.h"
#include "cli/lines.h"
#include "cli/map_source.h"
#include "control/table.h"

struct locating {
    const struct cw_map *map;
    size_t replica_count;
    bool as_json, is_first; /* of the JSON array */
    struct buffer out;
    struct line lines[LINES_BATCH_MAX];
    uint64_t hashes[LINES_BATCH_MAX];
    uint32_t nodes[LINES_BATCH_MAX];
};

static const struct cw_node *node_of(const struct locating *locating, uint32_t index)
{
    return cw_map_node(locating->map, index);
}

/* The slot of a hash: P equal arcs, by the high bits. -1 where the placement has none. */
static long slot_of(const struct cw_map *map, uint64_t hash)
{
    uint32_t count = cw_map_slot_count(map);
    return count ? (long)(((unsigned __int128)hash * count) >> 64) : -1;
}

/* ---- one key --------------------------------------------------------------------------------- */

static void write_tsv(struct locating *locating, const struct line *key, const uint32_t *owners,
                      size_t count)
{
    buffer_append(&locating->out, key->text, key->len);
    for (size_t i = 0; i < count; i++) {
        const char *id = node_of(locating, owners[i])->id;
        buffer_append(&locating->out, i ? "," : "\t", 1);
        buffer_append(&locating->out, id, strlen(id));
    }
    buffer_append(&locating->out, "\n", 1);
}

static void write_json_owner(struct buffer *out, const struct cw_node *node)
{
    buffer_append_text(out, "{\"id\":");
    json_write_string(out, node->id, strlen(node->id));
    buffer_append_text(out, ",\"address\":");
    json_write_string(out, node->address, strlen(node->address));
    buffer_append_text(out, ",\"zone\":");
    json_write_string(out, node->zone, strlen(node->zone));
    buffer_append_text(out, "}");
}

static void write_json(struct locating *locating, const struct line *key, uint64_t hash,
                       const uint32_t *owners, size_t count)
{
    struct buffer *out = &locating->out;
    buffer_append_text(out, locating->is_first ? "\n{" : ",\n{");
    locating->is_first = false;
    json_write_key(out, key->text, key->len);
    if (slot_of(locating->map, hash) >= 0)
        buffer_printf(out, ",\"slot\":%ld", slot_of(locating->map, hash));
    buffer_append_text(out, ",\"owners\":[");
    for (size_t i = 0; i < count; i++) {
        buffer_append_text(out, i ? "," : "");
        write_json_owner(out, node_of(locating, owners[i]));
    }
    buffer_append_text(out, "]}");
}

static void write_key(struct locating *locating, size_t index)
{
    uint32_t owners[CW_REPLICA_COUNT_MAX] = {locating->nodes[index]};
    size_t count = 1;
    if (locating->replica_count > 1)
        count = cw_locate_n(locating->map, locating->hashes[index], locating->replica_count,
                            owners);
    if (locating->as_json)
        write_json(locating, &locating->lines[index], locating->hashes[index], owners, count);
    else
        write_tsv(locating, &locating->lines[index], owners, count);
}

/* ---- many keys ------------------------------------------------------------------------------- */

static void locate_batch(struct locating *locating, size_t count)
{
    for (size_t i = 0; i < count; i++)
        locating->hashes[i] = cw_hash_tagged(locating->lines[i].text, locating->lines[i].len);
    cw_locate_batch(locating->map, locating->hashes, count, locating->nodes);
    for (size_t i = 0; i < count; i++)
        write_key(locating, i);
}

/* Gives on what there is, so that whoever reads us need not wait for the end. */
static int flush_output(struct locating *locating)
{
    struct buffer *out = &locating->out;
    if (out->len)
        fwrite(buffer_bytes(out), 1, out->len, stdout);
    buffer_clear(out);
    return cli_finish_output();
}

static int locate_stream(struct locating *locating, char delimiter)
{
    struct line_reader reader;
    int count, status = CLI_OK;
    lines_open(&reader, STDIN_FILENO, delimiter);
    while ((count = lines_next(&reader, locating->lines)) > 0 && status == CLI_OK) {
        locate_batch(locating, (size_t)count);
        status = flush_output(locating);
    }
    if (count == -EMSGSIZE)
        status = cli_fail("standard input: line %llu is longer than 64mb", reader.line_count + 1);
    else if (count < 0)
        status = cli_fail("standard input: %s", strerror(-count));
    lines_close(&reader);
    return status;
}

static void locate_operands(struct locating *locating, const struct cli_args *args)
{
    for (size_t done = 0; done < args->operand_count;) {
        size_t count = 0;
        for (; count < LINES_BATCH_MAX && done < args->operand_count; count++, done++) {
            const char *key = args->operands[done];
            locating->lines[count] = (struct line){key, strlen(key)};
        }
        locate_batch(locating, count);
    }
}

/* ---- a table --------------------------------------------------------------------------------- */

static void add_rows(struct table *table, const struct locating *locating, const char *key)
{
    uint32_t owners[CW_REPLICA_COUNT_MAX];
    uint64_t hash = cw_hash_tagged(key, strlen(key));
    size_t count = cw_locate_n(locating->map, hash, locating->replica_count, owners);
    long slot = slot_of(locating->map, hash);
    for (size_t i = 0; i < count; i++) {
        const struct cw_node *node = node_of(locating, owners[i]);
        table_cell(table, *key ? key : "\"\"");
        table_cell_colored(table, TABLE_GREEN, node->id);
        table_cell(table, *node->address ? node->address : "-");
        table_cell(table, *node->zone ? node->zone : "-");
        if (slot >= 0)
            table_cellf(table, "%ld", slot);
        else
            table_cell(table, "-");
    }
}

static int print_table(struct locating *locating, const struct cli_args *args)
{
    static const char *const titles[] = {"KEY", "NODE", "ADDRESS", "ZONE", ">SLOT", NULL};
    struct table table;
    table_init(&table, titles, table_wants_color(STDOUT_FILENO));
    for (size_t i = 0; i < args->operand_count; i++)
        add_rows(&table, locating, args->operands[i]);
    table_print(&table, "", &locating->out);
    table_release(&table);
    return flush_output(locating);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int read_replica_count(const struct cli_args *args, size_t *ret_count)
{
    const char *text = cli_value(args, "replicas");
    char *end = NULL;
    *ret_count = 1;
    if (!text)
        return CLI_OK;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || count < 1 || count > CW_REPLICA_COUNT_MAX)
        return cli_usage(args->command, "-k %s: use 1 to %u", text, CW_REPLICA_COUNT_MAX);
    *ret_count = count;
    return CLI_OK;
}

static int locate_all(struct locating *locating, const struct cli_args *args)
{
    bool has_keys = args->operand_count > 0;
    if (has_keys && !locating->as_json && isatty(STDOUT_FILENO))
        return print_table(locating, args);
    if (locating->as_json)
        buffer_append_text(&locating->out, "[");
    int status = CLI_OK;
    if (has_keys)
        locate_operands(locating, args);
    else
        status = locate_stream(locating, cli_has(args, "null") ? 0 : '\n');
    if (locating->as_json)
        buffer_append_text(&locating->out, "\n]\n");
    return status == CLI_OK ? flush_output(locating) : status;
}

static int run(const struct cli_args *args)
{
    struct map_source source;
    size_t replica_count;
    int status = read_replica_count(args, &replica_count);
    if (status != CLI_OK)
        return status;
    if (args->operand_count == 0 && isatty(STDIN_FILENO))
        return cli_usage(args->command, "no keys; name some, or give them on standard input");
    status = map_source_open(args, &source);
    if (status != CLI_OK)
        return status;
    struct locating *locating = calloc(1, sizeof *locating);
    if (locating) {
        locating->map = source.map;
        locating->replica_count = replica_count;
        locating->as_json = cli_has(args, "json");
        locating->is_first = true;
        status = locate_all(locating, args);
        buffer_release(&locating->out);
    } else {
        status = cli_fail("out of memory");
    }
    free(locating);
    cw_map_unref(&source.map);
    return status;
}

static const struct cli_option options[] = {
    MAP_SOURCE_OPTIONS,
    {"replicas", 'k', "N", "Name the first N owners of each key, 1 to 16."},
    {"json", 0, NULL, "Print a JSON array."},
    {"null", '0', NULL, "Keys on standard input end with a NUL byte instead of a newline."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_locate = {
    .name = "locate",
    .operands = "[KEY…]",
    .summary = "Say which node a key lives on.",
    .details =
        "Keys are arguments, or come on standard input, one a line, any number of them. The answer "
        "is\na table on a terminal, and otherwise a line `key TAB owner[,owner…]` each, as soon as "
        "the key has\ncome. A key may hold tabs: the owner is what stands behind the last one. Of "
        "a key with a hash\ntag only that is placed, as Redis does: what stands between the first "
        "{ and the next }.\n\n"
        "  clockwise locate user:1000 user:1001\n"
        "  clockwise locate -c clockwise.yaml < keys.txt > owners.tsv\n",
    .options = options,
    .run = run,
};
