/*
 * Memory for large tables that are read at random: in huge pages where the system gives them, so
 * that a lookup does not also wait for an address translation, and a build does not fault in each
 * 4 KiB. Freed with free().
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stddef.h>

#define PAGES_HUGE_SIZE ((size_t)2 << 20)

/* At least size bytes, not zeroed, on a cache line or better; from 1 MiB on whole huge pages, on
 * which the system may act or not. NULL when memory is out. */
void *pages_alloc(size_t size);

#endif
