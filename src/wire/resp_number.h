/*
 * The length lines of RESP ("*3\r\n", "$16\r\n"): shared by the parsers of requests and replies,
 * used by nobody else. Static storage only, no state.
 */
#ifndef WIRE_RESP_NUMBER_H
#define WIRE_RESP_NUMBER_H

#include "wire/resp.h"

static inline bool resp_is_crlf(const char *at)
{
    uint16_t pair, crlf;
    memcpy(&pair, at, 2);
    memcpy(&crlf, "\r\n", 2);
    return pair == crlf;
}

/* Reads the number of the length line at *at, whose type byte is already behind: an optional '-',
 * digits without leading zeros, CR LF. DONE: *at is past the line. MORE: it ends at `end`, so far
 * correct. A line has at most 22 bytes, so that reading it again after a cut costs nothing. */
enum resp_result resp_read_length_line(const char **at, const char *end, int64_t *ret_number);

/* A length line as far as it follows the type byte: the number in it, and how many bytes it has; 0
 * if it was not read. By value, so that the hot loops keep everything in registers. */
struct resp_line {
    uint32_t number;
    uint32_t len;
};

enum { RESP_SHORT_NUMBER_MAX = 99 };

/* The same for what nearly every line is, one or two digits at `digits`; the four bytes from there
 * have to exist. After the type byte of a string there are five at least ("0 CR LF CR LF"), so only
 * the last line of a cut buffer takes the long way. */
static inline struct resp_line resp_read_short_line(const char *digits)
{
    uint32_t tens = (uint32_t)(unsigned char)digits[0] - '0';
    uint32_t ones = (uint32_t)(unsigned char)digits[1] - '0';
    if (tens > 9)
        return (struct resp_line){0, 0};
    if (resp_is_crlf(digits + 1))
        return (struct resp_line){tens, 3};
    if (ones > 9 || tens == 0 || !resp_is_crlf(digits + 2))
        return (struct resp_line){0, 0};
    return (struct resp_line){tens * 10 + ones, 4};
}

#endif
