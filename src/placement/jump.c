/*
 * jump: Lamping and Veach, "A fast, minimal memory, consistent hash algorithm" (2014), bit for bit,
 * for pools that other programs place by it. New pools want jumpback, which has the same contract
 * and is several times faster.
 *
 * Law: going from n to n + 1 nodes moves 1 / (n + 1) of the keys, all to the new node; exactly
 * uniform. Only the last node can be removed.
 * Cost: O(log n): about ln(n) rounds of a floating-point division each; no memory.
 *
 * The one mapping that uses floating point, because the paper's does: a division and a product of
 * doubles, both correctly rounded by IEEE 754, with nothing that a compiler may contract. Integer
 * division is not the same: it differs in about one of 400,000 cases near whole quotients.
 */
#include "placement/jump.h"

#include "placement/numbered.h"

static int build(struct cw_map *map, const struct history *history, struct cw_error *error)
{
    return numbered_build(map, history, false, error);
}

static uint32_t locate(const struct cw_map *map, uint64_t hash)
{
    return numbered_of(map)->nodes[jump_bucket(hash, map->nodes.count)];
}

static void locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                         uint32_t *ret_nodes)
{
    const uint32_t *nodes = numbered_of(map)->nodes;
    jump_batch(map->vectors, hashes, count, map->nodes.count, ret_nodes);
    for (size_t i = 0; i < count; i++)
        ret_nodes[i] = nodes[ret_nodes[i]];
}

const struct placement placement_jump = {
    .name = "jump",
    .capabilities = 0,
    .build = build,
    .release = numbered_release,
    .locate = locate,
    .locate_batch = locate_batch,
    .locate_n = locate_only_one,
    .bucket_of = numbered_bucket_of,
    .memory = numbered_memory,
};
