#include "placement/placement.h"

#include <string.h>

static const struct placement *const placements[] = {
    [CW_PLACEMENT_SLOTS] = &placement_slots,           [CW_PLACEMENT_RING] = &placement_ring,
    [CW_PLACEMENT_RENDEZVOUS] = &placement_rendezvous, [CW_PLACEMENT_JUMP] = &placement_jump,
    [CW_PLACEMENT_JUMPBACK] = &placement_jumpback,     [CW_PLACEMENT_MAGLEV] = &placement_maglev,
    [CW_PLACEMENT_ROUND] = &placement_round,           [CW_PLACEMENT_MODULO] = &placement_modulo,
    [CW_PLACEMENT_PROFILE] = &placement_profile,
};

#define PLACEMENT_COUNT (sizeof placements / sizeof *placements)

const struct placement *placement_get(enum cw_placement placement)
{
    return (size_t)placement < PLACEMENT_COUNT ? placements[placement] : NULL;
}

const char *cw_placement_name(enum cw_placement placement)
{
    const struct placement *found = placement_get(placement);
    return found ? found->name : NULL;
}

unsigned cw_placement_capabilities(enum cw_placement placement)
{
    const struct placement *found = placement_get(placement);
    return found ? found->capabilities : 0;
}

int cw_placement_find(const char *name, enum cw_placement *ret_placement)
{
    for (size_t i = 0; name && i < PLACEMENT_COUNT; i++)
        if (strcmp(placements[i]->name, name) == 0) {
            *ret_placement = (enum cw_placement)i;
            return CW_OK;
        }
    return CW_EINVAL;
}
