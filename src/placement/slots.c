/*
 * slots: P equal arcs of the hash space, each owned by a node; the table of owners is the map.
 *
 * Where it comes from: fixed slots as in Redis Cluster (16384) and Dynamo's third strategy
 * (DeCandia et al. 2007, section 6.2); the first table is filled by weighted rendezvous (rank.h)
 * under exact quotas (slots_fill.c), later ones by a planner that starts from the table before
 * (slots_follow.c).
 *
 * Law: a node owns its share of the slots rounded down or up, always. A change moves exactly the
 * slots that the new quotas demand, only from nodes that must give to nodes that must get.
 * Cost: a lookup is one load; memory 4 bytes a slot; the first fill O(P * nodes), a change
 * O(P + moved * receivers). P is fixed for the life of a pool: another P is another ranking.
 *
 * The slot of a hash is its top log2(P) bits, so a slot is also one contiguous range.
 */
#include "placement/slots.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>

int slots_count_is_valid(uint64_t count)
{
    return count >= CW_SLOT_COUNT_MIN && count <= CW_SLOT_COUNT_MAX && (count & (count - 1)) == 0;
}

static int check_options(struct cw_map *map, struct cw_error *error)
{
    uint32_t count = map->slot_count ? map->slot_count : CW_SLOT_COUNT;
    if (!slots_count_is_valid(count))
        return error_set(error, CW_EBAD_SLOTS, "%u slots: use a power of two from %u to %u", count,
                         CW_SLOT_COUNT_MIN, CW_SLOT_COUNT_MAX);
    map->slot_count = count;
    map->table_shift = 64 - (unsigned)__builtin_ctz(count);
    return CW_OK;
}

/* An assignment that was read and checked. */
static int adopt(const struct cw_map *map, const struct history *history, uint32_t *owners)
{
    uint32_t *numbers = memory_alloc(map->nodes.count, sizeof *numbers);
    if (!numbers)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < map->nodes.count; i++)
        numbers[i] = nodes_find(&map->nodes, history->given[i].id);
    for (uint32_t slot = 0; slot < map->slot_count; slot++)
        owners[slot] = numbers[history->slot_owners[slot]];
    free(numbers);
    return CW_OK;
}

static void count_shares(struct cw_map *map)
{
    /* Sums of at most 2^24 equal powers of two: exact in a double. */
    for (uint32_t slot = 0; slot < map->slot_count; slot++)
        map->shares[map->table[slot]] += 1.0 / map->slot_count;
}

static int slots_build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    int status = check_options(map, error);
    if (status != CW_OK)
        return status;
    uint32_t *owners = memory_alloc(map->slot_count, sizeof *owners);
    if (!owners)
        return error_no_memory(error);
    map->state = owners;
    map->table = owners;
    if (history->slot_owners)
        status = adopt(map, history, owners);
    else if (history->from)
        status = slots_follow(history->from, &map->nodes, owners);
    else
        status = slots_fill(&map->nodes, map->slot_count, owners);
    if (status != CW_OK)
        return error_no_memory(error);
    count_shares(map);
    return CW_OK;
}

static void slots_release(struct cw_map *map)
{
    free(map->state);
}

static uint32_t slots_locate(const struct cw_map *map, uint64_t hash)
{
    return map->table[hash >> map->table_shift];
}

static void slots_locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                               uint32_t *ret_nodes)
{
    const uint32_t *table = map->table;
    unsigned shift = map->table_shift;
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = table[hashes[i] >> shift];
}

static size_t slots_locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    uint32_t slot = (uint32_t)(hash >> map->table_shift);
    return rank_top(map, slot_key(slot), map->table[slot], k, ret_nodes);
}

static uint32_t slots_range_at(const struct cw_map *map, uint64_t hash, uint64_t *ret_last)
{
    *ret_last = hash | (((uint64_t)1 << map->table_shift) - 1);
    return map->table[hash >> map->table_shift];
}

static size_t slots_memory(const struct cw_map *map)
{
    return map->slot_count * sizeof(uint32_t);
}

const struct placement placement_slots = {
    .name = "slots",
    .capabilities = CW_CAN_WEIGHTS | CW_CAN_REMOVE_ANY | CW_CAN_REPLICAS | CW_CAN_RANGES,
    .build = slots_build,
    .release = slots_release,
    .locate = slots_locate,
    .locate_batch = slots_locate_batch,
    .locate_n = slots_locate_n,
    .range_at = slots_range_at,
    .memory = slots_memory,
};
