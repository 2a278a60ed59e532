/*
 * The connections of a memory node: reading requests, the table of commands, executing them one by
 * one, also late.
 */
#ifndef TESTS_ROUTER_MEMORY_EXECUTE_H
#define TESTS_ROUTER_MEMORY_EXECUTE_H

#include "router/memory_blocking.h"
#include "router/memory_call.h"
#include "router/memory_keys.h"
#include "router/memory_members.h"
#include "router/memory_session.h"
#include "router/memory_strings.h"
#include "router/memory_transaction.h"

static const struct memory_command memory_commands[] = {
    {"PING", -1, 0, memory_ping},
    {"AUTH", -2, MEMORY_ALWAYS, memory_auth},
    {"HELLO", -1, MEMORY_ALWAYS, memory_hello},
    {"INFO", -1, MEMORY_ALWAYS, memory_info},
    {"CLIENT", -2, MEMORY_ALWAYS, memory_client},
    {"TIME", 1, 0, memory_time},
    {"MULTI", 1, MEMORY_NOW, memory_multi},
    {"EXEC", 1, MEMORY_NOW, memory_exec},
    {"DISCARD", 1, MEMORY_NOW, memory_discard},
    {"WATCH", -2, MEMORY_NOW, memory_watch},
    {"UNWATCH", 1, 0, memory_unwatch},
    /* strings */
    {"GET", 2, 0, memory_get},
    {"MGET", -2, 0, memory_mget},
    {"SET", -3, MEMORY_WRITES | MEMORY_GROWS, memory_set_command},
    {"MSET", -3, MEMORY_WRITES | MEMORY_GROWS, memory_mset},
    {"INCR", 2, MEMORY_WRITES | MEMORY_GROWS, memory_incr},
    {"INCRBY", 3, MEMORY_WRITES | MEMORY_GROWS, memory_incrby},
    {"APPEND", 3, MEMORY_WRITES | MEMORY_GROWS, memory_append},
    {"STRLEN", 2, 0, memory_strlen},
    {"GETRANGE", 4, 0, memory_getrange},
    /* keys */
    {"DEL", -2, MEMORY_WRITES, memory_del},
    {"UNLINK", -2, MEMORY_WRITES, memory_del},
    {"EXISTS", -2, 0, memory_exists},
    {"TYPE", 2, 0, memory_type},
    {"RENAME", 3, MEMORY_WRITES, memory_rename},
    {"RENAMENX", 3, MEMORY_WRITES, memory_rename},
    {"EXPIRE", 3, MEMORY_WRITES, memory_pexpire},
    {"PEXPIRE", 3, MEMORY_WRITES, memory_pexpire},
    {"EXPIREAT", 3, MEMORY_WRITES, memory_pexpire},
    {"PEXPIREAT", 3, MEMORY_WRITES, memory_pexpire},
    {"PERSIST", 2, MEMORY_WRITES, memory_persist},
    {"PTTL", 2, 0, memory_pexpiretime},
    {"PEXPIRETIME", 2, 0, memory_pexpiretime},
    {"SCAN", -2, 0, memory_scan},
    {"DBSIZE", 1, 0, memory_dbsize},
    {"FLUSHALL", -1, MEMORY_WRITES, memory_flushall},
    {"DUMP", 2, 0, memory_dump_command},
    {"RESTORE", -4, MEMORY_WRITES | MEMORY_GROWS, memory_restore},
    {"MEMORY", -3, 0, memory_memory},
    /* lists */
    {"RPUSH", -3, MEMORY_WRITES | MEMORY_GROWS, memory_push},
    {"LPUSH", -3, MEMORY_WRITES | MEMORY_GROWS, memory_push},
    {"LRANGE", 4, 0, memory_lrange},
    {"LLEN", 2, 0, memory_llen},
    {"BLPOP", -3, MEMORY_WRITES, memory_blpop},
    {"BRPOP", -3, MEMORY_WRITES, memory_blpop},
    {"BLMOVE", 6, MEMORY_WRITES | MEMORY_GROWS, memory_blmove},
    /* streams */
    {"XADD", -5, MEMORY_WRITES | MEMORY_GROWS, memory_xadd},
    {"XINFO", 3, 0, memory_xinfo},
    {"XREAD", 6, 0, memory_xread},
    /* hashes */
    {"HSET", -4, MEMORY_WRITES | MEMORY_GROWS, memory_hset},
    {"HINCRBY", 4, MEMORY_WRITES | MEMORY_GROWS, memory_hincrby},
    {"HDEL", -3, MEMORY_WRITES, memory_hdel},
    {"HGET", 3, 0, memory_hget},
    {"HMGET", -3, 0, memory_hmget},
    {"HGETALL", 2, 0, memory_hgetall},
    {"HLEN", 2, 0, memory_hlen},
    {"HSCAN", -3, 0, memory_hscan},
    /* sets */
    {"SADD", -3, MEMORY_WRITES | MEMORY_GROWS, memory_sadd},
    {"SREM", -3, MEMORY_WRITES, memory_srem},
    {"SPOP", -2, MEMORY_WRITES, memory_spop},
    {"SCARD", 2, 0, memory_scard},
    {"SISMEMBER", 3, 0, memory_sismember},
    {"SMISMEMBER", -3, 0, memory_smismember},
    {"SMEMBERS", 2, 0, memory_smembers},
    {"SSCAN", -3, 0, memory_sscan},
};

/* ---- executing ------------------------------------------------------------------------------- */

static inline const struct memory_command *memory_command_find(struct slice name)
{
    for (size_t i = 0; i < sizeof memory_commands / sizeof *memory_commands; i++)
        if (memory_name_is(name, memory_commands[i].name))
            return &memory_commands[i];
    return NULL;
}

/* Why the command can't be executed now, or NULL. */
static inline const char *memory_refusal(const struct memory_call *call,
                                         const struct memory_command *command)
{
    const struct memory_node *node = call->node;
    if (command->flags & MEMORY_ALWAYS)
        return NULL;
    if (node->password && !call->conn->is_authenticated)
        return "NOAUTH Authentication required.";
    if (node->is_loading)
        return "LOADING Redis is loading the dataset in memory";
    if (node->is_replica && (command->flags & MEMORY_WRITES))
        return "READONLY You can't write against a read only replica.";
    if (node->max_bytes && (command->flags & MEMORY_GROWS) &&
        memory_used_bytes(node) > node->max_bytes)
        return "OOM command not allowed when used memory > 'maxmemory'.";
    return NULL;
}

static inline void memory_reply_arity_error(struct memory_call *call, const char *name)
{
    char lower[32];
    size_t len = 0;
    for (; name[len] && len < sizeof lower - 1; len++)
        lower[len] = (char)(name[len] | 32);
    resp_write_errorf(call->out, "ERR wrong number of arguments for '%.*s' command", (int)len,
                      lower);
}

static inline void memory_execute(struct memory_call *call)
{
    struct slice name = memory_arg(call, 0);
    const struct memory_command *command = memory_command_find(name);
    call->node->commands++;
    if (!command) {
        call->node->wrong_commands++;
        call->conn->transaction.is_bad = true;
        resp_write_errorf(call->out, "ERR unknown command '%.*s'", (int)name.len, name.ptr);
        return;
    }
    uint32_t wanted = (uint32_t)abs(command->arg_count);
    if (call->count < wanted || (command->arg_count > 0 && call->count > wanted)) {
        call->node->wrong_commands++;
        call->conn->transaction.is_bad = true;
        memory_reply_arity_error(call, command->name);
        return;
    }
    const char *refusal = memory_refusal(call, command);
    if (refusal) {
        call->conn->transaction.is_bad = true;
        resp_write_error(call->out, refusal);
    } else if (call->conn->transaction.is_open && !(command->flags & MEMORY_NOW)) {
        memory_queue(call);
    } else {
        memory_run(call, command);
    }
}

/* ---- holding up ------------------------------------------------------------------------------ */

static inline void memory_conn_work(struct memory_conn *conn);

static inline void memory_on_timer(void *context)
{
    struct memory_conn *conn = context;
    if (conn->is_held)
        conn->is_released = true;
    conn->is_held = conn->is_mute = false;
    io_watch_reading(conn->conn, true);
    memory_conn_work(conn);
}

/* Whether the command is to be held up before it is executed; also notices when only its reply is.
 */
static inline bool memory_holds(struct memory_conn *conn, struct slice name)
{
    struct memory_delay *delay = &conn->node->delay;
    if (conn->is_released) {
        conn->is_released = false;
        return false;
    }
    if (!delay->left || !memory_name_is(name, delay->command))
        return false;
    delay->left--;
    if (!conn->timer)
        CW_ASSERT(io_timer_create(conn->node->loop, memory_on_timer, conn, &conn->timer) == 0);
    io_timer_start(conn->timer, delay->delay_ms);
    conn->is_mute = delay->is_reply_only;
    conn->is_held = !delay->is_reply_only;
    io_watch_reading(conn->conn, !conn->is_held);
    return conn->is_held;
}

/* ---- connections ----------------------------------------------------------------------------- */

static inline bool memory_flush(struct memory_conn *conn)
{
    while (conn->out.len && !conn->is_mute) {
        struct iovec part = {buffer_bytes(&conn->out), conn->out.len};
        ssize_t written = io_write(conn->conn, &part, 1);
        if (written == -EAGAIN)
            return true;
        if (written < 0)
            return false;
        buffer_take(&conn->out, (size_t)written);
    }
    return true;
}

/* Executes the request that stands first in `in`. False when the connection must wait, or is gone.
 */
static inline bool memory_next(struct memory_conn *conn)
{
    struct memory_call call = {conn,           conn->node, &conn->out, conn->request.arg_count,
                               &conn->request, &conn->in};
    if (call.count > 0 && memory_holds(conn, memory_arg(&call, 0)))
        return false;
    if (call.count > 0 && conn->node->before)
        conn->node->before(conn->node->before_context, &call);
    if (conn->is_closed)
        return false;
    if (call.count > 0)
        memory_execute(&call);
    memory_waited(conn);
    if (conn->is_blocked)
        return false;
    buffer_take(&conn->in, conn->request.length);
    resp_request_reset(&conn->request);
    memory_serve_blocked(conn->node);
    return !conn->is_closed;
}

/* Executes what has come, and sends the replies. Frees the connection when it is over. */
static inline void memory_conn_work(struct memory_conn *conn)
{
    static const struct resp_limits limits = {1 << 16, 64 << 20, 1 << 16, 128 << 20};
    enum resp_result result = RESP_MORE;
    conn->is_executing = true;
    while (!conn->is_closed && !conn->is_held && !conn->is_blocked && conn->in.len) {
        result = conn->is_released /* it was parsed before it was held */
                     ? RESP_DONE
                     : resp_request_parse(&conn->request, buffer_bytes(&conn->in), conn->in.len,
                                          &limits);
        if (result == RESP_MORE || result == RESP_BAD || !memory_next(conn))
            break;
    }
    conn->is_executing = false;
    if (conn->is_closed)
        memory_conn_free(conn);
    else if (result == RESP_BAD || !memory_flush(conn))
        memory_conn_close(conn);
}

static inline void memory_on_event(void *context, int events)
{
    struct memory_conn *conn = context;
    char bytes[4096];
    ssize_t got = events & IO_READABLE ? io_read(conn->conn, bytes, sizeof bytes) : -EAGAIN;
    if (got > 0)
        buffer_append(&conn->in, bytes, (size_t)got);
    if (got > 0 || got == -EAGAIN)
        memory_conn_work(conn);
    else
        memory_conn_close(conn);
}

static inline void memory_on_accept(void *context, struct io_conn *accepted)
{
    struct memory_node *node = context;
    if (node->is_down) {
        io_close(&accepted);
        return;
    }
    struct memory_conn *conn = calloc(1, sizeof *conn);
    CW_ASSERT(conn);
    conn->node = node;
    conn->conn = accepted;
    conn->id = ++node->last_conn_id;
    conn->protocol = 2;
    resp_request_init(&conn->request);
    list_init(&conn->in_blocked);
    list_push_back(&node->conns, &conn->in_node);
    io_conn_set(accepted, memory_on_event, conn);
}

#endif
