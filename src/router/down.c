/*
 * What becomes of keys whose node is down, by the pool's word (on_node_down): they fail; or, in a
 * cache, reads are answered as if the keys did not exist; or the next node in the key's own order
 * of nodes takes them, for data that may be lost. Nothing of it changes the map.
 */
#include "router/internal.h"
#include "wire/command_miss.h"

void down_note_miss(struct request *request, const struct command *command, uint32_t arg_count)
{
    bool has_miss = !(command->flags & COMMAND_WRITE) && command_has_miss(command, arg_count);
    request->missed = has_miss ? command : NULL;
    request->missed_arg_count = arg_count;
}

void down_answer(struct worker *worker, struct request *request, int protocol, const char *error)
{
    struct buffer miss = BUFFER_INIT;
    if (request->missed &&
        command_write_miss(&miss, request->missed, request->missed_arg_count, protocol))
        request_answer(worker, request, buffer_bytes(&miss), miss.len);
    else
        request_fail(worker, request, error);
    buffer_release(&miss);
}

uint32_t down_next_owner(const struct pool *pool, struct slice key, uint32_t owner)
{
    uint32_t ranked[CW_REPLICA_COUNT_MAX];
    size_t count = cw_locate_key_n(pool->map, key.ptr, key.len, CW_REPLICA_COUNT_MAX, ranked);
    for (size_t i = 1; i < count; i++)
        if (pool->nodes[ranked[i]]->health != NODE_DOWN)
            return ranked[i];
    return owner;
}
