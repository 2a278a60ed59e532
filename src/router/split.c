/*
 * Splits: one command, several nodes, one reply. MGET and its kind are grouped: each owner gets one
 * command with its own keys, however many there are, and the replies are merged in the order of the
 * keys. DBSIZE and its kind go to every node as they are.
 *
 * A split is not atomic: the nodes do their parts at different moments, and when one fails the
 * reply is its error although the others have done theirs. Commands that promise more (MSETNX) are
 * not split.
 */
#include "router/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { NO_PART = UINT32_MAX };

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
    request->part = part;
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

/* The command with the keys of one part: name, then for each of its keys all `step` arguments. */
static bool append_part(struct buffer *out, const struct parsed *parsed, const struct split *split,
                        uint32_t part)
{
    const struct command_key_range *keys = &parsed->keys;
    uint32_t own = 0;
    for (uint32_t i = 0; i < keys->count; i++)
        own += split->part_of_key[i] == part;
    bool fine = resp_write_array(out, 1 + (size_t)own * keys->step) &&
                resp_write_bulk_text(out, parsed->command->name);
    for (uint32_t i = 0; fine && i < keys->count; i++) {
        if (split->part_of_key[i] != part)
            continue;
        for (uint32_t j = 0; fine && j < keys->step; j++) {
            struct slice arg = parsed_arg(parsed, keys->first + i * keys->step + j);
            fine = resp_write_bulk(out, arg.ptr, arg.len);
        }
    }
    return fine;
}

/* Sends one part, or answers it with why it cannot be sent. `parsed` with part_of_key NULL: whole.
 */
static void send_part(struct client *client, const struct parsed *parsed, struct split *split,
                      uint32_t part, struct node *node)
{
    char text[512] = "ERR out of memory";
    struct link *link = node_link(node, client);
    struct request *request = part_create(client->worker, split, part);
    bool fine = request && link_accepts(link, text, sizeof text);
    if (fine) {
        size_t before = link->out.len;
        fine = split->part_of_key ? append_part(&link->out, parsed, split, part)
                                  : append_request(&link->out, parsed);
        if (!fine)
            link->out.len = before;
    }
    if (fine)
        link_send(link, request);
    else if (request)
        request_fail(client->worker, request, text);
}

/* The parts are sent while the parent counts one more than there are, so that a part that fails at
 * once does not finish it before the last is on its way. */
static void begin(struct client *client, struct split *split)
{
    client->worker->report.split_requests++;
    split->parts_waiting = split->part_count + 1;
    client_enqueue(client, split->parent);
}

static void part_done(struct worker *worker, struct split *split);

void split_by_keys(struct client *client, const struct parsed *parsed, const uint32_t *owners)
{
    struct worker *worker = client->worker;
    struct pool *pool = client->pool;
    uint32_t *part_of_node = worker_numbers(&worker->part_of_node, &worker->part_of_node_capacity,
                                            pool->node_count);
    struct split *split = part_of_node
                              ? split_create(client, parsed, pool->node_count, parsed->keys.count)
                              : NULL;
    if (!split) {
        client_error(client, "ERR out of memory");
        return;
    }
    split->part_count = number_parts(part_of_node, pool->node_count, owners, parsed->keys.count,
                                     split->part_of_key);
    begin(client, split);
    for (uint32_t i = 0; i < pool->node_count; i++)
        if (part_of_node[i] != NO_PART)
            send_part(client, parsed, split, part_of_node[i], pool->nodes[i]);
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
        send_part(client, parsed, split, i, pool->nodes[i]);
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

void split_part_answered(struct worker *worker, struct request *part, const char *reply, size_t len)
{
    struct split *split = part->split;
    if (split->parent->client)
        buffer_append(&split->replies[part->part], reply, len);
    part->split = NULL;
    request_return(worker, part);
    part_done(worker, split);
}
