#include "placement/pairs.h"

#include "placement/memory.h"
#include "placement/mix.h"

#include <clockwise/clockwise.h>

#include <stdlib.h>

enum { FIRST_PLACE_COUNT = 64 };

static struct pair_sum *find_place(const struct pairs *pairs, uint32_t from, uint32_t to)
{
    size_t mask = pairs->place_count - 1;
    size_t at = mix64((uint64_t)from << 32 | to) & mask;
    while (pairs->places[at].ranges &&
           (pairs->places[at].from != from || pairs->places[at].to != to))
        at = (at + 1) & mask;
    return &pairs->places[at];
}

/* At most half of the places are ever taken. */
static int make_room(struct pairs *pairs)
{
    if (pairs->count * 2 < pairs->place_count)
        return CW_OK;
    struct pairs larger = {.count = pairs->count};
    larger.place_count = pairs->place_count ? pairs->place_count * 2 : FIRST_PLACE_COUNT;
    larger.places = memory_alloc(larger.place_count, sizeof *larger.places);
    if (!larger.places)
        return CW_ENOMEM;
    for (size_t i = 0; i < pairs->place_count; i++)
        if (pairs->places[i].ranges)
            *find_place(&larger, pairs->places[i].from, pairs->places[i].to) = pairs->places[i];
    free(pairs->places);
    *pairs = larger;
    return CW_OK;
}

int pairs_add(struct pairs *pairs, uint32_t from, uint32_t to, unsigned __int128 size,
              uint64_t ranges)
{
    if (make_room(pairs) != CW_OK)
        return CW_ENOMEM;
    struct pair_sum *place = find_place(pairs, from, to);
    if (place->ranges == 0) {
        place->from = from;
        place->to = to;
        pairs->count++;
    }
    place->size += size;
    place->ranges += ranges;
    return CW_OK;
}

void pairs_fini(struct pairs *pairs)
{
    free(pairs->places);
}
