/*
 * The map store in a local folder (map_folder.h, pool_file.h), for one router at a time.
 *
 * A thread of its own writes, so that no disk makes the caller's loop wait, and watches the folder:
 * a document that somebody else changed is told in the log. Puts are carried out in their order.
 */
#ifndef CONTROL_MAP_STORE_FILE_H
#define CONTROL_MAP_STORE_FILE_H

#include "control/map_folder.h"
#include "io/io.h"
#include "move/map_store.h"

/* Opens the folder, claims it for this process and starts the thread. `loop` gets what puts have to
 * say. 0, or a negative errno with a sentence: -EBUSY, another router works there.
 *
 * close() of the store: when the loop no longer runs, and before it is destroyed. Puts that were
 * asked for are still carried out, but nobody is called back. */
int map_store_file_open(const char *path, struct io_loop *loop, struct map_store **ret_store,
                        char ret_problem[static MAP_PROBLEM_SIZE]);

/* A put that blocks until it is done: for the start, when no loop runs yet. As pool_file_put(). */
int map_store_file_put_now(struct map_store *store, const char *pool,
                           const struct map_record *record,
                           char ret_problem[static MAP_PROBLEM_SIZE]);

/* The folder, for reading journals. */
const struct map_folder *map_store_file_folder(const struct map_store *store);

#endif
