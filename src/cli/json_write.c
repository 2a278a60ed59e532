#include "cli/json_write.h"

#include "base/utf8.h"

void json_write_string(struct buffer *out, const char *text, size_t len)
{
    buffer_append_text(out, "\"");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            buffer_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buffer_printf(out, "\\u%04x", c);
        else
            buffer_append(out, text + i, 1);
    }
    buffer_append_text(out, "\"");
}

void json_write_key(struct buffer *out, const char *key, size_t len)
{
    if (utf8_is_valid(key, len)) {
        buffer_append_text(out, "\"key\":");
        json_write_string(out, key, len);
        return;
    }
    buffer_append_text(out, "\"key_hex\":\"");
    for (size_t i = 0; i < len; i++)
        buffer_printf(out, "%02x", (unsigned char)key[i]);
    buffer_append_text(out, "\"");
}
