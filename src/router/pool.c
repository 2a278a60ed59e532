/*
 * A pool as one worker sees it: its map, and a node for each of the map's; while keys move, also
 * the map to come and its nodes. A new state takes the old one's place between two turns of the
 * loop; nodes that are in both (same id and address) keep their connections and what is under way,
 * nodes that left finish what is under way and then go.
 */
#include "router/blocking.h"
#include "router/moving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The node of a set that this one is, if its address is the same. */
static struct node *find_same(const struct node_set *set, const struct cw_node *described)
{
    uint32_t index = set->map ? cw_map_find_node(set->map, described->id) : CW_NO_NODE;
    if (index == CW_NO_NODE)
        return NULL;
    struct node *node = set->nodes[index];
    return strcmp(node->address, described->address ? described->address : "") == 0 ? node : NULL;
}

static bool is_in(const struct node_set *set, const struct node *node)
{
    uint32_t index = set->map ? cw_map_find_node(set->map, node->id) : CW_NO_NODE;
    return index != CW_NO_NODE && set->nodes[index] == node;
}

enum { SETS_MAX = 3 };

/* Sets of nodes that there are already. */
struct known_nodes {
    const struct node_set *sets[SETS_MAX];
    uint32_t count;
};

static bool is_known(const struct known_nodes *known, const struct node *node)
{
    for (uint32_t i = 0; i < known->count; i++)
        if (is_in(known->sets[i], node))
            return true;
    return false;
}

static struct node *take_or_create(struct pool *pool, const struct cw_node *described,
                                   const struct known_nodes *known)
{
    struct node *node = NULL;
    for (uint32_t i = 0; i < known->count && !node; i++)
        node = find_same(known->sets[i], described);
    return node ? node : node_create(pool, described);
}

/* Destroys those nodes that were made for the set, and the set. */
static void undo(struct node_set *set, const struct known_nodes *known)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (!is_known(known, set->nodes[i]))
            node_destroy(&set->nodes[i]);
    free(set->nodes);
}

/* The nodes of a map, the known ones where they are the same. Takes no reference to the map. */
static bool set_create(struct pool *pool, struct cw_map *map, const struct known_nodes *known,
                       struct node_set *ret_set)
{
    uint32_t count = cw_map_node_count(map);
    struct node_set set = {map, calloc(count, sizeof(struct node *)), 0};
    if (!set.nodes)
        return false;
    for (; set.count < count; set.count++) {
        struct node *node = take_or_create(pool, cw_map_node(map, set.count), known);
        if (!node) {
            undo(&set, known);
            return false;
        }
        set.nodes[set.count] = node;
    }
    *ret_set = set;
    return true;
}

/* Lets a node go, at once or when it has nothing under way. */
static void retire(struct pool *pool, struct node *node)
{
    node->retired = true;
    if (node_in_flight(node) == 0)
        node_destroy(&node);
    else
        list_push_back(&pool->retired, &node->in_retired);
}

/* Lets those of the old nodes go that are in neither new set. */
static void retire_left(struct pool *pool, const struct node_set *old,
                        const struct node_set *old_next, const struct known_nodes *kept)
{
    for (uint32_t i = 0; i < old_next->count; i++)
        if (!is_in(old, old_next->nodes[i]) && !is_known(kept, old_next->nodes[i]))
            retire(pool, old_next->nodes[i]);
    for (uint32_t i = 0; i < old->count; i++)
        if (!is_known(kept, old->nodes[i]))
            retire(pool, old->nodes[i]);
    worker_need_tick(pool->worker);
}

/* Connects the nodes that are in the map to come only, so that the switch finds them ready. */
static void connect_next(struct pool *pool)
{
    const struct node_set now = {pool->map, pool->nodes, pool->node_count};
    bool with_resp3 = false;
    for (uint32_t i = 0; i < pool->node_count; i++) {
        pool->nodes[i]->is_awaited = false;
        with_resp3 |= node_uses_resp3(pool->nodes[i]);
    }
    for (uint32_t i = 0; i < pool->next.count; i++) {
        struct node *node = pool->next.nodes[i];
        node->is_awaited = !is_in(&now, node);
        if (node->is_awaited)
            node_connect(node, with_resp3);
    }
}

static void swap_in(struct pool *pool, const struct pool_state *state, const struct node_set *now,
                    const struct node_set *next)
{
    pool->nodes = now->nodes;
    pool->node_count = now->count;
    pool->map = cw_map_ref(state->map);
    pool->next = *next;
    if (next->map)
        cw_map_ref(next->map);
    pool->phase = state->phase;
}

int pool_set_state(struct pool *pool, const struct pool_state *state)
{
    struct node_set old = {pool->map, pool->nodes, pool->node_count}, old_next = pool->next;
    struct node_set now, next = {NULL, NULL, 0};
    const struct known_nodes known = {{&old, &old_next}, 2};
    const struct known_nodes known_then = {{&now, &old, &old_next}, 3};
    if (!set_create(pool, state->map, &known, &now))
        return -ENOMEM;
    if (state->next && !set_create(pool, state->next, &known_then, &next)) {
        undo(&now, &known);
        return -ENOMEM;
    }
    hold_end(pool);
    retire_left(pool, &old, &old_next, &(struct known_nodes){{&now, &next}, 2});
    swap_in(pool, state, &now, &next);
    connect_next(pool);
    free(old.nodes);
    free(old_next.nodes);
    cw_map_unref(&old.map);
    cw_map_unref(&old_next.map);
    return 0;
}

/* Looks at the deadlines of all nodes, and lets those go that were waited for. */
bool pool_tick(struct pool *pool)
{
    bool is_running = false;
    for (uint32_t i = 0; i < pool->node_count; i++)
        is_running |= node_tick(pool->nodes[i]);
    for (uint32_t i = 0; i < pool->next.count; i++)
        if (pool->next.nodes[i]->is_awaited)
            is_running |= node_tick(pool->next.nodes[i]);
    blocking_tick(pool);
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
    pool->is_ending = true;
    for (uint32_t i = 0; i < pool->next.count; i++)
        if (pool->next.nodes[i]->is_awaited)
            node_destroy(&pool->next.nodes[i]);
    for (uint32_t i = 0; i < pool->node_count; i++)
        node_destroy(&pool->nodes[i]);
    list_for_each (entry, &pool->retired) {
        struct node *node = list_entry(entry, struct node, in_retired);
        list_remove(entry);
        node_destroy(&node);
    }
    pool_drop_eras(pool);
    free(pool->next.nodes);
    free(pool->nodes);
    free(pool->latency);
    cw_map_unref(&pool->next.map);
    cw_map_unref(&pool->map);
    io_listener_close(&pool->listener);
}
