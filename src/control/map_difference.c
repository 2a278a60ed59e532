#include "control/map_difference.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 4 };

struct differences {
    struct buffer *out;
    size_t count;
};

static void add(struct differences *differences, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct differences *differences, const char *format, ...)
{
    char text[800];
    va_list args;
    if (differences->count++ >= SHOWN_MAX)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buffer_printf(differences->out, "%s%s", differences->count > 1 ? "; " : "", text);
}

static void compare_texts(struct differences *differences, const char *id, const char *what,
                          const char *file, const char *stored)
{
    if (strcmp(file, stored) != 0)
        add(differences, "node %s has %s %s in the file and %s in the map", id, what,
            *file ? file : "(none)", *stored ? stored : "(none)");
}

static void compare_node(struct differences *differences, const struct cw_node *file,
                         const struct cw_node *stored)
{
    if (file->weight != stored->weight)
        add(differences, "node %s has weight %" PRIu32 " in the file and %" PRIu32 " in the map",
            file->id, file->weight, stored->weight);
    compare_texts(differences, file->id, "address", file->address, stored->address);
    compare_texts(differences, file->id, "zone", file->zone, stored->zone);
}

static void compare_nodes(struct differences *differences, const struct cw_map *file,
                          const struct cw_map *stored)
{
    for (uint32_t i = 0; i < cw_map_node_count(file); i++) {
        const struct cw_node *node = cw_map_node(file, i);
        uint32_t index = cw_map_find_node(stored, node->id);
        if (index == CW_NO_NODE)
            add(differences, "node %s is in the file only", node->id);
        else
            compare_node(differences, node, cw_map_node(stored, index));
    }
    for (uint32_t i = 0; i < cw_map_node_count(stored); i++)
        if (cw_map_find_node(file, cw_map_node(stored, i)->id) == CW_NO_NODE)
            add(differences, "node %s is in the map only", cw_map_node(stored, i)->id);
}

void map_difference(const struct cw_map *file, const struct cw_map *stored, struct buffer *out)
{
    struct differences differences = {out, 0};
    const char *name = cw_map_placement_name(file), *stored_name = cw_map_placement_name(stored);
    if (strcmp(name, stored_name) != 0)
        add(&differences, "placement is %s in the file and %s in the map", name, stored_name);
    else if (cw_map_slot_count(file) != cw_map_slot_count(stored))
        add(&differences, "there are %" PRIu32 " slots in the file and %" PRIu32 " in the map",
            cw_map_slot_count(file), cw_map_slot_count(stored));
    compare_nodes(&differences, file, stored);
    if (differences.count > SHOWN_MAX)
        buffer_printf(out, "; and %zu more", differences.count - SHOWN_MAX);
}
