/*
 * The folder of the map store: files that are replaced whole or not at all, and two locks.
 *
 * A file is replaced by writing a temporary one beside it, fsync(), rename(), and fsync() of the
 * folder; whatever fails on the way, the old one is still there. `lock` is held while a pool's
 * files are looked at and changed; `router` is held for life and has the process id of the router
 * that works here. Both are locks of open files (F_OFD_SETLK): they end with their process, and
 * exclude processes but not the threads of one.
 *
 * Errors are negative errnos with a sentence that names file and remedy.
 */
#ifndef CONTROL_MAP_FOLDER_H
#define CONTROL_MAP_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum { MAP_PROBLEM_SIZE = 1024, MAP_FILE_NAME_SIZE = 128 };

struct map_folder {
    char *path;
    int folder, lock, router; /* files */
};

/* Opens a folder, which is made when it is missing, and looks whether it can be used: no network
 * file system, and a file can be written. */
int map_folder_open(const char *path, struct map_folder *ret_folder,
                    char ret_problem[static MAP_PROBLEM_SIZE]);
/* Opens one only to read, without locks; nothing is made. 0 or a negative errno. */
int map_folder_open_to_read(const char *path, struct map_folder *ret_folder);
/* A folder of zeros is fine. */
void map_folder_close(struct map_folder *folder);
/* Says that a router works here, until the folder is closed. -EBUSY when another one does. */
int map_folder_claim(struct map_folder *folder, char ret_problem[static MAP_PROBLEM_SIZE]);

/* Waits a few seconds for another process that has the lock, then -EBUSY. */
int map_folder_lock(struct map_folder *folder, char ret_problem[static MAP_PROBLEM_SIZE]);
void map_folder_unlock(struct map_folder *folder);

/* Appends what is in a file. -ENOENT without a sentence when there is none. */
int map_folder_read(const struct map_folder *folder, const char *name, size_t len_max,
                    struct buffer *out, char ret_problem[static MAP_PROBLEM_SIZE]);
/* is_durable: it is on the disk when this returns; otherwise only what other processes see is
 * exact. With 0 there may be a sentence when the folder itself could not be brought to the disk; it
 * is left alone otherwise. */
int map_folder_replace(const struct map_folder *folder, const char *name, const void *bytes,
                       size_t len, bool is_durable, char ret_problem[static MAP_PROBLEM_SIZE]);
/* Removes what a crash in map_folder_replace() left. */
void map_folder_tidy(const struct map_folder *folder, const char *name);

/* Writes "map store FOLDER: NAME: <what>: <strerror>; remedy" and returns -error. */
int map_folder_fail(const struct map_folder *folder, const char *name, const char *what, int error,
                    char ret_problem[static MAP_PROBLEM_SIZE]);

#endif
