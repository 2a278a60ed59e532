#include "placement/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int json_fail(const struct json *json, size_t at, enum cw_status status, const char *format, ...)
{
    struct cw_error *error = json->error;
    if (!error)
        return status;
    error->status = status;
    error->line = error->column = 1;
    for (size_t i = 0; i < at && i < json->len; i++) {
        error->column++;
        if (json->text[i] == '\n') {
            error->line++;
            error->column = 1;
        }
    }
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return status;
}

void json_skip_spaces(struct json *json)
{
    while (json->at < json->len && json->text[json->at] && strchr(" \t\r\n", json->text[json->at]))
        json->at++;
}

int json_accept(struct json *json, char wanted)
{
    json_skip_spaces(json);
    if (json->at == json->len || json->text[json->at] != wanted)
        return 0;
    json->at++;
    return 1;
}

int json_expect(struct json *json, char wanted)
{
    if (json_accept(json, wanted))
        return CW_OK;
    if (json->at == json->len)
        return json_fail(json, json->at, CW_EBAD_TEXT, "the text ends where a '%c' should stand",
                         wanted);
    return json_fail(json, json->at, CW_EBAD_TEXT, "a '%c' should stand here", wanted);
}

int json_expect_end(struct json *json)
{
    json_skip_spaces(json);
    if (json->at == json->len)
        return CW_OK;
    return json_fail(json, json->at, CW_EBAD_TEXT, "something follows the map: remove it");
}

int json_read_string(struct json *json, struct json_string *ret_string)
{
    int status = json_expect(json, '"');
    if (status != CW_OK)
        return status;
    size_t start = json->at;
    for (; json->at < json->len; json->at++) {
        unsigned char c = (unsigned char)json->text[json->at];
        if (c == '"') {
            json->text[json->at] = '\0';
            *ret_string = (struct json_string){json->text + start, json->at - start, start};
            json->at++;
            return CW_OK;
        }
        if (c < ' ' || c == '\\')
            return json_fail(json, json->at, CW_EBAD_TEXT,
                             "a string of a map has neither control characters nor backslashes");
    }
    return json_fail(json, start, CW_EBAD_TEXT, "the text ends inside this string");
}

int json_read_number(struct json *json, uint64_t min, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;
    json_skip_spaces(json);
    size_t start = json->at;
    int overflow = 0;
    for (; json->at < json->len; json->at++) {
        unsigned digit = (unsigned)(json->text[json->at] - '0');
        if (digit > 9)
            break;
        overflow |= __builtin_mul_overflow(number, 10, &number);
        overflow |= __builtin_add_overflow(number, digit, &number);
    }
    if (json->at == start || (json->text[start] == '0' && json->at > start + 1))
        return json_fail(json, start, CW_EBAD_TEXT,
                         "a whole number without sign and leading zeros should stand here");
    if (overflow || number < min || number > max)
        return json_fail(json, start, CW_EBAD_TEXT, "use a number from %llu to %llu",
                         (unsigned long long)min, (unsigned long long)max);
    *ret_number = number;
    return CW_OK;
}

static int find_key(struct json *json, const struct json_key *keys, size_t key_count,
                    uint32_t *seen, size_t *ret_key)
{
    struct json_string name;
    int status = json_read_string(json, &name);
    if (status != CW_OK)
        return status;
    for (size_t i = 0; i < key_count; i++) {
        if (strcmp(keys[i].name, name.text) != 0)
            continue;
        if (*seen & (uint32_t)1 << i)
            return json_fail(json, name.at, CW_EBAD_KEY, "'%s' stands here twice: remove one",
                             keys[i].name);
        *seen |= (uint32_t)1 << i;
        *ret_key = i;
        return json_expect(json, ':');
    }
    return json_fail(json, name.at, CW_EBAD_KEY, "'%.64s' is not a key of a map: remove it",
                     name.text);
}

int json_read_object(struct json *json, const struct json_key *keys, size_t key_count, void *target,
                     uint32_t *ret_seen)
{
    uint32_t seen = 0;
    int status = json_expect(json, '{');
    if (status == CW_OK && json_accept(json, '}')) {
        *ret_seen = 0;
        return CW_OK;
    }
    while (status == CW_OK) {
        size_t key = 0;
        status = find_key(json, keys, key_count, &seen, &key);
        if (status == CW_OK)
            status = keys[key].read(json, target);
        if (status == CW_OK && !json_accept(json, ',')) {
            *ret_seen = seen;
            return json_expect(json, '}');
        }
    }
    return status;
}
