/*
 * A small world for tests of transactions: two memory nodes, one worker, one connection a node that
 * all clients share, and two clients.
 */
#ifndef TESTS_ROUTER_TRANSACTION_WORLD_H
#define TESTS_ROUTER_TRANSACTION_WORLD_H

#include "router/fixture.h"

struct transactions {
    struct fixture fixture;
    struct text_client *a, *b;
};

/* Limits and the like may be changed before transactions_start(). */
static void transactions_init(struct transactions *world)
{
    fixture_init(&world->fixture, 2, 1);
}

static void transactions_start(struct transactions *world)
{
    static const struct io_sim_options calm = {
        .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 16};
    fixture_start(&world->fixture, &calm);
    world->a = text_client_create("router:7400");
    world->b = text_client_create("router:7400");
    io_sim_run(20, NULL);
}

static inline void transactions_begin(struct transactions *world)
{
    transactions_init(world);
    transactions_start(world);
}

static void transactions_end(struct transactions *world)
{
    text_client_destroy(world->a);
    text_client_destroy(world->b);
    fixture_stop(&world->fixture);
}

/* The one text behind the other (static storage, a few at a time). Not inlined: compilers would see
 * that all texts are one array, and not that they are different ones. */
__attribute__((unused, noinline)) static const char *text_join(const char *first,
                                                               const char *second)
{
    static char texts[32][1024];
    static uint32_t turn;
    char *text = texts[turn++ % 32];
    snprintf(text, sizeof texts[0], "%s%s", first, second);
    return text;
}

#endif
