/*
 * A configuration file into memory, bounded, with a sentence for each way in which that can fail.
 */
#include "control/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(struct problems *problems, const char *message)
{
    problems_add(problems, 0, 0, "%s", message);
    return -EINVAL;
}

/* Not a file that ends: a folder, a socket, /dev/zero. Pipes are fine (`-c <(make-config)`). */
static int check_kind(int file, struct problems *problems)
{
    struct stat status;
    if (fstat(file, &status) < 0)
        return fail(problems, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(problems, "is a folder; name a file in it");
    if (!S_ISREG(status.st_mode) && !S_ISFIFO(status.st_mode))
        return fail(problems, "is neither a file nor a pipe");
    if (status.st_size > CONFIG_FILE_LEN_MAX)
        return fail(problems, "is larger than 16mb; is this the configuration?");
    return 0;
}

/* Reads to the end or to one byte more than is allowed. */
static int read_all(int file, char *text, size_t *ret_len, struct problems *problems)
{
    size_t len = 0;
    while (len <= CONFIG_FILE_LEN_MAX) {
        ssize_t got = read(file, text + len, CONFIG_FILE_LEN_MAX + 1 - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(problems, strerror(errno));
        if (got == 0)
            break;
        len += (size_t)got;
    }
    if (len > CONFIG_FILE_LEN_MAX)
        return fail(problems, "is larger than 16mb; is this the configuration?");
    *ret_len = len;
    return 0;
}

int config_read(const char *path, struct problems *problems, struct config **ret_config)
{
    size_t len = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return fail(problems, errno == ENOENT ? "no such file" : strerror(errno));
    char *text = NULL;
    int status = check_kind(file, problems);
    if (status == 0 && !(text = malloc(CONFIG_FILE_LEN_MAX + 1)))
        status = fail(problems, "out of memory");
    if (status == 0)
        status = read_all(file, text, &len, problems);
    close(file);
    if (status == 0)
        status = config_parse(text, len, problems, ret_config);
    free(text);
    return status;
}
