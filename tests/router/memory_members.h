/*
 * The list, hash and set commands of a memory node.
 */
#ifndef TESTS_ROUTER_MEMORY_MEMBERS_H
#define TESTS_ROUTER_MEMORY_MEMBERS_H

#include "router/memory_call.h"

/* LLEN, HLEN, SCARD */
static inline void memory_reply_len(struct memory_call *call, enum memory_type type)
{
    struct memory_item *item;
    if (memory_typed(call, type, &item))
        resp_write_integer(call->out, item ? (int64_t)memory_value_len(&item->value) : 0);
}

/* HDEL and SREM. */
static inline void memory_remove_members(struct memory_call *call, enum memory_type type)
{
    struct memory_item *item;
    int64_t removed = 0;
    if (!memory_typed(call, type, &item))
        return;
    for (uint32_t i = 2; item && i < call->count; i++)
        removed += memory_dict_remove(&item->value.members, memory_arg(call, i));
    memory_drop_empty(call, item);
    resp_write_integer(call->out, removed);
}

/* The member named by argument 2, or NULL; false after an error. */
static inline bool memory_member(struct memory_call *call, enum memory_type type,
                                 struct memory_item **ret_member)
{
    struct memory_item *item;
    if (!memory_typed(call, type, &item))
        return false;
    *ret_member = item ? memory_dict_find(&item->value.members, memory_arg(call, 2)) : NULL;
    return true;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* RPUSH and LPUSH. */
static inline void memory_push(struct memory_call *call)
{
    struct memory_item *item = memory_typed_put(call, MEMORY_LIST);
    if (!item)
        return;
    for (uint32_t i = 2; i < call->count; i++)
        memory_list_insert(&item->value,
                           memory_arg_is(call, 0, "RPUSH") ? item->value.value_count : 0,
                           memory_arg(call, i));
    resp_write_integer(call->out, (int64_t)item->value.value_count);
}

static inline void memory_llen(struct memory_call *call)
{
    memory_reply_len(call, MEMORY_LIST);
}

static inline void memory_lrange(struct memory_call *call)
{
    struct memory_item *item;
    int64_t first, last;
    if (!memory_arg_integer(call, 2, &first) || !memory_arg_integer(call, 3, &last) ||
        !memory_typed(call, MEMORY_LIST, &item))
        return;
    int64_t len = item ? (int64_t)item->value.value_count : 0;
    first = first >= 0 ? first : first + len > 0 ? first + len : 0;
    last = last >= 0 ? last : last + len;
    last = last < len ? last : len - 1;
    resp_write_array(call->out, first <= last ? (size_t)(last - first + 1) : 0);
    for (int64_t i = first; i <= last; i++)
        memory_reply_text(call, item->value.values[i]);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static inline void memory_hset(struct memory_call *call)
{
    int64_t added = 0;
    if (call->count % 2 != 0) {
        resp_write_error(call->out, "ERR wrong number of arguments for 'hset' command");
        return;
    }
    struct memory_item *item = memory_typed_put(call, MEMORY_HASH);
    for (uint32_t i = 2; item && i < call->count; i += 2) {
        added += !memory_dict_find(&item->value.members, memory_arg(call, i));
        struct memory_item *field = memory_dict_put(&item->value.members, memory_arg(call, i));
        memory_text_set(&field->value.text, memory_arg(call, i + 1));
    }
    if (item)
        resp_write_integer(call->out, added);
}

static inline void memory_hincrby(struct memory_call *call)
{
    struct memory_item *field;
    int64_t more, number = 0;
    char text[24];
    if (!memory_arg_integer(call, 3, &more) || !memory_member(call, MEMORY_HASH, &field))
        return;
    if (field && !resp_parse_integer(memory_slice(field->value.text), &number)) {
        resp_write_error(call->out, "ERR hash value is not an integer");
        return;
    }
    if (__builtin_add_overflow(number, more, &number)) {
        resp_write_error(call->out, "ERR increment or decrement would overflow");
        return;
    }
    struct memory_item *item = memory_typed_put(call, MEMORY_HASH);
    int len = snprintf(text, sizeof text, "%" PRId64, number);
    field = memory_dict_put(&item->value.members, memory_arg(call, 2));
    memory_text_set(&field->value.text, (struct slice){text, (size_t)len});
    resp_write_integer(call->out, number);
}

static inline void memory_hdel(struct memory_call *call)
{
    memory_remove_members(call, MEMORY_HASH);
}

static inline void memory_hlen(struct memory_call *call)
{
    memory_reply_len(call, MEMORY_HASH);
}

static inline void memory_reply_field(struct memory_call *call, const struct memory_item *field)
{
    if (field)
        memory_reply_text(call, field->value.text);
    else
        memory_reply_null(call);
}

static inline void memory_hget(struct memory_call *call)
{
    struct memory_item *field;
    if (memory_member(call, MEMORY_HASH, &field))
        memory_reply_field(call, field);
}

static inline void memory_hmget(struct memory_call *call)
{
    struct memory_item *item;
    if (!memory_typed(call, MEMORY_HASH, &item))
        return;
    resp_write_array(call->out, call->count - 2);
    for (uint32_t i = 2; i < call->count; i++)
        memory_reply_field(call, item ? memory_dict_find(&item->value.members, memory_arg(call, i))
                                      : NULL);
}

static inline void memory_hgetall(struct memory_call *call)
{
    struct memory_item *item;
    if (!memory_typed(call, MEMORY_HASH, &item))
        return;
    resp_write_map(call->out, item ? item->value.members.count : 0, call->conn->protocol);
    struct memory_item *field = item ? memory_dict_next(&item->value.members, NULL) : NULL;
    for (; field; field = memory_dict_next(&item->value.members, field)) {
        memory_reply_text(call, field->name);
        memory_reply_text(call, field->value.text);
    }
}

/* ---- sets ------------------------------------------------------------------------------------ */

static inline void memory_sadd(struct memory_call *call)
{
    struct memory_item *item = memory_typed_put(call, MEMORY_SET);
    if (!item)
        return;
    uint64_t before = item->value.members.count;
    for (uint32_t i = 2; i < call->count; i++)
        memory_dict_put(&item->value.members, memory_arg(call, i));
    resp_write_integer(call->out, (int64_t)(item->value.members.count - before));
}

static inline void memory_srem(struct memory_call *call)
{
    memory_remove_members(call, MEMORY_SET);
}

static inline void memory_scard(struct memory_call *call)
{
    memory_reply_len(call, MEMORY_SET);
}

static inline void memory_sismember(struct memory_call *call)
{
    struct memory_item *member;
    if (memory_member(call, MEMORY_SET, &member))
        resp_write_integer(call->out, member != NULL);
}

static inline void memory_smismember(struct memory_call *call)
{
    struct memory_item *item;
    if (!memory_typed(call, MEMORY_SET, &item))
        return;
    resp_write_array(call->out, call->count - 2);
    for (uint32_t i = 2; i < call->count; i++)
        resp_write_integer(call->out,
                           item && memory_dict_find(&item->value.members, memory_arg(call, i)));
}

static inline void memory_smembers(struct memory_call *call)
{
    struct memory_item *item;
    if (!memory_typed(call, MEMORY_SET, &item))
        return;
    resp_write_set(call->out, item ? item->value.members.count : 0, call->conn->protocol);
    struct memory_item *member = item ? memory_dict_next(&item->value.members, NULL) : NULL;
    for (; member; member = memory_dict_next(&item->value.members, member))
        memory_reply_text(call, member->name);
}

static inline void memory_pop(struct memory_call *call, struct memory_dict *members)
{
    struct memory_item *member = memory_dict_random(members, &call->node->random);
    memory_reply_text(call, member->name);
    memory_dict_remove(members, memory_slice(member->name));
}

/* SPOP key [count] */
static inline void memory_spop(struct memory_call *call)
{
    struct memory_item *item;
    int64_t count = 1;
    if (call->count > 3)
        return memory_reply_syntax_error(call);
    if (call->count == 3 && (!resp_parse_integer(memory_arg(call, 2), &count) || count < 0)) {
        resp_write_error(call->out, "ERR value is out of range, must be positive");
        return;
    }
    if (!memory_typed(call, MEMORY_SET, &item))
        return;
    uint64_t there = item ? item->value.members.count : 0;
    uint64_t popped = (uint64_t)count < there ? (uint64_t)count : there;
    if (call->count == 3)
        resp_write_set(call->out, popped, call->conn->protocol);
    else if (!popped)
        memory_reply_null(call);
    while (popped--)
        memory_pop(call, &item->value.members);
    memory_drop_empty(call, item);
}

#endif
