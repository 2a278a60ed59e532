/*
 * Tables that are filled from more than a list of weights: Envoy's maglev, pecl memcache's buckets,
 * partitions placed with bounded loads.
 */
#include "profiles/profile_table.h"

#include "placement/error.h"
#include "placement/memory.h"
#include "profiles/profile_ring.h"

#include <stdlib.h>
#include <string.h>

/* ---- maglev (Eisenbud et al. 2016) as Envoy fills it ----------------------------------------- */

struct permutation {
    uint64_t offset, skip, next;
    double weight, target;
};

static int is_prime(uint32_t number)
{
    if (number < 2)
        return 0;
    for (uint32_t i = 2; (uint64_t)i * i <= number; i++)
        if (number % i == 0)
            return 0;
    return 1;
}

static double start_permutations(const struct cw_profile_map *map, uint32_t size,
                                 struct permutation *permutations)
{
    double sum = profile_weight_sum(map), max = 0;
    for (uint32_t i = 0; i < map->node_count; i++) {
        const char *name = map->nodes[i].name;
        struct permutation *at = &permutations[i];
        at->offset = legacy_xxh64(name, strlen(name), 0) % size;
        at->skip = legacy_xxh64(name, strlen(name), 1) % (size - 1) + 1;
        at->weight = map->nodes[i].weight / sum;
        max = at->weight > max ? at->weight : max;
    }
    return max;
}

static uint32_t take_place(struct permutation *at, struct profile_table *table)
{
    for (;;) {
        uint32_t place = (uint32_t)((at->offset + at->skip * at->next++) % table->size);
        if (table->owners[place] == CW_NO_NODE)
            return place;
    }
}

/* Servers take turns; a lighter one sits out the rounds in which it is ahead of its weight. */
static void take_turns(const struct cw_profile_map *map, struct permutation *permutations,
                       double max, struct profile_table *table)
{
    uint32_t placed = 0;
    for (uint64_t round = 1; placed < table->size; round++)
        for (uint32_t i = 0; i < map->node_count && placed < table->size; i++) {
            struct permutation *at = &permutations[i];
            volatile double due = (double)round * at->weight; /* not fused: see profile_count.c */
            if (due < at->target)
                continue;
            at->target += max;
            table->owners[take_place(at, table)] = map->nodes[i].number;
            placed++;
        }
}

int profile_fill_maglev(const struct cw_profile_map *map, struct profile_table *table,
                        struct cw_error *error)
{
    uint32_t size = map->options.size;
    if (!is_prime(size) || size > 5000011)
        return error_set(error, CW_EINVAL, "a maglev table of %u places: use a prime up to 5000011",
                         size);
    struct permutation *permutations = memory_alloc(map->node_count, sizeof *permutations);
    int status = permutations ? profile_table_init(table, size, error) : error_no_memory(error);
    if (status == CW_OK) {
        for (uint32_t i = 0; i < size; i++)
            table->owners[i] = CW_NO_NODE;
        take_turns(map, permutations, start_permutations(map, size, permutations), table);
    }
    free(permutations);
    return status;
}

/* ---- a ring, looked up for each place -------------------------------------------------------- */

static int make_ring(const struct cw_profile_map *map, struct ring *ring, struct cw_error *error)
{
    struct profile_points points = {0};
    int status = profile_points_make(map, &points, error);
    if (status == CW_OK && (points.count == 0 || profile_ring_close(map, &points, ring) != CW_OK))
        status = error_no_memory(error);
    profile_points_fini(&points);
    return status;
}

/* pecl memcache: bucket j is what stands at j * (2^32 - 1) / 1024, rounded down first. */
int profile_fill_buckets(struct cw_profile_map *map, struct profile_table *table,
                         struct cw_error *error)
{
    struct ring ring = {0};
    map->bits = 32;
    map->position_max = UINT32_MAX;
    int status = make_ring(map, &ring, error);
    if (status == CW_OK)
        status = profile_table_init(table, map->options.size, error);
    for (uint32_t i = 0; status == CW_OK && i < table->size; i++)
        table->owners[i] = ring_locate(&ring, (uint64_t)(i * (UINT32_MAX / table->size)) << 32);
    profile_ring_fini(&ring);
    return status;
}

/* ---- buraksezer/consistent ------------------------------------------------------------------- */

static uint64_t hash_number(const struct cw_profile_map *map, uint64_t number)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    return map->hash(bytes, sizeof bytes, map->seed);
}

/* What a member may take: the average in whole partitions, times the load factor, rounded up. */
static uint32_t load_limit(const struct cw_profile_map *map)
{
    double limit = (double)(map->options.size / map->node_count) * map->options.load;
    uint32_t whole = (uint32_t)limit;
    return whole + (whole < limit);
}

static int place_partitions(const struct cw_profile_map *map, const struct ring *ring,
                            uint32_t *loads, struct profile_table *table, struct cw_error *error)
{
    uint32_t limit = load_limit(map);
    for (uint32_t i = 0; i < table->size; i++) {
        uint32_t at = ring_search(ring, hash_number(map, i)), walked = 0;
        while (loads[ring->owners[at]] + 1 > limit) {
            if (++walked > ring->token_count)
                return error_set(error, CW_EINVAL,
                                 "there is not enough room for %u partitions: "
                                 "raise the load factor %g",
                                 table->size, map->options.load);
            at = at + 1 < ring->token_count ? at + 1 : 0;
        }
        loads[ring->owners[at]]++;
        table->owners[i] = ring->owners[at];
    }
    return CW_OK;
}

int profile_fill_bounded(struct cw_profile_map *map, struct profile_table *table,
                         struct cw_error *error)
{
    struct ring ring = {0};
    uint32_t *loads = memory_alloc(map->node_count, sizeof *loads);
    map->bits = 64;
    map->position_max = UINT64_MAX;
    if (map->options.load == 0)
        map->options.load = 1.25;
    int status = loads ? make_ring(map, &ring, error) : error_no_memory(error);
    if (status == CW_OK)
        status = profile_table_init(table, map->options.size, error);
    if (status == CW_OK)
        status = place_partitions(map, &ring, loads, table, error);
    profile_ring_fini(&ring);
    free(loads);
    return status;
}
