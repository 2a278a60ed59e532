/* The buffer that is appended to at its end and taken from at its front. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buffer.h"
#include "base/random.h"

static void bytes_come_out_in_the_order_in_which_they_went_in(void **state)
{
    struct buffer buffer = BUFFER_INIT;
    struct random random = {1};
    uint64_t added = 0, taken = 0;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[300];
        size_t count = (size_t)random_below(&random, sizeof bytes);
        for (size_t j = 0; j < count; j++)
            bytes[j] = (uint8_t)random_mix(added + j);
        assert_true(buffer_append(&buffer, bytes, count));
        added += count;
        size_t take = (size_t)random_below(&random, buffer.len + 1);
        for (size_t j = 0; j < take; j++)
            assert_int_equal((uint8_t)buffer_bytes(&buffer)[j], (uint8_t)random_mix(taken + j));
        buffer_take(&buffer, take);
        taken += take;
        assert_int_equal(buffer.len, added - taken);
    }
    buffer_release(&buffer);
}

static void a_steady_flow_does_not_grow_it(void **state)
{
    struct buffer buffer = BUFFER_INIT;
    char bytes[100] = "";
    for (int i = 0; i < 100000; i++) {
        assert_true(buffer_append(&buffer, bytes, sizeof bytes));
        if (i > 0) /* never quite empty */
            buffer_take(&buffer, sizeof bytes);
    }
    assert_true(buffer.capacity <= 512);
    buffer_release(&buffer);
}

static void reserved_room_counts_only_once_it_is_added(void **state)
{
    struct buffer buffer = BUFFER_INIT;
    char *room = buffer_reserve(&buffer, 1000);
    assert_non_null(room);
    assert_true(buffer_room(&buffer) >= 1000);
    assert_int_equal(buffer.len, 0);
    memset(room, 'x', 1000);
    buffer_added(&buffer, 10);
    assert_int_equal(buffer.len, 10);
    assert_int_equal(buffer_bytes(&buffer)[9], 'x');
    buffer_release(&buffer);
}

static void more_than_memory_can_hold_is_refused_and_nothing_is_lost(void **state)
{
    struct buffer buffer = BUFFER_INIT;
    assert_true(buffer_append_text(&buffer, "kept"));
    assert_null(buffer_reserve(&buffer, SIZE_MAX));
    assert_null(buffer_reserve(&buffer, SIZE_MAX / 4));
    assert_int_equal(buffer.len, 4);
    assert_memory_equal(buffer_bytes(&buffer), "kept", 4);
    buffer_release(&buffer);
}

static void trimming_gives_back_only_what_is_empty_and_large(void **state)
{
    struct buffer buffer = BUFFER_INIT;
    assert_non_null(buffer_reserve(&buffer, 10000));
    buffer_added(&buffer, 1);
    buffer_trim(&buffer, 100);
    assert_true(buffer.capacity >= 10000);
    buffer_take(&buffer, 1);
    buffer_trim(&buffer, 20000);
    assert_true(buffer.capacity >= 10000);
    buffer_trim(&buffer, 100);
    assert_int_equal(buffer.capacity, 0);
    buffer_release(&buffer);
}

static void text_is_printed_into_it(void **state)
{
    struct buffer buffer = BUFFER_INIT;
    char line[600];
    memset(line, 'y', sizeof line);
    line[sizeof line - 1] = 0;
    assert_true(buffer_append_text(&buffer, ""));
    assert_true(buffer_printf(&buffer, "%d-%s;", 42, "x"));
    assert_true(buffer_printf(&buffer, "%s", line));
    assert_int_equal(buffer.len, 5 + 599);
    assert_memory_equal(buffer_bytes(&buffer), "42-x;yyy", 8);
    buffer_clear(&buffer);
    assert_int_equal(buffer.len, 0);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_out_in_the_order_in_which_they_went_in),
        cmocka_unit_test(a_steady_flow_does_not_grow_it),
        cmocka_unit_test(reserved_room_counts_only_once_it_is_added),
        cmocka_unit_test(more_than_memory_can_hold_is_refused_and_nothing_is_lost),
        cmocka_unit_test(trimming_gives_back_only_what_is_empty_and_large),
        cmocka_unit_test(text_is_printed_into_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
