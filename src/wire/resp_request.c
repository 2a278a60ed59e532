/*
 * Requests. An array of bulk strings, which is what every client library sends, or an inline
 * command, which is what a person types into telnet (resp_inline.c).
 *
 * The law of the array parser: whenever it stands at `position`, the two bytes before it are CR LF,
 * or will be once they arrive. The position after an announced argument is where the argument will
 * end, so it may lie beyond the bytes that are there; the next call then has nothing to do but
 * compare two numbers. So a payload is never looked at, and a request cut anywhere costs one
 * comparison a call more than a whole one.
 *
 * Memory: arguments are counted as they arrive, never as they are announced.
 */
#include "wire/resp_inline.h"

#include <stdlib.h>

#include "base/assert.h"
#include "wire/resp_number.h"

enum {
    ARG_LEN_MIN = sizeof "$0\r\n\r\n" - 1,
    FEW_ARGS_LEN_MIN = sizeof "*24\r\n" - 1 + RESP_INLINE_ARGS * ARG_LEN_MIN,
};

void resp_request_init(struct resp_request *request)
{
    request->args = request->fixed;
    request->args_capacity = RESP_INLINE_ARGS;
    request->arg_count = request->args_expected = request->position = 0;
    request->length = request->need = 0;
    request->reason = NULL;
    request->is_inline = false;
    request->unquoted = NULL;
}

void resp_request_release(struct resp_request *request)
{
    if (request->args != request->fixed)
        free(request->args);
    free(request->unquoted);
    resp_request_init(request);
}

static enum resp_result bad(struct resp_request *request, const char *reason)
{
    request->reason = reason;
    return RESP_BAD;
}

static bool args_grow(struct resp_request *request)
{
    uint32_t capacity = request->args_capacity * 2;
    bool fixed = request->args == request->fixed;
    struct resp_arg *args = realloc(fixed ? NULL : request->args, capacity * sizeof *args);
    if (!args)
        return false;
    if (fixed)
        memcpy(args, request->fixed, sizeof request->fixed);
    request->args = args;
    request->args_capacity = capacity;
    return true;
}

bool resp_request_push(struct resp_request *request, uint32_t offset, uint32_t len)
{
    if (request->arg_count == request->args_capacity && !args_grow(request))
        return false;
    request->args[request->arg_count++] = (struct resp_arg){offset, len};
    return true;
}

/* The least total length with which the request can be complete: what is announced, and the
 * shortest argument for each that is still to come. */
static uint64_t length_min(const struct resp_request *request)
{
    uint64_t missing = request->args_expected - request->arg_count;
    return request->position + missing * ARG_LEN_MIN;
}

static enum resp_result more(struct resp_request *request, size_t len)
{
    uint64_t need = length_min(request);
    request->need = need > len ? (uint32_t)need : (uint32_t)len + 1; /* else a length line is cut */
    return RESP_MORE;
}

/* "*3\r\n". Zero and negative counts are requests without arguments, as for Redis. */
static enum resp_result read_count(struct resp_request *request, const char *bytes, size_t len,
                                   const struct resp_limits *limits)
{
    const char *at = bytes + 1;
    int64_t count = 0;
    enum resp_result result = resp_read_length_line(&at, bytes + len, &count);
    if (result == RESP_BAD)
        return bad(request, "Protocol error: invalid multibulk length");
    if (result == RESP_MORE) {
        request->need = (uint32_t)len + 1;
        return RESP_MORE;
    }
    if (count > (int64_t)limits->arg_count_max)
        return bad(request, RESP_REASON_ARGUMENTS);
    request->args_expected = count > 0 ? (uint32_t)count : 0;
    request->position = request->length = (uint32_t)(at - bytes);
    if (length_min(request) > limits->request_len_max)
        return bad(request, RESP_REASON_REQUEST);
    return RESP_DONE;
}

/* Every printable byte has its own sentence, because reasons are static. */
static const char *reason_for_type(char got)
{
#define GOT(text) "Protocol error: expected '$', got '" text "'"
    static const char *const reasons[] = {
        GOT(" "), GOT("!"), GOT("\""), GOT("#"), GOT("$"), GOT("%"), GOT("&"),  GOT("'"), GOT("("),
        GOT(")"), GOT("*"), GOT("+"),  GOT(","), GOT("-"), GOT("."), GOT("/"),  GOT("0"), GOT("1"),
        GOT("2"), GOT("3"), GOT("4"),  GOT("5"), GOT("6"), GOT("7"), GOT("8"),  GOT("9"), GOT(":"),
        GOT(";"), GOT("<"), GOT("="),  GOT(">"), GOT("?"), GOT("@"), GOT("A"),  GOT("B"), GOT("C"),
        GOT("D"), GOT("E"), GOT("F"),  GOT("G"), GOT("H"), GOT("I"), GOT("J"),  GOT("K"), GOT("L"),
        GOT("M"), GOT("N"), GOT("O"),  GOT("P"), GOT("Q"), GOT("R"), GOT("S"),  GOT("T"), GOT("U"),
        GOT("V"), GOT("W"), GOT("X"),  GOT("Y"), GOT("Z"), GOT("["), GOT("\\"), GOT("]"), GOT("^"),
        GOT("_"), GOT("`"), GOT("a"),  GOT("b"), GOT("c"), GOT("d"), GOT("e"),  GOT("f"), GOT("g"),
        GOT("h"), GOT("i"), GOT("j"),  GOT("k"), GOT("l"), GOT("m"), GOT("n"),  GOT("o"), GOT("p"),
        GOT("q"), GOT("r"), GOT("s"),  GOT("t"), GOT("u"), GOT("v"), GOT("w"),  GOT("x"), GOT("y"),
        GOT("z"), GOT("{"), GOT("|"),  GOT("}"), GOT("~"),
    };
#undef GOT
    unsigned char index = (unsigned char)(got - ' ');
    if (index < sizeof reasons / sizeof *reasons)
        return reasons[index];
    return "Protocol error: expected '$', got a byte that is not printable";
}

/* The length line of the next argument: "$3\r\n". */
static enum resp_result read_arg_len(struct resp_request *request, const char **at, const char *end,
                                     int64_t *ret_len)
{
    if (*at == end)
        return RESP_MORE;
    if (**at != '$')
        return bad(request, reason_for_type(**at));
    ++*at;
    enum resp_result result = resp_read_length_line(at, end, ret_len);
    if (result == RESP_BAD || (result == RESP_DONE && *ret_len < 0))
        return bad(request, "Protocol error: invalid bulk length");
    return result;
}

/* Takes in the announcement of one argument and moves to where that argument will end. */
static enum resp_result read_arg(struct resp_request *request, const char *bytes, size_t len,
                                 const struct resp_limits *limits)
{
    const char *at = bytes + request->position;
    int64_t arg_len = 0;
    enum resp_result result = read_arg_len(request, &at, bytes + len, &arg_len);
    if (result != RESP_DONE)
        return result;
    if (arg_len > (int64_t)limits->arg_len_max)
        return bad(request, RESP_REASON_VALUE);
    uint64_t offset = (uint64_t)(at - bytes), end = offset + (uint64_t)arg_len + 2;
    uint64_t missing = request->args_expected - request->arg_count - 1;
    if (end + missing * ARG_LEN_MIN > limits->request_len_max)
        return bad(request, RESP_REASON_REQUEST);
    if (!resp_request_push(request, (uint32_t)offset, (uint32_t)arg_len))
        return bad(request, RESP_REASON_MEMORY);
    request->position = (uint32_t)end;
    return RESP_DONE;
}

/* The hot loop: takes in arguments, from *position and up to `last`, as long as they are short and
 * whole. What it does not take, for whatever reason, it leaves to read_arg(). Returns where it
 * stopped. The caller sees to it that no limit is near: `len` leaves room for the arguments that
 * are still to come, and a short argument is no longer than an argument may be. */
static inline struct resp_arg *read_short_args(struct resp_arg *arg, const struct resp_arg *last,
                                               const char *bytes, size_t *position, size_t len)
{
    size_t at = *position;
    do {
        if (at + ARG_LEN_MIN > len || bytes[at] != '$')
            break;
        struct resp_line line = resp_read_short_line(bytes + at + 1);
        size_t offset = at + 1 + line.len, next = offset + line.number + 2;
        if (line.len == 0 || next > len || !resp_is_crlf(bytes + next - 2))
            break;
        *arg++ = (struct resp_arg){(uint32_t)offset, line.number};
        at = next;
    } while (arg < last);
    *position = at;
    return arg;
}

/* The same from where the parser stands and as far as there is room. */
static void read_more_short_args(struct resp_request *request, const char *bytes, size_t len,
                                 const struct resp_limits *limits)
{
    size_t len_max = limits->request_len_max - (size_t)request->args_expected * ARG_LEN_MIN;
    uint32_t expected = request->args_expected, capacity = request->args_capacity;
    const struct resp_arg *last = request->args + (expected < capacity ? expected : capacity);
    struct resp_arg *arg = request->args + request->arg_count;
    size_t position = request->position;
    if (arg == last || limits->arg_len_max < RESP_SHORT_NUMBER_MAX)
        return;
    arg = read_short_args(arg, last, bytes, &position, len < len_max ? len : len_max);
    request->arg_count = (uint32_t)(arg - request->args);
    request->position = (uint32_t)position;
}

__attribute__((noinline)) static enum resp_result read_args(struct resp_request *request,
                                                            const char *bytes, size_t len,
                                                            const struct resp_limits *limits)
{
    while (request->position <= len) {
        if (!resp_is_crlf(bytes + request->position - 2))
            return bad(request, "Protocol error: expected CR LF after an argument");
        read_more_short_args(request, bytes, len, limits);
        if (request->arg_count == request->args_expected) {
            request->length = request->position;
            return RESP_DONE;
        }
        enum resp_result result = read_arg(request, bytes, len, limits);
        if (result == RESP_MORE)
            break;
        if (result == RESP_BAD)
            return RESP_BAD;
    }
    return more(request, len);
}

/* From the start of a request, or from where the last call stopped. Out of line, so that the hot
 * function has no frame. */
__attribute__((noinline)) static enum resp_result parse_slowly(struct resp_request *request,
                                                               const char *bytes, size_t len,
                                                               const struct resp_limits *limits)
{
    CW_ASSERT(limits->request_len_max <= UINT32_MAX); /* offsets and lengths are 32 bits wide */
    if (request->args_expected == 0) {
        if (len == 0) {
            request->need = 1;
            return RESP_MORE;
        }
        if (bytes[0] != '*')
            return resp_inline_parse(request, bytes, len, limits);
        enum resp_result result = read_count(request, bytes, len, limits);
        if (result != RESP_DONE || request->args_expected == 0)
            return result;
    }
    return read_args(request, bytes, len, limits);
}

/* What nearly every call is, a whole request of few and short arguments far from every limit, is
 * done without leaving this function. */
enum resp_result resp_request_parse(struct resp_request *request, const char *bytes, size_t len,
                                    const struct resp_limits *limits)
{
    struct resp_line count = {0, 0};
    if (request->args_expected == 0 && len >= ARG_LEN_MIN && bytes[0] == '*')
        count = resp_read_short_line(bytes + 1);
    if (count.number - 1 >= RESP_INLINE_ARGS || count.number > limits->arg_count_max ||
        limits->arg_len_max < RESP_SHORT_NUMBER_MAX ||
        len + FEW_ARGS_LEN_MIN > limits->request_len_max)
        return parse_slowly(request, bytes, len, limits);
    const struct resp_arg *last = request->args + count.number;
    size_t position = 1 + count.len;
    struct resp_arg *arg = read_short_args(request->args, last, bytes, &position, len);
    request->arg_count = (uint32_t)(arg - request->args);
    request->length = (uint32_t)position;
    if (arg == last)
        return RESP_DONE;
    request->args_expected = count.number;
    request->position = (uint32_t)position;
    return read_args(request, bytes, len, limits);
}
