/*
 * Marking: while a pool is tracked, each write of keys that move is preceded on the same connection
 * by SADD of these keys to the dirty set of the node. The node does both in order, so a key that
 * was written is in the set, whatever becomes of the connection in between. The mover copies again
 * what it finds there.
 *
 * A key that is known to be big is marked by the elements that the write names, if they can be told
 * from the request, so that one changed field does not copy a million again.
 */
#include "router/moving.h"
#include "wire/command_elements.h"

#include <stdio.h>

/* A row of elements that would be longer than this is marked as its whole key. */
enum { ELEMENTS_LEN_MAX = 1 << 20, ELEMENT_HEAD_LEN = 5 };

struct members {
    struct buffer *bytes; /* as bulk strings */
    size_t count;
};

static bool add_key(struct members *members, struct slice key)
{
    char head[32];
    int len = snprintf(head, sizeof head, "$%zu\r\nk", key.len + 1);
    members->count++;
    return buffer_append(members->bytes, head, (size_t)len) &&
           buffer_append(members->bytes, key.ptr, key.len) &&
           buffer_append(members->bytes, "\r\n", 2);
}

static bool add_element(struct members *members, struct slice key, struct slice element)
{
    char head[32];
    int len = snprintf(head, sizeof head, "$%zu\r\n", ELEMENT_HEAD_LEN + key.len + element.len);
    const char kind[ELEMENT_HEAD_LEN] = {'e', (char)(key.len >> 24), (char)(key.len >> 16),
                                         (char)(key.len >> 8), (char)key.len};
    members->count++;
    return buffer_append(members->bytes, head, (size_t)len) &&
           buffer_append(members->bytes, kind, sizeof kind) &&
           buffer_append(members->bytes, key.ptr, key.len) &&
           buffer_append(members->bytes, element.ptr, element.len) &&
           buffer_append(members->bytes, "\r\n", 2);
}

/* The elements of a big key that a write changes; false if that is not known, or too much. */
static bool find_elements(const struct parsed *parsed, size_t key_len,
                          struct command_element_range *ret_elements)
{
    size_t len = 0;
    if (!command_find_elements(parsed->command, parsed->request, parsed->bytes, ret_elements))
        return false;
    for (uint32_t i = 0; i < ret_elements->count && len <= ELEMENTS_LEN_MAX; i++)
        len += ELEMENT_HEAD_LEN + key_len +
               parsed_arg(parsed, ret_elements->first + i * ret_elements->step).len;
    return len <= ELEMENTS_LEN_MAX;
}

static bool add(struct members *members, const struct parsed *parsed, struct slice key,
                const struct big_keys *big)
{
    struct command_element_range elements;
    bool fine = true;
    if (!big_keys_has(big, key) || !find_elements(parsed, key.len, &elements))
        return add_key(members, key);
    for (uint32_t i = 0; fine && i < elements.count; i++)
        fine = add_element(members, key, parsed_arg(parsed, elements.first + i * elements.step));
    return fine;
}

/* All members of the mark of a request, or of the part of it that the chain is. */
static bool collect(struct members *members, const struct node *node, const struct parsed *parsed,
                    const struct key_chain *chain)
{
    const struct pool *pool = node->pool;
    const struct big_keys *big = pool->era->state->what.big;
    uint32_t count = parsed_key_count(parsed);
    uint32_t i = chain ? chain->first : 0;
    bool fine = true;
    while (fine && (chain ? i != NO_KEY : i < count)) {
        struct slice key = parsed_key(parsed, i);
        if (key_moves(pool, key, node))
            fine = add(members, parsed, key, big);
        i = chain ? chain->next[i] : i + 1;
    }
    return fine;
}

static bool write_mark(struct buffer *out, struct slice set, const struct members *members)
{
    return resp_write_array(out, 2 + members->count) && resp_write_bulk_text(out, "SADD") &&
           resp_write_bulk(out, set.ptr, set.len) &&
           buffer_append(out, buffer_bytes(members->bytes), members->bytes->len);
}

bool mark_append(struct link *link, const struct parsed *parsed, const struct key_chain *chain,
                 struct request **ret_mark)
{
    struct pool *pool = link->node->pool;
    struct worker *worker = pool->worker;
    const struct pool_state *state = &pool->era->state->what;
    struct members members = {&worker->members, 0};
    size_t before = link->out.len;
    *ret_mark = NULL;
    buffer_clear(members.bytes);
    if (!collect(&members, link->node, parsed, chain))
        return false;
    if (members.count == 0)
        return true;
    struct request *mark = request_borrow(worker, NULL, REQUEST_MARK);
    if (!mark)
        return false;
    *ret_mark = mark;
    mark->pool = pool;
    if (!write_mark(&link->out, state->dirty_set, &members))
        return false;
    mark->len = (uint32_t)(link->out.len - before);
    buffer_clear(members.bytes);
    buffer_trim(members.bytes, BUFFER_KEEP);
    if (state->counters)
        __atomic_fetch_add(&state->counters->marks, members.count, __ATOMIC_RELAXED);
    return true;
}

void mark_answered(struct worker *worker, struct request *mark, const char *reply)
{
    struct move_counters *counters = mark->era->state->what.counters;
    if (reply[0] == '-' && counters)
        __atomic_fetch_add(&counters->marks_failed, 1, __ATOMIC_RELAXED);
    request_return(worker, mark);
}
