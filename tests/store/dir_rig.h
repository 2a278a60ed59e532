/*
 * A directory of its own for a test, and the store in it.
 */
#ifndef TESTS_STORE_DIR_RIG_H
#define TESTS_STORE_DIR_RIG_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

/* cmocka wants its own headers in this order, behind these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { RIG_PATH_MAX = 512 };

struct dir_rig {
    char path[RIG_PATH_MAX - 32];
    char message[512]; /* of the last open */
};

static inline void dir_rig_make(struct dir_rig *rig)
{
    const char *base = getenv("TMPDIR");
    snprintf(rig->path, sizeof rig->path, "%s/cw-store-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(rig->path));
    rig->message[0] = '\0';
}

/* The directory and what is in it, one level deep. */
static inline void dir_rig_remove(struct dir_rig *rig)
{
    char path[RIG_PATH_MAX + 256];
    DIR *dir = opendir(rig->path);
    if (!dir)
        return;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        snprintf(path, sizeof path, "%s/%s", rig->path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(path);
    }
    closedir(dir);
    rmdir(rig->path);
}

static inline void dir_rig_file(const struct dir_rig *rig, const char *name, char *path)
{
    snprintf(path, RIG_PATH_MAX, "%s/%s", rig->path, name);
}

/* A store in the directory, 0 or the error; the message stays in the rig. */
static inline int dir_rig_open_sized(struct dir_rig *rig, uint64_t size_max, struct store **ret)
{
    const struct store_options options = {
        .name = "node-1", .data_dir = rig->path, .size_max = size_max};
    return store_lmdb_open(&options, ret, rig->message, sizeof rig->message);
}

static inline struct store *dir_rig_open(struct dir_rig *rig)
{
    struct store *store = NULL;
    int error = dir_rig_open_sized(rig, 64 << 20, &store);
    if (error)
        fail_msg("cannot open the store: %s", rig->message);
    return store;
}

static inline struct slice text_slice(const char *text)
{
    return (struct slice){text, strlen(text)};
}

#endif
