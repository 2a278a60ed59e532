#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "cli/json_write.h"

static void expect_key(const char *key, size_t len, const char *want)
{
    struct buffer out = BUFFER_INIT;
    json_write_key(&out, key, len);
    buffer_append(&out, "", 1);
    assert_string_equal(buffer_bytes(&out), want);
    buffer_release(&out);
}

static void keys_are_strings_when_they_are_text_and_hex_when_not(void **state)
{
    expect_key("a", 1, "\"key\":\"a\"");
    expect_key("", 0, "\"key\":\"\"");
    expect_key("h\xc3\xb6", 3, "\"key\":\"h\xc3\xb6\"");
    expect_key("a\"\\\n\0", 5, "\"key\":\"a\\\"\\\\\\u000a\\u0000\"");
    expect_key("\xff\0", 2, "\"key_hex\":\"ff00\"");
}

static void every_byte_survives_a_parser(void **state)
{
    for (int c = 0; c < 256; c++) {
        char key = (char)c;
        struct buffer out = BUFFER_INIT;
        buffer_append_text(&out, "{");
        json_write_key(&out, &key, 1);
        buffer_append_text(&out, "}");
        json_t *root = json_loadb(buffer_bytes(&out), out.len, JSON_ALLOW_NUL, NULL);
        assert_non_null(root);
        const json_t *text = json_object_get(root, "key");
        assert_true(c < 0x80
                        ? text && json_string_length(text) == 1 && json_string_value(text)[0] == key
                        : text == NULL);
        json_decref(root);
        buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_strings_when_they_are_text_and_hex_when_not),
        cmocka_unit_test(every_byte_survives_a_parser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
