/* covers: control/option_convert, control/options_print, control/address_check */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/address_check.h"
#include "control/config.h"
#include "control/options.h"

static char message[OPTION_MESSAGE_SIZE];

static const struct option *find(const char *key)
{
    for (size_t i = 0; i < option_count(); i++)
        if (strcmp(option_by_index(i)->key, key) == 0)
            return option_by_index(i);
    fail_msg("no option %s", key);
    return NULL;
}

static int64_t number(const char *key, const char *text)
{
    struct option_value value = {0};
    message[0] = 0;
    if (!option_convert(find(key), text, &value, message))
        fail_msg("%s: %s: %s", key, text, message);
    return value.number;
}

static const char *refusal(const char *key, const char *text)
{
    struct option_value value = {-77, NULL};
    message[0] = 0;
    if (option_convert(find(key), text, &value, message))
        fail_msg("%s: %s was taken", key, text);
    assert_int_equal(value.number, -77);
    return message;
}

static void every_default_is_a_value_of_its_option(void **state)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_by_index(i);
        struct option_value value;
        if (!option->default_text || option->default_text == option_required)
            continue;
        if (!option_convert(option, option->default_text, &value, message))
            fail_msg("%s: %s %s", option->key, option->default_text, message);
    }
}

static void every_option_has_a_range_a_help_and_one_name(void **state)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_by_index(i);
        assert_true(option->min <= option->max);
        assert_true(strlen(option->help) > 5);
        assert_true(option->help[strlen(option->help) - 1] == '.');
        assert_ptr_equal(option, option_find(option->section, option->key));
    }
}

static void expect_taken(const struct option *option, int64_t want, const char *unit)
{
    char text[64];
    struct option_value value;
    snprintf(text, sizeof text, "%lld%s", (long long)want, unit);
    if (!option_convert(option, text, &value, message))
        fail_msg("%s: %s: %s", option->key, text, message);
    assert_int_equal(value.number, want);
}

static void expect_out_of_range(const struct option *option, int64_t beyond, const char *unit)
{
    char text[64];
    struct option_value value;
    snprintf(text, sizeof text, "%lld%s", (long long)beyond, unit);
    if (option_convert(option, text, &value, message))
        fail_msg("%s: %s was taken", option->key, text);
    assert_non_null(strstr(message, " is out of range; use "));
}

static void both_ends_of_every_number_are_taken_and_nothing_beyond(void **state)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_by_index(i);
        const char *unit = option->type == OPTION_DURATION ? "ms" : "";
        if (option->type != OPTION_INTEGER && option->type != OPTION_SIZE &&
            option->type != OPTION_DURATION)
            continue;
        expect_taken(option, option->min, unit);
        expect_taken(option, option->max, unit);
        expect_out_of_range(option, option->min - 1, unit);
        expect_out_of_range(option, option->max + 1, unit);
        expect_out_of_range(option, INT64_MAX, unit);
        expect_out_of_range(option, INT64_MIN, unit);
    }
}

static void sizes_count_by_1024_in_either_case(void **state)
{
    assert_int_equal(number("value", "2048"), 2048);
    assert_int_equal(number("value", "2048b"), 2048);
    assert_int_equal(number("value", "64kb"), 65536);
    assert_int_equal(number("value", "64 MB"), 64 << 20);
    assert_int_equal(number("size_max", "3gb"), 3LL << 30);
    assert_int_equal(number("size_max", "2tb"), 2LL << 40);
}

static void durations_become_milliseconds(void **state)
{
    assert_int_equal(number("timeout", "250ms"), 250);
    assert_int_equal(number("timeout", "2s"), 2000);
    assert_int_equal(number("timeout", "3m"), 180000);
    assert_int_equal(number("timeout", "1h"), 3600000);
    assert_int_equal(number("idle", "0"), 0);
}

static void choices_and_bools_become_their_numbers(void **state)
{
    assert_int_equal(number("engine", "redis"), 0);
    assert_int_equal(number("engine", "embedded"), 1);
    assert_int_equal(number("write", "no"), 0);
    assert_int_equal(number("write", "TRUE"), 1);
    assert_int_equal(number("write", "off"), 0);
    assert_int_equal(number("last_key", "-1"), -1);
}

static void numbers_that_are_none_say_what_would_be_right(void **state)
{
    assert_string_equal(refusal("workers", "four"), "'four' is not a whole number; use 0 to 256");
    assert_string_equal(refusal("workers", "4.5"), "'4.5' is not a whole number; use 0 to 256");
    assert_string_equal(refusal("workers", "0x10"), "'0x10' is not a whole number; use 0 to 256");
    assert_string_equal(refusal("workers", "+4"), "'+4' is not a whole number; use 0 to 256");
    assert_string_equal(refusal("workers", " 4"), "' 4' is not a whole number; use 0 to 256");
    assert_string_equal(refusal("workers", "300"), "'300' is out of range; use 0 to 256");
    assert_string_equal(refusal("workers", "99999999999999999999"),
                        "'99999999999999999999' is out of range; use 0 to 256");
}

static void durations_without_or_with_unknown_units_are_refused(void **state)
{
    assert_string_equal(refusal("timeout", "5"), "'5' has no unit; write 5ms, 5s, 5m or 5h");
    assert_string_equal(refusal("timeout", "5sec"),
                        "'5sec' has the unknown unit 'sec'; use ms, s, m or h");
    assert_string_equal(refusal("timeout", "1.5s"),
                        "'1.5s' is not a whole number with a unit (ms, s, m or h)");
    assert_string_equal(refusal("timeout", "soon"),
                        "'soon' is not a whole number with a unit (ms, s, m or h)");
    assert_string_equal(refusal("timeout", "0s"), "'0s' is out of range; use 1ms to 1h");
    assert_string_equal(refusal("timeout", "2h"), "'2h' is out of range; use 1ms to 1h");
    assert_string_equal(refusal("timeout", "9223372036854775807h"),
                        "'9223372036854775807h' is out of range; use 1ms to 1h");
}

static void sizes_with_unknown_units_are_refused(void **state)
{
    assert_string_equal(refusal("value", "64mib"),
                        "'64mib' has the unknown unit 'mib'; use b, kb, mb, gb or tb");
    assert_string_equal(refusal("value", "1gb"), "'1gb' is out of range; use 1kb to 512mb");
    assert_string_equal(refusal("value", "-1kb"), "'-1kb' is out of range; use 1kb to 512mb");
    assert_string_equal(refusal("value", "kb"),
                        "'kb' is not a whole number with a unit (b, kb, mb, gb or tb)");
}

static void unknown_choices_name_the_nearest_or_all(void **state)
{
    assert_string_equal(
        refusal("engine", "redsi"),
        "'redsi' is unknown; did you mean 'redis'? (redis, embedded, memcached or other)");
    assert_string_equal(refusal("engine", "postgres"),
                        "'postgres' is unknown; use redis, embedded, memcached or other");
    assert_string_equal(refusal("write", "maybe"), "'maybe' is neither yes nor no");
}

static void texts_have_lengths(void **state)
{
    char text[1100];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_string_equal(refusal("password", ""), "is empty; give it a value or leave it out");
    assert_string_equal(refusal("password", text), "is 1099 bytes long; use at most 1024");
}

static void addresses_of_every_form_are_taken(void **state)
{
    static const char *const good[] = {
        "127.0.0.1:6379", "[::1]:6379", "localhost:6379", "cache-1.example.com:1",
        "0.0.0.0:0",      "[::]:65535", "a_b:80",         "unix:/run/redis.sock",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!address_check(good[i], message, sizeof message))
            fail_msg("%s: %s", good[i], message);
    number("admin", "off");
}

static void expect_no_address(const char *address, const char *reason)
{
    char want[OPTION_MESSAGE_SIZE];
    snprintf(want, sizeof want, "'%s' is no address: %s", address, reason);
    assert_string_equal(refusal("listen", address), want);
}

static void what_is_no_address_says_why(void **state)
{
    static const struct {
        const char *address, *reason;
    } bad[] = {
        {"127.0.0.1", "the port is missing (write host:port)"},
        {"[::1]", "the port is missing (write [host]:port)"},
        {":6379", "the host is missing"},
        {"a b:6379", "the host name has a character that no host name may have"},
        {"1.2.3.400:6379", "not an IPv4 address"},
        {"localhost:", "the port is missing"},
        {"localhost:x", "the port is not a number"},
        {"localhost:65536", "the port is above 65535"},
        {"[::zz]:6379", "not an IPv6 address"},
        {"inproc:a/b", "inproc: is for embedded nodes, which get it by themselves"},
        {"off", "the port is missing (write host:port)"},
        {"::1:1", "an IPv6 address needs brackets (write [host]:port)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_no_address(bad[i].address, bad[i].reason);
}

static void listeners_collide_when_ports_are_equal_and_hosts_overlap(void **state)
{
    assert_true(address_collides("127.0.0.1:7400", "127.0.0.1:7400"));
    assert_true(address_collides("0.0.0.0:7400", "127.0.0.1:7400"));
    assert_true(address_collides("127.0.0.1:7400", "[::]:7400"));
    assert_true(address_collides("unix:/a", "unix:/a"));
    assert_false(address_collides("127.0.0.1:7400", "127.0.0.1:7401"));
    assert_false(address_collides("127.0.0.1:7400", "127.0.0.2:7400"));
    assert_false(address_collides("127.0.0.1:0", "127.0.0.1:0"));
    assert_false(address_collides("unix:/a", "unix:/b"));
    assert_false(address_collides("off", "127.0.0.1:7400"));
}

static void loopback_is_told_from_the_rest(void **state)
{
    assert_true(address_is_loopback("127.0.0.1:1") && address_is_loopback("[::1]:1"));
    assert_true(address_is_loopback("localhost:1") && address_is_loopback("unix:/a"));
    assert_false(address_is_loopback("0.0.0.0:1") || address_is_loopback("10.0.0.1:1"));
}

static void sizes_and_durations_are_written_in_the_largest_whole_unit(void **state)
{
    char text[32];
    option_format_size(65536, text, sizeof text);
    assert_string_equal(text, "64kb");
    option_format_size(1000, text, sizeof text);
    assert_string_equal(text, "1000b");
    option_format_duration(90000, text, sizeof text);
    assert_string_equal(text, "90s");
    option_format_duration(0, text, sizeof text);
    assert_string_equal(text, "0");
}

static void unknown_keys_suggest_options_and_sections(void **state)
{
    assert_string_equal(option_suggest(SECTION_NODE, "wieght"), "weight");
    assert_string_equal(option_suggest(SECTION_POOL, "node"), "nodes");
    assert_string_equal(option_suggest(SECTION_TOP, "limit"), "limits");
    assert_null(option_suggest(SECTION_TOP, "qwertz"));
}

static void every_option_stands_in_each_print(void **state)
{
    struct buffer reference = BUFFER_INIT, help = BUFFER_INIT;
    options_print_reference(&reference);
    options_print_help(&help);
    buffer_append(&reference, "", 1);
    buffer_append(&help, "", 1);
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_by_index(i);
        char row[80];
        snprintf(row, sizeof row, "\n| `%s` | ", option->key);
        assert_non_null(strstr(buffer_bytes(&reference), row));
        if (option->applies != APPLIES_NOT_YET)
            assert_non_null(strstr(buffer_bytes(&help), option->key));
    }
    assert_non_null(strstr(buffer_bytes(&help), "  pools.*.nodes.*.weight "));
    buffer_release(&reference);
    buffer_release(&help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_a_value_of_its_option),
        cmocka_unit_test(every_option_has_a_range_a_help_and_one_name),
        cmocka_unit_test(both_ends_of_every_number_are_taken_and_nothing_beyond),
        cmocka_unit_test(sizes_count_by_1024_in_either_case),
        cmocka_unit_test(durations_become_milliseconds),
        cmocka_unit_test(choices_and_bools_become_their_numbers),
        cmocka_unit_test(numbers_that_are_none_say_what_would_be_right),
        cmocka_unit_test(durations_without_or_with_unknown_units_are_refused),
        cmocka_unit_test(sizes_with_unknown_units_are_refused),
        cmocka_unit_test(unknown_choices_name_the_nearest_or_all),
        cmocka_unit_test(texts_have_lengths),
        cmocka_unit_test(addresses_of_every_form_are_taken),
        cmocka_unit_test(what_is_no_address_says_why),
        cmocka_unit_test(listeners_collide_when_ports_are_equal_and_hosts_overlap),
        cmocka_unit_test(loopback_is_told_from_the_rest),
        cmocka_unit_test(sizes_and_durations_are_written_in_the_largest_whole_unit),
        cmocka_unit_test(unknown_keys_suggest_options_and_sections),
        cmocka_unit_test(every_option_stands_in_each_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
