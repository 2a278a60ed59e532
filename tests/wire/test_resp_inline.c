/* Requests as a line of words, quoted as Redis quotes. */
#include "wire/describe.h"

static const struct resp_limits limits = {
    .arg_count_max = 8, .arg_len_max = 16, .inline_len_max = 64, .request_len_max = 1000};

static void expect(const char *line, size_t len, const char *wanted)
{
    struct cuts whole = cut_nowhere(len), every = cut_at_every_byte(len);
    char *got = describe_request(line, &whole, &limits);
    char *got_cut = describe_request(line, &every, &limits);
    assert_string_equal(got, wanted);
    assert_string_equal(got_cut, wanted);
    free(got);
    free(got_cut);
}
#define EXPECT(line, wanted) expect(line, sizeof(line) - 1, wanted)

static void words_are_separated_by_blanks(void **state)
{
    EXPECT("PING\r\n", "done 6 [PING]");
    EXPECT("PING\n", "done 5 [PING]");
    EXPECT("  get \t key  \r\n", "done 15 [get][key]");
    EXPECT("a\rb\r\n", "done 5 [a][b]");
    EXPECT("a b\r\nc\r\n", "done 5 [a][b]");
    EXPECT("\v\f a\vb\r\n", "done 8 [a\\x0bb]");
}

static void double_quotes_know_escapes(void **state)
{
    EXPECT("\"a b\"\n", "done 6 [a b]");
    EXPECT("\"\"\n", "done 3 []");
    EXPECT("\"\\n\\r\\t\\b\\a\"\n", "done 13 [\\x0a\\x0d\\x09\\x08\\x07]");
    EXPECT("\"\\x00\\xfF\"\n", "done 11 [\\x00\\xff]");
    EXPECT("\"\\xg1\\x1\"\n", "done 10 [xg1x1]");
    EXPECT("\"\\\"\\\\\\q\"\n", "done 9 [\"\\x5cq]");
    EXPECT("\"it's\"\n", "done 7 [it's]");
}

static void single_quotes_know_only_themselves(void **state)
{
    EXPECT("'a b'\n", "done 6 [a b]");
    EXPECT("'a\\'b'\n", "done 7 [a'b]");
    EXPECT("'\\n\\x41'\n", "done 9 [\\x5cn\\x5cx41]");
    EXPECT("'say \"x\"'\n", "done 10 [say \"x\"]");
}

static void a_quote_may_begin_inside_a_word(void **state)
{
    EXPECT("a\"b c\"\n", "done 7 [ab c]");
    EXPECT("k:'1 2' x\n", "done 10 [k:1 2][x]");
}

static void unbalanced_quotes_are_refused(void **state)
{
    const char *wanted = "Protocol error: unbalanced quotes in request";
    EXPECT("get \"a\r\n", wanted);
    EXPECT("get 'a\r\n", wanted);
    EXPECT("get \"a\"b\r\n", wanted);
    EXPECT("get 'a'b\r\n", wanted);
    EXPECT("get 'a''b'\r\n", wanted);
    EXPECT("get \"a\\\"\r\n", wanted);
    EXPECT("get \"a\\\r\n", wanted);
    EXPECT("get 'a\\'\r\n", wanted);
    EXPECT("\"\n", wanted);
}

static void an_empty_line_is_skipped(void **state)
{
    EXPECT("\r\n", "done 2 ");
    EXPECT("\n", "done 1 ");
    EXPECT(" \t\r\n", "done 4 ");
}

static void a_zero_byte_is_a_byte(void **state)
{
    EXPECT("a\0b c\n", "done 6 [a\\x00b][c]");
}

static void http_is_told_that_this_is_not_http(void **state)
{
    const char *wanted = "Protocol error: this is HTTP; the port speaks the Redis protocol";
    EXPECT("POST / HTTP/1.1\r\n", wanted);
    EXPECT("host: localhost\r\n", wanted);
    EXPECT("posts\r\n", "done 7 [posts]");
    EXPECT("hosts:\r\n", "done 8 [hosts:]");
}

static void tls_is_told_that_this_is_not_tls(void **state)
{
    EXPECT("\x16\x03\x01", "Protocol error: this is TLS; the port speaks the Redis protocol");
}

static void the_limits_hold_for_lines_too(void **state)
{
    EXPECT("1 2 3 4 5 6 7 8\n", "done 16 [1][2][3][4][5][6][7][8]");
    EXPECT("1 2 3 4 5 6 7 8 9\n", "Protocol error: too many arguments (limits.arguments)");
    EXPECT("0123456789abcdef\n", "done 17 [0123456789abcdef]");
    EXPECT("0123456789abcdefg\n", "Protocol error: argument too long (limits.value)");
}

static void the_limit_of_a_line_is_exact(void **state)
{
    const char *wanted = "Protocol error: too big inline request (limits.inline)";
    char line[70];
    memset(line, ' ', sizeof line);
    memcpy(line + 64, "\r\n", 2);
    expect(line, 66, "done 66 ");
    memset(line + 64, ' ', 2);
    expect(line, 65, "more");
    line[64] = '\n';
    expect(line, 65, "done 65 ");
    memcpy(line + 64, " \n", 2);
    expect(line, 66, wanted);
    memcpy(line + 64, "  \r\n", 4);
    expect(line, 68, wanted);
    memset(line, 'a', sizeof line);
    expect(line, 70, wanted);
}

static void a_line_over_the_limit_of_a_request_is_refused(void **state)
{
    struct resp_limits with = limits;
    with.request_len_max = 10;
    const char *lines[] = {"123456789\n", "1234567890\n", "12345678901234567890"};
    const char *wanted[] = {"done 10 [123456789]",
                            "Protocol error: request too large (limits.request)",
                            "Protocol error: request too large (limits.request)"};
    for (int i = 0; i < 3; i++) {
        struct cuts whole = cut_nowhere(strlen(lines[i]));
        struct cuts every = cut_at_every_byte(strlen(lines[i]));
        char *got = describe_request(lines[i], &whole, &with);
        char *got_cut = describe_request(lines[i], &every, &with);
        assert_string_equal(got, wanted[i]);
        assert_string_equal(got_cut, wanted[i]);
        free(got);
        free(got_cut);
    }
}

/* Seen by changing what was searched already, which a caller must not do. */
static void a_cut_line_is_not_searched_again(void **state)
{
    struct resp_limits with = limits;
    struct resp_request request;
    char line[4096];
    memset(line, ' ', sizeof line);
    with.inline_len_max = with.request_len_max = 1 << 20;
    resp_request_init(&request);
    for (uint32_t len = 1; len <= sizeof line; len++) {
        assert_int_equal(resp_request_parse(&request, line, len, &with), RESP_MORE);
        assert_int_equal(request.position, len);
        line[len - 1] = '\n';
    }
    resp_request_release(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_separated_by_blanks),
        cmocka_unit_test(double_quotes_know_escapes),
        cmocka_unit_test(single_quotes_know_only_themselves),
        cmocka_unit_test(a_quote_may_begin_inside_a_word),
        cmocka_unit_test(unbalanced_quotes_are_refused),
        cmocka_unit_test(an_empty_line_is_skipped),
        cmocka_unit_test(a_zero_byte_is_a_byte),
        cmocka_unit_test(http_is_told_that_this_is_not_http),
        cmocka_unit_test(tls_is_told_that_this_is_not_tls),
        cmocka_unit_test(the_limits_hold_for_lines_too),
        cmocka_unit_test(the_limit_of_a_line_is_exact),
        cmocka_unit_test(a_line_over_the_limit_of_a_request_is_refused),
        cmocka_unit_test(a_cut_line_is_not_searched_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
