#include "store/block_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct block_file *file, int error)
{
    file->last_errno = error;
    return -1;
}

static int read_block(void *context, uint64_t block, void *ret_bytes)
{
    struct block_file *file = context;
    size_t size = file->device.block_size, done = 0;
    off_t at = (off_t)(block * size);
    while (done < size) {
        ssize_t got = pread(file->fd, (char *)ret_bytes + done, size - done, at + (off_t)done);
        if (got == 0)
            return fail(file, ENODATA); /* behind the end */
        if (got < 0 && errno != EINTR)
            return fail(file, errno);
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int write_blocks(void *context, uint64_t block, uint32_t block_count, const void *bytes)
{
    struct block_file *file = context;
    size_t size = (size_t)block_count * file->device.block_size, done = 0;
    off_t at = (off_t)(block * file->device.block_size);
    while (done < size) {
        ssize_t put = pwrite(file->fd, (const char *)bytes + done, size - done, at + (off_t)done);
        if (put < 0 && errno != EINTR)
            return fail(file, errno);
        done += put > 0 ? (size_t)put : 0;
    }
    return 0;
}

static int sync_file(void *context)
{
    struct block_file *file = context;
    if (!file->no_sync && fdatasync(file->fd))
        return fail(file, errno);
    return 0;
}

/* Room is reserved here, so that a full disk is met before a commit begins and not in its midst. */
static int resize_file(void *context, uint64_t block_count)
{
    struct block_file *file = context;
    struct stat now;
    off_t size = (off_t)(block_count * file->device.block_size);
    if (fstat(file->fd, &now))
        return fail(file, errno);
    if (size < now.st_size)
        return ftruncate(file->fd, size) ? fail(file, errno) : 0;
    int error = size > now.st_size ? posix_fallocate(file->fd, now.st_size, size - now.st_size) : 0;
    return error ? fail(file, error) : 0;
}

/* A file's name is durable once its folder is. */
static int sync_folder(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 || fsync(fd) ? -errno : 0;
    if (fd >= 0)
        close(fd);
    free(copy);
    return error;
}

static int open_file(struct block_file *file, const char *path, uint32_t block_size, int flags)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        int error = -errno;
        close(fd);
        return error;
    }
    *file = (struct block_file){.device = {.context = file,
                                           .block_size = block_size,
                                           .read = read_block,
                                           .write = write_blocks,
                                           .sync = sync_file,
                                           .resize = resize_file},
                                .fd = fd};
    return 0;
}

int block_file_create(struct block_file *file, const char *path, uint32_t block_size)
{
    int error = open_file(file, path, block_size, O_CREAT | O_EXCL);
    if (error)
        return error;
    error = sync_folder(path);
    if (error)
        block_file_close(file);
    return error;
}

int block_file_open(struct block_file *file, const char *path, uint32_t block_size)
{
    return open_file(file, path, block_size, 0);
}

void block_file_close(struct block_file *file)
{
    close(file->fd);
    file->fd = -1;
}
