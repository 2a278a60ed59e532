/*
 * Plans: the hash space is walked once, from the end of a range of either map to the next, and what
 * has another owner is summed by pair of nodes, in integers. Exact for all placements whose nodes
 * own ranges, also between different placements.
 */
#include "placement/plan.h"

#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

static int match_nodes(struct cw_plan *plan)
{
    const struct nodes *from = &plan->from->nodes, *to = &plan->to->nodes;
    plan->numbers = memory_alloc(from->count, sizeof *plan->numbers);
    if (!plan->numbers)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < from->count; i++)
        plan->numbers[i] = nodes_find(to, from->list[i].id);
    return CW_OK;
}

/* Adjacent arcs of one pair make one range. */
static int walk(const struct cw_plan *plan, struct pairs *pairs)
{
    const struct cw_map *from = plan->from, *to = plan->to;
    uint32_t run_from = CW_NO_NODE, run_to = CW_NO_NODE;
    uint64_t at = 0;
    for (;;) {
        uint64_t last, to_last;
        uint32_t old = from->ops->range_at(from, at, &last);
        uint32_t new = to->ops->range_at(to, at, &to_last);
        if (to_last < last)
            last = to_last;
        if (plan->numbers[old] != new) {
            int starts = old != run_from || new != run_to;
            if (pairs_add(pairs, old, new, (unsigned __int128)(last - at) + 1, starts) != CW_OK)
                return CW_ENOMEM;
            run_from = old;
            run_to = new;
        } else {
            run_from = run_to = CW_NO_NODE;
        }
        if (last == UINT64_MAX)
            return CW_OK;
        at = last + 1;
    }
}

/* One hash of each of sample_count equal arcs, anywhere in it: steadier than free draws. */
static int walk_samples(const struct cw_plan *plan, struct pairs *pairs)
{
    unsigned __int128 all = (unsigned __int128)1 << 64;
    for (uint64_t i = 0; i < plan->sample_count; i++) {
        uint64_t start = (uint64_t)(all * i / plan->sample_count);
        uint64_t next = (uint64_t)(all * (i + 1) / plan->sample_count);
        uint32_t old, new;
        uint64_t hash = start + mix_high(mix_stream(0, i), next - start);
        if (cw_plan_locate(plan, hash, &old, &new) &&
            pairs_add(pairs, old, new, next - start, 1) != CW_OK)
            return CW_ENOMEM;
    }
    return CW_OK;
}

/* Newton's, so that the library needs no libm. */
static double square_root(double square)
{
    double root = 1;
    for (int i = 0; square > 0 && i < 64; i++)
        root = (root + square / root) / 2;
    return square > 0 ? root : 0;
}

/* 1.96 standard errors of a share that was found in independent samples; those of walk_samples()
 * are at least as good. Half a sample more either way, so that a share of 0 has an error too. */
static double error_of(double share, uint64_t sample_count)
{
    double count = (double)sample_count;
    return 1.96 * square_root(share * (1 - share) / count) + 0.5 / count;
}

static int by_share(const void *one, const void *other)
{
    const struct cw_move *a = one, *b = other;
    if (a->share != b->share)
        return a->share < b->share ? 1 : -1;
    if (a->from_node != b->from_node)
        return a->from_node < b->from_node ? -1 : 1;
    return a->to_node < b->to_node ? -1 : 1;
}

static int list_moves(struct cw_plan *plan, const struct pairs *pairs)
{
    plan->moves = memory_alloc(pairs->count, sizeof *plan->moves);
    if (!plan->moves)
        return CW_ENOMEM;
    for (size_t i = 0; i < pairs->place_count; i++) {
        const struct pair_sum *sum = &pairs->places[i];
        if (sum->ranges)
            plan->moves[plan->move_count++] = (struct cw_move){
                sum->from, sum->to, (double)sum->size / plan->space,
                plan->sample_count ? 0 : sum->ranges};
    }
    qsort(plan->moves, plan->move_count, sizeof *plan->moves, by_share);
    return CW_OK;
}

/* Whether a node's ideal share grows (1), shrinks (-1) or stays; exact, but for a profile's real
 * weights. */
static int growth(const struct cw_plan *plan, uint32_t old, uint32_t new)
{
    const struct nodes *from = &plan->from->nodes, *to = &plan->to->nodes;
    if (old == CW_NO_NODE)
        return 1;
    if (plan->from->weights || plan->to->weights) {
        double had = map_ideal_share(plan->from, old), has = map_ideal_share(plan->to, new);
        return (has > had * (1 + 1e-12)) - (had > has * (1 + 1e-12));
    }
    unsigned __int128 has = (unsigned __int128)to->list[new].weight * from->weight_sum;
    unsigned __int128 had = (unsigned __int128)from->list[old].weight * to->weight_sum;
    return (has > had) - (has < had);
}

/* Between two nodes that stay, and not from one that should have less to one that should have more.
 */
static int is_needless(const struct cw_plan *plan, const struct cw_move *move)
{
    const struct nodes *from = &plan->from->nodes, *to = &plan->to->nodes;
    uint32_t receiver = nodes_find(from, to->list[move->to_node].id);
    uint32_t giver = plan->numbers[move->from_node];
    return giver != CW_NO_NODE && receiver != CW_NO_NODE &&
           (growth(plan, receiver, move->to_node) <= 0 ||
            growth(plan, move->from_node, giver) >= 0);
}

static void sum_shares(struct cw_plan *plan)
{
    const struct nodes *from = &plan->from->nodes, *to = &plan->to->nodes;
    for (uint32_t i = 0; i < to->count; i++) {
        uint32_t old = nodes_find(from, to->list[i].id);
        double had = old == CW_NO_NODE ? 0 : cw_map_ideal_share(plan->from, old);
        if (growth(plan, old, i) > 0)
            plan->ideal_share += cw_map_ideal_share(plan->to, i) - had;
    }
    for (size_t i = 0; i < plan->move_count; i++) {
        plan->share += plan->moves[i].share;
        if (is_needless(plan, &plan->moves[i]))
            plan->needless_share += plan->moves[i].share;
    }
}

static int walk_all(struct cw_plan *plan, struct pairs *pairs)
{
    int has_profile = plan->from->ops->locate_key || plan->to->ops->locate_key;
    plan->space = 0x1p64;
    if (has_profile)
        return plan->sample_count ? plan_walk_keys(plan, pairs) : plan_walk_positions(plan, pairs);
    return plan->sample_count ? walk_samples(plan, pairs) : walk(plan, pairs);
}

static int fill_plan(struct cw_plan *plan)
{
    struct pairs pairs = {0};
    int status = match_nodes(plan);
    if (status == CW_OK)
        status = walk_all(plan, &pairs);
    if (status == CW_OK)
        status = list_moves(plan, &pairs);
    pairs_fini(&pairs);
    if (status == CW_OK)
        sum_shares(plan);
    if (plan->sample_count)
        plan->share_error = error_of(plan->share, plan->sample_count);
    return status;
}

static int create_plan(struct cw_map *from, struct cw_map *to, uint64_t sample_count,
                       struct cw_plan **ret_plan)
{
    struct cw_plan *plan = memory_alloc(1, sizeof *plan);
    if (!plan)
        return CW_ENOMEM;
    plan->from = cw_map_ref(from);
    plan->to = cw_map_ref(to);
    plan->sample_count = sample_count;
    int status = fill_plan(plan);
    if (status != CW_OK) {
        cw_plan_destroy(&plan);
        return status;
    }
    *ret_plan = plan;
    return CW_OK;
}

int cw_plan_create(struct cw_map *from, struct cw_map *to, struct cw_plan **ret_plan)
{
    if (!from || !to || !ret_plan)
        return CW_EINVAL;
    if ((!from->ops->range_at || !to->ops->range_at) && plan_can_walk_positions(from, to) != CW_OK)
        return CW_ENOT_SUPPORTED;
    return create_plan(from, to, 0, ret_plan);
}

int cw_plan_estimate(struct cw_map *from, struct cw_map *to, uint64_t sample_count,
                     struct cw_plan **ret_plan)
{
    if (!from || !to || !ret_plan || sample_count == 0 || sample_count > UINT32_MAX)
        return CW_EINVAL;
    return create_plan(from, to, sample_count, ret_plan);
}

void cw_plan_destroy(struct cw_plan **plan)
{
    if (!plan || !*plan)
        return;
    cw_map_unref(&(*plan)->from);
    cw_map_unref(&(*plan)->to);
    free((*plan)->numbers);
    free((*plan)->moves);
    free(*plan);
    *plan = NULL;
}

const struct cw_move *cw_plan_moves(const struct cw_plan *plan, size_t *ret_count)
{
    *ret_count = plan->move_count;
    return plan->moves;
}

double cw_plan_share(const struct cw_plan *plan)
{
    return plan->share;
}

double cw_plan_share_error(const struct cw_plan *plan)
{
    return plan->share_error;
}

double cw_plan_ideal_share(const struct cw_plan *plan)
{
    return plan->ideal_share;
}

double cw_plan_needless_share(const struct cw_plan *plan)
{
    return plan->needless_share;
}

int cw_plan_locate(const struct cw_plan *plan, uint64_t hash, uint32_t *ret_from, uint32_t *ret_to)
{
    *ret_from = cw_locate(plan->from, hash);
    *ret_to = cw_locate(plan->to, hash);
    return plan_moves(plan, *ret_from, *ret_to);
}

int cw_plan_locate_key(const struct cw_plan *plan, const void *key, size_t key_len,
                       uint32_t *ret_from, uint32_t *ret_to)
{
    *ret_from = cw_locate_key(plan->from, key, key_len);
    *ret_to = cw_locate_key(plan->to, key, key_len);
    return plan_moves(plan, *ret_from, *ret_to);
}
