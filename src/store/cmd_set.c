/* SET with all that it can be told, its older forms, and GETEX. */
#include "store/expiry.h"
#include "store/handlers.h"

enum { OPTION_NX = 1, OPTION_XX = 2, OPTION_GET = 4, OPTION_KEEPTTL = 8, OPTION_PERSIST = 16 };
enum { OPTION_EX = 32, OPTION_PX = 64, OPTION_EXAT = 128, OPTION_PXAT = 256 };
enum { OPTIONS_TIME = OPTION_EX | OPTION_PX | OPTION_EXAT | OPTION_PXAT };

/* What an option forbids beside itself: only one way to say what becomes of the expiry. Saying the
 * same twice is fine, as in Redis. */
struct option {
    const char *word;
    unsigned flag, forbids;
    bool has_time, is_set, is_getex;
};

#define EXPIRY_WORDS (OPTIONS_TIME | OPTION_KEEPTTL | OPTION_PERSIST)

static const struct option options[] = {
    {"nx", OPTION_NX, OPTION_XX, false, true, false},
    {"xx", OPTION_XX, OPTION_NX, false, true, false},
    {"get", OPTION_GET, 0, false, true, false},
    {"keepttl", OPTION_KEEPTTL, EXPIRY_WORDS & ~OPTION_KEEPTTL, false, true, false},
    {"persist", OPTION_PERSIST, EXPIRY_WORDS & ~OPTION_PERSIST, false, false, true},
    {"ex", OPTION_EX, EXPIRY_WORDS & ~OPTION_EX, true, true, true},
    {"px", OPTION_PX, EXPIRY_WORDS & ~OPTION_PX, true, true, true},
    {"exat", OPTION_EXAT, EXPIRY_WORDS & ~OPTION_EXAT, true, true, true},
    {"pxat", OPTION_PXAT, EXPIRY_WORDS & ~OPTION_PXAT, true, true, true},
};

/* What was said. */
struct choices {
    unsigned flags;
    uint32_t time_arg;
};

static const struct option *find_option(const struct call *call, uint32_t i, bool is_set)
{
    for (size_t k = 0; k < sizeof options / sizeof options[0]; k++)
        if ((is_set ? options[k].is_set : options[k].is_getex) && arg_is(call, i, options[k].word))
            return &options[k];
    return NULL;
}

static bool read_options(struct call *call, uint32_t first, bool is_set, struct choices *choices)
{
    for (uint32_t i = first; i < arg_count(call); i++) {
        const struct option *option = find_option(call, i, is_set);
        if (!option || choices->flags & option->forbids ||
            (option->has_time && i + 1 == arg_count(call))) {
            reply_syntax_error(call);
            return false;
        }
        choices->flags |= option->flag;
        if (option->has_time)
            choices->time_arg = ++i;
    }
    return true;
}

static bool read_expiry(struct call *call, const struct choices *choices, int64_t *ret_expire_ms)
{
    struct expiry_form form = {
        .is_seconds = choices->flags & (OPTION_EX | OPTION_EXAT),
        .is_absolute = choices->flags & (OPTION_EXAT | OPTION_PXAT),
    };
    return choices->time_arg == 0 || arg_expiry(call, choices->time_arg, form, ret_expire_ms);
}

/* Puts the value as chosen; expire_ms is 0 when no time was said. */
static void put_chosen(struct call *call, unsigned flags, const struct record *old,
                       int64_t expire_ms)
{
    struct slice key = arg(call, 1), value = arg(call, 2);
    if (expire_ms)
        put_expiring(call, key, value, expire_ms);
    else
        keyspace_put(call->keyspace, key, value, flags & OPTION_KEEPTTL ? old->expire_ms : 0);
}

/* The old record matters only to some options, and a look-up that is not needed is not made: a
 * plain SET also works over a damaged record. */
static int find_old(struct call *call, unsigned flags, struct record *old)
{
    if (flags & OPTION_GET)
        return keyspace_find(call->keyspace, arg(call, 1), old);
    if (flags & (OPTION_NX | OPTION_XX | OPTION_KEEPTTL))
        return keyspace_peek(call->keyspace, arg(call, 1), old);
    return 0;
}

void cmd_set(struct call *call)
{
    struct choices choices = {0};
    struct record old = {0};
    int64_t expire_ms = 0;
    if (!read_options(call, 3, true, &choices) || !read_expiry(call, &choices, &expire_ms))
        return;
    int found = find_old(call, choices.flags, &old);
    if (found < 0)
        return;
    bool is_put = !(choices.flags & OPTION_NX && found) && !(choices.flags & OPTION_XX && !found);
    if (choices.flags & OPTION_GET && found)
        reply_bulk(call, old.value);
    else if (choices.flags & OPTION_GET || !is_put)
        reply_null(call);
    else
        reply_ok(call);
    if (is_put)
        put_chosen(call, choices.flags, &old, expire_ms);
}

void cmd_setnx(struct call *call)
{
    struct record old;
    int found = keyspace_peek(call->keyspace, arg(call, 1), &old);
    if (found == 0)
        keyspace_put(call->keyspace, arg(call, 1), arg(call, 2), 0);
    reply_integer(call, found == 0);
}

static void set_with_time(struct call *call, struct expiry_form form)
{
    int64_t expire_ms;
    if (!arg_expiry(call, 2, form, &expire_ms))
        return;
    put_expiring(call, arg(call, 1), arg(call, 3), expire_ms);
    reply_ok(call);
}

void cmd_setex(struct call *call)
{
    set_with_time(call, (struct expiry_form){.is_seconds = true});
}

void cmd_psetex(struct call *call)
{
    set_with_time(call, EXPIRY_PX);
}

void cmd_getex(struct call *call)
{
    struct choices choices = {0};
    struct slice key = arg(call, 1);
    struct record record;
    int64_t expire_ms = 0;
    if (!read_options(call, 2, false, &choices))
        return;
    int found = keyspace_find(call->keyspace, key, &record);
    if (found <= 0) {
        reply_null(call);
        return;
    }
    if (!read_expiry(call, &choices, &expire_ms))
        return;
    reply_bulk(call, record.value);
    if (expire_ms && expiry_is_over(call, expire_ms))
        keyspace_remove(call->keyspace, key);
    else if (expire_ms || (choices.flags & OPTION_PERSIST && record.expire_ms))
        change_expiry(call, key, &record, expire_ms);
}
