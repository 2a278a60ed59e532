/*
 * Reading the replies of nodes (RESP2, whole ones, as peer_reply gives them). Everything returns
 * false when the bytes are not what was expected, and trusts no length. Pure.
 */
#ifndef MOVE_ANSWER_H
#define MOVE_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/resp.h"

/* The place in a reply that is read value by value. */
struct answer {
    const char *at, *end;
};

static inline struct answer answer_start(const char *reply, size_t len)
{
    return (struct answer){reply, reply + len};
}

/* Whether the reply is an error; *ret_text is its line without "-". */
bool answer_is_error(const char *reply, size_t len, struct slice *ret_text);
/* Whether an error line starts with this word: "READONLY", "ERR no such key". */
bool answer_error_is(struct slice error, const char *start);

/* Steps into an array and tells its number of elements. A null array has none. */
bool answer_array(struct answer *answer, size_t *ret_count);
/* A string (bulk or simple). A null is none. */
bool answer_text(struct answer *answer, struct slice *ret_text);
/* A number, also one that comes as a string. */
bool answer_integer(struct answer *answer, int64_t *ret_number);
/* The same; a null is *ret_is_null and true. */
bool answer_integer_or_null(struct answer *answer, int64_t *ret_number, bool *ret_is_null);
/* Steps over one value of any kind. */
bool answer_skip(struct answer *answer);
/* One value of any kind as it stands there. */
bool answer_raw(struct answer *answer, struct slice *ret_bytes);

/* The same for a reply that is nothing else. */
bool answer_is_integer(const char *reply, size_t len, int64_t *ret_number);
bool answer_is_text(const char *reply, size_t len, struct slice *ret_text);

/* In an array of names and values (XINFO): steps to the value of `name`. `answer` is before the
 * array and stays there. */
bool answer_find(const struct answer *answer, const char *name, struct answer *ret_value);

bool slice_is(struct slice slice, const char *text);
static inline bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}
static inline struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

#endif
