/*
 * The string commands of a memory node.
 */
#ifndef TESTS_ROUTER_MEMORY_STRINGS_H
#define TESTS_ROUTER_MEMORY_STRINGS_H

#include "router/memory_call.h"

static inline void memory_get(struct memory_call *call)
{
    struct memory_item *item;
    if (!memory_typed(call, MEMORY_STRING, &item))
        return;
    if (item)
        memory_reply_text(call, item->value.text);
    else
        memory_reply_null(call);
}

static inline void memory_mget(struct memory_call *call)
{
    resp_write_array(call->out, call->count - 1);
    for (uint32_t i = 1; i < call->count; i++) {
        struct memory_item *item = memory_find(call->node, memory_arg(call, i));
        if (item && item->value.type == MEMORY_STRING)
            memory_reply_text(call, item->value.text);
        else
            memory_reply_null(call);
    }
}

/* NULL when the node lies. */
static inline struct memory_item *memory_put(struct memory_call *call, struct slice key,
                                             struct slice value)
{
    if (random_below(&call->node->random, 1000) < call->node->lie_permille)
        return NULL;
    return memory_set(call->node, key, value);
}

static inline void memory_mset(struct memory_call *call)
{
    for (uint32_t i = 1; i + 1 < call->count; i += 2)
        memory_put(call, memory_arg(call, i), memory_arg(call, i + 1));
    memory_reply_ok(call);
}

struct memory_set_options {
    bool nx, xx, get, keepttl;
    uint64_t expire_ms;
};

/* Reads EX, PX, EXAT or PXAT at argument i; 1 read, 0 none of them, -1 refused. */
static inline int memory_read_expiry(struct memory_call *call, uint32_t i, uint64_t *ret_expire_ms)
{
    int64_t number;
    bool is_seconds = memory_arg_is(call, i, "EX") || memory_arg_is(call, i, "EXAT");
    bool is_relative = memory_arg_is(call, i, "EX") || memory_arg_is(call, i, "PX");
    if (!is_seconds && !is_relative && !memory_arg_is(call, i, "PXAT"))
        return 0;
    if (!memory_arg_integer(call, i + 1, &number))
        return -1;
    if (number <= 0 || number > INT64_MAX / 2000) {
        resp_write_error(call->out, "ERR invalid expire time in 'set' command");
        return -1;
    }
    *ret_expire_ms = (uint64_t)number * (is_seconds ? 1000 : 1) +
                     (is_relative ? memory_now_ms(call->node) : 0);
    return 1;
}

static inline bool memory_read_set_options(struct memory_call *call, struct memory_set_options *to)
{
    for (uint32_t i = 3; i < call->count; i++) {
        int expiry = memory_read_expiry(call, i, &to->expire_ms);
        if (expiry < 0)
            return false;
        if (expiry)
            i++;
        else if (memory_arg_is(call, i, "NX"))
            to->nx = true;
        else if (memory_arg_is(call, i, "XX"))
            to->xx = true;
        else if (memory_arg_is(call, i, "GET"))
            to->get = true;
        else if (memory_arg_is(call, i, "KEEPTTL"))
            to->keepttl = true;
        else
            return memory_reply_syntax_error(call), false;
    }
    if ((to->nx && to->xx) || (to->keepttl && to->expire_ms))
        return memory_reply_syntax_error(call), false;
    return true;
}

static inline void memory_set_command(struct memory_call *call)
{
    struct memory_set_options options = {0};
    struct slice key = memory_arg(call, 1);
    struct memory_item *item = memory_find(call->node, key);
    if (!memory_read_set_options(call, &options))
        return;
    bool is_done = !(options.nx && item) && !(options.xx && !item);
    if (options.get && !memory_typed(call, MEMORY_STRING, &item))
        return;
    if (options.get && item)
        memory_reply_text(call, item->value.text);
    else if (options.get || !is_done)
        memory_reply_null(call);
    else
        memory_reply_ok(call);
    if (!is_done)
        return;
    uint64_t expire_ms = options.keepttl && item ? item->value.expire_ms : options.expire_ms;
    item = memory_put(call, key, memory_arg(call, 2));
    if (item)
        item->value.expire_ms = expire_ms;
    memory_find(call->node, key); /* PXAT in the past: it is gone at once */
}

static inline void memory_add_number(struct memory_call *call, int64_t more)
{
    struct memory_item *item;
    int64_t number = 0;
    char text[24];
    if (!memory_typed(call, MEMORY_STRING, &item))
        return;
    if (item && !resp_parse_integer(memory_slice(item->value.text), &number)) {
        resp_write_error(call->out, "ERR value is not an integer or out of range");
        return;
    }
    if (__builtin_add_overflow(number, more, &number)) {
        resp_write_error(call->out, "ERR increment or decrement would overflow");
        return;
    }
    int len = snprintf(text, sizeof text, "%" PRId64, number);
    item = memory_dict_put(&call->node->keys, memory_arg(call, 1));
    memory_text_set(&item->value.text, (struct slice){text, (size_t)len});
    resp_write_integer(call->out, number);
}

static inline void memory_incr(struct memory_call *call)
{
    memory_add_number(call, 1);
}

static inline void memory_incrby(struct memory_call *call)
{
    int64_t more;
    if (memory_arg_integer(call, 2, &more))
        memory_add_number(call, more);
}

static inline void memory_append(struct memory_call *call)
{
    struct slice tail = memory_arg(call, 2);
    struct memory_item *item = memory_typed_put(call, MEMORY_STRING);
    if (!item)
        return;
    struct memory_text *text = &item->value.text;
    text->ptr = realloc(text->ptr, text->len + tail.len + 1);
    CW_ASSERT(text->ptr);
    memcpy(text->ptr + text->len, tail.ptr, tail.len);
    text->len += tail.len;
    text->ptr[text->len] = '\0';
    resp_write_integer(call->out, (int64_t)text->len);
}

static inline void memory_strlen(struct memory_call *call)
{
    struct memory_item *item;
    if (memory_typed(call, MEMORY_STRING, &item))
        resp_write_integer(call->out, item ? (int64_t)item->value.text.len : 0);
}

static inline void memory_getrange(struct memory_call *call)
{
    struct memory_item *item;
    int64_t first, last;
    if (!memory_arg_integer(call, 2, &first) || !memory_arg_integer(call, 3, &last) ||
        !memory_typed(call, MEMORY_STRING, &item))
        return;
    int64_t len = item ? (int64_t)item->value.text.len : 0;
    first = first >= 0 ? first : first + len > 0 ? first + len : 0;
    last = last >= 0 ? last : last + len;
    last = last < len ? last : len - 1;
    if (first > last)
        resp_write_bulk_text(call->out, "");
    else
        resp_write_bulk(call->out, item->value.text.ptr + first, (size_t)(last - first + 1));
}

#endif
