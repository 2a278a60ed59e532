/*
 * jumpback: Ertl, "JumpBackHash: say goodbye to the modulo operation to distribute keys uniformly
 * to buckets" (2024), with the ranking of choose-k for replicas and removed nodes.
 *
 * Law: going from n to n + 1 nodes moves 1 / (n + 1) of the keys, all to the new node; exactly
 * uniform. Any node may be removed: its bucket stays as a hole, and the keys of a hole go to the
 * next in their ranking. What is removed is a set, so the order of removals does not matter; a new
 * node fills the lowest hole.
 * Cost: O(1): at most 5/3 random words on average; a lookup that meets h holes costs O((h + 1)^2).
 * No memory but the numbers of nodes.
 *
 * Choose-k (github/rust-gems, consistent-choose-k): with h_0, h_1, ... independent consistent
 * hashes, let M(k, n) be the greatest of h_i(n - i) + i for i < k. Then S(k, n) = { M(k, n) } and
 * S(k - 1, M(k, n)) is a uniform set of k of n numbers, of which at most one changes when n grows.
 * The sets are nested, and the rank of a number is when it joins: S(k) \ S(k - 1). (Its place in
 * the set would not do: the greatest number is no fair first.)
 */
#include "placement/jumpback.h"

#include "placement/numbered.h"
#include "placement/pick.h"

#include <string.h>

/* The ranking as far as it has been asked for. */
struct ranking {
    uint64_t hash;
    uint32_t bucket_count;
    uint32_t count;
    uint32_t *chosen; /* descending */
};

static uint32_t hash_of_level(uint64_t hash, uint32_t level, uint32_t bucket_count)
{
    uint64_t seed = level ? mix64(hash ^ (level * MIX_GOLDEN)) : hash;
    return jumpback_bucket(seed, bucket_count - level) + level;
}

/* The bucket that joins when the set grows by one. Walks down the set: either the new level's hash
 * is above the greatest that is left, and joins there; or the greatest stays, and the question is
 * the same below it with one level less. */
static uint32_t next_rank(struct ranking *ranking)
{
    uint32_t at = 0, below = ranking->bucket_count;
    for (;; at++) {
        uint32_t bucket = hash_of_level(ranking->hash, ranking->count - at, below);
        if (at == ranking->count || bucket > ranking->chosen[at]) {
            memmove(&ranking->chosen[at + 1], &ranking->chosen[at],
                    (ranking->count - at) * sizeof *ranking->chosen);
            ranking->chosen[at] = bucket;
            ranking->count++;
            return bucket;
        }
        below = ranking->chosen[at];
    }
}

/*
 * Ranks that are asked for at most. A key whose first 64 are all holes (with half of the buckets
 * gone, one in 2^64) goes on by rendezvous ranking over the nodes that are there, which does not
 * depend on history either, so a lookup is bounded however many nodes are gone.
 */
enum { RANKS_MAX = 64 };

static uint32_t locate_past_holes(const struct cw_map *map, uint64_t hash)
{
    const struct numbered *numbered = numbered_of(map);
    uint32_t chosen[RANKS_MAX];
    struct ranking ranking = {hash, numbered->bucket_count, 0, chosen};
    while (ranking.count < RANKS_MAX && ranking.count < numbered->bucket_count) {
        uint32_t node = numbered->nodes[next_rank(&ranking)];
        if (node != CW_NO_NODE)
            return node;
    }
    return rank_best_equal(map->nodes.rank, map->nodes.count, hash);
}

static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    const struct numbered *numbered = numbered_of(map);
    uint32_t node = numbered->nodes[jumpback_bucket(hash, numbered->bucket_count)];
    return node != CW_NO_NODE ? node : locate_past_holes(map, hash);
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    const struct numbered *numbered = numbered_of(map);
    jumpback_batch(map->vectors, hashes, count, numbered->bucket_count, ret_nodes);
    for (size_t i = 0; i < count; i++) {
        ret_nodes[i] = numbered->nodes[ret_nodes[i]];
        if (ret_nodes[i] == CW_NO_NODE)
            ret_nodes[i] = locate_past_holes(map, hashes[i]);
    }
}

static size_t locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    const struct numbered *numbered = numbered_of(map);
    uint32_t chosen[RANKS_MAX];
    struct ranking ranking = {hash, numbered->bucket_count, 0, chosen};
    struct pick pick;
    bool done = false;
    pick_init(&pick, &map->nodes, k, ret_nodes);
    while (!done && ranking.count < RANKS_MAX && ranking.count < numbered->bucket_count) {
        uint32_t node = numbered->nodes[next_rank(&ranking)];
        if (node != CW_NO_NODE)
            done = pick_offer(&pick, node);
    }
    if (!done)
        pick.count = rank_append(map, hash, map->nodes.zones, pick.want_zones, ret_nodes,
                                 pick.count);
    return rank_append(map, hash, NULL, k, ret_nodes, pick_finish(&pick));
}

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    return numbered_build(map, history, true, error);
}

const struct placement placement_jumpback = {
    .name = "jumpback",
    .capabilities = CW_CAN_REMOVE_ANY | CW_CAN_REPLICAS,
    .build = build,
    .release = numbered_release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_n,
    .bucket_of = numbered_bucket_of,
    .memory = numbered_memory,
};
