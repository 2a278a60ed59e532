/*
 * Maps of profiles: checking options against what the profile knows, building, sharing, asking.
 */
#include "profiles/profile.h"

#include "placement/error.h"
#include "placement/memory.h"
#include "profiles/profile_topology.h"

#include <stdlib.h>
#include <string.h>

/* ---- settings -------------------------------------------------------------------------------- */

static int is_set(const char *text)
{
    return text && *text;
}

static int check_settings(const struct profile *profile, const struct cw_profile_options *options,
                          struct cw_error *error)
{
    const char *name = profile_settings_unknown(options, profile->shown.settings);
    if (name)
        return error_set(error, CW_EINVAL, "%s has no setting %s: leave it out",
                         profile->shown.name, name);
    if (is_set(options->tag) && strlen(options->tag) != 2)
        return error_set(error, CW_EINVAL,
                         "the tag '%.16s' is not two characters: give the one before and the one "
                         "behind, like {}",
                         options->tag);
    if (is_set(options->tag) && is_set(options->stop))
        return error_set(error, CW_EINVAL, "tag and stop exclude each other: give one");
    return CW_OK;
}

static int take_hash(struct cw_profile_map *map, struct cw_error *error)
{
    const struct profile *profile = map->profile;
    const char *name = *map->options.hash ? map->options.hash : profile->shown.hash;
    const struct profile_hash *hash = profile_hash_find(profile->hashes, name);
    if (!profile->hashes)
        return CW_OK;
    if (!hash)
        return error_set(error, CW_EINVAL, "%s has no hash '%.32s': see the list of its hashes",
                         profile->shown.name, name);
    map->options.hash = hash->name;
    map->hash_bits = hash->bits;
    map->hash = map->options.unsigned_char && hash->fn_unsigned ? hash->fn_unsigned : hash->fn;
    map->hash_batch = profile_hash_batch(map->hash);
    return CW_OK;
}

static void take_key_rule(struct cw_profile_map *map)
{
    map->key = map->profile->key;
    if (*map->options.tag && map->key == KEY_WHOLE)
        map->key = map->profile->tag;
    else if (*map->options.stop)
        map->key = KEY_STOPPED;
    if (map->options.points == 0)
        map->options.points = map->profile->ring.per;
    if (map->options.size == 0)
        map->options.size = map->profile->table.size;
    if (map->options.size_max == 0)
        map->options.size_max = map->profile->ring.size_max;
    if (*map->options.salt && map->profile->seed_of_salt)
        map->seed = map->profile->seed_of_salt(map->options.salt, strlen(map->options.salt), 0);
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static void map_free(struct cw_profile_map *map)
{
    if (map->engine)
        map->engine->release(map);
    profile_nodes_fini(map);
    free(map->shares);
    free(map);
}

/* The nodes are those of the topology, if there is one. */
static int take_nodes(struct cw_profile_map *map, const struct cw_profile_options *options,
                      struct cw_error *error)
{
    struct cw_profile_options with = *options;
    if (!options->topology)
        return profile_nodes_init(map, options, error);
    if (options->node_count)
        return error_set(error, CW_EINVAL, "servers and a topology exclude each other: give one");
    int status = map->profile->read_topology(map->topology, options->topology,
                                             options->topology_len, error);
    if (status != CW_OK)
        return status;
    struct cw_profile_node *nodes = memory_alloc(map->topology->node_count, sizeof *nodes);
    if (!nodes)
        return error_no_memory(error);
    for (size_t i = 0; i < map->topology->node_count; i++)
        nodes[i] = (struct cw_profile_node){.address = map->topology->nodes[i].address,
                                            .weight = 1};
    with.nodes = nodes;
    with.node_count = map->topology->node_count;
    status = profile_nodes_init(map, &with, error);
    free(nodes);
    return status;
}

static int fill_map(struct cw_profile_map *map, const struct cw_profile_options *options,
                    struct cw_error *error)
{
    int status = check_settings(map->profile, options, error);
    if (status == CW_OK)
        status = take_nodes(map, options, error);
    if (status == CW_OK)
        status = take_hash(map, error);
    if (status != CW_OK)
        return status;
    take_key_rule(map);
    map->engine = map->profile->engine;
    if (map->node_count == 0 && !map->profile->may_be_empty)
        return error_set(error, CW_ENO_NODES, "%s needs at least one server: add one",
                         map->profile->shown.name);
    return map->engine->build(map, error);
}

int cw_profile_map_create(const struct cw_profile *profile,
                          const struct cw_profile_options *options, struct cw_profile_map **ret_map,
                          struct cw_error *error)
{
    if (!profile || !options || !ret_map)
        return error_set(error, CW_EINVAL, "profile, options and ret_map must not be NULL");
    struct cw_profile_map *map = memory_alloc(1, sizeof *map);
    if (!map)
        return error_no_memory(error);
    struct profile_topology topology = {0};
    map->profile = (const struct profile *)profile;
    map->vectors = vectors_found();
    map->topology = options->topology ? &topology : NULL;
    int status = fill_map(map, options, error);
    profile_topology_fini(&topology);
    map->topology = NULL;
    if (status != CW_OK) {
        map_free(map);
        return status;
    }
    atomic_init(&map->references, 1);
    *ret_map = map;
    return CW_OK;
}

struct cw_profile_map *cw_profile_map_ref(struct cw_profile_map *map)
{
    atomic_fetch_add_explicit(&map->references, 1, memory_order_relaxed);
    return map;
}

void cw_profile_map_unref(struct cw_profile_map **map)
{
    if (!map || !*map)
        return;
    if (atomic_fetch_sub_explicit(&(*map)->references, 1, memory_order_acq_rel) == 1)
        map_free(*map);
    *map = NULL;
}

/* ---- inspection ------------------------------------------------------------------------------ */

const struct cw_profile *cw_profile_map_profile(const struct cw_profile_map *map)
{
    return &map->profile->shown;
}

uint32_t cw_profile_map_node_count(const struct cw_profile_map *map)
{
    return map->owner_count;
}

const struct cw_profile_node *cw_profile_map_node(const struct cw_profile_map *map, uint32_t index)
{
    return index < map->node_count ? &map->given[index] : NULL;
}

void cw_profile_map_settings(const struct cw_profile_map *map,
                             struct cw_profile_options *ret_options)
{
    *ret_options = map->options;
    profile_settings_keep(ret_options, map->profile->shown.settings);
    ret_options->nodes = NULL;
    ret_options->node_count = 0;
}

/* libmemcached checks weights and takes them to no account in some of its distributions. */
static int ignores_weights(const struct profile *profile)
{
    if (profile->engine == &profile_engine_table && profile->table.fill == FILL_ONCE)
        return 1;
    return profile->weights == WEIGHTS_IGNORED ||
           (profile->weights == WEIGHTS_WHOLE_OR_ONE && profile->ring.count == COUNT_FIXED);
}

double cw_profile_map_weight(const struct cw_profile_map *map, uint32_t index)
{
    if (index >= map->node_count)
        return 0;
    const struct cw_profile_node *node = &map->given[index];
    if (node->is_down || ignores_weights(map->profile))
        return !node->is_down;
    return node->weight == 0 && map->profile->weights == WEIGHTS_WHOLE_OR_ONE ? 1 : node->weight;
}

double cw_profile_map_share(const struct cw_profile_map *map, uint32_t index)
{
    if (index >= map->owner_count)
        return 0;
    return map->shares ? map->shares[index] : -1;
}

size_t cw_profile_map_memory(const struct cw_profile_map *map)
{
    size_t nodes = map->node_count * (sizeof *map->nodes + sizeof *map->given) + map->text_size;
    size_t shares = map->shares ? map->owner_count * sizeof *map->shares : 0;
    return sizeof *map + nodes + shares + map->engine->memory(map);
}

/* ---- locating -------------------------------------------------------------------------------- */

uint32_t cw_profile_locate(const struct cw_profile_map *map, const void *key, size_t key_len)
{
    return map->engine->locate(map, key, key_len);
}

size_t cw_profile_locate_n(const struct cw_profile_map *map, const void *key, size_t key_len,
                           size_t k, uint32_t *ret_nodes)
{
    if (k == 0)
        return 0;
    if (map->engine->locate_n)
        return map->engine->locate_n(map, key, key_len, k, ret_nodes);
    ret_nodes[0] = map->engine->locate(map, key, key_len);
    return ret_nodes[0] != CW_NO_NODE;
}

/* ---- positions ------------------------------------------------------------------------------- */

uint64_t cw_profile_position(const struct cw_profile_map *map, const void *key, size_t key_len)
{
    return map->engine->position ? map->engine->position(map, key, key_len) : 0;
}

uint64_t cw_profile_position_max(const struct cw_profile_map *map)
{
    return map->position_max;
}

static int same_text(const char *one, const char *other)
{
    return strcmp(one, other) == 0;
}

int cw_profile_same_positions(const struct cw_profile_map *one, const struct cw_profile_map *other)
{
    return one->position_max && one->position_max == other->position_max &&
           one->engine->position == other->engine->position && one->hash == other->hash &&
           one->seed == other->seed && one->key == other->key &&
           same_text(one->options.tag, other->options.tag) &&
           same_text(one->options.stop, other->options.stop);
}

uint32_t cw_profile_range_at(const struct cw_profile_map *map, uint64_t position,
                             uint64_t *ret_last)
{
    if (!map->position_max || position > map->position_max) {
        *ret_last = UINT64_MAX;
        return CW_NO_NODE;
    }
    return map->engine->range_at(map, position, ret_last);
}
