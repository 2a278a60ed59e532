/*
 * Waking clients that wait at a node, one by one, and which of them at a new state (blocking.c).
 *
 * UNBLOCK goes over the node's shared link and may overtake the request; the node then answers 0,
 * and it is repeated until the reply has come. The link is not lent on before UNBLOCK is answered,
 * or it could hit the next client.
 *
 * XREAD's "$" means the last entry of now. Before such a request is woken the node is asked which
 * that is, so that no entry is missed that comes until it is asked again: if entries came in
 * between, they are the answer. The old owner still has the stream, because its era is open.
 */
#include "router/blocking_internal.h"
#include "router/moving.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The request that a client waits with, from client->in. It was dispatched once, so only memory can
 * be missing. To be followed by parsed_done(), true or not. */
static bool parse(const struct blocked *blocked, struct parsed *parsed)
{
    struct client *client = blocked->client;
    *parsed = (struct parsed){.request = &client->parser, .bytes = buffer_bytes(&client->in)};
    if (resp_request_parse(&client->parser, parsed->bytes, client->in.len,
                           &client->worker->limits->request) != RESP_DONE)
        return false;
    struct slice name = parsed_arg(parsed, 0);
    parsed->command = command_find(name.ptr, name.len);
    return !command_find_keys(parsed->command, parsed->request, parsed->bytes, &parsed->keys);
}

static void parsed_done(const struct parsed *parsed)
{
    resp_request_reset(parsed->request);
}

/* Asks the node something about an own link, over the link that all clients share. */
static void ask_about(struct own_link *own, enum request_kind kind, uint32_t part,
                      const struct slice words[], size_t count)
{
    char text[512];
    struct node *node = own->link.node;
    struct worker *worker = node->pool->worker;
    struct link *link = &node->links[0];
    if (!link_accepts(link, 1, text, sizeof text))
        return; /* it is tried again at the next tick, or the node is down and ends all */
    size_t before = link->out.len;
    struct request *request = request_borrow(worker, NULL, kind);
    bool fine = request && resp_write_array(&link->out, count);
    for (size_t i = 0; fine && i < count; i++)
        fine = resp_write_bulk(&link->out, words[i].ptr, words[i].len);
    if (!fine) {
        link->out.len = before;
        if (request)
            request_return(worker, request);
        return;
    }
    request->pool = node->pool;
    request->own = own;
    request->part = part;
    own->unblocks++;
    link_send(link, request);
}

/* Asks what "$" means now, for each key of XREAD that it is given for. */
static void ask_ids(struct blocked *blocked)
{
    struct parsed parsed;
    bool is_read = parse(blocked, &parsed) && parsed.command->id == CMD_XREAD;
    uint32_t count = is_read ? parsed.keys.count : 0;
    if (is_read && !blocked->ids)
        blocked->ids = calloc(count, sizeof *blocked->ids);
    for (uint32_t i = 0; blocked->ids && i < count; i++) {
        struct slice id = parsed_arg(&parsed, parsed.keys.first + count + i);
        const struct slice words[] = {{"XINFO", 5}, {"STREAM", 6}, parsed_key(&parsed, i)};
        if (id.len == 1 && id.ptr[0] == '$')
            ask_about(blocked->own, REQUEST_STREAM_ID, i, words, 3);
    }
    parsed_done(&parsed);
}

static void unblock(struct blocked *blocked)
{
    struct own_link *own = blocked->own;
    char number[24], text[512];
    /* If the node cannot be reached it is DOWN, and nobody waits there any more: `blocked` is gone.
     */
    if (own->unblocks || own->link.state != LINK_READY ||
        !link_accepts(&own->link.node->links[0], 1, text, sizeof text))
        return;
    if (blocked->client)
        ask_ids(blocked);
    int len = snprintf(number, sizeof number, "%" PRIu64, own->id);
    const struct slice words[] = {
        {"CLIENT", 6}, {"UNBLOCK", 7}, {number, (size_t)len}, {"TIMEOUT", 7}};
    ask_about(own, REQUEST_UNBLOCK, 0, words, 4);
}

/* From now on the node owes an answer, as for any other request: a connection that has vanished
 * must not keep an era open until the kernel finds out. */
static void set_deadline(struct blocked *blocked, const struct pool *pool)
{
    uint64_t deadline = io_now_ms(pool->worker->loop) + pool->settings->timeout_ms;
    if (blocked->request->deadline_ms > deadline)
        blocked->request->deadline_ms = deadline;
}

void blocking_wake(struct blocked *blocked)
{
    struct pool *pool = blocked->own->link.node->pool;
    blocked->is_woken = true;
    set_deadline(blocked, pool);
    list_remove(&blocked->in_pool);
    list_push_back(&pool->woken, &blocked->in_pool);
    worker_need_tick(pool->worker);
    unblock(blocked);
}

/* Each may end others. */
void blocking_tick(struct pool *pool)
{
    struct list left;
    list_init(&left);
    list_move_all(&left, &pool->woken);
    while (!list_is_empty(&left)) {
        struct blocked *blocked = list_entry(left.next, struct blocked, in_pool);
        list_remove(&blocked->in_pool);
        list_push_back(&pool->woken, &blocked->in_pool);
        unblock(blocked);
    }
}

/* ---- new states -------------------------------------------------------------------------------
 */

/* Whether the request would be sent as it was. */
static bool is_sent_alike(const struct pool *pool, const struct node *node,
                          const struct parsed *parsed)
{
    bool is_marked_or_held = pool->phase >= MOVE_TRACKING &&
                             (parsed->command->flags & COMMAND_WRITE);
    for (uint32_t i = 0; i < parsed_key_count(parsed); i++) {
        struct slice key = parsed_key(parsed, i);
        uint32_t owner = cw_locate_key(pool->map, key.ptr, key.len);
        if (owner == CW_NO_NODE || pool->nodes[owner] != node)
            return false;
        if (is_marked_or_held && key_moves(pool, key, node))
            return false;
    }
    return true;
}

static void meet_state(struct pool *pool, struct blocked *blocked)
{
    struct parsed parsed;
    bool is_alike = parse(blocked, &parsed) &&
                    is_sent_alike(pool, blocked->own->link.node, &parsed);
    parsed_done(&parsed);
    if (!is_alike) {
        blocking_wake(blocked);
        return;
    }
    struct era *old = blocked->request->era;
    era_enter(pool->era, blocked->request);
    era_leave(old);
}

void blocking_new_state(struct pool *pool)
{
    struct list left;
    list_init(&left);
    list_move_all(&left, &pool->blocked);
    while (!list_is_empty(&left)) {
        struct blocked *blocked = list_entry(left.next, struct blocked, in_pool);
        list_remove(&blocked->in_pool);
        list_push_back(&pool->blocked, &blocked->in_pool);
        meet_state(pool, blocked);
    }
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* "last-generated-id" of XINFO STREAM. */
static bool find_last_id(const char *reply, size_t len, struct slice *ret_id)
{
    struct resp_value head, name, value;
    struct resp_scanner scanner;
    if (resp_read_value(reply, len, &head) != RESP_DONE || head.type != '*')
        return false;
    size_t at = head.head_len;
    for (int64_t i = 0; i + 1 < head.integer; i += 2) {
        if (resp_read_value(reply + at, len - at, &name) != RESP_DONE || name.type != '$')
            return false;
        at += name.head_len;
        if (name.text.len == 17 && memcmp(name.text.ptr, "last-generated-id", 17) == 0) {
            bool fine = resp_read_value(reply + at, len - at, &value) == RESP_DONE;
            *ret_id = value.text;
            return fine && value.type == '$';
        }
        resp_scanner_init(&scanner);
        if (resp_scan(&scanner, reply + at, len - at, len) != RESP_DONE)
            return false;
        at += scanner.position;
    }
    return false;
}

/* An answer that is no ID (the key is no stream) leaves the "$" to the new owner. */
void blocking_keep_id(struct blocked *blocked, uint32_t key, const char *reply, size_t len)
{
    struct slice id;
    if (len > 15 && memcmp(reply, "-ERR no such key", 16) == 0)
        id = (struct slice){"0-0", 3};
    else if (!find_last_id(reply, len, &id) || id.len >= STREAM_ID_SIZE)
        return;
    snprintf(blocked->ids[key], STREAM_ID_SIZE, "%.*s", (int)id.len, id.ptr);
}

/* Whether an error says that the node may answer otherwise later; the next tick asks again. */
static bool is_passing(const char *error)
{
    return strncmp(error, "-NODEDOWN ", 10) == 0 || strncmp(error, "-BUSY ", 6) == 0 ||
           strncmp(error, "-LOADING ", 9) == 0;
}

void blocking_unblock_answered(struct own_link *own, const char *reply, size_t len)
{
    char why[96];
    if (reply[0] != '-' || is_passing(reply) || !own->link.flight.count)
        return;
    /* Not allowed to us: nothing but the end of the connection ends the wait. */
    snprintf(why, sizeof why, "refuses to end a wait (CLIENT UNBLOCK): %.*s",
             (int)(len < 40 ? len - 3 : 37), reply + 1);
    link_abandon(&own->link, why);
}
