/*
 * The canonical text of a map. One node a line, so that a diff of two maps reads like a plan:
 *
 *   {
 *     "clockwise_map": 1,
 *     "generation": 1,
 *     "placement": "slots",
 *     "slots": 16384,
 *     "nodes": [
 *       {"id": "a", "address": "10.0.0.1:6379", "zone": "z1", "weight": 1, "slots": "0-99,104"},
 *       {"id": "b", "weight": 2, "slots": "100-103,105-16383"}
 *     ]
 *   }
 *
 * Nodes stand in the order of ids; address and zone are left out when empty; ring has
 * "tokens_per_weight" instead of both "slots", maglev "table_size", and the nodes of jump, jumpback
 * and round have a "bucket". What profiles have is told in text_profile.c.
 */
#include "placement/text_write.h"

#include "placement/memory.h"
#include "placement/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int writer_reserve(struct writer *writer, size_t more)
{
    if (writer->failed)
        return 0;
    if (writer->size - writer->len >= more)
        return 1;
    size_t size = (writer->size + more) * 2;
    char *bytes = memory_resize(writer->bytes, size);
    if (!bytes) {
        writer->failed = 1;
        return 0;
    }
    writer->bytes = bytes;
    writer->size = size;
    return 1;
}

void text_put(struct writer *writer, const char *format, ...)
{
    enum { ONE_CALL_MAX = 1024 };
    if (!writer_reserve(writer, ONE_CALL_MAX))
        return;
    va_list args;
    va_start(args, format);
    writer->len += (size_t)vsnprintf(writer->bytes + writer->len, ONE_CALL_MAX, format, args);
    va_end(args);
}

void text_put_escaped(struct writer *writer, const char *before, const char *text, size_t len)
{
    text_put(writer, "\"%s", before);
    if (!writer_reserve(writer, len * 3 + 1))
        return;
    writer->len += text_escape(text, len, writer->bytes + writer->len);
    text_put(writer, "\"");
}

/* The slots of every node in ascending order: those of node i are list[starts[i] ..
 * starts[i+1]-1]. A counting sort. */
struct slot_lists {
    uint32_t *starts, *list;
};

static int slot_lists_init(struct slot_lists *lists, const struct cw_map *map)
{
    uint32_t node_count = map->nodes.count;
    lists->starts = memory_alloc((size_t)node_count + 2, sizeof *lists->starts);
    lists->list = memory_alloc(map->slot_count, sizeof *lists->list);
    if (!lists->starts || !lists->list)
        return CW_ENOMEM;
    /* Counted two places on, so that after filling starts[i] is where node i starts. */
    for (uint32_t slot = 0; slot < map->slot_count; slot++)
        lists->starts[map->table[slot] + 2]++;
    for (uint32_t i = 2; i < node_count + 2; i++)
        lists->starts[i] += lists->starts[i - 1];
    for (uint32_t slot = 0; slot < map->slot_count; slot++)
        lists->list[lists->starts[map->table[slot] + 1]++] = slot;
    return CW_OK;
}

static void slot_lists_fini(struct slot_lists *lists)
{
    free(lists->starts);
    free(lists->list);
}

static void put_slots(struct writer *writer, const uint32_t *slots, uint32_t count)
{
    for (uint32_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && slots[end] == slots[end - 1] + 1)
            end++;
        text_put(writer, "%s%u", i ? "," : "", slots[i]);
        if (end - i > 1)
            text_put(writer, "-%u", slots[end - 1]);
    }
}

static void put_node(struct writer *writer, const struct cw_map *map, uint32_t index,
                     const struct slot_lists *lists)
{
    const struct cw_node *node = &map->nodes.list[index];
    text_put(writer, "    {\"id\": \"%s\"", node->id);
    if (*node->address)
        text_put(writer, ", \"address\": \"%s\"", node->address);
    if (*node->zone)
        text_put(writer, ", \"zone\": \"%s\"", node->zone);
    text_put(writer, ", \"weight\": %u", node->weight);
    if (map->ops->bucket_of)
        text_put(writer, ", \"bucket\": %u", map->ops->bucket_of(map, index));
    if (map->placement == CW_PLACEMENT_PROFILE)
        text_put_server(writer, map, index);
    if (lists->list) {
        uint32_t start = lists->starts[index];
        text_put(writer, ", \"slots\": \"");
        put_slots(writer, lists->list + start, lists->starts[index + 1] - start);
        text_put(writer, "\"");
    }
    text_put(writer, index + 1 < map->nodes.count ? "},\n" : "}\n");
}

static void put_map(struct writer *writer, const struct cw_map *map, const struct slot_lists *lists)
{
    text_put(writer,
             "{\n  \"clockwise_map\": 1,\n  \"generation\": %llu,\n  \"placement\": \"%s\",\n",
             (unsigned long long)map->generation, map->ops->name);
    if (map->slot_count)
        text_put(writer, "  \"slots\": %u,\n", map->slot_count);
    if (map->table_size)
        text_put(writer, "  \"table_size\": %u,\n", map->table_size);
    if (map->tokens_per_weight)
        text_put(writer, "  \"tokens_per_weight\": %u,\n", map->tokens_per_weight);
    if (map->placement == CW_PLACEMENT_PROFILE)
        text_put_profile(writer, map);
    text_put(writer, "  \"nodes\": [\n");
    for (uint32_t i = 0; i < map->nodes.count; i++)
        put_node(writer, map, i, lists);
    text_put(writer, "  ]\n}\n");
}

int cw_map_to_text(const struct cw_map *map, char **ret_text, size_t *ret_len)
{
    struct writer writer = {0};
    struct slot_lists lists = {0};
    if (!map || !ret_text || !ret_len)
        return CW_EINVAL;
    if (map->slot_count && slot_lists_init(&lists, map) != CW_OK)
        writer.failed = 1;
    else
        put_map(&writer, map, &lists);
    slot_lists_fini(&lists);
    if (writer.failed) {
        free(writer.bytes);
        return CW_ENOMEM;
    }
    *ret_text = writer.bytes;
    *ret_len = writer.len;
    return CW_OK;
}
