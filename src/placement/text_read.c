/*
 * Reading a map from its text (text_write.c has the form). The reader takes any spacing and any
 * order of keys and nodes, and nothing else that the writer would not write: each thing that is
 * missing, unknown, repeated or out of range is an error with its line and column.
 */
#include "placement/error.h"
#include "placement/json.h"
#include "placement/memory.h"
#include "placement/slots.h"

#include <stdlib.h>
#include <string.h>

struct raw_node {
    size_t at;
    struct json_string id, address, zone, slots;
    uint64_t weight;
    uint32_t seen;
};

struct raw_map {
    struct raw_node *nodes;
    size_t node_count, node_room;
    uint64_t generation, slot_count, tokens_per_weight;
    size_t slot_count_at, placement_at, nodes_at;
    enum cw_placement placement;
    uint32_t seen;
};

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

enum { NODE_ID, NODE_ADDRESS, NODE_ZONE, NODE_WEIGHT, NODE_SLOTS, NODE_KEY_COUNT };
static const struct json_key node_keys[] = {
    [NODE_ID] = {"id", read_id},          [NODE_ADDRESS] = {"address", read_address},
    [NODE_ZONE] = {"zone", read_zone},    [NODE_WEIGHT] = {"weight", read_weight},
    [NODE_SLOTS] = {"slots", read_slots},
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
    MAP_NODES,
    MAP_KEY_COUNT
};
static const struct json_key map_keys[] = {
    [MAP_VERSION] = {"clockwise_map", read_version},
    [MAP_GENERATION] = {"generation", read_generation},
    [MAP_PLACEMENT] = {"placement", read_placement},
    [MAP_SLOTS] = {"slots", read_slot_count},
    [MAP_TOKENS] = {"tokens_per_weight", read_tokens},
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

static int check_node_slots(const struct json *json, const struct raw_map *raw)
{
    for (size_t i = 0; i < raw->node_count; i++) {
        const struct raw_node *node = &raw->nodes[i];
        if (raw->placement == CW_PLACEMENT_SLOTS) {
            int status = need_key(json, node->at, node->seen, node_keys, NODE_SLOTS);
            if (status != CW_OK)
                return status;
        } else if (node->seen & 1u << NODE_SLOTS) {
            return json_fail(json, node->slots.at, CW_EBAD_KEY,
                             "'slots' belongs to placement slots, and this is %s",
                             cw_placement_name(raw->placement));
        }
    }
    return CW_OK;
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
        status = check_node_slots(json, raw);
    return status;
}

/* ---- the assignment of slots ---- */

/* A slot's number at *at of a node's string; steps over it. */
static int read_slot(const struct json *json, const struct json_string *string, size_t *at,
                     uint64_t slot_count, uint32_t *ret_slot)
{
    uint64_t slot = 0;
    size_t start = *at;
    for (; *at < string->len && *at < start + 9; ++*at) {
        unsigned digit = (unsigned)(string->text[*at] - '0');
        if (digit > 9)
            break;
        slot = slot * 10 + digit;
    }
    if (*at == start || (string->text[start] == '0' && *at > start + 1))
        return json_fail(json, string->at + start, CW_EBAD_TEXT,
                         "slots are written like 0-2,5,9-11");
    if (slot >= slot_count)
        return json_fail(json, string->at + start, CW_EBAD_TEXT,
                         "slot %llu: the last one of this map is %llu", (unsigned long long)slot,
                         (unsigned long long)slot_count - 1);
    *ret_slot = (uint32_t)slot;
    return CW_OK;
}

/* A slot, or two joined by '-'. */
static int read_range(const struct json *json, const struct json_string *string, size_t *at,
                      uint64_t slot_count, uint32_t *ret_first, uint32_t *ret_last)
{
    size_t start = *at;
    int status = read_slot(json, string, at, slot_count, ret_first);
    *ret_last = *ret_first;
    if (status == CW_OK && *at < string->len && string->text[*at] == '-') {
        ++*at;
        status = read_slot(json, string, at, slot_count, ret_last);
        if (status == CW_OK && *ret_last <= *ret_first)
            return json_fail(json, string->at + start, CW_EBAD_TEXT,
                             "a range of slots ends behind its start, like 0-2");
    }
    return status;
}

static int own_slots(const struct json *json, const struct raw_map *raw, size_t node,
                     uint32_t *owners)
{
    const struct json_string *string = &raw->nodes[node].slots;
    for (size_t at = 0; at < string->len;) {
        uint32_t first = 0, last = 0;
        size_t start = at;
        int status = read_range(json, string, &at, raw->slot_count, &first, &last);
        if (status != CW_OK)
            return status;
        for (uint32_t slot = first; slot <= last; slot++) {
            if (owners[slot] != CW_NO_NODE)
                return json_fail(json, string->at + start, CW_EBAD_TEXT,
                                 "slot %u has two owners, '%.64s' and '%.64s'", slot,
                                 raw->nodes[owners[slot]].id.text, raw->nodes[node].id.text);
            owners[slot] = (uint32_t)node;
        }
        if (at < string->len && (string->text[at] != ',' || ++at == string->len))
            return json_fail(json, string->at + at, CW_EBAD_TEXT,
                             "slots are written like 0-2,5,9-11");
    }
    return CW_OK;
}

static int read_assignment(const struct json *json, const struct raw_map *raw, uint32_t *owners)
{
    memset(owners, 0xff, raw->slot_count * sizeof *owners); /* CW_NO_NODE */
    for (size_t i = 0; i < raw->node_count; i++) {
        int status = own_slots(json, raw, i, owners);
        if (status != CW_OK)
            return status;
    }
    for (uint32_t slot = 0; slot < raw->slot_count; slot++)
        if (owners[slot] == CW_NO_NODE)
            return json_fail(json, raw->nodes_at, CW_EBAD_TEXT, "slot %u has no owner", slot);
    return CW_OK;
}

/* ---- from what was read to a map ---- */

static int build(const struct json *json, const struct raw_map *raw, struct cw_node *nodes,
                 const uint32_t *owners, struct cw_map **ret_map)
{
    size_t bad;
    struct history history = {.slot_owners = owners, .given = nodes};
    struct cw_map_options options = {
        .placement = raw->placement,
        .nodes = nodes,
        .node_count = raw->node_count,
        .generation = raw->generation,
        .slot_count = (uint32_t)raw->slot_count,
        .tokens_per_weight = (uint32_t)raw->tokens_per_weight,
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

static int assign_and_build(const struct json *json, const struct raw_map *raw,
                            struct cw_map **ret_map)
{
    int has_slots = raw->placement == CW_PLACEMENT_SLOTS && raw->node_count;
    struct cw_node *nodes = memory_alloc(raw->node_count, sizeof *nodes);
    uint32_t *owners = has_slots ? memory_alloc(raw->slot_count, sizeof *owners) : NULL;
    int status = CW_OK;
    if (!nodes || (has_slots && !owners))
        status = error_no_memory(json->error);
    if (status == CW_OK && has_slots)
        status = read_assignment(json, raw, owners);
    if (status == CW_OK)
        status = build(json, raw, nodes, owners, ret_map);
    free(nodes);
    free(owners);
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
        status = assign_and_build(&json, &raw, ret_map);
    free(raw.nodes);
    free(json.text);
    return status;
}
