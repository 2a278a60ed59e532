/*
 * A pool as one worker sees it: its map, and a node for each of the map's. A new map takes the old
 * one's place between two turns of the loop; nodes that are in both (same id and address) keep
 * their connections and what is under way, nodes that left finish what is under way and then go.
 */
#include "router/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The node of the old map that this one is, if its address is the same. */
static struct node *find_same(const struct pool *pool, const struct cw_node *described)
{
    uint32_t index = pool->map ? cw_map_find_node(pool->map, described->id) : CW_NO_NODE;
    if (index == CW_NO_NODE)
        return NULL;
    struct node *node = pool->nodes[index];
    return strcmp(node->address, described->address ? described->address : "") == 0 ? node : NULL;
}

/* Whether a node stands in the array of nodes of a map. */
static bool is_in(const struct cw_map *map, struct node *const *nodes, const struct node *node)
{
    uint32_t index = map ? cw_map_find_node(map, node->id) : CW_NO_NODE;
    return index != CW_NO_NODE && nodes[index] == node;
}

/* Destroys those of `made` that are not in the pool (they were made for a map that failed). */
static void undo(struct pool *pool, struct node **made, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!is_in(pool->map, pool->nodes, made[i]))
            node_destroy(&made[i]);
    free(made);
}

/* Lets nodes go that are not in the new map, at once or when they have nothing under way. */
static void retire(struct pool *pool, const struct cw_map *map, struct node *const *kept)
{
    for (uint32_t i = 0; i < pool->node_count; i++) {
        struct node *node = pool->nodes[i];
        if (is_in(map, kept, node))
            continue;
        node->retired = true;
        if (node_in_flight(node) == 0)
            node_destroy(&node);
        else
            list_push_back(&pool->retired, &node->in_retired);
    }
    worker_need_tick(pool->worker);
}

int pool_set_map(struct pool *pool, struct cw_map *map)
{
    uint32_t count = cw_map_node_count(map);
    struct node **nodes = calloc(count, sizeof(struct node *));
    if (!nodes)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_node *described = cw_map_node(map, i);
        nodes[i] = find_same(pool, described);
        if (!nodes[i])
            nodes[i] = node_create(pool, described);
        if (!nodes[i]) {
            undo(pool, nodes, i);
            return -ENOMEM;
        }
    }
    retire(pool, map, nodes);
    free(pool->nodes);
    pool->nodes = nodes;
    pool->node_count = count;
    struct cw_map *old = pool->map;
    pool->map = cw_map_ref(map);
    cw_map_unref(&old);
    return 0;
}

/* Looks at the deadlines of all nodes, and lets those go that were waited for. */
bool pool_tick(struct pool *pool)
{
    bool is_running = false;
    for (uint32_t i = 0; i < pool->node_count; i++)
        is_running |= node_tick(pool->nodes[i]);
    list_for_each (entry, &pool->retired) {
        struct node *node = list_entry(entry, struct node, in_retired);
        node_tick(node);
        if (node_in_flight(node) == 0) {
            list_remove(entry);
            node_destroy(&node);
        }
    }
    return is_running || !list_is_empty(&pool->retired);
}

void pool_release(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->node_count; i++)
        node_destroy(&pool->nodes[i]);
    list_for_each (entry, &pool->retired) {
        struct node *node = list_entry(entry, struct node, in_retired);
        list_remove(entry);
        node_destroy(&node);
    }
    free(pool->nodes);
    free(pool->latency);
    cw_map_unref(&pool->map);
    io_listener_close(&pool->listener);
}
