/* Expiry, on a clock that the test moves. */
#include "store/engine_rig.h"

static void a_key_is_gone_after_its_last_millisecond(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k v PX 100", "+OK");
    pass_ms(rig, 100);
    expect(rig, "GET k", "$1 v");
    expect(rig, "PTTL k", ":0");
    pass_ms(rig, 1);
    expect(rig, "GET k", "$-1");
    expect(rig, "EXISTS k", ":0");
    expect(rig, "TYPE k", "+none");
    expect(rig, "TTL k", ":-2");
    expect(rig, "KEYS *", "*0");
    expect(rig, "DEL k", ":0");
    expect(rig, "DBSIZE", ":0");
}

static void every_command_takes_an_expired_key_for_none(void **state)
{
    struct engine_rig *rig = *state;
    static const char *const dialogue[][2] = {
        {"SET k w XX", "$-1"},
        {"SET k w GET", "$-1"},
        {"SETNX k w", ":1"},
        {"GETSET k w", "$-1"},
        {"GETDEL k", "$-1"},
        {"GETEX k", "$-1"},
        {"APPEND k w", ":1"},
        {"SETRANGE k 1 w", ":2"},
        {"INCR k", ":1"},
        {"INCRBYFLOAT k 1", "$1 1"},
        {"PERSIST k", ":0"},
        {"EXPIRE k 10", ":0"},
        {"RENAME k z", "-ERR no such key"},
        {"COPY k z", ":0"},
        {"MSETNX k w", ":1"},
        {"STRLEN k", ":0"},
        {"EXPIRETIME k", ":-2"},
        {"RANDOMKEY", "$-1"},
        {"SCAN 0", "*2 $1 0 *0"},
        {"TOUCH k", ":0"},
        {"GETRANGE k 0 -1", "$0 "},
    };
    for (size_t i = 0; i < sizeof dialogue / sizeof dialogue[0]; i++) {
        expect(rig, "FLUSHALL", "+OK");
        expect(rig, "SET k 99 PX 1", "+OK");
        pass_ms(rig, 2);
        expect(rig, dialogue[i][0], dialogue[i][1]);
    }
}

static void a_new_value_has_no_old_expiry(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k 1 PX 10", "+OK");
    pass_ms(rig, 11);
    expect(rig, "INCR k", ":1");
    expect(rig, "PTTL k", ":-1");
    pass_ms(rig, 1000);
    expect(rig, "GET k", "$1 1");
}

static void expire_on_conditions(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "EXPIRE k 10", ":0");
    expect(rig, "SET k v", "+OK");
    expect(rig, "EXPIRE k 10 XX", ":0");
    expect(rig, "EXPIRE k 10 GT", ":0");
    expect(rig, "EXPIRE k 10 NX", ":1");
    expect(rig, "EXPIRE k 20 NX", ":0");
    expect(rig, "EXPIRE k 10 GT", ":0");
    expect(rig, "EXPIRE k 20 GT", ":1");
    expect(rig, "EXPIRE k 20 LT", ":0");
    expect(rig, "EXPIRE k 5 XX LT", ":1");
    expect(rig, "TTL k", ":5");
    expect(rig, "PERSIST k", ":1");
    expect(rig, "PERSIST k", ":0");
    expect(rig, "EXPIRE k 9 LT", ":1");
    expect(rig, "EXPIRE k 9 NX XX",
           "-ERR NX and XX, GT or LT options at the same time are not compatible");
    expect(rig, "EXPIRE k 9 GT LT", "-ERR GT and LT options at the same time are not compatible");
    expect(rig, "EXPIRE k 9 what", "-ERR Unsupported option what");
}

static void a_time_in_the_past_deletes(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET a 1 b 2 c 3 d 4", "+OK");
    expect(rig, "EXPIRE a 0", ":1");
    expect(rig, "PEXPIRE b -1", ":1");
    expect(rig, "EXPIREAT c 1", ":1");
    expect(rig, "PEXPIREAT d 1700000000000", ":1");
    expect(rig, "DBSIZE", ":0");
}

static void times_are_told_in_four_ways(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "TTL k", ":-2");
    expect(rig, "SET k v", "+OK");
    expect(rig, "TTL k", ":-1");
    expect(rig, "PEXPIRE k 1499", ":1");
    expect(rig, "TTL k", ":1"); /* rounded, not cut off */
    expect(rig, "PEXPIRE k 1500", ":1");
    expect(rig, "TTL k", ":2");
    expect(rig, "PTTL k", ":1500");
    expect(rig, "PEXPIRETIME k", ":1700000001500");
    expect(rig, "EXPIRETIME k", ":1700000002");
}

static void times_out_of_range_are_refused(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command");
    expect(rig, "EXPIRE k -9223372036854775807", "-ERR invalid expire time in 'expire' command");
    expect(rig, "PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command");
    expect(rig, "EXPIREAT k 9223372036854775807", "-ERR invalid expire time in 'expireat' command");
    expect(rig, "PEXPIREAT k 9223372036854775807", ":0");
    expect(rig, "EXPIRE k x", "-ERR value is not an integer or out of range");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(a_key_is_gone_after_its_last_millisecond),
        rig_test(every_command_takes_an_expired_key_for_none),
        rig_test(a_new_value_has_no_old_expiry),
        rig_test(expire_on_conditions),
        rig_test(a_time_in_the_past_deletes),
        rig_test(times_are_told_in_four_ways),
        rig_test(times_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
