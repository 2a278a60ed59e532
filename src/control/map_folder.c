#include "control/map_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control/network_fs.h"

enum { LOCK_TRIES = 10000, LOCK_WAIT_US = 500, PATH_LEN_MAX = 4000 };

static const char *remedy_of(int error)
{
    switch (error) {
    case EACCES:
    case EPERM: return "give this user the right to write there, or set another map_store";
    case EROFS: return "the file system is read-only; set another map_store";
    case ENOTDIR: return "a part of the path is a file; set another map_store";
    case ENOSPC:
    case EDQUOT: return "make room there";
    case EFBIG: return "raise the limit on the size of files (ulimit -f)";
    default: return "look at the disk, or set another map_store";
    }
}

int map_folder_fail(const struct map_folder *folder, const char *name, const char *what, int error,
                    char ret_problem[static MAP_PROBLEM_SIZE])
{
    snprintf(ret_problem, MAP_PROBLEM_SIZE, "map store %.500s: %s: %s: %s; %s", folder->path, name,
             what, strerror(error), remedy_of(error));
    return -error;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Makes the levels of a path that are missing; only the last is for this user alone. */
static int make_levels(const char *path)
{
    char level[PATH_LEN_MAX];
    if (strlen(path) >= sizeof level)
        return -ENAMETOOLONG;
    for (const char *end = path + 1; (end = strchr(end, '/')); end++) {
        snprintf(level, sizeof level, "%.*s", (int)(end - path), path);
        if (mkdir(level, 0777) < 0 && errno != EEXIST)
            return -errno;
    }
    return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

static int open_lock(const struct map_folder *folder, const char *name, int *ret_file,
                     char *ret_problem)
{
    *ret_file = openat(folder->folder, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*ret_file < 0)
        return map_folder_fail(folder, name, "cannot be opened", errno, ret_problem);
    return 0;
}

static int refuse_network(const struct map_folder *folder, char *ret_problem)
{
    const char *name = network_fs_of(folder->folder);
    if (!name)
        return 0;
    snprintf(ret_problem, MAP_PROBLEM_SIZE,
             "map store %.500s: it is on a network file system (%s), where locks cannot be relied "
             "on; set map_store to a folder on a local disk",
             folder->path, name);
    return -ENOTSUP;
}

static int open_files(struct map_folder *folder, char *ret_problem)
{
    int made = make_levels(folder->path);
    if (made < 0)
        return map_folder_fail(folder, "the folder", "cannot be made", -made, ret_problem);
    folder->folder = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->folder < 0)
        return map_folder_fail(folder, "the folder", "cannot be opened", errno, ret_problem);
    int status = refuse_network(folder, ret_problem);
    if (status == 0)
        status = open_lock(folder, "lock", &folder->lock, ret_problem);
    if (status == 0)
        status = open_lock(folder, "router", &folder->router, ret_problem);
    if (status == 0 && faccessat(folder->folder, ".", W_OK | X_OK, AT_EACCESS) < 0)
        status = map_folder_fail(folder, "the folder", "cannot be written to", errno, ret_problem);
    return status;
}

int map_folder_open(const char *path, struct map_folder *ret_folder,
                    char ret_problem[static MAP_PROBLEM_SIZE])
{
    struct map_folder folder = {strdup(path), -1, -1, -1};
    if (!folder.path) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE, "out of memory");
        return -ENOMEM;
    }
    int status = open_files(&folder, ret_problem);
    if (status < 0)
        map_folder_close(&folder);
    else
        *ret_folder = folder;
    return status;
}

int map_folder_open_to_read(const char *path, struct map_folder *ret_folder)
{
    struct map_folder folder = {strdup(path), -1, -1, -1};
    if (!folder.path)
        return -ENOMEM;
    folder.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = folder.folder < 0 ? -errno : 0;
    if (status < 0)
        map_folder_close(&folder);
    else
        *ret_folder = folder;
    return status;
}

static void close_file(int *file)
{
    if (*file >= 0)
        close(*file);
    *file = -1;
}

void map_folder_close(struct map_folder *folder)
{
    if (!folder->path)
        return;
    close_file(&folder->router);
    close_file(&folder->lock);
    close_file(&folder->folder);
    free(folder->path);
    folder->path = NULL;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static int set_lock(int file, short type)
{
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &whole) < 0 ? -errno : 0;
}

static bool is_held_by_another(int error)
{
    return error == -EAGAIN || error == -EACCES;
}

static int complain_of_router(const struct map_folder *folder, char *ret_problem)
{
    char text[24];
    ssize_t len = pread(folder->router, text, sizeof text - 1, 0);
    text[len > 0 ? len : 0] = 0;
    text[strspn(text, "0123456789")] = 0;
    snprintf(ret_problem, MAP_PROBLEM_SIZE,
             "map store %.500s: a router works with it already, process %s; end that one, or set "
             "another map_store (or data_dir) for this one",
             folder->path, *text ? text : "(unknown)");
    return -EBUSY;
}

int map_folder_claim(struct map_folder *folder, char ret_problem[static MAP_PROBLEM_SIZE])
{
    char text[24];
    int status = set_lock(folder->router, F_WRLCK);
    if (is_held_by_another(status))
        return complain_of_router(folder, ret_problem);
    if (status < 0)
        return map_folder_fail(folder, "router", "cannot be locked", -status, ret_problem);
    /* Without this text a message is poorer; a full disk must not keep the router from starting. */
    int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(folder->router, 0) < 0 || pwrite(folder->router, text, (size_t)len, 0) != len)
        return 0;
    return 0;
}

int map_folder_lock(struct map_folder *folder, char ret_problem[static MAP_PROBLEM_SIZE])
{
    const struct timespec pause = {0, LOCK_WAIT_US * 1000L};
    int status = set_lock(folder->lock, F_WRLCK);
    for (int i = 0; i < LOCK_TRIES && is_held_by_another(status); i++) {
        nanosleep(&pause, NULL);
        status = set_lock(folder->lock, F_WRLCK);
    }
    if (is_held_by_another(status)) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE,
                 "map store %.500s: its lock could not be had for %d s, another process has it; "
                 "`fuser %.300s/lock` names it: let it go on, or end it",
                 folder->path, LOCK_TRIES / (1000000 / LOCK_WAIT_US), folder->path);
        return -EBUSY;
    }
    if (status < 0)
        return map_folder_fail(folder, "lock", "cannot be locked", -status, ret_problem);
    return 0;
}

void map_folder_unlock(struct map_folder *folder)
{
    set_lock(folder->lock, F_UNLCK);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int read_to_end(int file, size_t len_max, struct buffer *out)
{
    enum { PART = 64 << 10 };
    size_t before = out->len;
    for (;;) {
        char *to = buffer_reserve(out, PART);
        if (!to)
            return -ENOMEM;
        ssize_t got = read(file, to, PART);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : 0;
        buffer_added(out, (size_t)got);
        if (out->len - before > len_max)
            return -EFBIG;
    }
}

int map_folder_read(const struct map_folder *folder, const char *name, size_t len_max,
                    struct buffer *out, char ret_problem[static MAP_PROBLEM_SIZE])
{
    struct stat status;
    /* Without waiting, should it be a pipe. */
    int file = openat(folder->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0 && errno == ENOENT)
        return -ENOENT;
    if (file < 0)
        return map_folder_fail(folder, name, "cannot be read", errno, ret_problem);
    int error = fstat(file, &status) < 0 ? -errno : S_ISREG(status.st_mode) ? 0 : -EINVAL;
    if (error == 0)
        error = read_to_end(file, len_max, out);
    close(file);
    if (error == -EFBIG) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE,
                 "map store %.500s: %s: it is longer than %zu mb; put back a copy of it",
                 folder->path, name, len_max >> 20);
        return error;
    }
    return error < 0 ? map_folder_fail(folder, name, "cannot be read", -error, ret_problem) : 0;
}

static int write_all(int file, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t done = write(file, bytes, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        bytes += done;
        len -= (size_t)done;
    }
    return 0;
}

static void temporary_name(const char *name, char ret_name[static MAP_FILE_NAME_SIZE])
{
    snprintf(ret_name, MAP_FILE_NAME_SIZE, "%.100s.tmp", name);
}

static int write_temporary(const struct map_folder *folder, const char *name, const void *bytes,
                           size_t len, bool is_durable)
{
    int file = openat(folder->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return -errno;
    int status = write_all(file, bytes, len);
    if (status == 0 && is_durable && fsync(file) < 0)
        status = -errno;
    if (close(file) < 0 && status == 0)
        status = -errno;
    return status;
}

int map_folder_replace(const struct map_folder *folder, const char *name, const void *bytes,
                       size_t len, bool is_durable, char ret_problem[static MAP_PROBLEM_SIZE])
{
    char temporary[MAP_FILE_NAME_SIZE];
    temporary_name(name, temporary);
    int status = write_temporary(folder, temporary, bytes, len, is_durable);
    if (status == 0 && renameat(folder->folder, temporary, folder->folder, name) < 0)
        status = -errno;
    if (status < 0) {
        unlinkat(folder->folder, temporary, 0);
        return map_folder_fail(folder, name, "cannot be written", -status, ret_problem);
    }
    /* The new file is there for all to see; that its name may not survive a power cut undoes
     * nothing, so it is no failure of the replacement. */
    if (is_durable && fsync(folder->folder) < 0)
        map_folder_fail(folder, "the folder", "cannot be brought to the disk", errno, ret_problem);
    return 0;
}

void map_folder_tidy(const struct map_folder *folder, const char *name)
{
    char temporary[MAP_FILE_NAME_SIZE];
    temporary_name(name, temporary);
    unlinkat(folder->folder, temporary, 0);
}
