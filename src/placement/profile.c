/*
 * profile: the exact placement of another system (clockwise/profile.h) as a map like all others, so
 * that it can be served, kept, planned and left through a transition.
 *
 * Nodes of a map go by id, the servers of a profile by their order in the system's configuration:
 * the state keeps both and how one is found from the other. What is hashed of a node (its server
 * text or name) is state too, so that its id stays its identity: a new address moves no key.
 *
 * Law: where the system puts a key, bit for bit. Cost: the system's own.
 */
#include "placement/profile.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

/* The servers of a map while it is built. */
struct gathering {
    const struct cw_map *map;
    const struct history *history;
    const struct profile_state *old; /* of the map that this one follows, or NULL */
    struct cw_profile_node *servers; /* by place; texts are others' */
    uint32_t *nodes;                 /* by place: ours */
    uint32_t *given;                 /* by our number: the place in history->given */
    uint32_t count;                  /* of places that are filled */
    uint8_t *is_placed;              /* by our number */
};

const char *profile_default_server(const struct cw_node *node)
{
    return *node->address ? node->address : node->id;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static int is_text(const char *text)
{
    return text && *text;
}

static struct cw_profile_node new_server(const struct gathering *gathering, uint32_t node)
{
    const struct history *history = gathering->history;
    const struct cw_node *shown = &gathering->map->nodes.list[node];
    const struct cw_profile_node *list = history->servers;
    if (!list && history->profile_options && !gathering->old)
        list = history->profile_options->nodes;
    if (!list)
        return (struct cw_profile_node){.address = profile_default_server(shown),
                                        .weight = shown->weight};
    struct cw_profile_node server = list[gathering->given[node]];
    if (!is_text(server.address))
        server.address = profile_default_server(shown);
    return server;
}

/* An old node stays what it was; only a weight that was changed is a new one. */
static struct cw_profile_node old_server(const struct gathering *gathering, uint32_t node,
                                         uint32_t place, const struct cw_node *before)
{
    if (gathering->history->servers)
        return new_server(gathering, node);
    struct cw_profile_node server = gathering->old->servers[place];
    uint32_t weight = gathering->map->nodes.list[node].weight;
    if (weight != before->weight)
        server.weight = weight;
    return server;
}

static void put_server(struct gathering *gathering, uint32_t node, struct cw_profile_node server)
{
    gathering->servers[gathering->count] = server;
    gathering->nodes[gathering->count++] = node;
    gathering->is_placed[node] = 1;
}

static int by_place(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

/* The old map's nodes that are still there, in their order. */
static int put_old(struct gathering *gathering)
{
    const struct cw_map *from = gathering->history->from;
    uint64_t *order = memory_alloc(from->nodes.count, sizeof *order);
    if (!order)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < from->nodes.count; i++)
        order[i] = (uint64_t)gathering->old->places[i] << 32 | i;
    qsort(order, from->nodes.count, sizeof *order, by_place);
    for (uint32_t i = 0; i < from->nodes.count; i++) {
        const struct cw_node *before = &from->nodes.list[(uint32_t)order[i]];
        uint32_t node = nodes_find(&gathering->map->nodes, before->id);
        if (node != CW_NO_NODE)
            put_server(gathering, node, old_server(gathering, node, i, before));
    }
    free(order);
    return CW_OK;
}

static int gather(struct gathering *gathering)
{
    const struct nodes *nodes = &gathering->map->nodes;
    gathering->servers = memory_alloc(nodes->count, sizeof *gathering->servers);
    gathering->nodes = memory_alloc(nodes->count, sizeof *gathering->nodes);
    gathering->given = memory_alloc(nodes->count, sizeof *gathering->given);
    gathering->is_placed = memory_alloc(nodes->count, 1);
    if (!gathering->servers || !gathering->nodes || !gathering->given || !gathering->is_placed)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++)
        gathering->given[nodes_find(nodes, gathering->history->given[i].id)] = i;
    if (gathering->old && put_old(gathering) != CW_OK)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < nodes->count; i++) {
        uint32_t node = nodes_find(nodes, gathering->history->given[i].id);
        if (!gathering->is_placed[node])
            put_server(gathering, node, new_server(gathering, node));
    }
    return CW_OK;
}

static void gathering_fini(struct gathering *gathering)
{
    free(gathering->servers);
    free(gathering->nodes);
    free(gathering->given);
    free(gathering->is_placed);
}

/* ---- the state ------------------------------------------------------------------------------- */

static const char *put_text(char **at, const char *text)
{
    char *to = *at;
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    *at += size;
    return to;
}

/* Copies of what is gathered. */
static int keep_servers(struct profile_state *state, const struct gathering *gathering)
{
    uint32_t count = gathering->count;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_profile_node *server = &gathering->servers[i];
        state->text_size += strlen(server->address) + 2;
        state->text_size += server->name ? strlen(server->name) : 0;
    }
    state->servers = memory_alloc(count, sizeof *state->servers);
    state->places = memory_alloc(count, sizeof *state->places);
    state->text = memory_alloc(state->text_size, 1);
    if (!state->servers || !state->places || !state->text)
        return CW_ENOMEM;
    char *at = state->text;
    for (uint32_t i = 0; i < count; i++) {
        const struct cw_profile_node *server = &gathering->servers[i];
        state->servers[i] = *server;
        state->servers[i].address = put_text(&at, server->address);
        state->servers[i].name = put_text(&at, server->name ? server->name : "");
        state->places[gathering->nodes[i]] = i;
    }
    return CW_OK;
}

static int keep_topology(struct profile_state *state, const struct cw_profile_options *options)
{
    if (!options->topology)
        return CW_OK;
    state->topology_len = strnlen(options->topology, options->topology_len);
    state->topology = memory_alloc(state->topology_len + 1, 1);
    if (!state->topology)
        return CW_ENOMEM;
    memcpy(state->topology, options->topology, state->topology_len);
    return CW_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* A server by its text, for the search. */
struct named {
    const char *address;
    uint32_t node;
};

static int by_address(const void *one, const void *other)
{
    const struct named *a = one, *b = other;
    return strcmp(a->address, b->address);
}

static int match_topology(struct profile_state *state, const struct named *named, uint32_t count,
                          struct cw_error *error)
{
    for (uint32_t i = 0; i < cw_profile_map_node_count(state->map); i++) {
        struct named wanted = {.address = cw_profile_map_node(state->map, i)->address};
        const struct named *found = bsearch(&wanted, named, count, sizeof wanted, by_address);
        if (!found)
            return error_set(error, CW_ENO_SUCH_NODE,
                             "the topology gives keys to '%.64s', and no node has that address: "
                             "add one, or give the topology of these nodes",
                             wanted.address);
        state->nodes[i] = found->node;
    }
    return CW_OK;
}

static int number_by_topology(struct profile_state *state, const struct gathering *gathering,
                              struct cw_error *error)
{
    struct named *named = memory_alloc(gathering->count, sizeof *named);
    if (!named)
        return error_no_memory(error);
    for (uint32_t i = 0; i < gathering->count; i++)
        named[i] = (struct named){gathering->servers[i].address, gathering->nodes[i]};
    qsort(named, gathering->count, sizeof *named, by_address);
    int status = match_topology(state, named, gathering->count, error);
    free(named);
    return status;
}

static int number_nodes(struct profile_state *state, const struct gathering *gathering,
                        struct cw_error *error)
{
    const struct cw_profile *profile = cw_profile_map_profile(state->map);
    uint32_t count = cw_profile_map_node_count(state->map);
    state->nodes = memory_alloc(count, sizeof *state->nodes);
    if (!state->nodes)
        return error_no_memory(error);
    if (state->topology)
        return number_by_topology(state, gathering, error);
    if (count != gathering->count)
        return error_set(error, CW_ENOT_SUPPORTED,
                         profile->settings & CW_PROFILE_TOPOLOGY
                             ? "%s needs the cluster's own word on who owns what: set topology"
                             : "%s places on numbers and not on nodes: use another placement",
                         profile->name);
    memcpy(state->nodes, gathering->nodes, count * sizeof *state->nodes);
    return CW_OK;
}

/* ---- building -------------------------------------------------------------------------------- */

static int fill_shares(struct cw_map *map, const struct profile_state *state,
                       struct cw_error *error)
{
    uint32_t count = cw_profile_map_node_count(state->map);
    map->weights = memory_alloc(map->nodes.count, sizeof *map->weights);
    if (!map->weights)
        return error_no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        map->weights[state->nodes[i]] = cw_profile_map_weight(state->map, i);
        map->weight_sum += map->weights[state->nodes[i]];
    }
    if (map->weight_sum == 0)
        return error_set(error, CW_EBAD_WEIGHT,
                         "no node takes keys: give one a weight above 0 that is not down");
    for (uint32_t i = 0; i < count; i++) {
        double share = cw_profile_map_share(state->map, i);
        uint32_t node = state->nodes[i];
        map->shares[node] = share < 0 ? map_ideal_share(map, node) : share;
    }
    return CW_OK;
}

static int build_state(struct cw_map *map, struct profile_state *state,
                       const struct gathering *gathering, struct cw_error *error)
{
    const struct history *history = gathering->history;
    const struct cw_profile *profile = history->profile;
    struct cw_profile_options options = {0};
    if (gathering->old) {
        profile = cw_profile_map_profile(gathering->old->map);
        cw_profile_map_settings(gathering->old->map, &options);
        options.topology = gathering->old->topology;
        options.topology_len = gathering->old->topology_len;
    } else if (history->profile_options) {
        options = *history->profile_options;
    }
    if (keep_servers(state, gathering) != CW_OK || keep_topology(state, &options) != CW_OK)
        return error_no_memory(error);
    options.nodes = options.topology ? NULL : state->servers;
    options.node_count = options.topology ? 0 : gathering->count;
    int status = cw_profile_map_create(profile, &options, &state->map, error);
    if (status == CW_OK)
        status = number_nodes(state, gathering, error);
    return status == CW_OK ? fill_shares(map, state, error) : status;
}

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    struct gathering gathering = {.map = map, .history = history};
    const struct cw_profile_options *options = history->profile_options;
    if (!history->from && !history->profile)
        return error_set(error, CW_EINVAL, "placement profile needs a profile: name one");
    if (!history->from && options && options->nodes && options->node_count != map->nodes.count)
        return error_set(error, CW_EINVAL, "%zu servers for %u nodes: give one for each",
                         options->node_count, map->nodes.count);
    struct profile_state *state = memory_alloc(1, sizeof *state);
    if (!state)
        return error_no_memory(error);
    map->state = state;
    if (history->from)
        gathering.old = profile_of(history->from);
    int status = gather(&gathering) == CW_OK ? build_state(map, state, &gathering, error)
                                             : error_no_memory(error);
    gathering_fini(&gathering);
    return status;
}

static void release(struct cw_map *map)
{
    struct profile_state *state = map->state;
    if (!state)
        return;
    cw_profile_map_unref(&state->map);
    free(state->nodes);
    free(state->servers);
    free(state->places);
    free(state->text);
    free(state->topology);
    free(state);
    free(map->weights);
}

static size_t memory(const struct cw_map *map)
{
    const struct profile_state *state = map->state;
    size_t node = sizeof *state->nodes + sizeof *state->servers + sizeof *state->places +
                  sizeof *map->weights;
    return sizeof *state + map->nodes.count * node + state->text_size + state->topology_len +
           cw_profile_map_memory(state->map);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* A hash says nothing to another system's rule. */
static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    return CW_NO_NODE;
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = CW_NO_NODE;
}

static size_t locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    return 0;
}

static uint32_t locate_key(const struct cw_map *map, const void *key, size_t key_len)
{
    const struct profile_state *state = profile_of(map);
    return profile_node_of(state, cw_profile_locate(state->map, key_len ? key : "", key_len));
}

static void locate_keys(const struct cw_map *map, const void *const *keys, const size_t *key_lens,
                        size_t count, uint32_t *ret_nodes)
{
    const struct profile_state *state = profile_of(map);
    cw_profile_locate_batch(state->map, keys, key_lens, count, ret_nodes);
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = profile_node_of(state, ret_nodes[i]);
}

static size_t locate_key_n(const struct cw_map *map, const void *key, size_t key_len, size_t k,
                           uint32_t *ret_nodes)
{
    const struct profile_state *state = profile_of(map);
    size_t count = cw_profile_locate_n(state->map, key_len ? key : "", key_len, k, ret_nodes);
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = profile_node_of(state, ret_nodes[i]);
    return count;
}

const struct placement placement_profile = {
    .name = "profile",
    .capabilities = CW_CAN_WEIGHTS | CW_CAN_REMOVE_ANY,
    .build = build,
    .release = release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_n,
    .memory = memory,
    .locate_key = locate_key,
    .locate_keys = locate_keys,
    .locate_key_n = locate_key_n,
};

/* ---- inspection ------------------------------------------------------------------------------ */

const struct cw_profile_map *cw_map_profile_map(const struct cw_map *map)
{
    return map->placement == CW_PLACEMENT_PROFILE ? profile_of(map)->map : NULL;
}

int cw_map_server(const struct cw_map *map, uint32_t index, struct cw_profile_node *ret_server,
                  uint32_t *ret_place)
{
    if (map->placement != CW_PLACEMENT_PROFILE)
        return CW_ENOT_SUPPORTED;
    if (index >= map->nodes.count)
        return CW_ENO_SUCH_NODE;
    *ret_place = profile_of(map)->places[index];
    *ret_server = profile_of(map)->servers[*ret_place];
    return CW_OK;
}

const char *cw_map_placement_name(const struct cw_map *map)
{
    const struct cw_profile_map *inside = cw_map_profile_map(map);
    return inside ? cw_profile_map_profile(inside)->name : map->ops->name;
}
