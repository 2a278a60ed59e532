#include "cli/apply_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/apply_ask.h"
#include "control/table.h"

enum { MOVES_SHOWN = 20 }; /* the heaviest */

/* ---- cells ----------------------------------------------------------------------------------- */

static void cell_number(struct table *table, uint64_t number)
{
    if (number)
        table_cellf(table, "%" PRIu64, number);
    else
        table_cell(table, "-");
}

/* In one column, so that the table fits a terminal: "1", or "1 to 3" where it changes. */
static void cell_weight(struct table *table, uint64_t before, uint64_t after)
{
    char was[24] = "-", is[24] = "-";
    if (before)
        snprintf(was, sizeof was, "%" PRIu64, before);
    if (after)
        snprintf(is, sizeof is, "%" PRIu64, after);
    if (before == after)
        table_cell(table, is);
    else
        table_cellf(table, "%s to %s", was, is);
}

static void cell_bytes(struct table *table, uint64_t bytes)
{
    struct buffer text = BUFFER_INIT;
    apply_append_bytes(&text, bytes);
    table_cell_bytes(table, bytes ? buffer_bytes(&text) : "-", bytes ? text.len : 1);
    buffer_release(&text);
}

static void cell_share(struct table *table, const json_t *object, const char *key)
{
    table_cellf(table, "%.2f %%", apply_real(object, key) * 100);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void print_nodes(const json_t *plan, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"NODE",      ">WEIGHT", ">SHARE",   ">THEN",   ">IDEAL",
                                         ">KEYS OUT", ">MEMORY", ">KEYS IN", ">MEMORY", NULL};
    struct table table;
    size_t i;
    const json_t *node;
    table_init(&table, titles, has_color);
    json_array_foreach(json_object_get(plan, "nodes"), i, node)
    {
        table_cell(&table, apply_text(node, "id"));
        cell_weight(&table, apply_number(node, "weight_before"),
                    apply_number(node, "weight_after"));
        cell_share(&table, node, "share_before");
        cell_share(&table, node, "share_after");
        cell_share(&table, node, "ideal_share_after");
        cell_number(&table, apply_number(node, "keys_out"));
        cell_bytes(&table, apply_number(node, "memory_out"));
        cell_number(&table, apply_number(node, "keys_in"));
        cell_bytes(&table, apply_number(node, "memory_in"));
    }
    table_print(&table, "", out);
    table_release(&table);
}

/* A node that gets another server shows both, or it would seem to move to itself. */
static void cell_end(struct table *table, const json_t *move, const char *id, const char *address)
{
    if (strcmp(apply_text(move, "from"), apply_text(move, "to")) == 0)
        table_cellf(table, "%.200s at %.255s", apply_text(move, id), apply_text(move, address));
    else
        table_cell(table, apply_text(move, id));
}

static void print_moves(const json_t *plan, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"FROM", "TO", ">SHARE", ">KEYS", ">MEMORY", NULL};
    struct table table;
    size_t i, count = json_array_size(json_object_get(plan, "moves"));
    if (count == 0)
        return;
    buffer_append_text(out, "\n");
    table_init(&table, titles, has_color);
    for (i = 0; i < count && i < MOVES_SHOWN; i++) {
        const json_t *move = json_array_get(json_object_get(plan, "moves"), i);
        cell_end(&table, move, "from", "from_address");
        cell_end(&table, move, "to", "to_address");
        cell_share(&table, move, "share");
        cell_number(&table, apply_number(move, "keys"));
        cell_bytes(&table, apply_number(move, "memory"));
    }
    table_print(&table, "", out);
    table_release(&table);
    if (i < count)
        buffer_printf(out, "and %zu smaller move%s\n", count - i, count - i == 1 ? "" : "s");
}

/* ---- sentences ------------------------------------------------------------------------------- */

static void print_head(const json_t *plan, struct buffer *out)
{
    const char *from = apply_text(plan, "placement_before");
    const char *to = apply_text(plan, "placement_after");
    const char *what = apply_text(plan, "what");
    buffer_printf(out, "pool %s: ", apply_text(plan, "pool"));
    table_append_safe(out, what, strlen(what));
    buffer_printf(out, "\nplacement %s%s%s, generation %" PRIu64 " to %" PRIu64 "\n\n", from,
                  strcmp(from, to) != 0 ? " to " : "", strcmp(from, to) != 0 ? to : "",
                  apply_number(plan, "generation_before"), apply_number(plan, "generation_after"));
}

static void print_totals(const json_t *plan, struct buffer *out)
{
    buffer_printf(out,
                  "\n%.2f %% of the keys move; ideal would be %.2f %%; %.2f %% move without "
                  "need\n",
                  apply_real(plan, "share") * 100, apply_real(plan, "ideal_share") * 100,
                  apply_real(plan, "needless_share") * 100);
    if (strcmp(apply_text(plan, "kind"), "dead") == 0) {
        buffer_append_text(out, "nothing can be copied from a node that is given up: what it alone "
                                "held is lost, and its id is never used again\n");
        return;
    }
    buffer_append_text(out, "about ");
    apply_append_count(out, apply_number(plan, "keys"), "key", "keys");
    buffer_append_text(out, " and ");
    apply_append_bytes(out, apply_number(plan, "memory"));
    buffer_append_text(out, " of memory, estimated from ");
    apply_append_count(out, apply_number(plan, "sampled"), "key", "keys");
    buffer_append_text(out, "\n");
}

static void print_remarks(const json_t *plan, bool has_color, struct buffer *out)
{
    const json_t *heaviest = json_object_get(plan, "heaviest");
    const char *problem = apply_text(plan, "problem");
    if (heaviest) {
        const char *key = apply_text(heaviest, "key");
        buffer_append_text(out, "the heaviest key seen is ");
        table_append_safe(out, key, strlen(key));
        buffer_append_text(out, " with ");
        apply_append_bytes(out, apply_number(heaviest, "memory"));
        buffer_append_text(out, " of memory\n");
    }
    if (!*problem)
        return;
    buffer_append_text(out,
                       has_color ? "\033[31mspeaks against it:\033[0m " : "speaks against it: ");
    table_append_safe(out, problem, strlen(problem));
    buffer_append_text(out, "\n");
}

void apply_plan_print(const json_t *plan, bool has_color, struct buffer *out)
{
    print_head(plan, out);
    print_nodes(plan, has_color, out);
    print_moves(plan, has_color, out);
    print_totals(plan, out);
    print_remarks(plan, has_color, out);
}
