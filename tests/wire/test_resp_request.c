/*
 * Requests as arrays.
 * covers: resp_number
 */
#include "wire/describe.h"

#include <stdio.h>

static const struct resp_limits limits = {.arg_count_max = 1000,
                                          .arg_len_max = 1 << 20,
                                          .inline_len_max = 4096,
                                          .request_len_max = 1 << 24};

static void expect(const char *bytes, size_t len, const char *wanted)
{
    struct cuts cuts = cut_nowhere(len);
    char *got = describe_request(bytes, &cuts, &limits);
    assert_string_equal(got, wanted);
    free(got);
}
#define EXPECT(bytes, wanted) expect(bytes, sizeof(bytes) - 1, wanted)

static const struct sample {
    const char *bytes;
    size_t len;
} samples[] = {
#define SAMPLE(bytes)                                                                              \
    {                                                                                              \
        bytes, sizeof(bytes) - 1                                                                   \
    }
    SAMPLE("*1\r\n$4\r\nPING\r\n"),
    SAMPLE("*2\r\n$3\r\nGET\r\n$16\r\n0123456789abcdef\r\n"),
    SAMPLE("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$2\r\n\r\n\r\n"),
    SAMPLE("*2\r\n$4\r\nECHO\r\n$11\r\n\0\1\2\r\n$3\r\n*1\r\n"),
    SAMPLE("*12\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n$1\r\nd\r\n$1\r\ne\r\n$1\r\nf\r\n"
           "$1\r\ng\r\n$1\r\nh\r\n$1\r\ni\r\n$1\r\nj\r\n$1\r\nk\r\n"),
    SAMPLE("*2\r\n$3\r\nGET\r\n$120\r\n"
           "012345678901234567890123456789012345678901234567890123456789"
           "012345678901234567890123456789012345678901234567890123456789\r\n"),
    SAMPLE("*0\r\n"),
    SAMPLE("*-1\r\n"),
    SAMPLE("*-9223372036854775808\r\n"),
    SAMPLE("\r\n"),
    SAMPLE("\n"),
    SAMPLE("   \t \r\n"),
    SAMPLE("PING\r\n"),
    SAMPLE("get key\n"),
    SAMPLE("set 'a key' \"\\x00\\xff\\n\" \r\n"),
    /* more than one request: only the first is read */
    SAMPLE("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n"),
    SAMPLE("PING\r\nPING\r\n"),
    /* incomplete */
    SAMPLE("*"),
    SAMPLE("*2\r\n$3\r\nGET\r\n$1"),
    SAMPLE("*2\r\n$3\r\nGET\r\n$16\r\n01234"),
    SAMPLE("PIN"),
    /* wrong */
    SAMPLE("*x\r\n"),
    SAMPLE("*1x\r\n"),
    SAMPLE("*1\rx"),
    SAMPLE("*-\r\n"),
    SAMPLE("*\r\n"),
    SAMPLE("*01\r\n"),
    SAMPLE("*-0\r\n"),
    SAMPLE("*+1\r\n"),
    SAMPLE("* 1\r\n"),
    SAMPLE("*1001\r\n"),
    SAMPLE("*2147483648\r\n"),
    SAMPLE("*99999999999999999999999999999\r\n"),
    SAMPLE("*1\r\nPING\r\n"),
    SAMPLE("*1\r\n\x80"),
    SAMPLE("*1\r\n$-1\r\n"),
    SAMPLE("*1\r\n$\r\n\r\n"),
    SAMPLE("*1\r\n$4x\r\nPING\r\n"),
    SAMPLE("*1\r\n$04\r\nPING\r\n"),
    SAMPLE("*1\r\n$1048577\r\n"),
    SAMPLE("*1\r\n$9223372036854775808\r\n"),
    SAMPLE("*1\r\n$4\r\nPINGxx*1\r\n"),
    SAMPLE("*1\r\n$4\r\nPING\r*"),
    SAMPLE("get 'a\r\n"),
    SAMPLE("POST / HTTP/1.1\r\n"),
    SAMPLE("\x16\x03\x01\x02\r\n"),
#undef SAMPLE
};
enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

static void a_request_is_read_the_same_wherever_it_is_cut(void **state)
{
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        const struct sample *sample = &samples[i];
        struct cuts whole = cut_nowhere(sample->len), every = cut_at_every_byte(sample->len);
        char *wanted = describe_request(sample->bytes, &whole, &limits);
        char *got = describe_request(sample->bytes, &every, &limits);
        assert_string_equal(got, wanted);
        free(got);
        for (size_t at = 1; at < sample->len; at++) {
            struct cuts once = cut_once(at, sample->len);
            got = describe_request(sample->bytes, &once, &limits);
            assert_string_equal(got, wanted);
            free(got);
        }
        free(wanted);
    }
}

static void arguments_are_found_where_they_stand(void **state)
{
    EXPECT("*1\r\n$4\r\nPING\r\n", "done 14 [PING]");
    EXPECT("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$2\r\n\r\n\r\n", "done 27 [SET][][\\x0d\\x0a]");
    EXPECT("*1\r\n$4\r\nPING\r\n*1\r\n", "done 14 [PING]");
}

static void a_request_without_arguments_is_skipped(void **state)
{
    EXPECT("*0\r\n*1\r\n", "done 4 ");
    EXPECT("*-1\r\n", "done 5 ");
    EXPECT("*-7\r\n", "done 5 ");
    EXPECT("\r\n", "done 2 ");
}

static void a_bad_count_is_refused(void **state)
{
    const char *wanted = "Protocol error: invalid multibulk length";
    EXPECT("*x\r\n", wanted);
    EXPECT("*1x\r\n", wanted);
    EXPECT("*1\rx", wanted);
    EXPECT("*01\r\n", wanted);
    EXPECT("*+1\r\n", wanted);
    EXPECT("* 1\r\n", wanted);
    EXPECT("*\r\n", wanted);
    EXPECT("*-\r\n", wanted);
    EXPECT("*-x\r\n", wanted);
    EXPECT("*9223372036854775808\r\n", wanted);
    EXPECT("*99999999999999999999999999999999999999", wanted);
}

static void a_bad_length_is_refused(void **state)
{
    const char *wanted = "Protocol error: invalid bulk length";
    EXPECT("*1\r\n$-1\r\n", wanted);
    EXPECT("*1\r\n$\r\n\r\n\r\n", wanted);
    EXPECT("*1\r\n$x\r\n", wanted);
    EXPECT("*1\r\n$4x\r\nPING\r\n", wanted);
    EXPECT("*1\r\n$04\r\nPING\r\n", wanted);
    EXPECT("*1\r\n$99999999999999999999", wanted);
}

static void what_stands_in_place_of_a_dollar_is_named(void **state)
{
    EXPECT("*1\r\nPING\r\n", "Protocol error: expected '$', got 'P'");
    EXPECT("*1\r\n ", "Protocol error: expected '$', got ' '");
    EXPECT("*1\r\n~", "Protocol error: expected '$', got '~'");
    EXPECT("*1\r\n\\", "Protocol error: expected '$', got '\\'");
    EXPECT("*1\r\n\n", "Protocol error: expected '$', got a byte that is not printable");
    EXPECT("*1\r\n\xff", "Protocol error: expected '$', got a byte that is not printable");
}

static void every_printable_byte_is_named_as_itself(void **state)
{
    for (char c = ' '; c <= '~'; c++) {
        char bytes[] = "*1\r\n?", wanted[64];
        if (c == '$')
            continue;
        bytes[4] = c;
        snprintf(wanted, sizeof wanted, "Protocol error: expected '$', got '%c'", c);
        expect(bytes, 5, wanted);
    }
}

static void an_argument_ends_where_its_length_says(void **state)
{
    const char *wanted = "Protocol error: expected CR LF after an argument";
    EXPECT("*1\r\n$4\r\nPINGxx", wanted);
    EXPECT("*1\r\n$4\r\nPINGER\r\n", wanted);
    EXPECT("*1\r\n$3\r\nPING\r\n", wanted);
    EXPECT("*1\r\n$4\r\nPING\n\n", wanted);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void expect_cut(const char *bytes, const struct cuts *cuts, const struct resp_limits *with,
                       const char *wanted)
{
    char *got = describe_request(bytes, cuts, with);
    assert_string_equal(got, wanted);
    free(got);
}

/* Whole, in two pieces, and byte by byte: the ways through the parser that look at limits differ.
 */
static void expect_with(struct resp_limits with, const char *bytes, const char *wanted)
{
    size_t len = strlen(bytes);
    struct cuts whole = cut_nowhere(len), every = cut_at_every_byte(len);
    expect_cut(bytes, &whole, &with, wanted);
    expect_cut(bytes, &every, &with, wanted);
    for (size_t at = 1; at < len; at++) {
        struct cuts once = cut_once(at, len);
        expect_cut(bytes, &once, &with, wanted);
    }
}

static void the_limit_of_arguments_is_exact(void **state)
{
    const char *reason = "Protocol error: too many arguments (limits.arguments)";
    struct resp_limits with = limits;
    with.arg_count_max = 2;
    expect_with(with, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "done 18 [a][b]");
    expect_with(with, "*3\r\n", reason);
    expect_with(with, "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", reason);
    expect_with(with, "*2147483648\r\n", reason);
}

static void the_limit_of_a_value_is_exact(void **state)
{
    const char *reason = "Protocol error: argument too long (limits.value)";
    struct resp_limits with = limits;
    with.arg_len_max = 3;
    expect_with(with, "*1\r\n$3\r\nabc\r\n", "done 13 [abc]");
    expect_with(with, "*1\r\n$4\r\n", reason);
    expect_with(with, "*1\r\n$4\r\nabcd\r\n", reason);
    expect_with(with, "*3\r\n$1\r\na\r\n$1\r\nb\r\n$4\r\nabcd\r\n", reason);
    expect_with(with, "*1\r\n$9223372036854775807\r\n", reason);
}

static void the_limit_of_a_request_is_exact(void **state)
{
    const char *reason = "Protocol error: request too large (limits.request)";
    struct resp_limits with = limits;
    with.request_len_max = 18;
    expect_with(with, "*2\r\n$1\r\na\r\n$1\r\nb\r\n", "done 18 [a][b]");
    expect_with(with, "*2\r\n$1\r\na\r\n$2\r\n", reason);
    expect_with(with, "*2\r\n$1\r\na\r\n$2\r\nbc\r\n", reason);
    expect_with(with, "*2\r\n$3\r\nabc\r\n$0\r\n\r\n", reason);
    with.request_len_max = 60;
    expect_with(with, "*2\r\n$3\r\nGET\r\n$40\r\n0123456789012345678901234567890123456789\r\n",
                "done 60 [GET][0123456789012345678901234567890123456789]");
    with.request_len_max = 59;
    expect_with(with, "*2\r\n$3\r\nGET\r\n$40\r\n0123456789012345678901234567890123456789\r\n",
                reason);
}

static void a_request_that_cannot_fit_is_refused_when_it_is_announced(void **state)
{
    const char *reason = "Protocol error: request too large (limits.request)";
    struct resp_limits with = limits;
    with.request_len_max = 1000;
    expect_with(with, "*200\r\n", reason);
    expect_with(with, "*100\r\n$600\r\n", reason);
    /* Whole arguments that leave no room for the others: the reason is the same as when cut. */
    with.request_len_max = 70;
    expect_with(with, "*8\r\n$40\r\n0123456789012345678901234567890123456789\r\n$x\r\n", reason);
}

static void the_largest_lengths_do_not_wrap(void **state)
{
    struct resp_limits with = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const char *reason = "Protocol error: request too large (limits.request)";
    expect_with(with, "*1\r\n$4294967295\r\n", reason);
    expect_with(with, "*4294967295\r\n", reason);
    expect_with(with, "*2\r\n$4294967271\r\n", reason);
    expect_with(with, "*1\r\n$4294967270\r\nabc", "more");
}

/* ---- work and memory ------------------------------------------------------------------------- */

static void nothing_is_allocated_for_what_is_only_announced(void **state)
{
    struct resp_limits with = {1 << 30, 1 << 20, 4096, UINT32_MAX};
    struct resp_request request;
    static const char bytes[] = "*500000000\r\n$1\r\na\r\n";
    resp_request_init(&request);
    assert_int_equal(resp_request_parse(&request, bytes, sizeof bytes - 1, &with), RESP_MORE);
    assert_int_equal(request.arg_count, 1);
    assert_ptr_equal(request.args, request.fixed);
    resp_request_release(&request);
}

static void a_payload_is_never_read(void **state)
{
    struct resp_request request;
    static const char bytes[] = "*1\r\n$1000000\r\n";
    resp_request_init(&request);
    /* The buffer ends long before `len`: to look at the payload would be to read outside. */
    assert_int_equal(resp_request_parse(&request, bytes, sizeof bytes - 1, &limits), RESP_MORE);
    assert_int_equal(request.need, sizeof bytes - 1 + 1000000 + 2);
    assert_int_equal(resp_request_parse(&request, bytes, request.need - 1, &limits), RESP_MORE);
    assert_int_equal(request.need, sizeof bytes - 1 + 1000000 + 2);
    resp_request_release(&request);
}

/* The parser's place never moves back and is never further behind than one length line. */
static void a_cut_request_is_not_read_again(void **state)
{
    struct buffer bytes = BUFFER_INIT;
    struct resp_request request;
    assert_true(resp_write_array(&bytes, 1000));
    for (int i = 0; i < 1000; i++)
        assert_true(resp_write_bulk(&bytes, "0123456789", 10));
    resp_request_init(&request);
    uint32_t position = 0;
    for (size_t len = 1; len < bytes.len; len++) {
        assert_int_equal(resp_request_parse(&request, buffer_bytes(&bytes), len, &limits),
                         RESP_MORE);
        assert_true(request.position >= position);
        assert_true(request.position + sizeof "*1000\r" >= len);
        position = request.position;
    }
    assert_int_equal(resp_request_parse(&request, buffer_bytes(&bytes), bytes.len, &limits),
                     RESP_DONE);
    assert_int_equal(request.arg_count, 1000);
    resp_request_release(&request);
    buffer_release(&bytes);
}

static void a_request_can_be_reset_in_any_state(void **state)
{
    struct resp_request request;
    resp_request_init(&request);
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        for (size_t len = 0; len <= samples[i].len; len++) {
            resp_request_parse(&request, samples[i].bytes, len, &limits);
            resp_request_reset(&request);
        }
        assert_int_equal(resp_request_parse(&request, "*1\r\n$4\r\nPING\r\n", 14, &limits),
                         RESP_DONE);
        assert_int_equal(request.arg_count, 1);
        resp_request_reset(&request);
    }
    resp_request_release(&request);
}

/* ---- property -------------------------------------------------------------------------------- */

/* Appends a random request; its description without the "done". */
static char *write_random_request(struct random *random, struct buffer *bytes)
{
    struct buffer text = BUFFER_INIT;
    size_t arg_count = 1 + random_below(random, random_below(random, 8) ? 5 : 40);
    assert_true(resp_write_array(bytes, arg_count));
    for (size_t i = 0; i < arg_count; i++) {
        char arg[300];
        size_t len = random_below(random, random_below(random, 4) ? 20 : sizeof arg);
        for (size_t j = 0; j < len; j++)
            arg[j] = "\r\n$*019 abc\0\xff"[random_below(random, 13)];
        assert_true(resp_write_bulk(bytes, arg, len));
        describe_slice(&text, (struct slice){arg, len});
    }
    return describe_end(&text);
}

static void random_requests_survive_random_cuts(void **state)
{
    struct random random = {20240229};
    for (int round = 0; round < 2000; round++) {
        struct buffer bytes = BUFFER_INIT;
        char *args = write_random_request(&random, &bytes), head[32];
        size_t head_len = (size_t)snprintf(head, sizeof head, "done %zu ", bytes.len);
        struct cuts cuts = cut_at_random(&random, bytes.len);
        char *got = describe_request(buffer_bytes(&bytes), &cuts, &limits);
        if (strncmp(got, head, head_len) != 0 || strcmp(got + head_len, args) != 0)
            fail_msg("round %d: got %s, wanted %s%s", round, got, head, args);
        free(got);
        free(args);
        buffer_release(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_read_the_same_wherever_it_is_cut),
        cmocka_unit_test(arguments_are_found_where_they_stand),
        cmocka_unit_test(a_request_without_arguments_is_skipped),
        cmocka_unit_test(a_bad_count_is_refused),
        cmocka_unit_test(a_bad_length_is_refused),
        cmocka_unit_test(what_stands_in_place_of_a_dollar_is_named),
        cmocka_unit_test(every_printable_byte_is_named_as_itself),
        cmocka_unit_test(an_argument_ends_where_its_length_says),
        cmocka_unit_test(the_limit_of_arguments_is_exact),
        cmocka_unit_test(the_limit_of_a_value_is_exact),
        cmocka_unit_test(the_limit_of_a_request_is_exact),
        cmocka_unit_test(a_request_that_cannot_fit_is_refused_when_it_is_announced),
        cmocka_unit_test(the_largest_lengths_do_not_wrap),
        cmocka_unit_test(nothing_is_allocated_for_what_is_only_announced),
        cmocka_unit_test(a_payload_is_never_read),
        cmocka_unit_test(a_cut_request_is_not_read_again),
        cmocka_unit_test(a_request_can_be_reset_in_any_state),
        cmocka_unit_test(random_requests_survive_random_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
