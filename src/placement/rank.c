#include "placement/rank.h"

#include "placement/map.h"

#include <stdbool.h>

struct rank_score rank_best(const struct rank_node *nodes, size_t count, uint64_t key)
{
    struct rank_score best = {UINT64_MAX, 0, UINT32_MAX};
    for (size_t i = 0; i < count; i++) {
        uint32_t draw = rank_draw(&nodes[i], key);
        if (rank_cost_floor(draw, nodes[i].inverse) > best.cost)
            continue;
        struct rank_score score = {rank_cost(draw, nodes[i].inverse), draw, nodes[i].index};
        if (rank_before(&score, &best))
            best = score;
    }
    return best;
}

/* The best so far, in order. */
struct top {
    struct rank_score scores[CW_REPLICA_COUNT_MAX];
    size_t count, max;
};

static void top_insert(struct top *top, size_t end, const struct rank_score *score)
{
    size_t at = end;
    for (; at > 0 && rank_before(score, &top->scores[at - 1]); at--)
        top->scores[at] = top->scores[at - 1];
    top->scores[at] = *score;
}

/* Keeps at most one node a zone when zones are given. */
static void top_offer(struct top *top, const uint32_t *zones, const struct rank_score *score)
{
    size_t last = top->count;
    for (size_t i = 0; zones && i < top->count; i++)
        if (zones[top->scores[i].index] == zones[score->index])
            last = i;
    if (last < top->count) {
        if (rank_before(score, &top->scores[last]))
            top_insert(top, last, score);
        return;
    }
    if (top->count < top->max)
        top_insert(top, top->count++, score);
    else if (rank_before(score, &top->scores[top->count - 1]))
        top_insert(top, top->count - 1, score);
}

static bool is_chosen(const uint32_t *chosen, size_t count, const uint32_t *zones, uint32_t node)
{
    for (size_t i = 0; i < count; i++)
        if (chosen[i] == node || (zones && zones[chosen[i]] == zones[node]))
            return true;
    return false;
}

size_t rank_append(const struct cw_map *map, uint64_t key, const uint32_t *zones, size_t k,
                   uint32_t *chosen, size_t chosen_count)
{
    struct top top = {.max = k - chosen_count};
    for (uint32_t i = 0; top.max && i < map->nodes.count; i++) {
        const struct rank_node *node = &map->nodes.rank[i];
        uint32_t draw = rank_draw(node, key);
        if (top.count == top.max &&
            rank_cost_floor(draw, node->inverse) > top.scores[top.count - 1].cost)
            continue;
        struct rank_score score = {rank_cost(draw, node->inverse), draw, i};
        if (!is_chosen(chosen, chosen_count, zones, i))
            top_offer(&top, zones, &score);
    }
    for (size_t i = 0; i < top.count; i++)
        chosen[chosen_count + i] = top.scores[i].index;
    return chosen_count + top.count;
}

size_t rank_top(const struct cw_map *map, uint64_t key, uint32_t first, size_t k,
                uint32_t *ret_nodes)
{
    const struct nodes *nodes = &map->nodes;
    size_t count = 0;
    if (first != CW_NO_NODE)
        ret_nodes[count++] = first;
    if (nodes->zone_count < nodes->count)
        count = rank_append(map, key, nodes->zones, k, ret_nodes, count);
    return rank_append(map, key, NULL, k, ret_nodes, count);
}
