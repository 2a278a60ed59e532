#include "control/network_fs.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

enum { FUSE_MAGIC = 0x65735546, TYPE_SIZE = 64 };

/* Of linux/magic.h and of the file systems that are not in it. */
static const struct {
    uint64_t magic;
    const char *name;
} by_magic[] = {
    {0x6969, "NFS"},        {0x517b, "SMB"},        {0xff534d42, "CIFS"},  {0xfe534d42, "SMB"},
    {0x01021997, "9p"},     {0x5346414f, "AFS"},    {0x6b414653, "AFS"},   {0x73757245, "Coda"},
    {0x00c36400, "Ceph"},   {0x0bd00bd0, "Lustre"}, {0x7461636f, "OCFS2"}, {0x01161970, "GFS2"},
    {0x19830326, "BeeGFS"}, {0x47504653, "GPFS"},   {0xaad7aaea, "PanFS"}, {0x564c, "NCP"},
};

static const char *const fuse_kinds[] = {
    "sshfs",    "glusterfs", "ceph",      "ceph-fuse", "s3fs",  "rclone",  "gcsfuse",  "goofys",
    "davfs",    "davfs2",    "curlftpfs", "moosefs",   "mfs",   "juicefs", "blobfuse", "blobfuse2",
    "mount-s3", "smbnetfs",  "lizardfs",  "seaweedfs", "cvmfs", NULL,
};

static const char *fuse_name(const char *type)
{
    const char *kind = strchr(type, '.') ? strchr(type, '.') + 1 : type;
    for (size_t i = 0; fuse_kinds[i]; i++)
        if (strcmp(fuse_kinds[i], kind) == 0)
            return fuse_kinds[i];
    return NULL;
}

const char *network_fs_name(uint64_t magic, const char *type)
{
    for (size_t i = 0; i < sizeof by_magic / sizeof *by_magic; i++)
        if (by_magic[i].magic == magic)
            return by_magic[i].name;
    return magic == FUSE_MAGIC ? fuse_name(type) : NULL;
}

/* A line is "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw". */
static bool read_type(const char *line, unsigned major_wanted, unsigned minor_wanted,
                      char ret_type[static TYPE_SIZE])
{
    unsigned major_found, minor_found;
    const char *end = strstr(line, " - ");
    return end && sscanf(line, "%*u %*u %u:%u", &major_found, &minor_found) == 2 &&
           major_found == major_wanted && minor_found == minor_wanted &&
           sscanf(end, " - %63s", ret_type) == 1;
}

static void find_type(dev_t device, char ret_type[static TYPE_SIZE])
{
    char line[4096];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    ret_type[0] = 0;
    while (mounts && fgets(line, sizeof line, mounts))
        if (read_type(line, major(device), minor(device), ret_type))
            break;
    if (mounts)
        fclose(mounts);
}

const char *network_fs_of(int file)
{
    char type[TYPE_SIZE];
    struct statfs fs;
    struct stat status;
    if (fstatfs(file, &fs) < 0 || fstat(file, &status) < 0)
        return NULL;
    find_type(status.st_dev, type);
    return network_fs_name((uint32_t)fs.f_type, type);
}
