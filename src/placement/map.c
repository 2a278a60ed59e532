/*
 * Maps: building, following, sharing, inspecting and asking them.
 */
#include "placement/map.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <clockwise/profile.h>

#include <stdlib.h>

static void map_free(struct cw_map *map)
{
    if (map->ops)
        map->ops->release(map);
    nodes_fini(&map->nodes);
    free(map->shares);
    free(map);
}

static int fill_map(struct cw_map *map, const struct cw_map_options *options,
                    const struct history *history, size_t *ret_bad, struct cw_error *error)
{
    int status = nodes_init(&map->nodes, options->nodes, options->node_count, ret_bad, error);
    if (status != CW_OK)
        return status;
    map->shares = memory_alloc(map->nodes.count, sizeof *map->shares);
    if (!map->shares)
        return error_no_memory(error);
    map->generation = options->generation ? options->generation : 1;
    map->placement = options->placement;
    if (map->placement == CW_PLACEMENT_SLOTS)
        map->slot_count = options->slot_count;
    if (map->placement == CW_PLACEMENT_RING)
        map->tokens_per_weight = options->tokens_per_weight;
    if (map->placement == CW_PLACEMENT_MAGLEV)
        map->table_size = options->table_size;
    map->vectors = options->no_vectors ? VECTORS_NONE : vectors_found();
    map->ops = placement_get(options->placement);
    if (!map->ops)
        return error_set(error, CW_EINVAL, "placement %d is none", (int)options->placement);
    if (!map->nodes.weights_equal && !(map->ops->capabilities & CW_CAN_WEIGHTS))
        return error_set(error, CW_ENOT_SUPPORTED,
                         "placement %s has no weights: give all nodes the same, or use slots",
                         map->ops->name);
    if (map->placement != CW_PLACEMENT_PROFILE && (options->profile || options->profile_options))
        return error_set(error, CW_EINVAL, "placement %s takes no profile: leave it out",
                         map->ops->name);
    map->locate = map->ops->locate;
    struct history all = *history;
    all.given = options->nodes;
    all.profile = options->profile;
    all.profile_options = options->profile_options;
    return map->ops->build(map, &all, error);
}

int map_build(const struct cw_map_options *options, const struct history *history,
              struct cw_map **ret_map, size_t *ret_bad, struct cw_error *error)
{
    size_t bad = options->node_count;
    struct cw_map *map = memory_alloc(1, sizeof *map);
    int status = map ? fill_map(map, options, history, &bad, error) : error_no_memory(error);
    if (ret_bad)
        *ret_bad = bad;
    if (status != CW_OK) {
        if (map)
            map_free(map);
        return status;
    }
    atomic_init(&map->references, 1);
    *ret_map = map;
    return CW_OK;
}

int cw_map_create(const struct cw_map_options *options, struct cw_map **ret_map,
                  struct cw_error *error)
{
    struct history none = {0};
    if (!options || !ret_map)
        return error_set(error, CW_EINVAL, "options and ret_map must not be NULL");
    return map_build(options, &none, ret_map, NULL, error);
}

static int change(const struct cw_map *from, const struct cw_node *nodes,
                  const struct cw_profile_node *servers, size_t node_count, struct cw_map **ret_map,
                  struct cw_error *error)
{
    struct history history = {.from = from, .servers = servers};
    if (!from || !ret_map)
        return error_set(error, CW_EINVAL, "from and ret_map must not be NULL");
    if (from->generation == UINT64_MAX)
        return error_set(error, CW_EINVAL, "generation %llu is the last one",
                         (unsigned long long)from->generation);
    struct cw_map_options options = {
        .placement = from->placement,
        .nodes = nodes,
        .node_count = node_count,
        .generation = from->generation + 1,
        .slot_count = from->slot_count,
        .tokens_per_weight = from->tokens_per_weight,
        .table_size = from->table_size,
        .no_vectors = from->vectors == VECTORS_NONE,
    };
    return map_build(&options, &history, ret_map, NULL, error);
}

int cw_map_change(const struct cw_map *from, const struct cw_node *nodes, size_t node_count,
                  struct cw_map **ret_map, struct cw_error *error)
{
    return change(from, nodes, NULL, node_count, ret_map, error);
}

int cw_map_change_servers(const struct cw_map *from, const struct cw_node *nodes,
                          const struct cw_profile_node *servers, size_t node_count,
                          struct cw_map **ret_map, struct cw_error *error)
{
    if (from && servers && from->placement != CW_PLACEMENT_PROFILE)
        return error_set(error, CW_ENOT_SUPPORTED, "placement %s has no names of servers",
                         from->ops->name);
    return change(from, nodes, servers, node_count, ret_map, error);
}

struct cw_map *cw_map_ref(struct cw_map *map)
{
    atomic_fetch_add_explicit(&map->references, 1, memory_order_relaxed);
    return map;
}

void cw_map_unref(struct cw_map **map)
{
    if (!map || !*map)
        return;
    if (atomic_fetch_sub_explicit(&(*map)->references, 1, memory_order_acq_rel) == 1)
        map_free(*map);
    *map = NULL;
}

uint64_t cw_map_generation(const struct cw_map *map)
{
    return map->generation;
}

enum cw_placement cw_map_placement(const struct cw_map *map)
{
    return map->placement;
}

uint32_t cw_map_slot_count(const struct cw_map *map)
{
    return map->slot_count;
}

uint32_t cw_map_node_count(const struct cw_map *map)
{
    return map->nodes.count;
}

const struct cw_node *cw_map_node(const struct cw_map *map, uint32_t index)
{
    return index < map->nodes.count ? &map->nodes.list[index] : NULL;
}

uint32_t cw_map_find_node(const struct cw_map *map, const char *id)
{
    return id ? nodes_find(&map->nodes, id) : CW_NO_NODE;
}

double cw_map_share(const struct cw_map *map, uint32_t index)
{
    return index < map->nodes.count ? map->shares[index] : 0;
}

double cw_map_ideal_share(const struct cw_map *map, uint32_t index)
{
    return index < map->nodes.count ? map_ideal_share(map, index) : 0;
}

int cw_map_range_at(const struct cw_map *map, uint64_t hash, uint32_t *ret_node, uint64_t *ret_last)
{
    if (!map->ops->range_at)
        return CW_ENOT_SUPPORTED;
    *ret_node = map->ops->range_at(map, hash, ret_last);
    return CW_OK;
}

int cw_map_node_range(const struct cw_map *map, uint32_t index, uint64_t *ret_first,
                      uint64_t *ret_last)
{
    if (index >= map->nodes.count)
        return CW_ENO_SUCH_NODE;
    if (!map->ops->node_range)
        return CW_ENOT_SUPPORTED;
    map->ops->node_range(map, index, ret_first, ret_last);
    return CW_OK;
}

size_t cw_map_memory(const struct cw_map *map)
{
    return sizeof *map + nodes_memory(&map->nodes) + map->nodes.count * sizeof *map->shares +
           map->ops->memory(map);
}

uint32_t cw_locate(const struct cw_map *map, uint64_t hash)
{
    if (__builtin_expect(map->table != NULL, 1))
        return map->table[hash >> map->table_shift];
    return map->locate(map, hash);
}

size_t cw_locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    if (k > CW_REPLICA_COUNT_MAX)
        k = CW_REPLICA_COUNT_MAX;
    if (k > map->nodes.count)
        k = map->nodes.count;
    if (k == 0)
        return 0;
    return map->ops->locate_n(map, hash, k, ret_nodes);
}

void cw_locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                     uint32_t *ret_nodes)
{
    map->ops->locate_batch(map, hashes, count, ret_nodes);
}
