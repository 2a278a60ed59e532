#include "wire/command_elements.h"

#include <string.h>
#include <strings.h>

/* How a command names elements. */
enum form {
    FORM_NONE,   /* EXPIRE key ...: no element, and nothing of the value changes */
    FORM_ONE,    /* HINCRBY key field ... */
    FORM_SECOND, /* ZINCRBY key number member */
    FORM_LIST,   /* SADD key member member ... */
    FORM_PAIRS,  /* HSET key field value field value ... */
    FORM_ZADD,   /* ZADD key [options] score member score member ... */
    FORM_FIELDS, /* HGETDEL key FIELDS count field field ... */
};

static const struct {
    uint16_t id;
    uint8_t form;
} forms[] = {
    {CMD_EXPIRE, FORM_NONE},    {CMD_PEXPIRE, FORM_NONE},   {CMD_EXPIREAT, FORM_NONE},
    {CMD_PEXPIREAT, FORM_NONE}, {CMD_PERSIST, FORM_NONE},   {CMD_HSETNX, FORM_ONE},
    {CMD_HINCRBY, FORM_ONE},    {CMD_ZINCRBY, FORM_SECOND}, {CMD_HINCRBYFLOAT, FORM_ONE},
    {CMD_HDEL, FORM_LIST},      {CMD_SADD, FORM_LIST},      {CMD_SREM, FORM_LIST},
    {CMD_ZREM, FORM_LIST},      {CMD_HSET, FORM_PAIRS},     {CMD_HMSET, FORM_PAIRS},
    {CMD_ZADD, FORM_ZADD},      {CMD_HGETDEL, FORM_FIELDS},
};

static bool is_word(struct slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* The pairs from argument `at` on, the element first or second in each. */
static bool take_pairs(uint32_t at, uint32_t arg_count, bool is_second,
                       struct command_element_range *ret_elements)
{
    if (at >= arg_count || (arg_count - at) % 2 != 0)
        return false;
    *ret_elements = (struct command_element_range){at + is_second, (arg_count - at) / 2, 2};
    return true;
}

static bool find_zadd(const struct resp_request *request, const char *bytes,
                      struct command_element_range *ret_elements)
{
    static const char *const options[] = {"NX", "XX", "GT", "LT", "CH", "INCR"};
    uint32_t at = 2;
    for (; at < request->arg_count; at++) {
        struct slice text = resp_request_arg(request, bytes, at);
        size_t i = 0;
        while (i < sizeof options / sizeof options[0] && !is_word(text, options[i]))
            i++;
        if (i == sizeof options / sizeof options[0])
            break;
    }
    return take_pairs(at, request->arg_count, true, ret_elements);
}

static bool find_fields(const struct resp_request *request, const char *bytes,
                        struct command_element_range *ret_elements)
{
    int64_t count;
    if (request->arg_count < 5 || !is_word(resp_request_arg(request, bytes, 2), "FIELDS") ||
        !resp_parse_integer(resp_request_arg(request, bytes, 3), &count) ||
        count != (int64_t)request->arg_count - 4)
        return false;
    *ret_elements = (struct command_element_range){4, request->arg_count - 4, 1};
    return true;
}

bool command_find_elements(const struct command *command, const struct resp_request *request,
                           const char *bytes, struct command_element_range *ret_elements)
{
    size_t row = 0;
    while (row < sizeof forms / sizeof forms[0] && forms[row].id != command->id)
        row++;
    if (row == sizeof forms / sizeof forms[0])
        return false;
    switch ((enum form)forms[row].form) {
    case FORM_NONE: *ret_elements = (struct command_element_range){0, 0, 1}; break;
    case FORM_ONE: *ret_elements = (struct command_element_range){2, 1, 1}; break;
    case FORM_SECOND: *ret_elements = (struct command_element_range){3, 1, 1}; break;
    case FORM_LIST:
        *ret_elements = (struct command_element_range){2, request->arg_count - 2, 1};
        break;
    case FORM_PAIRS: return take_pairs(2, request->arg_count, false, ret_elements);
    case FORM_ZADD: return find_zadd(request, bytes, ret_elements);
    case FORM_FIELDS: return find_fields(request, bytes, ret_elements);
    }
    return true;
}
