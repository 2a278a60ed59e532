/*
 * A router over nodes that record what they are asked, for tests of transitions: the map `now` has
 * two nodes, the map `then` a third.
 */
#ifndef TESTS_ROUTER_STATES_WORLD_H
#define TESTS_ROUTER_STATES_WORLD_H

#include "router/fixture.h"
#include "router/recorder.h"

enum { WORLD_NODES = 4, WORLD_NOW = 2, WORLD_THEN = 3 };

struct world {
    struct recorder *nodes[WORLD_NODES];
    uint32_t worker_count;
    struct router *router;
    struct io_loop *loops[FIXTURE_WORKERS_MAX];
    struct worker *workers[FIXTURE_WORKERS_MAX];
    struct cw_map *now, *then;
    struct pool_settings pool;
    struct router_options options;
    struct move_counters counters;
    struct text_client *client;
    uint32_t acked; /* how many states */
};

static struct cw_map *world_map(uint64_t generation, uint32_t count, const char *last_address)
{
    struct cw_node described[WORLD_NODES];
    struct cw_map *map;
    for (uint32_t i = 0; i < count; i++)
        described[i] = (struct cw_node){
            .id = fixture_id(i), .address = fixture_address(i), .weight = 1};
    if (last_address)
        described[count - 1].address = last_address;
    struct cw_map_options options = {
        .nodes = described, .node_count = count, .slot_count = 1024, .generation = generation};
    CW_ASSERT(cw_map_create(&options, &map, NULL) == CW_OK);
    return map;
}

/* Limits, timeouts and the like may be changed before world_start(). */
static void world_init(struct world *world, uint32_t worker_count)
{
    struct fixture fixture;
    fixture_init(&fixture, WORLD_NOW, worker_count);
    *world = (struct world){
        .worker_count = worker_count, .pool = fixture.pool, .options = fixture.options};
}

static void world_start(struct world *world)
{
    static const struct io_sim_options calm = {
        .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 16};
    char address[IO_ADDRESS_LEN_MAX];
    io_sim_begin(&calm);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        world->nodes[i] = recorder_create(fixture_address(i));
    world->now = world_map(1, WORLD_NOW, NULL);
    world->then = world_map(2, WORLD_THEN, NULL);
    world->pool.map = world->now;
    world->options.pools = &world->pool;
    CW_ASSERT(router_create(&world->options, &world->router) == 0);
    for (uint32_t i = 0; i < world->worker_count; i++) {
        CW_ASSERT(io_loop_create(&world->loops[i]) == 0);
        CW_ASSERT(worker_create(world->router, i, world->loops[i], &world->workers[i], address) ==
                  0);
    }
    world->client = text_client_create("router:7400");
    io_sim_run(50, NULL);
}

static inline void world_begin(struct world *world, uint32_t worker_count)
{
    world_init(world, worker_count);
    world_start(world);
}

static void world_stop(struct world *world)
{
    text_client_destroy(world->client);
    for (uint32_t i = 0; i < world->worker_count; i++)
        worker_destroy(&world->workers[i]);
    for (uint32_t i = 0; i < world->worker_count; i++)
        io_loop_destroy(&world->loops[i]);
    router_destroy(&world->router);
    for (uint32_t i = 0; i < WORLD_NODES; i++)
        recorder_destroy(world->nodes[i]);
    cw_map_unref(&world->now);
    cw_map_unref(&world->then);
    io_sim_end();
}

static void world_acked(void *context)
{
    struct world *world = context;
    world->acked++;
}

/* Sets a phase of the transition from `now` to `then`, with the dirty set "dirty". */
static void world_set(struct world *world, enum move_phase phase, struct big_keys *big)
{
    struct pool_state what = {.map = world->now,
                              .next = phase == MOVE_NONE ? NULL : world->then,
                              .phase = phase,
                              .dirty_set = {"dirty", 5},
                              .big = big,
                              .counters = phase == MOVE_NONE ? NULL : &world->counters};
    CW_ASSERT(router_set_state(world->router, 0, &what, world_acked, world) == 0);
}

/* The switch. */
static inline void world_switch(struct world *world)
{
    struct pool_state what = {.map = world->then};
    CW_ASSERT(router_set_state(world->router, 0, &what, world_acked, world) == 0);
}

static uint32_t world_owner(const struct cw_map *map, const char *key)
{
    return cw_locate_key(map, key, strlen(key));
}

/* The number-th key that is on a node in `now` and moves, or stays (static storage). */
static const char *world_key(const struct world *world, uint32_t node, bool moves, uint32_t number)
{
    static char keys[32][16];
    static uint32_t turn;
    char *key = keys[turn++ % 32];
    for (uint32_t i = 0;; i++) {
        snprintf(key, sizeof keys[0], "k%u", i);
        bool fits = world_owner(world->now, key) == node &&
                    (world_owner(world->then, key) != node) == moves;
        if (fits && number-- == 0)
            return key;
    }
}

#endif
