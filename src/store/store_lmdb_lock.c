/*
 * The file `lock` in a store's directory. A process holds it with flock() as long as it has the
 * store open, and has written into it who it is, which boot of the machine it belongs to, and
 * whether each of its commits was on the disk ("always") or not ("later"); a clean end empties it.
 * So the next one knows whether the machine stopped while commits were still in memory: then what
 * the disk has of them may be anything, and the store is looked through before it is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "store/store_lmdb.h"

enum { LOCK_TEXT_MAX = 96 };

int lmdb_complain(const struct complaint *complaint, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(complaint->message, complaint->size, format, args);
    va_end(args);
    return error;
}

void lmdb_store_path(const struct lmdb_store *store, const char *name, char path[static PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s/%s", store->data_dir, name);
}

const char *lmdb_remedy(int error)
{
    switch (error) {
    case EACCES:
    case EPERM: return "give this user the right to write there, or set another data_dir";
    case EROFS: return "the file system is read-only; set another data_dir";
    case ENOENT: return "make the directory above it, or set another data_dir";
    case ENOTDIR: return "a part of the path is a file; set another data_dir";
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return "make room there, or set another data_dir";
    default: return "set another data_dir";
    }
}

static void read_text(int fd, char text[static LOCK_TEXT_MAX])
{
    ssize_t len = pread(fd, text, LOCK_TEXT_MAX - 1, 0);
    text[len > 0 ? len : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
}

static int complain_of_holder(const struct lmdb_store *store, int fd,
                              const struct complaint *complaint)
{
    char text[LOCK_TEXT_MAX];
    read_text(fd, text);
    int pid_len = (int)strcspn(text, " ");
    return lmdb_complain(complaint, -EBUSY,
                         "data directory '%s' is in use by process %.*s; stop that one, or give "
                         "node '%s' a data_dir of its own",
                         store->data_dir, pid_len ? pid_len : 9, pid_len ? text : "(unknown)",
                         store->name);
}

/* The kernel's name for this boot: what was written to files since then is there to be read, on
 * the disk or not. */
static void read_boot(char boot[static LOCK_TEXT_MAX])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    boot[0] = '\0';
    if (fd < 0)
        return;
    read_text(fd, boot);
    close(fd);
}

/* Whether the last user of the store ended with its machine, and with commits in memory. */
static bool was_cut_off(int fd, const char *boot)
{
    char text[LOCK_TEXT_MAX], last_boot[LOCK_TEXT_MAX], sync[LOCK_TEXT_MAX];
    read_text(fd, text);
    return sscanf(text, "%*s %95s %95s", last_boot, sync) == 2 && strcmp(last_boot, boot) != 0 &&
           strcmp(sync, "later") == 0;
}

/* Without this text a message is poorer and a check is not made; a full disk must not keep the node
 * from starting. */
static void sign(const struct lmdb_store *store, int fd, const char *boot)
{
    char text[2 * LOCK_TEXT_MAX];
    int len = snprintf(text, sizeof text, "%ld %.40s %s\n", (long)getpid(), boot,
                       store->is_durable ? "always" : "later");
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len)
        fdatasync(fd);
}

int lmdb_store_lock(struct lmdb_store *store, const struct complaint *complaint)
{
    char path[PATH_MAX], boot[LOCK_TEXT_MAX];
    lmdb_store_path(store, "lock", path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return lmdb_complain(complaint, -errno, "data directory '%s' cannot be written to: %s; %s",
                             store->data_dir, strerror(errno), lmdb_remedy(errno));
    store->lock_fd = fd;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? complain_of_holder(store, fd, complaint)
                                    : lmdb_complain(complaint, -errno,
                                                    "'%s' cannot be locked: %s; set another "
                                                    "data_dir",
                                                    path, strerror(errno));
    read_boot(boot);
    store->is_locked = true;
    store->is_suspect = was_cut_off(fd, boot);
    if (!store->is_suspect)
        sign(store, fd, boot);
    return 0;
}

void lmdb_store_trust(struct lmdb_store *store)
{
    char boot[LOCK_TEXT_MAX];
    read_boot(boot);
    store->is_suspect = false;
    sign(store, store->lock_fd, boot);
}

void lmdb_store_unlock(struct lmdb_store *store, bool is_clean)
{
    if (store->lock_fd < 0)
        return;
    /* A store that is still suspect stays so: its text is left for the next one to see. */
    if (is_clean && store->is_locked && !store->is_suspect && ftruncate(store->lock_fd, 0) != 0)
        is_clean = false; /* then the next one makes a check too many */
    close(store->lock_fd);
    store->lock_fd = -1;
}
