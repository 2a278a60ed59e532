/*
 * Clients that wait at a node (BLPOP and its kind, XREAD with BLOCK).
 */
#ifndef ROUTER_BLOCKING_H
#define ROUTER_BLOCKING_H

#include "router/internal.h"

/* Whether a request of a command with COMMAND_BLOCKING waits if there is nothing for it. */
bool blocking_waits(const struct parsed *parsed);
/* Sends a request that waits to the owner of its keys; the client is alone (client_is_alone()). It
 * stays, not cut, in client->in until it is answered, and nothing behind it is looked at. False
 * after an error was answered; then blocking_end() is due. */
bool blocking_send(struct client *client, const struct parsed *parsed, uint32_t owner);
/* The client waits no longer, for it was answered otherwise. Fine for one that never did. */
void blocking_end(struct client *client);
/* The client is closed: what it waits for must not be taken for it. */
void blocking_leave(struct client *client);
/* Reads what a client that waits sends behind its request, or that it leaves. */
void blocking_read(struct client *client);

/* The reply to a request of the kinds REQUEST_BLOCKED and after. Whether it is the client's. */
bool blocking_answered(struct worker *worker, struct request *request, const char *reply,
                       size_t len);

/* The pool has a new state, and its era has begun; or a node is up for which another stood in. */
void blocking_new_state(struct pool *pool);
/* Goes on with waking those that are still to be woken. */
void blocking_tick(struct pool *pool);

#endif
