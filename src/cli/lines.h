/*
 * Keys from a file or a pipe, one a line, in batches: whatever has arrived by now, so that a slow
 * producer is answered at once and a fast one costs few calls. Lines point into the reader's memory
 * and are good until the next call. Keys may hold any byte but the one that ends a line.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum { LINES_BATCH_MAX = 4096, LINE_LEN_MAX = 64 << 20 };

struct line {
    const char *text;
    size_t len;
};

struct line_reader {
    int file;
    char delimiter;
    bool is_at_end;
    char *bytes; /* at .. len are read and not yet given */
    size_t at, len, capacity;
    size_t searched;               /* bytes behind `at` that hold no delimiter */
    unsigned long long line_count; /* given so far */
};

void lines_open(struct line_reader *reader, int file, char delimiter);
void lines_close(struct line_reader *reader);
/* 1 .. LINES_BATCH_MAX lines, 0 at the end, or a negative errno: -EMSGSIZE for a line longer than
 * LINE_LEN_MAX. */
int lines_next(struct line_reader *reader, struct line ret_lines[static LINES_BATCH_MAX]);

/* Whether something was put on standard input on purpose: a file, or a pipe. Most programs start
 * others with a pipe on which nothing comes: no line at all means that there was no list. */
bool lines_on_stdin(void);

#endif
