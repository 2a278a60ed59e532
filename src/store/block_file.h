/*
 * A file as the device of a round table (clockwise/round_table.h): blocks in one file that no other
 * process may open at the same time. What the device failed on is in last_errno.
 *
 * With `no_sync` the system brings the blocks to the disk when it likes: the table then survives
 * the end of the process, however sudden, but not that of the machine.
 */
#ifndef STORE_BLOCK_FILE_H
#define STORE_BLOCK_FILE_H

#include <clockwise/round_table.h>

#include <stdbool.h>

struct block_file {
    struct cw_block_device device; /* its context is this struct, which must stay where it is */
    int fd;
    int last_errno;
    bool no_sync;
};

/* Makes a file that is not there yet, or opens one that is: 0 or a negative errno; -EWOULDBLOCK
 * when somebody has it open. The caller closes it, behind the table. */
int block_file_create(struct block_file *file, const char *path, uint32_t block_size);
int block_file_open(struct block_file *file, const char *path, uint32_t block_size);
void block_file_close(struct block_file *file);

#endif
