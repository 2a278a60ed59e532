#include "placement/memory.h"

#include "base/pages.h"

#include <stdlib.h>

void *memory_alloc(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

void *memory_alloc_lines(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return pages_alloc(bytes);
}

void *memory_resize(void *block, size_t size)
{
    return realloc(block, size);
}
