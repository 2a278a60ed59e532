/*
 * A world for tests of transitions: memory nodes, a router of some workers with its mover, all on
 * simulated loops, and a map store that survives the router. The router can be killed at any moment
 * and started again from what is stored.
 */
#ifndef TESTS_MOVE_TRANSITION_WORLD_H
#define TESTS_MOVE_TRANSITION_WORLD_H

#include "move/memory_store.h"
#include "move/mover.h"
#include "router/fixture.h"

struct world {
    struct fixture fixture; /* nodes (all that may ever take part), router, workers */
    struct memory_store store;
    struct mover_options mover_options;
    struct io_loop *mover_loop;
    struct mover *mover;
    struct cw_map *first_map;
    uint32_t lives;
    /* what was answered last */
    int status;
    uint32_t answers;
    char text[512];
};

static inline void world_log(int level, const char *line)
{
    if (getenv("CW_SIM_LOG"))
        fprintf(stderr, "%10" PRIu64 " %d %s\n", io_sim_now_us(), level, line);
}

/* Starts the router from what is stored, or from the first map. */
static inline void world_start_router(struct world *world)
{
    struct fixture *fixture = &world->fixture;
    char address[IO_ADDRESS_LEN_MAX];
    struct map_record *record = world->store.record ? memory_record_copy(world->store.record)
                                                    : NULL;
    struct map_record *records[1] = {record};
    world->lives++;
    fixture->pool.map = record ? record->map : world->first_map;
    fixture->options.pools = &fixture->pool;
    fixture->options.log = world_log;
    CW_ASSERT(router_create(&fixture->options, &fixture->router) == 0);
    for (uint32_t i = 0; i < fixture->worker_count; i++) {
        CW_ASSERT(io_loop_create(&fixture->loops[i]) == 0);
        CW_ASSERT(worker_create(fixture->router, i, fixture->loops[i], &fixture->workers[i],
                                address) == 0);
    }
    CW_ASSERT(io_loop_create(&world->mover_loop) == 0);
    world->store.loop = world->mover_loop;
    world->mover_options.router = fixture->router;
    world->mover_options.loop = world->mover_loop;
    world->mover_options.store = &world->store.store;
    world->mover_options.pools = &fixture->pool;
    world->mover_options.pool_count = 1;
    world->mover_options.log = world_log;
    CW_ASSERT(mover_create(&world->mover_options, records, &world->mover) == 0);
    map_record_destroy(&record);
}

/* As by kill -9: everything in memory is gone; what is stored, and what the nodes got, stays. */
static inline void world_kill_router(struct world *world)
{
    struct fixture *fixture = &world->fixture;
    mover_destroy(&world->mover);
    for (uint32_t i = 0; i < fixture->worker_count; i++)
        worker_destroy(&fixture->workers[i]);
    for (uint32_t i = 0; i < fixture->worker_count; i++)
        io_loop_destroy(&fixture->loops[i]);
    io_loop_destroy(&world->mover_loop);
    router_destroy(&fixture->router);
}

/* node_count nodes run, of which the first `in_map` are in the pool's first map. */
static inline void world_begin(struct world *world, const struct io_sim_options *sim,
                               uint32_t node_count, uint32_t in_map, uint32_t worker_count)
{
    *world = (struct world){0};
    fixture_init(&world->fixture, node_count, worker_count);
    io_sim_begin(sim);
    for (uint32_t i = 0; i < node_count; i++)
        world->fixture.nodes[i] = memory_node_create(fixture_address(i), sim->seed + i);
    memory_store_init(&world->store, sim->seed);
    world->first_map = fixture_map(0, in_map);
    world->mover_options.settle_ms = 20;
}

static inline void world_end(struct world *world)
{
    world_kill_router(world);
    for (uint32_t i = 0; i < world->fixture.node_count; i++)
        memory_node_destroy(world->fixture.nodes[i]);
    memory_store_release(&world->store);
    cw_map_unref(&world->first_map);
    io_sim_end();
}

static inline void world_answer(void *context, int status, const char *text)
{
    struct world *world = context;
    world->status = status;
    world->answers++;
    snprintf(world->text, sizeof world->text, "%s", text);
}

/* The map that is stored, or the first; not a reference. */
static inline struct cw_map *world_map(const struct world *world)
{
    return world->store.record ? world->store.record->map : world->first_map;
}

static inline bool world_is_moving(const struct world *world)
{
    return world->store.record && world->store.record->transition;
}

/* The number of the memory node with an address. */
static inline uint32_t world_node_at(const struct world *world, const char *address)
{
    for (uint32_t i = 0; i < world->fixture.node_count; i++)
        if (strcmp(world->fixture.nodes[i]->address, address) == 0)
            return i;
    CW_ASSERT(false);
    return 0;
}

#endif
