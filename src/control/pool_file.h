/*
 * The files of one pool in the map store's folder, and the rules by which they change:
 *
 *   POOL.json       the document (map_document.h), replaced whole
 *   POOL.highest    the highest revision and generation that were ever stored here, so that an old
 *                   copy which was put back is noticed
 *   POOL.journal    what happened (journal.h)
 *
 * They are written in this order; what a crash leaves undone is made good at the next load.
 * Everything blocks, for as long as the disk takes.
 */
#ifndef CONTROL_POOL_FILE_H
#define CONTROL_POOL_FILE_H

#include <sys/stat.h>

#include "control/map_folder.h"
#include "move/map_store.h"

/* Reads a pool's record, under the folder's lock. 0; -ENOENT when there never was one; or a
 * negative errno with a sentence: -ESTALE, an older document than the last one that was stored;
 * -EINVAL, it is damaged; … With 0 too there may be a sentence (else ""): of something that could
 * not be made good. */
int pool_file_load(struct map_folder *folder, const char *pool, struct map_record **ret_record,
                   char ret_problem[static MAP_PROBLEM_SIZE]);

/* The document as the last put of this process left it: while the file is that one still, it need
 * not be read. All zeros: nothing is known. */
struct pool_file_left {
    struct stat status;
    struct map_record *record; /* NULL: nothing is known */
};
void pool_file_forget(struct pool_file_left *left);
bool pool_file_is_as_left(const struct map_folder *folder, const char *pool,
                          const struct pool_file_left *left);

/* Stores a record with its revision + 1 if the stored one has its revision (0: there is none).
 * -ESTALE when it has another one; whatever fails, the old document stays as it was. With 0 there
 * may be a sentence: the document is stored, but the rest could not be written. left may be
 * NULL. */
int pool_file_put(struct map_folder *folder, const char *pool, const struct map_record *record,
                  struct pool_file_left *left, char ret_problem[static MAP_PROBLEM_SIZE]);

/* Reads what is stored, without the lock and without making anything good, for whoever only wants
 * to know. -ENOENT without a sentence, or as pool_file_load(). */
int pool_file_peek(const struct map_folder *folder, const char *pool,
                   struct map_record **ret_record, char ret_problem[static MAP_PROBLEM_SIZE]);
/* The revision that is stored now, without any lock; 0: there is none, or it cannot be read. */
uint64_t pool_file_revision(const struct map_folder *folder, const char *pool);

#endif
