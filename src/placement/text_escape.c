/*
 * Texts of a profile in a map's text: any bytes, as printable ASCII without quotes and backslashes.
 * What is none of that, and '%', is written as % and two upper-case hexadecimal digits.
 */
#include "placement/error.h"
#include "placement/memory.h"
#include "placement/text.h"

#include <string.h>

static int is_plain(unsigned char c)
{
    return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '%';
}

size_t text_escape(const char *text, size_t len, char *ret_text)
{
    static const char digits[16] = "0123456789ABCDEF";
    size_t at = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (is_plain(c)) {
            ret_text[at++] = (char)c;
            continue;
        }
        ret_text[at++] = '%';
        ret_text[at++] = digits[c >> 4];
        ret_text[at++] = digits[c & 15];
    }
    return at;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte at *at of a string, stepping over it; 0 when there is none. */
static char next_byte(const struct json_string *string, size_t *at)
{
    char c = string->text[(*at)++];
    if (c != '%')
        return is_plain((unsigned char)c) ? c : 0;
    if (*at + 2 > string->len)
        return 0;
    int high = digit_of(string->text[*at]), low = digit_of(string->text[*at + 1]);
    *at += 2;
    if (high < 0 || low < 0 || is_plain((unsigned char)(high * 16 + low)))
        return 0;
    return (char)(high * 16 + low);
}

int text_unescape(struct json *json, struct json_string *string)
{
    size_t len = 0;
    if (!json->decoded && !(json->decoded = memory_alloc(json->len, 1)))
        return error_no_memory(json->error);
    char *to = json->decoded + json->decoded_len;
    for (size_t at = 0; at < string->len;) {
        size_t start = at;
        char c = next_byte(string, &at);
        if (c == 0)
            return json_fail(json, string->at + start, CW_EBAD_TEXT,
                             "bytes other than printable ASCII, and the characters %% \" \\, are "
                             "written as %% and two of 0-9 and A-F, and no others");
        to[len++] = c;
    }
    to[len] = 0; /* there is room: the string's quotes are not taken over */
    json->decoded_len += len + 1;
    string->text = to;
    string->len = len;
    return CW_OK;
}
