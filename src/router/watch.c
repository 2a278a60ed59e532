/*
 * WATCH: the node notices writes of the keys, so it has to be one connection from WATCH to EXEC,
 * and nobody else's. The client is lent one (own_link.h) with its first WATCH, and until EXEC,
 * DISCARD or UNWATCH all its requests to that node take it (node_link()), so that they stay in
 * order.
 *
 * A promise is kept whatever happens meanwhile: EXEC answers nil and does nothing unless the node
 * would have noticed every write. So a watch is lost when the connection breaks, when the client
 * goes over to the other protocol, which has other connections, and when the pool's map is another
 * one: writes may have gone to the keys' new owner, which knows of no watch. Keys that only move,
 * in any phase before the switch, are still written at the owner of now, and their watch is whole.
 */
#include "router/local.h"
#include "router/own_link.h"
#include "router/transaction.h"

bool watch_is_whole(const struct client *client)
{
    const struct transaction *transaction = client->transaction;
    return !transaction->is_lost && client->own && !own_link_is_lost(client->own) &&
           transaction->map == client->pool->map;
}

/* ---- beginning --------------------------------------------------------------------------------
 */

/* Lends the client a connection to a node. False after an error was answered. */
static bool begin(struct client *client, struct node *node)
{
    struct transaction *transaction = client->transaction;
    char text[512];
    client->own = own_link_lend(node, client->protocol, text, sizeof text);
    if (!client->own) {
        client_error(client, text);
        return false;
    }
    transaction->is_watching = true;
    transaction->map = cw_map_ref(client->pool->map);
    return true;
}

/* Sends it. If that fails, or the node refuses it, the watch is lost: the client was told so, but
 * may have sent EXEC already. */
static void send(struct client *client, const struct parsed *parsed, uint32_t node)
{
    char text[512];
    const struct request *before = client->last;
    if (link_accepts(&client->own->link, 1, text, sizeof text))
        relay(client, parsed, node);
    else
        client_error(client, text);
    if (client->last != before && client->last->in_flight)
        client->last->kind = REQUEST_WATCH;
    else
        client->transaction->is_lost = true;
}

/* If nothing is watched yet, and the client has sent nothing behind it, a refused WATCH is as none:
 * it knows. Otherwise EXEC may be coming that trusts in it. */
static void refused(struct client *client, const struct request *request)
{
    struct transaction *transaction = client->transaction;
    transaction->is_lost = true;
    if (!transaction->is_sure && !transaction->is_open && client->last == request)
        transaction_end(client);
}

void watch_answered(struct worker *worker, struct request *request, const char *reply, size_t len)
{
    struct client *client = request->client;
    if (client && client->transaction && reply[0] == '-')
        refused(client, request);
    else if (client && client->transaction)
        client->transaction->is_sure = true;
    request->kind = REQUEST_RELAY;
    request_answer(worker, request, reply, len);
}

static void watch_first(struct client *client, const struct parsed *parsed)
{
    uint32_t node;
    if (!transaction_borrow(client))
        return;
    if (transaction_find_node(client, parsed, &node) && begin(client, client->pool->nodes[node]))
        send(client, parsed, node);
    else
        transaction_end(client);
}

/* What is lost stays lost, whatever else is watched. */
static void watch_more(struct client *client, const struct parsed *parsed)
{
    uint32_t node;
    if (!watch_is_whole(client)) {
        client_ok(client);
        return;
    }
    if (!transaction_find_node(client, parsed, &node))
        return;
    /* Another node stands in for the one that is down, or no longer does. */
    if (client->pool->nodes[node] != client->own->link.node) {
        client->transaction->is_lost = true;
        client_ok(client);
        return;
    }
    send(client, parsed, node);
}

bool watch_command(struct client *client, struct parsed *parsed)
{
    const char *reason = command_find_keys(parsed->command, parsed->request, parsed->bytes,
                                           &parsed->keys);
    if (reason) {
        client_errorf(client, "ERR %s", reason);
        return true;
    }
    if (client->transaction) {
        watch_more(client, parsed);
        return true;
    }
    /* What was asked before took the connection of all clients. */
    if (!client_is_alone(client))
        return false;
    watch_first(client, parsed);
    return true;
}

/* ---- ending -----------------------------------------------------------------------------------
 */

/* Has the node forget what is watched on a link. False if it could not be told. */
static bool send_unwatch(struct worker *worker, struct link *link)
{
    char text[512];
    size_t before = link->out.len;
    if (!link_accepts(link, 1, text, sizeof text))
        return false;
    struct request *request = request_borrow(worker, NULL, REQUEST_EXEC_PART);
    if (!request || !buffer_append_text(&link->out, "*1\r\n$7\r\nUNWATCH\r\n")) {
        link->out.len = before;
        if (request)
            request_return(worker, request);
        return false;
    }
    request->pool = link->node->pool;
    request->exec = NULL;
    request->link = link;
    link_send(link, request);
    return true;
}

void watch_give_back(struct client *client)
{
    struct transaction *transaction = client->transaction;
    if (!client->own)
        return;
    /* EXEC has ended the watch at the node, too. */
    bool is_clean = !own_link_is_lost(client->own) &&
                    (transaction->is_over || send_unwatch(client->worker, &client->own->link));
    own_link_return(&client->own, is_clean);
    cw_map_unref(&transaction->map);
    transaction->is_lost = true;
}
