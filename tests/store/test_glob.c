/* Patterns: a table whose answers were had from a Redis 7.0.15 (test_differential_uv asks it anew).
 */
#include "store/dir_rig.h"
#include "store/glob.h"

static const struct {
    const char *pattern, *text;
    bool fits;
} table[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", false}, /* KEYS and SCAN know "*" as "all" */
    {"*", "a", true},
    {"**", "a", true},
    {"a", "a", true},
    {"a", "A", false},
    {"?", "a", true},
    {"?", "", false},
    {"??", "a", false},
    {"a*", "a", true},
    {"a*", "ab", true},
    {"a***", "a", true},
    {"*a", "ba", true},
    {"*a", "ab", false},
    {"a*b*c", "axbyc", true},
    {"a*b*c", "acb", false},
    {"*ab*", "xxaby", true},
    {"*?", "a", true},
    {"?*?", "a", false},
    {"h[ae]llo", "hello", true},
    {"h[ae]llo", "hillo", false},
    {"h[^e]llo", "hallo", true},
    {"h[^e]llo", "hello", false},
    {"h[a-c]llo", "hbllo", true},
    {"h[c-a]llo", "hbllo", true}, /* backwards */
    {"h[a-c]llo", "hdllo", false},
    {"[a-]", "-", false}, /* from 'a' to ']', and not closed */
    {"[a-]", "a", true},
    {"[a-]", "_", true},
    {"[\\]]", "]", true},
    {"[\\a-c]", "a", true},
    {"[\\a-c]", "b", false}, /* an escaped byte begins no range */
    {"[]", "a", false},
    {"[^]", "a", true},
    {"[", "[", false},
    {"[^", "a", true},
    {"[abc", "b", true}, /* a set that is not closed ends with the pattern */
    {"[abc", "d", false},
    {"a\\*", "a*", true},
    {"a\\*", "ab", false},
    {"\\", "\\", true},
    {"a\\", "a\\", true},
    {"\\a", "a", true},
    {"[\\", "\\", true},
    {"a[*]", "a*", true},
    {"*[0-9]", "key7", true},
    {"*[0-9]", "key", false},
};

static void patterns_match_as_in_redis(void **state)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (glob_match(text_slice(table[i].pattern), text_slice(table[i].text)) != table[i].fits)
            fail_msg("'%s' on '%s' should %s", table[i].pattern, table[i].text,
                     table[i].fits ? "fit" : "not fit");
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
