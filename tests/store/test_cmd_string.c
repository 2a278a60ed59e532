/* Strings, as a dialogue. */
#include "store/engine_rig.h"

static void get_answers_what_set_put(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "GET k", "$-1");
    expect(rig, "SET k v", "+OK");
    expect(rig, "GET k", "$1 v");
    expect(rig, "GETSET k w", "$1 v");
    expect(rig, "GETSET new x", "$-1");
    expect(rig, "GETDEL k", "$1 w");
    expect(rig, "GETDEL k", "$-1");
    expect(rig, "STRLEN new", ":1");
    expect(rig, "STRLEN k", ":0");
}

static void a_connection_that_said_hello_3_gets_nulls_of_resp3(void **state)
{
    struct engine_rig *rig = *state;
    ask(rig, "HELLO 3");
    expect(rig, "GET k", "_");
    expect(rig, "MGET k k", "*2 _ _");
}

static void append_makes_and_lengthens(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "APPEND k abc", ":3");
    expect(rig, "PEXPIRE k 5000", ":1");
    expect(rig, "APPEND k ''", ":3");
    expect(rig, "APPEND k de", ":5");
    expect(rig, "GET k", "$5 abcde");
    expect(rig, "PTTL k", ":5000");
}

static void getrange_counts_from_both_ends(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k 'This is a string'", "+OK");
    expect(rig, "GETRANGE k 0 3", "$4 This");
    expect(rig, "GETRANGE k -3 -1", "$3 ing");
    expect(rig, "GETRANGE k 0 -1", "$16 This is a string");
    expect(rig, "GETRANGE k 10 100", "$6 string");
    expect(rig, "GETRANGE k 5 3", "$0 ");
    expect(rig, "GETRANGE k -1 -3", "$0 ");
    expect(rig, "GETRANGE k -9223372036854775808 9223372036854775807", "$16 This is a string");
    expect(rig, "GETRANGE none 0 -1", "$0 ");
    expect(rig, "GETRANGE k a 1", "-ERR value is not an integer or out of range");
}

static void setrange_fills_with_zeros(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SETRANGE k 5 ''", ":0");
    expect(rig, "EXISTS k", ":0");
    expect(rig, "SET k 'Hello World'", "+OK");
    expect(rig, "SETRANGE k 6 Redis", ":11");
    expect(rig, "GET k", "$11 Hello Redis");
    expect(rig, "SETRANGE k 2 ''", ":11");
    expect(rig, "SETRANGE gap 2 ab", ":4");
    ask(rig, "GET gap");
    assert_memory_equal(buffer_bytes(&rig->out), "$4\r\n\0\0ab\r\n", 10);
    expect(rig, "SETRANGE k -1 x", "-ERR offset is out of range");
    expect(rig, "SETRANGE k 99999999 x",
           "-ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    expect(rig, "SETRANGE k 9223372036854775807 x",
           "-ERR string exceeds maximum allowed size (proto-max-bulk-len)");
}

static void several_keys_at_once(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET a 1 b 2 a 3", "+OK");
    expect(rig, "MGET a x b", "*3 $1 3 $-1 $1 2");
    expect(rig, "MSETNX c 1 a 2", ":0");
    expect(rig, "EXISTS c", ":0");
    expect(rig, "MSETNX c 1 d 2", ":1");
    expect(rig, "MSET a", "-ERR wrong number of arguments for 'mset' command");
    expect(rig, "MSET a 1 b", "-ERR wrong number of arguments for 'mset' command");
    expect(rig, "MSETNX a 1 b", "-ERR wrong number of arguments for 'msetnx' command");
}

static void a_reply_over_the_limit_is_an_error_and_no_memory(void **state)
{
    struct engine_rig *rig = *state;
    rig->engine.reply_len_max = 100;
    expect(rig, "SET k 0123456789012345678901234567890123456789", "+OK");
    expect(rig, "MGET k k k", "-ERR the reply would be longer than 100 bytes; ask for fewer keys");
    expect(rig, "MGET k k",
           "*2 $40 0123456789012345678901234567890123456789 "
           "$40 0123456789012345678901234567890123456789");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(get_answers_what_set_put),
        rig_test(a_connection_that_said_hello_3_gets_nulls_of_resp3),
        rig_test(append_makes_and_lengthens),
        rig_test(getrange_counts_from_both_ends),
        rig_test(setrange_fills_with_zeros),
        rig_test(several_keys_at_once),
        rig_test(a_reply_over_the_limit_is_an_error_and_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
