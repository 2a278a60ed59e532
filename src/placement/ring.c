/*
 * ring: consistent hashing as first published: Karger et al., "Consistent hashing and random trees"
 * (1997), with several tokens a node in proportion to weight as in Chord and Dynamo. A hash belongs
 * to the first token clockwise, that is the least token that is not before it.
 *
 * Law: a node's tokens depend on its id alone, so when a node comes or goes keys move only to or
 * from it. Shares are fair up to the luck of the tokens: deviation 1/sqrt(tokens of the node),
 * about 8 % with 160.
 * Cost: a lookup is one cache miss whatever the size (ring_index.c); memory 8 + 4 bytes a token and
 * 68 bytes for about six of them; building O(tokens) (ring_sort.c).
 *
 * Tokens: number i of a node is the i-th of the stream of its id's hash. A node of greater weight
 * has more of the same stream. Equal tokens (never seen) go to the first node by id.
 */
#include "placement/ring.h"

#include "placement/error.h"
#include "placement/memory.h"
#include "placement/pick.h"

#include <stdlib.h>
#include <string.h>

static int check_options(struct cw_map *map, struct cw_error *error)
{
    if (map->tokens_per_weight == 0)
        map->tokens_per_weight = CW_TOKENS_PER_WEIGHT;
    uint32_t per_weight = map->tokens_per_weight;
    if (per_weight > 65536)
        return error_set(error, CW_EBAD_TOKENS, "%u tokens a weight unit: use 1 to 65536",
                         per_weight);
    if (map->nodes.weight_sum * per_weight > RING_TOKEN_COUNT_MAX)
        return error_set(error, CW_EBAD_TOKENS,
                         "the weights sum to %llu, with %u tokens a unit that is more than %llu "
                         "tokens: use smaller weights or fewer tokens",
                         (unsigned long long)map->nodes.weight_sum, per_weight,
                         (unsigned long long)RING_TOKEN_COUNT_MAX);
    return CW_OK;
}

/*
 * Tokens are made twice, which is cheaper than moving them: first they are only counted by their
 * leading bits, then each goes straight to its bucket. A bucket is small enough to be sorted in the
 * processor's cache, so the ring needs no second array of its size; buckets are so few that the
 * pages which they are filled on fit its translation cache.
 */
struct buckets {
    uint32_t *ends; /* where the next token of a bucket goes; at last, its end */
    unsigned shift; /* from a token to its bucket */
    uint32_t count;
    uint64_t *scratch_tokens; /* for the largest bucket */
    uint32_t *scratch_owners;
};

enum { BUCKET_TOKENS_BITS = 14, BUCKET_BITS_MAX = 9 };

static void count_tokens(struct buckets *buckets, const struct nodes *nodes, uint32_t per_weight)
{
    for (uint32_t node = 0; node < nodes->count; node++) {
        uint64_t seed = node_hash(nodes, node);
        uint32_t count = nodes->list[node].weight * per_weight;
        for (uint32_t i = 0; i < count; i++)
            buckets->ends[mix_stream(seed, i) >> buckets->shift]++;
    }
}

/* From counts to places; returns the greatest count. */
static uint32_t sum_counts(struct buckets *buckets)
{
    uint32_t sum = 0, greatest = 0;
    for (uint32_t i = 0; i < buckets->count; i++) {
        uint32_t here = buckets->ends[i];
        greatest = here > greatest ? here : greatest;
        buckets->ends[i] = sum;
        sum += here;
    }
    return greatest;
}

static void place_tokens(struct ring *ring, const struct buckets *buckets,
                         const struct nodes *nodes, uint32_t per_weight)
{
    for (uint32_t node = 0; node < nodes->count; node++) {
        uint64_t seed = node_hash(nodes, node);
        uint32_t count = nodes->list[node].weight * per_weight;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t token = mix_stream(seed, i);
            uint32_t at = buckets->ends[token >> buckets->shift]++;
            ring->tokens[at] = token;
            ring->owners[at] = node;
        }
    }
}

static void sort_buckets(struct ring *ring, const struct buckets *buckets)
{
    uint32_t start = 0;
    for (uint32_t i = 0; i < buckets->count; i++) {
        uint32_t count = buckets->ends[i] - start;
        uint64_t *tokens = ring->tokens + start;
        uint32_t *owners = ring->owners + start;
        if (ring_sort(tokens, owners, buckets->scratch_tokens, buckets->scratch_owners, count)) {
            memcpy(tokens, buckets->scratch_tokens, count * sizeof *tokens);
            memcpy(owners, buckets->scratch_owners, count * sizeof *owners);
        }
        start = buckets->ends[i];
    }
}

static int fill_tokens(struct ring *ring, const struct nodes *nodes, uint32_t per_weight)
{
    struct buckets buckets = {.shift = 63, .count = 2};
    while (ring->token_count >> BUCKET_TOKENS_BITS > buckets.count &&
           buckets.count < 1u << BUCKET_BITS_MAX) {
        buckets.shift--;
        buckets.count *= 2;
    }
    ring->tokens = memory_alloc_lines(ring->token_count, sizeof *ring->tokens);
    ring->owners = memory_alloc_lines(ring->token_count, sizeof *ring->owners);
    buckets.ends = memory_alloc(buckets.count, sizeof *buckets.ends);
    int status = ring->tokens && ring->owners && buckets.ends ? CW_OK : CW_ENOMEM;
    if (status == CW_OK) {
        count_tokens(&buckets, nodes, per_weight);
        uint32_t greatest = sum_counts(&buckets);
        buckets.scratch_tokens = memory_alloc(greatest, sizeof *buckets.scratch_tokens);
        buckets.scratch_owners = memory_alloc(greatest, sizeof *buckets.scratch_owners);
        status = buckets.scratch_tokens && buckets.scratch_owners ? CW_OK : CW_ENOMEM;
    }
    if (status == CW_OK) {
        place_tokens(ring, &buckets, nodes, per_weight);
        sort_buckets(ring, &buckets);
    }
    free(buckets.ends);
    free(buckets.scratch_tokens);
    free(buckets.scratch_owners);
    return status;
}

static int sum_shares(const struct ring *ring, const struct nodes *nodes, double *shares)
{
    uint64_t *sums = memory_alloc(nodes->count, sizeof *sums);
    if (!sums)
        return CW_ENOMEM;
    uint64_t last = ring->tokens[ring->token_count - 1]; /* the first arc comes round from there */
    for (uint32_t i = 0; i < ring->token_count; i++) {
        sums[ring->owners[i]] += ring->tokens[i] - last;
        last = ring->tokens[i];
    }
    for (uint32_t node = 0; node < nodes->count; node++)
        shares[node] = (double)sums[node] * 0x1p-64;
    if (nodes->count == 1)
        shares[0] = 1; /* 2^64 has wrapped to 0 */
    free(sums);
    return CW_OK;
}

static int ring_build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    int status = check_options(map, error);
    if (status != CW_OK)
        return status;
    struct ring *ring = memory_alloc(1, sizeof *ring);
    if (!ring)
        return error_no_memory(error);
    map->state = ring;
    ring->vectors = map->vectors;
    ring->token_count = (uint32_t)(map->nodes.weight_sum * map->tokens_per_weight);
    status = fill_tokens(ring, &map->nodes, map->tokens_per_weight);
    if (status == CW_OK)
        status = sum_shares(ring, &map->nodes, map->shares);
    if (status == CW_OK)
        status = ring_index_build(ring);
    if (map->vectors >= VECTORS_AVX512)
        map->locate = ring_map_locate_avx512;
    return status == CW_OK ? CW_OK : error_no_memory(error);
}

static void ring_release(struct cw_map *map)
{
    struct ring *ring = map->state;
    if (!ring)
        return;
    free(ring->tokens);
    free(ring->owners);
    free(ring->lines);
    free(ring);
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    ring_locate_batch(map->state, hashes, count, ret_nodes);
}

/* Walks clockwise. At most once round: every node has a token. */
static size_t locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes)
{
    const struct ring *ring = map->state;
    struct pick pick;
    uint32_t at = ring_search(ring, hash);
    pick_init(&pick, &map->nodes, k, ret_nodes);
    for (uint32_t i = 0; i < ring->token_count; i++, at++) {
        if (at == ring->token_count)
            at = 0;
        if (pick_offer(&pick, ring->owners[at]))
            break;
    }
    return pick_finish(&pick);
}

static uint32_t range_at(const struct cw_map *map, uint64_t hash, uint64_t *ret_last)
{
    const struct ring *ring = map->state;
    uint32_t at = ring_search(ring, hash);
    if (at == ring->token_count) {
        *ret_last = UINT64_MAX;
        return ring->owners[0];
    }
    *ret_last = ring->tokens[at];
    return ring->owners[at];
}

static size_t memory(const struct cw_map *map)
{
    const struct ring *ring = map->state;
    return sizeof *ring + ring->token_count * (sizeof *ring->tokens + sizeof *ring->owners) +
           ring->line_count * (sizeof *ring->lines + sizeof *ring->starts);
}

const struct placement placement_ring = {
    .name = "ring",
    .capabilities = CW_CAN_WEIGHTS | CW_CAN_REMOVE_ANY | CW_CAN_REPLICAS | CW_CAN_RANGES,
    .build = ring_build,
    .release = ring_release,
    .locate = ring_map_locate,
    .locate_batch = locate_batch,
    .locate_n = locate_n,
    .range_at = range_at,
    .memory = memory,
};
