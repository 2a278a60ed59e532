/* covers: command_miss */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "wire/command_miss.h"

static void misses_are_what_a_server_says_of_a_key_that_is_not_there(void **state)
{
    static const struct {
        const char *name;
        uint32_t arg_count;
        const char *resp2, *resp3;
    } cases[] = {
        {"GET", 2, "$-1\r\n", "_\r\n"},
        {"MGET", 3, "*2\r\n$-1\r\n$-1\r\n", "*2\r\n_\r\n_\r\n"},
        {"GETRANGE", 4, "$0\r\n\r\n", "$0\r\n\r\n"},
        {"STRLEN", 2, ":0\r\n", ":0\r\n"},
        {"HGETALL", 2, "*0\r\n", "%0\r\n"},
        {"HMGET", 4, "*2\r\n$-1\r\n$-1\r\n", "*2\r\n_\r\n_\r\n"},
        {"SMEMBERS", 2, "*0\r\n", "~0\r\n"},
        {"SMISMEMBER", 4, "*2\r\n:0\r\n:0\r\n", "*2\r\n:0\r\n:0\r\n"},
        {"HSCAN", 3, "*2\r\n$1\r\n0\r\n*0\r\n", "*2\r\n$1\r\n0\r\n*0\r\n"},
        {"XREAD", 4, "*-1\r\n", "_\r\n"},
        {"TTL", 2, ":-2\r\n", ":-2\r\n"},
        {"TYPE", 2, "+none\r\n", "+none\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct command *command = command_find(cases[i].name, strlen(cases[i].name));
        assert_true(command_has_miss(command, cases[i].arg_count));
        for (int protocol = 2; protocol <= 3; protocol++) {
            struct buffer out = BUFFER_INIT;
            assert_true(command_write_miss(&out, command, cases[i].arg_count, protocol));
            assert_true(buffer_append(&out, "", 1));
            assert_string_equal(buffer_bytes(&out),
                                protocol == 2 ? cases[i].resp2 : cases[i].resp3);
            buffer_release(&out);
        }
    }
}

static void no_write_and_no_command_without_keys_has_a_miss(void **state)
{
    for (size_t id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        if (command_has_miss(command, 3) &&
            ((command->flags & COMMAND_WRITE) || command->route != COMMAND_KEYED))
            fail_msg("%s", command->name);
    }
}

static void an_answer_that_depends_on_more_is_not_guessed(void **state)
{
    static const char *const names[] = {"EVAL_RO", "SRANDMEMBER", "BITPOS", "LPOS", "OBJECT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_false(command_has_miss(command_find(names[i], strlen(names[i])), 3));
    assert_true(command_has_miss(command_find("ZRANK", 5), 3));
    assert_false(command_has_miss(command_find("ZRANK", 5), 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_are_what_a_server_says_of_a_key_that_is_not_there),
        cmocka_unit_test(no_write_and_no_command_without_keys_has_a_miss),
        cmocka_unit_test(an_answer_that_depends_on_more_is_not_guessed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
