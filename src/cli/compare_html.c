/*
 * The report as one page: what it means, then pictures, then figures. Nothing is loaded from
 * anywhere; colours follow the reader's light or dark setting, and paper is white.
 */
#include "cli/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/compare_page.h"
#include "cli/compare_svg.h"
#include "control/version.h"

enum { ROW_HEIGHT = 24, HASH_ROW_HEIGHT = 46 };

/* ---- balance and heirs: points --------------------------------------------------------------- */

enum point_kind { POINTS_KEYS, POINTS_LINES, POINTS_HEIRS };

/* Loads relative to fair ones, of the nodes that count; returns how many. */
static size_t points_of(const struct report *report, const struct placement_result *placement,
                        enum point_kind kind, double *ret_values)
{
    const uint64_t *loads = kind == POINTS_KEYS    ? placement->keys
                            : kind == POINTS_LINES ? placement->lines
                                                   : placement->heirs.keys;
    const struct cw_map *map = kind == POINTS_HEIRS && placement->ignores_weights
                                   ? report->fleet->even
                                   : report->fleet->map;
    uint32_t dead = kind == POINTS_HEIRS
                        ? cw_map_find_node(map, placement->changes[FLEET_REMOVE].id)
                        : CW_NO_NODE;
    double total = 0, left = dead == CW_NO_NODE ? 1 : 1 - cw_map_ideal_share(map, dead);
    size_t count = 0;
    for (uint32_t i = 0; i < cw_map_node_count(map); i++)
        total += (double)loads[i];
    for (uint32_t i = 0; i < cw_map_node_count(map) && total > 0; i++)
        if (i != dead)
            ret_values[count++] = (double)loads[i] / total * left / cw_map_ideal_share(map, i);
    return count;
}

static bool is_shown(const struct placement_result *placement, enum point_kind kind)
{
    return kind == POINTS_HEIRS ? placement->changes[FLEET_REMOVE].is_measured
                                : placement->is_measured;
}

/* The scale and the number of rows. Past three times fair, points stand at the edge: the remarks
 * have their figures. */
static void scale_points(const struct report *report, enum point_kind kind, double *values,
                         struct svg_plot *plot)
{
    double least = 0.98, most = 1.02;
    for (size_t i = 0; i < report->placement_count; i++) {
        if (!is_shown(&report->placements[i], kind))
            continue;
        size_t count = points_of(report, &report->placements[i], kind, values);
        plot->row_count++;
        for (size_t j = 0; j < count; j++) {
            least = fmin(least, values[j]);
            most = fmax(most, values[j]);
        }
    }
    double margin = (fmin(most, 3) - least) * 0.04;
    plot->least = fmax(0, least - margin);
    plot->most = fmin(most, 3) + margin;
}

static void remark_points(const struct placement_result *placement, enum point_kind kind,
                          struct svg_plot *plot)
{
    const struct balance *balance = kind == POINTS_KEYS ? &placement->key_balance
                                                        : &placement->line_balance;
    const char *mark = placement->ignores_weights ? " †" : "";
    if (kind == POINTS_HEIRS)
        svg_remark(plot, placement->heirs.excess > 2, "largest %.1f %%, %zu of %zu heirs%s",
                   placement->heirs.largest * 100, placement->heirs.count,
                   placement->heirs.possible, placement->changes[FLEET_REMOVE].is_last ? " ‡" : "");
    else
        svg_remark(plot, balance->peak > 1.25, "peak %.3f, deviation %.2f %%%s", balance->peak,
                   balance->deviation * 100, mark);
}

static void print_points(const struct report *report, enum point_kind kind, const char *label,
                         double band, struct buffer *out)
{
    double *values = calloc(cw_map_node_count(report->fleet->map) + 1, sizeof *values);
    struct svg_plot plot = {.out = out, .row_height = ROW_HEIGHT};
    if (!values)
        return;
    scale_points(report, kind, values, &plot);
    svg_open(&plot, label, 1, band);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        if (!is_shown(placement, kind))
            continue;
        svg_row(&plot, cw_placement_name(placement->placement));
        svg_points(&plot, values, points_of(report, placement, kind, values));
        remark_points(placement, kind, &plot);
    }
    svg_close(&plot);
    free(values);
}

static void print_balance(const struct report *report, struct buffer *out)
{
    const struct chance *chance = &report->chance;
    buffer_append_text(out, "<h2>Balance</h2>\n<p>Each point is a node: what it carries, 1 being "
                            "its share by weight. The grey band is where 95 % of the points lie if "
                            "keys fall on nodes by pure chance.");
    buffer_append_text(out,
                       report_has_repeats(report) ? "</p>\n<h3>Distinct keys</h3>\n" : "</p>\n");
    print_points(report, POINTS_KEYS, "Distinct keys of each node, relative to its share",
                 2 * chance->keys, out);
    if (!report_has_repeats(report))
        return;
    buffer_append_text(out, "<h3>Load: every line counts</h3>\n");
    print_points(report, POINTS_LINES, "Load of each node, relative to its share",
                 2 * chance->lines, out);
}

static void print_heirs(const struct report *report, struct buffer *out)
{
    buffer_append_text(out, "<h2>Heirs of a dead node</h2>\n<p>Each point is a node that is left "
                            "when <code>");
    html_text(out, report->fleet->texts[FLEET_REMOVE], strlen(report->fleet->texts[FLEET_REMOVE]));
    buffer_append_text(out, "</code> is gone: what it inherits of the dead node's keys, 1 being "
                            "even.</p>\n");
    print_points(report, POINTS_HEIRS, "What each node inherits, relative to an even part", 0, out);
}

/* ---- movement: bars -------------------------------------------------------------------------- */

static void print_change(const struct report *report, enum fleet_change change, const char *title,
                         struct buffer *out)
{
    struct svg_plot plot = {.out = out, .row_height = ROW_HEIGHT, .is_percent = true};
    double ideal = -1, most = 0.01;
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct change_result *one = &report->placements[i].changes[change];
        plot.row_count += report->placements[i].is_measured;
        if (one->is_measured)
            most = fmax(most, one->moved);
        if (one->is_measured && !one->is_last && !report->placements[i].ignores_weights)
            ideal = one->ideal;
    }
    plot.most = fmin(1, most * 1.04);
    buffer_printf(out, "<h3>%s <code>", title);
    html_text(out, report->fleet->texts[change], strlen(report->fleet->texts[change]));
    buffer_append_text(out, "</code>");
    if (ideal >= 0)
        buffer_printf(out, ": %.2f %% has to move", ideal * 100);
    buffer_append_text(out, "</h3>\n");
    svg_open(&plot, title, ideal, 0);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct change_result *one = &report->placements[i].changes[change];
        if (!report->placements[i].is_measured)
            continue;
        svg_row(&plot, cw_placement_name(report->placements[i].placement));
        if (one->is_measured) {
            svg_bar(&plot, one->moved, one->needless);
            svg_remark(&plot, one->needless > 0.0005, "%.2f %%, %.2f × ideal%s", one->moved * 100,
                       one->ideal > 0 ? one->moved / one->ideal : 0, one->is_last ? " ‡" : "");
        } else {
            svg_remark(&plot, false, "%s", one->why);
        }
    }
    svg_close(&plot);
}

static void print_movement(const struct report *report, struct buffer *out)
{
    buffer_append_text(out,
                       "<h2>Movement</h2>\n<p>Keys that get another node. The line is what has to "
                       "move; <span class=\"key bad\"></span> moves without need, between nodes "
                       "that did not change.</p>\n");
    print_change(report, FLEET_ADD, "Add", out);
    print_change(report, FLEET_REMOVE, "Remove", out);
    print_change(report, FLEET_WEIGH, "Weigh", out);
}

/* ---- hashes and keys ------------------------------------------------------------------------- */

static void print_hashes(const struct report *report, struct buffer *out)
{
    struct svg_plot plot = {.out = out, .row_height = HASH_ROW_HEIGHT, .row_count = HASH_COUNT};
    buffer_printf(out,
                  "<h2>Hashes of these keys</h2>\n<p>The distinct keys in 64 equal parts of the "
                  "hash space; a good hash makes all columns about equally high, on the line. "
                  "σ: how far chi-square over %" PRIu32
                  " buckets is above what chance makes, by the high bits and by the low "
                  "ones.</p>\n",
                  report->hashes[0].ends[0].bucket_count);
    svg_open(&plot, "Keys by the high bits of each hash", -1, 0);
    for (size_t i = 0; i < HASH_COUNT; i++) {
        const struct hash_result *hash = &report->hashes[i];
        bool high = hash->ends[HASH_HIGH].verdict == HASH_SKEWED;
        bool low = hash->ends[HASH_LOW].verdict == HASH_SKEWED;
        svg_row(&plot, hash->name);
        svg_columns(&plot, hash->shown, HASH_SHOWN, high);
        svg_remark(&plot, high || low, "σ %+.1f high, %+.1f low", hash->ends[HASH_HIGH].z,
                   hash->ends[HASH_LOW].z);
    }
    svg_close(&plot);
}

static void print_top(const struct report *report, struct buffer *out)
{
    const struct key_set *keys = report->keys;
    struct svg_plot plot = {.out = out, .row_height = ROW_HEIGHT, .is_percent = true};
    if (keys->top_count == 0)
        return;
    plot.row_count = (unsigned)keys->top_count;
    plot.most = keys->top[0].count / (double)keys->lines * 1.04;
    buffer_append_text(out, "<h2>The most frequent keys</h2>\n<p>Their part of all lines.");
    if (report_least_peak(report) > 1)
        buffer_printf(out,
                      " The first alone makes a peak of at least %.2f, whatever the placement.",
                      report_least_peak(report));
    buffer_append_text(out, "</p>\n");
    svg_open(&plot, "The most frequent keys", -1, 0);
    for (size_t i = 0; i < keys->top_count; i++) {
        char name[24];
        struct buffer safe = BUFFER_INIT;
        double part = keys->top[i].count / (double)keys->lines;
        snprintf(name, sizeof name, "%zu", i + 1);
        svg_row(&plot, name);
        svg_bar(&plot, part, 0);
        page_key(&keys->top[i], &safe);
        svg_remark(&plot, false, "%.2f %% %s", part * 100, buffer_bytes(&safe));
        buffer_release(&safe);
    }
    svg_close(&plot);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void print_head(const struct report *report, struct buffer *out)
{
    struct buffer text = BUFFER_INIT;
    page_open(out);
    buffer_append_text(out, "<h1>Placements compared</h1>\n<p class=\"on\">");
    report_describe_fleet(report, &text);
    buffer_append_text(&text, " · ");
    report_describe_keys(report, &text);
    html_text(out, buffer_bytes(&text), text.len);
    buffer_append_text(out, "</p>\n<ul>\n");
    buffer_release(&text);
    for (size_t i = 0; i < report->finding_count; i++) {
        const char *sentence = buffer_bytes(&report->findings[i].text);
        size_t about = strcspn(sentence, ":");
        buffer_printf(out, "<li%s><b>", report->findings[i].is_bad ? " class=\"warn\"" : "");
        html_text(out, sentence, about);
        buffer_append_text(out, "</b>");
        html_text(out, sentence + about, strlen(sentence + about));
        buffer_append_text(out, "</li>\n");
    }
    buffer_append_text(out, "</ul>\n");
}

void report_print_html(const struct report *report, struct buffer *out)
{
    print_head(report, out);
    print_balance(report, out);
    print_movement(report, out);
    print_heirs(report, out);
    print_hashes(report, out);
    print_top(report, out);
    page_tables(report, out);
    buffer_append_text(out, "<footer>† knows no weights: measured as if all were 1. ‡ can remove "
                            "only the node that was added last: measured for that one. Times are "
                            "processor time of one core on the machine that made this page. "
                            "Made by clockwise " CLOCKWISE_VERSION ", <code>clockwise "
                            "compare</code>.</footer>\n</main>\n</body>\n</html>\n");
}
