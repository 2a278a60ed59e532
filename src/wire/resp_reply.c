/*
 * Replies. A router has to know where a reply ends and, nearly always, nothing else. Depth needs no
 * stack: a counter of the values still to come is enough, since an aggregate of n elements only
 * adds n to it. An attribute ('|') adds its elements and stands for no value itself.
 *
 * As with requests, every value ends in CR LF and the scanner's position may run ahead of the bytes
 * that are there, so payloads are jumped over. Lines without a length (errors, numbers) have to be
 * searched for their end; in_line remembers that the search is on.
 *
 * Not understood: the streamed types of RESP3 ("$?", "*?"), which no server sends.
 */
#include "wire/resp_number.h"

enum {
    VALUE_LEN_MIN = sizeof "_\r\n" - 1,
    BULK_LEN_MIN = sizeof "$0\r\n\r\n" - 1,
    FORMAT_LEN = sizeof "txt:" - 1, /* the first bytes of a verbatim string */
    LINE_LEN_SHORT = 24,            /* of every integer; a longer line is worth a call to memchr */
};

#define REASON_TYPE   "the reply has an unknown type byte"
#define REASON_LENGTH "the reply has an invalid length"
#define REASON_LONG   "the reply is too long"
#define REASON_END    "the reply has a string that does not end in CR LF"

enum shape { SHAPE_NONE, SHAPE_LINE, SHAPE_STRING, SHAPE_AGGREGATE };

static enum shape shape_of(char type)
{
    switch (type) {
    case '$':
    case '!':
    case '=': return SHAPE_STRING;
    case '*':
    case '%':
    case '~':
    case '|':
    case '>': return SHAPE_AGGREGATE;
    case '+':
    case '-':
    case ':':
    case '_':
    case '#':
    case ',':
    case '(': return SHAPE_LINE;
    default: return SHAPE_NONE;
    }
}

static bool may_be_null(char type)
{
    return type == '$' || type == '*';
}

/* The length in the head of a string or an aggregate, elements of pairs counted singly; -1: null.
 * *at is behind the type byte. */
static enum resp_result read_length(char type, const char **at, const char *end,
                                    int64_t *ret_length)
{
    int64_t length = 0;
    enum resp_result result = resp_read_length_line(at, end, &length);
    if (result != RESP_DONE)
        return result;
    if (length < -1 || (length == -1 && !may_be_null(type)) || length > INT64_MAX / 2)
        return RESP_BAD;
    *ret_length = type == '%' || type == '|' ? length * 2 : length;
    return RESP_DONE;
}

static enum resp_result bad(struct resp_scanner *scanner, const char *reason)
{
    scanner->reason = reason;
    return RESP_BAD;
}

/* Searches on for the CR LF of a line; a lone CR or LF is part of it. */
static enum resp_result scan_line(struct resp_scanner *scanner, const char *bytes, size_t len,
                                  size_t len_max)
{
    size_t end = len < len_max ? len : len_max;
    while (scanner->position < end) {
        const char *from = bytes + scanner->position;
        const char *newline = memchr(from, '\n', end - scanner->position);
        scanner->position = newline ? (size_t)(newline - bytes) + 1 : end;
        if (newline && newline[-1] == '\r') {
            scanner->in_line = false;
            scanner->remaining--;
            return RESP_DONE;
        }
    }
    return end == len_max ? bad(scanner, REASON_LONG) : RESP_MORE;
}

/* Jumps over a string, or into an aggregate. Whether what is still to come can fit is asked only
 * when it grows, in an aggregate: the hot loop does not ask after each string, and where a reply is
 * cut must not decide what is wrong with it. */
static enum resp_result scan_length(struct resp_scanner *scanner, const char *bytes, size_t len,
                                    size_t len_max, bool is_string)
{
    const char *at = bytes + scanner->position, type = *at++;
    int64_t length = 0;
    enum resp_result result = read_length(type, &at, bytes + len, &length);
    if (result == RESP_BAD)
        return bad(scanner, REASON_LENGTH);
    if (result == RESP_MORE)
        return RESP_MORE;
    size_t position = (size_t)(at - bytes);
    uint64_t remaining = scanner->remaining - (type != '|');
    if (is_string && length >= 0)
        position += (size_t)length + 2;
    if (!is_string && length > 0)
        remaining += (uint64_t)length;
    bool fits = position <= len_max;
    if (!is_string && fits)
        fits = remaining <= (len_max - position) / VALUE_LEN_MIN;
    if (!fits)
        return bad(scanner, REASON_LONG);
    scanner->position = position;
    scanner->remaining = remaining;
    return RESP_DONE;
}

static enum resp_result scan_value(struct resp_scanner *scanner, const char *bytes, size_t len,
                                   size_t len_max)
{
    enum shape shape = shape_of(bytes[scanner->position]);
    switch (shape) {
    case SHAPE_STRING:
    case SHAPE_AGGREGATE: return scan_length(scanner, bytes, len, len_max, shape == SHAPE_STRING);
    case SHAPE_LINE:
        scanner->in_line = true;
        scanner->position++;
        return scan_line(scanner, bytes, len, len_max);
    default: return bad(scanner, REASON_TYPE);
    }
}

/* The length of a string of at most 99 bytes or a null, when all of it is there; otherwise 0. */
static inline size_t short_string_len(const char *at, size_t len)
{
    static const char null[] = "$-1\r\n";
    if (len >= BULK_LEN_MIN) {
        struct resp_line line = resp_read_short_line(at + 1);
        size_t value_len = 1 + line.len + line.number + 2;
        if (line.len > 0 && value_len <= len && resp_is_crlf(at + value_len - 2))
            return value_len;
    }
    return len >= sizeof null - 1 && memcmp(at, null, sizeof null - 1) == 0 ? sizeof null - 1 : 0;
}

/* The length of a line that is there and short enough to be searched by hand; otherwise 0. */
static inline size_t short_line_len(const char *at, size_t len)
{
    size_t search_len = len < LINE_LEN_SHORT ? len : LINE_LEN_SHORT;
    for (size_t i = 1; i + 1 < search_len; i++)
        if (at[i] == '\r')
            return at[i + 1] == '\n' ? i + 2 : 0;
    return 0;
}

static inline size_t short_value_len(const char *at, size_t len)
{
    if (*at == '$')
        return short_string_len(at, len);
    return *at == '+' || *at == ':' ? short_line_len(at, len) : 0;
}

/* The hot loop: takes in what most replies are made of. What it does not take it leaves to
 * scan_value(). Something remains; `len` is the smaller of what is there and what there may be. */
static inline void scan_short_values(struct resp_scanner *scanner, const char *bytes, size_t len)
{
    size_t at = scanner->position;
    uint64_t remaining = scanner->remaining;
    while (at < len) {
        size_t value_len = short_value_len(bytes + at, len - at);
        at += value_len;
        if (value_len == 0 || --remaining == 0)
            break;
    }
    scanner->remaining = remaining;
    scanner->position = at;
}

__attribute__((noinline)) static enum resp_result
scan_slowly(struct resp_scanner *scanner, const char *bytes, size_t len, size_t len_max)
{
    enum resp_result result = RESP_DONE;
    if (scanner->in_line)
        result = scan_line(scanner, bytes, len, len_max);
    while (result == RESP_DONE && scanner->position <= len) {
        if (scanner->position > 0 && !resp_is_crlf(bytes + scanner->position - 2))
            return bad(scanner, REASON_END);
        if (scanner->remaining > 0)
            scan_short_values(scanner, bytes, len < len_max ? len : len_max);
        if (scanner->remaining == 0)
            return RESP_DONE;
        if (scanner->position == len)
            return RESP_MORE;
        result = scan_value(scanner, bytes, len, len_max);
    }
    return result == RESP_BAD ? RESP_BAD : RESP_MORE;
}

enum resp_result resp_scan(struct resp_scanner *scanner, const char *bytes, size_t len,
                           size_t len_max)
{
    if (scanner->position == 0) {
        scan_short_values(scanner, bytes, len < len_max ? len : len_max);
        if (scanner->remaining == 0)
            return RESP_DONE;
    }
    return scan_slowly(scanner, bytes, len, len_max);
}

/* ---- one value ------------------------------------------------------------------------------- */

/* Finds the end of a line whose first byte after the type is at `at`. */
static enum resp_result read_line(const char *at, const char *end, struct slice *ret_text)
{
    const char *from = at;
    for (const char *newline; (newline = memchr(from, '\n', (size_t)(end - from)));) {
        if (newline > at && newline[-1] == '\r') {
            *ret_text = (struct slice){at, (size_t)(newline - 1 - at)};
            return RESP_DONE;
        }
        from = newline + 1;
    }
    return RESP_MORE;
}

static enum resp_result read_line_value(const char *bytes, size_t len, struct resp_value *ret_value)
{
    struct resp_value value = {.type = bytes[0]};
    enum resp_result result = read_line(bytes + 1, bytes + len, &value.text);
    if (result != RESP_DONE)
        return result;
    value.head_len = value.text.len + 3;
    struct slice digits = value.text;
    if (digits.len > 1 && digits.ptr[0] == '+' && digits.ptr[1] != '-')
        digits = (struct slice){digits.ptr + 1, digits.len - 1};
    if (value.type == ':' && !resp_parse_integer(digits, &value.integer))
        return RESP_BAD;
    if (value.type == '#') {
        if (value.text.len != 1 || (value.text.ptr[0] != 't' && value.text.ptr[0] != 'f'))
            return RESP_BAD;
        value.integer = value.text.ptr[0] == 't';
    }
    value.is_null = value.type == '_';
    if (value.is_null && value.text.len > 0)
        return RESP_BAD;
    *ret_value = value;
    return RESP_DONE;
}

/* The payload of a string whose head is head_len bytes long. */
static enum resp_result read_payload(const char *bytes, size_t len, size_t payload_len,
                                     struct resp_value *value)
{
    size_t room = len - value->head_len;
    if (room < 2 || room - 2 < payload_len)
        return RESP_MORE;
    value->text = (struct slice){bytes + value->head_len, payload_len};
    value->head_len += payload_len + 2;
    if (!resp_is_crlf(bytes + value->head_len - 2))
        return RESP_BAD;
    if (value->type != '=')
        return RESP_DONE;
    if (payload_len < FORMAT_LEN || value->text.ptr[FORMAT_LEN - 1] != ':')
        return RESP_BAD;
    value->text.ptr += FORMAT_LEN;
    value->text.len -= FORMAT_LEN;
    return RESP_DONE;
}

static enum resp_result read_length_value(const char *bytes, size_t len, bool is_string,
                                          struct resp_value *ret_value)
{
    struct resp_value value = {.type = bytes[0]};
    const char *at = bytes + 1;
    int64_t length = 0;
    enum resp_result result = read_length(value.type, &at, bytes + len, &length);
    if (result != RESP_DONE)
        return result;
    value.head_len = (size_t)(at - bytes);
    value.is_null = length < 0;
    if (!is_string && length > 0)
        value.integer = length;
    if (is_string && length >= 0)
        result = read_payload(bytes, len, (size_t)length, &value);
    if (result == RESP_DONE)
        *ret_value = value;
    return result;
}

enum resp_result resp_read_value(const char *bytes, size_t len, struct resp_value *ret_value)
{
    if (len == 0)
        return RESP_MORE;
    switch (shape_of(bytes[0])) {
    case SHAPE_LINE: return read_line_value(bytes, len, ret_value);
    case SHAPE_STRING: return read_length_value(bytes, len, true, ret_value);
    case SHAPE_AGGREGATE: return read_length_value(bytes, len, false, ret_value);
    default: return RESP_BAD;
    }
}
