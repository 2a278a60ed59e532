#include "cli/status_history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/apply_ask.h"
#include "cli/apply_go.h"
#include "control/table.h"

static void cell_time(struct table *table, uint64_t ms)
{
    char text[32] = "-";
    struct tm parts;
    time_t seconds = (time_t)(ms / 1000);
    if (gmtime_r(&seconds, &parts))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &parts);
    table_cell(table, text);
}

static void cell_bytes(struct table *table, uint64_t bytes)
{
    struct buffer text = BUFFER_INIT;
    apply_append_bytes(&text, bytes);
    table_cell_bytes(table, buffer_bytes(&text), text.len);
    buffer_release(&text);
}

static enum table_color color_of(const char *state)
{
    return strcmp(state, "aborting") == 0 ? TABLE_YELLOW
           : strcmp(state, "stable") == 0 ? TABLE_GREEN
                                          : TABLE_PLAIN;
}

/* Who asked for what stands where a transition begins; its other lines have notes only, so that
 * they fit a terminal. */
static void add_entry(struct table *table, const json_t *entry, const json_t *before)
{
    const char *state = apply_text(entry, "state"), *note = apply_text(entry, "note");
    uint64_t id = apply_number(entry, "transition");
    bool is_first = !before || apply_number(before, "transition") != id;
    const char *what = is_first ? apply_text(entry, "what") : "";
    cell_time(table, apply_number(entry, "time_ms"));
    if (id)
        table_cellf(table, "%" PRIu64, id);
    else
        table_cell(table, "-");
    table_cell_colored(table, color_of(state), state);
    table_cellf(table, "%" PRIu64, apply_number(entry, "generation"));
    table_cellf(table, "%" PRIu64, apply_number(entry, "copies"));
    cell_bytes(table, apply_number(entry, "copied_bytes"));
    table_cellf(table, "%.1f ms", (double)apply_number(entry, "freeze_us") / 1000);
    const char *who = is_first ? apply_text(entry, "who") : "";
    table_cellf(table, "%s%s%s%s%s", what, *what && *note ? ": " : "", note,
                *who ? ", asked by " : "", who);
}

static int print_table(const json_t *root)
{
    static const char *const titles[] = {"TIME",   ">ID",     "STATE", ">MAP", ">COPIES",
                                         ">BYTES", ">FREEZE", "WHAT",  NULL};
    struct buffer out = BUFFER_INIT;
    struct table table;
    size_t i;
    const json_t *entry, *before = NULL;
    table_init(&table, titles, table_wants_color(STDOUT_FILENO));
    json_array_foreach(json_object_get(root, "entries"), i, entry)
    {
        add_entry(&table, entry, before);
        before = entry;
    }
    table_print(&table, "", &out);
    table_release(&table);
    return cli_print(&out);
}

static int print_json(const json_t *root)
{
    struct buffer out = BUFFER_INIT;
    char *text = json_dumps(root, JSON_INDENT(2));
    if (text)
        buffer_printf(&out, "%s\n", text);
    int status = text ? cli_print(&out) : cli_fail("out of memory");
    free(text);
    return status;
}

int status_history(const struct cli_args *args)
{
    char pool[64];
    const char *admin = apply_admin(args);
    json_t *root = NULL;
    int status = map_source_ask_pool(admin, cli_value(args, "pool"), pool, sizeof pool);
    if (status == CLI_OK)
        status = apply_ask(admin, pool, "history", NULL, &root);
    if (status != CLI_OK)
        return status;
    status = cli_has(args, "json") ? print_json(root) : print_table(root);
    json_decref(root);
    return status;
}
