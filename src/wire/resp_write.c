/*
 * Writers. Each reserves once and writes straight into the buffer; numbers are formatted by hand,
 * two digits a division, because printf costs more than the rest of a reply.
 */
#include "wire/resp.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    DIGITS_MAX = 20,           /* of UINT64_MAX; of INT64_MIN with its sign */
    HEAD_MAX = DIGITS_MAX + 3, /* type byte, number, CR LF */
    ERROR_LEN_MAX = 1024,      /* a formatted error is cut here: it quotes what others sent */
};

static unsigned digit_count(uint64_t number)
{
    for (unsigned count = 1;; count += 4, number /= 10000) {
        if (number < 10)
            return count;
        if (number < 100)
            return count + 1;
        if (number < 1000)
            return count + 2;
        if (number < 10000)
            return count + 3;
    }
}

/* Writes the digits of a number, and returns where they end. */
static char *put_number(char *to, uint64_t number)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char *end = to + digit_count(number), *at = end;
    for (; number >= 100; number /= 100)
        memcpy(at -= 2, pairs + number % 100 * 2, 2);
    if (number >= 10)
        memcpy(at - 2, pairs + number * 2, 2);
    else
        at[-1] = (char)('0' + number);
    return end;
}

static char *put_head(char *to, char type, uint64_t number)
{
    *to++ = type;
    to = put_number(to, number);
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

static char *room_for(struct buffer *out, size_t count)
{
    if (buffer_room(out) >= count)
        return buffer_bytes(out) + out->len;
    return buffer_reserve(out, count);
}

static bool write_head(struct buffer *out, char type, uint64_t number)
{
    char *to = room_for(out, HEAD_MAX);
    if (!to)
        return false;
    buffer_added(out, (size_t)(put_head(to, type, number) - to));
    return true;
}

static bool write_line(struct buffer *out, char type, const char *text, size_t len)
{
    char *to = room_for(out, len + 3);
    if (!to)
        return false;
    *to = type;
    memcpy(to + 1, text, len);
    memcpy(to + 1 + len, "\r\n", 2);
    buffer_added(out, len + 3);
    return true;
}

bool resp_write_simple(struct buffer *out, const char *text)
{
    return write_line(out, '+', text, strlen(text));
}

bool resp_write_error(struct buffer *out, const char *text)
{
    size_t len = strlen(text);
    if (!write_line(out, '-', text, len))
        return false;
    char *line = buffer_bytes(out) + out->len - len - 2;
    for (size_t i = 0; i < len; i++)
        if (line[i] == '\r' || line[i] == '\n')
            line[i] = ' ';
    return true;
}

bool resp_write_errorf(struct buffer *out, const char *format, ...)
{
    char text[ERROR_LEN_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return resp_write_error(out, text);
}

bool resp_write_integer(struct buffer *out, int64_t number)
{
    char *to = room_for(out, HEAD_MAX), *at = to;
    if (!to)
        return false;
    *at++ = ':';
    if (number < 0)
        *at++ = '-';
    at = put_number(at, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
    memcpy(at, "\r\n", 2);
    buffer_added(out, (size_t)(at + 2 - to));
    return true;
}

bool resp_write_bulk(struct buffer *out, const void *bytes, size_t len)
{
    char *to = room_for(out, HEAD_MAX + len + 2);
    if (!to)
        return false;
    char *at = put_head(to, '$', len);
    if (len > 0)
        memcpy(at, bytes, len);
    memcpy(at + len, "\r\n", 2);
    buffer_added(out, (size_t)(at + len + 2 - to));
    return true;
}

bool resp_write_bulk_text(struct buffer *out, const char *text)
{
    return resp_write_bulk(out, text, strlen(text));
}

bool resp_write_null(struct buffer *out, int protocol)
{
    return protocol >= 3 ? buffer_append(out, "_\r\n", 3) : buffer_append(out, "$-1\r\n", 5);
}

bool resp_write_null_array(struct buffer *out, int protocol)
{
    return protocol >= 3 ? buffer_append(out, "_\r\n", 3) : buffer_append(out, "*-1\r\n", 5);
}

bool resp_write_array(struct buffer *out, size_t count)
{
    return write_head(out, '*', count);
}

bool resp_write_map(struct buffer *out, size_t pairs, int protocol)
{
    return protocol >= 3 ? write_head(out, '%', pairs) : write_head(out, '*', pairs * 2);
}

bool resp_write_set(struct buffer *out, size_t count, int protocol)
{
    return write_head(out, protocol >= 3 ? '~' : '*', count);
}

/* As Redis 7.0 prints it: 17 digits, which every double survives, and no exponent's worth of noise
 * about infinities and signs of NaN. */
bool resp_write_double(struct buffer *out, double number, int protocol)
{
    char text[32];
    int len;
    if (isnan(number))
        len = snprintf(text, sizeof text, "nan");
    else if (isinf(number))
        len = snprintf(text, sizeof text, number > 0 ? "inf" : "-inf");
    else
        len = snprintf(text, sizeof text, "%.17g", number);
    return protocol >= 3 ? write_line(out, ',', text, (size_t)len)
                         : resp_write_bulk(out, text, (size_t)len);
}
