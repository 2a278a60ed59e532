/*
 * A memory node from inside: its state, one command being executed, and what all commands need.
 * Tests use memory_node.h.
 */
#ifndef TESTS_ROUTER_MEMORY_CALL_H
#define TESTS_ROUTER_MEMORY_CALL_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/list.h"
#include "io/io.h"
#include "router/memory_value.h"

struct memory_call;

/* Commands that are held up; see memory_node_delay(). */
struct memory_delay {
    const char *command; /* NULL: none */
    uint32_t left;       /* how many more */
    uint64_t delay_ms;
    bool is_reply_only; /* they are executed at once, and answered late */
};

struct memory_node {
    struct io_loop *loop;
    struct io_listener *listener;
    struct list conns;
    struct list blocked; /* connections that wait, the longest first */
    const char *address;
    struct memory_dict keys;
    struct memory_dict saved; /* what a crash may bring back; see memory_node_save() */
    char run_id[41];          /* new at each start */
    uint64_t last_conn_id;    /* counts from 1 at each start, as a server's does */
    bool is_down;
    /* what was seen */
    uint64_t commands, wrong_commands, restarts;
    /* what a test may set at any time */
    uint32_t lie_permille; /* how often a SET is acknowledged and not kept */
    bool refuses_resp3, refuses_unblock;
    bool unblocks_nobody;        /* CLIENT UNBLOCK finds nobody who waits */
    uint32_t busy_unblocks;      /* so many CLIENT UNBLOCK are answered BUSY */
    const char *password;        /* NULL: none */
    const char *redis_version;   /* of INFO */
    uint16_t dump_version;       /* of DUMP; a later one is refused by RESTORE */
    uint64_t max_bytes;          /* maxmemory; 0: no limit */
    uint64_t scan_whole_max;     /* HSCAN and SSCAN give up to so many members in one call */
    int64_t clock_offset_ms;     /* of its time of day */
    bool is_loading, is_replica; /* it then answers LOADING; refuses writes */
    struct memory_delay delay;
    /* Called before each command, which it may look at with memory_arg(); it may also crash the
     * node: then the command is not executed. */
    void (*before)(void *context, struct memory_call *call);
    void *before_context;
    struct random random;
};

/* What a connection has said since MULTI, and what it watches; see memory_transaction.h. */
struct memory_transaction {
    bool is_open, is_bad;
    bool is_touched;        /* a watched key was written */
    struct buffer commands; /* as they came */
    struct memory_dict watched;
};

struct memory_conn {
    struct memory_node *node;
    struct io_conn *conn;
    struct buffer in, out;
    struct resp_request request;
    uint64_t id;
    char name[64];
    int protocol;
    bool is_authenticated;
    bool is_executing, is_closed; /* closed while executing: freed after it */
    bool is_held, is_released;    /* its next command waits for the timer; has waited */
    bool is_mute;                 /* its replies wait for the timer */
    struct io_timer *timer;       /* NULL until it is needed */
    struct memory_transaction transaction;
    /* waiting: see memory_blocking.h */
    bool is_blocked;              /* now */
    bool is_waiting_on, gives_up; /* its command waited before; waits no longer */
    int64_t waits_behind;         /* XREAD: the ID */
    struct io_timer *block_timer; /* NULL until it is needed */
    struct list in_blocked;
    struct list in_node;
};

struct memory_call {
    struct memory_conn *conn;
    struct memory_node *node;
    struct buffer *out;
    uint32_t count; /* of arguments, the command's name included */
    const struct resp_request *request;
    const struct buffer *in; /* where the request starts */
};

static inline struct slice memory_arg(const struct memory_call *call, uint32_t i)
{
    return resp_request_arg(call->request, buffer_bytes(call->in), i);
}

static inline bool memory_name_is(struct slice name, const char *word)
{
    return name.len == strlen(word) && strncasecmp(name.ptr, word, name.len) == 0;
}

static inline bool memory_arg_is(const struct memory_call *call, uint32_t i, const char *word)
{
    return i < call->count && memory_name_is(memory_arg(call, i), word);
}

/* An integer argument; replies with an error if it is none. */
static inline bool memory_arg_integer(const struct memory_call *call, uint32_t i, int64_t *ret)
{
    if (i < call->count && resp_parse_integer(memory_arg(call, i), ret))
        return true;
    resp_write_error(call->out, "ERR value is not an integer or out of range");
    return false;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static inline uint64_t memory_now_ms(const struct memory_node *node)
{
    return io_wall_ms(node->loop) + (uint64_t)node->clock_offset_ms;
}

/* The live key of that name, or NULL. */
static inline struct memory_item *memory_find(struct memory_node *node, struct slice key)
{
    struct memory_item *item = memory_dict_find(&node->keys, key);
    if (!item || !item->value.expire_ms || memory_now_ms(node) <= item->value.expire_ms)
        return item;
    memory_dict_remove(&node->keys, key);
    return NULL;
}

static inline bool memory_delete(struct memory_node *node, struct slice key)
{
    return memory_find(node, key) && memory_dict_remove(&node->keys, key);
}

/* Makes it a string that never expires. */
static inline struct memory_item *memory_set(struct memory_node *node, struct slice key,
                                             struct slice value)
{
    struct memory_item *item = memory_dict_put(&node->keys, key);
    memory_value_clear(&item->value);
    item->value.text = memory_text(value);
    return item;
}

/* Removes all keys whose time is over. */
static inline void memory_expire(struct memory_node *node)
{
    struct memory_item *item = memory_dict_next(&node->keys, NULL);
    while (item) {
        bool is_over = item->value.expire_ms && memory_now_ms(node) > item->value.expire_ms;
        if (is_over)
            memory_dict_remove(&node->keys, memory_slice(item->name));
        item = memory_dict_next(&node->keys, is_over ? NULL : item);
    }
}

/* How many keys live. */
static inline int64_t memory_size(struct memory_node *node)
{
    memory_expire(node);
    return (int64_t)node->keys.count;
}

static inline uint64_t memory_item_bytes(const struct memory_item *item)
{
    return item->name.len + memory_value_bytes(&item->value);
}

static inline uint64_t memory_used_bytes(const struct memory_node *node)
{
    uint64_t bytes = 0;
    for (struct memory_item *item = memory_dict_next(&node->keys, NULL); item;
         item = memory_dict_next(&node->keys, item))
        bytes += memory_item_bytes(item);
    return bytes;
}

/* The key of argument 1 when it has the type; *ret_item is NULL when there is no such key. Replies
 * and returns false when it is of another type. */
static inline bool memory_typed(struct memory_call *call, enum memory_type type,
                                struct memory_item **ret_item)
{
    *ret_item = memory_find(call->node, memory_arg(call, 1));
    if (!*ret_item || (*ret_item)->value.type == type)
        return true;
    resp_write_error(call->out,
                     "WRONGTYPE Operation against a key holding the wrong kind of value");
    return false;
}

/* The same, and makes the key when there is none; NULL after an error. */
static inline struct memory_item *memory_typed_put(struct memory_call *call, enum memory_type type)
{
    struct memory_item *item;
    if (!memory_typed(call, type, &item))
        return NULL;
    if (!item) {
        item = memory_dict_put(&call->node->keys, memory_arg(call, 1));
        item->value.type = type;
    }
    return item;
}

/* A list, set or hash without elements is no key. */
static inline void memory_drop_empty(struct memory_call *call, struct memory_item *item)
{
    if (item && memory_value_len(&item->value) == 0)
        memory_dict_remove(&call->node->keys, memory_slice(item->name));
}

static inline void memory_reply_ok(struct memory_call *call)
{
    resp_write_simple(call->out, "OK");
}

static inline void memory_reply_text(struct memory_call *call, struct memory_text text)
{
    resp_write_bulk(call->out, text.ptr, text.len);
}

static inline void memory_reply_null(struct memory_call *call)
{
    resp_write_null(call->out, call->conn->protocol);
}

static inline void memory_reply_syntax_error(struct memory_call *call)
{
    resp_write_error(call->out, "ERR syntax error");
}

#endif
