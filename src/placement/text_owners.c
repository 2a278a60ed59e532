/*
 * Reading which node owns what from a map's text: the slots of every node, as ranges, or its
 * bucket.
 */
#include "placement/error.h"
#include "placement/memory.h"
#include "placement/text.h"

#include <stdlib.h>
#include <string.h>

/* A slot's number at *at of a node's string; steps over it. */
static int read_slot(const struct json *json, const struct json_string *string, size_t *at,
                     uint64_t slot_count, uint32_t *ret_slot)
{
    uint64_t slot = 0;
    size_t start = *at;
    for (; *at < string->len && *at < start + 9; ++*at) {
        unsigned digit = (unsigned)(string->text[*at] - '0');
        if (digit > 9)
            break;
        slot = slot * 10 + digit;
    }
    if (*at == start || (string->text[start] == '0' && *at > start + 1))
        return json_fail(json, string->at + start, CW_EBAD_TEXT,
                         "slots are written like 0-2,5,9-11");
    if (slot >= slot_count)
        return json_fail(json, string->at + start, CW_EBAD_TEXT,
                         "slot %llu: the last one of this map is %llu", (unsigned long long)slot,
                         (unsigned long long)slot_count - 1);
    *ret_slot = (uint32_t)slot;
    return CW_OK;
}

/* A slot, or two joined by '-'. */
static int read_range(const struct json *json, const struct json_string *string, size_t *at,
                      uint64_t slot_count, uint32_t *ret_first, uint32_t *ret_last)
{
    size_t start = *at;
    int status = read_slot(json, string, at, slot_count, ret_first);
    *ret_last = *ret_first;
    if (status == CW_OK && *at < string->len && string->text[*at] == '-') {
        ++*at;
        status = read_slot(json, string, at, slot_count, ret_last);
        if (status == CW_OK && *ret_last <= *ret_first)
            return json_fail(json, string->at + start, CW_EBAD_TEXT,
                             "a range of slots ends behind its start, like 0-2");
    }
    return status;
}

static int own_slots(const struct json *json, const struct raw_map *raw, size_t node,
                     uint32_t *owners)
{
    const struct json_string *string = &raw->nodes[node].slots;
    for (size_t at = 0; at < string->len;) {
        uint32_t first = 0, last = 0;
        size_t start = at;
        int status = read_range(json, string, &at, raw->slot_count, &first, &last);
        if (status != CW_OK)
            return status;
        for (uint32_t slot = first; slot <= last; slot++) {
            if (owners[slot] != CW_NO_NODE)
                return json_fail(json, string->at + start, CW_EBAD_TEXT,
                                 "slot %u has two owners, '%.64s' and '%.64s'", slot,
                                 raw->nodes[owners[slot]].id.text, raw->nodes[node].id.text);
            owners[slot] = (uint32_t)node;
        }
        if (at < string->len && (string->text[at] != ',' || ++at == string->len))
            return json_fail(json, string->at + at, CW_EBAD_TEXT,
                             "slots are written like 0-2,5,9-11");
    }
    return CW_OK;
}

int text_read_slots(const struct json *json, const struct raw_map *raw, uint32_t *owners)
{
    memset(owners, 0xff, raw->slot_count * sizeof *owners); /* CW_NO_NODE */
    for (size_t i = 0; i < raw->node_count; i++) {
        int status = own_slots(json, raw, i, owners);
        if (status != CW_OK)
            return status;
    }
    for (uint32_t slot = 0; slot < raw->slot_count; slot++)
        if (owners[slot] == CW_NO_NODE)
            return json_fail(json, raw->nodes_at, CW_EBAD_TEXT, "slot %u has no owner", slot);
    return CW_OK;
}

int text_read_buckets(const struct json *json, const struct raw_map *raw, uint32_t *buckets)
{
    uint64_t room = 0;
    for (size_t i = 0; i < raw->node_count; i++)
        if (raw->nodes[i].bucket >= room)
            room = raw->nodes[i].bucket + 1;
    uint32_t *owners = memory_alloc(room, sizeof *owners); /* places in the list, from 1 */
    if (!owners)
        return error_no_memory(json->error);
    int status = CW_OK;
    for (size_t i = 0; status == CW_OK && i < raw->node_count; i++) {
        uint32_t bucket = (uint32_t)raw->nodes[i].bucket;
        if (owners[bucket])
            status = json_fail(json, raw->nodes[i].bucket_at, CW_EBAD_TEXT,
                               "bucket %u has two owners, '%.64s' and '%.64s'", bucket,
                               raw->nodes[owners[bucket] - 1].id.text, raw->nodes[i].id.text);
        owners[bucket] = (uint32_t)i + 1;
        buckets[i] = bucket;
    }
    free(owners);
    return status;
}
