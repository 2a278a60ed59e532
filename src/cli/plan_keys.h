/*
 * How many of a list of keys a plan moves, and along which of its moves.
 */
#ifndef CLI_PLAN_KEYS_H
#define CLI_PLAN_KEYS_H

#include <stdint.h>

#include <clockwise/clockwise.h>

#include "cli/lines.h"

struct key_counts {
    uint64_t total, moving;
    uint64_t *by_move; /* one for each of cw_plan_moves() */
};

/* Reads keys to the end of a file and counts them; with `list`, each that moves is written to
 * standard output as `key TAB from TAB to`. CLI_OK, or CLI_FAILED after saying why; what is counted
 * by then is freed with key_counts_release() in any case. */
int plan_count_keys(const struct cw_plan *plan, const struct cw_map *from, const struct cw_map *to,
                    int file, const char *name, bool list, struct key_counts *ret_counts);
void key_counts_release(struct key_counts *counts);

#endif
