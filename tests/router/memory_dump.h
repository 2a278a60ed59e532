/*
 * The payload of DUMP between memory nodes: type, texts with their lengths, and a foot of a version
 * and a checksum. A payload of a later version, and one with a wrong byte anywhere, is refused, as
 * servers do.
 */
#ifndef TESTS_ROUTER_MEMORY_DUMP_H
#define TESTS_ROUTER_MEMORY_DUMP_H

#include "base/buffer.h"
#include "router/memory_value.h"

enum { MEMORY_DUMP_FOOT_LEN = 2 + 8 };

static inline void memory_dump_number(struct buffer *out, uint64_t number)
{
    CW_ASSERT(buffer_append(out, &number, sizeof number));
}

static inline void memory_dump_text(struct buffer *out, struct memory_text text)
{
    memory_dump_number(out, text.len);
    CW_ASSERT(buffer_append(out, text.ptr, text.len));
}

/* Appends the payload of a value; its expiry is not part of it. */
static inline void memory_dump(struct buffer *out, const struct memory_value *value,
                               uint16_t version)
{
    size_t start = out->len;
    memory_dump_number(out, value->type);
    memory_dump_number(out, value->type == MEMORY_STRING ? 1 : memory_value_len(value));
    if (value->type == MEMORY_STRING)
        memory_dump_text(out, value->text);
    for (size_t i = 0; i < value->value_count; i++)
        memory_dump_text(out, value->values[i]);
    for (struct memory_item *item = memory_dict_next(&value->members, NULL); item;
         item = memory_dict_next(&value->members, item)) {
        memory_dump_text(out, item->name);
        memory_dump_text(out, item->value.text);
    }
    CW_ASSERT(buffer_append(out, &version, sizeof version));
    memory_dump_number(out, cw_hash(buffer_bytes(out) + start, out->len - start));
}

/* Whether version and checksum are fine. */
static inline bool memory_dump_is_sound(struct slice payload, uint16_t version)
{
    uint16_t stated;
    uint64_t sum;
    if (payload.len < MEMORY_DUMP_FOOT_LEN)
        return false;
    memcpy(&stated, payload.ptr + payload.len - MEMORY_DUMP_FOOT_LEN, sizeof stated);
    memcpy(&sum, payload.ptr + payload.len - sizeof sum, sizeof sum);
    return stated <= version && sum == cw_hash(payload.ptr, payload.len - sizeof sum);
}

static inline uint64_t memory_load_number(struct slice *payload)
{
    uint64_t number;
    CW_ASSERT(payload->len >= sizeof number); /* the checksum was right */
    memcpy(&number, payload->ptr, sizeof number);
    *payload = (struct slice){payload->ptr + sizeof number, payload->len - sizeof number};
    return number;
}

static inline struct slice memory_load_text(struct slice *payload)
{
    uint64_t len = memory_load_number(payload);
    CW_ASSERT(payload->len >= len);
    struct slice text = {payload->ptr, len};
    *payload = (struct slice){payload->ptr + len, payload->len - len};
    return text;
}

/* *value, which must be clear, becomes what a sound payload says. */
static inline void memory_load(struct memory_value *value, struct slice payload)
{
    value->type = (enum memory_type)memory_load_number(&payload);
    uint64_t count = memory_load_number(&payload);
    for (uint64_t i = 0; i < count; i++) {
        struct slice text = memory_load_text(&payload);
        if (value->type == MEMORY_STRING)
            value->text = memory_text(text);
        else if (value->type == MEMORY_LIST)
            memory_list_insert(value, i, text);
        else
            memory_text_set(&memory_dict_put(&value->members, text)->value.text,
                            memory_load_text(&payload));
    }
}

#endif
