/* Keys whatever they hold: DEL, EXISTS, RENAME, COPY, FLUSHALL and their kind. */
#include "store/handlers.h"

void cmd_del(struct call *call)
{
    int64_t count = 0;
    for (uint32_t i = 1; i < arg_count(call); i++)
        count += marks_drop(&call->engine->marks, arg(call, i)) ||
                 keyspace_remove(call->keyspace, arg(call, i)) > 0;
    reply_integer(call, count);
}

void cmd_exists(struct call *call)
{
    struct record record;
    int64_t count = 0;
    for (uint32_t i = 1; i < arg_count(call); i++)
        count += marks_find(&call->engine->marks, arg(call, i)) ||
                 keyspace_peek(call->keyspace, arg(call, i), &record) > 0;
    reply_integer(call, count);
}

void cmd_type(struct call *call)
{
    struct record record;
    int found = keyspace_peek(call->keyspace, arg(call, 1), &record);
    bool is_marks = marks_find(&call->engine->marks, arg(call, 1));
    reply_simple(call, is_marks ? "set" : found > 0 ? "string" : "none");
}

void cmd_dbsize(struct call *call)
{
    reply_integer(call, (int64_t)keyspace_count(call->keyspace));
}

void cmd_flush(struct call *call)
{
    bool is_known = arg_count(call) == 1 ||
                    (arg_count(call) == 2 && (arg_is(call, 1, "sync") || arg_is(call, 1, "async")));
    if (!is_known) {
        reply_syntax_error(call);
        return;
    }
    if (!marks_drop_all(&call->engine->marks)) {
        reply_error(call, "ERR out of memory");
        return;
    }
    keyspace_clear(call->keyspace);
    reply_ok(call);
}

/* ---- RENAME and COPY ------------------------------------------------------------------------- */

static bool is_same_key(struct slice a, struct slice b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* Puts a found record under another key, expiry and all. */
static bool put_copy(struct call *call, struct slice key, const struct record *record)
{
    size_t len = record->value.len;
    uint64_t expire_ms = record->expire_ms;
    char *value = keyspace_copy(call->keyspace, record->value, 0);
    return value && keyspace_put(call->keyspace, key, (struct slice){value, len}, expire_ms);
}

void cmd_rename(struct call *call)
{
    struct slice from = arg(call, 1), to = arg(call, 2);
    struct record record, other;
    bool is_nx = call->command->id == CMD_RENAMENX;
    int found = keyspace_find(call->keyspace, from, &record);
    if (found <= 0) {
        reply_error(call, "ERR no such key");
        return;
    }
    bool is_taken = is_nx && keyspace_peek(call->keyspace, to, &other) != 0;
    if (!is_taken && !is_same_key(from, to) && put_copy(call, to, &record))
        keyspace_remove(call->keyspace, from);
    if (is_nx)
        reply_integer(call, !is_taken);
    else
        reply_ok(call);
}

/* COPY source destination [DB 0] [REPLACE] */
static bool read_copy_options(struct call *call, bool *ret_replace)
{
    for (uint32_t i = 3; i < arg_count(call); i++) {
        if (arg_is(call, i, "replace")) {
            *ret_replace = true;
        } else if (arg_is(call, i, "db") && i + 1 < arg_count(call)) {
            if (!arg_is_db_zero(call, ++i))
                return false;
        } else {
            reply_syntax_error(call);
            return false;
        }
    }
    return true;
}

void cmd_copy(struct call *call)
{
    struct slice from = arg(call, 1), to = arg(call, 2);
    struct record record, other;
    bool replace = false;
    if (!read_copy_options(call, &replace))
        return;
    if (is_same_key(from, to)) {
        reply_error(call, "ERR source and destination objects are the same");
        return;
    }
    bool is_copied = keyspace_find(call->keyspace, from, &record) > 0 &&
                     (replace || keyspace_peek(call->keyspace, to, &other) == 0) &&
                     put_copy(call, to, &record);
    reply_integer(call, is_copied);
}
