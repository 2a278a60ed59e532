#include "move/answer.h"

#include <string.h>

bool slice_is(struct slice slice, const char *text)
{
    return slice_equal(slice, slice_of(text));
}

bool answer_is_error(const char *reply, size_t len, struct slice *ret_text)
{
    if (len == 0 || reply[0] != '-')
        return false;
    size_t end = 1;
    while (end < len && reply[end] != '\r' && reply[end] != '\n')
        end++;
    *ret_text = (struct slice){reply + 1, end - 1};
    return true;
}

bool answer_error_is(struct slice error, const char *start)
{
    size_t len = strlen(start);
    return error.len >= len && memcmp(error.ptr, start, len) == 0 &&
           (error.len == len || error.ptr[len] == ' ');
}

static bool next(struct answer *answer, struct resp_value *ret_value)
{
    size_t len = (size_t)(answer->end - answer->at);
    if (resp_read_value(answer->at, len, ret_value) != RESP_DONE)
        return false;
    answer->at += ret_value->head_len;
    return true;
}

bool answer_array(struct answer *answer, size_t *ret_count)
{
    struct resp_value value;
    if (!next(answer, &value) || value.type != '*' || (!value.is_null && value.integer < 0))
        return false;
    *ret_count = value.is_null ? 0 : (size_t)value.integer;
    return true;
}

bool answer_text(struct answer *answer, struct slice *ret_text)
{
    struct resp_value value;
    if (!next(answer, &value) || (value.type != '$' && value.type != '+') || value.is_null)
        return false;
    *ret_text = value.text;
    return true;
}

bool answer_integer_or_null(struct answer *answer, int64_t *ret_number, bool *ret_is_null)
{
    struct resp_value value;
    if (!next(answer, &value))
        return false;
    *ret_is_null = value.is_null;
    if (value.is_null)
        return true;
    if (value.type == ':') {
        *ret_number = value.integer;
        return true;
    }
    return value.type == '$' && resp_parse_integer(value.text, ret_number);
}

bool answer_integer(struct answer *answer, int64_t *ret_number)
{
    bool is_null;
    return answer_integer_or_null(answer, ret_number, &is_null) && !is_null;
}

bool answer_raw(struct answer *answer, struct slice *ret_bytes)
{
    struct resp_scanner scanner;
    size_t len = (size_t)(answer->end - answer->at);
    resp_scanner_init(&scanner);
    if (resp_scan(&scanner, answer->at, len, SIZE_MAX) != RESP_DONE)
        return false;
    *ret_bytes = (struct slice){answer->at, scanner.position};
    answer->at += scanner.position;
    return true;
}

bool answer_skip(struct answer *answer)
{
    struct slice bytes;
    return answer_raw(answer, &bytes);
}

bool answer_is_integer(const char *reply, size_t len, int64_t *ret_number)
{
    struct answer answer = answer_start(reply, len);
    return answer_integer(&answer, ret_number);
}

bool answer_is_text(const char *reply, size_t len, struct slice *ret_text)
{
    struct answer answer = answer_start(reply, len);
    return answer_text(&answer, ret_text);
}

bool answer_find(const struct answer *answer, const char *name, struct answer *ret_value)
{
    struct answer at = *answer;
    size_t count;
    if (!answer_array(&at, &count))
        return false;
    for (size_t i = 0; i + 1 < count; i += 2) {
        struct slice found;
        if (!answer_text(&at, &found))
            return false;
        if (slice_is(found, name)) {
            *ret_value = at;
            return true;
        }
        if (!answer_skip(&at))
            return false;
    }
    return false;
}
