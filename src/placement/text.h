/*
 * What has been read of a map's text before it is a map.
 */
#ifndef PLACEMENT_TEXT_H
#define PLACEMENT_TEXT_H

#include "placement/json.h"

#include <clockwise/profile.h>

struct raw_node {
    size_t at;
    struct json_string id, address, zone, slots;
    struct json_string server, name, server_weight; /* profiles */
    uint64_t weight, bucket;
    uint64_t place, number, down; /* profiles */
    size_t bucket_at;
    uint32_t seen;
};

struct raw_map {
    struct raw_node *nodes;
    size_t node_count, node_room;
    uint64_t generation, slot_count, tokens_per_weight, table_size;
    size_t slot_count_at, placement_at, nodes_at;
    enum cw_placement placement;
    const struct cw_profile *profile;
    struct cw_profile_options settings;
    struct cw_profile_node *servers;
    uint32_t seen;
};

/* The owner of every slot, as a place in raw->nodes. Every slot must have one. */
int text_read_slots(const struct json *json, const struct raw_map *raw, uint32_t *owners);
/* The bucket of every node; no two may have the same. */
int text_read_buckets(const struct json *json, const struct raw_map *raw, uint32_t *buckets);

/* Readers of "profile" and "settings"; the target is a raw map (text_profile.c). */
int text_read_profile(struct json *json, void *target);
int text_read_settings(struct json *json, void *target);
/* Brings the nodes of a profile into their places and fills raw->servers. */
int text_order_servers(struct json *json, struct raw_map *raw);

/* Any bytes as plain ones, at most three for one; returns how many (text_escape.c). */
size_t text_escape(const char *text, size_t len, char *ret_text);
/* Back, into json->decoded. */
int text_unescape(struct json *json, struct json_string *string);

#endif
