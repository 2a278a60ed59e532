/*
 * Transactions of a memory node: MULTI, EXEC, DISCARD, WATCH, UNWATCH. A watched key counts as
 * written when a write names it, whether it changed or not; expiry is not noticed.
 */
#ifndef TESTS_ROUTER_MEMORY_TRANSACTION_H
#define TESTS_ROUTER_MEMORY_TRANSACTION_H

#include "router/memory_call.h"

enum memory_flags {
    MEMORY_WRITES = 1, /* a replica refuses it */
    MEMORY_GROWS = 2,  /* so does a node that is full */
    MEMORY_ALWAYS = 4, /* answered before AUTH and while loading */
    MEMORY_NOW = 8,    /* done at once, also between MULTI and EXEC */
};

struct memory_command {
    const char *name;
    int arg_count; /* the name included; negative: at least */
    int flags;
    void (*run)(struct memory_call *call);
};

static inline const struct memory_command *memory_command_find(struct slice name);

/* ---- watching -------------------------------------------------------------------------------- */

static inline void memory_touch(struct memory_call *call)
{
    list_for_each (link, &call->node->conns) {
        struct memory_conn *conn = list_entry(link, struct memory_conn, in_node);
        struct memory_transaction *transaction = &conn->transaction;
        if (transaction->watched.count == 0)
            continue;
        for (uint32_t i = 1; i < call->count; i++)
            if (memory_dict_find(&transaction->watched, memory_arg(call, i)))
                transaction->is_touched = true;
        if (call->count == 1 || memory_arg_is(call, 0, "FLUSHALL"))
            transaction->is_touched = true;
    }
}

static inline void memory_run(struct memory_call *call, const struct memory_command *command)
{
    CW_ASSERT(command);
    if (command->flags & MEMORY_WRITES)
        memory_touch(call);
    command->run(call);
}

static inline void memory_watch(struct memory_call *call)
{
    if (call->conn->transaction.is_open) {
        resp_write_error(call->out, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    for (uint32_t i = 1; i < call->count; i++)
        memory_dict_put(&call->conn->transaction.watched, memory_arg(call, i));
    memory_reply_ok(call);
}

static inline void memory_forget_watched(struct memory_conn *conn)
{
    memory_dict_clear(&conn->transaction.watched);
    conn->transaction.is_touched = false;
}

static inline void memory_unwatch(struct memory_call *call)
{
    memory_forget_watched(call->conn);
    memory_reply_ok(call);
}

/* ---- MULTI to EXEC --------------------------------------------------------------------------- */

static inline void memory_multi(struct memory_call *call)
{
    struct memory_transaction *transaction = &call->conn->transaction;
    if (transaction->is_open) {
        resp_write_error(call->out, "ERR MULTI calls can not be nested");
        return;
    }
    transaction->is_open = true;
    transaction->is_bad = false;
    memory_reply_ok(call);
}

static inline void memory_queue(struct memory_call *call)
{
    buffer_append(&call->conn->transaction.commands, buffer_bytes(call->in), call->request->length);
    resp_write_simple(call->out, "QUEUED");
}

static inline void memory_end_transaction(struct memory_conn *conn)
{
    conn->transaction.is_open = conn->transaction.is_bad = false;
    buffer_clear(&conn->transaction.commands);
    memory_forget_watched(conn);
}

static inline void memory_discard(struct memory_call *call)
{
    if (!call->conn->transaction.is_open) {
        resp_write_error(call->out, "ERR DISCARD without MULTI");
        return;
    }
    memory_end_transaction(call->conn);
    memory_reply_ok(call);
}

/* Runs all that was queued. Returns how many commands that were; their replies are in `out`. */
static inline size_t memory_run_queued(struct memory_call *call, struct buffer *out)
{
    static const struct resp_limits limits = {1 << 16, 64 << 20, 1 << 16, 128 << 20};
    struct buffer *commands = &call->conn->transaction.commands;
    struct resp_request request;
    size_t count = 0;
    resp_request_init(&request);
    for (; commands->len; count++) {
        CW_ASSERT(resp_request_parse(&request, buffer_bytes(commands), commands->len, &limits) ==
                  RESP_DONE);
        struct memory_call queued = {call->conn,        call->node, out,
                                     request.arg_count, &request,   commands};
        memory_run(&queued, memory_command_find(memory_arg(&queued, 0)));
        buffer_take(commands, request.length);
        resp_request_reset(&request);
    }
    resp_request_release(&request);
    return count;
}

static inline void memory_exec(struct memory_call *call)
{
    struct memory_transaction *transaction = &call->conn->transaction;
    if (!transaction->is_open) {
        resp_write_error(call->out, "ERR EXEC without MULTI");
    } else if (transaction->is_bad) {
        resp_write_error(call->out, "EXECABORT Transaction discarded because of previous errors.");
    } else if (transaction->is_touched) {
        resp_write_null_array(call->out, call->conn->protocol);
    } else {
        struct buffer replies = BUFFER_INIT;
        size_t count = memory_run_queued(call, &replies);
        resp_write_array(call->out, count);
        buffer_append(call->out, buffer_bytes(&replies), replies.len);
        buffer_release(&replies);
    }
    memory_end_transaction(call->conn);
}

#endif
