/*
 * Own links: a connection to a node that one client has for itself for a while, because what it
 * asks there waits (BLPOP) or changes the connection (WATCH). Nodes keep a few idle ones for
 * the next client.
 *
 * An own link is a link with these differences: it is opened once and never again; that it cannot
 * be opened, breaks or is late says nothing about the node's health (a server at its maxclients is
 * not down), while a node that goes DOWN fails what waits on its own links; and its number at the
 * node is known once it is LINK_READY, for CLIENT UNBLOCK.
 *
 * Whoever has one lent has the pointer until own_link_return(), whatever becomes of the connection,
 * the node or the map meanwhile. A connection that was closed is own_link_is_lost(): requests to it
 * are not accepted any more.
 */
#ifndef ROUTER_OWN_LINK_H
#define ROUTER_OWN_LINK_H

#include "router/internal.h"

enum own_link_state {
    OWN_LENT,
    OWN_LEAVING, /* returned, but something is still under way */
    OWN_IDLE,
};

struct own_link {
    struct link link; /* link.node is NULL once the node has gone */
    enum own_link_state state;
    bool is_clean;     /* LEAVING: is as new once nothing is under way, and may be kept */
    uint32_t unblocks; /* questions about it (CLIENT UNBLOCK) under way on another link: it is not
                          lent on meanwhile, they would meet the next client */
    struct blocked *blocked; /* what waits on it; NULL: nothing */
    uint64_t id;             /* its number at the node; 0: not known yet */
    uint64_t idle_since_ms;
    struct list in_node;
};

/* A connection to the node in protocol 2 or 3, an idle one or a new one that may not be ready yet:
 * requests can be sent to it at once, with link_accepts() and link_send(). NULL with the error for
 * the client in ret_text: the node is down, or too many are lent (limits.own_connections). */
struct own_link *own_link_lend(struct node *node, int protocol, char *ret_text, size_t text_size);
/* Gives it back and nulls the pointer; NULL is fine. is_clean: when all that is under way is
 * answered, the connection is as it was lent (nothing watched); otherwise it is closed then.
 * Never closes while requests are under way, for the node might do them later. */
void own_link_return(struct own_link **own, bool is_clean);

static inline bool own_link_is_lost(const struct own_link *own)
{
    return own->link.is_spent;
}

/* ---- for node.c and link.c --------------------------------------------------------------------
 */

/* One reply to its greeting. */
void own_link_greeted(struct link *link, const char *reply, size_t len);
/* The node is DOWN: fails all of its own links. */
void own_links_fail(struct node *node, const char *why);
/* Looks at deadlines, and lets go what is over. Returns whether there is any own link left. */
bool own_links_tick(struct node *node);
/* Requests under way on them. */
uint32_t own_links_in_flight(const struct node *node);
/* Ends all; those that are lent stay with who has them, without a node. */
void own_links_destroy(struct node *node);

#endif
