/*
 * Decimal integers as Redis reads them (string2ll): one spelling for each number, nothing around
 * it. Two spellings of one length would be an invitation to request smuggling between us and a
 * server that reads the second one otherwise.
 */
#include "wire/resp_number.h"

enum { DIGITS_MAX = 19 }; /* of INT64_MAX */

/* Reads sign and digits and stops at the first byte that is neither. BAD when the number is too
 * large or misspelt; MORE when nothing or only a sign stands there. The magnitude is kept unsigned,
 * where 19 digits always fit. */
static enum resp_result read_digits(const char **at, const char *end, int64_t *ret_number)
{
    const char *p = *at;
    bool negative = p < end && *p == '-';
    uint64_t magnitude = 0, max = (uint64_t)INT64_MAX + negative;
    const char *first = p += negative;
    for (; p < end && (unsigned char)(*p - '0') <= 9; p++) {
        if (p - first == DIGITS_MAX)
            return RESP_BAD;
        magnitude = magnitude * 10 + (uint64_t)(*p - '0');
    }
    if (p == first)
        return p == end ? RESP_MORE : RESP_BAD;
    bool leading_zero = *first == '0' && (negative || p - first > 1);
    if (leading_zero || magnitude > max)
        return RESP_BAD;
    *at = p;
    *ret_number = (int64_t)(negative ? 0 - magnitude : magnitude);
    return RESP_DONE;
}

enum resp_result resp_read_length_line(const char **at, const char *end, int64_t *ret_number)
{
    const char *p = *at;
    int64_t number = 0;
    enum resp_result result = read_digits(&p, end, &number);
    if (result != RESP_DONE)
        return result;
    if (p < end && *p != '\r')
        return RESP_BAD;
    if (end - p < 2)
        return RESP_MORE;
    if (p[1] != '\n')
        return RESP_BAD;
    *at = p + 2;
    *ret_number = number;
    return RESP_DONE;
}

bool resp_parse_integer(struct slice text, int64_t *ret_number)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    int64_t number;
    if (text.len == 0 || text.len > DIGITS_MAX + 1)
        return false;
    if (read_digits(&p, end, &number) != RESP_DONE || p != end)
        return false;
    *ret_number = number;
    return true;
}
