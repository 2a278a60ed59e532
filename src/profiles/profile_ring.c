/*
 * Rings of other systems: their ties, wraps and neighbours, brought to boundaries (profile_ring.h).
 *
 * Five conventions exist for which point a position belongs to. Each is the same arcs with other
 * ends: "strictly behind" ends an arc one position earlier, "the last not behind" gives an arc to
 * the point at its start, "nearest" halves the way between two points.
 */
#include "profiles/profile_ring.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- ties ------------------------------------------------------------------------------------ */

/* carbon: a point that is taken moves up to the next that is free, in the order of making. Points
 * have 16 bits, so a bitmap of what is taken decides. */
static int move_to_free(struct profile_points *points)
{
    uint8_t *taken = memory_alloc(65536, 1);
    int status = taken && points->count < 65536 ? CW_OK : CW_ENOMEM;
    uint32_t count = 0;
    for (uint32_t i = 0; status == CW_OK && i < points->count; i++) {
        uint64_t at = points->at[i];
        while (at < 65536 && taken[at])
            at++;
        if (at == 65536)
            continue; /* it stands above every key, behind a point at the very end: no keys */
        taken[at] = 1;
        points->at[count] = at;
        points->owners[count++] = points->owners[i];
    }
    points->count = count;
    free(taken);
    return status;
}

/* Leaves one of equal points; WRAP_NEAREST keeps the first and the last of them, because the one is
 * met from below and the other from above. */
static void drop_equal(struct profile_points *points, enum profile_tie tie, int keep_both)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        int same = count && points->at[i] == points->at[count - 1];
        int pair = same && count > 1 && points->at[count - 2] == points->at[i];
        if (same && tie == TIE_FIRST && !keep_both)
            continue;
        if (same && (!keep_both || pair))
            count--;
        points->at[count] = points->at[i];
        points->owners[count++] = points->owners[i];
    }
    points->count = count;
}

/* nginx: the keys of a down server go to the next points; where none of them is up, nowhere. */
static int skip_down(const struct cw_profile_map *map, struct profile_points *points)
{
    uint32_t *owners = memory_alloc(points->count, sizeof *owners);
    if (!owners)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < points->count; i++) {
        owners[i] = CW_NO_NODE;
        for (uint32_t k = 0; k <= map->profile->skip_down_max; k++) {
            uint32_t owner = points->owners[(i + k) % points->count];
            if (!map->given[owner].is_down) {
                owners[i] = owner;
                break;
            }
        }
    }
    free(points->owners);
    points->owners = owners;
    return CW_OK;
}

/* ---- boundaries ------------------------------------------------------------------------------ */

struct closing {
    struct ring *ring;
    unsigned shift; /* from positions to 64 bits */
    uint64_t mask;  /* all positions */
};

/* The arc that ends at this position; empty ones and repeated owners are merged. */
static void end_arc(const struct closing *closing, uint64_t at, uint32_t owner)
{
    struct ring *ring = closing->ring;
    uint64_t token = at << closing->shift | (((uint64_t)1 << closing->shift) - 1);
    uint32_t count = ring->token_count;
    if (count && ring->tokens[count - 1] >= token)
        return;
    if (count && ring->owners[count - 1] == owner)
        count--;
    ring->tokens[count] = token;
    ring->owners[count] = owner;
    ring->token_count = count + 1;
}

static void close_next(const struct closing *closing, const struct profile_points *points,
                       enum profile_wrap wrap)
{
    uint32_t last = points->count - 1;
    for (uint32_t i = 0; i <= last; i++)
        if (wrap != WRAP_ABOVE)
            end_arc(closing, points->at[i], points->owners[i]);
        else if (points->at[i] > 0)
            end_arc(closing, points->at[i] - 1, points->owners[i]);
    end_arc(closing, closing->mask, points->owners[wrap == WRAP_CLAMP ? last : 0]);
}

static void close_before(const struct closing *closing, const struct profile_points *points)
{
    uint32_t last = points->count - 1;
    if (points->at[0] > 0)
        end_arc(closing, points->at[0] - 1, points->owners[last]);
    for (uint32_t i = 0; i < last; i++)
        end_arc(closing, points->at[i + 1] - 1, points->owners[i]);
    end_arc(closing, closing->mask, points->owners[last]);
}

/* Half the way to the next point, the middle going to the lower one. */
static uint64_t middle(const struct closing *closing, const struct profile_points *points,
                       uint32_t i)
{
    uint64_t at = points->at[i], next = points->at[i + 1 < points->count ? i + 1 : 0];
    return (at + ((next - at) & closing->mask) / 2) & closing->mask;
}

static void close_nearest(const struct closing *closing, const struct profile_points *points)
{
    uint32_t last = points->count - 1;
    uint64_t round = middle(closing, points, last); /* behind the last point, or before the first */
    int is_before = round < points->at[0];
    if (is_before)
        end_arc(closing, round, points->owners[last]);
    for (uint32_t i = 0; i <= last; i++) {
        end_arc(closing, points->at[i], points->owners[i]);
        if (i < last)
            end_arc(closing, middle(closing, points, i), points->owners[i]);
    }
    if (!is_before)
        end_arc(closing, round, points->owners[last]);
    end_arc(closing, closing->mask, points->owners[is_before ? last : 0]);
}

static int make_boundaries(const struct cw_profile_map *map, const struct profile_points *points,
                           struct ring *ring)
{
    struct closing closing = {ring, 64 - map->bits, map->position_max};
    size_t room = (size_t)points->count * 2 + 2;
    ring->tokens = memory_alloc(room, sizeof *ring->tokens);
    ring->owners = memory_alloc(room, sizeof *ring->owners);
    if (!ring->tokens || !ring->owners)
        return CW_ENOMEM;
    switch (map->profile->ring.wrap) {
    case WRAP_BEFORE: close_before(&closing, points); break;
    case WRAP_NEAREST: close_nearest(&closing, points); break;
    default: close_next(&closing, points, map->profile->ring.wrap);
    }
    ring->vectors = map->vectors;
    return ring_index_build(ring);
}

int profile_ring_close(const struct cw_profile_map *map, struct profile_points *points,
                       struct ring *ring)
{
    const struct profile_ring_rule *rule = &map->profile->ring;
    if (rule->tie == TIE_NEXT_FREE && move_to_free(points) != CW_OK)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < points->count; i++)
        points->owners[i] = map->nodes[points->owners[i]].number;
    if (profile_points_sort(points, map->bits) != CW_OK)
        return CW_ENOMEM;
    drop_equal(points, rule->tie, rule->wrap == WRAP_NEAREST);
    if (map->profile->skip_down_max && skip_down(map, points) != CW_OK)
        return CW_ENOMEM;
    return make_boundaries(map, points, ring);
}

void profile_ring_fini(struct ring *ring)
{
    free(ring->tokens);
    free(ring->owners);
    free(ring->lines);
}

/* ---- the engine ------------------------------------------------------------------------------ */

int profile_ring_shares(struct cw_profile_map *map, const struct ring *ring)
{
    uint64_t *sums = memory_alloc(map->owner_count, sizeof *sums);
    map->shares = memory_alloc(map->owner_count, sizeof *map->shares);
    if (!sums || !map->shares) {
        free(sums);
        return CW_ENOMEM;
    }
    uint64_t start = 0;
    for (uint32_t i = 0; i < ring->token_count; i++) {
        if (ring->owners[i] != CW_NO_NODE)
            sums[ring->owners[i]] += ring->tokens[i] - start + 1;
        start = ring->tokens[i] + 1;
    }
    for (uint32_t node = 0; node < map->owner_count; node++)
        map->shares[node] = (double)sums[node] * 0x1p-64;
    if (ring->token_count == 1 && ring->owners[0] != CW_NO_NODE)
        map->shares[ring->owners[0]] = 1; /* 2^64 has wrapped to 0 */
    free(sums);
    return CW_OK;
}

static int fill_ring(struct cw_profile_map *map, struct ring *ring, struct cw_error *error)
{
    struct profile_points points = {0};
    int status = profile_points_make(map, &points, error);
    if (status == CW_OK && points.count == 0)
        status = error_set(error, CW_EBAD_WEIGHT,
                           "no server has a point on the ring: give them weights above 0");
    else if (status == CW_OK && (profile_ring_close(map, &points, ring) != CW_OK ||
                                 profile_ring_shares(map, ring) != CW_OK))
        status = error_no_memory(error);
    profile_points_fini(&points);
    return status;
}

/* A ring whose points and keys both come from a hash of few bits would lie in one corner of 32. */
static unsigned position_bits(const struct cw_profile_map *map)
{
    const struct profile_ring_rule *rule = &map->profile->ring;
    if (rule->point == POINT_HASH && !rule->point_hash && map->hash_bits)
        return map->hash_bits;
    return rule->bits ? rule->bits : 32;
}

static int build(struct cw_profile_map *map, struct cw_error *error)
{
    struct ring *ring = memory_alloc(1, sizeof *ring);
    if (!ring)
        return error_no_memory(error);
    map->state = ring;
    map->bits = position_bits(map);
    map->position_max = UINT64_MAX >> (64 - map->bits);
    return fill_ring(map, ring, error);
}

static void release(struct cw_profile_map *map)
{
    struct ring *ring = map->state;
    if (ring)
        profile_ring_fini(ring);
    free(ring);
}

static uint64_t position(const struct cw_profile_map *map, const void *key, size_t len)
{
    return profile_key_hash(map, key, len) & map->position_max;
}

static uint32_t locate(const struct cw_profile_map *map, const void *key, size_t len)
{
    if (__builtin_expect(len == 0, 0) && map->profile->no_empty_key && map->node_count > 1)
        return CW_NO_NODE;
    return ring_locate(map->state, profile_key_hash(map, key, len) << (64 - map->bits));
}

static void locate_hashes(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                          uint32_t *ret_nodes)
{
    uint64_t positions[PROFILE_BATCH]; /* in the high bits */
    unsigned shift = 64 - map->bits;
    for (size_t at = 0; at < count; at += PROFILE_BATCH) {
        size_t here = count - at < PROFILE_BATCH ? count - at : PROFILE_BATCH;
        for (size_t i = 0; i < here; i++)
            positions[i] = hashes[at + i] << shift;
        ring_locate_batch(map->state, positions, here, ret_nodes + at);
    }
}

static uint32_t range_at(const struct cw_profile_map *map, uint64_t position, uint64_t *ret_last)
{
    const struct ring *ring = map->state;
    uint32_t at = ring_search(ring, position << (64 - map->bits));
    *ret_last = ring->tokens[at] >> (64 - map->bits);
    return ring->owners[at];
}

static size_t memory(const struct cw_profile_map *map)
{
    const struct ring *ring = map->state;
    return sizeof *ring + ring->token_count * (sizeof *ring->tokens + sizeof *ring->owners) +
           ring->line_count * sizeof *ring->lines;
}

const struct profile_engine profile_engine_ring = {
    .build = build,
    .release = release,
    .locate = locate,
    .locate_hashes = locate_hashes,
    .position = position,
    .range_at = range_at,
    .memory = memory,
};
