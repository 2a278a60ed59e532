/*
 * What a placement is to a map: a table of functions. A new placement is one file, one row in
 * placement.c and one name in the public header.
 */
#ifndef PLACEMENT_PLACEMENT_H
#define PLACEMENT_PLACEMENT_H

#include <clockwise/clockwise.h>

struct cw_profile;
struct cw_profile_node;
struct cw_profile_options;

/* What a placement that keeps state may start from; all may be NULL. */
struct history {
    const struct cw_map *from;   /* the map that this one follows */
    const uint32_t *slot_owners; /* an assignment read from a text, by slot: places in `given` */
    const uint32_t *buckets;     /* numbers read from a text, by place in `given` */
    const struct cw_node *given; /* the nodes as they were given */
    /* Profiles: what a new map is made of, or the servers of one that follows another, by place in
     * `given`. */
    const struct cw_profile *profile;
    const struct cw_profile_options *profile_options;
    const struct cw_profile_node *servers;
};

struct placement {
    const char *name;
    unsigned capabilities; /* enum cw_capability */
    /* Checks its own options, builds map->state and fills map->shares; the nodes are there. On
     * failure release() is called on what there is. */
    int (*build)(struct cw_map *map, const struct history *history, struct cw_error *error);
    void (*release)(struct cw_map *map);
    uint32_t (*locate)(const struct cw_map *map, uint64_t hash);
    void (*locate_batch)(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes);
    /* k is 1 .. min(nodes, CW_REPLICA_COUNT_MAX); writes k numbers. */
    size_t (*locate_n)(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes);
    /* The owner of a hash and the last hash of an arc that it owns; NULL: there are no ranges. */
    uint32_t (*range_at)(const struct cw_map *map, uint64_t hash, uint64_t *ret_last);
    /* The one range of a node; NULL: it need not be one. */
    void (*node_range)(const struct cw_map *map, uint32_t node, uint64_t *ret_first,
                       uint64_t *ret_last);
    /* The number of a node where nodes have some that the text must keep; NULL elsewhere. */
    uint32_t (*bucket_of)(const struct cw_map *map, uint32_t node);
    size_t (*memory)(const struct cw_map *map);
    /* Of placements that place keys and not their hashes; NULL elsewhere, all or none. */
    uint32_t (*locate_key)(const struct cw_map *map, const void *key, size_t key_len);
    void (*locate_keys)(const struct cw_map *map, const void *const *keys, const size_t *key_lens,
                        size_t count, uint32_t *ret_nodes);
    size_t (*locate_key_n)(const struct cw_map *map, const void *key, size_t key_len, size_t k,
                           uint32_t *ret_nodes);
};

/* NULL for a number that is none. */
const struct placement *placement_get(enum cw_placement placement);

extern const struct placement placement_slots;
extern const struct placement placement_ring;
extern const struct placement placement_rendezvous;
extern const struct placement placement_jump;
extern const struct placement placement_jumpback;
extern const struct placement placement_maglev;
extern const struct placement placement_round;
extern const struct placement placement_modulo;
extern const struct placement placement_profile;

#endif
