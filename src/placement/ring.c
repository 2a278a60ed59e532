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

static void make_tokens(struct ring *ring, const struct nodes *nodes, uint32_t per_weight)
{
    uint32_t at = 0;
    for (uint32_t node = 0; node < nodes->count; node++) {
        uint64_t seed = node_hash(nodes, node);
        uint32_t end = at + nodes->list[node].weight * per_weight;
        for (uint32_t i = 0; at < end; i++, at++) {
            ring->tokens[at] = mix_stream(seed, i);
            ring->owners[at] = node;
        }
    }
}

static int fill_tokens(struct ring *ring, const struct nodes *nodes, uint32_t per_weight)
{
    uint32_t count = ring->token_count;
    uint64_t *tokens = memory_alloc(count, sizeof *tokens);
    uint32_t *owners = memory_alloc(count, sizeof *owners);
    ring->tokens = memory_alloc(count, sizeof *tokens);
    ring->owners = memory_alloc(count, sizeof *owners);
    int status = tokens && owners && ring->tokens && ring->owners ? CW_OK : CW_ENOMEM;
    if (status == CW_OK) {
        make_tokens(ring, nodes, per_weight);
        if (ring_sort(ring->tokens, ring->owners, tokens, owners, count)) {
            uint64_t *sorted = tokens;
            uint32_t *sorted_owners = owners;
            tokens = ring->tokens;
            owners = ring->owners;
            ring->tokens = sorted;
            ring->owners = sorted_owners;
        }
    }
    free(tokens);
    free(owners);
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
