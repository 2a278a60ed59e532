/* covers: command_wait */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/command_wait.h"

/* "argument:time left written back" of an inline command; "-": it does not wait. */
static const char *wait_of(const char *line, uint64_t left_ms)
{
    static const struct resp_limits limits = {64, 1024, 1024, 4096};
    static char found[256], bytes[256];
    struct resp_request request;
    struct command_wait wait;
    struct buffer out = BUFFER_INIT;
    snprintf(bytes, sizeof bytes, "%s\r\n", line);
    resp_request_init(&request);
    assert_int_equal(resp_request_parse(&request, bytes, strlen(bytes), &limits), RESP_DONE);
    struct slice name = resp_request_arg(&request, bytes, 0);
    const struct command *command = command_find(name.ptr, name.len);
    assert_non_null(command);
    assert_true(command->flags & COMMAND_BLOCKING);
    snprintf(found, sizeof found, "-");
    if (command_find_wait(command, &request, bytes, &wait)) {
        struct slice text = resp_request_arg(&request, bytes, wait.arg);
        assert_true(command_write_wait(&out, &wait, left_ms));
        struct resp_value value;
        assert_int_equal(resp_read_value(buffer_bytes(&out), out.len, &value), RESP_DONE);
        snprintf(found, sizeof found, "%.*s: %" PRId64 " ms; %.*s", (int)text.len, text.ptr,
                 wait.timeout_ms == WAIT_FOR_EVER ? -1 : (int64_t)wait.timeout_ms,
                 (int)value.text.len, value.text.ptr);
    }
    buffer_release(&out);
    resp_request_release(&request);
    return found;
}

static void the_timeout_stands_where_each_command_has_it(void **state)
{
    assert_string_equal(wait_of("BLPOP a b 3", 1), "3: 3000 ms; 0.001");
    assert_string_equal(wait_of("brpop a 0.25", 12345), "0.25: 250 ms; 12.345");
    assert_string_equal(wait_of("BRPOPLPUSH a b 1", 60000), "1: 1000 ms; 60.000");
    assert_string_equal(wait_of("BLMOVE a b LEFT RIGHT 1.0001", 1), "1.0001: 1001 ms; 0.001");
    assert_string_equal(wait_of("BZPOPMIN a 2", 1), "2: 2000 ms; 0.001");
    assert_string_equal(wait_of("BZPOPMAX a 2e1", 1), "2e1: 20000 ms; 0.001");
    assert_string_equal(wait_of("BLMPOP 7 2 a b LEFT", 1), "7: 7000 ms; 0.001");
    assert_string_equal(wait_of("BZMPOP 7 1 a MIN COUNT 3", 1), "7: 7000 ms; 0.001");
}

static void streams_wait_only_when_told_to(void **state)
{
    assert_string_equal(wait_of("XREAD STREAMS a 0", 1), "-");
    assert_string_equal(wait_of("XREAD COUNT 3 BLOCK 250 STREAMS a $", 17), "250: 250 ms; 17");
    assert_string_equal(wait_of("xread block 0 streams a 0", 1), "0: -1 ms; 1");
    assert_string_equal(wait_of("XREADGROUP GROUP block c STREAMS a >", 1), "-");
    assert_string_equal(wait_of("XREADGROUP GROUP g block BLOCK 5 STREAMS a >", 1), "5: 5 ms; 1");
    assert_string_equal(wait_of("XREAD COUNT 3 STREAMS block 0", 1), "-");
}

static void what_is_no_time_is_left_to_the_node(void **state)
{
    static const char *const texts[] = {"0", "0.0", "-1", "x", "1x", "nan", "inf", "1e300", "\"\""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char line[64];
        snprintf(line, sizeof line, "BLPOP a %s", texts[i]);
        assert_non_null(strstr(wait_of(line, 1), ": -1 ms; "));
        snprintf(line, sizeof line, "XREAD BLOCK %s STREAMS a 0", texts[i]);
        assert_non_null(strstr(wait_of(line, 1), ": -1 ms; "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timeout_stands_where_each_command_has_it),
        cmocka_unit_test(streams_wait_only_when_told_to),
        cmocka_unit_test(what_is_no_time_is_left_to_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
