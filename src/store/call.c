#include "store/call.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#include "store/handlers.h"

enum { LISTED_KEEP_BYTES = 1 << 16 };

struct handler {
    call_handler run; /* NULL: not served here */
    int mode;         /* enum store_mode or HANDLER_NO_STORE */
};

static const struct handler handlers[COMMAND_COUNT] = {
#define HANDLER_ROW(id, function, mode) [CMD_##id] = {function, mode},
    HANDLER_LIST(HANDLER_ROW)
#undef HANDLER_ROW
};

static const struct handler *find_handler(const struct command *command)
{
    if (!command || command->id >= COMMAND_COUNT || !handlers[command->id].run)
        return NULL;
    return &handlers[command->id];
}

bool call_is_served(const struct command *command)
{
    return find_handler(command) != NULL;
}

bool call_frees_room(const struct resp_request *request, const char *bytes)
{
    struct slice name = resp_request_arg(request, bytes, 0);
    const struct handler *handler = find_handler(command_find(name.ptr, name.len));
    return handler && handler->mode == STORE_FREE;
}

/* ---- refusals -------------------------------------------------------------------------------- */

enum { QUOTED_LEN_MAX = 128 }; /* of a name, and of all arguments together, as in Redis */

/* Appends the text of an argument as printf's %s would see it: up to a NUL. */
static size_t quote(char *to, size_t size, struct slice text, size_t len_max)
{
    size_t len = strnlen(text.ptr, text.len < len_max ? text.len : len_max);
    int written = snprintf(to, size, "'%.*s' ", (int)len, text.ptr);
    return written > 0 ? (size_t)written : 0;
}

static void reply_unknown(struct call *call)
{
    char args[QUOTED_LEN_MAX + 8];
    size_t len = 0;
    args[0] = '\0';
    for (uint32_t i = 1; i < arg_count(call) && len < QUOTED_LEN_MAX; i++)
        len += quote(args + len, sizeof args - len, arg(call, i), QUOTED_LEN_MAX - len);
    struct slice name = arg(call, 0);
    size_t name_len = strnlen(name.ptr, name.len < QUOTED_LEN_MAX ? name.len : QUOTED_LEN_MAX);
    reply_errorf(call, "ERR unknown command '%.*s', with args beginning with: %s", (int)name_len,
                 name.ptr, args);
}

static void reply_not_served(struct call *call)
{
    reply_errorf(call, "ERR '%s' is not served by embedded nodes; use a pool with engine: redis",
                 call->command->name);
}

/* ---- execution ------------------------------------------------------------------------------- */

/* Takes the reply back, so that another can be given in its place. */
static void take_back(struct call *call)
{
    call->out->len = call->out_start;
}

static void reply_failure(struct call *call)
{
    struct keyspace *keyspace = call->keyspace;
    struct store *store = keyspace->store;
    take_back(call);
    reply_error(call, store->ops->explain(store, keyspace->status));
    keyspace_forgive(keyspace);
}

static enum call_result finish(struct call *call)
{
    if (call->keyspace->status < 0 && call->keyspace->is_lost) {
        take_back(call);
        return CALL_LOST;
    }
    if (call->keyspace->status < 0) {
        reply_failure(call);
    } else if (call->is_oversize) {
        take_back(call);
        reply_errorf(call, "ERR the reply would be longer than %zu bytes; ask for fewer keys",
                     call->engine->reply_len_max);
    }
    if (!call->is_unwritable)
        return CALL_DONE;
    take_back(call);
    return CALL_BROKEN;
}

/* The parser lets through what is a payload's overhead longer than a value may be. */
static bool has_too_long_value(const struct call *call)
{
    size_t len_max = call->engine->value_len_max;
    if (call->request->length <= len_max || call->command->id == CMD_RESTORE)
        return false;
    for (uint32_t i = 1; i < arg_count(call); i++)
        if (arg(call, i).len > len_max)
            return true;
    return false;
}

static void run(struct call *call)
{
    struct slice name = arg(call, 0);
    call->command = command_find(name.ptr, name.len);
    const struct handler *handler = find_handler(call->command);
    if (!call->command)
        reply_unknown(call);
    else if (!handler)
        reply_not_served(call);
    else if (!command_arity_fits(call->command, arg_count(call)))
        reply_arity_error(call);
    else if (has_too_long_value(call))
        reply_error(call, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    else if (handler->mode == HANDLER_NO_STORE ||
             keyspace_begin(call->keyspace,
                            handler->mode == STORE_READ ? STORE_READ : STORE_WRITE) == 0)
        handler->run(call);
}

enum call_result call_execute(struct engine *engine, struct session *session,
                              const struct resp_request *request, const char *bytes,
                              struct buffer *out)
{
    struct call call = {
        .engine = engine,
        .keyspace = &engine->keyspace,
        .session = session,
        .request = request,
        .bytes = bytes,
        .out = out,
        .out_start = out->len,
    };
    engine->commands++;
    run(&call);
    return finish(&call);
}

/* ---- arguments ------------------------------------------------------------------------------- */

bool arg_is(const struct call *call, uint32_t i, const char *word)
{
    struct slice text = arg(call, i);
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

bool arg_integer(struct call *call, uint32_t i, int64_t *ret_number)
{
    if (resp_parse_integer(arg(call, i), ret_number))
        return true;
    reply_error(call, "ERR value is not an integer or out of range");
    return false;
}

bool arg_is_db_zero(struct call *call, uint32_t i)
{
    int64_t db;
    if (!arg_integer(call, i, &db))
        return false;
    if (db < INT32_MIN || db > INT32_MAX)
        reply_errorf(call, "ERR value is out of range, value must between %d and %d", INT32_MIN,
                     INT32_MAX);
    else if (db != 0)
        reply_error(call, "ERR DB index is out of range");
    return db == 0;
}

void call_name(const struct call *call, char *ret_name, size_t size)
{
    size_t i = 0;
    for (; call->command->name[i] && i + 1 < size; i++)
        ret_name[i] = (char)tolower((unsigned char)call->command->name[i]);
    ret_name[i] = '\0';
}

/* ---- replies --------------------------------------------------------------------------------- */

static void note(struct call *call, bool is_written)
{
    if (!is_written)
        call->is_unwritable = true;
}

void reply_ok(struct call *call)
{
    note(call, resp_write_simple(call->out, "OK"));
}

void reply_simple(struct call *call, const char *text)
{
    note(call, resp_write_simple(call->out, text));
}

void reply_integer(struct call *call, int64_t number)
{
    note(call, resp_write_integer(call->out, number));
}

void reply_bulk(struct call *call, struct slice bytes)
{
    size_t len = call->out->len - call->out_start;
    if (call->is_oversize || bytes.len + len > call->engine->reply_len_max)
        call->is_oversize = true;
    else
        note(call, resp_write_bulk(call->out, bytes.ptr, bytes.len));
}

void reply_text(struct call *call, const char *text)
{
    reply_bulk(call, (struct slice){text, strlen(text)});
}

void reply_null(struct call *call)
{
    note(call, resp_write_null(call->out, call->session->protocol));
}

void reply_array(struct call *call, size_t count)
{
    note(call, resp_write_array(call->out, count));
}

void reply_map(struct call *call, size_t pairs)
{
    note(call, resp_write_map(call->out, pairs, call->session->protocol));
}

static bool listed_fits(struct call *call)
{
    if (call->out->len - call->out_start + call->engine->listed.len > call->engine->reply_len_max)
        call->is_oversize = true;
    return !call->is_oversize;
}

static void append_listed(struct call *call)
{
    struct buffer *listed = &call->engine->listed;
    if (!call->is_oversize)
        note(call, buffer_append(call->out, buffer_bytes(listed), listed->len));
    buffer_clear(listed);
    buffer_trim(listed, LISTED_KEEP_BYTES);
}

void reply_listed(struct call *call, size_t count)
{
    if (listed_fits(call))
        reply_array(call, count);
    append_listed(call);
}

void reply_listed_set(struct call *call, size_t count)
{
    if (listed_fits(call))
        note(call, resp_write_set(call->out, count, call->session->protocol));
    append_listed(call);
}

void reply_error(struct call *call, const char *text)
{
    note(call, resp_write_error(call->out, text));
}

void reply_errorf(struct call *call, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reply_error(call, text);
}

void reply_syntax_error(struct call *call)
{
    reply_error(call, "ERR syntax error");
}

void reply_arity_error(struct call *call)
{
    char name[32];
    call_name(call, name, sizeof name);
    reply_errorf(call, "ERR wrong number of arguments for '%s' command", name);
}
