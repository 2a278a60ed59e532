/*
 * Parses input that comes in pieces and describes what came of it as text, so that tests compare
 * texts and a failure prints both. Each piece is parsed from memory of exactly its length, at a new
 * address, so that a sanitizer sees a read too far and a parser that kept a pointer.
 */
#ifndef TESTS_WIRE_DESCRIBE_H
#define TESTS_WIRE_DESCRIBE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/random.h"
#include "wire/resp.h"

/* Where the input is cut: the lengths that are there at each call, the last one being all. */
struct cuts {
    size_t lengths[4096];
    size_t count;
};

static inline struct cuts cut_at_every_byte(size_t len)
{
    struct cuts cuts = {.count = 0};
    assert_in_range(len, 1, 4096);
    while (cuts.count < len) {
        cuts.lengths[cuts.count] = cuts.count + 1;
        cuts.count++;
    }
    return cuts;
}

static inline struct cuts cut_once(size_t at, size_t len)
{
    return (struct cuts){.lengths = {at, len}, .count = 2};
}

static inline struct cuts cut_nowhere(size_t len)
{
    return (struct cuts){.lengths = {len}, .count = 1};
}

static inline struct cuts cut_at_random(struct random *random, size_t len)
{
    struct cuts cuts = {.count = 0};
    for (size_t at = 0; at < len && cuts.count < 4095;) {
        at += 1 + random_below(random, 1 + random_below(random, 64));
        if (at < len)
            cuts.lengths[cuts.count++] = at;
    }
    cuts.lengths[cuts.count++] = len;
    return cuts;
}

static inline void describe_slice(struct buffer *text, struct slice slice)
{
    assert_true(buffer_printf(text, "["));
    for (size_t i = 0; i < slice.len; i++) {
        unsigned char c = (unsigned char)slice.ptr[i];
        if (c < ' ' || c > '~' || c == '\\')
            assert_true(buffer_printf(text, "\\x%02x", c));
        else
            assert_true(buffer_append(text, &c, 1));
    }
    assert_true(buffer_printf(text, "]"));
}

static inline void describe_result(struct buffer *text, enum resp_result result, size_t length,
                                   const char *reason)
{
    if (result == RESP_DONE)
        assert_true(buffer_printf(text, "done %zu ", length));
    else
        assert_true(buffer_printf(text, "%s", result == RESP_MORE ? "more" : reason));
}

/* The text of a buffer as a string, which the caller frees. */
static inline char *describe_end(struct buffer *text)
{
    char *string = calloc(1, text->len + 1);
    assert_non_null(string);
    memcpy(string, buffer_bytes(text), text->len);
    buffer_release(text);
    return string;
}

static inline char *copy_of(const char *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    return copy;
}

/* "done LENGTH [arg][arg]", "more", or the reason why not. */
static inline char *describe_request(const char *bytes, const struct cuts *cuts,
                                     const struct resp_limits *limits)
{
    struct buffer text = BUFFER_INIT;
    struct resp_request request;
    enum resp_result result = RESP_MORE;
    char *piece = NULL;
    uint32_t need = 0;
    resp_request_init(&request);
    for (size_t i = 0; i < cuts->count && result == RESP_MORE; i++) {
        free(piece);
        piece = copy_of(bytes, cuts->lengths[i]);
        result = resp_request_parse(&request, piece, cuts->lengths[i], limits);
        if (result == RESP_MORE) {
            assert_true(request.need > cuts->lengths[i]);
            need = request.need;
        }
    }
    describe_result(&text, result, request.length, request.reason);
    assert_true(result != RESP_DONE || request.length >= need);
    for (uint32_t i = 0; result == RESP_DONE && i < request.arg_count; i++)
        describe_slice(&text, resp_request_arg(&request, piece, i));
    resp_request_release(&request);
    free(piece);
    return describe_end(&text);
}

/* "done LENGTH ", "more", or the reason why not. */
static inline char *describe_reply(const char *bytes, const struct cuts *cuts, size_t len_max)
{
    struct buffer text = BUFFER_INIT;
    struct resp_scanner scanner;
    enum resp_result result = RESP_MORE;
    resp_scanner_init(&scanner);
    for (size_t i = 0; i < cuts->count && result == RESP_MORE; i++) {
        char *piece = copy_of(bytes, cuts->lengths[i]);
        result = resp_scan(&scanner, piece, cuts->lengths[i], len_max);
        free(piece);
    }
    describe_result(&text, result, scanner.position, scanner.reason);
    return describe_end(&text);
}

#endif
