/* Strings as a whole and in part: GET, APPEND, SETRANGE and their kind, and several at once. */
#include "store/handlers.h"

static const struct slice NOTHING = {"", 0};

/* The value of a key, or null. False when the handler has nothing left to do. */
static bool reply_value(struct call *call, uint32_t i)
{
    struct record record;
    int found = keyspace_find(call->keyspace, arg(call, i), &record);
    if (found > 0)
        reply_bulk(call, record.value);
    else if (found == 0)
        reply_null(call);
    return found > 0;
}

void cmd_get(struct call *call)
{
    reply_value(call, 1);
}

void cmd_getset(struct call *call)
{
    reply_value(call, 1);
    keyspace_put(call->keyspace, arg(call, 1), arg(call, 2), 0);
}

void cmd_getdel(struct call *call)
{
    if (reply_value(call, 1))
        keyspace_remove(call->keyspace, arg(call, 1));
}

void cmd_strlen(struct call *call)
{
    struct record record;
    int found = keyspace_peek(call->keyspace, arg(call, 1), &record);
    reply_integer(call, found > 0 ? (int64_t)record.value.len : 0);
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Whether a value may become this long; the name in the message is Redis's option. */
static bool fits(struct call *call, uint64_t len, uint64_t more)
{
    if (len + more <= call->engine->value_len_max)
        return true;
    reply_error(call, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    return false;
}

void cmd_append(struct call *call)
{
    struct record record = {.value = NOTHING};
    struct slice tail = arg(call, 2);
    int found = keyspace_find(call->keyspace, arg(call, 1), &record);
    size_t len = record.value.len;
    if (found < 0 || !fits(call, len, tail.len))
        return;
    char *value = keyspace_copy(call->keyspace, record.value, tail.len);
    if (!value)
        return;
    memcpy(value + len, tail.ptr, tail.len);
    keyspace_put(call->keyspace, arg(call, 1), (struct slice){value, len + tail.len},
                 record.expire_ms);
    reply_integer(call, (int64_t)(len + tail.len));
}

/* The bytes from start to end, both counted from the end when negative. */
static struct slice cut(struct slice text, int64_t start, int64_t end)
{
    int64_t len = (int64_t)text.len;
    if (start < 0 && end < 0 && start > end)
        return NOTHING;
    start = start < 0 ? start + len : start;
    end = end < 0 ? end + len : end;
    start = start < 0 ? 0 : start;
    end = end < 0 ? 0 : end;
    end = end >= len ? len - 1 : end;
    if (start > end || len == 0)
        return NOTHING;
    return (struct slice){text.ptr + start, (size_t)(end - start + 1)};
}

void cmd_getrange(struct call *call)
{
    struct record record;
    int64_t start, end;
    if (!arg_integer(call, 2, &start) || !arg_integer(call, 3, &end))
        return;
    int found = keyspace_find(call->keyspace, arg(call, 1), &record);
    reply_bulk(call, found > 0 ? cut(record.value, start, end) : NOTHING);
}

/* Puts `part` at `offset`, with zeros before it where the value was shorter. */
static void overwrite(struct call *call, const struct record *old, size_t offset, struct slice part)
{
    size_t old_len = old->value.len;
    size_t len = offset + part.len > old_len ? offset + part.len : old_len;
    char *value = keyspace_copy(call->keyspace, old->value, len - old_len);
    if (!value)
        return;
    memset(value + old_len, 0, len - old_len);
    memcpy(value + offset, part.ptr, part.len);
    keyspace_put(call->keyspace, arg(call, 1), (struct slice){value, len}, old->expire_ms);
    reply_integer(call, (int64_t)len);
}

void cmd_setrange(struct call *call)
{
    struct record old = {.value = NOTHING};
    struct slice part = arg(call, 3);
    int64_t offset;
    if (!arg_integer(call, 2, &offset))
        return;
    if (offset < 0) {
        reply_error(call, "ERR offset is out of range");
        return;
    }
    if (keyspace_find(call->keyspace, arg(call, 1), &old) < 0)
        return;
    if (part.len == 0)
        reply_integer(call, (int64_t)old.value.len);
    else if (fits(call, (uint64_t)offset, part.len))
        overwrite(call, &old, (size_t)offset, part);
}

/* ---- several --------------------------------------------------------------------------------- */

void cmd_mget(struct call *call)
{
    reply_array(call, arg_count(call) - 1);
    for (uint32_t i = 1; i < arg_count(call) && !call->is_oversize; i++)
        reply_value(call, i);
}

/* Keys and values alternate. */
static bool has_pairs(struct call *call)
{
    if (arg_count(call) % 2 == 1)
        return true;
    reply_arity_error(call);
    return false;
}

static bool put_pairs(struct call *call)
{
    for (uint32_t i = 1; i < arg_count(call); i += 2)
        if (!keyspace_put(call->keyspace, arg(call, i), arg(call, i + 1), 0))
            return false;
    return true;
}

void cmd_mset(struct call *call)
{
    if (has_pairs(call) && put_pairs(call))
        reply_ok(call);
}

void cmd_msetnx(struct call *call)
{
    struct record record;
    if (!has_pairs(call))
        return;
    for (uint32_t i = 1; i < arg_count(call); i += 2) {
        if (keyspace_peek(call->keyspace, arg(call, i), &record) != 0) {
            reply_integer(call, 0);
            return;
        }
    }
    if (put_pairs(call))
        reply_integer(call, 1);
}
