/*
 * All that `clockwise compare` found, and its three forms: tables, JSON, a page.
 */
#ifndef CLI_COMPARE_REPORT_H
#define CLI_COMPARE_REPORT_H

#include "base/buffer.h"
#include "cli/compare_fleet.h"
#include "cli/compare_hash.h"
#include "cli/compare_keys.h"
#include "cli/compare_measure.h"

enum { REPORT_FINDINGS_MAX = 8 };

enum finding_kind { FINDING_SAMPLE, FINDING_HASH, FINDING_REPEATS, FINDING_PLACEMENT };

/* A sentence or two for a person; text is released with the report. */
struct finding {
    enum finding_kind kind;
    bool is_bad;
    struct buffer text; /* ends with NUL */
};

struct report {
    const struct fleet *fleet;
    const struct key_set *keys;
    const char *source; /* "keys.txt", "1000000 keys made from seed 1" */
    struct chance chance;
    struct hash_result hashes[HASH_COUNT];
    struct placement_result placements[MEASURE_PLACEMENTS_MAX];
    size_t placement_count;
    struct finding findings[REPORT_FINDINGS_MAX];
    size_t finding_count;
};

void report_release(struct report *report);

/* Lays a skew to the hash, to repeated keys, or to placements (compare_explain.c). */
void report_explain(struct report *report);

/* "10 nodes, weights 1 to 2, 3 zones": what is compared on (compare_explain.c). */
void report_describe_fleet(const struct report *report, struct buffer *out);
void report_describe_keys(const struct report *report, struct buffer *out);
/* Whether keys came more than once, so that load and keys are two things. */
bool report_has_repeats(const struct report *report);
/* The highest load that the most frequent key alone makes somewhere, 1 being fair; at least 1. */
double report_least_peak(const struct report *report);
/* "12.3 kb", "4.5 mb" */
void report_bytes(size_t bytes, char *ret_text, size_t size);
/* "1.2 ms" */
void report_seconds(double seconds, char *ret_text, size_t size);

void report_print_tables(const struct report *report, bool all_nodes, struct buffer *out);
/* False when memory is out. */
bool report_print_json(const struct report *report, struct buffer *out);
/* One self-contained page (compare_html.c). */
void report_print_html(const struct report *report, struct buffer *out);

#endif
