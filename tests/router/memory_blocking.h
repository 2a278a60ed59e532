/*
 * The commands of a memory node that wait: BLPOP, BRPOP, BLMOVE, XREAD with BLOCK; CLIENT UNBLOCK;
 * and as much of streams as that needs (a list of IDs, each "n-0"). A connection that waits keeps
 * its request in `in`, and executes it again when one of its keys may have something for it, those
 * that wait longest first.
 */
#ifndef TESTS_ROUTER_MEMORY_BLOCKING_H
#define TESTS_ROUTER_MEMORY_BLOCKING_H

#include "router/memory_call.h"

static inline void memory_conn_work(struct memory_conn *conn);

/* ---- waiting --------------------------------------------------------------------------------- */

static inline void memory_wake(struct memory_conn *conn, bool gives_up)
{
    list_remove(&conn->in_blocked);
    conn->is_blocked = false;
    conn->gives_up = gives_up;
    resp_request_reset(&conn->request);
    memory_conn_work(conn);
}

static inline void memory_on_timeout(void *context)
{
    struct memory_conn *conn = context;
    if (conn->is_blocked)
        memory_wake(conn, true);
}

/* There is nothing for a command: it waits, or its time is over. A timeout of 0 is none. */
static inline void memory_block(struct memory_call *call, double timeout_ms)
{
    struct memory_conn *conn = call->conn;
    if (conn->gives_up || call->in != &conn->in) {
        resp_write_null_array(call->out, conn->protocol);
        return;
    }
    conn->is_blocked = true;
    list_push_back(&call->node->blocked, &conn->in_blocked);
    if (!conn->block_timer)
        CW_ASSERT(io_timer_create(call->node->loop, memory_on_timeout, conn, &conn->block_timer) ==
                  0);
    if (timeout_ms > 0 && !conn->is_waiting_on)
        io_timer_start(conn->block_timer, (uint64_t)(timeout_ms < 1 ? 1 : timeout_ms));
    conn->is_waiting_on = true;
}

/* The command that may have waited is over. */
static inline void memory_waited(struct memory_conn *conn)
{
    if (conn->is_blocked)
        return;
    if (conn->is_waiting_on)
        io_timer_stop(conn->block_timer);
    conn->is_waiting_on = conn->gives_up = false;
}

static inline bool memory_is_ready(struct memory_conn *conn)
{
    struct memory_call call = {conn,           conn->node, &conn->out, conn->request.arg_count,
                               &conn->request, &conn->in};
    bool is_read = memory_arg_is(&call, 0, "XREAD");
    for (uint32_t i = 1; i < call.count; i++)
        if (memory_find(conn->node, memory_arg(&call, i)) && (is_read || i < call.count - 1))
            return true;
    return false;
}

/* After a write: those that waited for it get what is there. */
static inline void memory_serve_blocked(struct memory_node *node)
{
    struct list left;
    list_init(&left);
    list_move_all(&left, &node->blocked);
    while (!list_is_empty(&left)) {
        struct memory_conn *conn = list_entry(left.next, struct memory_conn, in_blocked);
        list_remove(&conn->in_blocked);
        list_push_back(&node->blocked, &conn->in_blocked);
        if (memory_is_ready(conn))
            memory_wake(conn, false);
    }
}

static inline void memory_client_unblock(struct memory_call *call)
{
    int64_t id;
    if (!memory_arg_integer(call, 2, &id))
        return;
    list_for_each (link, &call->node->blocked) {
        struct memory_conn *conn = list_entry(link, struct memory_conn, in_blocked);
        if (conn->id == (uint64_t)id) {
            resp_write_integer(call->out, 1);
            memory_wake(conn, true);
            return;
        }
    }
    resp_write_integer(call->out, 0);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static inline struct memory_text memory_list_take(struct memory_value *list, bool is_first)
{
    size_t at = is_first ? 0 : list->value_count - 1;
    struct memory_text text = list->values[at];
    list->value_count--;
    if (is_first)
        memmove(list->values, list->values + 1, list->value_count * sizeof *list->values);
    return text;
}

static inline double memory_seconds(const struct memory_call *call, uint32_t i)
{
    char text[32];
    struct slice arg = memory_arg(call, i);
    snprintf(text, sizeof text, "%.*s", (int)arg.len, arg.ptr);
    return strtod(text, NULL) * 1000;
}

/* BLPOP and BRPOP, key … timeout */
static inline void memory_blpop(struct memory_call *call)
{
    bool is_first = memory_arg_is(call, 0, "BLPOP");
    for (uint32_t i = 1; i < call->count - 1; i++) {
        struct memory_item *item = memory_find(call->node, memory_arg(call, i));
        if (!item)
            continue;
        struct memory_text text = memory_list_take(&item->value, is_first);
        resp_write_array(call->out, 2);
        resp_write_bulk(call->out, memory_arg(call, i).ptr, memory_arg(call, i).len);
        memory_reply_text(call, text);
        free(text.ptr);
        memory_drop_empty(call, item);
        return;
    }
    memory_block(call, memory_seconds(call, call->count - 1));
}

/* BLMOVE from to LEFT|RIGHT LEFT|RIGHT timeout */
static inline void memory_blmove(struct memory_call *call)
{
    struct memory_item *from = memory_find(call->node, memory_arg(call, 1));
    if (!from) {
        memory_block(call, memory_seconds(call, 5));
        return;
    }
    struct memory_text text = memory_list_take(&from->value, memory_arg_is(call, 3, "LEFT"));
    struct memory_item *to = memory_dict_put(&call->node->keys, memory_arg(call, 2));
    to->value.type = MEMORY_LIST;
    memory_list_insert(&to->value, memory_arg_is(call, 4, "LEFT") ? 0 : to->value.value_count,
                       memory_slice(text));
    memory_reply_text(call, text);
    free(text.ptr);
    memory_drop_empty(call, memory_find(call->node, memory_arg(call, 1)));
}

/* ---- streams --------------------------------------------------------------------------------- */

static inline int64_t memory_last_id(const struct memory_item *item)
{
    return item ? strtoll(item->value.values[item->value.value_count - 1].ptr, NULL, 10) : 0;
}

/* XADD key * … : the ID is one more than the last. */
static inline void memory_xadd(struct memory_call *call)
{
    char id[24];
    struct memory_item *item = memory_typed_put(call, MEMORY_LIST);
    if (!item)
        return;
    int64_t last = item->value.value_count ? memory_last_id(item) : 0;
    int len = snprintf(id, sizeof id, "%" PRId64 "-0", last + 1);
    memory_list_insert(&item->value, item->value.value_count, (struct slice){id, (size_t)len});
    resp_write_bulk_text(call->out, id);
}

static inline void memory_xinfo(struct memory_call *call)
{
    char id[24];
    struct memory_item *item = memory_find(call->node, memory_arg(call, 2));
    if (!item) {
        resp_write_error(call->out, "ERR no such key");
        return;
    }
    snprintf(id, sizeof id, "%" PRId64 "-0", memory_last_id(item));
    resp_write_array(call->out, 6);
    resp_write_bulk_text(call->out, "length");
    resp_write_integer(call->out, (int64_t)item->value.value_count);
    resp_write_bulk_text(call->out, "groups");
    resp_write_array(call->out, 1);
    resp_write_null(call->out, 2);
    resp_write_bulk_text(call->out, "last-generated-id");
    resp_write_bulk_text(call->out, id);
}

/* XREAD BLOCK ms STREAMS key id: replies with the number of the first entry behind the ID. */
static inline void memory_xread(struct memory_call *call)
{
    int64_t timeout_ms, after = call->conn->waits_behind;
    struct memory_item *item = memory_find(call->node, memory_arg(call, 4));
    if (!memory_arg_integer(call, 2, &timeout_ms))
        return;
    if (!call->conn->is_waiting_on)
        after = memory_arg_is(call, 5, "$") ? memory_last_id(item)
                                            : strtoll(memory_arg(call, 5).ptr, NULL, 10);
    call->conn->waits_behind = after;
    if (memory_last_id(item) > after) {
        resp_write_array(call->out, 1);
        resp_write_integer(call->out, after + 1);
    } else {
        memory_block(call, (double)timeout_ms);
    }
}

#endif
