#include "placement/pick.h"

void pick_init(struct pick *pick, const struct nodes *nodes, size_t want, uint32_t *ret_nodes)
{
    pick->nodes = nodes;
    pick->want = want;
    pick->want_zones = want < nodes->zone_count ? want : nodes->zone_count;
    pick->count = pick->passed_count = 0;
    pick->chosen = ret_nodes;
}

static bool contains(const uint32_t *list, size_t count, uint32_t node)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return true;
    return false;
}

static bool zone_taken(const struct pick *pick, uint32_t node)
{
    const uint32_t *zones = pick->nodes->zones;
    for (size_t i = 0; i < pick->count; i++)
        if (zones[pick->chosen[i]] == zones[node])
            return true;
    return false;
}

static bool is_done(const struct pick *pick)
{
    return pick->count == pick->want_zones && pick->count + pick->passed_count >= pick->want;
}

bool pick_offer(struct pick *pick, uint32_t node)
{
    if (contains(pick->chosen, pick->count, node) ||
        contains(pick->passed, pick->passed_count, node))
        return is_done(pick);
    if (!zone_taken(pick, node))
        pick->chosen[pick->count++] = node;
    else if (pick->passed_count < pick->want - pick->want_zones)
        pick->passed[pick->passed_count++] = node;
    return is_done(pick);
}

size_t pick_finish(struct pick *pick)
{
    for (size_t i = 0; i < pick->passed_count && pick->count < pick->want; i++)
        pick->chosen[pick->count++] = pick->passed[i];
    return pick->count;
}
