/*
 * The table engine of profiles: a hash modulo the number of places, and each place's owner.
 */
#ifndef PROFILES_PROFILE_TABLE_H
#define PROFILES_PROFILE_TABLE_H

#include "profiles/profile.h"

#define PROFILE_TABLE_SIZE_MAX (1u << 27)

struct profile_table {
    uint32_t *owners; /* by place: a node's given number, or CW_NO_NODE */
    uint32_t size;
    int has_down; /* some owner is down, and its keys look further */
};

/* Gives the places to the nodes by the rule of the row (profile_fill*.c). */
int profile_fill(struct cw_profile_map *map, struct profile_table *table, struct cw_error *error);
int profile_fill_maglev(const struct cw_profile_map *map, struct profile_table *table,
                        struct cw_error *error);
int profile_fill_buckets(struct cw_profile_map *map, struct profile_table *table,
                         struct cw_error *error);
int profile_fill_bounded(struct cw_profile_map *map, struct profile_table *table,
                         struct cw_error *error);
/* Allocates the places. */
int profile_table_init(struct profile_table *table, double size, struct cw_error *error);

#endif
