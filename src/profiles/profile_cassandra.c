/*
 * Cassandra and Scylla: the ring of tokens, and the replicas of the two strategies. Tokens are
 * signed; positions are offset by 2^63, so that the least token is position 0.
 *
 * SimpleStrategy takes the next distinct nodes. NetworkTopologyStrategy takes, in each datacenter,
 * the next nodes in racks that have none yet; those that were passed over follow once every rack
 * has one. The set is the server's; the order is that of the drivers, datacenter by datacenter.
 */
#include "profiles/profile_ring.h"

#include "placement/error.h"
#include "placement/memory.h"
#include "profiles/profile_topology.h"

#include <stdlib.h>
#include <string.h>

enum { DATACENTERS_MAX = 16, DATACENTER_ANY = -1 };

/* One part of the replication setting. */
struct share {
    int datacenter; /* DATACENTER_ANY: SimpleStrategy */
    uint32_t count;
};

struct place {
    uint32_t datacenter, rack; /* numbers; a rack's is its own within all datacenters */
};

struct tokens {
    struct ring ring; /* first: the ring engine finds it here */
    struct place *places;
    uint32_t rack_counts[DATACENTERS_MAX];
    const char *names[DATACENTERS_MAX]; /* while the map is built */
    uint32_t datacenter_count;
    struct share shares[DATACENTERS_MAX];
    unsigned share_count;
};

/* ---- where nodes stand ----------------------------------------------------------------------- */

static int find_datacenter(struct tokens *tokens, const char *name, uint32_t *ret_number,
                           struct cw_error *error)
{
    for (uint32_t i = 0; i < tokens->datacenter_count; i++)
        if (strcmp(tokens->names[i], name) == 0) {
            *ret_number = i;
            return CW_OK;
        }
    if (tokens->datacenter_count == DATACENTERS_MAX)
        return error_set(error, CW_EINVAL, "more than %d datacenters", DATACENTERS_MAX);
    tokens->names[tokens->datacenter_count] = name;
    *ret_number = tokens->datacenter_count++;
    return CW_OK;
}

static int by_rack(const void *one, const void *other)
{
    const struct profile_topology_node *const *a = one, *const *b = other;
    int order = strcmp((*a)->datacenter, (*b)->datacenter);
    return order ? order : strcmp((*a)->rack, (*b)->rack);
}

/* Racks are numbered in the order of their names, datacenter by datacenter. */
static int number_racks(const struct profile_topology *topology, struct tokens *tokens)
{
    size_t count = topology->node_count;
    uint32_t rack = 0;
    const struct profile_topology_node **sorted = memory_alloc(count, sizeof *sorted);
    if (!sorted)
        return CW_ENOMEM;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &topology->nodes[i];
    qsort(sorted, count, sizeof *sorted, by_rack);
    for (size_t i = 0; i < count; i++) {
        struct place *place = &tokens->places[sorted[i] - topology->nodes];
        int is_new = i == 0 || by_rack(&sorted[i - 1], &sorted[i]) != 0;
        rack += is_new;
        place->rack = rack;
        tokens->rack_counts[place->datacenter] += (uint32_t)is_new;
    }
    free(sorted);
    return CW_OK;
}

static int find_places(struct cw_profile_map *map, struct tokens *tokens, struct cw_error *error)
{
    const struct profile_topology *topology = map->topology;
    tokens->places = memory_alloc(map->node_count, sizeof *tokens->places);
    if (!tokens->places)
        return error_no_memory(error);
    for (uint32_t i = 0; i < map->node_count; i++) {
        struct place *place = &tokens->places[i];
        int status = find_datacenter(tokens, topology->nodes[i].datacenter, &place->datacenter,
                                     error);
        if (status != CW_OK)
            return status;
    }
    return number_racks(topology, tokens) == CW_OK ? CW_OK : error_no_memory(error);
}

/* ---- the replication setting: "3" or "dc1:3,dc2:2" ------------------------------------------- */

static int bad_replication(const char *text, struct cw_error *error)
{
    return error_set(error, CW_EINVAL,
                     "replication '%.64s': use a number, or datacenter:number,... with the "
                     "datacenters of the topology",
                     text);
}

static int read_count(const char *text, size_t len, uint32_t *ret_count)
{
    char digits[8] = "";
    int64_t count;
    if (len == 0 || len >= sizeof digits)
        return 0;
    memcpy(digits, text, len);
    if (!profile_topology_number(digits, &count) || count < 1 || count > CW_REPLICA_COUNT_MAX)
        return 0;
    *ret_count = (uint32_t)count;
    return 1;
}

static int read_share(struct tokens *tokens, const char *text, size_t len, struct share *ret_share)
{
    const char *colon = memchr(text, ':', len);
    if (!colon)
        return 0;
    for (uint32_t i = 0; i < tokens->datacenter_count; i++)
        if (strlen(tokens->names[i]) == (size_t)(colon - text) &&
            memcmp(tokens->names[i], text, (size_t)(colon - text)) == 0) {
            ret_share->datacenter = (int)i;
            return read_count(colon + 1, len - (size_t)(colon + 1 - text), &ret_share->count);
        }
    return 0;
}

static int read_replication(struct tokens *tokens, const char *text, struct cw_error *error)
{
    tokens->share_count = 1;
    tokens->shares[0] = (struct share){DATACENTER_ANY, 1};
    if (!*text || read_count(text, strlen(text), &tokens->shares[0].count))
        return CW_OK;
    tokens->share_count = 0;
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");
        if (tokens->share_count == DATACENTERS_MAX ||
            !read_share(tokens, at, len, &tokens->shares[tokens->share_count++]))
            return bad_replication(text, error);
        at += len;
        if (!*at)
            return CW_OK;
    }
}

/* ---- replicas -------------------------------------------------------------------------------- */

struct walk {
    const struct tokens *tokens;
    uint32_t *nodes;    /* all that were taken */
    size_t count, room; /* of them */
    size_t first;       /* where the share that is being filled starts */
    uint32_t passed[CW_REPLICA_COUNT_MAX];
    uint32_t passed_count, racks_used;
};

static int is_in(const uint32_t *list, size_t count, uint32_t node)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return 1;
    return 0;
}

static int has_rack(const struct walk *walk, uint32_t rack)
{
    for (size_t i = walk->first; i < walk->count; i++)
        if (walk->tokens->places[walk->nodes[i]].rack == rack)
            return 1;
    return 0;
}

static int is_full(const struct walk *walk, uint32_t want)
{
    return walk->count - walk->first >= want || walk->count >= walk->room;
}

/* Takes or passes over one node of the share's datacenter. */
static void offer(struct walk *walk, const struct share *share, uint32_t node)
{
    const struct place *place = &walk->tokens->places[node];
    int any = share->datacenter == DATACENTER_ANY;
    uint32_t racks = any ? 0 : walk->tokens->rack_counts[share->datacenter];
    if ((!any && place->datacenter != (uint32_t)share->datacenter) ||
        is_in(walk->nodes, walk->count, node))
        return;
    if (!any && walk->racks_used < racks && has_rack(walk, place->rack)) {
        if (walk->passed_count < CW_REPLICA_COUNT_MAX &&
            !is_in(walk->passed, walk->passed_count, node))
            walk->passed[walk->passed_count++] = node;
        return;
    }
    walk->racks_used += !any && !has_rack(walk, place->rack);
    walk->nodes[walk->count++] = node;
    if (any || walk->racks_used < racks)
        return;
    for (uint32_t i = 0; i < walk->passed_count && !is_full(walk, share->count); i++)
        walk->nodes[walk->count++] = walk->passed[i];
    walk->passed_count = 0;
}

static size_t locate_n(const struct cw_profile_map *map, const void *key, size_t len, size_t k,
                       uint32_t *ret_nodes)
{
    const struct tokens *tokens = map->state;
    struct walk walk = {.tokens = tokens, .nodes = ret_nodes, .room = k};
    if (!tokens)
        return 0;
    uint32_t start = ring_search(&tokens->ring, profile_key_hash(map, key, len));
    for (unsigned i = 0; i < tokens->share_count; i++) {
        const struct share *share = &tokens->shares[i];
        walk.first = walk.count;
        walk.passed_count = walk.racks_used = 0;
        for (uint32_t j = 0; j < tokens->ring.token_count && !is_full(&walk, share->count); j++)
            offer(&walk, share, tokens->ring.owners[(start + j) % tokens->ring.token_count]);
    }
    return walk.count;
}

/* ---- the engine ------------------------------------------------------------------------------ */

static int add_tokens(const struct cw_profile_map *map, struct profile_points *points)
{
    for (size_t i = 0; i < map->topology->range_count; i++) {
        const struct profile_range *range = &map->topology->ranges[i];
        uint64_t at = (uint64_t)range->first ^ (uint64_t)1 << 63;
        if (profile_points_add(points, at, range->node) != CW_OK)
            return CW_ENOMEM;
    }
    return CW_OK;
}

static int build(struct cw_profile_map *map, struct cw_error *error)
{
    struct profile_points points = {0};
    map->bits = 64;
    map->position_max = map->topology ? UINT64_MAX : 0;
    if (!map->topology)
        return *map->options.replication ? error_set(error, CW_EINVAL,
                                                     "replication needs a topology: give the "
                                                     "output of nodetool ring")
                                         : CW_OK;
    struct tokens *tokens = memory_alloc(1, sizeof *tokens);
    if (!tokens)
        return error_no_memory(error);
    map->state = tokens;
    int status = find_places(map, tokens, error);
    if (status == CW_OK)
        status = read_replication(tokens, map->options.replication, error);
    if (status != CW_OK)
        return status;
    if (add_tokens(map, &points) != CW_OK ||
        profile_ring_close(map, &points, &tokens->ring) != CW_OK ||
        profile_ring_shares(map, &tokens->ring) != CW_OK)
        status = error_no_memory(error);
    profile_points_fini(&points);
    return status;
}

static void release(struct cw_profile_map *map)
{
    struct tokens *tokens = map->state;
    if (!tokens)
        return;
    profile_ring_fini(&tokens->ring);
    free(tokens->places);
    free(tokens);
}

static uint32_t locate(const struct cw_profile_map *map, const void *key, size_t len)
{
    const struct tokens *tokens = map->state;
    return tokens ? ring_locate(&tokens->ring, profile_key_hash(map, key, len)) : CW_NO_NODE;
}

static void locate_hashes(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                          uint32_t *ret_nodes)
{
    const struct tokens *tokens = map->state;
    if (tokens)
        ring_locate_batch(&tokens->ring, hashes, count, ret_nodes);
    for (size_t i = 0; !tokens && i < count; i++)
        ret_nodes[i] = CW_NO_NODE;
}

static uint64_t position(const struct cw_profile_map *map, const void *key, size_t len)
{
    return profile_key_hash(map, key, len);
}

static size_t memory(const struct cw_profile_map *map)
{
    const struct tokens *tokens = map->state;
    return tokens ? sizeof *tokens + map->node_count * sizeof *tokens->places +
                        profile_engine_ring.memory(map)
                  : 0;
}

static uint32_t range_at(const struct cw_profile_map *map, uint64_t position, uint64_t *ret_last)
{
    return profile_engine_ring.range_at(map, position, ret_last);
}

const struct profile_engine profile_engine_cassandra = {
    .build = build,
    .release = release,
    .locate = locate,
    .locate_hashes = locate_hashes,
    .locate_n = locate_n,
    .position = position,
    .range_at = range_at,
    .memory = memory,
};
