#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/utf8.h"

static void expect(const char *bytes, size_t want_size, uint32_t want)
{
    uint32_t character = 0;
    assert_int_equal(utf8_read(bytes, strlen(bytes), &character), want_size);
    if (want_size)
        assert_int_equal(character, want);
}

static void characters_of_every_length_are_read(void **state)
{
    expect("a", 1, 'a');
    expect("\xc3\xb6", 2, 0xf6);
    expect("\xe6\x97\xa5", 3, 0x65e5);
    expect("\xf0\x9f\x98\x80", 4, 0x1f600);
    expect("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

static void what_is_no_utf8_is_refused(void **state)
{
    static const char *const bad[] = {
        "\x80",         "\xff",         "\xc0\x80",         "\xc1\xbf",         "\xc3",
        "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xe6\x97",
        "\xc3(",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect(bad[i], 0, 0);
        assert_false(utf8_is_valid(bad[i], strlen(bad[i])));
    }
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("h\xc3\xb6 \xe6\x97\xa5", 7));
}

static void every_character_survives_being_written_and_read(void **state)
{
    for (uint32_t c = 0x80; c < 0x10ffff; c += 61) {
        char bytes[5] = {0};
        if (c >= 0xd800 && c < 0xe000)
            continue;
        size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        for (size_t i = size - 1; i > 0; i--)
            bytes[i] = (char)(0x80 | ((c >> (6 * (size - 1 - i))) & 0x3f));
        bytes[0] = (char)((0xf00 >> size) | (c >> (6 * (size - 1))));
        expect(bytes, size, c);
    }
}

static void widths_are_those_of_a_terminal(void **state)
{
    assert_int_equal(utf8_width('a'), 1);
    assert_int_equal(utf8_width(0xf6), 1);
    assert_int_equal(utf8_width(0x301), 0);
    assert_int_equal(utf8_width(0x65e5), 2);
    assert_int_equal(utf8_width(0x1f600), 2);
    assert_int_equal(utf8_width(0x2026), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_of_every_length_are_read),
        cmocka_unit_test(what_is_no_utf8_is_refused),
        cmocka_unit_test(every_character_survives_being_written_and_read),
        cmocka_unit_test(widths_are_those_of_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
