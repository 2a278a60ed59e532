/* Patterns: a table whose answers were had from a Redis 7.0.15 (test_glob_uv asks it anew).
 */
#include "store/dir_rig.h"
#include "store/glob.h"
#include "store/glob_table.h"

static void patterns_match_as_in_redis(void **state)
{
    for (size_t i = 0; i < sizeof glob_table / sizeof glob_table[0]; i++)
        if (glob_match(text_slice(glob_table[i].pattern), text_slice(glob_table[i].text)) !=
            glob_table[i].fits)
            fail_msg("'%s' on '%s' should %s", glob_table[i].pattern, glob_table[i].text,
                     glob_table[i].fits ? "fit" : "not fit");
}

static void bytes_in_a_range_are_signed(void **state)
{
    assert_true(glob_match(text_slice("[\xf0-\x10]"), text_slice("\xff")));
    assert_false(glob_match(text_slice("[\x10-\x7f]"), text_slice("\xff")));
}

static void a_nul_is_a_byte_like_any_other(void **state)
{
    assert_true(glob_match((struct slice){"a\0?", 3}, (struct slice){"a\0b", 3}));
    assert_false(glob_match((struct slice){"a", 1}, (struct slice){"a\0b", 3}));
}

/* With a retry of every star this would take 2^20 times as long. */
static void many_stars_do_not_take_for_ever(void **state)
{
    char pattern[2 * 500 + 2], text[20000];
    for (size_t i = 0; i < 500; i++)
        memcpy(pattern + 2 * i, "a*", 2);
    pattern[1000] = 'b';
    memset(text, 'a', sizeof text);
    assert_false(glob_match((struct slice){pattern, 1001}, (struct slice){text, sizeof text}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_as_in_redis),
        cmocka_unit_test(bytes_in_a_range_are_signed),
        cmocka_unit_test(a_nul_is_a_byte_like_any_other),
        cmocka_unit_test(many_stars_do_not_take_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
