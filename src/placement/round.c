/*
 * round: see round.h. S is 64: the longest range is within 1.6 % of the mean.
 */
#include "placement/round.h"

#include "placement/numbered.h"
#include "placement/round_batch.h"

enum { BASE_BITS = 6 };

struct round round_init(uint32_t server_count, unsigned base_bits)
{
    if (server_count < 1u << base_bits) /* one group of so many arcs, and none is cut further */
        return (struct round){.s = server_count, .base_bits = base_bits};
    unsigned e = 31 - base_bits - (unsigned)__builtin_clz(server_count);
    return (struct round){.s = server_count >> e,
                          .cut_count = server_count & ((1u << e) - 1),
                          .e = e,
                          .base_bits = base_bits};
}

/* The first hash that belongs to arc p or one behind it, of a group; 2^64 behind the last group. */
static unsigned __int128 arc_start(const struct round *round, uint32_t q, uint32_t p)
{
    uint32_t arcs = round->s + (q < round->cut_count);
    uint64_t group = (uint64_t)q;
    unsigned __int128 width = (unsigned __int128)1 << (64 - round->e);
    /* The least f with f * 2^e * arcs >= p * 2^64. */
    unsigned __int128 inside = (p * width + arcs - 1) / arcs;
    return group * width + inside;
}

void round_range(const struct round *round, uint32_t server, uint64_t *ret_first,
                 uint64_t *ret_last)
{
    uint32_t base = 1u << round->base_bits, q = 0, p = server;
    if (server >= base) {
        unsigned e = 31 - round->base_bits - (unsigned)__builtin_clz(server);
        p = server >> e;
        q = server & ((1u << e) - 1);
        if (e < round->e) { /* its group has split since, and it went into an odd half */
            q = (2 * q + 1) << (round->e - e - 1);
            p -= base;
        }
    }
    *ret_first = (uint64_t)arc_start(round, q, p);
    *ret_last = (uint64_t)(arc_start(round, q, p + 1) - 1);
}

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    int status = numbered_build(map, history, false, error);
    if (status != CW_OK)
        return status;
    struct numbered *numbered = map->state;
    struct round round = round_init(map->nodes.count, BASE_BITS);
    numbered->round = round;
    for (uint32_t i = 0; i < map->nodes.count; i++) {
        uint64_t first, last;
        round_range(&round, numbered->buckets[i], &first, &last);
        map->shares[i] = map->nodes.count == 1 ? 1 : (double)(last - first + 1) * 0x1p-64;
    }
    return CW_OK;
}

static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    const struct numbered *numbered = numbered_of(map);
    return numbered->nodes[round_locate(&numbered->round, hash)];
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    const struct numbered *numbered = numbered_of(map);
    round_batch(map->vectors, &numbered->round, hashes, count, numbered->nodes, ret_nodes);
}

static void node_range(const struct cw_map *map, uint32_t node, uint64_t *ret_first,
                       uint64_t *ret_last)
{
    const struct numbered *numbered = numbered_of(map);
    round_range(&numbered->round, numbered->buckets[node], ret_first, ret_last);
}

static uint32_t range_at(const struct cw_map *map, uint64_t hash, uint64_t *ret_last)
{
    uint32_t node = locate(map, hash);
    uint64_t first;
    node_range(map, node, &first, ret_last);
    return node;
}

const struct placement placement_round = {
    .name = "round",
    .capabilities = CW_CAN_RANGES,
    .build = build,
    .release = numbered_release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_only_one,
    .range_at = range_at,
    .node_range = node_range,
    .bucket_of = numbered_bucket_of,
    .memory = numbered_memory,
};
