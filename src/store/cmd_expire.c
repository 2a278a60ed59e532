/* Expiry: EXPIRE and its kind, TTL and its kind, PERSIST, and the times in SET and GETEX. */
#include "store/expiry.h"

#include "store/handlers.h"

void reply_expiry_error(struct call *call)
{
    char name[32];
    call_name(call, name, sizeof name);
    reply_errorf(call, "ERR invalid expire time in '%s' command", name);
}

bool arg_expiry(struct call *call, uint32_t i, struct expiry_form form, int64_t *ret_expire_ms)
{
    int64_t time;
    bool is_good;
    if (!arg_integer(call, i, &time))
        return false;
    is_good = time > 0;
    if (form.is_seconds)
        is_good = is_good && !__builtin_mul_overflow(time, 1000, &time);
    if (!form.is_absolute)
        is_good = is_good && !__builtin_add_overflow(time, (int64_t)call->keyspace->now_ms, &time);
    if (!is_good)
        reply_expiry_error(call);
    else
        *ret_expire_ms = time;
    return is_good;
}

bool expiry_is_over(const struct call *call, int64_t expire_ms)
{
    return expire_ms <= (int64_t)call->keyspace->now_ms;
}

void put_expiring(struct call *call, struct slice key, struct slice value, int64_t expire_ms)
{
    if (expiry_is_over(call, expire_ms))
        keyspace_remove(call->keyspace, key);
    else
        keyspace_put(call->keyspace, key, value, (uint64_t)expire_ms);
}

void change_expiry(struct call *call, struct slice key, const struct record *record,
                   int64_t expire_ms)
{
    size_t len = record->value.len;
    char *value = keyspace_copy(call->keyspace, record->value, 0);
    if (value)
        keyspace_put(call->keyspace, key, (struct slice){value, len}, (uint64_t)expire_ms);
}

/* ---- EXPIRE ---------------------------------------------------------------------------------- */

/* On which condition. */
struct conditions {
    bool nx, xx, gt, lt;
};

static bool read_conditions(struct call *call, struct conditions *conditions)
{
    for (uint32_t i = 3; i < arg_count(call); i++) {
        if (arg_is(call, i, "nx")) {
            conditions->nx = true;
        } else if (arg_is(call, i, "xx")) {
            conditions->xx = true;
        } else if (arg_is(call, i, "gt")) {
            conditions->gt = true;
        } else if (arg_is(call, i, "lt")) {
            conditions->lt = true;
        } else {
            struct slice text = arg(call, i);
            reply_errorf(call, "ERR Unsupported option %.*s", (int)strnlen(text.ptr, text.len),
                         text.ptr);
            return false;
        }
    }
    if (conditions->nx && (conditions->xx || conditions->gt || conditions->lt)) {
        reply_error(call, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if (conditions->gt && conditions->lt) {
        reply_error(call, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    return true;
}

/* A key without an expiry lives for ever, which is later than any time. */
static bool are_met(const struct conditions *conditions, uint64_t old_ms, int64_t new_ms)
{
    if (conditions->nx && old_ms != 0)
        return false;
    if (conditions->xx && old_ms == 0)
        return false;
    if (conditions->gt && (old_ms == 0 || new_ms <= (int64_t)old_ms))
        return false;
    return !(conditions->lt && old_ms != 0 && new_ms >= (int64_t)old_ms);
}

static struct expiry_form form_of(const struct call *call)
{
    switch (call->command->id) {
    case CMD_EXPIRE: return (struct expiry_form){.is_seconds = true};
    case CMD_EXPIREAT: return (struct expiry_form){.is_seconds = true, .is_absolute = true};
    case CMD_PEXPIREAT: return (struct expiry_form){.is_absolute = true};
    default: return EXPIRY_PX;
    }
}

/* Unlike SET, EXPIRE takes times in the past: they delete. */
static bool read_time(struct call *call, int64_t *ret_expire_ms)
{
    struct expiry_form form = form_of(call);
    int64_t time;
    bool overflows = false;
    if (!arg_integer(call, 2, &time))
        return false;
    if (form.is_seconds)
        overflows = __builtin_mul_overflow(time, 1000, &time);
    if (!form.is_absolute)
        overflows |= __builtin_add_overflow(time, (int64_t)call->keyspace->now_ms, &time);
    if (overflows)
        reply_expiry_error(call);
    else
        *ret_expire_ms = time;
    return !overflows;
}

void cmd_expire(struct call *call)
{
    struct conditions conditions = {0};
    struct slice key = arg(call, 1);
    struct record record;
    int64_t expire_ms;
    if (!read_conditions(call, &conditions) || !read_time(call, &expire_ms))
        return;
    int found = keyspace_find(call->keyspace, key, &record);
    if (found <= 0 || !are_met(&conditions, record.expire_ms, expire_ms)) {
        reply_integer(call, 0);
        return;
    }
    if (expiry_is_over(call, expire_ms))
        keyspace_remove(call->keyspace, key);
    else
        change_expiry(call, key, &record, expire_ms);
    reply_integer(call, 1);
}

void cmd_persist(struct call *call)
{
    struct slice key = arg(call, 1);
    struct record record;
    int found = keyspace_find(call->keyspace, key, &record);
    bool is_changed = found > 0 && record.expire_ms != 0;
    if (is_changed)
        change_expiry(call, key, &record, 0);
    reply_integer(call, is_changed);
}

/* ---- TTL ------------------------------------------------------------------------------------- */

/* TTL PTTL EXPIRETIME PEXPIRETIME: -2 without the key, -1 without an expiry. */
void cmd_ttl(struct call *call)
{
    struct record record;
    unsigned id = call->command->id;
    bool is_absolute = id == CMD_EXPIRETIME || id == CMD_PEXPIRETIME;
    bool is_seconds = id == CMD_TTL || id == CMD_EXPIRETIME;
    int found = keyspace_peek(call->keyspace, arg(call, 1), &record);
    if (found <= 0 || record.expire_ms == 0) {
        reply_integer(call, found > 0 ? -1 : -2);
        return;
    }
    uint64_t time = is_absolute ? record.expire_ms : record.expire_ms - call->keyspace->now_ms;
    reply_integer(call, (int64_t)(is_seconds ? (time + 500) / 1000 : time));
}
