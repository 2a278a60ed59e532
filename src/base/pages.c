#include "base/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64 };

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

void *pages_alloc(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    if (size < PAGES_HUGE_SIZE / 2)
        return aligned_alloc(LINE, round_up(size ? size : 1, LINE));
    size = round_up(size, PAGES_HUGE_SIZE);
    void *block = aligned_alloc(PAGES_HUGE_SIZE, size);
#ifdef MADV_HUGEPAGE
    if (block)
        (void)madvise(block, size, MADV_HUGEPAGE); /* only advice: a refusal costs speed alone */
#endif
    return block;
}
