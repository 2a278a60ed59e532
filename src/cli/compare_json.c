/*
 * The report in JSON. Parts are numbers from 0 to 1; loads are relative to what a node should have.
 */
#include "cli/compare_report.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/utf8.h"

static json_t *json_of_balance(const struct balance *balance)
{
    return json_pack("{s:f, s:f, s:f}", "peak", balance->peak, "least", balance->lowest,
                     "deviation", balance->deviation);
}

static json_t *json_of_change(const struct change_result *change)
{
    if (!change->is_measured)
        return json_pack("{s:s}", "not_measured", change->why);
    return json_pack("{s:s, s:b, s:f, s:f, s:f}", "node", change->id, "only_last_can_go",
                     change->is_last, "moved", change->moved, "ideal", change->ideal, "needless",
                     change->needless);
}

static json_t *json_of_heirs(const struct report *report, const struct placement_result *placement)
{
    const struct heirs *heirs = &placement->heirs;
    json_t *keys = json_object();
    for (uint32_t i = 0; i < cw_map_node_count(report->fleet->map); i++)
        if (heirs->keys[i])
            json_object_set_new(keys, cw_map_node(report->fleet->map, i)->id,
                                json_integer((json_int_t)heirs->keys[i]));
    return json_pack("{s:I, s:I, s:f, s:s, s:f, s:f, s:o}", "count", (json_int_t)heirs->count,
                     "possible", (json_int_t)heirs->possible, "largest", heirs->largest,
                     "largest_node", heirs->largest_id, "over_even", heirs->excess,
                     "peak_load_then", heirs->peak, "keys", keys);
}

static json_t *json_of_nodes(const struct report *report, const struct placement_result *placement)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < cw_map_node_count(report->fleet->map); i++)
        json_array_append_new(nodes, json_pack("{s:s, s:I, s:I}", "id",
                                               cw_map_node(report->fleet->map, i)->id, "keys",
                                               (json_int_t)placement->keys[i], "lines",
                                               (json_int_t)placement->lines[i]));
    return nodes;
}

static json_t *json_of_placement(const struct report *report,
                                 const struct placement_result *placement)
{
    unsigned can = placement->capabilities;
    json_t *object = json_pack(
        "{s:s, s:{s:b, s:b, s:b, s:b}}", "placement", cw_placement_name(placement->placement),
        "can", "weights", (can & CW_CAN_WEIGHTS) != 0, "remove_any", (can & CW_CAN_REMOVE_ANY) != 0,
        "replicas", (can & CW_CAN_REPLICAS) != 0, "ranges", (can & CW_CAN_RANGES) != 0);
    if (!placement->is_measured) {
        json_object_set_new(object, "not_measured", json_string(placement->why));
        return object;
    }
    json_t *measured = json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:f, s:f, s:f, s:o}", "ignores_weights",
        placement->ignores_weights, "keys", json_of_balance(&placement->key_balance), "load",
        json_of_balance(&placement->line_balance), "add",
        json_of_change(&placement->changes[FLEET_ADD]), "remove",
        json_of_change(&placement->changes[FLEET_REMOVE]), "weight",
        json_of_change(&placement->changes[FLEET_WEIGH]), "memory_bytes",
        (json_int_t)placement->memory, "build_seconds", placement->build_seconds, "lookup_ns",
        placement->single_ns, "lookup_batch_ns", placement->batch_ns, "nodes",
        json_of_nodes(report, placement));
    if (placement->changes[FLEET_REMOVE].is_measured)
        json_object_set_new(measured, "heirs", json_of_heirs(report, placement));
    json_object_update(object, measured);
    json_decref(measured);
    return object;
}

static json_t *json_of_placements(const struct report *report)
{
    json_t *placements = json_array();
    for (size_t i = 0; i < report->placement_count; i++)
        json_array_append_new(placements, json_of_placement(report, &report->placements[i]));
    return placements;
}

/* ---- keys and hashes ------------------------------------------------------------------------- */

static json_t *json_of_top(const struct report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->keys->top_count; i++) {
        const struct top_key *top = &report->keys->top[i];
        bool is_cut = top->len > KEY_SHOWN_MAX;
        size_t len = is_cut ? KEY_SHOWN_MAX : top->len;
        json_t *object = json_pack("{s:I, s:f, s:b}", "lines", (json_int_t)top->count, "part",
                                   top->count / (double)report->keys->lines, "is_cut", is_cut);
        char hex[2 * KEY_SHOWN_MAX + 1];
        for (size_t j = 0; j < len; j++)
            snprintf(hex + 2 * j, 3, "%02x", (unsigned char)top->text[j]);
        if (utf8_is_valid(top->text, len))
            json_object_set_new(object, "key", json_stringn(top->text, len));
        else
            json_object_set_new(object, "key_hex", json_stringn(hex, 2 * len));
        json_array_append_new(list, object);
    }
    return list;
}

static json_t *json_of_keys(const struct report *report)
{
    const struct key_set *keys = report->keys;
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "source", report->source, "lines",
                     (json_int_t)keys->lines_seen, "lines_counted", (json_int_t)keys->lines,
                     "distinct", (json_int_t)keys->count, "repeated", (json_int_t)keys->repeated,
                     "one_in", (json_int_t)1 << keys->sample_bits, "top", json_of_top(report));
}

static json_t *json_of_spread(const struct hash_spread *spread)
{
    return json_pack("{s:I, s:f, s:f, s:f, s:s}", "buckets", (json_int_t)spread->bucket_count,
                     "chi_square", spread->chi_square, "sigma", spread->z, "excess_deviation",
                     spread->excess, "verdict", hash_verdict_text(spread->verdict));
}

static json_t *json_of_hashes(const struct report *report)
{
    json_t *hashes = json_array();
    for (size_t i = 0; i < HASH_COUNT; i++) {
        const struct hash_result *hash = &report->hashes[i];
        json_array_append_new(hashes,
                              json_pack("{s:s, s:o, s:o, s:f}", "hash", hash->name, "high_bits",
                                        json_of_spread(&hash->ends[HASH_HIGH]), "low_bits",
                                        json_of_spread(&hash->ends[HASH_LOW]), "ns", hash->ns));
    }
    return hashes;
}

/* ---- all ------------------------------------------------------------------------------------- */

static json_t *json_of_fleet(const struct report *report)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < cw_map_node_count(report->fleet->map); i++) {
        const struct cw_node *node = cw_map_node(report->fleet->map, i);
        json_array_append_new(nodes,
                              json_pack("{s:s, s:I, s:s, s:f}", "id", node->id, "weight",
                                        (json_int_t)node->weight, "zone", node->zone, "ideal_share",
                                        cw_map_ideal_share(report->fleet->map, i)));
    }
    return nodes;
}

static json_t *json_of_findings(const struct report *report)
{
    static const char *const kinds[] = {"sample", "hash", "repeated_keys", "placement"};
    json_t *findings = json_array();
    for (size_t i = 0; i < report->finding_count; i++)
        json_array_append_new(findings,
                              json_pack("{s:s, s:b, s:s}", "about", kinds[report->findings[i].kind],
                                        "is_bad", report->findings[i].is_bad, "text",
                                        buffer_bytes(&report->findings[i].text)));
    return findings;
}

bool report_print_json(const struct report *report, struct buffer *out)
{
    json_t *root = json_pack("{s:s, s:o, s:o, s:{s:f, s:f}, s:o, s:o, s:o}", "pool",
                             report->fleet->pool, "nodes", json_of_fleet(report), "keys",
                             json_of_keys(report), "chance", "keys_deviation", report->chance.keys,
                             "load_deviation", report->chance.lines, "placements",
                             json_of_placements(report), "hashes", json_of_hashes(report),
                             "findings", json_of_findings(report));
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    bool ok = text && buffer_append_text(out, text) && buffer_append_text(out, "\n");
    free(text);
    json_decref(root);
    return ok;
}
