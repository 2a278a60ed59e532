/*
 * Inline commands, by the quoting rules of Redis (sdssplitargs): words are separated by blanks;
 * "..." knows \n \r \t \b \a \xHH and takes any other escaped byte as it is; '...' knows only \';
 * a quote may begin inside a word, but a blank or the end must follow where it closes.
 * The line is looked for once, from where the last call stopped, and split when it is complete. No
 * word grows by losing its quotes, so one allocation of the line's length holds them all.
 */
#include "wire/resp_inline.h"

#include <stdlib.h>
#include <strings.h>

/* A line that is being split: read at `at`, written at `to`. */
struct line {
    const char *at, *end;
    char *to;
};

static enum resp_result bad(struct resp_request *request, const char *reason)
{
    request->reason = reason;
    return RESP_BAD;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Not every blank: Redis skips vertical tabs and form feeds between words and keeps them inside. */
static bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands after a backslash in double quotes; line->at is on the byte after it. */
static char read_escape(struct line *line)
{
    char c = *line->at++;
    switch (c) {
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'b': return '\b';
    case 'a': return '\a';
    case 'x': break;
    default: return c;
    }
    int high = line->end - line->at >= 2 ? hex_digit(line->at[0]) : -1;
    int low = high >= 0 ? hex_digit(line->at[1]) : -1;
    if (low < 0)
        return c;
    line->at += 2;
    return (char)(high << 4 | low);
}

/* The rest of a quoted run, whose opening quote is behind; false when it does not close, or when
 * something follows the closing quote. */
static bool read_quoted(struct line *line, char quote)
{
    while (line->at < line->end) {
        char c = *line->at++;
        if (c == quote)
            return line->at == line->end || is_blank(*line->at);
        bool escapes = line->at < line->end && (quote == '"' || *line->at == '\'');
        if (c == '\\' && escapes)
            c = read_escape(line);
        *line->to++ = c;
    }
    return false;
}

static bool read_word(struct line *line)
{
    while (line->at < line->end && !ends_word(*line->at)) {
        char c = *line->at++;
        if (c != '"' && c != '\'')
            *line->to++ = c;
        else if (!read_quoted(line, c))
            return false;
    }
    return true;
}

static enum resp_result split(struct resp_request *request, struct line *line,
                              const struct resp_limits *limits)
{
    for (;;) {
        while (line->at < line->end && is_blank(*line->at))
            line->at++;
        if (line->at == line->end)
            return RESP_DONE;
        if (request->arg_count == limits->arg_count_max)
            return bad(request, RESP_REASON_ARGUMENTS);
        char *word = line->to;
        if (!read_word(line))
            return bad(request, "Protocol error: unbalanced quotes in request");
        size_t word_len = (size_t)(line->to - word);
        if (word_len > limits->arg_len_max)
            return bad(request, RESP_REASON_VALUE);
        if (!resp_request_push(request, (uint32_t)(word - request->unquoted), (uint32_t)word_len))
            return bad(request, RESP_REASON_MEMORY);
    }
}

/* A browser can be made to send our commands in the body of a POST; its head comes first and gives
 * it away (Redis closes such connections for the same reason). */
static bool is_http(const struct resp_request *request)
{
    if (request->arg_count == 0)
        return false;
    struct slice first = resp_request_arg(request, NULL, 0);
    return (first.len == 4 && strncasecmp(first.ptr, "post", 4) == 0) ||
           (first.len == 5 && strncasecmp(first.ptr, "host:", 5) == 0);
}

static enum resp_result split_line(struct resp_request *request, const char *bytes, size_t line_len,
                                   const struct resp_limits *limits)
{
    request->unquoted = malloc(line_len + 1);
    if (!request->unquoted)
        return bad(request, RESP_REASON_MEMORY);
    struct line line = {bytes, bytes + line_len, request->unquoted};
    enum resp_result result = split(request, &line, limits);
    if (result == RESP_DONE && is_http(request))
        return bad(request, "Protocol error: this is HTTP; the port speaks the Redis protocol");
    return result;
}

static enum resp_result more(struct resp_request *request, size_t len)
{
    request->position = (uint32_t)len;
    request->need = (uint32_t)len + 1;
    return RESP_MORE;
}

enum resp_result resp_inline_parse(struct resp_request *request, const char *bytes, size_t len,
                                   const struct resp_limits *limits)
{
    size_t search_max = (size_t)limits->inline_len_max + 2; /* CR LF come on top */
    size_t search_len = len < search_max ? len : search_max;
    if (bytes[0] == 0x16)
        return bad(request, "Protocol error: this is TLS; the port speaks the Redis protocol");
    request->is_inline = true;
    const char *newline = memchr(bytes + request->position, '\n', search_len - request->position);
    if (!newline && len < search_max && len < limits->request_len_max)
        return more(request, len);
    size_t line_len = newline ? (size_t)(newline - bytes) : search_len;
    size_t length = line_len + 1;
    if (length > limits->request_len_max)
        return bad(request, RESP_REASON_REQUEST);
    if (newline && line_len > 0 && newline[-1] == '\r')
        line_len--;
    if (line_len > limits->inline_len_max)
        return bad(request, "Protocol error: too big inline request (limits.inline)");
    request->length = (uint32_t)length;
    return split_line(request, bytes, line_len, limits);
}
