/* covers: move/answer, move/refusal */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/answer.h"
#include "move/refusal.h"

#define START(text) answer_start(text, sizeof(text) - 1)

static void test_a_reply_is_read_value_by_value(void **state)
{
    (void)state;
    struct answer answer = START("*4\r\n$2\r\na\0\r\n:-7\r\n$2\r\n12\r\n*2\r\n*0\r\n+OK\r\n");
    size_t count;
    int64_t number;
    struct slice text, raw;
    assert_true(answer_array(&answer, &count));
    assert_int_equal(count, 4);
    assert_true(answer_text(&answer, &text));
    assert_memory_equal(text.ptr, "a\0", 2);
    assert_true(answer_integer(&answer, &number));
    assert_int_equal(number, -7);
    assert_true(answer_integer(&answer, &number));
    assert_int_equal(number, 12);
    assert_true(answer_raw(&answer, &raw));
    assert_int_equal(raw.len, strlen("*2\r\n*0\r\n+OK\r\n"));
    assert_ptr_equal(answer.at, answer.end);
    assert_false(answer_skip(&answer));
}

static void test_what_was_not_expected_is_refused(void **state)
{
    (void)state;
    struct answer number = START(":1\r\n"), array = START("*1\r\n"), null = START("$-1\r\n");
    struct answer nulls = null, cut = START("$5\r\nab");
    struct slice text;
    size_t count;
    int64_t value;
    bool is_null;
    assert_false(answer_text(&number, &text));
    assert_false(answer_integer(&array, &value));
    assert_false(answer_text(&null, &text));
    assert_true(answer_integer_or_null(&nulls, &value, &is_null));
    assert_true(is_null);
    assert_false(answer_array(&cut, &count));
    assert_false(answer_text(&cut, &text));
    struct answer none = START("*-1\r\n");
    assert_true(answer_array(&none, &count));
    assert_int_equal(count, 0);
}

static void test_a_value_is_found_by_its_name(void **state)
{
    (void)state;
    struct answer answer = START("*6\r\n$4\r\nname\r\n*1\r\n$4\r\nlast\r\n$4\r\nlast\r\n:3\r\n"
                                 "$3\r\nodd\r\n$-1\r\n");
    struct answer value;
    int64_t number;
    assert_true(answer_find(&answer, "last", &value));
    assert_true(answer_integer(&value, &number));
    assert_int_equal(number, 3);
    assert_false(answer_find(&answer, "missing", &value));
    assert_true(answer_find(&answer, "odd", &value));
}

static void test_an_error_says_whether_a_person_is_needed(void **state)
{
    (void)state;
    static const struct {
        const char *error;
        enum job_result result;
        const char *says;
    } cases[] = {
        {"OOM command not allowed when used memory > 'maxmemory'.", JOB_REFUSED, "raise it"},
        {"READONLY You can't write against a read only replica.", JOB_REFUSED, "primary"},
        {"NOPERM this user has no permissions", JOB_REFUSED, "ACL"},
        {"LOADING Redis is loading the dataset in memory", JOB_FAILED, "LOADING"},
        {"ERR something else", JOB_FAILED, "something else"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char problem[MOVE_PROBLEM_SIZE];
        assert_int_equal(refusal_read("cache-3", slice_of(cases[i].error), problem),
                         cases[i].result);
        assert_non_null(strstr(problem, "cache-3"));
        assert_non_null(strstr(problem, cases[i].says));
    }
}

static void test_only_the_line_of_an_error_is_its_text(void **state)
{
    (void)state;
    struct slice error;
    assert_true(answer_is_error("-ERR no such key\r\n", 18, &error));
    assert_int_equal(error.len, 15);
    assert_true(answer_error_is(error, "ERR"));
    assert_true(answer_error_is(error, "ERR no such key"));
    assert_false(answer_error_is(error, "ER"));
    assert_false(answer_is_error("+OK\r\n", 5, &error));
}

static void test_keys_are_shown_without_their_odd_bytes(void **state)
{
    (void)state;
    char text[12];
    assert_string_equal(refusal_printable((struct slice){"a\0b\xff", 4}, text, sizeof text),
                        "a?b?");
    assert_string_equal(refusal_printable(slice_of("a-rather-long-key"), text, sizeof text),
                        "a-rather...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reply_is_read_value_by_value),
        cmocka_unit_test(test_what_was_not_expected_is_refused),
        cmocka_unit_test(test_a_value_is_found_by_its_name),
        cmocka_unit_test(test_an_error_says_whether_a_person_is_needed),
        cmocka_unit_test(test_only_the_line_of_an_error_is_its_text),
        cmocka_unit_test(test_keys_are_shown_without_their_odd_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
