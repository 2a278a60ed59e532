/*
 * Nodes as one worker sees them: their links, and whether they answer.
 *
 * Health is known from answers alone. A connection proves nothing, for a stopped server still
 * accepts; so every new connection is first asked with PING, and a node that missed a deadline, or
 * could not be reached, is DOWN until it has answered one. While it is DOWN its keys fail at once,
 * with an error that says which node and why; other nodes' keys are not touched, and nothing is
 * re-placed.
 */
#include "router/blocking.h"
#include "router/own_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t link_count(const struct node *node)
{
    return PROTOCOLS * node->pool->settings->connections;
}

struct node *node_create(struct pool *pool, const struct cw_node *described)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node)
        return NULL;
    node->pool = pool;
    node->health = NODE_PROBING;
    list_init(&node->own_lent);
    list_init(&node->own_idle);
    node->id = strdup(described->id);
    node->address = strdup(described->address ? described->address : "");
    node->links = calloc(link_count(node), sizeof *node->links);
    if (!node->id || !node->address || !node->links) {
        free(node->id);
        free(node->address);
        free(node->links);
        free(node);
        return NULL;
    }
    for (uint32_t i = 0; i < link_count(node); i++)
        link_init(&node->links[i], node, i < pool->settings->connections ? 2 : 3);
    return node;
}

void node_destroy(struct node **node_ptr)
{
    struct node *node = *node_ptr;
    *node_ptr = NULL;
    if (!node)
        return;
    node->retired = true;
    for (uint32_t i = 0; i < link_count(node); i++)
        link_fini(&node->links[i]);
    own_links_destroy(node);
    free(node->links);
    free(node->id);
    free(node->address);
    free(node);
}

bool node_tick(struct node *node)
{
    bool is_running = false;
    for (uint32_t i = 0; i < link_count(node); i++)
        is_running |= link_tick(&node->links[i]);
    return own_links_tick(node) || is_running;
}

uint32_t node_in_flight(const struct node *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < link_count(node); i++)
        count += node->links[i].flight.count;
    return count + own_links_in_flight(node);
}

void node_connect(struct node *node, bool with_resp3)
{
    uint32_t count = node->pool->settings->connections * (with_resp3 ? PROTOCOLS : 1);
    for (uint32_t i = 0; i < count; i++)
        link_connect(&node->links[i]);
}

bool node_uses_resp3(const struct node *node)
{
    for (uint32_t i = node->pool->settings->connections; i < link_count(node); i++)
        if (node->links[i].state != LINK_CLOSED)
            return true;
    return false;
}

struct link *node_link(struct node *node, const struct client *client)
{
    if (__builtin_expect(client->own != NULL, 0) && client->own->link.node == node &&
        !own_link_is_lost(client->own))
        return &client->own->link;
    uint32_t connections = node->pool->settings->connections;
    uint32_t first = client->protocol == 3 ? connections : 0;
    /* All requests of a client take one link, so that they reach the node in their order. */
    return &node->links[first + (connections == 1 ? 0 : client->id % connections)];
}

static void log_health(const struct node *node, int level, const char *event)
{
    worker_log(node->pool->worker, level, "event=%s pool=%s node=%s address=%s worker=%u%s%s%s",
               event, node->pool->settings->name, node->id, node->address,
               node->pool->worker->index, *node->why ? " reason=\"" : "", node->why,
               *node->why ? "\"" : "");
}

void node_is_up(struct node *node)
{
    node->last_answer_ms = io_now_ms(node->pool->worker->loop);
    if (node->health == NODE_UP)
        return;
    node->why[0] = '\0';
    if (node->health == NODE_DOWN)
        log_health(node, 1, "node_up");
    node->health = NODE_UP;
    if (node->pool->settings->on_node_down == NODE_DOWN_NEXT)
        blocking_new_state(node->pool); /* those that wait at the node that stood in for it */
}

void node_is_down(struct node *node, const char *why)
{
    bool was_down = node->health == NODE_DOWN;
    snprintf(node->why, sizeof node->why, "%s", why);
    node->health = NODE_DOWN;
    if (!was_down)
        log_health(node, 2, "node_down");
    own_links_fail(node, why);
}
