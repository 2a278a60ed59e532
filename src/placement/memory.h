/*
 * Where the library gets memory: everything it allocates comes from these, so that a test can
 * link its own pair and let each allocation fail in turn. Freed with free().
 */
#ifndef PLACEMENT_MEMORY_H
#define PLACEMENT_MEMORY_H

#include <stddef.h>

/* Zeroed memory for count things of that size; NULL when there is none, also on overflow. Never
 * NULL for a count of 0. */
void *memory_alloc(size_t count, size_t size);
/* The same in whole cache lines, not zeroed, for tables that are read at random: see base/pages.h.
 */
void *memory_alloc_lines(size_t count, size_t size);
/* realloc(); NULL leaves the old block as it was. */
void *memory_resize(void *block, size_t size);

#endif
