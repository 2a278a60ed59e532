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
 * A client that leaves while it waits is woken alike, and the reply is nobody's. One that waits at
 * a node that stood in for another is woken, and asks again, when that other one is up.
 */
#include "router/blocking_internal.h"
#include "router/moving.h"
#include "wire/command_wait.h"

#include <errno.h>
#include <stdlib.h>

enum {
    BEHIND_MAX = READ_CHUNK, /* what may wait behind the request; then the client is not read from,
                                and its leaving not noticed */
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
    blocked->request = request;
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

void blocking_leave(struct client *client)
{
    struct blocked *blocked = client->waits;
    if (!blocked)
        return;
    leave_client(blocked);
    if (blocked->own && !blocked->has_nil) {
        if (!blocked->is_woken)
            blocking_wake(blocked);
        return;
    }
    if (blocked->own)
        give_back(blocked);
    destroy(blocked);
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
        client->last_ms = now_ms(client->pool); /* it was not idle */
        client->worker->report.requests++;
        buffer_take(&client->in, blocked->len);
        buffer_trim(&client->in, 0);
        leave_client(blocked);
    }
    destroy(blocked);
    return true;
}

bool blocking_answered(struct worker *worker, struct request *request, const char *reply,
                       size_t len)
{
    struct own_link *own = request->own;
    if (request->kind == REQUEST_BLOCKED)
        return blocked_answered(own->blocked, reply);
    own->unblocks--;
    if (request->kind == REQUEST_UNBLOCK)
        blocking_unblock_answered(own, reply, len);
    else if (own->blocked && own->blocked->client)
        blocking_keep_id(own->blocked, request->part, reply, len);
    if (own->blocked && own->blocked->has_nil && !own->unblocks)
        ask_again(own->blocked);
    request_return(worker, request);
    return false;
}
