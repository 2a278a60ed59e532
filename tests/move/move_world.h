/*
 * A world in which keys move, on the simulated io: three nodes, to which a fourth is added, a
 * mover's loop with a peer to each, and jobs that are run to their end. Keys are written with
 * world_do(), by a peer of its own, as routers would.
 */
#ifndef TESTS_MOVE_MOVE_WORLD_H
#define TESTS_MOVE_MOVE_WORLD_H

#include <stdarg.h>
#include <stdio.h>

#include "io/io_sim.h"
#include "move/answer.h"
#include "move/job.h"
#include "router/memory_node.h"

enum { WORLD_NODES = 4, WORLD_FROM = 3, WORLD_TIMEOUT_MS = 200, WORLD_LIMIT_MS = 600000 };

struct world {
    struct io_loop *loop;
    struct memory_node *nodes[WORLD_NODES];
    struct peer *peers[WORLD_NODES], *writers[WORLD_NODES];
    struct throttle throttle;
    struct move_progress progress;
    struct big_found found;
    struct key_list drained;
    struct move move;
    struct job *job;
    struct job_end end;
    bool is_over;
    char reply[4096]; /* of the last world_do(), as a text */
    bool is_answered;
};

static const char *const world_ids[] = {"n0", "n1", "n2", "n3"};
static const char *const world_addresses[] = {"sim-n0:1", "sim-n1:1", "sim-n2:1", "sim-n3:1"};

static const struct io_sim_options world_calm = {
    .seed = 1, .delay_min_us = 20, .delay_max_us = 60, .window_bytes = 1 << 18};

static inline struct peer *world_peer(struct world *world, uint32_t node, const char *name)
{
    struct peer *peer = NULL;
    struct peer_options options = {.id = world_ids[node],
                                   .address = world_addresses[node],
                                   .client_name = name,
                                   .timeout_ms = WORLD_TIMEOUT_MS};
    CW_ASSERT(peer_create(world->loop, &options, &peer) == 0);
    return peer;
}

static inline void world_maps(struct world *world)
{
    struct cw_node nodes[WORLD_NODES];
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        nodes[i] = (struct cw_node){.id = world_ids[i], .address = world_addresses[i], .weight = 1};
    struct cw_map_options options = {.nodes = nodes, .node_count = WORLD_FROM, .slot_count = 1024};
    CW_ASSERT(cw_map_create(&options, &world->move.from, NULL) == CW_OK);
    CW_ASSERT(cw_map_change(world->move.from, nodes, WORLD_NODES, &world->move.to, NULL) == CW_OK);
}

static inline void world_begin(struct world *world, const struct io_sim_options *sim)
{
    static const char prefix[] = "\0cw:mig:7.1:";
    static const struct throttle_settings no_limits;
    memset(world, 0, sizeof *world);
    io_sim_begin(sim);
    CW_ASSERT(io_loop_create(&world->loop) == 0);
    for (uint32_t i = 0; i < WORLD_NODES; i++) {
        world->nodes[i] = memory_node_create(world_addresses[i], sim->seed + i);
        world->peers[i] = world_peer(world, i, "mover");
        world->writers[i] = world_peer(world, i, "writer");
    }
    throttle_init(&world->throttle, &no_limits, io_now_ms(world->loop));
    world->move = (struct move){.loop = world->loop,
                                .from_peers = world->peers,
                                .to_peers = world->peers,
                                .prefix_len = sizeof prefix - 1,
                                .dead = CW_NO_NODE,
                                .throttle = &world->throttle,
                                .progress = &world->progress,
                                .found = &world->found};
    memcpy(world->move.prefix, prefix, sizeof prefix);
    world_maps(world);
}

static inline void world_end(struct world *world)
{
    job_stop(&world->job);
    for (uint32_t i = 0; i < WORLD_NODES; i++) {
        peer_destroy(&world->peers[i]);
        peer_destroy(&world->writers[i]);
    }
    io_loop_destroy(&world->loop);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        memory_node_destroy(world->nodes[i]);
    cw_map_unref(&world->move.from);
    cw_map_unref(&world->move.to);
    big_keys_unref(&world->move.big);
    key_list_release(&world->found.keys);
    buffer_release(&world->found.sources);
    key_list_release(&world->drained);
    io_sim_end();
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static inline void world_on_done(void *context, const struct job_end *end)
{
    struct world *world = context;
    CW_ASSERT(!world->is_over);
    world->is_over = true;
    world->end = *end;
    world->job = NULL;
}

/* Runs a job that was started with world_on_done() and the world as its context. */
static inline const struct job_end *world_run(struct world *world, struct job *job)
{
    assert_non_null(job);
    assert_false(world->is_over);
    world->job = job;
    io_sim_run(WORLD_LIMIT_MS, &world->is_over);
    if (!world->is_over)
        fail_msg("the job does not end");
    world->is_over = false;
    return &world->end;
}

static inline void assert_done(const struct job_end *end)
{
    if (end->result != JOB_DONE)
        fail_msg("result %d: %s", end->result, end->problem);
}

static inline void assert_ends(const struct job_end *end, enum job_result result, const char *part)
{
    if (end->result != result || !strstr(end->problem, part))
        fail_msg("result %d, not %d, or no '%s' in: %s", end->result, result, part, end->problem);
}

/* Copies from every node of `from`; the first failure ends it. Returns how many keys. */
static inline uint64_t world_copy_all(struct world *world)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < WORLD_FROM; i++) {
        assert_done(world_run(world, job_copy(&world->move, i, world_on_done, world)));
        count += world->end.count;
    }
    return count;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static inline void world_on_reply(void *context, const char *reply, size_t len)
{
    struct world *world = context;
    size_t kept = len < sizeof world->reply - 1 ? len : sizeof world->reply - 1;
    memcpy(world->reply, reply, kept);
    world->reply[kept] = '\0';
    world->is_answered = true;
}

/* One command to one node, waited for. */
static inline void world_call(struct world *world, uint32_t node, const struct slice *args,
                              size_t count)
{
    world->is_answered = false;
    CW_ASSERT(peer_call(world->writers[node], args, count, world_on_reply, world));
    io_sim_run(WORLD_LIMIT_MS, &world->is_answered);
    CW_ASSERT(world->is_answered);
    if (world->reply[0] == '-' || world->reply[0] == '\0')
        fail_msg("node %u answered '%s'", node, world->reply);
}

/* The same from words with a space between them. */
static inline void world_do(struct world *world, uint32_t node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline void world_do(struct world *world, uint32_t node, const char *format, ...)
{
    char text[4096];
    struct slice args[64];
    size_t count = 0;
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    for (char *word = text; *word && count < 64; count++) {
        args[count] = (struct slice){word, strcspn(word, " ")};
        word += args[count].len + (word[args[count].len] == ' ');
    }
    world_call(world, node, args, count);
}

static inline struct slice world_key(const char *text)
{
    return (struct slice){text, strlen(text)};
}

/* The node that has a key in `from`. */
static inline uint32_t world_owner(const struct world *world, const char *key)
{
    return cw_locate_key(world->move.from, key, strlen(key));
}

static inline bool world_moves(const struct world *world, const char *key)
{
    uint32_t target;
    return move_target(&world->move, world_key(key), world_owner(world, key), &target);
}

/* The first key "<start><number>" that moves from node 0 (to node 3, the only new one). */
static inline const char *world_name(const struct world *world, const char *start,
                                     char ret_name[static 64])
{
    for (int i = 0; i < 10000; i++) {
        snprintf(ret_name, 64, "%s%d", start, i);
        if (world_owner(world, ret_name) == 0 && world_moves(world, ret_name))
            return ret_name;
    }
    fail_msg("no key moves from node 0");
    return NULL;
}

static inline bool world_is_equal(struct world *world, struct slice key, uint32_t a, uint32_t b)
{
    struct memory_item *one = memory_find(world->nodes[a], key);
    struct memory_item *other = memory_find(world->nodes[b], key);
    if (!one || !other)
        return one == other;
    return memory_value_digest(&one->value) == memory_value_digest(&other->value);
}

/* How many keys of the nodes are not what they should be: one that moves is equal on both sides,
 * and the new node has nothing else. */
static inline uint64_t world_count_wrong(struct world *world)
{
    uint64_t wrong = 0;
    struct memory_node *added = world->nodes[WORLD_FROM];
    for (uint32_t i = 0; i < WORLD_FROM; i++) {
        struct memory_dict *keys = &world->nodes[i]->keys;
        for (struct memory_item *item = memory_dict_next(keys, NULL); item;
             item = memory_dict_next(keys, item)) {
            uint32_t target;
            struct slice key = memory_slice(item->name);
            if (move_target(&world->move, key, i, &target))
                wrong += !world_is_equal(world, key, i, target);
        }
    }
    for (struct memory_item *item = memory_dict_next(&added->keys, NULL); item;
         item = memory_dict_next(&added->keys, item)) {
        struct slice key = memory_slice(item->name);
        uint32_t owner = cw_locate_key(world->move.from, key.ptr, key.len), target;
        wrong += !move_target(&world->move, key, owner, &target) || target != WORLD_FROM ||
                 !world_is_equal(world, key, owner, target);
    }
    return wrong;
}

/* A random write of any type to the key "k<number>", at its owner. `mark` is a set to be marked in,
 * or NULL. */
static inline void world_write(struct world *world, struct random *random, uint64_t keys,
                               const char *mark)
{
    char key[32];
    unsigned number = (unsigned)random_below(random, keys);
    unsigned value = (unsigned)random_below(random, 1000);
    snprintf(key, sizeof key, "k%u", number);
    uint32_t owner = world_owner(world, key);
    if (mark && world_moves(world, key))
        world_do(world, owner, "SADD %s k%s", mark, key);
    if (random_below(random, 8) == 0)
        world_do(world, owner, "DEL %s", key);
    else if (number % 4 == 0)
        world_do(world, owner, "SET %s %u", key, value);
    else if (number % 4 == 1)
        world_do(world, owner, "HSET %s f%u %u", key, value % 20, value);
    else if (number % 4 == 2)
        world_do(world, owner, "RPUSH %s %u", key, value);
    else
        world_do(world, owner, "SADD %s m%u", key, value);
    if (random_below(random, 6) == 0)
        world_do(world, owner, "PEXPIREAT %s %llu", key,
                 (unsigned long long)(io_wall_ms(world->loop) + 86400000 + value));
}

#endif
