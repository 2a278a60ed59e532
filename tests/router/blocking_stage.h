/*
 * A stage for clients that wait: a router over memory nodes, two clients, and two maps, of which
 * the second has one node more.
 */
#ifndef TESTS_ROUTER_BLOCKING_STAGE_H
#define TESTS_ROUTER_BLOCKING_STAGE_H

#include "router/fixture.h"

static const struct io_sim_options calm = {
    .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 16};

enum { NOW = 2, THEN = 3 };

struct stage {
    struct fixture fixture;
    struct cw_map *then;
    struct text_client *a, *b;
    struct move_counters counters;
    uint32_t acked;
    char moves[32], stays[32]; /* keys of node 0 */
};

static inline void find_keys(struct stage *stage)
{
    for (uint32_t i = 0; !*stage->moves || !*stage->stays; i++) {
        char key[32];
        size_t len = (size_t)snprintf(key, sizeof key, "k%u", i);
        if (cw_locate_key(stage->fixture.map, key, len) != 0)
            continue;
        uint32_t next = cw_locate_key(stage->then, key, len);
        if (next != 0 && next != NOW)
            continue;
        memcpy(next ? stage->moves : stage->stays, key, sizeof key);
    }
}

static inline void begin_with(struct stage *stage, const struct io_sim_options *sim)
{
    struct fixture *fixture = &stage->fixture;
    fixture_start(fixture, sim);
    fixture->nodes[NOW] = memory_node_create(fixture_address(NOW), 99);
    fixture->node_count = THEN;
    stage->then = fixture_map(0, THEN);
    find_keys(stage);
    stage->a = text_client_create("router:7400");
    stage->b = text_client_create("router:7400");
    io_sim_run(20, NULL);
}

static inline void begin(struct stage *stage)
{
    *stage = (struct stage){.acked = 0};
    fixture_init(&stage->fixture, NOW, 1);
    begin_with(stage, &calm);
}

static inline void end(struct stage *stage)
{
    if (stage->a)
        text_client_destroy(stage->a);
    text_client_destroy(stage->b);
    cw_map_unref(&stage->then);
    fixture_stop(&stage->fixture);
}

static inline void on_acked(void *context)
{
    ((struct stage *)context)->acked++;
}

static inline void set_state(struct stage *stage, enum move_phase phase, const char *dirty_set)
{
    struct pool_state what = {.map = stage->fixture.map,
                              .next = phase == MOVE_NONE ? NULL : stage->then,
                              .phase = phase,
                              .dirty_set = {dirty_set, strlen(dirty_set)},
                              .counters = phase == MOVE_NONE ? NULL : &stage->counters};
    CW_ASSERT(router_set_state(stage->fixture.router, 0, &what, on_acked, stage) == 0);
}

static inline void switch_over(struct stage *stage)
{
    struct pool_state what = {.map = stage->then};
    CW_ASSERT(router_set_state(stage->fixture.router, 0, &what, on_acked, stage) == 0);
}

static inline const char *popped(const char *key, const char *element)
{
    return text_of("*2\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(key), key, strlen(element),
                   element);
}

static inline uint64_t blocked_clients(const struct stage *stage)
{
    struct worker_report report;
    worker_read_report(stage->fixture.workers[0], &report);
    return report.blocked_clients;
}

static inline size_t list_len(struct stage *stage, uint32_t node, const char *key)
{
    struct memory_item *item = memory_node_find(stage->fixture.nodes[node], key);
    return item ? item->value.value_count : 0;
}

static inline bool is_marked(struct stage *stage, const char *set, const char *key)
{
    struct memory_item *item = memory_node_find(stage->fixture.nodes[0], set);
    const char *member = text_of("k%s", key);
    return item &&
           memory_dict_find(&item->value.members, (struct slice){member, strlen(member)}) != NULL;
}

#endif
