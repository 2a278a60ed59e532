#include "cli/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_SIZE = 256 << 10 };

void lines_open(struct line_reader *reader, int file, char delimiter)
{
    *reader = (struct line_reader){.file = file, .delimiter = delimiter};
}

void lines_close(struct line_reader *reader)
{
    free(reader->bytes);
    reader->bytes = NULL;
}

/* Moves what is left to the front and makes room behind it. */
static int make_room(struct line_reader *reader)
{
    size_t rest = reader->len - reader->at;
    if (reader->at)
        memmove(reader->bytes, reader->bytes + reader->at, rest);
    reader->at = 0;
    reader->len = rest;
    if (rest > LINE_LEN_MAX)
        return -EMSGSIZE;
    if (rest < reader->capacity)
        return 0;
    size_t capacity = reader->capacity ? reader->capacity * 2 : BLOCK_SIZE;
    char *bytes = realloc(reader->bytes, capacity);
    if (!bytes)
        return -ENOMEM;
    reader->bytes = bytes;
    reader->capacity = capacity;
    return 0;
}

static int read_more(struct line_reader *reader)
{
    int status = make_room(reader);
    if (status < 0)
        return status;
    ssize_t got;
    do
        got = read(reader->file, reader->bytes + reader->len, reader->capacity - reader->len);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    reader->len += (size_t)got;
    reader->is_at_end = got == 0;
    return 0;
}

/* The whole lines that are there; with `last`, also what stands behind the last delimiter. */
static int cut_lines(struct line_reader *reader, bool last, struct line *ret_lines)
{
    int count = 0;
    while (count < LINES_BATCH_MAX && reader->at < reader->len) {
        const char *start = reader->bytes + reader->at;
        size_t rest = reader->len - reader->at;
        const char *end = memchr(start + reader->searched, reader->delimiter,
                                 rest - reader->searched);
        if (!end && !last) {
            reader->searched = rest;
            break;
        }
        reader->searched = 0;
        size_t len = end ? (size_t)(end - start) : rest;
        ret_lines[count++] = (struct line){start, len};
        reader->at += len + (end ? 1 : 0);
    }
    reader->line_count += (unsigned)count;
    return count;
}

int lines_next(struct line_reader *reader, struct line ret_lines[static LINES_BATCH_MAX])
{
    for (;;) {
        int count = cut_lines(reader, reader->is_at_end, ret_lines);
        if (count > 0 || reader->is_at_end)
            return count;
        int status = read_more(reader);
        if (status < 0)
            return status;
    }
}

bool lines_on_stdin(void)
{
    struct stat status;
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}
