/*
 * A small world for router tests: memory nodes, a router of some workers, and clients that talk to
 * it in text, all on simulated loops. Deterministic from the seed.
 */
#ifndef TESTS_ROUTER_FIXTURE_H
#define TESTS_ROUTER_FIXTURE_H

#include <errno.h>

#include "io/io_sim.h"
#include "router/memory_node.h"
#include "router/router.h"

enum { FIXTURE_NODES_MAX = 8, FIXTURE_WORKERS_MAX = 4 };

struct fixture {
    struct memory_node *nodes[FIXTURE_NODES_MAX];
    uint32_t node_count, worker_count;
    struct router *router;
    struct io_loop *loops[FIXTURE_WORKERS_MAX];
    struct worker *workers[FIXTURE_WORKERS_MAX];
    struct cw_map *map;
    struct pool_settings pool;
    struct router_options options;
};

static struct router_limits fixture_limits(void)
{
    return (struct router_limits){
        .client_count_max = 100,
        .pipeline_max = 64,
        .client_memory_max = 1 << 20,
        .key_len_max = 1024,
        .node_queue_max = 4096,
        .own_links_max = 100,
        .reply_len_max = 1 << 20,
        .half_request_ms = 10000,
        .request = {.arg_count_max = 1024,
                    .arg_len_max = 1 << 18,
                    .inline_len_max = 1 << 16,
                    .request_len_max = 1 << 19},
    };
}

static const char *fixture_id(uint32_t node)
{
    static const char *const ids[] = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
    return ids[node];
}

static const char *fixture_address(uint32_t node)
{
    static const char *const addresses[] = {"sim-n0:1", "sim-n1:1", "sim-n2:1", "sim-n3:1",
                                            "sim-n4:1", "sim-n5:1", "sim-n6:1", "sim-n7:1"};
    return addresses[node];
}

static struct cw_map *fixture_map(uint32_t first, uint32_t count)
{
    struct cw_node described[FIXTURE_NODES_MAX];
    for (uint32_t i = 0; i < count; i++)
        described[i] = (struct cw_node){
            .id = fixture_id(first + i), .address = fixture_address(first + i), .weight = 1};
    struct cw_map_options options = {.nodes = described, .node_count = count, .slot_count = 1024};
    struct cw_map *map;
    CW_ASSERT(cw_map_create(&options, &map, NULL) == CW_OK);
    return map;
}

/* Defaults that a test may change before fixture_start(). */
static inline void fixture_init(struct fixture *fixture, uint32_t node_count, uint32_t worker_count)
{
    *fixture = (struct fixture){.node_count = node_count, .worker_count = worker_count};
    fixture->pool = (struct pool_settings){
        .name = "test",
        .listen = "router:7400",
        .engine = ENGINE_REDIS,
        .connections = 1,
        .timeout_ms = 500,
        .probe_interval_ms = 50,
        .probe_interval_max_ms = 400,
    };
    fixture->options = (struct router_options){
        .pool_count = 1,
        .worker_count = worker_count,
        .limits = fixture_limits(),
        .version = "test",
    };
}

static inline void fixture_start(struct fixture *fixture, const struct io_sim_options *sim)
{
    char address[IO_ADDRESS_LEN_MAX];
    io_sim_begin(sim);
    for (uint32_t i = 0; i < fixture->node_count; i++)
        fixture->nodes[i] = memory_node_create(fixture_address(i), sim->seed + i);
    fixture->map = fixture_map(0, fixture->node_count);
    fixture->pool.map = fixture->map;
    fixture->options.pools = &fixture->pool;
    CW_ASSERT(router_create(&fixture->options, &fixture->router) == 0);
    for (uint32_t i = 0; i < fixture->worker_count; i++) {
        CW_ASSERT(io_loop_create(&fixture->loops[i]) == 0);
        CW_ASSERT(worker_create(fixture->router, i, fixture->loops[i], &fixture->workers[i],
                                address) == 0);
    }
}

static inline void fixture_stop(struct fixture *fixture)
{
    for (uint32_t i = 0; i < fixture->worker_count; i++)
        worker_destroy(&fixture->workers[i]);
    for (uint32_t i = 0; i < fixture->worker_count; i++)
        io_loop_destroy(&fixture->loops[i]);
    router_destroy(&fixture->router);
    for (uint32_t i = 0; i < fixture->node_count; i++)
        memory_node_destroy(fixture->nodes[i]);
    cw_map_unref(&fixture->map);
    io_sim_end();
}

/* ---- a client that speaks text ------------------------------------------------------------------
 */

struct text_client {
    struct io_loop *loop;
    struct io_conn *conn;
    struct buffer in, out;
    bool is_closed, is_connected, reads_nothing;
};

static void text_flush(struct text_client *client)
{
    while (client->conn && client->is_connected && client->out.len) {
        struct iovec part = {buffer_bytes(&client->out), client->out.len};
        ssize_t written = io_write(client->conn, &part, 1);
        if (written <= 0)
            return;
        buffer_take(&client->out, (size_t)written);
    }
}

static void text_read(struct text_client *client)
{
    char bytes[8192];
    ssize_t got = io_read(client->conn, bytes, sizeof bytes);
    if (got > 0)
        buffer_append(&client->in, bytes, (size_t)got);
    if (got > 0 || got == -EAGAIN)
        return;
    client->is_closed = true;
    io_close(&client->conn);
}

static void text_on_event(void *context, int events)
{
    struct text_client *client = context;
    if (events & IO_WRITABLE) {
        client->is_connected = true;
        text_flush(client);
    }
    if ((events & IO_READABLE) && client->conn && !client->reads_nothing)
        text_read(client);
}

static inline struct text_client *text_client_create(const char *address)
{
    struct text_client *client = calloc(1, sizeof *client);
    CW_ASSERT(io_loop_create(&client->loop) == 0);
    CW_ASSERT(io_connect(client->loop, address, text_on_event, client, &client->conn) == 0);
    return client;
}

static inline void text_client_destroy(struct text_client *client)
{
    io_close(&client->conn);
    io_loop_destroy(&client->loop);
    buffer_release(&client->in);
    buffer_release(&client->out);
    free(client);
}

static void text_send_bytes(struct text_client *client, const void *bytes, size_t len)
{
    buffer_append(&client->out, bytes, len);
    text_flush(client);
}

static void text_send(struct text_client *client, const char *text)
{
    text_send_bytes(client, text, strlen(text));
}

/* Sends, runs the world for a while, and returns all that came back since the last call (static
 * storage, terminated). */
static inline const char *text_ask_for(struct text_client *client, const char *text,
                                       uint64_t run_ms)
{
    static char answer[1 << 16];
    text_send(client, text);
    io_sim_run(run_ms, NULL);
    size_t len = client->in.len < sizeof answer - 1 ? client->in.len : sizeof answer - 1;
    if (len)
        memcpy(answer, buffer_bytes(&client->in), len);
    answer[len] = '\0';
    buffer_clear(&client->in);
    return answer;
}

static inline const char *text_ask(struct text_client *client, const char *text)
{
    return text_ask_for(client, text, 200);
}

/* A key that the fixture's map puts on a node: the number-th of them (static storage). */
static inline const char *key_on_node(const struct cw_map *map, uint32_t node, uint32_t number)
{
    static char keys[8][32];
    static uint32_t turn;
    char *key = keys[turn++ % 8];
    for (uint32_t i = 0;; i++) {
        snprintf(key, sizeof keys[0], "key%u", i);
        if (cw_locate(map, cw_hash_tagged(key, strlen(key))) == node && number-- == 0)
            return key;
    }
}

/* The text of a format (static storage, a few at a time). */
__attribute__((format(printf, 1, 2), unused)) static const char *text_of(const char *format, ...)
{
    static char texts[64][1024];
    static uint32_t turn;
    char *text = texts[turn++ % 64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof texts[0], format, args);
    va_end(args);
    return text;
}

#endif
