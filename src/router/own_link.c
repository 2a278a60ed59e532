/*
 * Own links (own_link.h). A node has two lists of them: those that are lent or still have something
 * under way, and idle ones, the last used at the end. They are taken apart in own_links_tick()
 * only, never while a reply is being read from them.
 */
#include "router/own_link.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    IDLE_COUNT_MAX = 64, /* a node */
    IDLE_MS = 30000,     /* then an idle one is closed */
};

static uint64_t now_ms(const struct node *node)
{
    return io_now_ms(node->pool->worker->loop);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

static void put_lent(struct node *node, struct own_link *own, enum own_link_state state)
{
    own->state = state;
    list_push_back(&node->own_lent, &own->in_node);
    node->own_lent_count++;
}

static void take_out(struct node *node, struct own_link *own)
{
    list_remove(&own->in_node);
    if (own->state == OWN_IDLE)
        node->own_idle_count--;
    else
        node->own_lent_count--;
}

static void put_idle(struct node *node, struct own_link *own)
{
    take_out(node, own);
    own->state = OWN_IDLE;
    own->idle_since_ms = now_ms(node);
    list_push_back(&node->own_idle, &own->in_node);
    node->own_idle_count++;
}

static void end(struct node *node, struct own_link *own)
{
    take_out(node, own);
    link_fini(&own->link);
    free(own);
}

/* ---- lending ----------------------------------------------------------------------------------
 */

/* The one that was idle for the shortest time: the others may then go. */
static struct own_link *find_idle(struct node *node, int protocol)
{
    for (struct list *entry = node->own_idle.prev; entry != &node->own_idle; entry = entry->prev) {
        struct own_link *own = list_entry(entry, struct own_link, in_node);
        if (own->link.protocol == protocol && own->link.state == LINK_READY)
            return own;
    }
    return NULL;
}

static struct own_link *create(struct node *node, int protocol)
{
    struct own_link *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    link_init(&own->link, node, protocol);
    own->link.is_own = true;
    return own;
}

static bool may_lend(struct node *node, char *ret_text, size_t text_size)
{
    uint32_t max = node->pool->worker->limits->own_links_max;
    if (node->health == NODE_DOWN) {
        node->errors++;
        snprintf(ret_text, text_size, "NODEDOWN node '%s' (%s) %s", node->id, node->address,
                 node->why);
        return false;
    }
    if (node->own_lent_count >= max) {
        snprintf(ret_text, text_size,
                 "BUSY node '%s' (%s) has %u connections for clients that wait or watch "
                 "keys; more are allowed by a higher limit (limits.own_connections)",
                 node->id, node->address, max);
        return false;
    }
    return true;
}

struct own_link *own_link_lend(struct node *node, int protocol, char *ret_text, size_t text_size)
{
    if (!may_lend(node, ret_text, text_size))
        return NULL;
    struct own_link *own = find_idle(node, protocol);
    if (own) {
        take_out(node, own);
        put_lent(node, own, OWN_LENT);
        return own;
    }
    own = create(node, protocol);
    if (!own) {
        snprintf(ret_text, text_size, "ERR out of memory");
        return NULL;
    }
    put_lent(node, own, OWN_LENT);
    link_connect(&own->link);
    worker_need_tick(node->pool->worker);
    return own;
}

/* Makes it idle if it has ended all that it had to do and is wanted. */
static bool rest(struct node *node, struct own_link *own)
{
    const struct link *link = &own->link;
    if (link->state != LINK_READY || link->flight.count || own->unblocks || !own->is_clean ||
        node->retired || node->own_idle_count >= IDLE_COUNT_MAX)
        return false;
    put_idle(node, own);
    return true;
}

void own_link_return(struct own_link **own_ptr, bool is_clean)
{
    struct own_link *own = *own_ptr;
    *own_ptr = NULL;
    if (!own)
        return;
    struct node *node = own->link.node;
    if (!node) {
        free(own);
        return;
    }
    own->state = OWN_LEAVING;
    own->is_clean = is_clean;
    if (!rest(node, own))
        worker_need_tick(node->pool->worker);
}

/* ---- what becomes of them -----------------------------------------------------------------------
 */

void own_link_greeted(struct link *link, const char *reply, size_t len)
{
    struct own_link *own = list_entry(link, struct own_link, link);
    int64_t id;
    /* The one number in the greeting's replies is that of CLIENT ID. */
    if (reply[0] == ':' && resp_parse_integer((struct slice){reply + 1, len - 3}, &id) && id > 0)
        own->id = (uint64_t)id;
}

/* Calls `visit` with each that is lent, whatever becomes of others meanwhile. */
static void visit_lent(struct node *node, const char *why,
                       void (*visit)(struct node *node, struct own_link *own, const char *why))
{
    struct list left;
    list_init(&left);
    list_move_all(&left, &node->own_lent);
    while (!list_is_empty(&left)) {
        struct own_link *own = list_entry(left.next, struct own_link, in_node);
        list_remove(&own->in_node);
        list_push_back(&node->own_lent, &own->in_node);
        visit(node, own, why);
    }
}

static void fail(struct node *node, struct own_link *own, const char *why)
{
    link_abandon(&own->link, why);
}

/* Those that are failed stay in their lists until the next tick. */
void own_links_fail(struct node *node, const char *why)
{
    list_for_each (entry, &node->own_idle)
        link_abandon(&list_entry(entry, struct own_link, in_node)->link, why);
    visit_lent(node, why, fail);
    worker_need_tick(node->pool->worker);
}

/* A connection that says no more is let go; a lent one is its client's still. */
static bool is_over(const struct own_link *own, uint64_t now)
{
    if (own->state == OWN_LENT || own->unblocks || own->link.flight.count)
        return false;
    if (own->state == OWN_IDLE)
        return own_link_is_lost(own) || now >= own->idle_since_ms + IDLE_MS;
    return true;
}

static void tick(struct node *node, struct own_link *own, const char *why)
{
    link_tick(&own->link);
    if (is_over(own, now_ms(node)) && !rest(node, own))
        end(node, own);
}

bool own_links_tick(struct node *node)
{
    visit_lent(node, NULL, tick);
    list_for_each (entry, &node->own_idle) {
        struct own_link *own = list_entry(entry, struct own_link, in_node);
        if (is_over(own, now_ms(node)))
            end(node, own);
    }
    return node->own_lent_count || node->own_idle_count;
}

uint32_t own_links_in_flight(const struct node *node)
{
    uint32_t count = 0;
    list_for_each (entry, &node->own_lent)
        count += list_entry(entry, struct own_link, in_node)->link.flight.count;
    return count;
}

void own_links_destroy(struct node *node)
{
    list_for_each (entry, &node->own_idle)
        end(node, list_entry(entry, struct own_link, in_node));
    while (!list_is_empty(&node->own_lent)) {
        struct own_link *own = list_entry(node->own_lent.next, struct own_link, in_node);
        link_fini(&own->link); /* whoever waited for it may have returned it by now */
        take_out(node, own);
        own->link.node = NULL;
        if (own->state != OWN_LENT)
            free(own);
    }
}
