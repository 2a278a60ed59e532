/*
 * Random fleets from a seed, and what the tests of placements share. Failures print the seed: set
 * CW_SEED to run a property on that seed alone.
 */
#ifndef TESTS_PLACEMENT_FLEET_H
#define TESTS_PLACEMENT_FLEET_H

#include "base/random.h"

#include <clockwise/clockwise.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FLEET_NODES_MAX = 1200 };

struct fleet {
    struct cw_node nodes[FLEET_NODES_MAX];
    char ids[FLEET_NODES_MAX][32], zones[FLEET_NODES_MAX][16];
    size_t count;
};

/* Fails the test with a sentence when the condition does not hold. */
#define check(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg(__VA_ARGS__);                                                                 \
    } while (0)

/* Runs body with `seed` from 1 to count, or CW_SEED alone. */
#define for_each_seed(seed, count)                                                                 \
    for (uint64_t seed = fleet_first_seed(), seed##_end = fleet_end_seed(count);                   \
         seed < seed##_end; seed++)

static inline uint64_t fleet_first_seed(void)
{
    const char *seed = getenv("CW_SEED");
    return seed ? strtoull(seed, NULL, 10) : 1;
}

static inline uint64_t fleet_end_seed(uint64_t count)
{
    return getenv("CW_SEED") ? fleet_first_seed() + 1 : count + 1;
}

/* Appends a node whose id is made from the number; zone_count 0: no zones. */
static inline void fleet_add(struct fleet *fleet, uint64_t number, uint32_t weight,
                             unsigned zone_count)
{
    size_t at = fleet->count++;
    snprintf(fleet->ids[at], sizeof fleet->ids[at], "node-%llu", (unsigned long long)number);
    fleet->zones[at][0] = '\0';
    if (zone_count)
        snprintf(fleet->zones[at], sizeof fleet->zones[at], "z%llu",
                 (unsigned long long)(number % zone_count));
    fleet->nodes[at] = (struct cw_node){
        .id = fleet->ids[at], .zone = fleet->zones[at], .weight = weight};
}

/* count nodes with ids from the seed, weights 1 .. weight_max. */
static inline struct fleet *fleet_create(uint64_t seed, size_t count, uint32_t weight_max,
                                         unsigned zone_count)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    struct random random = {seed};
    if (!fleet)
        abort();
    for (size_t i = 0; i < count; i++)
        fleet_add(fleet, random_next(&random) >> 8, 1 + (uint32_t)random_below(&random, weight_max),
                  zone_count);
    return fleet;
}

/* A copy whose strings are its own. */
static inline struct fleet *fleet_copy(const struct fleet *from)
{
    struct fleet *fleet = malloc(sizeof *fleet);
    if (!fleet)
        abort();
    memcpy(fleet, from, sizeof *fleet);
    for (size_t i = 0; i < fleet->count; i++) {
        fleet->nodes[i].id = fleet->ids[i];
        fleet->nodes[i].zone = fleet->zones[i];
    }
    return fleet;
}

static inline void fleet_remove(struct fleet *fleet, size_t at)
{
    size_t last = --fleet->count;
    memmove(fleet->ids[at], fleet->ids[last], sizeof fleet->ids[at]);
    memmove(fleet->zones[at], fleet->zones[last], sizeof fleet->zones[at]);
    fleet->nodes[at].weight = fleet->nodes[last].weight;
}

static inline void fleet_shuffle(struct fleet *fleet, uint64_t seed)
{
    struct random random = {seed};
    for (size_t i = fleet->count; i > 1; i--) {
        size_t j = (size_t)random_below(&random, i);
        struct cw_node node = fleet->nodes[i - 1];
        fleet->nodes[i - 1] = fleet->nodes[j];
        fleet->nodes[j] = node;
    }
}

static inline bool fleet_can(enum cw_placement placement, unsigned capability)
{
    return cw_placement_capabilities(placement) & capability;
}

/* Runs body for every placement. */
/* All that place hashes. */
#define for_each_placement(p)                                                                      \
    for (enum cw_placement p = CW_PLACEMENT_SLOTS; p < CW_PLACEMENT_PROFILE;                       \
         p = (enum cw_placement)(p + 1))

static inline struct cw_map *fleet_map_of(const struct fleet *fleet, struct cw_map_options options)
{
    struct cw_map *map = NULL;
    struct cw_error error;
    options.nodes = fleet->nodes;
    options.node_count = fleet->count;
    if (cw_map_create(&options, &map, &error) != CW_OK)
        fail_msg("%s", error.message);
    return map;
}

static inline struct cw_map *fleet_map(const struct fleet *fleet, enum cw_placement placement)
{
    return fleet_map_of(fleet, (struct cw_map_options){.placement = placement});
}

static inline struct cw_map *fleet_change(const struct cw_map *from, const struct fleet *fleet)
{
    struct cw_map *map = NULL;
    struct cw_error error;
    if (cw_map_change(from, fleet->nodes, fleet->count, &map, &error) != CW_OK)
        fail_msg("%s", error.message);
    return map;
}

static inline const char *fleet_owner(const struct cw_map *map, uint64_t hash)
{
    return cw_map_node(map, cw_locate(map, hash))->id;
}

/* The text of a map; the caller frees it. */
static inline char *fleet_text(const struct cw_map *map)
{
    char *text = NULL;
    size_t len = 0;
    assert_int_equal(cw_map_to_text(map, &text, &len), CW_OK);
    assert_int_equal(strlen(text), len);
    return text;
}

#endif
