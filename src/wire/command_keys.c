/*
 * Where the keys of a request are. Most commands say it by position; a handful have to be read as
 * the server reads them (t_stream.c, sort.c and geo.c of Redis), since a key that we overlook would
 * be read or written on the wrong node.
 *
 * What is not our business stays with the node: a request whose keys cannot be found because it is
 * malformed in other ways goes there with the keys that there are, and the node words the error.
 */
#include "wire/command.h"

#include <string.h>
#include <strings.h>

#define REASON_COUNT   "value is not an integer or out of range"
#define REASON_MANY    "Number of keys can't be greater than number of args"
#define REASON_MINUS   "Number of keys can't be negative"
#define REASON_PAIRS   "wrong number of arguments: every key needs a value"
#define REASON_SYNTAX  "syntax error"
#define REASON_STREAMS "Unbalanced list of streams: each needs an ID or '$'"
#define REASON_SORT    "BY and GET patterns of SORT name keys that may live on other nodes"

struct args {
    const struct resp_request *request;
    const char *bytes;
};

static struct slice arg(const struct args *args, uint32_t i)
{
    return resp_request_arg(args->request, args->bytes, i);
}

static bool is_word(const struct args *args, uint32_t i, const char *word)
{
    struct slice text = arg(args, i);
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

static const char *find_range(const struct command *command, uint32_t arg_count,
                              struct command_key_range *keys)
{
    int64_t end = command->last < 0 ? (int64_t)arg_count + command->last : command->last;
    if (end >= (int64_t)arg_count)
        end = (int64_t)arg_count - 1;
    *keys = (struct command_key_range){(uint32_t)command->first, 0, (uint32_t)command->step, 0};
    if (end < command->first)
        return NULL;
    uint32_t span = (uint32_t)end - keys->first + 1;
    if (command->last < 0 && span % keys->step != 0)
        return REASON_PAIRS;
    keys->count = (span + keys->step - 1) / keys->step;
    return NULL;
}

static const char *find_counted(const struct command *command, const struct args *args,
                                struct command_key_range *keys)
{
    uint32_t at = (uint32_t)command->first, arg_count = args->request->arg_count;
    int64_t count;
    if (at >= arg_count || !resp_parse_integer(arg(args, at), &count))
        return REASON_COUNT;
    if (count < 0)
        return REASON_MINUS;
    if (count > (int64_t)(arg_count - at - 1) / command->step)
        return REASON_MANY;
    *keys = (struct command_key_range){at + 1, (uint32_t)count, (uint32_t)command->step,
                                       (uint32_t)command->last};
    return NULL;
}

/* The options before STREAMS are walked over one by one: a group may be called "streams". */
static const char *find_streams(const struct args *args, struct command_key_range *keys)
{
    uint32_t arg_count = args->request->arg_count, i = 1;
    for (; i < arg_count && !is_word(args, i, "STREAMS"); i++) {
        if (is_word(args, i, "COUNT") || is_word(args, i, "BLOCK"))
            i += 1;
        else if (is_word(args, i, "GROUP"))
            i += 2;
        else if (!is_word(args, i, "NOACK"))
            return REASON_SYNTAX;
    }
    if (i + 1 >= arg_count)
        return REASON_SYNTAX;
    uint32_t rest = arg_count - i - 1;
    if (rest % 2 != 0)
        return REASON_STREAMS;
    *keys = (struct command_key_range){i + 1, rest / 2, 1, 0};
    return NULL;
}

/* Whether the pattern of BY or GET makes the server read other keys. */
static bool names_keys(struct slice pattern, bool is_get)
{
    if (is_get)
        return pattern.len != 1 || pattern.ptr[0] != '#';
    return memchr(pattern.ptr, '*', pattern.len) != NULL;
}

static const char *find_sort(const struct args *args, struct command_key_range *keys)
{
    uint32_t arg_count = args->request->arg_count;
    *keys = (struct command_key_range){1, 1, 1, 0};
    for (uint32_t i = 2; i + 1 < arg_count; i++) {
        bool is_get = is_word(args, i, "GET");
        if (is_word(args, i, "LIMIT"))
            i += 2;
        else if (is_word(args, i, "STORE"))
            keys->extra = ++i;
        else if ((is_get || is_word(args, i, "BY")) && names_keys(arg(args, ++i), is_get))
            return REASON_SORT;
    }
    return NULL;
}

/* The last of STORE and STOREDIST wins, as in the server. Both forms have five arguments first. */
static const char *find_geo(const struct args *args, struct command_key_range *keys)
{
    uint32_t arg_count = args->request->arg_count;
    *keys = (struct command_key_range){1, 1, 1, 0};
    for (uint32_t i = 5; i + 1 < arg_count; i++)
        if (is_word(args, i, "STORE") || is_word(args, i, "STOREDIST"))
            keys->extra = ++i;
    return NULL;
}

const char *command_find_keys(const struct command *command, const struct resp_request *request,
                              const char *bytes, struct command_key_range *ret_keys)
{
    struct args args = {request, bytes};
    switch (command->keys) {
    case KEYS_RANGE: return find_range(command, request->arg_count, ret_keys);
    case KEYS_COUNTED: return find_counted(command, &args, ret_keys);
    case KEYS_STREAMS: return find_streams(&args, ret_keys);
    case KEYS_SORT: return find_sort(&args, ret_keys);
    case KEYS_GEO: return find_geo(&args, ret_keys);
    case KEYS_NONE: break;
    }
    *ret_keys = (struct command_key_range){0, 0, 1, 0};
    return NULL;
}
