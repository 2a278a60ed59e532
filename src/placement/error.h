/*
 * Filling a struct cw_error that may be NULL.
 */
#ifndef PLACEMENT_ERROR_H
#define PLACEMENT_ERROR_H

#include <clockwise/clockwise.h>

/* Writes status and sentence, line and column 0, and returns the status. */
int error_set(struct cw_error *error, enum cw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "out of memory", the same everywhere. */
int error_no_memory(struct cw_error *error);

#endif
