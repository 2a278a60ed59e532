/*
 * What `clockwise locate` says of keys: lines, JSON, a table.
 */
#ifndef CLI_LOCATE_WRITE_H
#define CLI_LOCATE_WRITE_H

#include <clockwise/profile.h>

#include "base/buffer.h"
#include "cli/lines.h"

struct locating {
    const struct cw_map *map;             /* or: */
    const struct cw_profile_map *numbers; /* a profile that places on numbers: its own are said */
    size_t replica_count;
    bool as_json, is_first; /* of the JSON array */
    struct buffer out;
    const void *keys[LINES_BATCH_MAX];
    size_t key_lens[LINES_BATCH_MAX];
    uint32_t nodes[LINES_BATCH_MAX];
    /* "\tid\n" of every node, of 64 bytes each, behind each other: what follows a key in the lines
     * of most answers. */
    char *tails;
    uint8_t *tail_lens;
};

/* CLI_OK or CLI_FAILED after saying why. */
int locating_init(struct locating *locating);
void locating_fini(struct locating *locating);

/* The owners of the first `count` keys into the output. False when memory is out. */
bool locate_write(struct locating *locating, size_t count);
/* A table of keys and their owners. */
void locate_write_table(struct locating *locating, const char *const *keys, size_t count);

#endif
