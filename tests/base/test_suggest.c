#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/suggest.h"

static const char *const names[] = {"id", "address", "weight", "zone", "timeout", "nodes"};

static const char *nearest(const char *word)
{
    return suggest_nearest(word, names, sizeof names / sizeof *names);
}

static void swapped_dropped_added_and_changed_letters_are_one_step(void **state)
{
    assert_int_equal(suggest_distance("wieght", "weight", 5), 1);
    assert_int_equal(suggest_distance("wight", "weight", 5), 1);
    assert_int_equal(suggest_distance("weightt", "weight", 5), 1);
    assert_int_equal(suggest_distance("wexght", "weight", 5), 1);
}

static void distance_is_symmetric_and_zero_only_for_equals(void **state)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            unsigned there = suggest_distance(names[i], names[j], 100);
            assert_int_equal(there, suggest_distance(names[j], names[i], 100));
            assert_int_equal(there == 0, i == j);
        }
}

static void distance_beyond_the_bound_is_bound_plus_one(void **state)
{
    assert_int_equal(suggest_distance("abcdef", "uvwxyz", 2), 3);
    assert_int_equal(suggest_distance("", "abc", 9), 3);
    char text[200];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_int_equal(suggest_distance(text, text, 4), 5);
}

static void a_slip_of_the_pen_suggests_the_right_name(void **state)
{
    assert_string_equal(nearest("wieght"), "weight");
    assert_string_equal(nearest("adress"), "address");
    assert_string_equal(nearest("Timeout"), "timeout");
    assert_string_equal(nearest("node"), "nodes");
}

static void nonsense_suggests_nothing(void **state)
{
    assert_null(nearest("qqqqqq"));
    assert_null(nearest(""));
    assert_null(nearest("x"));
    assert_null(suggest_nearest("weight", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swapped_dropped_added_and_changed_letters_are_one_step),
        cmocka_unit_test(distance_is_symmetric_and_zero_only_for_equals),
        cmocka_unit_test(distance_beyond_the_bound_is_bound_plus_one),
        cmocka_unit_test(a_slip_of_the_pen_suggests_the_right_name),
        cmocka_unit_test(nonsense_suggests_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
