/*
 * Clients that wait at a node. Each waits on a link of its own; its request stays, not cut, in
 * client->in until it is answered, as that of a client that is held (hold.c).
 *
 * A new state of the pool: a request that would be sent the same way under it moves on to the new
 * era where it is. One that would not (it would be marked, or held, or go to another node) is
 * woken: CLIENT UNBLOCK makes the node answer nil, and the request is dispatched again with the
 * time that is left. Any other reply is the client's: the node was faster. So nothing is taken
 * twice and nothing gets lost, no write is done in an era without its mark, and no era stays open
 * because a client waits.
 *
 * UNBLOCK goes over the node's shared link and may overtake the request; the node then answers 0,
 * and it is repeated until the reply has come. The link is not lent on before UNBLOCK is answered,
 * or it could hit the next client.
 *
 * XREAD's "$" means the last entry of now. Before such a request is woken the node is asked which
 * that is, so that no entry is missed that comes until it is asked again: if entries came in
 * between, they are the answer. The old owner still has the stream, because its era is open.
 *
 * A client that leaves while it waits is woken alike, and the reply is nobody's. So are those who
 * wait at a node that stood in for another, when that one is up again.
 */
#include "router/blocking.h"
#include "router/moving.h"
#include "router/own_link.h"
#include "wire/command_wait.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BEHIND_MAX = READ_CHUNK, /* what may wait behind the request; then the client is not read from,
                                and its leaving not noticed */
    STREAM_ID_SIZE = 44,
};

struct blocked {
    struct client *client;       /* NULL: it has gone */
    struct own_link *own;        /* on which it waits; NULL: it will be dispatched again */
    uint64_t deadline_ms;        /* of its own timeout; or WAIT_FOR_EVER */
    uint32_t len;                /* of the request in client->in */
    bool is_again;               /* it was asked before: the time is what is left */
    bool is_woken;               /* it has to come back */
    bool has_nil;                /* it has, and the answer to UNBLOCK has not */
    char (*ids)[STREAM_ID_SIZE]; /* what "$" was, one a key; "": not known; NULL: none */
    struct list in_pool;         /* blocked, or woken */
};

static uint64_t now_ms(const struct pool *pool)
{
    return io_now_ms(pool->worker->loop);
}

bool blocking_waits(const struct parsed *parsed)
{
    struct command_wait wait;
    return parsed_key_count(parsed) > 0 &&
           command_find_wait(parsed->command, parsed->request, parsed->bytes, &wait);
}

/* ---- beginning and ending ---------------------------------------------------------------------
 */

static struct blocked *begin(struct client *client, const struct parsed *parsed)
{
    struct command_wait wait;
    struct blocked *blocked = calloc(1, sizeof *blocked);
    if (!blocked)
        return NULL;
    command_find_wait(parsed->command, parsed->request, parsed->bytes, &wait);
    blocked->client = client;
    blocked->len = parsed->request->length;
    blocked->deadline_ms = wait.timeout_ms == WAIT_FOR_EVER
                               ? WAIT_FOR_EVER
                               : now_ms(client->pool) + wait.timeout_ms;
    list_init(&blocked->in_pool);
    client->waits = blocked;
    client->worker->report.blocked_clients++;
    return blocked;
}

static void leave_client(struct blocked *blocked)
{
    blocked->client->worker->report.blocked_clients--;
    blocked->client->waits = NULL;
    blocked->client = NULL;
}

static void destroy(struct blocked *blocked)
{
    free(blocked->ids);
    free(blocked);
}

/* It waits at no node any more. */
static void give_back(struct blocked *blocked)
{
    list_remove(&blocked->in_pool);
    blocked->own->blocked = NULL;
    own_link_return(&blocked->own, true);
}

void blocking_end(struct client *client)
{
    struct blocked *blocked = client->waits;
    if (!blocked)
        return;
    leave_client(blocked);
    destroy(blocked);
}

/* ---- asking -----------------------------------------------------------------------------------
 */

/* The request with the time that is left, and the IDs that are known. */
static bool append_again(struct buffer *out, const struct blocked *blocked,
                         const struct parsed *parsed)
{
    struct command_wait wait;
    uint32_t count = parsed_arg_count(parsed);
    uint32_t first_id = parsed->keys.first + parsed->keys.count;
    uint64_t now = now_ms(blocked->client->pool);
    uint64_t left_ms = now < blocked->deadline_ms ? blocked->deadline_ms - now : 1;
    bool fine = resp_write_array(out, count);
    command_find_wait(parsed->command, parsed->request, parsed->bytes, &wait);
    for (uint32_t i = 0; fine && i < count; i++) {
        struct slice arg = parsed_arg(parsed, i);
        if (i == wait.arg && blocked->deadline_ms != WAIT_FOR_EVER)
            fine = command_write_wait(out, &wait, left_ms);
        else if (blocked->ids && i >= first_id && *blocked->ids[i - first_id])
            fine = resp_write_bulk_text(out, blocked->ids[i - first_id]);
        else
            fine = resp_write_bulk(out, arg.ptr, arg.len);
    }
    return fine;
}

/* Puts the request, and its mark if it needs one, into the link's output. */
static bool append(struct link *link, const struct blocked *blocked, const struct parsed *parsed,
                   struct request **ret_mark)
{
    *ret_mark = NULL;
    if (is_tracked(link->node->pool, parsed->command) && !mark_append(link, parsed, NULL, ret_mark))
        return false;
    return blocked->is_again ? append_again(&link->out, blocked, parsed)
                             : append_request(&link->out, parsed);
}

static bool send(struct blocked *blocked, const struct parsed *parsed)
{
    struct client *client = blocked->client;
    struct link *link = &blocked->own->link;
    size_t before = link->out.len;
    struct request *mark = NULL;
    struct request *request = request_borrow(client->worker, client, REQUEST_BLOCKED);
    if (!request || !append(link, blocked, parsed, &mark)) {
        link->out.len = before;
        if (mark)
            request_return(client->worker, mark);
        if (request)
            request_return(client->worker, request);
        return false;
    }
    request->len = blocked->len;
    request->own = blocked->own;
    blocked->own->blocked = blocked;
    client_enqueue(client, request);
    if (mark)
        link_send(link, mark);
    link_send(link, request);
    request->deadline_ms = blocked->deadline_ms == WAIT_FOR_EVER
                               ? UINT64_MAX
                               : blocked->deadline_ms + client->pool->settings->timeout_ms;
    return true;
}

bool blocking_send(struct client *client, const struct parsed *parsed, uint32_t owner)
{
    char text[512] = "ERR out of memory";
    struct node *node = client->pool->nodes[owner];
    struct blocked *blocked = client->waits ? client->waits : begin(client, parsed);
    if (blocked)
        blocked->own = own_link_lend(node, client->protocol, text, sizeof text);
    if (!blocked || !blocked->own || !link_accepts(&blocked->own->link, 2, text, sizeof text) ||
        !send(blocked, parsed)) {
        if (blocked)
            own_link_return(&blocked->own, true);
        client_error(client, text);
        return false;
    }
    client->stopped = client->needs_alone = true;
    list_push_back(&client->pool->blocked, &blocked->in_pool);
    return true;
}

void blocking_read(struct client *client)
{
    struct worker *worker = client->worker;
    struct slice bytes;
    ssize_t got = intake_read(worker, client->conn, &client->in, 0, &bytes);
    if (got == -EAGAIN)
        return;
    if (got <= 0 || !intake_keep(worker, &client->in, bytes, 0)) {
        client_close(client);
        return;
    }
    client->last_ms = io_now_ms(worker->loop);
    worker->report.bytes_in += (uint64_t)got;
    if (client->in.len > client->waits->len + BEHIND_MAX)
        io_watch_reading(client->conn, false);
}

/* ---- waking -----------------------------------------------------------------------------------
 */

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
    char number[24];
    if (own->unblocks || own->link.state != LINK_READY)
        return;
    if (blocked->client)
        ask_ids(blocked);
    int len = snprintf(number, sizeof number, "%" PRIu64, own->id);
    const struct slice words[] = {
        {"CLIENT", 6}, {"UNBLOCK", 7}, {number, (size_t)len}, {"TIMEOUT", 7}};
    ask_about(own, REQUEST_UNBLOCK, 0, words, 4);
}

static void wake(struct blocked *blocked)
{
    struct pool *pool = blocked->own->link.node->pool;
    blocked->is_woken = true;
    list_remove(&blocked->in_pool);
    list_push_back(&pool->woken, &blocked->in_pool);
    worker_need_tick(pool->worker);
    unblock(blocked);
}

void blocking_leave(struct client *client)
{
    struct blocked *blocked = client->waits;
    if (!blocked)
        return;
    leave_client(blocked);
    if (blocked->own && !blocked->has_nil) {
        if (!blocked->is_woken)
            wake(blocked);
        return;
    }
    if (blocked->own)
        give_back(blocked);
    destroy(blocked);
}

void blocking_tick(struct pool *pool)
{
    list_for_each (entry, &pool->woken)
        unblock(list_entry(entry, struct blocked, in_pool));
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
        wake(blocked);
        return;
    }
    struct request *request = blocked->client->first;
    struct era *old = request->era;
    era_enter(pool->era, request);
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

static bool is_nil(const char *reply)
{
    return reply[0] == '_' || ((reply[0] == '*' || reply[0] == '$') && reply[1] == '-');
}

/* Both the nil and the answer to UNBLOCK are there: the request is dispatched again. */
static void ask_again(struct blocked *blocked)
{
    give_back(blocked);
    blocked->is_again = true;
    blocked->is_woken = blocked->has_nil = false;
    client_withdraw(blocked->client);
}

/* Whether the reply is the client's, who then waits no longer. */
static bool blocked_answered(struct blocked *blocked, const char *reply)
{
    struct client *client = blocked->client;
    if (client && blocked->is_woken && is_nil(reply) &&
        now_ms(client->pool) < blocked->deadline_ms) {
        blocked->has_nil = true;
        if (!blocked->own->unblocks)
            ask_again(blocked);
        return false;
    }
    give_back(blocked);
    if (client) {
        client->requests++;
        client->worker->report.requests++;
        buffer_take(&client->in, blocked->len);
        buffer_trim(&client->in, 0);
        leave_client(blocked);
    }
    destroy(blocked);
    return true;
}

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
static void keep_id(struct blocked *blocked, uint32_t key, const char *reply, size_t len)
{
    struct slice id;
    if (len > 15 && memcmp(reply, "-ERR no such key", 16) == 0)
        id = (struct slice){"0-0", 3};
    else if (!find_last_id(reply, len, &id) || id.len >= STREAM_ID_SIZE)
        return;
    snprintf(blocked->ids[key], STREAM_ID_SIZE, "%.*s", (int)id.len, id.ptr);
}

static void unblock_answered(struct own_link *own, const char *reply, size_t len)
{
    char why[96];
    if (reply[0] != '-' || strncmp(reply, "-NODEDOWN", 9) == 0 || !own->link.flight.count)
        return;
    /* Not allowed to us: nothing but the end of the connection ends the wait. */
    snprintf(why, sizeof why, "refuses to end a wait (CLIENT UNBLOCK): %.*s",
             (int)(len < 40 ? len - 3 : 37), reply + 1);
    link_abandon(&own->link, why);
}

bool blocking_answered(struct worker *worker, struct request *request, const char *reply,
                       size_t len)
{
    struct own_link *own = request->own;
    if (request->kind == REQUEST_BLOCKED)
        return blocked_answered(own->blocked, reply);
    own->unblocks--;
    if (request->kind == REQUEST_UNBLOCK)
        unblock_answered(own, reply, len);
    else if (own->blocked && own->blocked->client)
        keep_id(own->blocked, request->part, reply, len);
    if (own->blocked && own->blocked->has_nil && !own->unblocks)
        ask_again(own->blocked);
    request_return(worker, request);
    return false;
}
