/*
 * What the figures mean. A skew of load has three sources that look alike: a hash that does not
 * spread these keys, a few keys that come very often, and a placement whose parts are not equal.
 * They are told apart by counting distinct keys, lines and hash buckets, each against what chance
 * alone would do.
 */
#include "cli/compare_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "control/table.h"

#define PEAK_WORTH_SAYING      1.05
#define DEVIATION_WORTH_SAYING 0.05

static void finish(struct report *report, enum finding_kind kind, bool is_bad, struct buffer *text)
{
    buffer_append(text, "", 1);
    report->findings[report->finding_count++] = (struct finding){kind, is_bad, *text};
}

void report_release(struct report *report)
{
    for (size_t i = 0; i < report->placement_count; i++)
        placement_result_release(&report->placements[i]);
    for (size_t i = 0; i < report->finding_count; i++)
        buffer_release(&report->findings[i].text);
}

bool report_has_repeats(const struct report *report)
{
    return report->keys->repeated > 0;
}

static double largest_share(const struct cw_map *map)
{
    double largest = 0;
    for (uint32_t i = 0; i < cw_map_node_count(map); i++)
        largest = fmax(largest, cw_map_ideal_share(map, i));
    return largest;
}

double report_least_peak(const struct report *report)
{
    if (report->keys->top_count == 0)
        return 1;
    double share = report->keys->top[0].count / (double)report->keys->lines;
    return fmax(1, share / largest_share(report->fleet->map));
}

/* ---- what is compared on --------------------------------------------------------------------- */

static uint32_t count_zones(const struct cw_map *map)
{
    uint32_t zones = 0;
    for (uint32_t i = 0; i < cw_map_node_count(map); i++) {
        const char *zone = cw_map_node(map, i)->zone;
        bool is_new = *zone != 0;
        for (uint32_t j = 0; j < i && is_new; j++)
            is_new = strcmp(cw_map_node(map, j)->zone, zone) != 0;
        zones += is_new;
    }
    return zones;
}

void report_describe_fleet(const struct report *report, struct buffer *out)
{
    const struct fleet *fleet = report->fleet;
    uint32_t least = UINT32_MAX, most = 0, count = cw_map_node_count(fleet->map);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t weight = cw_map_node(fleet->map, i)->weight;
        least = weight < least ? weight : least;
        most = weight > most ? weight : most;
    }
    if (fleet->pool[0])
        buffer_printf(out, "pool %s, ", fleet->pool);
    buffer_printf(out, "%" PRIu32 " node%s, ", count, count == 1 ? "" : "s");
    if (least == most)
        buffer_printf(out, "%s", "equal weights");
    else
        buffer_printf(out, "weights %" PRIu32 " to %" PRIu32, least, most);
    uint32_t zones = count <= 10000 ? count_zones(fleet->map) : 0;
    if (zones)
        buffer_printf(out, ", %" PRIu32 " zone%s", zones, zones == 1 ? "" : "s");
}

void report_describe_keys(const struct report *report, struct buffer *out)
{
    const struct key_set *keys = report->keys;
    buffer_append_text(out, report->source);
    buffer_printf(out, ": %" PRIu64 " line%s, %zu distinct key%s", keys->lines_seen,
                  keys->lines_seen == 1 ? "" : "s", keys->count, keys->count == 1 ? "" : "s");
    if (keys->sample_bits)
        buffer_printf(out, " kept of about %zu", keys->count << keys->sample_bits);
}

void report_bytes(size_t bytes, char *ret_text, size_t size)
{
    static const char *const units[] = {"b", "kb", "mb", "gb"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit < 3; unit++)
        value /= 1024;
    snprintf(ret_text, size, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void report_seconds(double seconds, char *ret_text, size_t size)
{
    double value = seconds * 1e6;
    const char *unit = "us";
    if (value >= 1000) {
        value /= 1000;
        unit = "ms";
    }
    if (value >= 1000) {
        value /= 1000;
        unit = "s";
    }
    snprintf(ret_text, size, value < 99.95 ? "%.1f %s" : "%.0f %s", value, unit);
}

/* ---- findings -------------------------------------------------------------------------------- */

static void explain_sample(struct report *report)
{
    struct buffer text = BUFFER_INIT;
    const struct key_set *keys = report->keys;
    if (keys->sample_bits == 0)
        return;
    buffer_printf(&text,
                  "Sample: there are more than %zu distinct keys; 1 in %u was kept, with all its "
                  "lines. The most frequent keys are those of the sample.",
                  keys->key_max, 1u << keys->sample_bits);
    finish(report, FINDING_SAMPLE, false, &text);
}

static void explain_hash(struct report *report)
{
    struct buffer text = BUFFER_INIT;
    const struct hash_spread *spread = &report->hashes[HASH_XXH3].ends[HASH_HIGH];
    if (spread->verdict == HASH_TOO_FEW) {
        buffer_append_text(&text, "Hash: too few keys to tell how well it spreads them.");
    } else if (spread->verdict == HASH_SKEWED) {
        buffer_printf(&text,
                      "Hash: XXH3 does not spread these keys: chi-square %.0f over %" PRIu32
                      " buckets, %.1f standard deviations above chance.",
                      spread->chi_square, spread->bucket_count, spread->z);
    } else {
        buffer_printf(&text,
                      "Hash: XXH3 spreads these keys as chance would (chi-square %.0f over %" PRIu32
                      " buckets): no skew comes from it.",
                      spread->chi_square, spread->bucket_count);
    }
    size_t skewed = 0;
    for (size_t i = 1; i < HASH_COUNT; i++) {
        const struct hash_result *hash = &report->hashes[i];
        if (hash->ends[HASH_HIGH].verdict == HASH_SKEWED ||
            hash->ends[HASH_LOW].verdict == HASH_SKEWED)
            buffer_printf(&text, "%s%s", skewed++ ? ", " : " Skewed on these keys: ", hash->name);
    }
    if (skewed)
        buffer_append_text(&text, ".");
    finish(report, FINDING_HASH, spread->verdict == HASH_SKEWED, &text);
}

/* Something of a key for a person, in quotes. */
static void quote_key(const struct top_key *key, struct buffer *out)
{
    size_t len = key->len < 40 ? key->len : 40;
    buffer_append_text(out, "'");
    table_append_safe(out, key->text, len);
    buffer_append_text(out, key->len > len ? "…'" : "'");
}

static void explain_repeats(struct report *report)
{
    struct buffer text = BUFFER_INIT;
    const struct key_set *keys = report->keys;
    double least_peak = report_least_peak(report);
    bool is_hot = least_peak > PEAK_WORTH_SAYING;
    bool is_bad = is_hot || (report->chance.lines > DEVIATION_WORTH_SAYING &&
                             report->chance.lines > 2 * report->chance.keys);
    if (!report_has_repeats(report)) {
        buffer_append_text(&text, "Repeated keys: none; keys and load are the same here.");
        finish(report, FINDING_REPEATS, false, &text);
        return;
    }
    buffer_printf(&text,
                  "Repeated keys: %" PRIu64 " of %zu keys come more than once; the most "
                  "frequent, ",
                  keys->repeated, keys->count);
    quote_key(&keys->top[0], &text);
    buffer_printf(&text, ", is %.2f %% of all lines. ",
                  100 * keys->top[0].count / (double)keys->lines);
    if (is_bad)
        buffer_printf(
            &text,
            "Its node carries at least %.2f times its share for that key alone: no placement "
            "mends that.",
            least_peak);
    else
        buffer_printf(&text,
                      "A perfectly fair placement would deviate by %.2f %% in load and %.2f %% in "
                      "keys.",
                      report->chance.lines * 100, report->chance.keys * 100);
    finish(report, FINDING_REPEATS, is_bad, &text);
}

/* The deviation that is the placement's own, beyond chance, or 0 when it may be chance: the
 * deviation of n nodes is known to about 1 / sqrt(2 n), and three times that is allowed. */
static double own_deviation(const struct report *report, const struct placement_result *placement)
{
    double deviation = placement->key_balance.deviation, chance = report->chance.keys;
    double nodes = cw_map_node_count(report->fleet->map);
    if (deviation <= chance * (1 + 3 / sqrt(2 * nodes)))
        return 0;
    return sqrt(deviation * deviation - chance * chance);
}

static void explain_placements(struct report *report)
{
    struct buffer text = BUFFER_INIT;
    size_t fair = 0, skewed = 0, ignoring = 0;
    buffer_printf(&text, "Placement: with %zu keys chance alone deviates by %.2f %%.",
                  report->keys->count, report->chance.keys * 100);
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        if (placement->is_measured && !placement->ignores_weights &&
            own_deviation(report, placement) == 0)
            buffer_printf(&text, "%s%s",
                          fair++ ? ", " : " No worse: ", cw_placement_name(placement->placement));
    }
    buffer_append_text(&text, fair ? "." : "");
    for (size_t i = 0; i < report->placement_count; i++) {
        const struct placement_result *placement = &report->placements[i];
        double own = placement->is_measured ? own_deviation(report, placement) : 0;
        if (own > 0 && !placement->ignores_weights)
            buffer_printf(&text, "%s%s %.2f %%", skewed++ ? ", " : " Of their own add: ",
                          cw_placement_name(placement->placement), own * 100);
    }
    buffer_append_text(&text, skewed ? "." : "");
    for (size_t i = 0; i < report->placement_count; i++)
        if (report->placements[i].ignores_weights)
            buffer_printf(&text, "%s%s",
                          ignoring++ ? ", " : " Without weights, measured as if all were 1: ",
                          cw_placement_name(report->placements[i].placement));
    buffer_append_text(&text, ignoring ? "." : "");
    finish(report, FINDING_PLACEMENT, skewed > 0, &text);
}

void report_explain(struct report *report)
{
    explain_sample(report);
    explain_hash(report);
    explain_repeats(report);
    explain_placements(report);
}
