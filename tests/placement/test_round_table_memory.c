/*
 * The round table when memory runs out at any allocation: CW_ENOMEM, nothing changed, nothing
 * leaked. This program brings its own allocators, as test_out_of_memory.c does.
 */
#include "placement/block_memory.h"
#include "placement/fleet.h"
#include "placement/memory.h"

enum { KEYS = 150 };

static long allocations_left; /* before one fails; below 0: none does */

static bool fails_now(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *memory_alloc(size_t count, size_t size)
{
    return fails_now() ? NULL : calloc(count ? count : 1, size);
}

void *memory_alloc_lines(size_t count, size_t size)
{
    return fails_now() ? NULL : aligned_alloc(64, count * size);
}

void *memory_resize(void *block, size_t size)
{
    return fails_now() ? NULL : realloc(block, size);
}

/* A call that fails for want of memory is made again at once, and happens then. */
#define try_twice(call)                                                                            \
    do {                                                                                           \
        int status = (call);                                                                       \
        if (status == CW_ENOMEM) {                                                                 \
            failures++;                                                                            \
            status = (call);                                                                       \
        }                                                                                          \
        check(status == CW_OK, "%s: %d", #call, status);                                           \
    } while (0)

/* One table's life with one allocation that fails; returns whether it came to that. */
static long live(long failing)
{
    const struct cw_round_table_options options = {
        .key_size = 8, .value_size = 8, .base = 2, .stash_every = 2};
    struct block_memory *memory = block_memory_create(128, 400, false);
    struct cw_round_table *table = NULL;
    struct cw_error error;
    long failures = 0;
    allocations_left = failing;
    try_twice(cw_round_table_create(&memory->device, &options, &table, &error));
    for (uint64_t key = 0; key < KEYS; key++) {
        try_twice(cw_round_table_insert(table, &key, &key));
        if (key % 4 == 3)
            try_twice(cw_round_table_grow(table));
    }
    for (int i = 0; i < 5; i++)
        try_twice(cw_round_table_shrink(table));
    cw_round_table_close(&table);
    try_twice(cw_round_table_open(&memory->device, &table, &error));
    for (uint64_t key = 0; key < KEYS; key += 2)
        try_twice(cw_round_table_delete(table, &key));
    allocations_left = -1;
    assert_int_equal(cw_round_table_check(table), CW_OK);
    for (uint64_t key = 0; key < KEYS; key++)
        assert_int_equal(cw_round_table_find(table, &key, NULL), key % 2 ? CW_OK : CW_ENOT_FOUND);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
    return failures;
}

static void each_allocation_may_fail_once(void **state)
{
    long failing = 0;
    while (live(failing))
        failing++;
    check(failing > 15, "only %ld allocations", failing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
