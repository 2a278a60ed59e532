/*
 * File systems that are shared over a network: locks and renames there are not what they are on a
 * local one, so nothing that must be exact is kept on them.
 */
#ifndef CONTROL_NETWORK_FS_H
#define CONTROL_NETWORK_FS_H

#include <stdint.h>

/* The name of a network file system by statfs()'s magic number and, where that says only FUSE, by
 * its type in /proc/self/mountinfo ("fuse.sshfs"; "" when it is not known). NULL: it is local. */
const char *network_fs_name(uint64_t magic, const char *type);

/* The name of the network file system that an open file or folder is on, or NULL. */
const char *network_fs_of(int file);

#endif
