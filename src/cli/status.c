/*
 * clockwise status: what the router that runs says of itself.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/apply_go.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/http.h"
#include "cli/map_source.h"
#include "cli/status_history.h"
#include "cli/transition_print.h"
#include "control/table.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && *text ? text : "-";
}

static json_int_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void append_count(struct buffer *out, json_int_t count, const char *noun)
{
    buffer_printf(out, ", %" JSON_INTEGER_FORMAT " %s%s", count, noun, count == 1 ? "" : "s");
}

static void print_head(const json_t *root, struct buffer *out)
{
    const json_t *total = json_object_get(root, "total");
    long seconds = (long)json_number_value(json_object_get(root, "uptime_seconds"));
    buffer_printf(out, "clockwise %s, up %ldd %02ld:%02ld:%02ld", text_of(root, "version"),
                  seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    append_count(out, (json_int_t)json_array_size(json_object_get(root, "workers")), "worker");
    append_count(out, number_of(total, "clients"), "client");
    append_count(out, number_of(total, "requests"), "request");
    append_count(out, number_of(total, "errors"), "error");
    buffer_append_text(out, "\n");
}

static enum table_color color_of(const char *health)
{
    return strcmp(health, "up") == 0     ? TABLE_GREEN
           : strcmp(health, "down") == 0 ? TABLE_RED
                                         : TABLE_YELLOW;
}

/* Columns that tell something; a table with all of them is wider than a terminal. */
struct columns {
    bool has_zones, has_timeouts;
};

static struct columns columns_of(const json_t *nodes)
{
    struct columns columns = {0};
    const json_t *node;
    size_t index;
    json_array_foreach(nodes, index, node)
    {
        columns.has_zones |= strcmp(text_of(node, "zone"), "-") != 0;
        columns.has_timeouts |= number_of(node, "timeouts") != 0;
    }
    return columns;
}

static void begin_table(struct table *table, const struct columns *columns, bool has_color)
{
    const char *titles[TABLE_COLUMNS_MAX] = {"NODE", "HEALTH", ">WEIGHT", ">SHARE"};
    size_t count = 4;
    if (columns->has_zones)
        titles[count++] = "ZONE";
    titles[count++] = ">REQUESTS";
    titles[count++] = ">ERRORS";
    if (columns->has_timeouts)
        titles[count++] = ">TIMEOUTS";
    titles[count] = "ADDRESS";
    table_init(table, titles, has_color);
}

static void add_node(struct table *table, const struct columns *columns, const json_t *node)
{
    const char *health = text_of(node, "health");
    table_cell(table, text_of(node, "id"));
    table_cell_colored(table, color_of(health), health);
    table_cellf(table, "%" JSON_INTEGER_FORMAT, number_of(node, "weight"));
    table_cellf(table, "%.2f %%", json_number_value(json_object_get(node, "share")) * 100);
    if (columns->has_zones)
        table_cell(table, text_of(node, "zone"));
    table_cellf(table, "%" JSON_INTEGER_FORMAT, number_of(node, "requests"));
    table_cellf(table, "%" JSON_INTEGER_FORMAT, number_of(node, "errors"));
    if (columns->has_timeouts)
        table_cellf(table, "%" JSON_INTEGER_FORMAT, number_of(node, "timeouts"));
    table_cell(table, text_of(node, "address"));
}

/* What most concerns an operator: data that is gone. */
static void print_losses(const json_t *losses, bool has_color, struct buffer *out)
{
    json_int_t count = number_of(losses, "count");
    if (count <= 0)
        return;
    buffer_printf(out, "  %snode '", has_color ? "\033[31m" : "");
    table_append_safe(out, text_of(losses, "node"), strlen(text_of(losses, "node")));
    buffer_append_text(out, "' came back empty");
    if (count > 1)
        buffer_printf(out, "; %" JSON_INTEGER_FORMAT " times nodes did", count);
    buffer_printf(out, "%s: what it held is lost\n", has_color ? "\033[0m" : "");
}

static void print_pool(const json_t *pool, bool has_color, struct buffer *out)
{
    const json_t *latency = json_object_get(pool, "latency_us"), *node;
    const json_t *nodes = json_object_get(pool, "nodes");
    struct columns columns = columns_of(nodes);
    struct table table;
    size_t index;
    buffer_printf(out,
                  "\npool %s on %s, engine %s, placement %s, generation %" JSON_INTEGER_FORMAT
                  ",\n  p50 %.3f ms, p99 %.3f ms\n",
                  text_of(pool, "name"), text_of(pool, "listen"), text_of(pool, "engine"),
                  text_of(pool, "placement"), number_of(pool, "generation"),
                  (double)number_of(latency, "p50") / 1000,
                  (double)number_of(latency, "p99") / 1000);
    begin_table(&table, &columns, has_color);
    json_array_foreach(nodes, index, node) add_node(&table, &columns, node);
    table_print(&table, "  ", out);
    table_release(&table);
    transition_print_short(json_object_get(pool, "transition"), "  ", has_color, out);
    print_losses(json_object_get(pool, "losses"), has_color, out);
}

static int print_tables(const struct buffer *body, const char *admin)
{
    struct buffer out = BUFFER_INIT;
    json_t *root = json_loadb(buffer_bytes(body), body->len, 0, NULL);
    if (!root)
        return cli_fail("http://%s/v1/status: not JSON; is this a clockwise router?", admin);
    const json_t *pools = json_object_get(root, "pools");
    print_head(root, &out);
    for (size_t i = 0; i < json_array_size(pools); i++)
        print_pool(json_array_get(pools, i), table_wants_color(STDOUT_FILENO), &out);
    json_decref(root);
    return cli_print(&out);
}

static int run(const struct cli_args *args)
{
    const char *admin = apply_admin(args);
    struct buffer body = BUFFER_INIT;
    if (cli_has(args, "history"))
        return status_history(args);
    if (cli_has(args, "pool"))
        return cli_usage(args->command, "--pool goes with --history; status shows all pools");
    int status = http_get(admin, "/v1/status", &body);
    if (status != CLI_OK)
        return status;
    if (cli_has(args, "json"))
        return cli_print(&body);
    status = print_tables(&body, admin);
    buffer_release(&body);
    return status;
}

static const struct cli_option options[] = {
    {"admin", 0, "ADDRESS", "The router's admin address (" MAP_SOURCE_ADMIN " unless set)."},
    {"history", 0, NULL, "Show what a pool's map went through: its journal."},
    {"pool", 'p', "NAME", "The pool of the history, where there are several."},
    {"json", 0, NULL, "Print the router's own JSON."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_status = {
    .name = "status",
    .operands = "",
    .summary = "Show the nodes, their health and the traffic of the router that runs.",
    .details = "A change that is carried out is shown with its progress, and a node that came back "
               "without its\ndata is named. `clockwise transition status` tells more of a change, "
               "--history of all there were.\n",
    .options = options,
    .run = run,
};
