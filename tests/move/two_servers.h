/*
 * Two real redis-servers, all keys of the first one move to the second, and a mover's loop between
 * them. Commands are inline ones, as redis-cli takes them: "SET k \"a b\"".
 */
#ifndef TESTS_MOVE_TWO_SERVERS_H
#define TESTS_MOVE_TWO_SERVERS_H

#include <inttypes.h>
#include <stdio.h>

#include "move/answer.h"
#include "move/job.h"
#include "store/redis_rig.h"

enum { SOURCE, TARGET };

struct two_servers {
    struct redis_rig redis[2];
    int fd[2];
    struct client_input input[2];
    size_t taken[2];
    char shown[2][4096];
    struct io_loop *loop;
    struct peer *peers[2];
    struct cw_map *maps[2];
    struct throttle throttle;
    struct move_progress progress;
    struct big_found found;
    struct move move;
    struct job_end end;
    bool is_over;
};

/* One command to one server; the reply is valid until the next one. */
static inline struct slice server_call(struct two_servers *servers, int side, const char *format,
                                       ...) __attribute__((format(printf, 3, 4)));
static inline struct slice server_call(struct two_servers *servers, int side, const char *format,
                                       ...)
{
    char text[8192];
    va_list list;
    va_start(list, format);
    int len = vsnprintf(text, sizeof text - 2, format, list);
    va_end(list);
    assert_in_range(len, 1, sizeof text - 3);
    memcpy(text + len, "\r\n", 2);
    client_send(servers->fd[side], text, (size_t)len + 2);
    return client_reply(servers->fd[side], &servers->input[side], &servers->taken[side]);
}

/* The reply as one line. */
#define SERVER_SHOW(servers, side, ...)                                                            \
    server_line(servers, side, server_call(servers, side, __VA_ARGS__))
static inline const char *server_line(struct two_servers *servers, int side, struct slice reply)
{
    char *to = servers->shown[side];
    size_t len = 0;
    for (size_t i = 0; i < reply.len && len < sizeof servers->shown[side] - 1; i++)
        if (reply.ptr[i] != '\r')
            to[len++] = reply.ptr[i] == '\n' ? ' ' : reply.ptr[i];
    to[len] = '\0';
    return to;
}

/* A command that must not fail. */
#define SERVER_DO(servers, side, ...)                                                              \
    do {                                                                                           \
        const char *line_ = SERVER_SHOW(servers, side, __VA_ARGS__);                               \
        if (line_[0] == '-')                                                                       \
            fail_msg("%s", line_);                                                                 \
    } while (0)

static inline struct cw_map *servers_map(const char *id, const char *address)
{
    struct cw_map *map = NULL;
    struct cw_node node = {.id = id, .address = address, .weight = 1};
    struct cw_map_options options = {.nodes = &node, .node_count = 1, .slot_count = 1024};
    assert_int_equal(cw_map_create(&options, &map, NULL), 0);
    return map;
}

static inline void servers_connect(struct two_servers *servers, int side)
{
    char address[64];
    const char *id = side == SOURCE ? "node-a" : "node-b";
    snprintf(address, sizeof address, "127.0.0.1:%u", servers->redis[side].port);
    struct peer_options options = {
        .id = id, .address = address, .client_name = "mover", .timeout_ms = 60000};
    servers->fd[side] = client_open(servers->redis[side].port);
    assert_int_equal(peer_create(servers->loop, &options, &servers->peers[side]), 0);
    servers->maps[side] = servers_map(id, address);
}

static inline void servers_start(struct two_servers *servers)
{
    static const struct throttle_settings no_limits;
    memset(servers, 0, sizeof *servers);
    assert_int_equal(io_loop_create(&servers->loop), 0);
    for (int side = SOURCE; side <= TARGET; side++) {
        redis_rig_start(&servers->redis[side]);
        servers_connect(servers, side);
    }
    throttle_init(&servers->throttle, &no_limits, io_now_ms(servers->loop));
    servers->move = (struct move){
        .loop = servers->loop,
        .from = servers->maps[SOURCE],
        .to = servers->maps[TARGET],
        .from_peers = &servers->peers[SOURCE],
        .to_peers = &servers->peers[TARGET],
        .prefix = "\0cw:mig:7.1:",
        .prefix_len = sizeof "\0cw:mig:7.1:" - 1,
        .dead = CW_NO_NODE,
        .throttle = &servers->throttle,
        .progress = &servers->progress,
        .found = &servers->found,
    };
}

static inline void servers_stop(struct two_servers *servers)
{
    for (int side = SOURCE; side <= TARGET; side++) {
        peer_destroy(&servers->peers[side]);
        cw_map_unref(&servers->maps[side]);
        close(servers->fd[side]);
        buffer_release(&servers->input[side].bytes);
        redis_rig_stop(&servers->redis[side]);
    }
    key_list_release(&servers->found.keys);
    buffer_release(&servers->found.sources);
    io_loop_destroy(&servers->loop);
}

static inline void servers_on_done(void *context, const struct job_end *end)
{
    struct two_servers *servers = context;
    assert_false(servers->is_over);
    servers->is_over = true;
    servers->end = *end;
    io_loop_stop(servers->loop);
}

/* Runs until servers_on_done() was called. */
static inline struct job_end servers_run(struct two_servers *servers)
{
    io_loop_run(servers->loop);
    assert_true(servers->is_over);
    servers->is_over = false;
    return servers->end;
}

static inline void assert_done(const struct job_end *end)
{
    if (end->result != JOB_DONE)
        fail_msg("result %d: %s", end->result, end->problem);
}

/* ---- the two of a test program ------------------------------------------------------------- */

static struct two_servers servers;

static inline int servers_set_up(void **state)
{
    (void)state;
    alarm(280);
    servers_start(&servers);
    return 0;
}

static inline int servers_tear_down(void **state)
{
    (void)state;
    servers_stop(&servers);
    return 0;
}

#endif
