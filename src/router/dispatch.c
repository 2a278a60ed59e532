/*
 * Dispatch: who answers a request? The command table says where its keys are; the map says who owns
 * them. One owner: the bytes are relayed as they are. Several: split where the result is the same,
 * else refused with an error that names two of the nodes. Nothing is ever silently misplaced.
 */
#include "router/blocking.h"
#include "router/local.h"
#include "router/moving.h"
#include "router/transaction.h"

#include <stdio.h>

enum { SHOWN_LEN = 64 }; /* of a key or name in an error */

const char *printable(struct slice text, char *ret_text, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < text.len && len + 4 < size; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        ret_text[len++] = byte >= 0x20 && byte != 0x7f ? (char)byte : '?';
    }
    if (len < text.len)
        len += (size_t)snprintf(ret_text + len, size - len, "...");
    ret_text[len] = '\0';
    return ret_text;
}

bool append_request(struct buffer *out, const struct parsed *parsed)
{
    if (!parsed->request->is_inline)
        return buffer_append(out, parsed->bytes, parsed->request->length);
    bool fine = resp_write_array(out, parsed_arg_count(parsed));
    for (uint32_t i = 0; fine && i < parsed_arg_count(parsed); i++) {
        struct slice arg = parsed_arg(parsed, i);
        fine = resp_write_bulk(out, arg.ptr, arg.len);
    }
    return fine;
}

/* The node's link does not take a request: an error, or a miss if the node is down. */
static __attribute__((noinline)) void not_accepted(struct client *client,
                                                   const struct parsed *parsed,
                                                   const struct node *node, const char *error)
{
    struct request *request = NULL;
    if (client->pool->settings->on_node_down == NODE_DOWN_MISS && node->health == NODE_DOWN)
        request = request_borrow(client->worker, client, REQUEST_RELAY);
    if (!request) {
        client_error(client, error);
        return;
    }
    down_prepare(request, client->pool, parsed->command, parsed_arg_count(parsed));
    client_enqueue(client, request);
    down_answer(client->worker, request, client->protocol, error);
}

/* Appends the mark of a write, if it needs one, and sends that. */
static __attribute__((noinline)) bool send_marked(struct link *link, const struct parsed *parsed,
                                                  struct request *request)
{
    struct request *mark;
    bool fine = mark_append(link, parsed, NULL, &mark) && append_request(&link->out, parsed);
    if (!fine && mark)
        request_return(link->node->pool->worker, mark);
    if (!fine || !mark)
        return fine;
    request->len += mark->len;
    link_send(link, mark);
    return true;
}

void relay(struct client *client, const struct parsed *parsed, uint32_t node_number)
{
    struct link *link = node_link(client->pool->nodes[node_number], client);
    bool tracked = is_tracked(client->pool, parsed->command);
    char text[512];
    if (!link_accepts(link, 1 + tracked, text, sizeof text)) {
        not_accepted(client, parsed, link->node, text);
        return;
    }
    size_t before = link->out.len;
    struct request *request = request_borrow(client->worker, client, REQUEST_RELAY);
    if (request)
        request->len = parsed->request->length;
    if (!request ||
        !(tracked ? send_marked(link, parsed, request) : append_request(&link->out, parsed))) {
        link->out.len = before;
        if (request)
            request_return(client->worker, request);
        client_error(client, "ERR out of memory");
        return;
    }
    down_prepare(request, client->pool, parsed->command, parsed_arg_count(parsed));
    client_enqueue(client, request);
    link_send(link, request);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void refuse_unknown(struct client *client, const struct parsed *parsed)
{
    char name[SHOWN_LEN + 4];
    printable(parsed_arg(parsed, 0), name, sizeof name);
    if (client->pool->settings->engine == ENGINE_EMBEDDED)
        client_errorf(client, "ERR unknown command '%s'", name);
    else
        client_errorf(client,
                      "ERR unknown command '%s'; if it is a module's, declare it in the "
                      "configuration (pools.%s.commands)",
                      name, client->pool->settings->name);
}

static void refuse_arity(struct client *client, const struct parsed *parsed)
{
    char name[SHOWN_LEN];
    uint32_t len = 0;
    for (; len < SHOWN_LEN - 1 && parsed->command->name[len]; len++)
        name[len] = (char)(parsed->command->name[len] | 0x20);
    name[len] = '\0';
    /* Redis has its own words where it ends a transaction at once. */
    client_errorf(client, "%s wrong number of arguments for '%s' command",
                  parsed->command->id == CMD_EXEC ? "EXECABORT Transaction discarded because of:"
                                                  : "ERR",
                  name);
}

/* Why a command is not for this pool or this router, or NULL. */
static bool is_refused(struct client *client, const struct command *command)
{
    const char *format = NULL;
    if (command->route == COMMAND_REFUSED)
        format = "ERR '%s' is not available through the router: %s";
    else if (client->pool->settings->engine == ENGINE_EMBEDDED && command->route != COMMAND_LOCAL &&
             !(command->flags & COMMAND_EMBEDDED))
        format = "ERR '%s' is not served by embedded nodes; use a pool with engine: redis";
    if (!format)
        return false;
    client->worker->report.refused_commands++;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
    client_errorf(client, format, command->name, command->summary);
#pragma GCC diagnostic pop
    return true;
}

void refuse_crossing(struct client *client, const char *command, struct key_place first,
                     struct key_place second)
{
    char first_text[SHOWN_LEN], second_text[SHOWN_LEN];
    client->worker->report.refused_commands++;
    client_errorf(client,
                  "CROSSNODE '%s' needs all its keys on one node, but '%s' is on '%s' and '%s' on "
                  "'%s'; a common hash tag, as in {x}1 and {x}2, keeps keys together",
                  command, printable(first.key, first_text, sizeof first_text),
                  client->pool->nodes[first.owner]->id,
                  printable(second.key, second_text, sizeof second_text),
                  client->pool->nodes[second.owner]->id);
}

/* ---- keyed commands ---------------------------------------------------------------------------
 */

/* CW_NO_NODE after an error was answered: some profiles have keys without a place. */
static uint32_t owner_of(struct client *client, struct slice key)
{
    char shown[SHOWN_LEN];
    uint32_t owner = cw_locate_key(client->pool->map, key.ptr, key.len);
    if (__builtin_expect(owner == CW_NO_NODE, 0))
        client_errorf(client, "ERR placement %s has no place for the key '%s'",
                      cw_map_placement_name(client->pool->map),
                      printable(key, shown, sizeof shown));
    return owner;
}

/* Whether a key is none that a client may name; if so, that was answered. */
static bool is_refused_key(struct client *client, struct slice key)
{
    uint32_t key_len_max = client->worker->limits->key_len_max;
    if (key.len > key_len_max)
        client_errorf(client, "ERR a key of %zu bytes is over the limit of %u (limits.key)",
                      key.len, key_len_max);
    else if (is_own_key(key))
        client_error(client, "ERR keys that begin with \"\\x00cw:\" are the router's own; choose "
                             "another name");
    else
        return false;
    return true;
}

/* Whether another node stands in for the owner of a key. */
static bool takes_next(const struct pool *pool, uint32_t owner)
{
    return pool->nodes[owner]->health == NODE_DOWN && pool->phase == MOVE_NONE &&
           pool->settings->on_node_down == NODE_DOWN_NEXT;
}

uint32_t key_owner(struct client *client, struct slice key)
{
    uint32_t owner = is_refused_key(client, key) ? CW_NO_NODE : owner_of(client, key);
    if (owner != CW_NO_NODE && takes_next(client->pool, owner))
        owner = down_next_owner(client->pool, key, owner);
    return owner;
}

/* Checks all keys and finds their owners, the extra key's last. Returns how many, 0 after an error
 * was answered. */
static uint32_t find_owners(struct client *client, const struct parsed *parsed,
                            uint32_t *ret_owners)
{
    uint32_t count = parsed_key_count(parsed);
    for (uint32_t i = 0; i < count; i++) {
        ret_owners[i] = key_owner(client, parsed_key(parsed, i));
        if (ret_owners[i] == CW_NO_NODE)
            return 0;
    }
    return count;
}

/* The owners of all keys in the worker's room for them, how many there are, and the first that is
 * not on the node of the first (the count: none). False after an error was answered. */
static bool find_many_owners(struct client *client, const struct parsed *parsed,
                             uint32_t **ret_owners, uint32_t *ret_count, uint32_t *ret_other)
{
    struct worker *worker = client->worker;
    uint32_t *owners = worker_numbers(&worker->owners, &worker->owners_capacity,
                                      parsed->keys.count + 1);
    if (!owners) {
        client_error(client, "ERR out of memory");
        return false;
    }
    uint32_t count = find_owners(client, parsed, owners);
    uint32_t other = 1;
    while (other < count && owners[other] == owners[0])
        other++;
    *ret_owners = owners;
    *ret_count = count;
    *ret_other = other;
    return count > 0;
}

static void refuse_owners(struct client *client, const struct parsed *parsed,
                          const uint32_t *owners, uint32_t other)
{
    refuse_crossing(client, parsed->command->name,
                    (struct key_place){parsed_key(parsed, 0), owners[0]},
                    (struct key_place){parsed_key(parsed, other), owners[other]});
}

static void dispatch_many_keys(struct client *client, const struct parsed *parsed)
{
    uint32_t *owners, count, other;
    if (!find_many_owners(client, parsed, &owners, &count, &other))
        return;
    if (other == count)
        relay(client, parsed, owners[0]);
    else if (parsed->command->merge == MERGE_NONE)
        refuse_owners(client, parsed, owners, other);
    else
        split_by_keys(client, parsed, owners);
}

/* A command that waits at its node. False: it is there, or has to wait before it is sent. */
static __attribute__((noinline)) bool dispatch_blocking(struct client *client,
                                                        const struct parsed *parsed)
{
    uint32_t *owners, count, other;
    if (!client_is_alone(client))
        return false;
    if (client->pool->phase == MOVE_FROZEN && (parsed->command->flags & COMMAND_WRITE) &&
        hold_wanted(client->pool, parsed)) {
        hold_client(client);
        return false;
    }
    if (find_many_owners(client, parsed, &owners, &count, &other)) {
        if (other < count)
            refuse_owners(client, parsed, owners, other);
        else if (blocking_send(client, parsed, owners[0]))
            return false;
    }
    blocking_end(client);
    return true;
}

/* False: it has to wait. */
static bool dispatch_keyed(struct client *client, struct parsed *parsed)
{
    const struct command *command = parsed->command;
    const char *reason = command_find_keys(command, parsed->request, parsed->bytes, &parsed->keys);
    if (reason) {
        client_errorf(client, "ERR %s", reason);
        return true;
    }
    if ((command->flags & COMMAND_BLOCKING) && blocking_waits(parsed))
        return dispatch_blocking(client, parsed);
    if (client->pool->phase == MOVE_FROZEN && (command->flags & COMMAND_WRITE) &&
        hold_wanted(client->pool, parsed)) {
        hold_client(client);
        return false;
    }
    if (parsed_key_count(parsed) > 1) {
        dispatch_many_keys(client, parsed);
    } else if (parsed->keys.count == 0) {
        /* A script without keys may run anywhere: on the first node, so that it is always one. */
        relay(client, parsed, 0);
    } else {
        uint32_t owner;
        if (find_owners(client, parsed, &owner))
            relay(client, parsed, owner);
    }
    return true;
}

/* ---- all commands -----------------------------------------------------------------------------
 */

/* Before AUTH, where a password is asked for, only what makes a connection. */
static bool is_allowed(const struct client *client, const struct command *command)
{
    return client->authenticated || command->id == CMD_AUTH || command->id == CMD_HELLO ||
           command->id == CMD_QUIT || command->id == CMD_RESET;
}

static void dispatch_to_all(struct client *client, const struct parsed *parsed)
{
    struct pool *pool = client->pool;
    /* It would meet keys that are marked and copied one by one. */
    if (pool->phase != MOVE_NONE && (parsed->command->flags & COMMAND_WRITE))
        client_errorf(client,
                      "TRYAGAIN keys of pool '%s' are moving to other nodes; %s is refused until "
                      "the transition has ended (clockwise transition status)",
                      pool->settings->name, parsed->command->name);
    else
        split_to_all(client, parsed);
}

/* False: it has to wait. */
static bool dispatch_known(struct client *client, struct parsed *parsed)
{
    if (__builtin_expect(client->transaction != NULL, 0)) {
        if (!transaction_lets_go_on(client, parsed->command))
            return false;
        if (transaction_keeps(client, parsed->command)) {
            transaction_keep(client, parsed);
            return true;
        }
    }
    switch (parsed->command->route) {
    case COMMAND_KEYED: return dispatch_keyed(client, parsed);
    case COMMAND_LOCAL: local_command(client, parsed); break;
    case COMMAND_ALL: dispatch_to_all(client, parsed); break;
    case COMMAND_SCAN: scan_command(client, parsed); break;
    case COMMAND_TRANSACTION: return transaction_command(client, parsed);
    case COMMAND_REFUSED: break; /* answered before */
    }
    return true;
}

/* Whether a request is one that this client may make; if not, that was answered. */
static bool is_fine(struct client *client, const struct parsed *parsed)
{
    if (!parsed->command)
        refuse_unknown(client, parsed);
    else if (!is_allowed(client, parsed->command))
        client_error(client, "NOAUTH Authentication required.");
    else if (!command_arity_fits(parsed->command, parsed_arg_count(parsed)))
        refuse_arity(client, parsed);
    else
        return !is_refused(client, parsed->command);
    return false;
}

bool dispatch(struct client *client, struct resp_request *request, const char *bytes)
{
    struct parsed parsed = {.request = request, .bytes = bytes};
    struct slice name = resp_request_arg(request, bytes, 0);
    parsed.command = command_find(name.ptr, name.len);
    client->requests++;
    client->worker->report.requests++;
    client->last_command = parsed.command;
    if (!is_fine(client, &parsed)) {
        transaction_refused(client, parsed.command);
    } else if (!dispatch_known(client, &parsed)) {
        client->requests--; /* it will come again */
        client->worker->report.requests--;
        return false;
    }
    return true;
}
