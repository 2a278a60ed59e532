/*
 * The document of a pool in the map store: JSON that a person can read, in which the maps stand in
 * their canonical text.
 *
 *   {
 *     "clockwise_pool": 1,
 *     "pool": "sessions",
 *     "engine": "redis",
 *     "revision": 3,
 *     "generation": 1,
 *     "next_transition": 2,
 *     "burnt": ["cache-9"],
 *     "map": {…},
 *     "transition": {"id": 1, …, "from": {…}, "to": {…}},
 *     "check": "0123456789abcdef"
 *   }
 *
 * The check is cw_hash() of all bytes before its line's comma, in hexadecimal: a file that a disk
 * or a hand changed is not taken for true. Without that line nothing is checked: so a person says
 * that an edited document is meant, and so documents are that were written before there were
 * checks.
 *
 * What is read is never trusted: every number has bounds, keys that are unknown, missing or stand
 * twice are errors, and the parts must fit together. No I/O, no state.
 */
#ifndef CONTROL_MAP_DOCUMENT_H
#define CONTROL_MAP_DOCUMENT_H

#include <stddef.h>

#include "base/buffer.h"
#include "move/map_store.h"

enum {
    MAP_DOCUMENT_LEN_MAX = 64 << 20,
    MAP_DOCUMENT_PROBLEM_SIZE = 400,
    MAP_DOCUMENT_BURNT_MAX = 100000,
};

/* Appends the document. 0, -ENOMEM, or -EFBIG when it is longer than MAP_DOCUMENT_LEN_MAX. */
int map_document_write(const char *pool, const struct map_record *record, struct buffer *out);

/* Reads one of the pool (NULL: of any). 0 and a record that is the caller's, -ENOMEM, or -EINVAL
 * with what is wrong: "transition.id is 0; 1 to … is possible". Without maps the record has none,
 * nor has its transition: that is cheap, for whoever wants to know the revision. */
int map_document_read(const char *text, size_t len, const char *pool, bool with_maps,
                      struct map_record **ret_record,
                      char ret_problem[static MAP_DOCUMENT_PROBLEM_SIZE]);

#endif
