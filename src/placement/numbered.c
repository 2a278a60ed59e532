#include "placement/numbered.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Compares two runs of digits as numbers and steps behind them. */
static int compare_numbers(const char **one, const char **other)
{
    const char *a = *one, *b = *other;
    while (*a == '0')
        a++;
    while (*b == '0')
        b++;
    const char *a_end = a, *b_end = b;
    while (is_digit(*a_end))
        a_end++;
    while (is_digit(*b_end))
        b_end++;
    *one = a_end;
    *other = b_end;
    if (a_end - a != b_end - b)
        return a_end - a < b_end - b ? -1 : 1;
    return memcmp(a, b, (size_t)(a_end - a));
}

static int compare_ids(const char *one, const char *other)
{
    const char *a = one, *b = other;
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            int order = compare_numbers(&a, &b);
            if (order)
                return order;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    if (*a || *b)
        return *a ? 1 : -1;
    return strcmp(one, other); /* 01 and 1 are one number */
}

struct entry {
    const char *id;
    uint32_t node;
};

static int by_number(const void *one, const void *other)
{
    return compare_ids(((const struct entry *)one)->id, ((const struct entry *)other)->id);
}

int numbered_order(const struct nodes *nodes, uint32_t *ret_order)
{
    struct entry *entries = memory_alloc(nodes->count, sizeof *entries);
    if (!entries)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++)
        entries[i] = (struct entry){nodes->list[i].id, i};
    qsort(entries, nodes->count, sizeof *entries, by_number);
    for (uint32_t i = 0; i < nodes->count; i++)
        ret_order[i] = entries[i].node;
    free(entries);
    return CW_OK;
}

/* Old nodes keep their buckets. */
static void keep_buckets(struct numbered *numbered, const struct cw_map *from,
                         const struct nodes *nodes)
{
    const struct numbered *old = numbered_of(from);
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t before = nodes_find(&from->nodes, nodes->list[i].id);
        if (before != CW_NO_NODE) {
            numbered->buckets[i] = old->buckets[before];
            numbered->nodes[old->buckets[before]] = i;
        }
    }
}

static void read_buckets(struct numbered *numbered, const struct history *history,
                         const struct nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t node = nodes_find(nodes, history->given[i].id);
        numbered->buckets[node] = history->buckets[i];
        numbered->nodes[history->buckets[i]] = node;
    }
}

/* Nodes without a bucket get the lowest free ones, in the order of numbering. */
static void fill_buckets(struct numbered *numbered, const struct nodes *nodes,
                         const uint32_t *order)
{
    uint32_t bucket = 0;
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t node = order[i];
        if (numbered->buckets[node] != CW_NO_NODE)
            continue;
        while (numbered->nodes[bucket] != CW_NO_NODE)
            bucket++;
        numbered->buckets[node] = bucket;
        numbered->nodes[bucket] = node;
    }
}

/* How many buckets there may be: all that were, and one for each node. */
static uint32_t count_room(const struct history *history, const struct nodes *nodes)
{
    uint32_t room = nodes->count;
    if (history->from)
        room += numbered_of(history->from)->bucket_count;
    for (uint32_t i = 0; history->buckets && i < nodes->count; i++)
        if (history->buckets[i] >= room)
            room = history->buckets[i] + 1;
    return room;
}

static int assign(struct numbered *numbered, const struct history *history,
                  const struct nodes *nodes)
{
    uint32_t room = count_room(history, nodes);
    uint32_t *order = memory_alloc(nodes->count, sizeof *order);
    numbered->nodes = memory_alloc(room, sizeof *numbered->nodes);
    numbered->buckets = memory_alloc(nodes->count, sizeof *numbered->buckets);
    int status = order && numbered->nodes && numbered->buckets ? numbered_order(nodes, order)
                                                               : CW_ENOMEM;
    if (status == CW_OK) {
        memset(numbered->nodes, 0xff, room * sizeof *numbered->nodes); /* CW_NO_NODE */
        memset(numbered->buckets, 0xff, nodes->count * sizeof *numbered->buckets);
        if (history->buckets)
            read_buckets(numbered, history, nodes);
        else if (history->from)
            keep_buckets(numbered, history->from, nodes);
        fill_buckets(numbered, nodes, order);
        while (numbered->nodes[room - 1] == CW_NO_NODE)
            room--;
        numbered->bucket_count = room;
        numbered->has_holes = room > nodes->count;
    }
    free(order);
    return status;
}

static int refuse_hole(const struct cw_map *map, const struct history *history,
                       struct cw_error *error)
{
    const struct numbered *numbered = numbered_of(map);
    uint32_t hole = 0;
    while (numbered->nodes[hole] != CW_NO_NODE)
        hole++;
    const char *last = map->nodes.list[numbered->nodes[numbered->bucket_count - 1]].id;
    if (!history->from)
        return error_set(error, CW_ENOT_SUPPORTED, "placement %s: no node has bucket %u",
                         map->ops->name, hole);
    const struct numbered *old = numbered_of(history->from);
    return error_set(
        error, CW_ENOT_SUPPORTED,
        "placement %s cannot remove node '%s' (bucket %u): only the last one, '%s', or "
        "use jumpback",
        map->ops->name, history->from->nodes.list[old->nodes[hole]].id, hole, last);
}

int numbered_build(struct cw_map *map, const struct history *history, bool holes_allowed,
                   struct cw_error *error)
{
    struct numbered *numbered = memory_alloc(1, sizeof *numbered);
    if (!numbered)
        return error_no_memory(error);
    map->state = numbered;
    if (assign(numbered, history, &map->nodes) != CW_OK)
        return error_no_memory(error);
    if (numbered->has_holes && !holes_allowed)
        return refuse_hole(map, history, error);
    if (numbered->bucket_count > NUMBERED_BUCKET_COUNT_MAX)
        return error_set(error, CW_ETOO_MANY_NODES, "%u buckets: a map has at most %u",
                         numbered->bucket_count, NUMBERED_BUCKET_COUNT_MAX);
    for (uint32_t i = 0; i < map->nodes.count; i++)
        map->shares[i] = 1.0 / map->nodes.count;
    return CW_OK;
}

void numbered_release(struct cw_map *map)
{
    struct numbered *numbered = map->state;
    if (!numbered)
        return;
    free(numbered->nodes);
    free(numbered->buckets);
    free(numbered);
}

size_t numbered_memory(const struct cw_map *map)
{
    const struct numbered *numbered = numbered_of(map);
    return sizeof *numbered + numbered->bucket_count * sizeof *numbered->nodes +
           map->nodes.count * sizeof *numbered->buckets;
}

uint32_t numbered_bucket_of(const struct cw_map *map, uint32_t node)
{
    return numbered_of(map)->buckets[node];
}

size_t locate_only_one(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    ret_nodes[0] = map->ops->locate(map, hash);
    return 1;
}
