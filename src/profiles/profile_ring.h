/*
 * The ring engine of profiles: points of any of the systems, brought to one form that our own
 * ring's index (ring_index.c) looks up in one cache miss.
 *
 * That form: boundaries in ascending order with the owner of the arc that ends there, the last one
 * at the very end. Positions of fewer than 64 bits stand in the high bits; the bits below are zeros
 * in a position and ones in a boundary, so that "not before" in 64 bits means the same in fewer.
 */
#ifndef PROFILES_PROFILE_RING_H
#define PROFILES_PROFILE_RING_H

#include "profiles/profile.h"
#include "placement/ring.h"

#define PROFILE_POINTS_MAX (1u << 26) /* 1 GB while they are sorted */

/* Points while they are made: positions in the low bits, owners by place in map->nodes. */
struct profile_points {
    uint64_t *at;
    uint32_t *owners;
    uint32_t count, capacity;
};

int profile_points_add(struct profile_points *points, uint64_t at, uint32_t owner);
void profile_points_fini(struct profile_points *points);
/* Stable, by position. */
int profile_points_sort(struct profile_points *points, unsigned bits);
/* The points of all nodes in the order of map->nodes, by the rule of the row. */
int profile_points_make(const struct cw_profile_map *map, struct profile_points *points,
                        struct cw_error *error);
/* How many points, or groups of them, a node has. */
uint32_t profile_point_count(const struct cw_profile_map *map, const struct profile_node *node,
                             double weight_sum);
/* "name-k" by the format of the row into ret; returns its length, or 0 if there is no room. */
size_t profile_point_text(const char *format, const char *name, uint32_t k, char *ret, size_t room);

/* Systems with points of their own making. */
int profile_points_crc_chain(const struct cw_profile_map *map, struct profile_points *points);
int profile_points_varnish_hash(const struct cw_profile_map *map, struct profile_points *points);
int profile_points_haproxy(const struct cw_profile_map *map, struct profile_points *points,
                           struct cw_error *error);
int profile_points_envoy(const struct cw_profile_map *map, struct profile_points *points,
                         struct cw_error *error);

/* Sorted points to the boundaries of a ring that can be looked up; numbers of nodes are the given
 * ones from here on. */
int profile_ring_close(const struct cw_profile_map *map, struct profile_points *points,
                       struct ring *ring);
/* Fills map->shares. */
int profile_ring_shares(struct cw_profile_map *map, const struct ring *ring);
void profile_ring_fini(struct ring *ring);

#endif
