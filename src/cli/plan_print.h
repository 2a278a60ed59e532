/*
 * A plan for people and for programs.
 */
#ifndef CLI_PLAN_PRINT_H
#define CLI_PLAN_PRINT_H

#include <clockwise/clockwise.h>

#include "base/buffer.h"
#include "cli/plan_keys.h"

struct planned {
    const char *pool;
    struct cw_map *from, *to;
    struct cw_plan *plan;
    struct key_counts keys;
    bool has_keys;
    uint64_t sample_count; /* keys that an estimate was made from; 0: exact */
    bool has_slots;        /* what the same change would move with slots: */
    double slots_share, slots_needless_share;
};

void plan_print_tables(const struct planned *planned, struct buffer *out);
/* False when memory is out. */
bool plan_print_json(const struct planned *planned, struct buffer *out);

#endif
