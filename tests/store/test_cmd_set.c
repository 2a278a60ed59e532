/* SET and GETEX with all that they can be told. */
#include "store/engine_rig.h"

static void set_on_conditions(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k 1 XX", "$-1");
    expect(rig, "SET k 1 NX", "+OK");
    expect(rig, "SET k 2 nx", "$-1");
    expect(rig, "SET k 2 xx", "+OK");
    expect(rig, "SET k 3 NX GET", "$1 2");
    expect(rig, "GET k", "$1 2");
    expect(rig, "SET k 3 XX GET", "$1 2");
    expect(rig, "GET k", "$1 3");
    expect(rig, "SET new 1 GET", "$-1");
    expect(rig, "GET new", "$1 1");
    expect(rig, "SETNX k 9", ":0");
    expect(rig, "SETNX other 9", ":1");
}

static void set_with_an_expiry(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k v EX 10", "+OK");
    expect(rig, "PTTL k", ":10000");
    expect(rig, "SET k v PX 1500", "+OK");
    expect(rig, "PTTL k", ":1500");
    expect(rig, "SET k w KEEPTTL", "+OK");
    expect(rig, "PTTL k", ":1500");
    expect(rig, "SET k w", "+OK");
    expect(rig, "PTTL k", ":-1");
    expect(rig, "SET k v EXAT 1700000007", "+OK");
    expect(rig, "PTTL k", ":7000");
    expect(rig, "SET k v PXAT 1700000000001", "+OK");
    expect(rig, "PTTL k", ":1");
    expect(rig, "SETEX k 5 v", "+OK");
    expect(rig, "TTL k", ":5");
    expect(rig, "PSETEX k 500 v", "+OK");
    expect(rig, "PTTL k", ":500");
}

static void a_time_in_the_past_leaves_no_key(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k v", "+OK");
    expect(rig, "SET k v EXAT 1", "+OK");
    expect(rig, "EXISTS k", ":0");
    expect(rig, "DBSIZE", ":0");
}

static void options_that_contradict_are_a_syntax_error(void **state)
{
    struct engine_rig *rig = *state;
    static const char *const bad[] = {
        "SET k v NX XX",        "SET k v XX NX", "SET k v EX 1 PX 1",    "SET k v EX 1 KEEPTTL",
        "SET k v KEEPTTL EX 1", "SET k v EX",    "SET k v PERSIST",      "SET k v what",
        "SET k v ''",           "GETEX k NX",    "GETEX k EX 1 PERSIST", "GETEX k PERSIST EX 1",
        "GETEX k KEEPTTL",      "GETEX k EX",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(rig, bad[i], "-ERR syntax error");
    expect(rig, "SET k v EX 1 EX 2", "+OK"); /* saying it twice is none, as in Redis */
}

static void times_that_are_none_are_refused(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k v EX 0", "-ERR invalid expire time in 'set' command");
    expect(rig, "SET k v EX -1", "-ERR invalid expire time in 'set' command");
    expect(rig, "SET k v EX 9223372036854775807", "-ERR invalid expire time in 'set' command");
    expect(rig, "SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command");
    expect(rig, "SET k v EX x", "-ERR value is not an integer or out of range");
    expect(rig, "SETEX k 0 v", "-ERR invalid expire time in 'setex' command");
    expect(rig, "PSETEX k 0 v", "-ERR invalid expire time in 'psetex' command");
    expect(rig, "EXISTS k", ":0");
    expect(rig, "GETEX none EX 0", "$-1"); /* Redis looks for the key first */
    expect(rig, "SET k v", "+OK");
    expect(rig, "GETEX k EX 0", "-ERR invalid expire time in 'getex' command");
}

static void getex_changes_the_expiry_and_nothing_else(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "GETEX k", "$-1");
    expect(rig, "SET k v", "+OK");
    expect(rig, "GETEX k EX 10", "$1 v");
    expect(rig, "PTTL k", ":10000");
    expect(rig, "GETEX k", "$1 v");
    expect(rig, "PTTL k", ":10000");
    expect(rig, "GETEX k PERSIST", "$1 v");
    expect(rig, "PTTL k", ":-1");
    expect(rig, "GETEX k PXAT 1", "$1 v");
    expect(rig, "EXISTS k", ":0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(set_on_conditions),
        rig_test(set_with_an_expiry),
        rig_test(a_time_in_the_past_leaves_no_key),
        rig_test(options_that_contradict_are_a_syntax_error),
        rig_test(times_that_are_none_are_refused),
        rig_test(getex_changes_the_expiry_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
