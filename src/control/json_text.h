/*
 * Reading JSON that may hold anything, with jansson: members of an object by name, each within its
 * bounds, and the first thing that is wrong in a sentence. After that every further read does
 * nothing, so that the caller looks once, at the end.
 */
#ifndef CONTROL_JSON_TEXT_H
#define CONTROL_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum { JSON_PROBLEM_SIZE = 300 };

struct json_reader {
    bool has_failed;
    char problem[JSON_PROBLEM_SIZE]; /* "transition.id is missing" */
};

/* Appends a text as JSON; bytes that are no UTF-8 become '?'. False when memory is out. */
bool json_append_text(struct buffer *out, const char *text);

/* The first problem stays. */
void json_problem(struct json_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each takes a member that must be there, and gives 0, "" or NULL when something is wrong. `path`
 * is what stands before the key in messages: "", "transition.". */
uint64_t json_get_number(struct json_reader *reader, const json_t *object, const char *path,
                         const char *key, uint64_t min, uint64_t max);
bool json_get_bool(struct json_reader *reader, const json_t *object, const char *path,
                   const char *key);
/* At most size - 1 bytes (jansson lets no NUL in); `size` 0: any length. Belongs to the object. */
const char *json_get_text(struct json_reader *reader, const json_t *object, const char *path,
                          const char *key, size_t size);
json_t *json_get_object(struct json_reader *reader, const json_t *object, const char *path,
                        const char *key);
json_t *json_get_array(struct json_reader *reader, const json_t *object, const char *path,
                       const char *key, size_t count_max);
/* Only these keys may stand in the object; the list ends with NULL. */
void json_expect_keys(struct json_reader *reader, const json_t *object, const char *path,
                      const char *const *keys);

#endif
