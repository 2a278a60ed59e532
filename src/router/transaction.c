/*
 * MULTI to EXEC, as the client sees it: each command is checked when it comes (known, arity, its
 * keys on the node of those before) and answered QUEUED or with what is wrong; once one was wrong,
 * EXEC does nothing. The words are Redis's where Redis has the case.
 *
 * What is kept is bounded: by a quarter of the requests that a link may have under way, so that all
 * of it fits in with a mark for each; and by a quarter of the bytes that a client may hold, so that
 * it is still read from (client.c stops at half).
 */
#include "router/transaction.h"
#include "router/local.h"

#include <stdlib.h>

enum {
    BYTES_MAX = 1 << 30, /* however much a client may hold: requests count in 32 bits */
    INLINE_ARG_MORE = 9, /* bytes of "$12345 CR LF" and CR LF */
};

static void reply_queued(struct client *client)
{
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_simple(out, "QUEUED");
    client_replied(client);
}

/* Gives the commands up, but not what was said of them. */
static void drop_commands(struct client *client, struct transaction *transaction)
{
    client->held -= transaction->commands.len;
    buffer_release(&transaction->commands);
    transaction->command_count = 0;
}

void transaction_end(struct client *client)
{
    struct transaction *transaction = client->transaction;
    if (!transaction)
        return;
    watch_give_back(client);
    drop_commands(client, transaction);
    buffer_release(&transaction->key);
    free(transaction);
    client->transaction = NULL;
}

static void spoil(struct client *client)
{
    client->transaction->is_bad = true;
    drop_commands(client, client->transaction);
}

void transaction_refused(struct client *client, const struct command *command)
{
    if (!client->transaction || !client->transaction->is_open)
        return;
    if (command && command->id == CMD_EXEC)
        transaction_end(client);
    else
        spoil(client);
}

/* ---- where its keys are ------------------------------------------------------------------------
 */

static struct slice first_key(const struct transaction *transaction)
{
    return (struct slice){buffer_bytes(&transaction->key), transaction->key.len};
}

/* False after an error was answered. */
static bool note_key(struct client *client, struct slice key)
{
    struct transaction *transaction = client->transaction;
    transaction->has_key = buffer_append(&transaction->key, key.ptr, key.len);
    if (!transaction->has_key)
        client_error(client, "ERR out of memory");
    return transaction->has_key;
}

bool transaction_find_node(struct client *client, const struct parsed *parsed, uint32_t *ret_node)
{
    struct transaction *transaction = client->transaction;
    uint32_t node = CW_NO_NODE;
    if (transaction->has_key) {
        node = key_owner(client, first_key(transaction));
        if (node == CW_NO_NODE)
            return false;
    }
    for (uint32_t i = 0; i < parsed_key_count(parsed); i++) {
        struct slice key = parsed_key(parsed, i);
        uint32_t owner = key_owner(client, key);
        if (owner == CW_NO_NODE || !(transaction->has_key || note_key(client, key)))
            return false;
        if (node == CW_NO_NODE)
            node = owner;
        if (owner != node) {
            refuse_crossing(client, transaction->is_open ? "MULTI" : "WATCH",
                            (struct key_place){first_key(transaction), node},
                            (struct key_place){key, owner});
            return false;
        }
    }
    *ret_node = node;
    return true;
}

/* ---- keeping commands --------------------------------------------------------------------------
 */

/* Whether a command can be done by the one node of a transaction; if not, that was answered. */
static bool is_for_one_node(struct client *client, const struct command *command)
{
    if (command->route == COMMAND_KEYED || command->id == CMD_PING || command->id == CMD_ECHO ||
        command->id == CMD_TIME || command->id == CMD_UNWATCH)
        return true;
    client->worker->report.refused_commands++;
    client_errorf(client,
                  "ERR '%s' is not available inside MULTI: a transaction is done by the one node "
                  "that has its keys, and %s",
                  command->name,
                  command->route == COMMAND_LOCAL ? "this command is the router's own"
                                                  : "this command asks all nodes");
    return false;
}

static bool are_keys_fine(struct client *client, struct parsed *parsed)
{
    uint32_t node;
    const char *reason = parsed->command->route == COMMAND_KEYED
                             ? command_find_keys(parsed->command, parsed->request, parsed->bytes,
                                                 &parsed->keys)
                             : NULL;
    if (reason)
        client_errorf(client, "ERR %s", reason);
    return !reason && transaction_find_node(client, parsed, &node);
}

/* Whether one more command may be kept; if not, that was answered. */
static bool has_room_for(struct client *client, const struct parsed *parsed)
{
    const struct router_limits *limits = client->worker->limits;
    const struct transaction *transaction = client->transaction;
    size_t bytes_max = limits->client_memory_max / 4 < BYTES_MAX ? limits->client_memory_max / 4
                                                                 : BYTES_MAX;
    /* What came as a line is kept as an array, which is longer. */
    size_t added = parsed->request->length +
                   (parsed->request->is_inline ? INLINE_ARG_MORE * (size_t)parsed_arg_count(parsed)
                                               : 0);
    if (transaction->command_count >= limits->node_queue_max / 4)
        client_errorf(client,
                      "ERR a transaction may have %u commands (a quarter of limits.node_queue)",
                      limits->node_queue_max / 4);
    else if (transaction->commands.len + added > bytes_max)
        client_errorf(client,
                      "ERR a transaction may have %zu bytes (a quarter of limits.client_memory)",
                      bytes_max);
    else
        return true;
    return false;
}

/* Once something is wrong nothing is kept any more. */
static bool append(struct client *client, const struct parsed *parsed)
{
    struct transaction *transaction = client->transaction;
    size_t before = transaction->commands.len;
    if (transaction->is_bad)
        return true;
    if (!append_request(&transaction->commands, parsed)) {
        transaction->commands.len = before;
        client_error(client, "ERR out of memory");
        return false;
    }
    client->held += transaction->commands.len - before;
    transaction->command_count++;
    return true;
}

void transaction_keep(struct client *client, struct parsed *parsed)
{
    if (is_for_one_node(client, parsed->command) && are_keys_fine(client, parsed) &&
        has_room_for(client, parsed) && append(client, parsed))
        reply_queued(client);
    else
        spoil(client);
}

/* ---- the commands ------------------------------------------------------------------------------
 */

struct transaction *transaction_borrow(struct client *client)
{
    if (!client->transaction)
        client->transaction = calloc(1, sizeof *client->transaction);
    if (!client->transaction) {
        /* What is behind it must not be done as if nothing had been said. */
        client_error(client, "ERR out of memory");
        client_finish(client);
    }
    return client->transaction;
}

static void multi(struct client *client)
{
    struct transaction *transaction = transaction_borrow(client);
    if (!transaction)
        return;
    if (transaction->is_open) {
        client_error(client, "ERR MULTI calls can not be nested");
        return;
    }
    transaction->is_open = true;
    client_ok(client);
}

static void discard(struct client *client)
{
    if (!client->transaction || !client->transaction->is_open) {
        client_error(client, "ERR DISCARD without MULTI");
        return;
    }
    transaction_end(client);
    client_ok(client);
}

static bool exec(struct client *client)
{
    if (client->transaction && client->transaction->is_open)
        return exec_command(client);
    client_error(client, "ERR EXEC without MULTI");
    return true;
}

static bool watch(struct client *client, struct parsed *parsed)
{
    if (!client->transaction || !client->transaction->is_open)
        return watch_command(client, parsed);
    client_error(client, "ERR WATCH inside MULTI is not allowed");
    return true;
}

/* Inside MULTI it is kept as any other command. */
static void unwatch(struct client *client)
{
    transaction_end(client);
    client_ok(client);
}

bool transaction_command(struct client *client, struct parsed *parsed)
{
    switch ((int)parsed->command->id) {
    case CMD_MULTI: multi(client); break;
    case CMD_DISCARD: discard(client); break;
    case CMD_EXEC: return exec(client);
    case CMD_WATCH: return watch(client, parsed);
    case CMD_UNWATCH: unwatch(client); break;
    }
    return true;
}

/* Whether a command may take the client's connection from it. */
static bool may_end(const struct command *command)
{
    return command->id == CMD_EXEC || command->id == CMD_DISCARD || command->id == CMD_UNWATCH ||
           command->id == CMD_RESET || command->id == CMD_HELLO;
}

bool transaction_lets_go_on(struct client *client, const struct command *command)
{
    if (!client->transaction->is_over && !(client->own && may_end(command)))
        return true;
    return client_is_alone(client);
}
