/* Numbers in strings. */
#include "store/engine_rig.h"

static void integers_count_up_and_down(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "INCR n", ":1");
    expect(rig, "INCRBY n 41", ":42");
    expect(rig, "DECR n", ":41");
    expect(rig, "DECRBY n 50", ":-9");
    expect(rig, "DECRBY n -9", ":0");
    expect(rig, "GET n", "$1 0");
    expect(rig, "INCRBY n x", "-ERR value is not an integer or out of range");
}

static void counting_keeps_the_expiry(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET n 1 PX 5000", "+OK");
    expect(rig, "INCR n", ":2");
    expect(rig, "INCRBYFLOAT n 0.5", "$3 2.5");
    expect(rig, "PTTL n", ":5000");
}

static void what_is_no_integer_does_not_count(void **state)
{
    struct engine_rig *rig = *state;
    static const char *const bad[] = {
        "abc", "1.5", "''", "' 1'", "'1 '", "01", "+1", "-0", "9223372036854775808"};
    char line[64];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(line, sizeof line, "SET n %s", bad[i]);
        expect(rig, line, "+OK");
        expect(rig, "INCR n", "-ERR value is not an integer or out of range");
    }
}

static void an_overflow_is_an_error_and_changes_nothing(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET n 9223372036854775807", "+OK");
    expect(rig, "INCR n", "-ERR increment or decrement would overflow");
    expect(rig, "GET n", "$19 9223372036854775807");
    expect(rig, "SET n -9223372036854775808", "+OK");
    expect(rig, "DECR n", "-ERR increment or decrement would overflow");
    expect(rig, "DECRBY n -9223372036854775808", "-ERR decrement would overflow");
}

static void floats_are_printed_as_by_redis(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET f 10.50", "+OK");
    expect(rig, "INCRBYFLOAT f 0.1", "$4 10.6");
    expect(rig, "INCRBYFLOAT f -5", "$3 5.6");
    expect(rig, "SET f 5.0e3", "+OK");
    expect(rig, "INCRBYFLOAT f 2.0e2", "$4 5200");
    expect(rig, "INCRBYFLOAT f -5200", "$1 0");
    expect(rig, "INCRBYFLOAT g 1e-18", "$1 0");
    expect(rig, "INCRBYFLOAT h 3", "$1 3");
}

static void what_is_no_float_is_refused(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "INCRBYFLOAT f x", "-ERR value is not a valid float");
    expect(rig, "INCRBYFLOAT f ' 1'", "-ERR value is not a valid float");
    expect(rig, "INCRBYFLOAT f nan", "-ERR value is not a valid float");
    expect(rig, "INCRBYFLOAT f inf", "-ERR increment would produce NaN or Infinity");
    expect(rig, "INCRBYFLOAT f 1e5000", "-ERR value is not a valid float");
    expect(rig, "SET f abc", "+OK");
    expect(rig, "INCRBYFLOAT f 1", "-ERR value is not a valid float");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(integers_count_up_and_down),
        rig_test(counting_keeps_the_expiry),
        rig_test(what_is_no_integer_does_not_count),
        rig_test(an_overflow_is_an_error_and_changes_nothing),
        rig_test(floats_are_printed_as_by_redis),
        rig_test(what_is_no_float_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
