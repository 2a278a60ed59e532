/* Records of the map store with memory of their own. */
#include <stdlib.h>
#include <string.h>

#include "move/map_store.h"

/* What map_record_copy() makes is one of these: what the record points to lives beside it. */
struct owned {
    struct map_record record;
    struct transition_info transition;
    char *engine;
    char **burnt;
};

static void destroy_owned(struct owned *owned)
{
    for (size_t i = 0; owned->burnt && i < owned->record.burnt_count; i++)
        free(owned->burnt[i]);
    cw_map_unref(&owned->record.map);
    cw_map_unref(&owned->transition.from);
    cw_map_unref(&owned->transition.to);
    free(owned->burnt);
    free(owned->engine);
    free(owned);
}

void map_record_destroy(struct map_record **record)
{
    if (*record)
        destroy_owned((struct owned *)*record);
    *record = NULL;
}

static struct cw_map *ref_or_null(struct cw_map *map)
{
    return map ? cw_map_ref(map) : NULL;
}

static bool copy_burnt(struct owned *owned, const struct map_record *record)
{
    owned->burnt = calloc(record->burnt_count ? record->burnt_count : 1, sizeof *owned->burnt);
    owned->record.burnt = (const char *const *)owned->burnt;
    owned->record.burnt_count = owned->burnt ? record->burnt_count : 0;
    for (size_t i = 0; i < owned->record.burnt_count; i++)
        if (!(owned->burnt[i] = strdup(record->burnt[i])))
            return false;
    return owned->burnt != NULL;
}

struct map_record *map_record_copy(const struct map_record *record)
{
    struct owned *owned = calloc(1, sizeof *owned);
    if (!owned)
        return NULL;
    owned->record.revision = record->revision;
    owned->record.next_transition = record->next_transition;
    owned->record.map = ref_or_null(record->map);
    if (record->transition) {
        owned->transition = *record->transition;
        owned->transition.from = ref_or_null(record->transition->from);
        owned->transition.to = ref_or_null(record->transition->to);
        owned->record.transition = &owned->transition;
    }
    owned->engine = strdup(record->engine);
    owned->record.engine = owned->engine;
    if (!owned->engine || !copy_burnt(owned, record)) {
        destroy_owned(owned);
        return NULL;
    }
    return &owned->record;
}
