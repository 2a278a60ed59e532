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

/* The same for what nearly every line is, one or two digits, when the five bytes after the type
 * byte are there; false: take the long way. No message ends in fewer bytes than these after the
 * type byte of a "$" line ("0 CR LF CR LF"), so that only the last line of a cut buffer loses. */
static inline bool resp_read_short_length(const char **at, int64_t *ret_number)
{
    const char *p = *at;
    uint32_t tens = (uint32_t)(unsigned char)p[0] - '0', ones = (uint32_t)(unsigned char)p[1] - '0';
    if (tens > 9)
        return false;
    if (resp_is_crlf(p + 1)) {
        *at = p + 3;
        *ret_number = tens;
        return true;
    }
    if (ones > 9 || tens == 0 || !resp_is_crlf(p + 2))
        return false;
    *at = p + 4;
    *ret_number = tens * 10 + ones;
    return true;
}

#endif
