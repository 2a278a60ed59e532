/*
 * SCAN over all nodes, one after the other. The cursor that the client sees carries a tag of the
 * node in its high bits and the node's own cursor in the low ones: nothing is remembered here, and
 * a client may stop at any time. A node's own cursor of 0 means its end, and the next node begins;
 * after the last one the client sees 0.
 *
 * A scan that meets another map is told so, for a key that moved from a node not reached yet to one
 * already passed would be missed. The tag is the node's number turned by an amount that depends on
 * the map's generation, so that a tag of one generation is that of no node in another: the turns of
 * generations that follow each other are far apart (multiples of the golden section of the circle),
 * which tells n nodes in about 13000 / n generations from each other without fail.
 */
#include "router/local.h"
#include "router/moving.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    CURSOR_BITS = 48, /* of a node's own cursor: what embedded nodes need, and Redis never will */
    TAG_COUNT = 32767,
    TAG_TURN = 20252, /* TAG_COUNT / 1.618, and they have no divisor in common */
};

#define CURSOR_MASK ((UINT64_C(1) << CURSOR_BITS) - 1)

static uint32_t turn_of(const struct cw_map *map)
{
    return (uint32_t)(cw_map_generation(map) % TAG_COUNT * TAG_TURN % TAG_COUNT);
}

/* 1 .. TAG_COUNT, so that no cursor but the last is 0. */
static uint64_t tag_of(const struct cw_map *map, uint32_t node)
{
    return 1 + (node + turn_of(map)) % TAG_COUNT;
}

/* The number of the node; not below the map's count if the tag is none of this map. */
static uint32_t node_of(const struct cw_map *map, uint64_t tag)
{
    return (uint32_t)((tag - 1 + TAG_COUNT - turn_of(map)) % TAG_COUNT);
}

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

/* The node to be asked. False: it was answered why there is none. */
static bool find_node(struct client *client, const struct parsed *parsed, uint32_t *ret_node,
                      uint64_t *ret_own)
{
    uint64_t cursor;
    struct pool *pool = client->pool;
    if (!parse_cursor(parsed_arg(parsed, 1), &cursor)) {
        client_error(client, "ERR invalid cursor");
        return false;
    }
    if (pool->node_count > TAG_COUNT) {
        client_error(client, "ERR SCAN reaches over 32767 nodes at the most");
        return false;
    }
    uint64_t tag = cursor >> CURSOR_BITS;
    uint32_t node = cursor == 0 ? 0 : tag == 0 ? UINT32_MAX : node_of(pool->map, tag);
    if (node >= pool->node_count) {
        client_error(client, "ERR invalid cursor: keys moved to other nodes since it was given, or "
                             "it never was; begin again with 0");
        return false;
    }
    *ret_node = node;
    *ret_own = cursor & CURSOR_MASK;
    return true;
}

void scan_command(struct client *client, const struct parsed *parsed)
{
    uint32_t number;
    uint64_t own;
    char text[512];
    if (!find_node(client, parsed, &number, &own))
        return;
    struct link *link = node_link(client->pool->nodes[number], client);
    if (!link_accepts(link, 1, text, sizeof text)) {
        client_error(client, text);
        return;
    }
    struct request *request = request_borrow(client->worker, client, REQUEST_SCAN);
    size_t before = link->out.len;
    if (!request || !append_scan(&link->out, parsed, own)) {
        link->out.len = before;
        if (request)
            request_return(client->worker, request);
        client_error(client, "ERR out of memory");
        return;
    }
    request->node = number;
    request->len = parsed->request->length;
    client_enqueue(client, request);
    link_send(link, request);
}

/* The cursor for the client after a node gave its own. */
static uint64_t next_cursor(const struct cw_map *map, uint32_t node, uint64_t own)
{
    if (own != 0)
        return tag_of(map, node) << CURSOR_BITS | own;
    return node + 1 < cw_map_node_count(map) ? tag_of(map, node + 1) << CURSOR_BITS : 0;
}

void scan_answered(struct worker *worker, struct request *request, const char *reply, size_t len)
{
    struct resp_value array, cursor_text;
    uint64_t own;
    const struct cw_map *map = request->era->state->what.map; /* under which it was asked */
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
    snprintf(text, sizeof text, "%" PRIu64, next_cursor(map, request->node, own));
    if (resp_write_array(&out, 2) && resp_write_bulk_text(&out, text) &&
        shown_append_keys(&out, request, request->node, (struct slice){reply + rest, len - rest}))
        request_answer(worker, request, buffer_bytes(&out), out.len);
    else
        request_fail(worker, request,
                     "ERR a node answered SCAN with what is no list of keys, or memory is out");
    buffer_release(&out);
}
