/*
 * A node for tests: a small Redis in memory, on any io.h loop. It keeps strings, lists, sets and
 * hashes with lifetimes by the loop's time of day, and answers what routers and movers of keys ask
 * (memory_execute.h lists it). Tests look into it with memory_find() and its kind, and make it
 * misbehave: it lies, stops, crashes with or without its data, holds up single commands.
 *
 * Each is driven by its loop alone, in one thread. Addresses must outlive the node.
 */
#ifndef TESTS_ROUTER_MEMORY_NODE_H
#define TESTS_ROUTER_MEMORY_NODE_H

#include "io/io_sim.h"
#include "router/memory_execute.h"

/* ---- lifecycle ------------------------------------------------------------------------------- */

static inline void memory_node_start(struct memory_node *node)
{
    for (int i = 0; i < 40; i++)
        node->run_id[i] = "0123456789abcdef"[random_below(&node->random, 16)];
    node->last_conn_id = 0;
}

static inline struct memory_node *memory_node_create(const char *address, uint64_t seed)
{
    struct memory_node *node = calloc(1, sizeof *node);
    CW_ASSERT(node);
    node->address = address;
    node->random.state = seed;
    node->redis_version = "7.0.15";
    node->dump_version = 10;
    node->scan_whole_max = 128;
    list_init(&node->conns);
    list_init(&node->blocked);
    memory_node_start(node);
    CW_ASSERT(io_loop_create(&node->loop) == 0);
    CW_ASSERT(io_listen(node->loop, address, memory_on_accept, node, &node->listener) == 0);
    return node;
}

static inline void memory_node_destroy(struct memory_node *node)
{
    memory_close_all(node);
    io_listener_close(&node->listener);
    io_loop_destroy(&node->loop);
    memory_dict_clear(&node->keys);
    memory_dict_clear(&node->saved);
    free(node);
}

/* ---- faults (simulated io only) -------------------------------------------------------------- */

/* Stopped as by SIGSTOP: it accepts, swallows bytes and says nothing; continued, it executes all
 * that was sent meanwhile. */
static inline void memory_node_stop(struct memory_node *node)
{
    io_sim_stop(node->address);
}

static inline void memory_node_continue(struct memory_node *node)
{
    io_sim_resume(node->address);
}

static inline void memory_dict_copy(struct memory_dict *to, const struct memory_dict *from)
{
    memory_dict_clear(to);
    for (struct memory_item *item = memory_dict_next(from, NULL); item;
         item = memory_dict_next(from, item))
        memory_value_copy(&memory_dict_put(to, memory_slice(item->name))->value, &item->value);
}

/* Puts the data aside as they are now, for MEMORY_AS_SAVED. */
static inline void memory_node_save(struct memory_node *node)
{
    memory_dict_copy(&node->saved, &node->keys);
}

enum memory_crash {
    MEMORY_KEPT,     /* every write was on the disk */
    MEMORY_LOST,     /* it comes back empty */
    MEMORY_AS_SAVED, /* it comes back as at the last memory_node_save() */
};

/* As by SIGKILL: connections are cut, nothing of what they sent is executed any more, and nobody
 * can connect until memory_node_restart(). */
static inline void memory_node_crash(struct memory_node *node, enum memory_crash how)
{
    node->is_down = true;
    io_sim_kill(node->address);
    memory_close_all(node);
    if (how == MEMORY_LOST)
        memory_dict_clear(&node->keys);
    else if (how == MEMORY_AS_SAVED)
        memory_dict_copy(&node->keys, &node->saved);
}

/* With a new run_id, and counting its connections from 1 again. */
static inline void memory_node_restart(struct memory_node *node)
{
    node->is_down = false;
    node->restarts++;
    memory_node_start(node);
    io_sim_resume(node->address);
    io_sim_revive(node->address);
}

/* Holds up the next `count` commands of that name, each for delay_ms, as a network would that keeps
 * their packets: what follows on the same connection waits behind, others are served. The command
 * is executed then even when its sender has gone, unless its connection was killed at the node.
 * With is_reply_only it is executed at once, and what is late are the replies of the connection. A
 * count of 0 ends it; what is held stays held. The name must outlive the node. */
static inline void memory_node_delay(struct memory_node *node, const char *command, uint32_t count,
                                     uint64_t delay_ms, bool is_reply_only)
{
    node->delay = (struct memory_delay){command, count, delay_ms, is_reply_only};
}

/* ---- looking --------------------------------------------------------------------------------- */

/* The live key, or NULL. (Not inlined: compilers would see that a test trusts in it being there.)
 */
__attribute__((unused, noinline)) static struct memory_item *
memory_node_find(struct memory_node *node, const char *key)
{
    return memory_find(node, (struct slice){key, strlen(key)});
}

/* Equal for equal values and lifetimes, whatever node they are on; 0: no such key. */
static inline uint64_t memory_node_digest(struct memory_node *node, const char *key)
{
    struct memory_item *item = memory_node_find(node, key);
    return item ? memory_value_digest(&item->value) : 0;
}

#endif
