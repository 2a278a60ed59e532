/*
 * Just enough of JSON for a map's text: objects with known keys, arrays, plain strings and unsigned
 * integers. Strict: no escapes in strings (nothing in a map needs one), no repeated or unknown
 * keys, nothing behind the end. Nesting is what the caller's code nests, so there is no recursion.
 *
 * The text must be the reader's own copy: strings are ended in place by writing a 0 over their
 * closing quote.
 */
#ifndef PLACEMENT_JSON_H
#define PLACEMENT_JSON_H

#include <clockwise/clockwise.h>

struct json {
    char *text;
    size_t len, at;
    struct cw_error *error; /* may be NULL */
    /* Strings that had to be written anew, one behind the other; the reader frees it. Errors count
     * the lines of the text, so that stays what it is. */
    char *decoded;
    size_t decoded_len;
};

/* A string and where it stood. */
struct json_string {
    char *text;
    size_t len, at;
};

/* A key of an object and what reads its value into the target; keys of one object number at most
 * 32. */
struct json_key {
    const char *name;
    int (*read)(struct json *json, void *target);
};

/* Sets the error with the line and column of an offset and returns the status. */
int json_fail(const struct json *json, size_t at, enum cw_status status, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void json_skip_spaces(struct json *json);
/* The next character that is no space must be this one. */
int json_expect(struct json *json, char wanted);
/* Skips spaces; 1 and steps over it when the next character is this one, else 0. */
int json_accept(struct json *json, char wanted);
int json_read_string(struct json *json, struct json_string *ret_string);
/* A number of digits without sign, leading zero, fraction or exponent, min .. max. */
int json_read_number(struct json *json, uint64_t min, uint64_t max, uint64_t *ret_number);
/* An object; *ret_seen has bit i when keys[i] was there. */
int json_read_object(struct json *json, const struct json_key *keys, size_t key_count, void *target,
                     uint32_t *ret_seen);
/* Only spaces may follow. */
int json_expect_end(struct json *json);

#endif
