/*
 * Reading a map from its text (text_write.c has the form). The reader takes any spacing and any
 * order of keys and nodes, and nothing else that the writer would not write: each thing that is
 * missing, unknown, repeated or out of range is an error with its line and column.
 */
#include "placement/error.h"
#include "placement/memory.h"
#include "placement/numbered.h"
#include "placement/slots.h"
#include "placement/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int read_version(struct json *json, void *target)
{
    uint64_t version;
    return json_read_number(json, 1, 1, &version);
}

static int read_generation(struct json *json, void *target)
{
    return json_read_number(json, 1, UINT64_MAX, &((struct raw_map *)target)->generation);
}

static int read_placement(struct json *json, void *target)
{
    struct raw_map *raw = target;
    struct json_string name;
    int status = json_read_string(json, &name);
    if (status != CW_OK)
        return status;
    raw->placement_at = name.at;
    if (cw_placement_find(name.text, &raw->placement) != CW_OK)
        return json_fail(json, name.at, CW_EBAD_TEXT, "there is no placement '%.64s'", name.text);
    return CW_OK;
}

static int read_slot_count(struct json *json, void *target)
{
    struct raw_map *raw = target;
    json_skip_spaces(json);
    raw->slot_count_at = json->at;
    int status = json_read_number(json, 0, UINT64_MAX, &raw->slot_count);
    if (status == CW_OK && !slots_count_is_valid(raw->slot_count))
        return json_fail(json, raw->slot_count_at, CW_EBAD_SLOTS,
                         "%llu slots: use a power of two from %u to %u",
                         (unsigned long long)raw->slot_count, CW_SLOT_COUNT_MIN, CW_SLOT_COUNT_MAX);
    return status;
}

static int read_tokens(struct json *json, void *target)
{
    return json_read_number(json, 1, 65536, &((struct raw_map *)target)->tokens_per_weight);
}

static int read_table_size(struct json *json, void *target)
{
    return json_read_number(json, CW_TABLE_SIZE_MIN, CW_TABLE_SIZE_MAX,
                            &((struct raw_map *)target)->table_size);
}

static int read_id(struct json *json, void *target)
{
    return json_read_string(json, &((struct raw_node *)target)->id);
}

static int read_address(struct json *json, void *target)
{
    return json_read_string(json, &((struct raw_node *)target)->address);
}

static int read_zone(struct json *json, void *target)
{
    return json_read_string(json, &((struct raw_node *)target)->zone);
}

static int read_weight(struct json *json, void *target)
{
    return json_read_number(json, 0, UINT32_MAX, &((struct raw_node *)target)->weight);
}

static int read_slots(struct json *json, void *target)
{
    return json_read_string(json, &((struct raw_node *)target)->slots);
}

static int read_bucket(struct json *json, void *target)
{
    struct raw_node *node = target;
    json_skip_spaces(json);
    node->bucket_at = json->at;
    return json_read_number(json, 0, NUMBERED_BUCKET_COUNT_MAX - 1, &node->bucket);
}

static int read_escaped(struct json *json, struct json_string *ret_string)
{
    int status = json_read_string(json, ret_string);
    return status == CW_OK ? text_unescape(json, ret_string) : status;
}

static int read_server(struct json *json, void *target)
{
    return read_escaped(json, &((struct raw_node *)target)->server);
}

static int read_name(struct json *json, void *target)
{
    return read_escaped(json, &((struct raw_node *)target)->name);
}

static int read_server_weight(struct json *json, void *target)
{
    return json_read_string(json, &((struct raw_node *)target)->server_weight);
}

static int read_place(struct json *json, void *target)
{
    return json_read_number(json, 0, CW_NODE_COUNT_MAX, &((struct raw_node *)target)->place);
}

static int read_number(struct json *json, void *target)
{
    return json_read_number(json, 1, UINT32_MAX, &((struct raw_node *)target)->number);
}

static int read_down(struct json *json, void *target)
{
    return json_read_number(json, 1, 1, &((struct raw_node *)target)->down);
}

enum {
    NODE_ID,
    NODE_ADDRESS,
    NODE_ZONE,
    NODE_WEIGHT,
    NODE_SLOTS,
    NODE_BUCKET,
    NODE_PLACE,
    NODE_SERVER,
    NODE_NAME,
    NODE_NUMBER,
    NODE_DOWN,
    NODE_SERVER_WEIGHT,
    NODE_KEY_COUNT
};
static const struct json_key node_keys[] = {
    [NODE_ID] = {"id", read_id},
    [NODE_ADDRESS] = {"address", read_address},
    [NODE_ZONE] = {"zone", read_zone},
    [NODE_WEIGHT] = {"weight", read_weight},
    [NODE_SLOTS] = {"slots", read_slots},
    [NODE_BUCKET] = {"bucket", read_bucket},
    [NODE_PLACE] = {"place", read_place},
    [NODE_SERVER] = {"server", read_server},
    [NODE_NAME] = {"name", read_name},
    [NODE_NUMBER] = {"number", read_number},
    [NODE_DOWN] = {"down", read_down},
    [NODE_SERVER_WEIGHT] = {"server_weight", read_server_weight},
};

static int need_key(const struct json *json, size_t at, uint32_t seen, const struct json_key *keys,
                    int key)
{
    if (seen & 1u << key)
        return CW_OK;
    return json_fail(json, at, CW_EBAD_TEXT, "'%s' is missing", keys[key].name);
}

static int add_node(struct raw_map *raw, struct raw_node **ret_node)
{
    if (raw->node_count == raw->node_room) {
        size_t room = raw->node_room ? raw->node_room * 2 : 16;
        struct raw_node *nodes = memory_resize(raw->nodes, room * sizeof *nodes);
        if (!nodes)
            return CW_ENOMEM;
        raw->nodes = nodes;
        raw->node_room = room;
    }
    *ret_node = &raw->nodes[raw->node_count++];
    **ret_node = (struct raw_node){0};
    return CW_OK;
}

static int read_node(struct json *json, struct raw_map *raw)
{
    struct raw_node *node;
    json_skip_spaces(json); /* so that the offset is the brace's */
    if (raw->node_count == CW_NODE_COUNT_MAX)
        return json_fail(json, json->at, CW_ETOO_MANY_NODES, "a map has at most %u nodes",
                         CW_NODE_COUNT_MAX);
    if (add_node(raw, &node) != CW_OK)
        return error_no_memory(json->error);
    node->at = json->at;
    int status = json_read_object(json, node_keys, NODE_KEY_COUNT, node, &node->seen);
    if (status == CW_OK)
        status = need_key(json, node->at, node->seen, node_keys, NODE_ID);
    if (status == CW_OK)
        status = need_key(json, node->at, node->seen, node_keys, NODE_WEIGHT);
    return status;
}

static int read_nodes(struct json *json, void *target)
{
    struct raw_map *raw = target;
    int status = json_expect(json, '[');
    raw->nodes_at = json->at - 1;
    if (status == CW_OK && json_accept(json, ']'))
        return CW_OK;
    while (status == CW_OK) {
        status = read_node(json, raw);
        if (status == CW_OK && !json_accept(json, ','))
            return json_expect(json, ']');
    }
    return status;
}

enum {
    MAP_VERSION,
    MAP_GENERATION,
    MAP_PLACEMENT,
    MAP_SLOTS,
    MAP_TOKENS,
    MAP_TABLE,
    MAP_PROFILE,
    MAP_SETTINGS,
    MAP_NODES,
    MAP_KEY_COUNT
};
static const struct json_key map_keys[] = {
    [MAP_VERSION] = {"clockwise_map", read_version},
    [MAP_GENERATION] = {"generation", read_generation},
    [MAP_PLACEMENT] = {"placement", read_placement},
    [MAP_SLOTS] = {"slots", read_slot_count},
    [MAP_TOKENS] = {"tokens_per_weight", read_tokens},
    [MAP_TABLE] = {"table_size", read_table_size},
    [MAP_PROFILE] = {"profile", text_read_profile},
    [MAP_SETTINGS] = {"settings", text_read_settings},
    [MAP_NODES] = {"nodes", read_nodes},
};

/* A key that belongs to one placement: it must be there with that one and with no other. */
static int check_option_key(const struct json *json, const struct raw_map *raw, int key,
                            enum cw_placement placement)
{
    if (raw->placement == placement)
        return need_key(json, 0, raw->seen, map_keys, key);
    if (raw->seen & 1u << key)
        return json_fail(json, raw->placement_at, CW_EBAD_KEY,
                         "'%s' belongs to placement %s, and this is %s", map_keys[key].name,
                         cw_placement_name(placement), cw_placement_name(raw->placement));
    return CW_OK;
}

/* Likewise for a key of every node. */
static int check_node_key(const struct json *json, const struct raw_map *raw, int key, bool wanted)
{
    for (size_t i = 0; i < raw->node_count; i++) {
        const struct raw_node *node = &raw->nodes[i];
        bool seen = node->seen & 1u << key;
        if (wanted && !seen)
            return json_fail(json, node->at, CW_EBAD_TEXT, "'%s' is missing", node_keys[key].name);
        if (!wanted && seen)
            return json_fail(json, node->at, CW_EBAD_KEY, "placement %s does not know '%s'",
                             cw_placement_name(raw->placement), node_keys[key].name);
    }
    return CW_OK;
}

static int check_node_keys(const struct json *json, const struct raw_map *raw)
{
    bool numbered = placement_get(raw->placement)->bucket_of != NULL;
    int status = check_node_key(json, raw, NODE_SLOTS, raw->placement == CW_PLACEMENT_SLOTS);
    if (status == CW_OK)
        status = check_node_key(json, raw, NODE_BUCKET, numbered);
    bool is_profile = raw->placement == CW_PLACEMENT_PROFILE;
    if (status == CW_OK)
        status = check_node_key(json, raw, NODE_PLACE, is_profile);
    for (int key = NODE_SERVER; status == CW_OK && !is_profile && key < NODE_KEY_COUNT; key++)
        status = check_node_key(json, raw, key, false);
    return status;
}

static int read_map(struct json *json, struct raw_map *raw)
{
    static const int needed[] = {MAP_VERSION, MAP_GENERATION, MAP_PLACEMENT, MAP_NODES};
    int status = json_read_object(json, map_keys, MAP_KEY_COUNT, raw, &raw->seen);
    if (status == CW_OK)
        status = json_expect_end(json);
    for (size_t i = 0; status == CW_OK && i < sizeof needed / sizeof *needed; i++)
        status = need_key(json, 0, raw->seen, map_keys, needed[i]);
    if (status == CW_OK)
        status = check_option_key(json, raw, MAP_SLOTS, CW_PLACEMENT_SLOTS);
    if (status == CW_OK)
        status = check_option_key(json, raw, MAP_TOKENS, CW_PLACEMENT_RING);
    if (status == CW_OK)
        status = check_option_key(json, raw, MAP_TABLE, CW_PLACEMENT_MAGLEV);
    if (status == CW_OK)
        status = check_option_key(json, raw, MAP_PROFILE, CW_PLACEMENT_PROFILE);
    if (status == CW_OK)
        status = check_option_key(json, raw, MAP_SETTINGS, CW_PLACEMENT_PROFILE);
    if (status == CW_OK)
        status = check_node_keys(json, raw);
    return status;
}

/* What the text says of owners: exactly one of the two is used by a placement that has state. */
struct owners {
    uint32_t *slots, *buckets;
};

static int build(const struct json *json, const struct raw_map *raw, struct cw_node *nodes,
                 const struct owners *owners, struct cw_map **ret_map)
{
    size_t bad;
    struct history history = {
        .slot_owners = owners->slots, .buckets = owners->buckets, .given = nodes};
    struct cw_map_options options = {
        .placement = raw->placement,
        .nodes = nodes,
        .node_count = raw->node_count,
        .generation = raw->generation,
        .slot_count = (uint32_t)raw->slot_count,
        .tokens_per_weight = (uint32_t)raw->tokens_per_weight,
        .table_size = (uint32_t)raw->table_size,
        .profile = raw->profile,
        .profile_options = raw->profile ? &raw->settings : NULL,
    };
    for (size_t i = 0; i < raw->node_count; i++)
        nodes[i] = (struct cw_node){raw->nodes[i].id.text, raw->nodes[i].address.text,
                                    raw->nodes[i].zone.text, (uint32_t)raw->nodes[i].weight};
    struct cw_error error;
    int status = map_build(&options, &history, ret_map, &bad, &error);
    if (status == CW_OK || status == CW_ENOMEM)
        return status == CW_OK ? CW_OK : error_no_memory(json->error);
    return json_fail(json, bad < raw->node_count ? raw->nodes[bad].at : raw->nodes_at, status, "%s",
                     error.message);
}

static int read_owners(struct json *json, struct raw_map *raw, struct owners *owners)
{
    if (raw->node_count == 0)
        return CW_OK; /* refused later, as a map without nodes */
    if (raw->placement == CW_PLACEMENT_PROFILE)
        return text_order_servers(json, raw);
    if (raw->placement == CW_PLACEMENT_SLOTS) {
        owners->slots = memory_alloc(raw->slot_count, sizeof *owners->slots);
        return owners->slots ? text_read_slots(json, raw, owners->slots)
                             : error_no_memory(json->error);
    }
    if (placement_get(raw->placement)->bucket_of) {
        owners->buckets = memory_alloc(raw->node_count, sizeof *owners->buckets);
        return owners->buckets ? text_read_buckets(json, raw, owners->buckets)
                               : error_no_memory(json->error);
    }
    return CW_OK;
}

static int build_map(struct json *json, struct raw_map *raw, struct cw_map **ret_map)
{
    struct owners owners = {0};
    int status = read_owners(json, raw, &owners);
    if (status == CW_OK) {
        struct cw_node *nodes = memory_alloc(raw->node_count, sizeof *nodes);
        status = nodes ? build(json, raw, nodes, &owners, ret_map) : error_no_memory(json->error);
        free(nodes);
    }
    free(owners.slots);
    free(owners.buckets);
    return status;
}

int cw_map_from_text(const char *text, size_t text_len, struct cw_map **ret_map,
                     struct cw_error *error)
{
    if (!text || !ret_map)
        return error_set(error, CW_EINVAL, "text and ret_map must not be NULL");
    struct json json = {.len = text_len, .error = error};
    struct raw_map raw = {0};
    json.text = memory_alloc(text_len, 1);
    if (!json.text)
        return error_no_memory(error);
    memcpy(json.text, text, text_len);
    int status = read_map(&json, &raw);
    if (status == CW_OK)
        status = build_map(&json, &raw, ret_map);
    free(raw.nodes);
    free(raw.servers);
    free(json.decoded);
    free(json.text);
    return status;
}
