/*
 * What clients see of the keys that a node tells of (SCAN, KEYS, RANDOMKEY): those that it owns.
 * While keys move, and until what was left behind is removed, nodes have more: copies that are not
 * whole, copies that are not valid yet or no longer, and dirty sets. Clients would see keys twice,
 * or keys that are gone, or that they can't read. A node's answer is judged by the map under which
 * it was asked.
 */
#include "router/moving.h"

static bool is_shown(const struct request *request, uint32_t node, struct slice key)
{
    const struct cw_map *map = request->era->state->what.map;
    if (is_own_key(key))
        return false;
    /* Others than the owner may have taken it while the owner was down. */
    return request->pool->settings->on_node_down == NODE_DOWN_NEXT ||
           cw_locate_key(map, key.ptr, key.len) == node;
}

/* Reads the key at *position and moves on. */
static bool next_key(const char *bytes, size_t len, size_t *position, struct slice *ret_key)
{
    struct resp_value value;
    if (resp_read_value(bytes + *position, len - *position, &value) != RESP_DONE ||
        value.type != '$' || value.is_null)
        return false;
    *ret_key = value.text;
    *position += value.head_len;
    return true;
}

/* Counts the keys that are shown, and writes them if `out` is not NULL. False: no list of keys, or
 * no memory. */
static bool walk(const struct request *request, uint32_t node, struct slice elements, size_t count,
                 size_t *ret_shown, struct buffer *out)
{
    size_t position = 0, shown = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice key;
        size_t start = position;
        if (!next_key(elements.ptr, elements.len, &position, &key))
            return false;
        if (!is_shown(request, node, key))
            continue;
        shown++;
        if (out && !buffer_append(out, elements.ptr + start, position - start))
            return false;
    }
    *ret_shown = shown;
    return true;
}

bool shown_append_keys(struct buffer *out, const struct request *request, uint32_t node,
                       struct slice array)
{
    struct resp_value head;
    size_t shown;
    if (resp_read_value(array.ptr, array.len, &head) != RESP_DONE || head.type != '*' ||
        head.is_null)
        return false;
    const struct slice elements = {array.ptr + head.head_len, array.len - head.head_len};
    size_t count = (size_t)head.integer;
    if (!walk(request, node, elements, count, &shown, NULL))
        return false;
    if (shown == count)
        return buffer_append(out, array.ptr, array.len);
    return resp_write_array(out, shown) && walk(request, node, elements, count, &shown, out);
}

bool shown_is_hidden(const struct request *request, uint32_t node, struct slice reply)
{
    struct slice key;
    size_t position = 0;
    return next_key(reply.ptr, reply.len, &position, &key) && !is_shown(request, node, key);
}
