/* covers: big_keys */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "router/big_keys.h"

static struct slice text(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void a_list_has_its_keys_and_no_others(void **state)
{
    char b[] = "b";
    const struct slice keys[] = {text("long key"), {b, 1}, {"", 0}, {"a\0b", 3}};
    struct big_keys *list;
    assert_int_equal(big_keys_create(NULL, keys, 4, &list), 0);
    b[0] = 'x'; /* it has copies */
    assert_int_equal(big_keys_count(list), 4);
    assert_true(big_keys_has(list, text("b")));
    assert_true(big_keys_has(list, text("")));
    assert_true(big_keys_has(list, (struct slice){"a\0b", 3}));
    assert_false(big_keys_has(list, (struct slice){"a\0c", 3}));
    assert_false(big_keys_has(list, text("a")));
    assert_false(big_keys_has(list, text("x")));
    big_keys_unref(&list);
    assert_null(list);
    big_keys_unref(&list);
}

static void a_longer_list_has_the_old_keys_too_each_once(void **state)
{
    const struct slice few[] = {text("a"), text("b")}, more[] = {text("c"), text("a"), text("c")};
    struct big_keys *old, *list;
    assert_int_equal(big_keys_create(NULL, few, 2, &old), 0);
    assert_int_equal(big_keys_create(old, more, 3, &list), 0);
    big_keys_unref(&old);
    assert_int_equal(big_keys_count(list), 3);
    assert_true(big_keys_has(list, text("a")) && big_keys_has(list, text("b")) &&
                big_keys_has(list, text("c")));
    struct big_keys *again = big_keys_ref(list);
    big_keys_unref(&list);
    assert_true(big_keys_has(again, text("c")));
    big_keys_unref(&again);
}

static void no_list_has_no_keys(void **state)
{
    struct big_keys *list;
    assert_false(big_keys_has(NULL, text("a")));
    assert_int_equal(big_keys_count(NULL), 0);
    assert_int_equal(big_keys_create(NULL, NULL, 0, &list), 0);
    assert_false(big_keys_has(list, text("")));
    big_keys_unref(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_its_keys_and_no_others),
        cmocka_unit_test(a_longer_list_has_the_old_keys_too_each_once),
        cmocka_unit_test(no_list_has_no_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
