#include "cli/compare_page.h"

#include <inttypes.h>

#include "cli/compare_svg.h"
#include "control/table.h"

enum { KEY_LEN_SHOWN = 20, NODES_IN_PAGE_MAX = 1000 };

static const char style[] =
    ":root{--paper:#fff;--ink:#1c2329;--soft:#66717b;--grid:#e3e7ea;--band:#eef1f3;--bar:#2f6f9f;"
    "--bad:#c2410c;--card:#f6f8f9}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14181b;--ink:#e4e8eb;--soft:#97a2ab;"
    "--grid:#2a3137;--band:#20262b;--bar:#6aaede;--bad:#f0885a;--card:#1b2125}}\n"
    "@media print{:root{--paper:#fff;--ink:#000;--soft:#444;--grid:#ddd;--band:#eee;--bar:#2f6f9f;"
    "--bad:#c2410c;--card:#fff}}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:56rem;margin:0 auto;padding:2rem 1.25rem 4rem}\n"
    "h1{font-size:1.9rem;margin:0 0 .25rem}h2{font-size:1.3rem;margin:2.5rem 0 .25rem}"
    "h3{font-size:1rem;margin:1.25rem 0 .25rem;font-weight:600}\n"
    "p{margin:.25rem 0 .75rem;color:var(--soft)}p.on{font-size:1.05rem}\n"
    "ul{list-style:none;padding:0;margin:1.25rem 0}"
    "li{background:var(--card);border-left:4px solid var(--bar);padding:.6rem .9rem;"
    "margin:.5rem 0;overflow-wrap:anywhere}li.warn{border-color:var(--bad)}\n"
    "code{font:.92em ui-monospace,monospace}\n"
    "svg{display:block;width:100%;height:auto;font:13px system-ui,sans-serif;"
    "break-inside:avoid}\n"
    "svg text{fill:var(--ink)}.name{text-anchor:end}.tick{text-anchor:middle;font-size:11px}"
    "svg .tick{fill:var(--soft)}svg .remark{fill:var(--soft);font-size:12px}"
    "svg text.bad{fill:var(--bad)}\n"
    ".grid{stroke:var(--grid)}.mark{stroke:var(--soft);stroke-dasharray:3 3}"
    ".band{fill:var(--band)}.bar{fill:var(--bar)}rect.bad{fill:var(--bad)}"
    "circle{fill:var(--bar);fill-opacity:.55;stroke:var(--bar)}\n"
    ".key{display:inline-block;width:.8em;height:.8em}.key.bad{background:var(--bad)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.86rem;width:100%;"
    "font-variant-numeric:tabular-nums}"
    "th,td{padding:.3rem .5rem;text-align:right;border-bottom:1px solid var(--grid);"
    "white-space:nowrap}"
    "th{color:var(--soft);font-weight:600}th:first-child,td:first-child{text-align:left}\n"
    "summary{cursor:pointer;margin:1.5rem 0 .5rem}"
    "footer{margin-top:3rem;color:var(--soft);font-size:.85rem}\n";

void page_open(struct buffer *out)
{
    buffer_append_text(out,
                       "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n"
                       "<title>Placements compared</title>\n<style>\n");
    buffer_append_text(out, style);
    buffer_append_text(out, "</style>\n</head>\n<body>\n<main>\n");
}

void page_key(const struct top_key *key, struct buffer *out)
{
    size_t len = key->len < KEY_LEN_SHOWN ? key->len : KEY_LEN_SHOWN;
    table_append_safe(out, key->text, len);
    buffer_append_text(out, key->len > len ? "…" : "");
    buffer_append(out, "", 1);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void open_table(const char *const *titles, struct buffer *out)
{
    buffer_append_text(out, "<div class=\"wide\"><table>\n<tr>");
    for (size_t i = 0; titles[i]; i++)
        buffer_printf(out, "<th>%s</th>", titles[i]);
    buffer_append_text(out, "</tr>\n");
}

static void close_table(struct buffer *out)
{
    buffer_append_text(out, "</table></div>\n");
}

static void print_cost(const struct report *report, struct buffer *out)
{
    static const char *const titles[] = {"Placement", "Memory",  "Build",   "ns a lookup",
                                         "in batch",  "Weights", "Removes", "Replicas",
                                         "Ranges",    NULL};
    open_table(titles, out);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        unsigned can = placement->capabilities;
        char memory[32], build[32];
        if (!placement->is_measured)
            continue;
        report_bytes(placement->memory, memory, sizeof memory);
        report_seconds(placement->build_seconds, build, sizeof build);
        buffer_printf(out,
                      "<tr><td>%s</td><td>%s</td><td>%s</td><td>%.1f</td><td>%.1f</td>"
                      "<td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
                      cw_placement_name(placement->placement), memory, build, placement->single_ns,
                      placement->batch_ns, can & CW_CAN_WEIGHTS ? "yes" : "no",
                      can & CW_CAN_REMOVE_ANY ? "any" : "last",
                      can & CW_CAN_REPLICAS ? "yes" : "no", can & CW_CAN_RANGES ? "yes" : "no");
    }
    close_table(out);
}

static void print_hash_table(const struct report *report, struct buffer *out)
{
    static const char *const titles[] = {"Hash", "χ² high bits", "",  "χ² low bits",
                                         "",     "ns a key",     NULL};
    open_table(titles, out);
    for (size_t i = 0; i < HASH_COUNT; i++) {
        const struct hash_result *hash = &report->hashes[i];
        const struct hash_spread *high = &hash->ends[HASH_HIGH], *low = &hash->ends[HASH_LOW];
        buffer_printf(out,
                      "<tr><td>%s</td><td>%.0f</td><td>%s</td><td>%.0f</td><td>%s</td>"
                      "<td>%.1f</td></tr>\n",
                      hash->name, high->chi_square, hash_verdict_text(high->verdict),
                      low->chi_square, hash_verdict_text(low->verdict), hash->ns);
    }
    close_table(out);
}

static void print_node(const struct report *report, uint32_t index, struct buffer *out)
{
    const struct cw_node *node = cw_map_node(report->fleet->map, index);
    double fair = (double)report->keys->lines * cw_map_ideal_share(report->fleet->map, index);
    buffer_append_text(out, "<tr><td>");
    html_text(out, node->id, strlen(node->id));
    buffer_append_text(out, "</td><td>");
    html_text(out, node->zone, strlen(node->zone));
    buffer_printf(out, "</td><td>%" PRIu32 "</td>", node->weight);
    for (size_t i = 0; i < report->placement_count; i++)
        if (report->placements[i].is_measured)
            buffer_printf(out, "<td>%.3f</td>", (double)report->placements[i].lines[index] / fair);
    buffer_append_text(out, "</tr>\n");
}

static void print_nodes(const struct report *report, struct buffer *out)
{
    const char *titles[MEASURE_PLACEMENTS_MAX + 4] = {"Node", "Zone", "Weight"};
    size_t count = 3;
    uint32_t nodes = cw_map_node_count(report->fleet->map);
    for (size_t i = 0; i < report->placement_count; i++)
        if (report->placements[i].is_measured)
            titles[count++] = cw_placement_name(report->placements[i].placement);
    buffer_append_text(out, "<details><summary>Load of each node, 1 being what it should have");
    if (nodes > NODES_IN_PAGE_MAX)
        buffer_printf(out, " (the first %d; --json has all)", NODES_IN_PAGE_MAX);
    buffer_append_text(out, "</summary>\n");
    open_table(titles, out);
    for (uint32_t i = 0; i < nodes && i < NODES_IN_PAGE_MAX; i++)
        print_node(report, i, out);
    close_table(out);
    buffer_append_text(out, "</details>\n");
}

void page_tables(const struct report *report, struct buffer *out)
{
    buffer_append_text(out, "<h2>Cost, and what each can do</h2>\n");
    print_cost(report, out);
    for (size_t i = 0; i < report->placement_count; i++)
        if (!report->placements[i].is_measured) {
            buffer_printf(out, "<p>%s was not measured: ",
                          cw_placement_name(report->placements[i].placement));
            html_text(out, report->placements[i].why, strlen(report->placements[i].why));
            buffer_append_text(out, "</p>\n");
        }
    buffer_append_text(out, "<h3>Hashes</h3>\n");
    print_hash_table(report, out);
    print_nodes(report, out);
}
