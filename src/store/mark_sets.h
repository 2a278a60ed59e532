/*
 * The dirty sets of an embedded node: while keys move away, their names are marked here before they
 * are written (SADD), and taken out again by whoever copies them (SPOP). They live in memory alone:
 * when the process ends, so do the copies that needed them. What they hold is bounded, and beyond
 * the bound nothing is added, so that the one who marks is told.
 *
 * A node executes many commands in one transaction, and takes all of them back when it fails. So
 * everything done since the last marks_keep() can be undone: what was taken out is not freed before
 * that, and a mark that was popped by a command that never happened is there again.
 *
 * Adding, finding, removing and taking any one are O(1); a table is split into shards, so that no
 * single one holds up the others for long when it grows.
 */
#ifndef STORE_MARK_SETS_H
#define STORE_MARK_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/resp.h"

enum {
    MARKS_COUNT_MAX = 1 << 20,
    MARKS_BYTES_MAX = 64 << 20, /* marks with what it takes to keep them */
    MARKS_SETS_MAX = 256,
};

struct mark; /* one member */
struct mark_set;
struct mark_step;

struct marks {
    struct mark_set *sets;    /* live ones, a list */
    struct mark_set *dropped; /* those that are gone, freed a piece at each keep */
    uint32_t set_count, dropped_shard;
    uint64_t count, bytes;   /* of live ones */
    struct mark_step *steps; /* since the last keep */
    size_t step_count, step_capacity;
    uint64_t count_max, bytes_max; /* 0: as above; tests set less */
};

/* Whether a key can name a dirty set: it begins with "\0cw:". */
bool marks_is_name(struct slice key);

/* Frees everything and leaves it empty; all zero is a good start, too. */
void marks_release(struct marks *marks);

/* ---- use ------------------------------------------------------------------------------------- */

struct mark_set *marks_find(const struct marks *marks, struct slice name);
uint64_t mark_set_count(const struct mark_set *set);
bool mark_set_has(const struct mark_set *set, struct slice member);

/* 1 added, 0 there already, -1: not within the bounds, or no memory; nothing has changed then. */
int marks_add(struct marks *marks, struct slice name, struct slice member);
/* Whether it was there. False, too, when memory is out. */
bool marks_remove(struct marks *marks, struct mark_set *set, struct slice member);
/* Takes any member out; it stays valid until the next keep, undo or release. False: there is none,
 * it is longer than len_max, or memory is out. */
bool marks_pop(struct marks *marks, struct mark_set *set, size_t len_max, struct slice *ret_member);
/* Whether there was a set of that name; it is gone now. False, too, when memory is out. */
bool marks_drop(struct marks *marks, struct slice name);
/* False: memory is out, and some are left. */
bool marks_drop_all(struct marks *marks);

/* What was done since the last keep is done for good, or was never done. O(steps). */
void marks_keep(struct marks *marks);
void marks_undo(struct marks *marks);

#endif
