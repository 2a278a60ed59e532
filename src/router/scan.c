/*
 * SCAN over all nodes, one after the other. The cursor that the client sees carries the number of
 * the node in its high bits and the node's own cursor in the low ones: nothing is remembered here,
 * and a client may stop at any time. A node's own cursor of 0 means its end, and the next node
 * begins; after the last one the client sees 0.
 */
#include "router/internal.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    CURSOR_BITS = 48, /* of a node's own cursor: a Redis of 2^48 buckets is not in sight */
    CURSOR_NODES_MAX = 1 << 15,
};

#define CURSOR_MASK ((UINT64_C(1) << CURSOR_BITS) - 1)

static bool parse_cursor(struct slice text, uint64_t *ret_cursor)
{
    int64_t number;
    if (!resp_parse_integer(text, &number) || number < 0)
        return false;
    *ret_cursor = (uint64_t)number;
    return true;
}

/* The request with another cursor in place of the client's. */
static bool append_scan(struct buffer *out, const struct parsed *parsed, uint64_t cursor)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, cursor);
    bool fine = resp_write_array(out, parsed_arg_count(parsed)) &&
                resp_write_bulk_text(out, parsed->command->name) &&
                resp_write_bulk(out, text, (size_t)len);
    for (uint32_t i = 2; fine && i < parsed_arg_count(parsed); i++) {
        struct slice arg = parsed_arg(parsed, i);
        fine = resp_write_bulk(out, arg.ptr, arg.len);
    }
    return fine;
}

void scan_command(struct client *client, const struct parsed *parsed)
{
    uint64_t cursor;
    char text[512];
    struct pool *pool = client->pool;
    if (!parse_cursor(parsed_arg(parsed, 1), &cursor) ||
        (cursor >> CURSOR_BITS) >= pool->node_count) {
        client_error(client, "ERR invalid cursor");
        return;
    }
    if (pool->node_count > CURSOR_NODES_MAX) {
        client_error(client, "ERR SCAN reaches over 32768 nodes at the most");
        return;
    }
    uint32_t number = (uint32_t)(cursor >> CURSOR_BITS);
    struct link *link = node_link(pool->nodes[number], client);
    if (!link_accepts(link, 1, text, sizeof text)) {
        client_error(client, text);
        return;
    }
    struct request *request = request_borrow(client->worker, client, REQUEST_SCAN);
    if (!request || !append_scan(&link->out, parsed, cursor & CURSOR_MASK)) {
        client_error(client, "ERR out of memory");
        return;
    }
    request->node = number;
    request->len = parsed->request->length;
    client_enqueue(client, request);
    link_send(link, request);
}

/* The cursor for the client after a node gave its own. */
static uint64_t next_cursor(const struct pool *pool, uint32_t node, uint64_t own)
{
    if (own != 0)
        return (uint64_t)node << CURSOR_BITS | own;
    return node + 1 < pool->node_count ? (uint64_t)(node + 1) << CURSOR_BITS : 0;
}

void scan_answered(struct worker *worker, struct request *request, const char *reply, size_t len)
{
    struct resp_value array, cursor_text;
    uint64_t own;
    request->kind = REQUEST_RELAY;
    if (resp_read_value(reply, len, &array) != RESP_DONE || array.integer != 2 ||
        resp_read_value(reply + array.head_len, len - array.head_len, &cursor_text) != RESP_DONE ||
        !parse_cursor(cursor_text.text, &own) || own > CURSOR_MASK) {
        request_fail(worker, request, "ERR a node answered SCAN with a cursor that is none");
        return;
    }
    char text[24];
    struct buffer out = BUFFER_INIT;
    size_t rest = array.head_len + cursor_text.head_len;
    snprintf(text, sizeof text, "%" PRIu64, next_cursor(request->pool, request->node, own));
    if (resp_write_array(&out, 2) && resp_write_bulk_text(&out, text) &&
        buffer_append(&out, reply + rest, len - rest))
        request_answer(worker, request, buffer_bytes(&out), out.len);
    else
        request_fail(worker, request, "ERR out of memory");
    buffer_release(&out);
}
