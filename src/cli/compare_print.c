/*
 * The tables of `clockwise compare`. A figure that a placement cannot have is a dash; marks behind
 * figures are explained below the table.
 */
#include "cli/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "control/table.h"

enum { NODES_SHOWN_MAX = 20 };

static void cell_percent(struct table *table, double part)
{
    table_cellf(table, "%.2f %%", part * 100);
}

static void cell_name(struct table *table, const struct placement_result *placement)
{
    table_cellf(table, "%s%s", cw_placement_name(placement->placement),
                placement->ignores_weights ? " †" : "");
}

static void print_title(const char *title, bool has_color, struct buffer *out)
{
    buffer_printf(out, "\n%s%s%s\n", has_color ? "\033[1m" : "", title, has_color ? "\033[0m" : "");
}

static bool any(const struct report *report, bool (*has)(const struct placement_result *))
{
    for (size_t i = 0; i < report->placement_count; i++)
        if (has(&report->placements[i]))
            return true;
    return false;
}

/* ---- balance --------------------------------------------------------------------------------- */

static void cells_balance(struct table *table, const struct balance *balance)
{
    table_cellf(table, "%.3f", balance->peak);
    table_cellf(table, "%.3f", balance->lowest);
    cell_percent(table, balance->deviation);
}

static bool ignores_weights(const struct placement_result *placement)
{
    return placement->ignores_weights;
}

static void print_balance(const struct report *report, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"PLACEMENT",  ">PEAK KEYS", ">LEAST",     ">DEVIATION",
                                         ">PEAK LOAD", ">LEAST",     ">DEVIATION", NULL};
    static const char *const titles_alike[] = {"PLACEMENT", ">PEAK", ">LEAST", ">DEVIATION", NULL};
    bool has_repeats = report_has_repeats(report);
    struct table table;
    print_title("Balance: what nodes carry, 1 being what they should by weight", has_color, out);
    table_init(&table, has_repeats ? titles : titles_alike, has_color);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        if (!placement->is_measured)
            continue;
        cell_name(&table, placement);
        cells_balance(&table, &placement->key_balance);
        if (has_repeats)
            cells_balance(&table, &placement->line_balance);
    }
    table_cell(&table, "chance alone");
    for (size_t i = 0; i < (has_repeats ? 2 : 1); i++) {
        table_cell(&table, "");
        table_cell(&table, "");
        cell_percent(&table, i ? report->chance.lines : report->chance.keys);
    }
    table_print(&table, "  ", out);
    table_release(&table);
    if (any(report, ignores_weights))
        buffer_append_text(out, "  † knows no weights: measured as if all were 1\n");
}

/* ---- movement -------------------------------------------------------------------------------- */

static void cells_change(struct table *table, const struct change_result *change)
{
    if (!change->is_measured) {
        table_cell(table, "-");
        table_cell(table, "-");
        return;
    }
    char text[64];
    bool is_bad = change->needless > 0.0005;
    table_cellf(table, "%.2f %%%s", change->moved * 100, change->is_last ? " ‡" : "");
    snprintf(text, sizeof text, "%.2f %%", change->needless * 100);
    table_cell_colored(table, is_bad ? TABLE_RED : TABLE_PLAIN, text);
}

/* The ideal is the same for all placements that know the fleet's weights. */
static void row_ideal(struct table *table, const struct report *report)
{
    table_cell(table, "ideal");
    for (size_t change = 0; change < FLEET_CHANGES; change++) {
        const struct change_result *found = NULL;
        for (size_t i = 0; i < report->placement_count; i++) {
            const struct change_result *one = &report->placements[i].changes[change];
            bool is_last = found && found->is_last;
            if (one->is_measured && !report->placements[i].ignores_weights && (!found || is_last))
                found = one;
        }
        if (found)
            cell_percent(table, found->ideal);
        else
            table_cell(table, "-");
        table_cell(table, found ? "0.00 %" : "-");
    }
}

static bool removes_last(const struct placement_result *placement)
{
    return placement->changes[FLEET_REMOVE].is_last;
}

static void print_movement(const struct report *report, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"PLACEMENT", ">ADD",    ">NEEDLESS", ">REMOVE",
                                         ">NEEDLESS", ">WEIGHT", ">NEEDLESS", NULL};
    const struct fleet *fleet = report->fleet;
    struct table table;
    print_title("Movement: keys that get another node", has_color, out);
    buffer_printf(out, "  add %s; remove %s; weight %s\n", fleet->texts[FLEET_ADD],
                  fleet->texts[FLEET_REMOVE], fleet->texts[FLEET_WEIGH]);
    table_init(&table, titles, has_color);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        if (!placement->is_measured)
            continue;
        cell_name(&table, placement);
        for (size_t change = 0; change < FLEET_CHANGES; change++)
            cells_change(&table, &placement->changes[change]);
    }
    row_ideal(&table, report);
    table_print(&table, "  ", out);
    table_release(&table);
    if (any(report, removes_last))
        buffer_append_text(out, "  ‡ can remove only the node that was added last: measured for "
                                "that one\n");
}

static void print_heirs(const struct report *report, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"PLACEMENT",  ">HEIRS",          ">LARGEST", "HEIR",
                                         ">OVER EVEN", ">PEAK LOAD THEN", NULL};
    struct table table;
    print_title("Heirs: who gets the keys of the node that is removed", has_color, out);
    table_init(&table, titles, has_color);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        const struct heirs *heirs = &placement->heirs;
        if (!placement->changes[FLEET_REMOVE].is_measured)
            continue;
        cell_name(&table, placement);
        table_cellf(&table, "%zu of %zu", heirs->count, heirs->possible);
        cell_percent(&table, heirs->largest);
        table_cell(&table, heirs->largest_id);
        table_cellf(&table, "%.2f x", heirs->excess);
        table_cellf(&table, "%.3f", heirs->peak);
    }
    table_print(&table, "  ", out);
    table_release(&table);
}

/* ---- cost ------------------------------------------------------------------------------------ */

static void print_cost(const struct report *report, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"PLACEMENT", ">MEMORY", ">BUILD",  ">NS/LOOKUP",
                                         ">IN BATCH", "WEIGHTS", "REMOVES", "REPLICAS",
                                         "RANGES",    NULL};
    struct table table;
    print_title("Cost, and what each can do", has_color, out);
    table_init(&table, titles, has_color);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        unsigned can = placement->capabilities;
        char text[32];
        if (!placement->is_measured)
            continue;
        table_cell(&table, cw_placement_name(placement->placement));
        report_bytes(placement->memory, text, sizeof text);
        table_cell(&table, text);
        report_seconds(placement->build_seconds, text, sizeof text);
        table_cell(&table, text);
        table_cellf(&table, "%.1f", placement->single_ns);
        table_cellf(&table, "%.1f", placement->batch_ns);
        table_cell(&table, can & CW_CAN_WEIGHTS ? "yes" : "no");
        table_cell(&table, can & CW_CAN_REMOVE_ANY ? "any" : "last");
        table_cell(&table, can & CW_CAN_REPLICAS ? "yes" : "no");
        table_cell(&table, can & CW_CAN_RANGES ? "yes" : "no");
    }
    table_print(&table, "  ", out);
    table_release(&table);
}

/* ---- hashes and keys ------------------------------------------------------------------------- */

static void cells_spread(struct table *table, const struct hash_spread *spread)
{
    enum table_color color = spread->verdict == HASH_SKEWED ? TABLE_RED : TABLE_PLAIN;
    table_cellf(table, "%.0f", spread->chi_square);
    table_cellf(table, "%+.1f", spread->z);
    table_cell_colored(table, color, hash_verdict_text(spread->verdict));
}

static void print_hashes(const struct report *report, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"HASH",   ">HIGH BITS", ">SIGMA",  "",  ">LOW BITS",
                                         ">SIGMA", "",           ">NS/KEY", NULL};
    struct table table;
    print_title("Hashes of the distinct keys", has_color, out);
    buffer_printf(
        out,
        "  chi-square over %" PRIu32 " buckets (chance makes %" PRIu32 "), by the high bits and by "
        "the low ones\n",
        report->hashes[0].ends[0].bucket_count, report->hashes[0].ends[0].bucket_count - 1);
    table_init(&table, titles, has_color);
    for (size_t i = 0; i < HASH_COUNT; i++) {
        table_cell(&table, report->hashes[i].name);
        cells_spread(&table, &report->hashes[i].ends[HASH_HIGH]);
        cells_spread(&table, &report->hashes[i].ends[HASH_LOW]);
        table_cellf(&table, "%.1f", report->hashes[i].ns);
    }
    table_print(&table, "  ", out);
    table_release(&table);
}

static void print_top(const struct report *report, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"KEY", ">LINES", ">OF ALL", NULL};
    const struct key_set *keys = report->keys;
    struct table table;
    if (keys->top_count == 0)
        return;
    print_title("The most frequent keys", has_color, out);
    table_init(&table, titles, has_color);
    for (size_t i = 0; i < keys->top_count; i++) {
        const struct top_key *top = &keys->top[i];
        table_cell_bytes(&table, top->text, top->len < 60 ? top->len : 60);
        table_cellf(&table, "%" PRIu32, top->count);
        cell_percent(&table, top->count / (double)keys->lines);
    }
    table_print(&table, "  ", out);
    table_release(&table);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void print_node(const struct report *report, uint32_t index, struct table *table)
{
    const struct cw_node *node = cw_map_node(report->fleet->map, index);
    double ideal = cw_map_ideal_share(report->fleet->map, index);
    table_cell(table, node->id);
    table_cell(table, *node->zone ? node->zone : "-");
    table_cellf(table, "%" PRIu32, node->weight);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        double fair = (double)report->keys->lines * ideal;
        if (placement->is_measured)
            table_cellf(table, "%.3f", (double)placement->lines[index] / fair);
    }
}

static void print_nodes(const struct report *report, bool has_color, struct buffer *out)
{
    char names[MEASURE_PLACEMENTS_MAX][32];
    const char *titles[MEASURE_PLACEMENTS_MAX + 4] = {"NODE", "ZONE", ">WEIGHT"};
    size_t count = 3;
    struct table table;
    for (size_t i = 0; i < report->placement_count; i++)
        if (report->placements[i].is_measured) {
            snprintf(names[i], sizeof names[i], ">%s",
                     cw_placement_name(report->placements[i].placement));
            titles[count++] = names[i];
        }
    print_title("Load of each node, 1 being what it should have", has_color, out);
    table_init(&table, titles, has_color);
    for (uint32_t i = 0; i < cw_map_node_count(report->fleet->map); i++)
        print_node(report, i, &table);
    table_print(&table, "  ", out);
    table_release(&table);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void print_unmeasured(const struct report *report, struct buffer *out)
{
    for (size_t i = 0; i < report->placement_count; i++)
        if (!report->placements[i].is_measured)
            buffer_printf(out, "\n%s was not measured: %s\n",
                          cw_placement_name(report->placements[i].placement),
                          report->placements[i].why);
}

void report_print_tables(const struct report *report, bool all_nodes, struct buffer *out)
{
    bool has_color = table_wants_color(STDOUT_FILENO);
    report_describe_fleet(report, out);
    buffer_append_text(out, "\n");
    report_describe_keys(report, out);
    buffer_append_text(out, "\n");
    print_balance(report, has_color, out);
    print_movement(report, has_color, out);
    print_heirs(report, has_color, out);
    print_cost(report, has_color, out);
    print_hashes(report, has_color, out);
    print_top(report, has_color, out);
    if (all_nodes || cw_map_node_count(report->fleet->map) <= NODES_SHOWN_MAX)
        print_nodes(report, has_color, out);
    print_unmeasured(report, out);
    buffer_append_text(out, "\n");
    for (size_t i = 0; i < report->finding_count; i++)
        buffer_printf(out, "%s\n", buffer_bytes(&report->findings[i].text));
}
