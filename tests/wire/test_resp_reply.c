/* Replies: where they end, and what one value is. */
#include "wire/describe.h"

enum { LEN_MAX = 1 << 20 };

static const struct sample {
    const char *bytes;
    size_t len;
} samples[] = {
#define SAMPLE(bytes)                                                                              \
    {                                                                                              \
        bytes, sizeof(bytes) - 1                                                                   \
    }
    SAMPLE("+OK\r\n"),
    SAMPLE("-ERR no\r\n"),
    SAMPLE("-\r\n"),
    SAMPLE(":0\r\n"),
    SAMPLE(":-9223372036854775808\r\n"),
    SAMPLE("$-1\r\n"),
    SAMPLE("$0\r\n\r\n"),
    SAMPLE("$5\r\nhello\r\n"),
    SAMPLE("$12\r\n\r\n$1\r\n*\0\xff\r\n\r\n"),
    SAMPLE("*-1\r\n"),
    SAMPLE("*0\r\n"),
    SAMPLE("*3\r\n$1\r\na\r\n$-1\r\n:7\r\n"),
    SAMPLE("*2\r\n*2\r\n+a\r\n*0\r\n*1\r\n*1\r\n-e\r\n"),
    SAMPLE("_\r\n"),
    SAMPLE("#t\r\n"),
    SAMPLE("#f\r\n"),
    SAMPLE(",3.14\r\n"),
    SAMPLE(",inf\r\n"),
    SAMPLE("(3492890328409238509324850943850943825024385\r\n"),
    SAMPLE("!21\r\nSYNTAX invalid syntax\r\n"),
    SAMPLE("=15\r\ntxt:Some string\r\n"),
    SAMPLE("%2\r\n+first\r\n:1\r\n+second\r\n*2\r\n:2\r\n_\r\n"),
    SAMPLE("%0\r\n"),
    SAMPLE("~3\r\n+a\r\n#t\r\n:1\r\n"),
    SAMPLE(">3\r\n+invalidate\r\n*1\r\n$1\r\na\r\n:1\r\n"),
    SAMPLE("|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n:2\r\n"),
    SAMPLE("*2\r\n:1\r\n|1\r\n+ttl\r\n%1\r\n+a\r\n|0\r\n:2\r\n:3\r\n"),
    SAMPLE("|1\r\n+a\r\n+b\r\n|1\r\n+c\r\n+d\r\n$1\r\nx\r\n"),
    SAMPLE("+a\rb\nc\n\r\r\n"),
    /* more than one: only the first is scanned */
    SAMPLE("+OK\r\n+OK\r\n"),
    SAMPLE("$1\r\na\r\n$1\r\nb\r\n"),
    /* incomplete */
    SAMPLE("+"),
    SAMPLE("+OK\r"),
    SAMPLE("$5\r\nhello"),
    SAMPLE("*2\r\n:1\r\n"),
    SAMPLE("|1\r\n+a\r\n+b\r\n"),
    /* wrong */
    SAMPLE("OK\r\n"),
    SAMPLE("\r\n"),
    SAMPLE("*1\r\nx\r\n"),
    SAMPLE("$x\r\n"),
    SAMPLE("$-2\r\n"),
    SAMPLE("%-1\r\n"),
    SAMPLE("!-1\r\n"),
    SAMPLE("$?\r\n"),
    SAMPLE("*?\r\n"),
    SAMPLE("$05\r\nhello\r\n"),
    SAMPLE("$5\r\nhelloxx"),
    SAMPLE("*1\r\n$2\r\nab\r\r"),
    SAMPLE("*9223372036854775807\r\n"),
    SAMPLE("%9223372036854775807\r\n"),
    SAMPLE("$9223372036854775807\r\n"),
    SAMPLE("$9223372036854775808\r\n"),
    SAMPLE("*1048576\r\n"),
#undef SAMPLE
};
enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

static void expect(const char *bytes, const char *wanted)
{
    struct cuts cuts = cut_nowhere(strlen(bytes));
    char *got = describe_reply(bytes, &cuts, LEN_MAX);
    assert_string_equal(got, wanted);
    free(got);
}

static void a_reply_is_scanned_the_same_wherever_it_is_cut(void **state)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        const struct sample *sample = &samples[i];
        struct cuts whole = cut_nowhere(sample->len), every = cut_at_every_byte(sample->len);
        char *wanted = describe_reply(sample->bytes, &whole, LEN_MAX);
        char *got = describe_reply(sample->bytes, &every, LEN_MAX);
        assert_string_equal(got, wanted);
        free(got);
        for (size_t at = 1; at < sample->len; at++) {
            struct cuts once = cut_once(at, sample->len);
            got = describe_reply(sample->bytes, &once, LEN_MAX);
            assert_string_equal(got, wanted);
            free(got);
        }
        free(wanted);
    }
}

static void the_end_of_a_reply_is_found(void **state)
{
    expect("+OK\r\n+OK\r\n", "done 5 ");
    expect("$5\r\nhello\r\n:1\r\n", "done 11 ");
    expect("$-1\r\n", "done 5 ");
    expect("*-1\r\n*1\r\n", "done 5 ");
    expect("*0\r\n:1\r\n", "done 4 ");
    expect("*2\r\n*1\r\n:1\r\n%1\r\n:1\r\n~0\r\n:1\r\n", "done 24 ");
    expect(">1\r\n+x\r\n:1\r\n", "done 8 ");
    expect("+a\rb\nc\r\n", "done 8 ");
}

static void an_attribute_belongs_to_the_value_after_it(void **state)
{
    expect("|1\r\n+k\r\n+v\r\n", "more");
    expect("|1\r\n+k\r\n+v\r\n:1\r\n:2\r\n", "done 16 ");
    expect("*1\r\n|0\r\n:1\r\n:2\r\n", "done 12 ");
}

static void what_is_no_reply_is_refused(void **state)
{
    const char *type = "the reply has an unknown type byte";
    const char *length = "the reply has an invalid length";
    expect("OK\r\n", type);
    expect("*1\r\n\r\n", type);
    expect("$-2\r\n", length);
    expect("%-1\r\n", length);
    expect("$1x\r\n", length);
    expect("$?\r\n", length);
    expect("$99999999999999999999999", length);
    expect("$2\r\nabc\r\n", "the reply has a string that does not end in CR LF");
}

static void a_reply_that_announces_too_much_is_refused_at_once(void **state)
{
    const char *wanted = "the reply is too long";
    expect("$1048576\r\n", wanted);
    expect("*400000\r\n", wanted);
    expect("%200000\r\n", wanted);
    expect("*2\r\n*200000\r\n*200000\r\n", wanted);
    expect("*4611686018427387903\r\n", wanted);
    expect("%4611686018427387903\r\n", wanted);
    expect("|4611686018427387903\r\n", wanted);
}

static void the_limit_of_a_reply_is_exact(void **state)
{
    static const char *const replies[] = {"+0123456\r\n", "$4\r\nabcd\r\n", "*2\r\n_\r\n_\r\n",
                                          "%1\r\n_\r\n_\r\n"};
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        size_t len = strlen(replies[i]);
        struct cuts whole = cut_nowhere(len), every = cut_at_every_byte(len);
        char *fits = describe_reply(replies[i], &whole, len);
        char *over = describe_reply(replies[i], &whole, len - 1);
        char *over_cut = describe_reply(replies[i], &every, len - 1);
        assert_memory_equal(fits, "done", 4);
        assert_string_equal(over, "the reply is too long");
        assert_string_equal(over_cut, "the reply is too long");
        free(fits);
        free(over);
        free(over_cut);
    }
}

/* A fuzzer's find: after a string that leaves no room for the rest, the reason depended on the cut.
 */
static void the_reason_does_not_depend_on_the_cut(void **state)
{
    static const char bytes[] = "*9\r\n$1\r\na\r\n$9\r\n123456789\r\n$0]";
    struct cuts whole = cut_nowhere(sizeof bytes - 1), every = cut_at_every_byte(sizeof bytes - 1);
    char *got = describe_reply(bytes, &whole, 40), *got_cut = describe_reply(bytes, &every, 40);
    assert_string_equal(got, "the reply has an invalid length");
    assert_string_equal(got_cut, got);
    free(got);
    free(got_cut);
}

static void depth_costs_nothing(void **state)
{
    struct buffer bytes = BUFFER_INIT;
    struct resp_scanner scanner;
    for (int i = 0; i < 100000; i++)
        assert_true(resp_write_array(&bytes, 1));
    assert_true(resp_write_integer(&bytes, 1));
    resp_scanner_init(&scanner);
    assert_int_equal(resp_scan(&scanner, buffer_bytes(&bytes), bytes.len, LEN_MAX), RESP_DONE);
    assert_int_equal(scanner.position, bytes.len);
    buffer_release(&bytes);
}

static void a_payload_is_never_read(void **state)
{
    struct resp_scanner scanner;
    static const char bytes[] = "$1000000\r\n";
    resp_scanner_init(&scanner);
    /* The buffer ends long before the last `len`: to look would be to read outside. */
    assert_int_equal(resp_scan(&scanner, bytes, sizeof bytes - 1, LEN_MAX), RESP_MORE);
    assert_int_equal(scanner.position, sizeof bytes - 1 + 1000002);
    assert_int_equal(resp_scan(&scanner, bytes, scanner.position - 1, LEN_MAX), RESP_MORE);
}

/* Seen by changing what was searched already, which a caller must not do. The last byte stays: a CR
 * there would belong to the LF that may follow. */
static void a_cut_line_is_not_searched_again(void **state)
{
    struct resp_scanner scanner;
    char line[4096];
    memset(line, 'e', sizeof line);
    line[0] = '-';
    resp_scanner_init(&scanner);
    for (size_t len = 1; len <= sizeof line; len++) {
        assert_int_equal(resp_scan(&scanner, line, len, LEN_MAX), RESP_MORE);
        assert_int_equal(scanner.position, len);
        if (len > 3)
            memcpy(line + len - 3, "\r\n", 2);
    }
}

static void a_cut_array_is_not_scanned_again(void **state)
{
    struct buffer bytes = BUFFER_INIT;
    struct resp_scanner scanner;
    assert_true(resp_write_array(&bytes, 1000));
    for (int i = 0; i < 1000; i++)
        assert_true(resp_write_bulk(&bytes, "0123456789", 10));
    resp_scanner_init(&scanner);
    size_t position = 0;
    for (size_t len = 1; len < bytes.len; len++) {
        assert_int_equal(resp_scan(&scanner, buffer_bytes(&bytes), len, LEN_MAX), RESP_MORE);
        assert_true(scanner.position >= position && scanner.position + sizeof "*1000\r" >= len);
        position = scanner.position;
    }
    buffer_release(&bytes);
}

/* ---- one value ------------------------------------------------------------------------------- */

static struct resp_value read_whole(const char *bytes, size_t len)
{
    struct resp_value value = {.type = 0};
    char *copy = copy_of(bytes, len);
    for (size_t short_len = 0; short_len < len; short_len++) {
        char *short_copy = copy_of(bytes, short_len);
        assert_int_equal(resp_read_value(short_copy, short_len, &value), RESP_MORE);
        free(short_copy);
    }
    assert_int_equal(resp_read_value(copy, len, &value), RESP_DONE);
    if (value.text.ptr)
        value.text.ptr = bytes + (value.text.ptr - copy);
    free(copy);
    assert_int_equal(value.type, bytes[0]);
    assert_int_equal(value.head_len, len);
    return value;
}

static void expect_text(const char *bytes, const char *wanted)
{
    struct resp_value value = read_whole(bytes, strlen(bytes));
    assert_int_equal(value.text.len, strlen(wanted));
    assert_memory_equal(value.text.ptr, wanted, value.text.len);
    assert_false(value.is_null);
}

static void texts_are_read(void **state)
{
    expect_text("+OK\r\n", "OK");
    expect_text("+\r\n", "");
    expect_text("-ERR a\rb\nc\r\n", "ERR a\rb\nc");
    expect_text("$0\r\n\r\n", "");
    expect_text("$5\r\nhello\r\n", "hello");
    expect_text("!3\r\nERR\r\n", "ERR");
    expect_text("=15\r\ntxt:Some string\r\n", "Some string");
    expect_text(",3.14\r\n", "3.14");
    expect_text("(123\r\n", "123");
}

static void numbers_are_read(void **state)
{
    assert_int_equal(read_whole(":42\r\n", 5).integer, 42);
    assert_int_equal(read_whole(":-1\r\n", 5).integer, -1);
    assert_int_equal(read_whole(":+7\r\n", 5).integer, 7);
    assert_true(read_whole(":9223372036854775807\r\n", 22).integer == INT64_MAX);
    assert_true(read_whole(":-9223372036854775808\r\n", 23).integer == INT64_MIN);
    assert_int_equal(read_whole("#t\r\n", 4).integer, 1);
    assert_int_equal(read_whole("#f\r\n", 4).integer, 0);
}

static void aggregates_tell_their_elements(void **state)
{
    assert_int_equal(read_whole("*3\r\n", 4).integer, 3);
    assert_int_equal(read_whole("*0\r\n", 4).integer, 0);
    assert_int_equal(read_whole("~2\r\n", 4).integer, 2);
    assert_int_equal(read_whole(">2\r\n", 4).integer, 2);
    assert_int_equal(read_whole("%3\r\n", 4).integer, 6);
    assert_int_equal(read_whole("|100\r\n", 6).integer, 200);
}

static void nulls_are_told_apart_from_nothing(void **state)
{
    assert_true(read_whole("$-1\r\n", 5).is_null);
    assert_true(read_whole("*-1\r\n", 5).is_null);
    assert_true(read_whole("_\r\n", 3).is_null);
    assert_false(read_whole("*0\r\n", 4).is_null);
    assert_false(read_whole("$0\r\n\r\n", 6).is_null);
}

static void a_value_that_is_none_is_refused(void **state)
{
    static const char *const wrong[] = {
        "x\r\n",           ":\r\n",     ":1x\r\n",
        ":01\r\n",         ":+-1\r\n",  ":9223372036854775808\r\n",
        "#x\r\n",          "#tt\r\n",   "#\r\n",
        "_x\r\n",          "$-2\r\n",   "~-1\r\n",
        "*x\r\n",          "$1\r\nabc", "=3\r\nabc\r\n",
        "=5\r\nabcde\r\n", "$?\r\n",    "*1\rx",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct resp_value value = {.type = 'u'};
        char *copy = copy_of(wrong[i], strlen(wrong[i]));
        if (resp_read_value(copy, strlen(wrong[i]), &value) != RESP_BAD)
            fail_msg("%s was accepted", wrong[i]);
        assert_int_equal(value.type, 'u');
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_is_scanned_the_same_wherever_it_is_cut),
        cmocka_unit_test(the_end_of_a_reply_is_found),
        cmocka_unit_test(an_attribute_belongs_to_the_value_after_it),
        cmocka_unit_test(what_is_no_reply_is_refused),
        cmocka_unit_test(a_reply_that_announces_too_much_is_refused_at_once),
        cmocka_unit_test(the_limit_of_a_reply_is_exact),
        cmocka_unit_test(the_reason_does_not_depend_on_the_cut),
        cmocka_unit_test(depth_costs_nothing),
        cmocka_unit_test(a_payload_is_never_read),
        cmocka_unit_test(a_cut_line_is_not_searched_again),
        cmocka_unit_test(a_cut_array_is_not_scanned_again),
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(aggregates_tell_their_elements),
        cmocka_unit_test(nulls_are_told_apart_from_nothing),
        cmocka_unit_test(a_value_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
