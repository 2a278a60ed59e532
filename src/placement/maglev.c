/*
 * maglev: Eisenbud et al., "Maglev: a fast and reliable software network load balancer" (2016,
 * section 3.4): a table of prime size; every node has its own permutation of the places and nodes
 * take their next free place in turns.
 *
 * Law: shares are exact to one turn; the order of configuration does not matter (nodes are sorted);
 * movement is not minimal: a change of one node of n moves about 1.5 times the ideal with 100 nodes
 * on 65537 places, and 7 times with 1000 (the reason for 100 places a node, and for not storing
 * data by it).
 * Cost: a lookup is one multiplication and one load; 4 bytes a place; building O(places log places)
 * on average.
 *
 * Weights: a node gains weight / (greatest weight) of a turn each round and takes a place when it
 * has a whole one. The place of a hash is its high half times the size, so places are ranges.
 */
#include "placement/error.h"
#include "placement/map.h"
#include "placement/memory.h"
#include "placement/pick.h"

#include <stdlib.h>
#include <string.h>

static bool is_prime(uint32_t number)
{
    if (number < 2 || number % 2 == 0)
        return number == 2;
    for (uint32_t i = 3; (uint64_t)i * i <= number; i += 2)
        if (number % i == 0)
            return false;
    return true;
}

/* The least of these primes that has more than 100 places a node. */
static uint32_t default_size(uint32_t node_count)
{
    static const uint32_t sizes[] = {65537, 655373, 5000011, 10000019};
    size_t i = 0;
    while (i + 1 < sizeof sizes / sizeof *sizes && sizes[i] / 100 < node_count)
        i++;
    return sizes[i];
}

static int check_options(struct cw_map *map, struct cw_error *error)
{
    if (map->table_size == 0)
        map->table_size = default_size(map->nodes.count);
    uint32_t size = map->table_size;
    if (size < CW_TABLE_SIZE_MIN || size > CW_TABLE_SIZE_MAX || !is_prime(size))
        return error_set(error, CW_EBAD_TABLE, "a table of %u places: use a prime from %u to %u",
                         size, CW_TABLE_SIZE_MIN, CW_TABLE_SIZE_MAX);
    if (size < map->nodes.count)
        return error_set(error, CW_EBAD_TABLE,
                         "a table of %u places is too small for %u nodes: make a new pool with a "
                         "prime of 100 places a node",
                         size, map->nodes.count);
    return CW_OK;
}

/* A node's walk over the places. */
struct walker {
    uint32_t place, skip;
    uint32_t credit; /* below the greatest weight */
};

static struct walker start_walker(uint64_t id_hash, uint32_t size)
{
    return (struct walker){
        .place = (uint32_t)mix_high(mix_stream(id_hash, 0), size),
        .skip = 1 + (uint32_t)mix_high(mix_stream(id_hash, 1), size - 1),
    };
}

static uint32_t take_place(struct walker *walker, const uint32_t *table, uint32_t size)
{
    uint32_t place = walker->place;
    while (table[place] != CW_NO_NODE) {
        place += walker->skip;
        if (place >= size)
            place -= size;
    }
    walker->place = place;
    return place;
}

static void fill_table(uint32_t *table, uint32_t size, const struct nodes *nodes,
                       struct walker *walkers)
{
    uint32_t greatest = 0, left = size;
    memset(table, 0xff, size * sizeof *table); /* CW_NO_NODE */
    for (uint32_t i = 0; i < nodes->count; i++) {
        walkers[i] = start_walker(node_hash(nodes, i), size);
        if (nodes->list[i].weight > greatest)
            greatest = nodes->list[i].weight;
    }
    while (left)
        for (uint32_t i = 0; i < nodes->count && left; i++) {
            walkers[i].credit += nodes->list[i].weight;
            if (walkers[i].credit < greatest)
                continue;
            walkers[i].credit -= greatest;
            table[take_place(&walkers[i], table, size)] = i;
            left--;
        }
}

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    int status = check_options(map, error);
    if (status != CW_OK)
        return status;
    uint32_t *table = memory_alloc(map->table_size, sizeof *table);
    struct walker *walkers = memory_alloc(map->nodes.count, sizeof *walkers);
    map->state = table;
    if (table && walkers) {
        fill_table(table, map->table_size, &map->nodes, walkers);
        for (uint32_t i = 0; i < map->table_size; i++)
            map->shares[table[i]] += 1;
        for (uint32_t i = 0; i < map->nodes.count; i++)
            map->shares[i] /= map->table_size;
    } else {
        status = error_no_memory(error);
    }
    free(walkers);
    return status;
}

static void release(struct cw_map *map)
{
    free(map->state);
}

static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    return ((const uint32_t *)map->state)[mix_high(hash, map->table_size)];
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    const uint32_t *table = map->state;
    uint64_t size = map->table_size;
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = table[mix_high(hashes[i], size)];
}

/* The places behind the owner's. A node of little weight may have none: it comes last. */
static size_t locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    const uint32_t *table = map->state;
    uint32_t place = (uint32_t)mix_high(hash, map->table_size);
    struct pick pick;
    bool done = false;
    pick_init(&pick, &map->nodes, k, ret_nodes);
    for (uint32_t i = 0; !done && i < map->table_size; i++) {
        done = pick_offer(&pick, table[place]);
        place = place + 1 < map->table_size ? place + 1 : 0;
    }
    for (uint32_t i = 0; !done && i < map->nodes.count; i++)
        done = pick_offer(&pick, i);
    return pick_finish(&pick);
}

/* The first hash of a place: the least h with h * size >= place * 2^64. */
static uint64_t first_of(uint32_t place, uint32_t size)
{
    return (uint64_t)((((unsigned __int128)place << 64) + size - 1) / size);
}

static uint32_t range_at(const struct cw_map *map, uint64_t hash, uint64_t *ret_last)
{
    uint32_t place = (uint32_t)mix_high(hash, map->table_size);
    *ret_last = place + 1 < map->table_size ? first_of(place + 1, map->table_size) - 1 : UINT64_MAX;
    return ((const uint32_t *)map->state)[place];
}

static size_t memory(const struct cw_map *map)
{
    return map->table_size * sizeof(uint32_t);
}

const struct placement placement_maglev = {
    .name = "maglev",
    .capabilities = CW_CAN_WEIGHTS | CW_CAN_REMOVE_ANY | CW_CAN_REPLICAS | CW_CAN_RANGES,
    .build = build,
    .release = release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_n,
    .range_at = range_at,
    .memory = memory,
};
