/*
 * Maps of profiles for tests.
 */
#ifndef TESTS_PLACEMENT_PROFILE_MAPS_H
#define TESTS_PLACEMENT_PROFILE_MAPS_H

#include "placement/fleet.h"

#include <clockwise/profile.h>

enum { KEYS = 3000 };

/* The third has a name of its own, and ids go against the order. */
static const struct cw_node three[] = {
    {.id = "c", .address = "10.0.0.1:11211", .weight = 1},
    {.id = "b", .address = "10.0.0.2:11211", .weight = 2},
    {.id = "a", .address = "10.0.0.3:11211", .weight = 1},
};
static const struct cw_profile_node three_servers[] = {
    {.weight = 1}, {.weight = 2}, {.weight = 1, .name = "third"}};

static inline int try_map(const char *profile, const struct cw_node *nodes, size_t count,
                          const struct cw_profile_options *options, struct cw_map **ret_map,
                          struct cw_error *error)
{
    struct cw_map_options map_options = {.placement = CW_PLACEMENT_PROFILE,
                                         .nodes = nodes,
                                         .node_count = count,
                                         .profile = cw_profile_find(profile),
                                         .profile_options = options};
    return cw_map_create(&map_options, ret_map, error);
}

static inline struct cw_map *make(const char *profile, const struct cw_node *nodes, size_t count,
                                  const struct cw_profile_options *options)
{
    struct cw_map *map = NULL;
    struct cw_error error = {0};
    if (try_map(profile, nodes, count, options, &map, &error) != CW_OK)
        fail_msg("%s: %s", profile, error.message);
    return map;
}

static inline struct cw_map *make_three(const char *profile)
{
    struct cw_profile_options options = {.nodes = three_servers, .node_count = 3};
    return make(profile, three, 3, &options);
}

static inline struct cw_map *change(const struct cw_map *from, const struct cw_node *nodes,
                                    size_t count)
{
    struct cw_map *to = NULL;
    struct cw_error error = {0};
    if (cw_map_change(from, nodes, count, &to, &error) != CW_OK)
        fail_msg("%s", error.message);
    return to;
}

/* How many of some keys have owners of other ids. */
static inline size_t count_moved(const struct cw_map *one, const struct cw_map *other)
{
    size_t moved = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        size_t len = (size_t)snprintf(key, sizeof key, "key%u", i);
        const struct cw_node *a = cw_map_node(one, cw_locate_key(one, key, len));
        const struct cw_node *b = cw_map_node(other, cw_locate_key(other, key, len));
        moved += strcmp(a->id, b->id) != 0;
    }
    return moved;
}

static inline const char *id_of(const struct cw_map *map, const char *key)
{
    const struct cw_node *node = cw_map_node(map, cw_locate_key(map, key, strlen(key)));
    return node ? node->id : "nowhere";
}

static const char slots[] = "i1 10.0.0.2:11211@1 master - 0 0 1 connected 0-99 200-16383\n"
                            "i2 10.0.0.1:11211@1 master - 0 0 1 connected 100-150\n";

static inline struct cw_profile_options with_slots(void)
{
    return (struct cw_profile_options){.topology = slots, .topology_len = sizeof slots - 1};
}

#endif
