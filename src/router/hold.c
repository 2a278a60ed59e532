/*
 * Holding writes of keys that are about to change hands. While a pool is frozen, a client whose
 * next request is such a write is stopped: the request stays, not cut, in what was read from it,
 * and nothing behind it is looked at, so the client's order is kept. When another state comes the
 * request is cut and dispatched as if it had just arrived. Clients go on in the order in which they
 * were stopped.
 *
 * A client that leaves meanwhile is not noticed before it goes on, as with any client that is not
 * read from: what it asked for before it left is then still done. Only one that waited at a node
 * (blocking.c) is still read from, since nothing may be taken for it once it has gone.
 */
#include "router/moving.h"

bool hold_wanted(const struct pool *pool, const struct parsed *parsed)
{
    for (uint32_t i = 0; i < parsed_key_count(parsed); i++) {
        struct slice key = parsed_key(parsed, i);
        uint32_t owner = cw_locate_key(pool->map, key.ptr, key.len);
        /* A key without a place is refused when it is dispatched. */
        if (owner != CW_NO_NODE && key_moves(pool, key, pool->nodes[owner]))
            return true;
    }
    return false;
}

void hold_client(struct client *client)
{
    struct pool *pool = client->pool;
    struct move_counters *counters = pool->era->state->what.counters;
    client->stopped = true;
    if (!client->waits)
        io_watch_reading(client->conn, false);
    list_push_back(&pool->held, &client->in_held);
    if (client->hold_since_ns)
        return; /* one wait, although the state changed in between */
    client->hold_since_ns = io_now_ns(client->worker->loop);
    if (counters)
        __atomic_fetch_add(&counters->held, 1, __ATOMIC_RELAXED);
}

/* Other workers count too. */
static void record_wait(struct move_counters *counters, uint64_t waited_us)
{
    uint64_t longest = __atomic_load_n(&counters->held_us_max, __ATOMIC_RELAXED);
    while (waited_us > longest &&
           !__atomic_compare_exchange_n(&counters->held_us_max, &longest, waited_us, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void hold_end(struct pool *pool)
{
    struct worker *worker = pool->worker;
    while (!list_is_empty(&pool->held)) {
        struct client *client = list_entry(pool->held.next, struct client, in_held);
        struct move_counters *counters = pool->era->state->what.counters;
        uint64_t waited_ns = io_now_ns(worker->loop) - client->hold_since_ns;
        list_remove(&client->in_held);
        if (counters)
            record_wait(counters, waited_ns / 1000);
        if (list_is_empty(&client->resumable))
            list_push_back(&worker->resumable, &client->resumable);
    }
}
