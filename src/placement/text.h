/*
 * What has been read of a map's text before it is a map.
 */
#ifndef PLACEMENT_TEXT_H
#define PLACEMENT_TEXT_H

#include "placement/json.h"

struct raw_node {
    size_t at;
    struct json_string id, address, zone, slots;
    uint64_t weight, bucket;
    size_t bucket_at;
    uint32_t seen;
};

struct raw_map {
    struct raw_node *nodes;
    size_t node_count, node_room;
    uint64_t generation, slot_count, tokens_per_weight, table_size;
    size_t slot_count_at, placement_at, nodes_at;
    enum cw_placement placement;
    uint32_t seen;
};

/* The owner of every slot, as a place in raw->nodes. Every slot must have one. */
int text_read_slots(const struct json *json, const struct raw_map *raw, uint32_t *owners);
/* The bucket of every node; no two may have the same. */
int text_read_buckets(const struct json *json, const struct raw_map *raw, uint32_t *buckets);

#endif
