/*
 * A node for tests: a few Redis commands over a table in memory, on any io.h loop. It can lie: with
 * `lie_permille` it acknowledges a SET that it does not keep, so that checkers can be checked.
 */
#ifndef TESTS_ROUTER_MEMORY_NODE_H
#define TESTS_ROUTER_MEMORY_NODE_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <clockwise/clockwise.h>

#include "base/assert.h"
#include "base/buffer.h"
#include "base/list.h"
#include "base/random.h"
#include "io/io.h"
#include "wire/resp.h"

enum { MEMORY_NODE_ENTRIES = 1 << 15, MEMORY_NODE_CHAINS = 1 << 10 };

struct memory_entry {
    char *key, *value;
    size_t key_len, value_len;
    uint32_t next; /* in its chain: number + 1; 0 is the end */
};

struct memory_node {
    struct io_loop *loop;
    struct io_listener *listener;
    struct list conns;
    struct memory_entry entries[MEMORY_NODE_ENTRIES]; /* in order of coming; holes have key NULL */
    uint32_t entry_count;
    uint32_t chains[MEMORY_NODE_CHAINS]; /* by hash: number + 1 of the newest entry */
    uint64_t commands, wrong_commands;
    uint32_t lie_permille;
    bool refuses_resp3;
    struct random random;
};

struct memory_conn {
    struct memory_node *node;
    struct io_conn *conn;
    struct buffer in, out;
    struct resp_request request;
    int protocol;
    struct list in_node;
};

static struct memory_entry *memory_find(struct memory_node *node, struct slice key)
{
    uint32_t number = node->chains[cw_hash(key.ptr, key.len) % MEMORY_NODE_CHAINS];
    for (; number; number = node->entries[number - 1].next) {
        struct memory_entry *entry = &node->entries[number - 1];
        if (entry->key && entry->key_len == key.len && memcmp(entry->key, key.ptr, key.len) == 0)
            return entry;
    }
    return NULL;
}

static char *memory_copy(struct slice text)
{
    char *copy = malloc(text.len + 1);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

static void memory_set(struct memory_node *node, struct slice key, struct slice value)
{
    struct memory_entry *entry = memory_find(node, key);
    if (!entry) {
        CW_ASSERT(node->entry_count < MEMORY_NODE_ENTRIES);
        uint32_t *chain = &node->chains[cw_hash(key.ptr, key.len) % MEMORY_NODE_CHAINS];
        entry = &node->entries[node->entry_count++];
        entry->next = *chain;
        *chain = node->entry_count;
        entry->key = memory_copy(key);
        entry->key_len = key.len;
    } else {
        free(entry->value);
    }
    entry->value = memory_copy(value);
    entry->value_len = value.len;
}

static bool memory_delete(struct memory_node *node, struct slice key)
{
    struct memory_entry *entry = memory_find(node, key);
    if (!entry)
        return false;
    free(entry->key);
    free(entry->value);
    entry->key = entry->value = NULL;
    return true;
}

static bool memory_name_is(struct slice name, const char *word)
{
    return name.len == strlen(word) && strncasecmp(name.ptr, word, name.len) == 0;
}

static void memory_get(struct memory_conn *conn, struct slice key)
{
    struct memory_entry *entry = memory_find(conn->node, key);
    if (entry)
        resp_write_bulk(&conn->out, entry->value, entry->value_len);
    else
        resp_write_null(&conn->out, conn->protocol);
}

static void memory_put(struct memory_conn *conn, struct slice key, struct slice value)
{
    if (random_below(&conn->node->random, 1000) >= conn->node->lie_permille)
        memory_set(conn->node, key, value);
}

static void memory_incr(struct memory_conn *conn, struct slice key)
{
    char text[24];
    int64_t number = 0;
    struct memory_entry *entry = memory_find(conn->node, key);
    if (entry)
        resp_parse_integer((struct slice){entry->value, entry->value_len}, &number);
    int len = snprintf(text, sizeof text, "%" PRId64, number + 1);
    memory_set(conn->node, key, (struct slice){text, (size_t)len});
    resp_write_integer(&conn->out, number + 1);
}

/* The cursor is the number of the next entry; two a call. */
static void memory_scan(struct memory_conn *conn, struct slice cursor)
{
    int64_t from = 0;
    char text[24];
    struct memory_node *node = conn->node;
    resp_parse_integer(cursor, &from);
    uint32_t next = (uint32_t)from + 2 < node->entry_count ? (uint32_t)from + 2 : node->entry_count;
    size_t count = 0;
    for (uint32_t i = (uint32_t)from; i < next; i++)
        count += node->entries[i].key != NULL;
    snprintf(text, sizeof text, "%u", next < node->entry_count ? next : 0);
    resp_write_array(&conn->out, 2);
    resp_write_bulk_text(&conn->out, text);
    resp_write_array(&conn->out, count);
    for (uint32_t i = (uint32_t)from; i < next; i++)
        if (node->entries[i].key)
            resp_write_bulk(&conn->out, node->entries[i].key, node->entries[i].key_len);
}

static int64_t memory_size(const struct memory_node *node)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < node->entry_count; i++)
        count += node->entries[i].key != NULL;
    return count;
}

static void memory_execute(struct memory_conn *conn)
{
    const char *bytes = buffer_bytes(&conn->in);
    struct resp_request *request = &conn->request;
    uint32_t count = request->arg_count;
    struct slice args[64];
    struct buffer *out = &conn->out;
    int64_t deleted = 0;
    CW_ASSERT(count <= 64);
    for (uint32_t i = 0; i < count; i++)
        args[i] = resp_request_arg(request, bytes, i);
    conn->node->commands++;
    if (memory_name_is(args[0], "PING")) {
        resp_write_simple(out, "PONG");
    } else if (memory_name_is(args[0], "HELLO")) {
        if (conn->node->refuses_resp3) {
            resp_write_error(out, "ERR unknown command 'HELLO'");
            return;
        }
        conn->protocol = 3;
        resp_write_map(out, 0, 3);
    } else if (memory_name_is(args[0], "GET")) {
        memory_get(conn, args[1]);
    } else if (memory_name_is(args[0], "SET")) {
        memory_put(conn, args[1], args[2]);
        resp_write_simple(out, "OK");
    } else if (memory_name_is(args[0], "MSET")) {
        for (uint32_t i = 1; i + 1 < count; i += 2)
            memory_put(conn, args[i], args[i + 1]);
        resp_write_simple(out, "OK");
    } else if (memory_name_is(args[0], "MGET")) {
        resp_write_array(out, count - 1);
        for (uint32_t i = 1; i < count; i++)
            memory_get(conn, args[i]);
    } else if (memory_name_is(args[0], "DEL")) {
        for (uint32_t i = 1; i < count; i++)
            deleted += memory_delete(conn->node, args[i]);
        resp_write_integer(out, deleted);
    } else if (memory_name_is(args[0], "INCR")) {
        memory_incr(conn, args[1]);
    } else if (memory_name_is(args[0], "SCAN")) {
        memory_scan(conn, args[1]);
    } else if (memory_name_is(args[0], "DBSIZE")) {
        resp_write_integer(out, memory_size(conn->node));
    } else {
        conn->node->wrong_commands++;
        resp_write_error(out, "ERR unknown command");
    }
}

static void memory_conn_close(struct memory_conn *conn)
{
    list_remove(&conn->in_node);
    io_close(&conn->conn);
    buffer_release(&conn->in);
    buffer_release(&conn->out);
    resp_request_release(&conn->request);
    free(conn);
}

static bool memory_flush(struct memory_conn *conn)
{
    while (conn->out.len) {
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

static bool memory_read(struct memory_conn *conn)
{
    static const struct resp_limits limits = {64, 1 << 20, 1 << 16, 1 << 22};
    char bytes[4096];
    ssize_t got = io_read(conn->conn, bytes, sizeof bytes);
    if (got == -EAGAIN)
        return true;
    if (got <= 0)
        return false;
    buffer_append(&conn->in, bytes, (size_t)got);
    while (conn->in.len && resp_request_parse(&conn->request, buffer_bytes(&conn->in), conn->in.len,
                                              &limits) == RESP_DONE) {
        memory_execute(conn);
        buffer_take(&conn->in, conn->request.length);
        resp_request_reset(&conn->request);
    }
    return true;
}

static void memory_on_event(void *context, int events)
{
    struct memory_conn *conn = context;
    bool fine = true;
    if (events & IO_READABLE)
        fine = memory_read(conn);
    if (!fine || !memory_flush(conn))
        memory_conn_close(conn);
}

static void memory_on_accept(void *context, struct io_conn *accepted)
{
    struct memory_node *node = context;
    struct memory_conn *conn = calloc(1, sizeof *conn);
    conn->node = node;
    conn->conn = accepted;
    conn->protocol = 2;
    resp_request_init(&conn->request);
    list_push_back(&node->conns, &conn->in_node);
    io_conn_set(accepted, memory_on_event, conn);
}

static struct memory_node *memory_node_create(const char *address, uint64_t seed)
{
    struct memory_node *node = calloc(1, sizeof *node);
    node->random.state = seed;
    list_init(&node->conns);
    CW_ASSERT(io_loop_create(&node->loop) == 0);
    CW_ASSERT(io_listen(node->loop, address, memory_on_accept, node, &node->listener) == 0);
    return node;
}

static void memory_node_destroy(struct memory_node *node)
{
    while (!list_is_empty(&node->conns))
        memory_conn_close(list_entry(node->conns.next, struct memory_conn, in_node));
    io_listener_close(&node->listener);
    io_loop_destroy(&node->loop);
    for (uint32_t i = 0; i < node->entry_count; i++) {
        free(node->entries[i].key);
        free(node->entries[i].value);
    }
    free(node);
}

#endif
