#include "base/pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_block(size_t size, size_t alignment)
{
    char *block = pages_alloc(size);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % alignment, 0);
    memset(block, 1, size);
    free(block);
}

static void small_blocks_are_on_a_cache_line(void **state)
{
    check_block(0, 64);
    check_block(1, 64);
    check_block(100, 64);
    check_block((1 << 20) - 1, 64);
}

static void large_blocks_are_on_a_huge_page(void **state)
{
    check_block(1 << 20, PAGES_HUGE_SIZE);
    check_block((5 << 20) + 1, PAGES_HUGE_SIZE);
}

static void a_size_beyond_all_memory_is_refused(void **state)
{
    assert_null(pages_alloc(SIZE_MAX));
    assert_null(pages_alloc(SIZE_MAX - 63));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_blocks_are_on_a_cache_line),
        cmocka_unit_test(large_blocks_are_on_a_huge_page),
        cmocka_unit_test(a_size_beyond_all_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
