#include "control/json_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

/* ---- writing --------------------------------------------------------------------------------- */

static void mask_high_bytes(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            *text = '?';
}

bool json_append_text(struct buffer *out, const char *text)
{
    json_t *value = json_string(text);
    char *copy = value ? NULL : strdup(text);
    if (!value && copy) { /* no UTF-8, or no memory */
        mask_high_bytes(copy);
        value = json_string(copy);
    }
    free(copy);
    char *written = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    bool ok = written && buffer_append_text(out, written);
    free(written);
    json_decref(value);
    return ok;
}

/* ---- reading --------------------------------------------------------------------------------- */

void json_problem(struct json_reader *reader, const char *format, ...)
{
    va_list args;
    if (reader->has_failed)
        return;
    reader->has_failed = true;
    va_start(args, format);
    vsnprintf(reader->problem, sizeof reader->problem, format, args);
    va_end(args);
}

/* NULL after saying that it is missing. */
static json_t *get(struct json_reader *reader, const json_t *object, const char *path,
                   const char *key)
{
    json_t *value = reader->has_failed ? NULL : json_object_get(object, key);
    if (!value)
        json_problem(reader, "%s%s is missing", path, key);
    return value;
}

uint64_t json_get_number(struct json_reader *reader, const json_t *object, const char *path,
                         const char *key, uint64_t min, uint64_t max)
{
    json_t *value = get(reader, object, path, key);
    if (!value)
        return 0;
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value))
        json_problem(reader, "%s%s is not a whole number", path, key);
    else if (number < 0 || (uint64_t)number < min || (uint64_t)number > max)
        json_problem(reader,
                     "%s%s is %" JSON_INTEGER_FORMAT "; %" PRIu64 " to %" PRIu64 " is possible",
                     path, key, number, min, max);
    return reader->has_failed ? 0 : (uint64_t)number;
}

bool json_get_bool(struct json_reader *reader, const json_t *object, const char *path,
                   const char *key)
{
    json_t *value = get(reader, object, path, key);
    if (value && !json_is_boolean(value))
        json_problem(reader, "%s%s is neither true nor false", path, key);
    return json_is_true(value);
}

const char *json_get_text(struct json_reader *reader, const json_t *object, const char *path,
                          const char *key, size_t size)
{
    json_t *value = get(reader, object, path, key);
    if (!value)
        return "";
    if (!json_is_string(value))
        json_problem(reader, "%s%s is not a text", path, key);
    else if (size && json_string_length(value) >= size)
        json_problem(reader, "%s%s is %zu bytes long; at most %zu are possible", path, key,
                     json_string_length(value), size - 1);
    return reader->has_failed ? "" : json_string_value(value);
}

json_t *json_get_object(struct json_reader *reader, const json_t *object, const char *path,
                        const char *key)
{
    json_t *value = get(reader, object, path, key);
    if (value && !json_is_object(value))
        json_problem(reader, "%s%s is not an object", path, key);
    return reader->has_failed ? NULL : value;
}

json_t *json_get_array(struct json_reader *reader, const json_t *object, const char *path,
                       const char *key, size_t count_max)
{
    json_t *value = get(reader, object, path, key);
    if (value && !json_is_array(value))
        json_problem(reader, "%s%s is not an array", path, key);
    else if (json_array_size(value) > count_max)
        json_problem(reader, "%s%s has %zu members; at most %zu are possible", path, key,
                     json_array_size(value), count_max);
    return reader->has_failed ? NULL : value;
}

void json_expect_keys(struct json_reader *reader, const json_t *object, const char *path,
                      const char *const *keys)
{
    size_t count = 0;
    while (keys[count])
        count++;
    /* jansson's iterators take no constant object, although they leave it as it is. */
    json_t *walked = (json_t *)(uintptr_t)object;
    for (void *at = json_object_iter(walked); at; at = json_object_iter_next(walked, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < count && strcmp(keys[i], key) != 0)
            i++;
        const char *nearest = i < count ? NULL : suggest_nearest(key, keys, count);
        if (nearest)
            json_problem(reader, "unknown key %s%.60s; did you mean %s?", path, key, nearest);
        else if (i == count)
            json_problem(reader, "unknown key %s%.60s", path, key);
    }
}
