/*
 * The part of the contract of io.h that is about connections: see scenarios.h.
 */
#ifndef TESTS_IO_SCENARIOS_CONN_H
#define TESTS_IO_SCENARIOS_CONN_H

#include "io/stage.h"

#define CONN_SCENARIOS(X)                                                                          \
    X(every_byte_comes_back_in_order)                                                              \
    X(a_refused_connection_is_told_once_as_readable)                                               \
    X(a_writer_waits_while_nobody_reads)                                                           \
    X(room_is_told_once)                                                                           \
    X(whoever_is_closed_in_a_callback_is_not_called_any_more)                                      \
    X(whoever_is_unwatched_in_a_callback_is_not_called_any_more)                                   \
    X(a_connection_may_be_closed_while_it_connects)                                                \
    X(bytes_before_a_break_are_read_and_then_the_break)                                            \
    X(the_end_is_read_as_zero_and_not_told_while_nobody_watches)                                   \
    X(unread_bytes_are_told_again)                                                                 \
    X(who_reads_nothing_is_told_again_all_the_same)                                                \
    X(writing_to_who_has_closed_ends_in_an_error)                                                  \
    X(before_it_is_connected_it_reads_and_writes_nothing)                                          \
    X(both_ends_name_the_same_addresses)                                                           \
    X(a_loop_goes_with_all_that_is_open)

/* ---- bytes ----------------------------------------------------------------------------------- */

static void every_byte_comes_back_in_order(struct stage *stage)
{
    struct talker talkers[5];
    unsigned talking = 0;
    stage_listen(stage, echo_accept, stage);
    for (unsigned i = 0; i < 5; i++)
        talker_start(&talkers[i], stage, stage->address, i * 1000, 100000 + i, &talking);
    stage_run(stage);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_INT(talkers[i].error, 0);
        CHECK_INT(talkers[i].received, talkers[i].total);
    }
}

static void a_refused_connection_is_told_once_as_readable(struct stage *stage)
{
    struct probe probe;
    char address[IO_ADDRESS_LEN_MAX], byte;
    stage_listen(stage, echo_accept, stage);
    snprintf(address, sizeof address, "%s", stage->address);
    io_listener_close(&stage->listener);
    stage->address = address;
    probe_connect(&probe, stage);
    CHECK_INT(probe.events, IO_READABLE);
    ssize_t error = io_read(probe.conn, &byte, 1);
    CHECK(error == -ECONNREFUSED || (strncmp(address, "unix:", 5) == 0 && error == -ENOENT));
    CHECK_INT(write_bytes(probe.conn, "x", 1), error);
    stage_wait(stage, 20);
    CHECK_INT(probe.calls, 1);
    io_close(&probe.conn);
}

struct flood {
    struct probe reader;
    struct io_conn *conn;
    uint64_t sent, blocked_at, received;
    bool reads;
};

static void flood_send(void *context, int events)
{
    static const char zeros[4096];
    struct flood *flood = context;
    ssize_t count = 1;
    while (count > 0 && (flood->blocked_at == 0 || flood->sent < flood->blocked_at + 100000)) {
        count = write_bytes(flood->conn, zeros, sizeof zeros);
        if (count > 0)
            flood->sent += (uint64_t)count;
        if (count > 0 && (size_t)count < sizeof zeros)
            break;
    }
    CHECK(count > 0 || count == -EAGAIN);
}

static void flood_receive(void *context, int events)
{
    struct flood *flood = context;
    char bytes[16 * 1024];
    CHECK(flood->reads);
    ssize_t count = io_read(flood->reader.conn, bytes, sizeof bytes);
    CHECK(count > 0 || count == -EAGAIN);
    if (count > 0)
        flood->received += (uint64_t)count;
    if (flood->received >= flood->blocked_at + 100000)
        stage_finish(flood->reader.stage);
}

static void flood_accept(void *context, struct io_conn *conn)
{
    struct flood *flood = context;
    flood->reader.conn = conn;
    io_conn_set(conn, flood_receive, flood);
    io_watch_reading(conn, false);
}

static void a_writer_waits_while_nobody_reads(struct stage *stage)
{
    struct flood flood = {.reader = {.stage = stage}};
    stage_listen(stage, flood_accept, &flood);
    CHECK_INT(io_connect(stage->loop, stage->address, flood_send, &flood, &flood.conn), 0);
    uint64_t sent_before = UINT64_MAX;
    while (flood.sent == 0 || flood.sent != sent_before) {
        sent_before = flood.sent;
        stage_wait(stage, 50);
    }
    flood.blocked_at = flood.sent;
    flood.reads = true;
    io_watch_reading(flood.reader.conn, true);
    stage_run(stage);
    CHECK(flood.received <= flood.sent);
    io_close(&flood.conn);
    io_close(&flood.reader.conn);
}

static void room_is_told_once(struct stage *stage)
{
    static char bytes[64 * 1024];
    struct probe server = {.stage = stage}, client;
    stage_listen(stage, probe_accept, &server);
    probe_connect(&client, stage);
    stage_wait(stage, 10);
    ssize_t count = 1;
    while (count > 0)
        count = write_bytes(client.conn, bytes, sizeof bytes);
    CHECK_INT(count, -EAGAIN);
    client.calls = client.events = 0;
    for (int quiet = 0; quiet < 10; quiet++) {
        while (io_read(server.conn, bytes, sizeof bytes) > 0)
            quiet = 0;
        stage_wait(stage, 3);
    }
    CHECK_INT(client.calls, 1);
    CHECK_INT(client.events, IO_WRITABLE);
    io_close(&client.conn);
    io_close(&server.conn);
}

/* ---- closing --------------------------------------------------------------------------------- */

enum { CROWD = 10 };

struct crowd {
    struct stage *stage;
    struct io_conn *conns[CROWD];
    io_event_callback callback;
    unsigned count, calls;
};

static void crowd_close_all(void *context, int events)
{
    struct crowd *crowd = context;
    crowd->calls++;
    for (unsigned i = 0; i < crowd->count; i++)
        io_close(&crowd->conns[i]);
}

static void crowd_accept(void *context, struct io_conn *conn)
{
    struct crowd *crowd = context;
    crowd->conns[crowd->count++] = conn;
    io_conn_set(conn, crowd->callback, crowd);
    io_watch_reading(conn, false);
    if (crowd->count == CROWD)
        stage_finish(crowd->stage);
}

static void crowd_unwatch_all(void *context, int events)
{
    struct crowd *crowd = context;
    crowd->calls++;
    for (unsigned i = 0; i < crowd->count; i++)
        io_watch_reading(crowd->conns[i], false);
}

/* Connects many and makes them readable, in one turn where turns are real. */
static void crowd_play(struct crowd *crowd, struct stage *stage)
{
    struct probe probes[CROWD] = {{0}};
    crowd->stage = stage;
    stage_listen(stage, crowd_accept, crowd);
    for (unsigned i = 0; i < CROWD; i++)
        CHECK_INT(io_connect(stage->loop, stage->address, probe_note, &probes[i], &probes[i].conn),
                  0);
    stage_run(stage);
    stage_wait(stage, 20); /* all are connected at both ends */
    for (unsigned i = 0; i < CROWD; i++)
        write_bytes(probes[i].conn, "hello", 5);
    for (unsigned i = 0; i < CROWD; i++)
        io_watch_reading(crowd->conns[i], true);
    for (unsigned i = 0; i < CROWD; i++)
        io_watch_reading(probes[i].conn, false);
    stage_wait(stage, 20);
    CHECK_INT(crowd->calls, 1);
    for (unsigned i = 0; i < CROWD; i++)
        io_close(&probes[i].conn);
}

static void whoever_is_closed_in_a_callback_is_not_called_any_more(struct stage *stage)
{
    struct crowd crowd = {.callback = crowd_close_all};
    crowd_play(&crowd, stage);
}

static void whoever_is_unwatched_in_a_callback_is_not_called_any_more(struct stage *stage)
{
    struct crowd crowd = {.callback = crowd_unwatch_all};
    crowd_play(&crowd, stage);
}

static void a_connection_may_be_closed_while_it_connects(struct stage *stage)
{
    struct probe probes[CROWD] = {{0}};
    stage_listen(stage, echo_accept, stage);
    for (unsigned i = 0; i < CROWD; i++) {
        CHECK_INT(io_connect(stage->loop, stage->address, probe_note, &probes[i], &probes[i].conn),
                  0);
        if (i % 2)
            io_close(&probes[i].conn);
    }
    stage_wait(stage, 20);
    for (unsigned i = 0; i < CROWD; i++)
        CHECK_INT(probes[i].calls, i % 2 ? 0 : 1);
    for (unsigned i = 0; i < CROWD; i++)
        io_close(&probes[i].conn);
    io_close(&probes[0].conn); /* a second time does nothing */
}

/* ---- the lives of connections ---------------------------------------------------------------- */

static void the_end_is_read_as_zero_and_not_told_while_nobody_watches(struct stage *stage)
{
    struct probe server = {.stage = stage}, client;
    stage_listen(stage, probe_accept, &server);
    probe_connect(&client, stage);
    CHECK_INT(client.events, IO_WRITABLE);
    stage_wait(stage, 10);
    probe_read_until(&server, -EAGAIN);
    io_close(&client.conn);
    stage_wait(stage, 20);
    CHECK_INT(server.calls, 0);
    server.finish_at = 1;
    io_watch_reading(server.conn, true);
    stage_run(stage);
    CHECK_INT(server.events, IO_READABLE);
    probe_read_until(&server, 0);
    io_close(&server.conn);
}

static void read_one_byte(void *context, int events)
{
    struct probe *probe = context;
    char byte;
    if (io_read(probe->conn, &byte, 1) == 1 && ++probe->calls == probe->finish_at)
        stage_finish(probe->stage);
}

static void accept_slow_reader(void *context, struct io_conn *conn)
{
    struct probe *probe = context;
    probe->conn = conn;
    io_conn_set(conn, read_one_byte, probe);
}

static void unread_bytes_are_told_again(struct stage *stage)
{
    struct probe server = {.stage = stage, .finish_at = 5}, client;
    stage_listen(stage, accept_slow_reader, &server);
    probe_connect(&client, stage);
    for (ssize_t sent = 0; sent < 5;) {
        ssize_t count = write_bytes(client.conn, "12345", 5 - (size_t)sent);
        sent += count > 0 ? count : 0;
    }
    stage_run(stage);
    CHECK_INT(server.calls, 5);
    io_close(&client.conn);
    io_close(&server.conn);
}

static void who_reads_nothing_is_told_again_all_the_same(struct stage *stage)
{
    struct probe server = {.stage = stage, .finish_at = 5}, client;
    stage_listen(stage, probe_accept, &server);
    probe_connect(&client, stage);
    stage_wait(stage, 10);
    while (write_bytes(client.conn, "x", 1) != 1)
        stage_wait(stage, 5);
    io_watch_reading(server.conn, true);
    stage_run(stage);
    CHECK_INT(server.events, IO_READABLE);
    io_close(&client.conn);
    io_close(&server.conn);
}

struct breaking {
    struct probe server;
    unsigned bytes;
    ssize_t end; /* what came after them */
};

static void read_to_the_break(void *context, int events)
{
    struct breaking *breaking = context;
    char byte;
    ssize_t count = io_read(breaking->server.conn, &byte, 1);
    breaking->bytes += count == 1;
    if (count > 0 || count == -EAGAIN)
        return;
    breaking->end = count;
    stage_finish(breaking->server.stage);
}

static void accept_breaking(void *context, struct io_conn *conn)
{
    struct breaking *breaking = context;
    breaking->server.conn = conn;
    io_conn_set(conn, read_to_the_break, breaking);
    io_watch_reading(conn, false);
}

/* Closing with bytes unread is a break, not an end. */
static void bytes_before_a_break_are_read_and_then_the_break(struct stage *stage)
{
    struct breaking breaking = {.server = {.stage = stage}};
    struct probe client;
    char byte;
    stage_listen(stage, accept_breaking, &breaking);
    probe_connect(&client, stage);
    io_watch_reading(client.conn, false);
    stage_wait(stage, 10);
    while (write_bytes(breaking.server.conn, "x", 1) != 1)
        stage_wait(stage, 5);
    for (int sent = 0; sent < 5; sent += write_bytes(client.conn, "1", 1) == 1)
        stage_wait(stage, 5);
    io_close(&client.conn);
    stage_wait(stage, 10);
    io_watch_reading(breaking.server.conn, true);
    stage_run(stage);
    CHECK_INT(breaking.bytes, 5);
    CHECK_INT(breaking.end, -ECONNRESET);
    CHECK_INT(io_read(breaking.server.conn, &byte, 1), -ECONNRESET);
    io_close(&breaking.server.conn);
}

static void accept_and_close(void *context, struct io_conn *conn)
{
    io_close(&conn);
}

static void writing_to_who_has_closed_ends_in_an_error(struct stage *stage)
{
    struct probe client;
    ssize_t count = 0;
    stage_listen(stage, accept_and_close, NULL);
    probe_connect(&client, stage);
    io_watch_reading(client.conn, false);
    for (int i = 0; i < 100 && (count >= 0 || count == -EAGAIN); i++) {
        stage_wait(stage, 2);
        count = write_bytes(client.conn, "x", 1);
    }
    CHECK(count == -EPIPE || count == -ECONNRESET);
    io_close(&client.conn);
}

static void before_it_is_connected_it_reads_and_writes_nothing(struct stage *stage)
{
    struct probe client = {.stage = stage, .finish_at = 1};
    char byte;
    stage_listen(stage, echo_accept, stage);
    CHECK_INT(io_connect(stage->loop, stage->address, probe_note, &client, &client.conn), 0);
    CHECK_INT(io_read(client.conn, &byte, 1), -EAGAIN);
    CHECK_INT(write_bytes(client.conn, "x", 1), -EAGAIN);
    stage_run(stage);
    CHECK_INT(client.events, IO_WRITABLE);
    CHECK_INT(io_write(client.conn, NULL, 0), 0);
    stage_wait(stage, 10);
    CHECK_INT(client.calls, 1);
    io_close(&client.conn);
}

static void both_ends_name_the_same_addresses(struct stage *stage)
{
    struct probe server = {.stage = stage}, client;
    char names[4][IO_ADDRESS_LEN_MAX];
    stage_listen(stage, probe_accept, &server);
    probe_connect(&client, stage);
    stage_wait(stage, 10);
    io_own_address(client.conn, names[0]);
    io_peer_address(server.conn, names[1]);
    io_peer_address(client.conn, names[2]);
    io_own_address(server.conn, names[3]);
    assert_string_equal(names[0], names[1]);
    if (strcmp(names[2], "?") != 0) /* the ends of a pair inside the process have no names */
        assert_string_equal(names[2], stage->address);
    assert_string_equal(names[2], names[3]);
    io_close(&client.conn);
    io_close(&server.conn);
}

static void never(void *context)
{
    CHECK(!"called");
}

static void never_event(void *context, int events)
{
    CHECK(!"called");
}

static void a_loop_goes_with_all_that_is_open(struct stage *stage)
{
    struct probe server = {.stage = stage}, client;
    struct io_timer *timer;
    struct io_conn *conn;
    stage_listen(stage, probe_accept, &server);
    probe_connect(&client, stage);
    write_bytes(client.conn, "on its way", 10);
    stage_wait(stage, 10);
    CHECK_INT(io_timer_create(stage->loop, never, NULL, &timer), 0);
    io_timer_start(timer, 1000);
    CHECK_INT(io_connect(stage->loop, stage->address, never_event, NULL, &conn), 0);
    CHECK_INT(io_connect(stage->loop, "127.0.0.1:1", never_event, NULL, &conn), 0);
    CHECK_INT(io_post(stage->loop, never, NULL), 0);
}

#endif
