/*
 * Keys that move from node to node, as a worker sees them: marks before writes, writes that wait,
 * and the router's own keys, which clients do not see. Belongs to internal.h, with the same rules.
 */
#ifndef ROUTER_MOVING_H
#define ROUTER_MOVING_H

#include "router/internal.h"

/* Whether a key that is on a node now will be on another, or have no place. Only while keys move.
 */
static inline bool key_moves(const struct pool *pool, struct slice key, const struct node *owner)
{
    uint32_t next = cw_locate_key(pool->next.map, key.ptr, key.len);
    return next == CW_NO_NODE || pool->next.nodes[next] != owner;
}

/* Whether a request with keys has to be marked: a write while the pool is tracked. */
static inline bool is_tracked(const struct pool *pool, const struct command *command)
{
    return pool->phase == MOVE_TRACKING && (command->flags & COMMAND_WRITE);
}

/* Appends to the link's output the mark of those keys of a write that move: of the chain, or all
 * (NULL). *ret_mark is the request to be sent for it; NULL if none of them moves. False when memory
 * is out; then the output has to be cut back. */
bool mark_append(struct link *link, const struct parsed *parsed, const struct key_chain *chain,
                 struct request **ret_mark);
void mark_answered(struct worker *worker, struct request *mark, const char *reply);

/* Whether a write has to wait because one of its keys moves and the pool is frozen. */
bool hold_wanted(const struct pool *pool, const struct parsed *parsed);
/* Stops a client whose next request waits; it stays in client->in. */
void hold_client(struct client *client);
/* Lets all clients of a pool go on that wait. */
void hold_end(struct pool *pool);

/* Keys that begin with "\0cw:" are the router's own: dirty sets, and copies that are not whole. */
static inline bool is_own_key(struct slice key)
{
    return key.len >= 4 && key.ptr[0] == '\0' && memcmp(key.ptr, "\0cw:", 4) == 0;
}

/* Appends a node's array of keys without those that clients must not see. False when it is no such
 * array or memory is out. The request was sent to that node. */
bool shown_append_keys(struct buffer *out, const struct request *request, uint32_t node,
                       struct slice array);
/* Whether the reply is a key that clients must not see. */
bool shown_is_hidden(const struct request *request, uint32_t node, struct slice reply);

#endif
