/* covers: move/key_list, move/transition_names, move/mover */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/key_list.h"
#include "move/map_store.h"

static void test_keys_come_back_as_they_went_in(void **state)
{
    (void)state;
    struct key_list list = KEY_LIST_INIT;
    assert_int_equal(key_list_count(&list), 0);
    assert_true(key_list_add(&list, (struct slice){"a\0b", 3}));
    assert_true(key_list_add(&list, (struct slice){"", 0}));
    assert_true(key_list_add(&list, (struct slice){"last", 4}));
    assert_int_equal(key_list_count(&list), 3);
    assert_memory_equal(key_list_at(&list, 0).ptr, "a\0b", 3);
    assert_int_equal(key_list_at(&list, 1).len, 0);
    assert_int_equal(key_list_at(&list, 2).len, 4);
    assert_memory_equal(key_list_at(&list, 2).ptr, "last", 4);
    key_list_clear(&list);
    assert_int_equal(key_list_count(&list), 0);
    assert_true(key_list_add(&list, (struct slice){"x", 1}));
    assert_memory_equal(key_list_at(&list, 0).ptr, "x", 1);
    key_list_release(&list);
}

static void test_a_sample_is_even(void **state)
{
    (void)state;
    struct key_sample sample = {0};
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 100000; i++)
        key_sample_offer(&sample, (struct slice){(const char *)&i, sizeof i});
    size_t count = key_list_count(&sample.keys);
    assert_in_range(count, KEY_SAMPLE_MAX / 2, KEY_SAMPLE_MAX);
    for (size_t i = 0; i < count; i++) {
        uint32_t number;
        memcpy(&number, key_list_at(&sample.keys, i).ptr, sizeof number);
        assert_int_equal(number % sample.stride, 0);
        sum += number;
    }
    assert_in_range(sum / count, 48000, 52000);
    key_sample_clear(&sample);
    key_sample_offer(&sample, (struct slice){"x", 1});
    assert_int_equal(key_list_count(&sample.keys), 1);
    key_sample_release(&sample);
}

static void test_names_go_both_ways(void **state)
{
    (void)state;
    for (int i = 0; i < TRANSITION_STATE_COUNT; i++)
        assert_int_equal(transition_state_find(transition_state_name(i)), i);
    assert_int_equal(transition_state_find("moving"), -1);
    for (int i = TRANSITION_CHANGE; i <= TRANSITION_DEAD; i++)
        assert_int_equal(transition_kind_find(transition_kind_name(i)), i);
    assert_int_equal(transition_kind_find(""), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_come_back_as_they_went_in),
        cmocka_unit_test(test_a_sample_is_even),
        cmocka_unit_test(test_names_go_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
