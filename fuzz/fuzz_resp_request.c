/*
 * The parser of requests: a stream parsed in pieces gives what it gives in one, arguments lie
 * inside the request, and its keys are among them; so is the time that a request may wait, and what
 * is written in its place is read as the same time. The first byte chooses the limits, the second
 * the cuts.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "base/random.h"
#include "wire/command_wait.h"
#include "wire/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct resp_limits limits_of[] = {
    {1 << 20, 512 << 20, 64 << 10, (size_t)1 << 31},
    {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
    {16, 128, 64, 1024},
    {4, 99, 16, 80},
    {3, 8, 8, 32},
};
enum { LIMITS_COUNT = sizeof limits_of / sizeof *limits_of };

/* Of exactly its length, so that a byte too far is seen. */
static char *copy_of(const char *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);
    CW_ASSERT(copy);
    return memcpy(copy, bytes, len);
}

static enum resp_result parse_in_pieces(struct resp_request *request, const char *bytes, size_t len,
                                        const struct resp_limits *limits, struct random *random)
{
    enum resp_result result = RESP_MORE;
    uint32_t position = 0;
    for (size_t there = 0; there < len && result == RESP_MORE;) {
        there += 1 + random_below(random, 1 + random_below(random, 48));
        there = there < len ? there : len;
        char *piece = copy_of(bytes, there);
        result = resp_request_parse(request, piece, there, limits);
        free(piece);
        CW_ASSERT(request->position >= position || result != RESP_MORE);
        CW_ASSERT(request->need > there || result != RESP_MORE);
        position = request->position;
    }
    return result;
}

/* The request again, with the wait written anew. */
static void write_again(struct buffer *out, const struct resp_request *request, const char *bytes,
                        const struct command_wait *wait)
{
    CW_ASSERT(resp_write_array(out, request->arg_count));
    for (uint32_t i = 0; i < request->arg_count; i++) {
        struct slice arg = resp_request_arg(request, bytes, i);
        CW_ASSERT(i == wait->arg ? command_write_wait(out, wait, wait->timeout_ms)
                                 : resp_write_bulk(out, arg.ptr, arg.len));
    }
}

static void check_wait(const struct command *command, const struct resp_request *request,
                       const char *bytes)
{
    struct command_wait wait, again;
    struct resp_request written;
    struct buffer out = BUFFER_INIT;
    if (!(command->flags & COMMAND_BLOCKING) || !command_find_wait(command, request, bytes, &wait))
        return;
    CW_ASSERT(wait.arg > 0 && wait.arg < request->arg_count && wait.timeout_ms > 0);
    if (wait.timeout_ms == WAIT_FOR_EVER)
        return;
    write_again(&out, request, bytes, &wait);
    resp_request_init(&written);
    CW_ASSERT(resp_request_parse(&written, buffer_bytes(&out), out.len, &limits_of[1]) ==
              RESP_DONE);
    CW_ASSERT(command_find_wait(command, &written, buffer_bytes(&out), &again));
    CW_ASSERT(again.arg == wait.arg && again.is_ms == wait.is_ms);
    /* A thousandth has no exact double: rounded up, it may be one more. */
    CW_ASSERT(again.timeout_ms - wait.timeout_ms <= !wait.is_ms);
    resp_request_release(&written);
    buffer_release(&out);
}

static void check_args(const struct resp_request *request, const char *bytes)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < request->arg_count; i++) {
        CW_ASSERT(request->args[i].offset >= end);
        end = request->args[i].offset + request->args[i].len;
        CW_ASSERT(end <= request->length);
    }
    if (request->arg_count == 0)
        return;
    struct slice name = resp_request_arg(request, bytes, 0);
    const struct command *command = command_find(name.ptr, name.len);
    struct command_key_range keys;
    if (!command || !command_arity_fits(command, request->arg_count) ||
        command_find_keys(command, request, bytes, &keys))
        return;
    CW_ASSERT(keys.extra < request->arg_count && keys.step > 0);
    CW_ASSERT(keys.count == 0 ||
              keys.first + (uint64_t)(keys.count - 1) * keys.step < request->arg_count);
    check_wait(command, request, bytes);
}

static void compare(const struct resp_request *whole, const struct resp_request *cut,
                    enum resp_result result, const char *bytes)
{
    if (result == RESP_BAD)
        CW_ASSERT(whole->reason == cut->reason && whole->reason);
    if (result != RESP_DONE)
        return;
    CW_ASSERT(whole->length == cut->length && whole->arg_count == cut->arg_count);
    for (uint32_t i = 0; i < whole->arg_count; i++) {
        struct slice a = resp_request_arg(whole, bytes, i), b = resp_request_arg(cut, bytes, i);
        CW_ASSERT(a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct resp_limits *limits = &limits_of[data[0] % LIMITS_COUNT];
    struct random random = {data[1]};
    struct resp_request whole, cut;
    const char *stream = (const char *)data + 2;
    enum resp_result result = RESP_DONE;
    resp_request_init(&whole);
    resp_request_init(&cut);
    for (size_t left = size - 2; left > 0 && result == RESP_DONE;) {
        char *bytes = copy_of(stream, left);
        result = resp_request_parse(&whole, bytes, left, limits);
        CW_ASSERT(parse_in_pieces(&cut, bytes, left, limits, &random) == result);
        compare(&whole, &cut, result, bytes);
        if (result == RESP_DONE) {
            CW_ASSERT(whole.length > 0 && whole.length <= left);
            check_args(&whole, bytes);
            stream += whole.length;
            left -= whole.length;
        }
        free(bytes);
        resp_request_reset(&whole);
        resp_request_reset(&cut);
    }
    resp_request_release(&whole);
    resp_request_release(&cut);
    return 0;
}
