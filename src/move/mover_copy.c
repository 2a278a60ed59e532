/* Copies of what crosses threads: a change on its way in. */
#include <stdlib.h>
#include <string.h>

#include "move/mover_internal.h"

static bool copy_text(const char *from, const char **ret_copy)
{
    *ret_copy = from ? strdup(from) : NULL;
    return !from || *ret_copy;
}

static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

void mover_change_release(struct mover_change *change)
{
    struct cw_node *nodes = (struct cw_node *)(uintptr_t)change->nodes;
    for (size_t i = 0; nodes && i < change->node_count; i++) {
        free_text(nodes[i].id);
        free_text(nodes[i].address);
        free_text(nodes[i].zone);
    }
    free(nodes);
    free_text(change->dead_id);
    free_text(change->who);
    free_text(change->what);
    cw_map_unref(&change->to);
    *change = (struct mover_change){0};
}

static bool copy_node(struct cw_node *to, const struct cw_node *from)
{
    to->weight = from->weight;
    bool has_id = copy_text(from->id, &to->id);
    bool has_address = copy_text(from->address, &to->address);
    return copy_text(from->zone, &to->zone) && has_id && has_address;
}

bool mover_change_copy(struct mover_change *to, const struct mover_change *from)
{
    struct cw_node *nodes = calloc(from->node_count + 1, sizeof *nodes);
    *to = *from;
    to->nodes = nodes;
    to->to = from->to ? cw_map_ref(from->to) : NULL;
    bool fine = copy_text(from->dead_id, &to->dead_id);
    fine &= copy_text(from->who, &to->who);
    fine &= copy_text(from->what, &to->what);
    fine &= nodes != NULL;
    for (size_t i = 0; nodes && i < from->node_count; i++)
        fine &= copy_node(&nodes[i], &from->nodes[i]);
    if (!fine)
        mover_change_release(to);
    return fine;
}
