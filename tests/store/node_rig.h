/*
 * A node on a real loop in a thread of its own, as in the router, and a blocking client for it.
 */
#ifndef TESTS_STORE_NODE_RIG_H
#define TESTS_STORE_NODE_RIG_H

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/buffer.h"
#include "store/dir_rig.h"
#include "store/embedded_node.h"

struct node_rig {
    struct dir_rig dir;
    struct embedded_node_options options;
    struct io_loop *loop;
    struct embedded_node *node;
    pthread_t thread;
    char listen[64];
    uint16_t port;
    char shown[4096];
};

static inline struct embedded_node_options node_rig_options(void)
{
    return (struct embedded_node_options){
        .id = "node-1",
        .durability = DURABILITY_NO,
        .size_max = 64 << 20,
        .limits = {.arg_count_max = 10000,
                   .arg_len_max = 8 << 20,
                   .inline_len_max = 64 << 10,
                   .request_len_max = 16 << 20},
    };
}

/* A port that is free now. The node wants a number, not 0, so that the test knows it. */
static inline uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static inline void *node_rig_run(void *context)
{
    struct node_rig *rig = context;
    io_loop_run(rig->loop);
    return NULL;
}

/* Starts with rig->options, on the same directory and address as before if there was one. */
static inline void node_rig_start_again(struct node_rig *rig)
{
    rig->options.listen = rig->listen;
    rig->options.data_dir = rig->dir.path;
    assert_int_equal(io_loop_create(&rig->loop), 0);
    int error = embedded_node_create(rig->loop, &rig->options, &rig->node, rig->dir.message,
                                     sizeof rig->dir.message);
    if (error)
        fail_msg("cannot start the node: %s", rig->dir.message);
    assert_int_equal(pthread_create(&rig->thread, NULL, node_rig_run, rig), 0);
}

static inline void node_rig_start(struct node_rig *rig, struct embedded_node_options options)
{
    memset(rig, 0, sizeof *rig);
    dir_rig_make(&rig->dir);
    rig->port = free_port();
    rig->options = options;
    snprintf(rig->listen, sizeof rig->listen, "127.0.0.1:%u", rig->port);
    node_rig_start_again(rig);
}

static inline void node_rig_end(struct node_rig *rig)
{
    io_loop_stop(rig->loop);
    pthread_join(rig->thread, NULL);
    embedded_node_destroy(&rig->node);
    io_loop_destroy(&rig->loop);
}

static inline void node_rig_stop(struct node_rig *rig)
{
    node_rig_end(rig);
    dir_rig_remove(&rig->dir);
}

static inline struct embedded_node_stats node_rig_stats(struct node_rig *rig)
{
    struct embedded_node_stats stats;
    embedded_node_read_stats(rig->node, &stats);
    return stats;
}

/* ---- a client -------------------------------------------------------------------------------- */

static inline int client_open(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    struct timeval patience = {.tv_sec = 60};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail_msg("cannot connect to port %u: %s", port, strerror(errno));
    return fd;
}

static inline void client_send(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t count = send(fd, bytes, len, MSG_NOSIGNAL);
        if (count <= 0)
            fail_msg("cannot send: %s", strerror(errno));
        bytes += count;
        len -= (size_t)count;
    }
}

static inline void client_send_text(int fd, const char *text)
{
    client_send(fd, text, strlen(text));
}

/* Reads one reply into `in` behind what is there already; returns where it begins. What comes after
 * it stays for the next call. */
struct client_input {
    struct buffer bytes;
};

static inline struct slice client_reply(int fd, struct client_input *input, size_t *taken)
{
    struct resp_scanner scanner;
    struct buffer *bytes = &input->bytes;
    buffer_take(bytes, *taken);
    resp_scanner_init(&scanner);
    for (;;) {
        enum resp_result result = resp_scan(&scanner, buffer_bytes(bytes), bytes->len, 1u << 30);
        assert_int_not_equal(result, RESP_BAD);
        if (result == RESP_DONE)
            break;
        char *to = buffer_reserve(bytes, 64 << 10);
        assert_non_null(to);
        ssize_t count = recv(fd, to, buffer_room(bytes), 0);
        if (count <= 0)
            fail_msg("no reply: %s", count == 0 ? "closed" : strerror(errno));
        buffer_added(bytes, (size_t)count);
    }
    *taken = scanner.position;
    return (struct slice){buffer_bytes(bytes), scanner.position};
}

/* Sends one inline command on a connection of its own, and shows the reply as one line. */
static inline const char *node_ask(struct node_rig *rig, const char *command)
{
    struct client_input input = {BUFFER_INIT};
    size_t taken = 0, to = 0;
    int fd = client_open(rig->port);
    client_send_text(fd, command);
    client_send_text(fd, "\r\n");
    struct slice reply = client_reply(fd, &input, &taken);
    for (size_t i = 0; i < reply.len && to < sizeof rig->shown - 1; i++)
        if (reply.ptr[i] != '\r')
            rig->shown[to++] = reply.ptr[i] == '\n' ? ' ' : reply.ptr[i];
    rig->shown[to - 1] = '\0';
    buffer_release(&input.bytes);
    close(fd);
    return rig->shown;
}

#endif
