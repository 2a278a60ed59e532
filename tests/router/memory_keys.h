/*
 * The commands of a memory node that do for keys of every type: lifetimes, SCAN, DUMP and RESTORE.
 */
#ifndef TESTS_ROUTER_MEMORY_KEYS_H
#define TESTS_ROUTER_MEMORY_KEYS_H

#include "router/memory_call.h"
#include "router/memory_dump.h"
#include "store/glob.h"

static inline void memory_del(struct memory_call *call)
{
    int64_t deleted = 0;
    for (uint32_t i = 1; i < call->count; i++)
        deleted += memory_delete(call->node, memory_arg(call, i));
    resp_write_integer(call->out, deleted);
}

static inline void memory_exists(struct memory_call *call)
{
    int64_t found = 0;
    for (uint32_t i = 1; i < call->count; i++)
        found += memory_find(call->node, memory_arg(call, i)) != NULL;
    resp_write_integer(call->out, found);
}

static inline const char *memory_type_name(const struct memory_item *item)
{
    static const char *const names[] = {"string", "list", "set", "hash"};
    return item ? names[item->value.type] : "none";
}

static inline void memory_type(struct memory_call *call)
{
    resp_write_simple(call->out, memory_type_name(memory_find(call->node, memory_arg(call, 1))));
}

static inline void memory_dbsize(struct memory_call *call)
{
    resp_write_integer(call->out, memory_size(call->node));
}

static inline void memory_flushall(struct memory_call *call)
{
    memory_dict_clear(&call->node->keys);
    memory_reply_ok(call);
}

/* RENAME and RENAMENX: the value with its lifetime takes the place of what was there. */
static inline void memory_rename(struct memory_call *call)
{
    struct slice to = memory_arg(call, 2);
    bool is_nx = memory_arg_is(call, 0, "RENAMENX");
    struct memory_value value = {0};
    struct memory_item *item = memory_find(call->node, memory_arg(call, 1));
    if (!item) {
        resp_write_error(call->out, "ERR no such key");
        return;
    }
    if (is_nx && memory_find(call->node, to)) {
        resp_write_integer(call->out, 0);
        return;
    }
    memory_value_copy(&value, &item->value);
    memory_delete(call->node, memory_arg(call, 1));
    item = memory_dict_put(&call->node->keys, to);
    memory_value_clear(&item->value);
    item->value = value;
    if (is_nx)
        resp_write_integer(call->out, 1);
    else
        memory_reply_ok(call);
}

/* ---- lifetimes ------------------------------------------------------------------------------- */

/* EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT. A moment that is over deletes. */
static inline void memory_pexpire(struct memory_call *call)
{
    int64_t number;
    struct slice name = memory_arg(call, 0);
    bool is_absolute = name.len > 7 && (name.ptr[name.len - 1] | 32) == 't';
    bool is_seconds = (name.ptr[0] | 32) == 'e';
    struct memory_item *item = memory_find(call->node, memory_arg(call, 1));
    if (!memory_arg_integer(call, 2, &number))
        return;
    if (item) {
        int64_t now_ms = (int64_t)memory_now_ms(call->node);
        int64_t at_ms = number * (is_seconds ? 1000 : 1) + (is_absolute ? 0 : now_ms);
        item->value.expire_ms = (uint64_t)at_ms;
        if (at_ms <= now_ms)
            memory_dict_remove(&call->node->keys, memory_arg(call, 1));
    }
    resp_write_integer(call->out, item != NULL);
}

static inline void memory_persist(struct memory_call *call)
{
    struct memory_item *item = memory_find(call->node, memory_arg(call, 1));
    bool had_expiry = item && item->value.expire_ms;
    if (item)
        item->value.expire_ms = 0;
    resp_write_integer(call->out, had_expiry);
}

/* PEXPIRETIME and PTTL. */
static inline void memory_pexpiretime(struct memory_call *call)
{
    struct memory_item *item = memory_find(call->node, memory_arg(call, 1));
    int64_t at_ms = !item ? -2 : item->value.expire_ms ? (int64_t)item->value.expire_ms : -1;
    if (at_ms > 0 && memory_arg_is(call, 0, "PTTL"))
        at_ms -= (int64_t)memory_now_ms(call->node);
    resp_write_integer(call->out, at_ms);
}

/* ---- SCAN ------------------------------------------------------------------------------------ */

struct memory_scan {
    const struct memory_call *call;
    struct buffer listed;
    size_t count;
    uint64_t seen, wanted;
    const char *type; /* NULL: any */
    struct slice pattern;
    bool has_pattern, with_values;
};

static inline void memory_scan_visit(void *context, struct memory_item *item)
{
    struct memory_scan *scan = context;
    scan->seen++;
    if ((scan->has_pattern && !glob_match(scan->pattern, memory_slice(item->name))) ||
        (scan->type && strcasecmp(scan->type, memory_type_name(item)) != 0))
        return;
    scan->count++;
    resp_write_bulk(&scan->listed, item->name.ptr, item->name.len);
    if (!scan->with_values)
        return;
    scan->count++;
    resp_write_bulk(&scan->listed, item->value.text.ptr, item->value.text.len);
}

/* The options from argument i on; replies and returns false when one is wrong. */
static inline bool memory_scan_options(struct memory_call *call, uint32_t i,
                                       struct memory_scan *scan)
{
    static const char *const types[] = {"string", "list", "set", "hash", "none"};
    for (; i + 1 < call->count; i += 2) {
        int64_t count;
        if (memory_arg_is(call, i, "COUNT")) {
            if (!memory_arg_integer(call, i + 1, &count))
                return false;
            if (count < 1)
                return memory_reply_syntax_error(call), false;
            scan->wanted = (uint64_t)count;
        } else if (memory_arg_is(call, i, "MATCH")) {
            scan->pattern = memory_arg(call, i + 1);
            scan->has_pattern = true;
        } else if (memory_arg_is(call, i, "TYPE")) {
            scan->type = "none";
            for (size_t t = 0; t < 4; t++)
                if (memory_arg_is(call, i + 1, types[t]))
                    scan->type = types[t];
        } else {
            return memory_reply_syntax_error(call), false;
        }
    }
    return i == call->count || (memory_reply_syntax_error(call), false);
}

static inline bool memory_scan_cursor(struct memory_call *call, uint32_t i, uint64_t *ret_cursor)
{
    struct slice text = memory_arg(call, i);
    uint64_t cursor = 0;
    bool is_fine = text.len > 0 && text.len <= 20;
    for (size_t at = 0; at < text.len && is_fine; at++) {
        is_fine = text.ptr[at] >= '0' && text.ptr[at] <= '9';
        cursor = cursor * 10 + (uint64_t)(text.ptr[at] - '0');
    }
    *ret_cursor = cursor;
    return is_fine || (resp_write_error(call->out, "ERR invalid cursor"), false);
}

static inline void memory_scan_run(struct memory_call *call, struct memory_scan *scan,
                                   const struct memory_dict *dict, uint64_t cursor)
{
    char text[24];
    uint64_t chains = 0;
    do {
        cursor = memory_dict_scan(dict, cursor, memory_scan_visit, scan);
    } while (cursor && scan->seen < scan->wanted && ++chains < 10 * scan->wanted);
    snprintf(text, sizeof text, "%" PRIu64, cursor);
    resp_write_array(call->out, 2);
    resp_write_bulk_text(call->out, text);
    resp_write_array(call->out, scan->count);
    buffer_append(call->out, buffer_bytes(&scan->listed), scan->listed.len);
    buffer_release(&scan->listed);
}

static inline void memory_scan(struct memory_call *call)
{
    struct memory_scan scan = {.call = call, .wanted = 10};
    uint64_t cursor;
    if (!memory_scan_cursor(call, 1, &cursor) || !memory_scan_options(call, 2, &scan))
        return;
    memory_expire(call->node);
    memory_scan_run(call, &scan, &call->node->keys, cursor);
}

/* HSCAN and SSCAN: small ones come whole, as they do from servers that keep them in one piece. */
static inline void memory_scan_members(struct memory_call *call, enum memory_type type)
{
    static const struct memory_dict nothing;
    struct memory_scan scan = {.call = call, .wanted = 10, .with_values = type == MEMORY_HASH};
    struct memory_item *item;
    uint64_t cursor;
    if (!memory_scan_cursor(call, 2, &cursor) || !memory_typed(call, type, &item) ||
        !memory_scan_options(call, 3, &scan))
        return;
    if (item && item->value.members.count <= call->node->scan_whole_max) {
        scan.wanted = UINT32_MAX;
        cursor = 0;
    }
    memory_scan_run(call, &scan, item ? &item->value.members : &nothing, cursor);
}

static inline void memory_hscan(struct memory_call *call)
{
    memory_scan_members(call, MEMORY_HASH);
}

static inline void memory_sscan(struct memory_call *call)
{
    memory_scan_members(call, MEMORY_SET);
}

/* ---- payloads -------------------------------------------------------------------------------- */

static inline void memory_dump_command(struct memory_call *call)
{
    struct buffer payload = BUFFER_INIT;
    struct memory_item *item = memory_find(call->node, memory_arg(call, 1));
    if (!item) {
        memory_reply_null(call);
        return;
    }
    memory_dump(&payload, &item->value, call->node->dump_version);
    resp_write_bulk(call->out, buffer_bytes(&payload), payload.len);
    buffer_release(&payload);
}

/* RESTORE key ttl payload [REPLACE] [ABSTTL] [IDLETIME n] [FREQ n], with Redis's order of checks.
 */
static inline void memory_restore(struct memory_call *call)
{
    struct slice key = memory_arg(call, 1), payload = memory_arg(call, 3);
    bool replaces = false, is_absolute = false;
    int64_t ttl_ms, ignored;
    for (uint32_t i = 4; i < call->count; i++) {
        if (memory_arg_is(call, i, "REPLACE"))
            replaces = true;
        else if (memory_arg_is(call, i, "ABSTTL"))
            is_absolute = true;
        else if (!(memory_arg_is(call, i, "IDLETIME") || memory_arg_is(call, i, "FREQ")) ||
                 ++i >= call->count || !resp_parse_integer(memory_arg(call, i), &ignored))
            return memory_reply_syntax_error(call);
    }
    if (!replaces && memory_find(call->node, key)) {
        resp_write_error(call->out, "BUSYKEY Target key name already exists.");
        return;
    }
    if (!memory_arg_integer(call, 2, &ttl_ms))
        return;
    if (ttl_ms < 0 || !memory_dump_is_sound(payload, call->node->dump_version)) {
        resp_write_error(call->out, ttl_ms < 0 ? "ERR Invalid TTL value, must be >= 0"
                                               : "ERR DUMP payload version or checksum are wrong");
        return;
    }
    uint64_t now_ms = memory_now_ms(call->node);
    uint64_t expire_ms = (uint64_t)ttl_ms + (ttl_ms && !is_absolute ? now_ms : 0);
    memory_delete(call->node, key);
    if (!expire_ms || expire_ms > now_ms) {
        struct memory_item *item = memory_dict_put(&call->node->keys, key);
        memory_load(&item->value, payload);
        item->value.expire_ms = expire_ms;
    }
    memory_reply_ok(call);
}

/* MEMORY USAGE key [SAMPLES n] */
static inline void memory_memory(struct memory_call *call)
{
    int64_t samples;
    if (!memory_arg_is(call, 1, "USAGE") || (call->count != 3 && call->count != 5))
        return memory_reply_syntax_error(call);
    if (call->count == 5 && !memory_arg_is(call, 3, "SAMPLES"))
        return memory_reply_syntax_error(call);
    if (call->count == 5 && !memory_arg_integer(call, 4, &samples))
        return;
    struct memory_item *item = memory_find(call->node, memory_arg(call, 2));
    if (item)
        resp_write_integer(call->out, (int64_t)memory_item_bytes(item));
    else
        memory_reply_null(call);
}

#endif
