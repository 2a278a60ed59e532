/*
 * EXEC: what was kept since MULTI goes to its node. The owner of the keys is found again, for the
 * map may be another than when they were named; then
 *
 *   marks of what moves (while the pool is tracked) · MULTI · the commands · EXEC
 *
 * are appended to the link in one piece. A link is one connection and everything is appended by one
 * thread, so no other client's request stands in between, and the node does all of it or nothing.
 * The replies to MULTI and the commands are nobody's, the client has had its own; but the first of
 * them that is an error is remembered, since it is why the node refuses EXEC.
 *
 * A transaction has no misses: if its node is down it fails, whatever the pool says of single
 * reads.
 */
#include "router/moving.h"
#include "router/own_link.h"
#include "router/transaction.h"

#include <stdio.h>

/* ---- walking through the kept commands ---------------------------------------------------------
 */

struct walk {
    const char *bytes;
    size_t left;
    bool is_out_of_memory;
    struct resp_request request;
    struct parsed parsed; /* the command that is being looked at */
};

static void walk_begin(struct walk *walk, const struct transaction *transaction)
{
    walk->bytes = buffer_bytes(&transaction->commands);
    walk->left = transaction->commands.len;
    walk->is_out_of_memory = false;
    resp_request_init(&walk->request);
}

/* Goes to the next command. They were all understood when they came, so all that can fail here is
 * memory for a long one. */
static bool walk_next(struct walk *walk)
{
    static const struct resp_limits no_limits = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct parsed *parsed = &walk->parsed;
    resp_request_reset(&walk->request);
    if (walk->left == 0)
        return false;
    if (resp_request_parse(&walk->request, walk->bytes, walk->left, &no_limits) != RESP_DONE) {
        walk->is_out_of_memory = true;
        return false;
    }
    *parsed = (struct parsed){.request = &walk->request, .bytes = walk->bytes};
    struct slice name = parsed_arg(parsed, 0);
    parsed->command = command_find(name.ptr, name.len);
    if (parsed->command->route == COMMAND_KEYED)
        command_find_keys(parsed->command, parsed->request, parsed->bytes, &parsed->keys);
    walk->bytes += walk->request.length;
    walk->left -= walk->request.length;
    return true;
}

/* Whether it came to the end; ends it in any case. */
static bool walk_end(struct walk *walk)
{
    resp_request_release(&walk->request);
    return !walk->is_out_of_memory;
}

/* ---- before it is sent -------------------------------------------------------------------------
 */

enum verdict {
    VERDICT_SEND,
    VERDICT_WAIT,     /* a write of a key that moves, while the pool is frozen */
    VERDICT_ANSWERED, /* with an error */
};

static enum verdict judge(struct client *client, const struct parsed *parsed, uint32_t *ret_node)
{
    const struct pool *pool = client->pool;
    if (!transaction_find_node(client, parsed, ret_node))
        return VERDICT_ANSWERED;
    bool has_to_wait = pool->phase == MOVE_FROZEN && (parsed->command->flags & COMMAND_WRITE) &&
                       hold_wanted(pool, parsed);
    return has_to_wait ? VERDICT_WAIT : VERDICT_SEND;
}

/* Finds the node under the map of now (CW_NO_NODE: no keys), and how many of the commands write. */
static enum verdict judge_all(struct client *client, uint32_t *ret_node, uint32_t *ret_write_count)
{
    struct walk walk;
    enum verdict verdict = VERDICT_SEND;
    *ret_node = CW_NO_NODE;
    *ret_write_count = 0;
    walk_begin(&walk, client->transaction);
    while (verdict == VERDICT_SEND && walk_next(&walk)) {
        verdict = judge(client, &walk.parsed, ret_node);
        *ret_write_count += (walk.parsed.command->flags & COMMAND_WRITE) != 0;
    }
    if (!walk_end(&walk)) {
        client_error(client, "ERR out of memory");
        verdict = VERDICT_ANSWERED;
    }
    return verdict;
}

/* ---- sending -----------------------------------------------------------------------------------
 */

/* What is about to be sent: requests in their order, and their bytes at the end of link->out. */
struct batch {
    struct link *link;
    size_t out_before;
    struct request *first, *last; /* whose replies are nobody's */
    struct request *exec;
};

static void batch_add(struct batch *batch, struct request *request)
{
    if (batch->last)
        batch->last->next = request;
    else
        batch->first = request;
    batch->last = request;
}

static struct request *batch_take(struct batch *batch)
{
    struct request *request = batch->first;
    batch->first = request->next;
    request->next = NULL;
    return request;
}

static void batch_undo(struct worker *worker, struct batch *batch)
{
    batch->link->out.len = batch->out_before;
    while (batch->first)
        request_return(worker, batch_take(batch));
    if (batch->exec)
        request_return(worker, batch->exec);
}

/* The marks of all writes, so that they are done before the first of these. */
static bool add_marks(struct batch *batch, const struct client *client)
{
    struct walk walk;
    bool fine = true;
    walk_begin(&walk, client->transaction);
    while (fine && walk_next(&walk)) {
        struct request *mark = NULL;
        if (is_tracked(client->pool, walk.parsed.command))
            fine = mark_append(batch->link, &walk.parsed, NULL, &mark);
        if (mark)
            batch_add(batch, mark);
    }
    return walk_end(&walk) && fine;
}

/* The promises of the replies to MULTI and the commands, and of the reply to EXEC. */
static bool add_requests(struct batch *batch, struct client *client)
{
    batch->exec = request_borrow(client->worker, client, REQUEST_EXEC);
    for (uint32_t i = 0; batch->exec && i < client->transaction->command_count + 1; i++) {
        struct request *part = request_borrow(client->worker, NULL, REQUEST_EXEC_PART);
        if (!part)
            return false;
        part->pool = client->pool;
        part->exec = batch->exec;
        batch_add(batch, part);
    }
    return batch->exec != NULL;
}

static bool append_all(struct batch *batch, struct client *client)
{
    struct buffer *out = &batch->link->out;
    const struct buffer *commands = &client->transaction->commands;
    return (client->pool->phase != MOVE_TRACKING || add_marks(batch, client)) &&
           buffer_append_text(out, "*1\r\n$5\r\nMULTI\r\n") &&
           buffer_append(out, buffer_bytes(commands), commands->len) &&
           buffer_append_text(out, "*1\r\n$4\r\nEXEC\r\n") && add_requests(batch, client);
}

/* False after an error was answered. */
static bool send_all(struct client *client, struct link *link, uint32_t write_count)
{
    char text[512];
    uint32_t count = client->transaction->command_count + 2;
    if (client->pool->phase == MOVE_TRACKING)
        count += write_count;
    if (!link_accepts(link, count, text, sizeof text)) {
        client_error(client, text);
        return false;
    }
    struct batch batch = {.link = link, .out_before = link->out.len};
    if (!append_all(&batch, client)) {
        batch_undo(client->worker, &batch);
        client_error(client, "ERR out of memory");
        return false;
    }
    batch.exec->len = (uint32_t)(link->out.len - batch.out_before);
    batch.exec->link = link;
    client_enqueue(client, batch.exec);
    while (batch.first)
        link_send(link, batch_take(&batch));
    link_send(link, batch.exec);
    return true;
}

/* ---- EXEC -------------------------------------------------------------------------------------
 */

/* Nothing is left to be done, or nothing may be done. */
static void reply_empty(struct client *client, bool is_nil)
{
    struct buffer *out = client_reply(client);
    if (out && is_nil)
        resp_write_null_array(out, client->protocol);
    else if (out)
        resp_write_array(out, 0);
    client_replied(client);
}

/* The node has noticed writes of what is watched on one connection only. Without keys it goes where
 * scripts without keys run, too. NULL: to no node where the watch would count. */
static struct link *find_link(struct client *client, uint32_t node_number)
{
    struct pool *pool = client->pool;
    struct node *node = pool->nodes[node_number == CW_NO_NODE ? 0 : node_number];
    if (!client->transaction->is_watching)
        return node_link(node, client);
    bool is_there = node_number == CW_NO_NODE || client->own->link.node == node;
    return is_there ? &client->own->link : NULL;
}

/* The client keeps its connection until EXEC is answered. */
static void finish(struct client *client, bool is_sent)
{
    if (is_sent && client->own)
        client->transaction->is_over = true;
    else
        transaction_end(client);
}

/* Another worker may have switched already, and what is watched have been written at its new owner,
 * of which the node of now knows nothing. The next state says whether that is so. */
static bool is_watch_frozen(const struct client *client)
{
    return client->transaction->is_watching && client->pool->phase == MOVE_FROZEN;
}

/* Of a transaction that was understood, and whose watch is whole. */
static bool exec_all(struct client *client)
{
    uint32_t node, write_count;
    enum verdict verdict = is_watch_frozen(client) ? VERDICT_WAIT
                                                   : judge_all(client, &node, &write_count);
    if (verdict == VERDICT_WAIT) {
        hold_client(client);
        return false;
    }
    struct link *link = verdict == VERDICT_SEND ? find_link(client, node) : NULL;
    if (verdict == VERDICT_SEND && !link)
        reply_empty(client, true);
    finish(client, link && send_all(client, link, write_count));
    return true;
}

bool exec_command(struct client *client)
{
    const struct transaction *transaction = client->transaction;
    if (transaction->is_bad)
        client_error(client, "EXECABORT Transaction discarded because of previous errors.");
    else if (transaction->is_watching && !watch_is_whole(client))
        reply_empty(client, true);
    else if (transaction->command_count == 0 && !transaction->is_watching)
        reply_empty(client, false);
    else
        return exec_all(client);
    transaction_end(client);
    return true;
}

/* ---- replies -----------------------------------------------------------------------------------
 */

/* A node that refuses EXEC itself (a user that may not say it) is still between MULTI and EXEC, or
 * never was: whatever is sent there next would be misunderstood. */
static void abandon(struct link *link)
{
    if (link->state == LINK_READY)
        link_abandon(link, "refused to end a transaction, so its connection was closed; whether it "
                           "did what was asked is unknown");
}

void exec_part_answered(struct worker *worker, struct request *part, const char *reply, size_t len)
{
    struct request *exec = part->exec;
    bool is_error = reply[0] == '-';
    if (!exec && is_error) /* an UNWATCH, refused: the next client would watch, too */
        abandon(part->link);
    else if (is_error && exec->reply.len == 0) /* unused until EXEC is answered */
        buffer_append(&exec->reply, reply + 1, len - 3);
    request_return(worker, part);
}

/* Says why in the place of "because of previous errors", of which the client has seen none. */
static void answer_with_reason(struct worker *worker, struct request *request, bool is_aborted)
{
    char text[512];
    const struct buffer *why = &request->reply;
    int len = why->len < 400 ? (int)why->len : 400;
    if (is_aborted)
        snprintf(text, sizeof text, "EXECABORT Transaction discarded because of: %.*s", len,
                 buffer_bytes(why));
    else
        snprintf(text, sizeof text,
                 "ERR the node did not take the transaction as one (%.*s); whether it did what was "
                 "asked is unknown",
                 len, buffer_bytes(why));
    buffer_clear(&request->reply);
    request_fail(worker, request, text);
}

void exec_answered(struct worker *worker, struct request *request, const char *reply, size_t len)
{
    struct client *client = request->client;
    struct link *link = request->link;
    bool is_error = reply[0] == '-';
    bool is_aborted = is_error && len > 10 && memcmp(reply, "-EXECABORT", 10) == 0;
    request->kind = REQUEST_RELAY;
    if (client && client->transaction && client->transaction->is_over)
        transaction_end(client);
    if (request->reply.len && is_error) {
        answer_with_reason(worker, request, is_aborted);
    } else {
        buffer_clear(&request->reply);
        request_answer(worker, request, reply, len);
    }
    /* Last: the bytes of the reply go with the connection, and the client may, too. */
    if (is_error && !is_aborted)
        abandon(link);
}
