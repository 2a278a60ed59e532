/*
 * What is wrong with a text, for the person who wrote it: a bounded list of sentences with their
 * places, kept in the order of the file.
 */
#ifndef CONTROL_PROBLEMS_H
#define CONTROL_PROBLEMS_H

#include <stddef.h>

#include "base/buffer.h"

enum { PROBLEM_COUNT_MAX = 20, PROBLEM_MESSAGE_SIZE = 600 };

struct problem {
    unsigned line, column; /* from 1; 0: of the whole file, or of the command line */
    char message[PROBLEM_MESSAGE_SIZE];
};

struct problems {
    size_t count; /* of those kept in items */
    size_t left_out;
    struct problem items[PROBLEM_COUNT_MAX];
};

void problems_init(struct problems *problems);
/* Adds one, in its place by line and column; the last ones are left out (and counted) when there
 * is no more room. */
void problems_add(struct problems *problems, unsigned line, unsigned column, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* One line each: "file:line:column: message". */
void problems_print(const struct problems *problems, const char *file, struct buffer *out);

#endif
