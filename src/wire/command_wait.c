#include "wire/command_wait.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NUMBER_LEN_MAX = 63 };

/* A time that is longer than this (30,000 years) has no end. */
#define LONGEST_MS 1e15

/* The server reads seconds as strtold() does. */
static uint64_t read_seconds(struct slice text)
{
    char number[NUMBER_LEN_MAX + 1], *end;
    if (text.len == 0 || text.len > NUMBER_LEN_MAX)
        return WAIT_FOR_EVER;
    memcpy(number, text.ptr, text.len);
    number[text.len] = '\0';
    double ms = strtod(number, &end) * 1000;
    if (end != number + text.len || !(ms > 0 && ms < LONGEST_MS))
        return WAIT_FOR_EVER;
    return (uint64_t)ceil(ms);
}

static uint64_t read_ms(struct slice text)
{
    int64_t ms;
    bool is_time = resp_parse_integer(text, &ms) && ms > 0 && (double)ms < LONGEST_MS;
    return is_time ? (uint64_t)ms : WAIT_FOR_EVER;
}

/* The argument behind BLOCK among the options before STREAMS; 0: there is none. */
static uint32_t find_block(const struct resp_request *request, const char *bytes)
{
    for (uint32_t i = 1; i + 1 < request->arg_count; i++) {
        struct slice word = resp_request_arg(request, bytes, i);
        if (word.len == 5 && strncasecmp(word.ptr, "BLOCK", 5) == 0)
            return i + 1;
        if (word.len == 7 && strncasecmp(word.ptr, "STREAMS", 7) == 0)
            return 0;
        if (word.len == 5 && strncasecmp(word.ptr, "COUNT", 5) == 0)
            i += 1;
        else if (word.len == 5 && strncasecmp(word.ptr, "GROUP", 5) == 0)
            i += 2;
    }
    return 0;
}

bool command_find_wait(const struct command *command, const struct resp_request *request,
                       const char *bytes, struct command_wait *ret_wait)
{
    bool is_ms = command->keys == KEYS_STREAMS;
    uint32_t arg = is_ms                           ? find_block(request, bytes)
                   : command->keys == KEYS_COUNTED ? 1
                                                   : request->arg_count - 1;
    if (arg == 0)
        return false;
    struct slice text = resp_request_arg(request, bytes, arg);
    *ret_wait = (struct command_wait){arg, is_ms, is_ms ? read_ms(text) : read_seconds(text)};
    return true;
}

bool command_write_wait(struct buffer *out, const struct command_wait *wait, uint64_t left_ms)
{
    char text[32];
    if (wait->is_ms)
        snprintf(text, sizeof text, "%" PRIu64, left_ms);
    else
        snprintf(text, sizeof text, "%" PRIu64 ".%03u", left_ms / 1000, (unsigned)(left_ms % 1000));
    return resp_write_bulk_text(out, text);
}
