/*
 * The commands of a memory node that are about the server and the connection, and the closing of
 * connections that CLIENT KILL needs.
 */
#ifndef TESTS_ROUTER_MEMORY_SESSION_H
#define TESTS_ROUTER_MEMORY_SESSION_H

#include "router/memory_blocking.h"

/* ---- closing --------------------------------------------------------------------------------- */

static inline void memory_conn_free(struct memory_conn *conn)
{
    buffer_release(&conn->in);
    buffer_release(&conn->out);
    resp_request_release(&conn->request);
    buffer_release(&conn->transaction.commands);
    memory_dict_clear(&conn->transaction.watched);
    free(conn);
}

/* Nothing of what it has sent is executed after this. */
static inline void memory_conn_close(struct memory_conn *conn)
{
    if (conn->is_closed)
        return;
    conn->is_closed = true;
    list_remove(&conn->in_node);
    list_remove(&conn->in_blocked);
    io_close(&conn->conn);
    if (conn->block_timer)
        io_timer_destroy(&conn->block_timer);
    if (conn->timer)
        io_timer_destroy(&conn->timer);
    if (!conn->is_executing)
        memory_conn_free(conn);
}

static inline void memory_close_all(struct memory_node *node)
{
    while (!list_is_empty(&node->conns))
        memory_conn_close(list_entry(node->conns.next, struct memory_conn, in_node));
}

/* ---- commands -------------------------------------------------------------------------------- */

static inline void memory_ping(struct memory_call *call)
{
    if (call->count > 1)
        resp_write_bulk(call->out, memory_arg(call, 1).ptr, memory_arg(call, 1).len);
    else
        resp_write_simple(call->out, "PONG");
}

static inline void memory_hello(struct memory_call *call)
{
    if (call->node->refuses_resp3) {
        resp_write_error(call->out, "ERR unknown command 'HELLO'");
        return;
    }
    call->conn->protocol = memory_arg_is(call, 1, "2") ? 2 : 3;
    resp_write_map(call->out, 0, call->conn->protocol);
}

/* AUTH [user] password */
static inline void memory_auth(struct memory_call *call)
{
    const char *password = call->node->password;
    struct slice given = memory_arg(call, call->count - 1);
    if (!password) {
        resp_write_error(call->out, "ERR AUTH <password> called without any password configured");
    } else if (given.len != strlen(password) || memcmp(given.ptr, password, given.len) != 0) {
        resp_write_error(call->out,
                         "WRONGPASS invalid username-password pair or user is disabled.");
    } else {
        call->conn->is_authenticated = true;
        memory_reply_ok(call);
    }
}

static inline void memory_time(struct memory_call *call)
{
    char text[24];
    uint64_t now_ms = memory_now_ms(call->node);
    resp_write_array(call->out, 2);
    snprintf(text, sizeof text, "%" PRIu64, now_ms / 1000);
    resp_write_bulk_text(call->out, text);
    snprintf(text, sizeof text, "%" PRIu64, now_ms % 1000 * 1000);
    resp_write_bulk_text(call->out, text);
}

/* All sections, whichever was asked for. */
static inline void memory_info(struct memory_call *call)
{
    char text[1024];
    struct memory_node *node = call->node;
    snprintf(text, sizeof text,
             "# Server\r\nredis_version:%s\r\nrun_id:%s\r\n\r\n"
             "# Memory\r\nused_memory:%" PRIu64 "\r\nmaxmemory:%" PRIu64
             "\r\nmaxmemory_policy:noeviction\r\n\r\n"
             "# Persistence\r\nloading:%d\r\n\r\n# Replication\r\nrole:%s\r\n\r\n"
             "# Keyspace\r\ndb0:keys=%" PRId64 ",expires=0,avg_ttl=0\r\n",
             node->redis_version, node->run_id, memory_used_bytes(node), node->max_bytes,
             node->is_loading, node->is_replica ? "slave" : "master", memory_size(node));
    resp_write_bulk_text(call->out, text);
}

/* ---- CLIENT ---------------------------------------------------------------------------------- */

static inline struct memory_conn *memory_conn_by_id(struct memory_node *node, int64_t id)
{
    list_for_each (link, &node->conns) {
        struct memory_conn *conn = list_entry(link, struct memory_conn, in_node);
        if (conn->id == (uint64_t)id)
            return conn;
    }
    return NULL;
}

/* CLIENT KILL ID n. Nobody kills itself (SKIPME yes, as it is by default). */
static inline void memory_client_kill(struct memory_call *call)
{
    int64_t id;
    if (call->count != 4 || !memory_arg_is(call, 2, "ID"))
        return memory_reply_syntax_error(call);
    if (!resp_parse_integer(memory_arg(call, 3), &id) || id <= 0) {
        resp_write_error(call->out, "ERR client-id should be greater than 0");
        return;
    }
    struct memory_conn *conn = memory_conn_by_id(call->node, id);
    bool is_other = conn && conn != call->conn;
    resp_write_integer(call->out, is_other);
    if (is_other)
        memory_conn_close(conn);
}

static inline void memory_client_list(struct memory_call *call)
{
    struct buffer lines = BUFFER_INIT;
    list_for_each (link, &call->node->conns) {
        struct memory_conn *conn = list_entry(link, struct memory_conn, in_node);
        buffer_printf(&lines, "id=%" PRIu64 " name=%s\n", conn->id, conn->name);
    }
    resp_write_bulk(call->out, buffer_bytes(&lines), lines.len);
    buffer_release(&lines);
}

static inline void memory_client_name(struct memory_call *call)
{
    struct slice name = memory_arg(call, 2);
    CW_ASSERT(name.len < sizeof call->conn->name);
    memcpy(call->conn->name, name.ptr, name.len);
    call->conn->name[name.len] = '\0';
    memory_reply_ok(call);
}

static inline void memory_client(struct memory_call *call)
{
    if (memory_arg_is(call, 1, "ID"))
        resp_write_integer(call->out, (int64_t)call->conn->id);
    else if (memory_arg_is(call, 1, "SETNAME") && call->count == 3)
        memory_client_name(call);
    else if (memory_arg_is(call, 1, "GETNAME"))
        resp_write_bulk_text(call->out, call->conn->name);
    else if (memory_arg_is(call, 1, "LIST"))
        memory_client_list(call);
    else if (memory_arg_is(call, 1, "KILL"))
        memory_client_kill(call);
    else if (memory_arg_is(call, 1, "UNBLOCK") && call->node->busy_unblocks) {
        call->node->busy_unblocks--;
        resp_write_error(call->out, "BUSY Redis is busy running a script.");
    } else if (memory_arg_is(call, 1, "UNBLOCK") && call->node->unblocks_nobody)
        resp_write_integer(call->out, 0);
    else if (memory_arg_is(call, 1, "UNBLOCK") && !call->node->refuses_unblock)
        memory_client_unblock(call);
    else
        resp_write_error(call->out, "ERR unknown subcommand");
}

#endif
