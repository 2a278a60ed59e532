#include "cli/compare_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <clockwise/clockwise.h>

#include "base/random.h"

enum { FIRST_PLACES = 1 << 16 };

/* Where a key stands in the table (high bits) and whether it is in the sample (low bits): by other
 * bits than those that place it, or the sample would be some nodes' keys only, and a walk through
 * the table one in the order of nodes, which no real traffic is. */
static uint64_t mix(uint64_t hash)
{
    return random_mix(hash ^ 0x6b65792d73657421u);
}

static bool is_in_sample(const struct key_set *set, uint64_t hash)
{
    return (mix(hash) & ((UINT64_C(1) << set->sample_bits) - 1)) == 0;
}

struct key_set *key_set_create(size_t key_max)
{
    struct key_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->key_max = key_max;
    set->place_count = FIRST_PLACES;
    set->hashes = calloc(FIRST_PLACES, sizeof *set->hashes);
    set->counts = calloc(FIRST_PLACES, sizeof *set->counts);
    if (!set->hashes || !set->counts)
        key_set_destroy(&set);
    return set;
}

void key_set_destroy(struct key_set **set)
{
    if (!*set)
        return;
    hash_tally_release(&(*set)->tally);
    free((*set)->hashes);
    free((*set)->counts);
    free(*set);
    *set = NULL;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The place of a hash, or the free one where it belongs. */
static size_t find_place(const uint64_t *hashes, const uint32_t *counts, size_t place_count,
                         uint64_t hash)
{
    size_t place = mix(hash) >> (64 - (unsigned)__builtin_ctzll(place_count));
    while (counts[place] && hashes[place] != hash)
        place = (place + 1) & (place_count - 1);
    return place;
}

/* Into a table of another size, or of the same without the keys that have left the sample. */
static int rebuild(struct key_set *set, size_t place_count)
{
    uint64_t *hashes = calloc(place_count, sizeof *hashes);
    uint32_t *counts = calloc(place_count, sizeof *counts);
    if (!hashes || !counts) {
        free(hashes);
        free(counts);
        return -ENOMEM;
    }
    set->count = 0;
    set->lines = 0;
    for (size_t i = 0; i < set->place_count; i++) {
        if (!set->counts[i] || !is_in_sample(set, set->hashes[i]))
            continue;
        size_t place = find_place(hashes, counts, place_count, set->hashes[i]);
        hashes[place] = set->hashes[i];
        counts[place] = set->counts[i];
        set->count++;
        set->lines += counts[place];
    }
    free(set->hashes);
    free(set->counts);
    set->hashes = hashes;
    set->counts = counts;
    set->place_count = place_count;
    return 0;
}

static void drop_from_top(struct key_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->top_count; i++)
        if (is_in_sample(set, set->top[i].hash))
            set->top[kept++] = set->top[i];
    set->top_count = kept;
}

static int make_room(struct key_set *set)
{
    if (set->count >= set->key_max) {
        set->sample_bits++;
        drop_from_top(set);
        return rebuild(set, set->place_count);
    }
    if (set->count < set->place_count / 4 * 3)
        return 0;
    return rebuild(set, set->place_count * 2);
}

/* ---- the most frequent ----------------------------------------------------------------------- */

static size_t least_of_top(const struct key_set *set)
{
    size_t least = 0;
    for (size_t i = 1; i < set->top_count; i++)
        if (set->top[i].count < set->top[least].count)
            least = i;
    return least;
}

/* Exact, since counts are: whoever ends among the first was counted up past the least of the list,
 * and stood here with its text at that moment. */
static void note_repeat(struct key_set *set, const char *key, size_t key_len, uint64_t hash,
                        uint32_t count)
{
    size_t least = least_of_top(set), place = set->top_count;
    bool is_full = set->top_count == KEY_TOP_MAX;
    if (is_full && count <= set->top[least].count)
        return;
    for (size_t i = 0; i < set->top_count && place == set->top_count; i++)
        if (set->top[i].hash == hash)
            place = i;
    if (place < set->top_count) {
        set->top[place].count = count;
        return;
    }
    struct top_key *top = &set->top[is_full ? least : set->top_count++];
    *top = (struct top_key){.hash = hash, .count = count, .len = (uint32_t)key_len};
    memcpy(top->text, key, key_len < KEY_SHOWN_MAX ? key_len : KEY_SHOWN_MAX);
}

static int by_count(const void *one, const void *other)
{
    const struct top_key *a = one, *b = other;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

/* ---- adding ---------------------------------------------------------------------------------- */

int key_set_add(struct key_set *set, const char *key, size_t key_len)
{
    size_t len;
    const char *part = cw_hash_tag(key, key_len, &len);
    uint64_t hash = cw_hash(part, len);
    if (set->lines_seen == KEY_LINES_MAX)
        return -EOVERFLOW;
    set->lines_seen++;
    if (!is_in_sample(set, hash))
        return 0;
    size_t place = find_place(set->hashes, set->counts, set->place_count, hash);
    set->lines++;
    if (set->counts[place]) {
        note_repeat(set, part, len, hash, ++set->counts[place]);
        return 0;
    }
    set->hashes[place] = hash;
    set->counts[place] = 1;
    set->count++;
    hash_tally_add(&set->tally, part, len, hash);
    return make_room(set);
}

void key_set_finish(struct key_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->place_count; i++) {
        if (!set->counts[i])
            continue;
        set->square_sum += (double)set->counts[i] * set->counts[i];
        set->repeated += set->counts[i] > 1;
        set->hashes[kept] = set->hashes[i];
        set->counts[kept++] = set->counts[i];
    }
    qsort(set->top, set->top_count, sizeof *set->top, by_count);
}
