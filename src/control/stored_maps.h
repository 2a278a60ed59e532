/*
 * The maps with which a router starts: those of the map store, and where it has none, the ones that
 * the configuration makes, which are stored at once. So a restart keeps the place of every key,
 * whatever the configuration says by then.
 */
#ifndef CONTROL_STORED_MAPS_H
#define CONTROL_STORED_MAPS_H

#include <stddef.h>

#include "base/buffer.h"
#include "control/config.h"
#include "control/map_folder.h"
#include "io/io.h"
#include "move/map_store.h"

struct stored_maps {
    struct map_store *store; /* NULL: off */
    size_t pool_count;
    struct map_record **records; /* by pool; NULL each when it is off */
    struct cw_map **maps;        /* by pool: who owns the keys now; references of the records or of
                                    the configuration */
    struct buffer *differences;  /* by pool: in what the configuration differs, for a person; ended
                                    by a NUL, or empty */
};

/* Opens the store that the configuration names and takes every pool's record. `loop` is for the
 * store's answers. 0, or a negative errno with a sentence; close it in any case. */
int stored_maps_open(const struct config *config, struct io_loop *loop,
                     struct stored_maps *ret_maps, char ret_problem[static MAP_PROBLEM_SIZE]);
/* When the loop no longer runs. Of zeros is fine. */
void stored_maps_close(struct stored_maps *maps);

/* Writes each pool's difference into the log, once. */
void stored_maps_warn(const struct stored_maps *maps, const struct config *config);

#endif
