/* What is written, and that our own readers understand it. */
#include "wire/describe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static struct buffer out = BUFFER_INIT;

static void expect_out(bool written, const char *wanted)
{
    assert_true(written);
    char *got = describe_end(&out);
    assert_string_equal(got, wanted);
    free(got);
}

static void lines_are_written(void **state)
{
    expect_out(resp_write_simple(&out, "OK"), "+OK\r\n");
    expect_out(resp_write_error(&out, "ERR no"), "-ERR no\r\n");
    expect_out(resp_write_errorf(&out, "ERR %s:%d", "port", 7400), "-ERR port:7400\r\n");
}

static void an_error_stays_on_its_line(void **state)
{
    expect_out(resp_write_error(&out, "ERR a\r\nb\n+OK\r\n"), "-ERR a  b +OK  \r\n");
    expect_out(resp_write_errorf(&out, "ERR '%s'", "x\r\n:1"), "-ERR 'x  :1'\r\n");
}

static void a_long_error_is_cut(void **state)
{
    char text[5000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    assert_true(resp_write_errorf(&out, "ERR %s", text));
    assert_true(out.len < 1100);
    assert_memory_equal(buffer_bytes(&out) + out.len - 3, "x\r\n", 3);
    buffer_release(&out);
}

static void strings_are_written_with_their_length(void **state)
{
    expect_out(resp_write_bulk(&out, "a\r\nb", 4), "$4\r\na\r\nb\r\n");
    expect_out(resp_write_bulk(&out, NULL, 0), "$0\r\n\r\n");
    expect_out(resp_write_bulk_text(&out, "hello world"), "$11\r\nhello world\r\n");
}

static void each_protocol_has_its_nulls_and_maps(void **state)
{
    expect_out(resp_write_null(&out, 2), "$-1\r\n");
    expect_out(resp_write_null(&out, 3), "_\r\n");
    expect_out(resp_write_null_array(&out, 2), "*-1\r\n");
    expect_out(resp_write_null_array(&out, 3), "_\r\n");
    expect_out(resp_write_array(&out, 0), "*0\r\n");
    expect_out(resp_write_map(&out, 7, 2), "*14\r\n");
    expect_out(resp_write_map(&out, 7, 3), "%7\r\n");
    expect_out(resp_write_set(&out, 3, 2), "*3\r\n");
    expect_out(resp_write_set(&out, 3, 3), "~3\r\n");
}

static void doubles_are_written_as_redis_writes_them(void **state)
{
    expect_out(resp_write_double(&out, 3, 3), ",3\r\n");
    expect_out(resp_write_double(&out, 0.5, 2), "$3\r\n0.5\r\n");
    expect_out(resp_write_double(&out, 3.1, 3), ",3.1000000000000001\r\n");
    expect_out(resp_write_double(&out, 1e300, 3), ",1.0000000000000001e+300\r\n");
    expect_out(resp_write_double(&out, -5e-324, 3), ",-4.9406564584124654e-324\r\n");
    expect_out(resp_write_double(&out, (double)INFINITY, 2), "$3\r\ninf\r\n");
    expect_out(resp_write_double(&out, -(double)INFINITY, 3), ",-inf\r\n");
    expect_out(resp_write_double(&out, (double)NAN, 3), ",nan\r\n");
    expect_out(resp_write_double(&out, -(double)NAN, 3), ",nan\r\n");
}

/* Any width, and now and then a power of ten or what is next to it, where a digit more is needed.
 */
static int64_t random_integer(struct random *random)
{
    int64_t number = 1;
    if (random_below(random, 2))
        return (int64_t)(random_next(random) >> random_below(random, 64));
    for (uint64_t power = random_below(random, 19); power > 0; power--)
        number *= 10;
    return number + (int64_t)random_below(random, 3) - 1;
}

static void every_width_of_integer_is_written_and_read(void **state)
{
    struct random random = {7};
    for (int i = 0; i < 20000; i++) {
        char wanted[40];
        struct resp_value value;
        int64_t number = random_integer(&random);
        if (i % 2 && number != INT64_MIN)
            number = -number;
        snprintf(wanted, sizeof wanted, ":%" PRId64 "\r\n", number);
        expect_out(resp_write_integer(&out, number), wanted);
        assert_int_equal(resp_read_value(wanted, strlen(wanted), &value), RESP_DONE);
        assert_true(value.integer == number);
    }
    expect_out(resp_write_integer(&out, INT64_MIN), ":-9223372036854775808\r\n");
    expect_out(resp_write_integer(&out, INT64_MAX), ":9223372036854775807\r\n");
    for (int64_t number = 0; number < 1200; number++) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, ":%" PRId64 "\r\n", number);
        expect_out(resp_write_integer(&out, number), wanted);
    }
}

static void an_integer_has_one_spelling(void **state)
{
    static const char *const wrong[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "01",
                                        "-0",
                                        "-01",
                                        "0x1",
                                        "1.0",
                                        "1e3",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551616",
                                        "99999999999999999999",
                                        "00"};
    int64_t number = 99;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (resp_parse_integer((struct slice){wrong[i], strlen(wrong[i])}, &number))
            fail_msg("'%s' was read as %" PRId64, wrong[i], number);
    assert_int_equal(number, 99);
    assert_true(resp_parse_integer((struct slice){"0", 1}, &number));
    assert_int_equal(number, 0);
    assert_true(resp_parse_integer((struct slice){"-123x", 4}, &number));
    assert_int_equal(number, -123);
    assert_true(resp_parse_integer((struct slice){"-9223372036854775808", 20}, &number));
    assert_true(number == INT64_MIN);
}

/* A random value written to the end of `out`, elements and all. */
static void write_random_value(struct random *random, int depth)
{
    size_t count = random_below(random, 4);
    switch (random_below(random, depth > 4 ? 6 : 9)) {
    case 0: assert_true(resp_write_simple(&out, "OK")); return;
    case 1: assert_true(resp_write_error(&out, "ERR no")); return;
    case 2: assert_true(resp_write_integer(&out, (int64_t)random_next(random))); return;
    case 3: assert_true(resp_write_bulk(&out, "\r\n$1\r\n*2\r\n", count)); return;
    case 4: assert_true(resp_write_null(&out, 2 + (int)(count & 1))); return;
    case 5: assert_true(resp_write_double(&out, 1.5, 2 + (int)(count & 1))); return;
    case 6: assert_true(resp_write_array(&out, count)); break;
    case 7: assert_true(resp_write_set(&out, count, 3)); break;
    default: assert_true(resp_write_map(&out, count, 3)); count *= 2;
    }
    while (count-- > 0)
        write_random_value(random, depth + 1);
}

static void what_we_write_we_scan_to_its_end(void **state)
{
    struct random random = {11};
    for (int round = 0; round < 5000; round++) {
        char wanted[32];
        write_random_value(&random, 0);
        snprintf(wanted, sizeof wanted, "done %zu ", out.len);
        struct cuts cuts = cut_at_random(&random, out.len);
        char *got = describe_reply(buffer_bytes(&out), &cuts, 1 << 20);
        if (strcmp(got, wanted) != 0)
            fail_msg("round %d: got %s, wanted %s", round, got, wanted);
        free(got);
        buffer_clear(&out);
    }
    buffer_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_written),
        cmocka_unit_test(an_error_stays_on_its_line),
        cmocka_unit_test(a_long_error_is_cut),
        cmocka_unit_test(strings_are_written_with_their_length),
        cmocka_unit_test(each_protocol_has_its_nulls_and_maps),
        cmocka_unit_test(doubles_are_written_as_redis_writes_them),
        cmocka_unit_test(every_width_of_integer_is_written_and_read),
        cmocka_unit_test(an_integer_has_one_spelling),
        cmocka_unit_test(what_we_write_we_scan_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
