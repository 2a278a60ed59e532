#include "cli/locate_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_write.h"
#include "control/table.h"

enum { TAIL_SIZE = CW_ID_LEN_MAX + 3 };

/* ---- owners ---------------------------------------------------------------------------------- */

static size_t locate_n(const struct locating *locating, const void *key, size_t len,
                       uint32_t *ret_owners)
{
    if (locating->map)
        return cw_locate_key_n(locating->map, key, len, locating->replica_count, ret_owners);
    return cw_profile_locate_n(locating->numbers, key, len, locating->replica_count, ret_owners);
}

/* The slot of a key: P equal arcs of its hash, by the high bits. -1 where the placement has none.
 */
static long slot_of(const struct locating *locating, const char *key, size_t len)
{
    uint32_t count = locating->map ? cw_map_slot_count(locating->map) : 0;
    if (count == 0)
        return -1;
    return (long)(((unsigned __int128)cw_hash_tagged(key, len) * count) >> 64);
}

/* The id of a node, or the number of what has only numbers. */
static const char *id_of(const struct locating *locating, uint32_t owner, char text[16])
{
    if (locating->map)
        return cw_map_node(locating->map, owner)->id;
    snprintf(text, 16, "%u", owner);
    return text;
}

/* ---- lines ----------------------------------------------------------------------------------- */

int locating_init(struct locating *locating)
{
    uint32_t count = locating->map ? cw_map_node_count(locating->map)
                                   : cw_profile_map_node_count(locating->numbers);
    locating->tails = calloc(count, TAIL_SIZE);
    locating->tail_lens = calloc(count, 1);
    if (!locating->tails || !locating->tail_lens)
        return cli_fail("out of memory");
    for (uint32_t i = 0; i < count; i++) {
        char number[16], *tail = locating->tails + (size_t)i * TAIL_SIZE;
        int len = snprintf(tail, TAIL_SIZE, "\t%s\n", id_of(locating, i, number));
        locating->tail_lens[i] = (uint8_t)len;
    }
    return CLI_OK;
}

void locating_fini(struct locating *locating)
{
    buffer_release(&locating->out);
    free(locating->tails);
    free(locating->tail_lens);
}

/* A key without a place has nothing behind its tab. Room for all of the batch is there. */
static char *put_line(const struct locating *locating, size_t index, char *to)
{
    size_t len = locating->key_lens[index];
    uint32_t owner = locating->nodes[index];
    memcpy(to, locating->keys[index], len);
    to += len;
    if (owner == CW_NO_NODE) {
        memcpy(to, "\t\n", 2);
        return to + 2;
    }
    memcpy(to, locating->tails + (size_t)owner * TAIL_SIZE, TAIL_SIZE);
    return to + locating->tail_lens[owner];
}

static bool write_lines(struct locating *locating, size_t count)
{
    size_t room = count * TAIL_SIZE;
    for (size_t i = 0; i < count; i++)
        room += locating->key_lens[i];
    char *start = buffer_reserve(&locating->out, room), *at = start;
    if (!start)
        return false;
    for (size_t i = 0; i < count; i++)
        at = put_line(locating, i, at);
    buffer_added(&locating->out, (size_t)(at - start));
    return true;
}

static void write_replicas(struct locating *locating, size_t index, const uint32_t *owners,
                           size_t count)
{
    char number[16];
    buffer_append(&locating->out, locating->keys[index], locating->key_lens[index]);
    if (count == 0)
        buffer_append(&locating->out, "\t", 1);
    for (size_t i = 0; i < count; i++) {
        const char *id = id_of(locating, owners[i], number);
        buffer_append(&locating->out, i ? "," : "\t", 1);
        buffer_append(&locating->out, id, strlen(id));
    }
    buffer_append(&locating->out, "\n", 1);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_json_owner(const struct locating *locating, struct buffer *out, uint32_t owner)
{
    if (!locating->map) {
        buffer_printf(out, "{\"number\":%u}", owner);
        return;
    }
    const struct cw_node *node = cw_map_node(locating->map, owner);
    buffer_append_text(out, "{\"id\":");
    json_write_string(out, node->id, strlen(node->id));
    buffer_append_text(out, ",\"address\":");
    json_write_string(out, node->address, strlen(node->address));
    buffer_append_text(out, ",\"zone\":");
    json_write_string(out, node->zone, strlen(node->zone));
    buffer_append_text(out, "}");
}

static void write_json(struct locating *locating, size_t index, const uint32_t *owners,
                       size_t count)
{
    const char *key = locating->keys[index];
    size_t len = locating->key_lens[index];
    struct buffer *out = &locating->out;
    buffer_append_text(out, locating->is_first ? "\n{" : ",\n{");
    locating->is_first = false;
    json_write_key(out, key, len);
    if (slot_of(locating, key, len) >= 0)
        buffer_printf(out, ",\"slot\":%ld", slot_of(locating, key, len));
    buffer_append_text(out, ",\"owners\":[");
    for (size_t i = 0; i < count; i++) {
        buffer_append_text(out, i ? "," : "");
        write_json_owner(locating, out, owners[i]);
    }
    buffer_append_text(out, "]}");
}

/* ---- a batch --------------------------------------------------------------------------------- */

bool locate_write(struct locating *locating, size_t count)
{
    if (locating->map)
        cw_locate_keys(locating->map, locating->keys, locating->key_lens, count, locating->nodes);
    else
        cw_profile_locate_batch(locating->numbers, locating->keys, locating->key_lens, count,
                                locating->nodes);
    if (!locating->as_json && locating->replica_count == 1)
        return write_lines(locating, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t owners[CW_REPLICA_COUNT_MAX] = {locating->nodes[i]};
        size_t owner_count = locating->nodes[i] != CW_NO_NODE;
        if (locating->replica_count > 1)
            owner_count = locate_n(locating, locating->keys[i], locating->key_lens[i], owners);
        if (locating->as_json)
            write_json(locating, i, owners, owner_count);
        else
            write_replicas(locating, i, owners, owner_count);
    }
    return true;
}

/* ---- a table --------------------------------------------------------------------------------- */

static void add_row(struct table *table, const struct locating *locating, const char *key,
                    const uint32_t *owner)
{
    static const struct cw_node nowhere = {.address = "", .zone = ""};
    char number[16];
    const struct cw_node *node = owner && locating->map ? cw_map_node(locating->map, *owner)
                                                        : &nowhere;
    long slot = slot_of(locating, key, strlen(key));
    table_cell(table, *key ? key : "\"\"");
    table_cell_colored(table, TABLE_GREEN, owner ? id_of(locating, *owner, number) : "nowhere");
    table_cell(table, *node->address ? node->address : "-");
    table_cell(table, *node->zone ? node->zone : "-");
    if (slot >= 0)
        table_cellf(table, "%ld", slot);
    else
        table_cell(table, "-");
}

void locate_write_table(struct locating *locating, const char *const *keys, size_t count)
{
    static const char *const titles[] = {"KEY", "NODE", "ADDRESS", "ZONE", ">SLOT", NULL};
    struct table table;
    table_init(&table, titles, table_wants_color(STDOUT_FILENO));
    for (size_t i = 0; i < count; i++) {
        uint32_t owners[CW_REPLICA_COUNT_MAX];
        size_t owner_count = locate_n(locating, keys[i], strlen(keys[i]), owners);
        if (owner_count == 0)
            add_row(&table, locating, keys[i], NULL);
        for (size_t k = 0; k < owner_count; k++)
            add_row(&table, locating, keys[i], &owners[k]);
    }
    table_print(&table, "", &locating->out);
    table_release(&table);
}
