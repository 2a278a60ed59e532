/*
 * What blocking.c and blocking_wake.c share.
 */
#ifndef ROUTER_BLOCKING_INTERNAL_H
#define ROUTER_BLOCKING_INTERNAL_H

#include "router/blocking.h"
#include "router/own_link.h"

enum { STREAM_ID_SIZE = 44 };

struct blocked {
    struct client *client;       /* NULL: it has gone */
    struct own_link *own;        /* on which it waits; NULL: it will be dispatched again */
    struct request *request;     /* under way there */
    uint64_t deadline_ms;        /* of its own timeout; or WAIT_FOR_EVER */
    uint32_t len;                /* of the request in client->in */
    bool is_again;               /* it was asked before: the time is what is left */
    bool is_woken;               /* it has to come back */
    bool has_nil;                /* it has, and the answer to UNBLOCK has not */
    char (*ids)[STREAM_ID_SIZE]; /* what "$" was, one a key; "": not known; NULL: none */
    struct list in_pool;         /* blocked, or woken */
};

/* Has it come back from its node. */
void blocking_wake(struct blocked *blocked);
/* The node's answers to what it was asked for that: CLIENT UNBLOCK, and the last ID of a stream. */
void blocking_unblock_answered(struct own_link *own, const char *reply, size_t len);
void blocking_keep_id(struct blocked *blocked, uint32_t key, const char *reply, size_t len);

#endif
