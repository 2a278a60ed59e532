/*
 * Splits: one command, several nodes, one reply. MGET and its kind are grouped: each owner gets one
 * command with its own keys, however many there are, and the replies are merged in the order of the
 * keys. DBSIZE and its kind go to every node as they are.
 *
 * A split is not atomic: the nodes do their parts at different moments, and when one fails the
 * reply is its error although the others have done theirs. Commands that promise more (MSETNX) are
 * not split.
 */
#include "router/moving.h"

#include <stdio.h>
#include <stdlib.h>

#define NO_PART UINT32_MAX

void split_destroy(struct split **split_ptr)
{
    struct split *split = *split_ptr;
    *split_ptr = NULL;
    if (!split)
        return;
    for (uint32_t i = 0; split->replies && i < split->part_count; i++)
        buffer_release(&split->replies[i]);
    free(split->replies);
    free(split->part_of_key);
    free(split);
}

/* ---- making the parts -------------------------------------------------------------------------
 */

/* The promise of the whole reply, with room for its parts. NULL when memory is out. */
static struct split *split_create(struct client *client, const struct parsed *parsed,
                                  uint32_t part_count, uint32_t key_count)
{
    struct split *split = calloc(1, sizeof *split);
    struct request *parent = request_borrow(client->worker, client, REQUEST_SPLIT);
    if (split) {
        split->merge = parsed->command->merge;
        split->part_count = part_count;
        split->key_count = key_count;
        split->replies = calloc(part_count, sizeof *split->replies);
        split->part_of_key = key_count ? malloc(key_count * sizeof *split->part_of_key) : NULL;
        split->parent = parent;
    }
    if (!split || !parent || !split->replies || (key_count && !split->part_of_key)) {
        split_destroy(&split);
        if (parent)
            request_return(client->worker, parent);
        return NULL;
    }
    parent->split = split;
    parent->in_flight = true;
    parent->len = parsed->request->length;
    return split;
}

static struct request *part_create(struct worker *worker, struct split *split, uint32_t part)
{
    struct request *request = request_borrow(worker, NULL, REQUEST_PART);
    if (!request)
        return NULL;
    request->pool = split->parent->pool;
    request->split = split;
    request->part = part; /* of a command to all nodes: the node's number */
    return request;
}

/* Numbers the owners in order of appearance. Returns how many parts there are. */
static uint32_t number_parts(uint32_t *part_of_node, uint32_t node_count, const uint32_t *owners,
                             uint32_t key_count, uint32_t *part_of_key)
{
    uint32_t part_count = 0;
    for (uint32_t i = 0; i < node_count; i++)
        part_of_node[i] = NO_PART;
    for (uint32_t i = 0; i < key_count; i++) {
        uint32_t *part = &part_of_node[owners[i]];
        if (*part == NO_PART)
            *part = part_count++;
        part_of_key[i] = *part;
    }
    return part_count;
}

/* The keys of each part in their order, chained so that no part has to look at the others': first
 * by part, then next by key, to NO_KEY. */
struct key_chains {
    uint32_t *first, *next;
};

static void chain_keys(const struct split *split, const struct key_chains *chains)
{
    for (uint32_t i = 0; i < split->part_count; i++)
        chains->first[i] = NO_KEY;
    for (uint32_t i = split->key_count; i-- > 0;) {
        uint32_t part = split->part_of_key[i];
        chains->next[i] = chains->first[part];
        chains->first[part] = i;
    }
}

/* The command with the keys of one part: name, then for each of its keys all `step` arguments. */
static bool append_part(struct buffer *out, const struct parsed *parsed,
                        const struct key_chain *chain)
{
    const struct command_key_range *keys = &parsed->keys;
    const uint32_t *next = chain->next;
    size_t own = 0;
    for (uint32_t i = chain->first; i != NO_KEY; i = next[i])
        own++;
    bool fine = resp_write_array(out, 1 + own * keys->step) &&
                resp_write_bulk_text(out, parsed->command->name);
    for (uint32_t i = chain->first; fine && i != NO_KEY; i = next[i]) {
        for (uint32_t j = 0; fine && j < keys->step; j++) {
            struct slice arg = parsed_arg(parsed, keys->first + i * keys->step + j);
            fine = resp_write_bulk(out, arg.ptr, arg.len);
        }
    }
    return fine;
}

static void part_done(struct worker *worker, struct split *split);

/* Appends a part to the link's output, behind its mark if it needs one; or nothing. */
static bool append_marked(struct link *link, const struct parsed *parsed,
                          const struct key_chain *chain, struct request **ret_mark)
{
    size_t before = link->out.len;
    bool fine = !is_tracked(link->node->pool, parsed->command) ||
                mark_append(link, parsed, chain, ret_mark);
    fine = fine &&
           (chain ? append_part(&link->out, parsed, chain) : append_request(&link->out, parsed));
    if (fine)
        return true;
    link->out.len = before;
    if (*ret_mark)
        request_return(link->node->pool->worker, *ret_mark);
    return false;
}

/* Arguments of a part, its name included. */
static uint32_t part_arg_count(const struct parsed *parsed, const struct key_chain *chain)
{
    uint32_t own = 0;
    if (parsed->command->flags & COMMAND_WRITE)
        return 0; /* nobody asks */
    for (uint32_t i = chain->first; i != NO_KEY; i = chain->next[i])
        own++;
    return 1 + own * parsed->keys.step;
}

/* Sends part number `part`, or answers it with why it cannot be sent. Without a chain the command
 * goes as it is. */
static void send_part(struct client *client, const struct parsed *parsed, struct split *split,
                      uint32_t part, const struct key_chain *chain, struct node *node)
{
    char text[512] = "ERR out of memory";
    struct link *link = node_link(node, client);
    struct request *mark = NULL, *request = part_create(client->worker, split, part);
    if (!request) {
        part_done(client->worker, split); /* its reply stays empty, which the merge tells */
        return;
    }
    if (!link_accepts(link, 1 + is_tracked(client->pool, parsed->command), text, sizeof text)) {
        if (chain && node->health == NODE_DOWN)
            down_prepare(request, client->pool, parsed->command, part_arg_count(parsed, chain));
        down_answer(client->worker, request, client->protocol, text);
        return;
    }
    if (!append_marked(link, parsed, chain, &mark)) {
        request_fail(client->worker, request, text);
        return;
    }
    if (chain)
        down_prepare(request, client->pool, parsed->command, part_arg_count(parsed, chain));
    if (mark)
        link_send(link, mark);
    link_send(link, request);
}

/* The parts are sent while the parent counts one more than there are, so that a part that fails at
 * once does not finish it before the last is on its way. */
static void begin(struct client *client, struct split *split)
{
    client->worker->report.split_requests++;
    split->parts_waiting = split->part_count + 1;
    client_enqueue(client, split->parent);
}

/* Room for the numbers of nodes and keys that a split needs. */
static bool reserve_numbers(struct worker *worker, uint32_t node_count, uint32_t key_count)
{
    return worker_numbers(&worker->part_of_node, &worker->part_of_node_capacity, node_count) &&
           worker_numbers(&worker->first_key, &worker->first_key_capacity, node_count) &&
           worker_numbers(&worker->next_key, &worker->next_key_capacity, key_count);
}

void split_by_keys(struct client *client, const struct parsed *parsed, const uint32_t *owners)
{
    struct worker *worker = client->worker;
    struct pool *pool = client->pool;
    uint32_t key_count = parsed->keys.count;
    struct split *split = reserve_numbers(worker, pool->node_count, key_count)
                              ? split_create(client, parsed, pool->node_count, key_count)
                              : NULL;
    if (!split) {
        client_error(client, "ERR out of memory");
        return;
    }
    const uint32_t *part_of_node = worker->part_of_node;
    const struct key_chains chains = {worker->first_key, worker->next_key};
    split->part_count = number_parts(worker->part_of_node, pool->node_count, owners, key_count,
                                     split->part_of_key);
    chain_keys(split, &chains);
    begin(client, split);
    for (uint32_t i = 0; i < pool->node_count; i++) {
        uint32_t part = part_of_node[i];
        if (part == NO_PART)
            continue;
        const struct key_chain chain = {chains.first[part], chains.next};
        send_part(client, parsed, split, part, &chain, pool->nodes[i]);
    }
    part_done(worker, split);
}

void split_to_all(struct client *client, const struct parsed *parsed)
{
    struct pool *pool = client->pool;
    struct split *split = split_create(client, parsed, pool->node_count, 0);
    if (!split) {
        client_error(client, "ERR out of memory");
        return;
    }
    begin(client, split);
    for (uint32_t i = 0; i < pool->node_count; i++)
        send_part(client, parsed, split, i, NULL, pool->nodes[i]);
    part_done(client->worker, split);
}

/* ---- merging the replies ----------------------------------------------------------------------
 */

static bool merge_sum(struct buffer *out, const struct split *split)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < split->part_count; i++) {
        struct resp_value value;
        const struct buffer *reply = &split->replies[i];
        if (resp_read_value(buffer_bytes(reply), reply->len, &value) != RESP_DONE ||
            value.type != ':')
            return resp_write_error(out, "ERR a node answered with what is no number");
        sum += value.integer;
    }
    return resp_write_integer(out, sum);
}

/* Takes the array heads off the replies. Returns the number of elements of all, -1 if one is none.
 */
static int64_t open_arrays(struct split *split)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < split->part_count; i++) {
        struct resp_value value;
        struct buffer *reply = &split->replies[i];
        if (resp_read_value(buffer_bytes(reply), reply->len, &value) != RESP_DONE ||
            (value.type != '*' && value.type != '~') || value.is_null)
            return -1;
        buffer_take(reply, value.head_len);
        count += value.integer;
    }
    return count;
}

/* One element of each reply's array in the order of the keys. */
static bool merge_array(struct buffer *out, struct split *split)
{
    if (open_arrays(split) != split->key_count)
        return resp_write_error(out, "ERR a node answered with another number of values");
    bool fine = resp_write_array(out, split->key_count);
    for (uint32_t i = 0; fine && i < split->key_count; i++) {
        struct buffer *reply = &split->replies[split->part_of_key[i]];
        struct resp_scanner scanner;
        resp_scanner_init(&scanner);
        if (resp_scan(&scanner, buffer_bytes(reply), reply->len, reply->len) != RESP_DONE)
            return false;
        fine = buffer_append(out, buffer_bytes(reply), scanner.position);
        buffer_take(reply, scanner.position);
    }
    return fine;
}

static bool merge_concat(struct buffer *out, struct split *split)
{
    int64_t count = open_arrays(split);
    if (count < 0)
        return resp_write_error(out, "ERR a node answered with what is no array");
    bool fine = resp_write_array(out, (size_t)count);
    for (uint32_t i = 0; fine && i < split->part_count; i++)
        fine = buffer_append(out, buffer_bytes(&split->replies[i]), split->replies[i].len);
    return fine;
}

/* One that is not null, by chance; null if all are. */
static bool merge_any(struct worker *worker, struct buffer *out, const struct split *split)
{
    const struct buffer *chosen = &split->replies[0];
    uint64_t seen = 0;
    for (uint32_t i = 0; i < split->part_count; i++) {
        struct resp_value value;
        const struct buffer *reply = &split->replies[i];
        if (resp_read_value(buffer_bytes(reply), reply->len, &value) == RESP_DONE &&
            !value.is_null && random_below(&worker->random, ++seen) == 0)
            chosen = reply;
    }
    return buffer_append(out, buffer_bytes(chosen), chosen->len);
}

static const struct buffer *first_error(const struct split *split)
{
    for (uint32_t i = 0; i < split->part_count; i++)
        if (split->replies[i].len == 0 || buffer_bytes(&split->replies[i])[0] == '-')
            return &split->replies[i];
    return NULL;
}

/* The whole reply. An empty part is one for which there was no memory. */
static bool merge(struct worker *worker, struct buffer *out, struct split *split)
{
    const struct buffer *error = first_error(split);
    if (error)
        return error->len && buffer_append(out, buffer_bytes(error), error->len);
    switch (split->merge) {
    case MERGE_SUM: return merge_sum(out, split);
    case MERGE_ARRAY: return merge_array(out, split);
    case MERGE_CONCAT: return merge_concat(out, split);
    case MERGE_ANY: return merge_any(worker, out, split);
    case MERGE_OK:
    case MERGE_NONE: break;
    }
    return buffer_append(out, buffer_bytes(&split->replies[0]), split->replies[0].len);
}

/* One part less to wait for; after the last one the whole is answered. */
static void part_done(struct worker *worker, struct split *split)
{
    struct buffer whole = BUFFER_INIT;
    if (--split->parts_waiting > 0)
        return;
    if (!split->parent->client) { /* nobody waits for it */
        request_answer(worker, split->parent, "", 0);
        return;
    }
    if (merge(worker, &whole, split))
        request_answer(worker, split->parent, buffer_bytes(&whole), whole.len);
    else
        request_fail(worker, split->parent, "ERR out of memory");
    buffer_release(&whole);
}

/* Keeps the reply of a part, but for keys that clients must not see. What can't be kept, for want
 * of memory, leaves the part empty. */
static void keep_reply(struct split *split, const struct request *part, const char *reply,
                       size_t len)
{
    struct buffer *kept = &split->replies[part->part];
    bool is_listing = split->merge == MERGE_CONCAT && part->era && reply[0] != '-';
    bool is_one_key = split->merge == MERGE_ANY && part->era;
    if (is_listing && !shown_append_keys(kept, part, part->part, (struct slice){reply, len}))
        buffer_clear(kept);
    else if (is_one_key && shown_is_hidden(part, part->part, (struct slice){reply, len}))
        resp_write_null(kept, split->parent->client->protocol);
    else if (!is_listing)
        buffer_append(kept, reply, len);
}

void split_part_answered(struct worker *worker, struct request *part, const char *reply, size_t len)
{
    struct split *split = part->split;
    if (split->parent->client)
        keep_reply(split, part, reply, len);
    part->split = NULL;
    request_return(worker, part);
    part_done(worker, split);
}
