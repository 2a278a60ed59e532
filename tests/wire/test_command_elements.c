/* covers: command_elements */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "wire/command_elements.h"

/* The elements of an inline command with commas between; "-" when they are not known. */
static const char *elements_of(const char *line)
{
    static const struct resp_limits limits = {64, 1024, 1024, 4096};
    static char found[256], bytes[256];
    struct resp_request request;
    struct command_element_range range;
    size_t len = 0;
    snprintf(bytes, sizeof bytes, "%s\r\n", line);
    resp_request_init(&request);
    assert_int_equal(resp_request_parse(&request, bytes, strlen(bytes), &limits), RESP_DONE);
    struct slice name = resp_request_arg(&request, bytes, 0);
    const struct command *command = command_find(name.ptr, name.len);
    assert_non_null(command);
    assert_true(command_arity_fits(command, request.arg_count));
    snprintf(found, sizeof found, "-");
    if (command_find_elements(command, &request, bytes, &range)) {
        found[0] = '\0';
        for (uint32_t i = 0; i < range.count; i++) {
            struct slice element = resp_request_arg(&request, bytes, range.first + i * range.step);
            len += (size_t)snprintf(found + len, sizeof found - len, "%s%.*s", i ? "," : "",
                                    (int)element.len, element.ptr);
        }
    }
    resp_request_release(&request);
    return found;
}

static void elements_are_found_where_the_command_names_them(void **state)
{
    static const struct {
        const char *line, *elements;
    } cases[] = {
        {"HSET k f 1 g 2", "f,g"},
        {"hmset k f 1", "f"},
        {"HSETNX k f 1", "f"},
        {"HINCRBY k f 5", "f"},
        {"HINCRBYFLOAT k f 5.5", "f"},
        {"HDEL k f g h", "f,g,h"},
        {"SADD k a b", "a,b"},
        {"SREM k a", "a"},
        {"ZADD k 1 a", "a"},
        {"ZADD k 1 a 2 b 3 c", "a,b,c"},
        {"ZADD k nx CH 1 a 2 b", "a,b"},
        {"ZADD k XX GT INCR 1 nx", "nx"},
        {"ZADD k LT 1 a", "a"},
        {"ZINCRBY k 3 m", "m"},
        {"ZREM k a b", "a,b"},
        {"HGETDEL k FIELDS 2 f g", "f,g"},
        {"EXPIRE k 10 NX", ""},
        {"PERSIST k", ""},
        {"PEXPIREAT k 99", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(elements_of(cases[i].line), cases[i].elements) != 0)
            fail_msg("%s: %s", cases[i].line, elements_of(cases[i].line));
}

static void what_cannot_be_told_is_not_guessed(void **state)
{
    static const char *const lines[] = {
        "HSET k f 1 g",
        "ZADD k NX 1",
        "ZADD k 1 a 2",
        "HGETDEL k FIELDS 3 f",
        "HGETDEL k FIELDS x f",
        "HGETDEL k NOFIELDS 1 f",
        "HSETEX k FIELDS 1 f v",
        "HEXPIRE k 10 FIELDS 1 f",
        "SPOP k",
        "SMOVE k other m",
        "ZREMRANGEBYSCORE k 1 2",
        "DEL k",
        "RPUSH k a",
        "SET k v",
        "XADD k * f v",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strcmp(elements_of(lines[i]), "-") != 0)
            fail_msg("%s: %s", lines[i], elements_of(lines[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_found_where_the_command_names_them),
        cmocka_unit_test(what_cannot_be_told_is_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
