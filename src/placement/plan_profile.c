/*
 * Plans with profiles. Two of them that hash keys alike are walked by the system's own positions, a
 * ring, a table or slots: exact. All else is compared key by key, over keys that are made from a
 * number: text as keys are, long enough that no hash sees a pattern in it.
 */
#include "placement/plan.h"
#include "placement/profile.h"

#include <string.h>

enum { BATCH = 256, KEY_LEN = 20 };

int plan_can_walk_positions(const struct cw_map *from, const struct cw_map *to)
{
    const struct cw_profile_map *one = cw_map_profile_map(from), *other = cw_map_profile_map(to);
    return one && other && cw_profile_same_positions(one, other) ? CW_OK : CW_ENOT_SUPPORTED;
}

/* ---- positions ------------------------------------------------------------------------------- */

int plan_walk_positions(struct cw_plan *plan, struct pairs *pairs)
{
    const struct profile_state *from = profile_of(plan->from), *to = profile_of(plan->to);
    uint64_t max = cw_profile_position_max(from->map), last, to_last;
    uint32_t run_from = CW_NO_NODE, run_to = CW_NO_NODE;
    plan->space = (double)max + 1;
    for (uint64_t at = 0;; at = last + 1) {
        uint32_t old = profile_node_of(from, cw_profile_range_at(from->map, at, &last));
        uint32_t new = profile_node_of(to, cw_profile_range_at(to->map, at, &to_last));
        if (to_last < last)
            last = to_last;
        if (plan_moves(plan, old, new)) {
            int starts = old != run_from || new != run_to;
            if (pairs_add(pairs, old, new, (unsigned __int128)(last - at) + 1, starts) != CW_OK)
                return CW_ENOMEM;
            run_from = old;
            run_to = new;
        } else {
            run_from = run_to = CW_NO_NODE;
        }
        if (last >= max)
            return CW_OK;
    }
}

/* ---- keys ------------------------------------------------------------------------------------ */

struct samples {
    char texts[BATCH][KEY_LEN];
    const void *keys[BATCH];
    size_t lens[BATCH];
    uint32_t old[BATCH], new[BATCH];
};

/* "key:" and 16 digits of a number mixed from the sample's. */
static void make_key(uint64_t sample, char ret_text[KEY_LEN])
{
    static const char digits[16] = "0123456789abcdef";
    uint64_t number = mix_stream(0, sample);
    memcpy(ret_text, "key:", 4);
    for (unsigned i = 0; i < 16; i++)
        ret_text[4 + i] = digits[number >> 4 * i & 15];
}

static int add_batch(const struct cw_plan *plan, struct samples *samples, uint64_t first,
                     size_t count, struct pairs *pairs)
{
    for (size_t i = 0; i < count; i++)
        make_key(first + i, samples->texts[i]);
    cw_locate_keys(plan->from, samples->keys, samples->lens, count, samples->old);
    cw_locate_keys(plan->to, samples->keys, samples->lens, count, samples->new);
    for (size_t i = 0; i < count; i++)
        if (plan_moves(plan, samples->old[i], samples->new[i]) &&
            pairs_add(pairs, samples->old[i], samples->new[i], 1, 1) != CW_OK)
            return CW_ENOMEM;
    return CW_OK;
}

int plan_walk_keys(struct cw_plan *plan, struct pairs *pairs)
{
    struct samples samples;
    plan->space = (double)plan->sample_count;
    for (size_t i = 0; i < BATCH; i++) {
        samples.keys[i] = samples.texts[i];
        samples.lens[i] = KEY_LEN;
    }
    for (uint64_t done = 0; done < plan->sample_count; done += BATCH) {
        uint64_t left = plan->sample_count - done;
        if (add_batch(plan, &samples, done, left < BATCH ? (size_t)left : BATCH, pairs) != CW_OK)
            return CW_ENOMEM;
    }
    return CW_OK;
}
