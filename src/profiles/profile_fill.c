/*
 * How the places of a table are given to servers.
 */
#include "profiles/profile_table.h"

#include "placement/error.h"
#include "placement/memory.h"
#include "profiles/profile_topology.h"

#include <stdlib.h>

int profile_table_init(struct profile_table *table, double size, struct cw_error *error)
{
    if (size < 1 || size > PROFILE_TABLE_SIZE_MAX)
        return error_set(error, CW_EINVAL, "a table of %.0f places: use 1 to %u", size,
                         PROFILE_TABLE_SIZE_MAX);
    table->size = (uint32_t)size;
    table->owners = memory_alloc(table->size, sizeof *table->owners);
    return table->owners ? CW_OK : error_no_memory(error);
}

/* Every node as many times in a row as its weight says, or once. */
static int fill_in_rows(const struct cw_profile_map *map, struct profile_table *table,
                        int by_weight, struct cw_error *error)
{
    uint32_t at = 0;
    int status = profile_table_init(table, by_weight ? profile_weight_sum(map) : map->node_count,
                                    error);
    if (status != CW_OK)
        return status;
    for (uint32_t i = 0; i < map->node_count; i++) {
        uint32_t end = at + (by_weight ? (uint32_t)map->nodes[i].weight : 1);
        while (at < end)
            table->owners[at++] = map->nodes[i].number;
    }
    return CW_OK;
}

/* Cache::Memcached::Fast: as many places as the sum of the weights, rounded; a place belongs to the
 * server in whose part of the sum it falls. */
static int fill_scaled(const struct cw_profile_map *map, struct profile_table *table,
                       struct cw_error *error)
{
    uint32_t node = 0;
    double sum = map->nodes[0].weight;
    int status = profile_table_init(table, (double)(uint64_t)(profile_weight_sum(map) + 0.5),
                                    error);
    for (uint32_t i = 0; status == CW_OK && i < table->size; i++) {
        while (sum <= i && node + 1 < map->node_count)
            sum += map->nodes[++node].weight;
        table->owners[i] = map->nodes[node].number;
    }
    return status;
}

/* ---- HAProxy's map --------------------------------------------------------------------------- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The server whose turn it is: each one's score grows by its weight, the first of the highest whole
 * multiples of the total wins and pays the total. */
static uint32_t next_server(const struct cw_profile_map *map, int64_t *scores, uint32_t divisor,
                            int64_t total)
{
    uint32_t best = CW_NO_NODE;
    int64_t max = 0;
    for (uint32_t i = 0; i < map->node_count; i++) {
        const struct profile_node *node = &map->nodes[i];
        if (node->is_down || node->weight == 0)
            continue;
        scores[i] += (uint32_t)node->weight / divisor;
        int64_t turns = (scores[i] + total) / total;
        if (best == CW_NO_NODE || turns > max) {
            max = turns;
            best = i;
        }
    }
    scores[best] -= total;
    return map->nodes[best].number;
}

static int fill_smooth(const struct cw_profile_map *map, struct profile_table *table,
                       struct cw_error *error)
{
    uint32_t divisor = 0, total = 0;
    for (uint32_t i = 0; i < map->node_count; i++) {
        divisor = common_divisor(divisor, (uint32_t)map->nodes[i].weight);
        total += map->nodes[i].is_down ? 0 : (uint32_t)map->nodes[i].weight;
    }
    if (total == 0)
        return error_set(error, CW_EBAD_WEIGHT, "no server takes keys: give them weights above 0");
    total /= divisor;
    if ((uint64_t)total * map->node_count > UINT32_MAX)
        return error_set(error, CW_ETOO_MANY_NODES,
                         "a map of %u places over %u servers: use "
                         "fewer or smaller weights",
                         total, map->node_count);
    int64_t *scores = memory_alloc(map->node_count, sizeof *scores);
    int status = scores ? profile_table_init(table, total, error) : error_no_memory(error);
    for (uint32_t i = 0; status == CW_OK && i < total; i++)
        table->owners[i] = next_server(map, scores, divisor, total);
    free(scores);
    return status;
}

/* ---- slots and partitions -------------------------------------------------------------------- */

static int fill_numbers(struct cw_profile_map *map, struct profile_table *table,
                        struct cw_error *error)
{
    int status = profile_table_init(table, map->options.size, error);
    for (uint32_t i = 0; status == CW_OK && i < table->size; i++)
        table->owners[i] = i;
    if (status == CW_OK)
        map->owner_count = table->size;
    return status;
}

static int fill_slots(struct cw_profile_map *map, struct profile_table *table,
                      struct cw_error *error)
{
    const struct profile_topology *topology = map->topology;
    if (!topology)
        return fill_numbers(map, table, error);
    int status = profile_table_init(table, map->options.size, error);
    for (uint32_t i = 0; status == CW_OK && i < table->size; i++)
        table->owners[i] = CW_NO_NODE;
    for (size_t i = 0; status == CW_OK && i < topology->range_count; i++) {
        const struct profile_range *range = &topology->ranges[i];
        for (int64_t slot = range->first; slot <= range->last; slot++) {
            if (table->owners[slot] != CW_NO_NODE)
                return error_set(error, CW_EBAD_TEXT, "slot %d has two owners in the topology",
                                 (int)slot);
            table->owners[slot] = range->node;
        }
    }
    return status;
}

/* Partitions have servers, or are only numbers. */
static int fill_once(struct cw_profile_map *map, struct profile_table *table,
                     struct cw_error *error)
{
    if (map->node_count == 0)
        return fill_numbers(map, table, error);
    if (map->options.size)
        return error_set(error, CW_EINVAL, "servers and a size exclude each other: give one");
    return fill_in_rows(map, table, 0, error);
}

int profile_fill(struct cw_profile_map *map, struct profile_table *table, struct cw_error *error)
{
    switch (map->profile->table.fill) {
    case FILL_ONCE: return fill_once(map, table, error);
    case FILL_WEIGHT: return fill_in_rows(map, table, 1, error);
    case FILL_SMOOTH: return fill_smooth(map, table, error);
    case FILL_BUCKETS: return profile_fill_buckets(map, table, error);
    case FILL_SCALED: return fill_scaled(map, table, error);
    case FILL_MAGLEV: return profile_fill_maglev(map, table, error);
    case FILL_SLOTS: return fill_slots(map, table, error);
    case FILL_BOUNDED: return profile_fill_bounded(map, table, error);
    }
    return CW_EINVAL;
}
