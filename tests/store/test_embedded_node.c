/*
 * The whole node on the simulated network and its clock: requests cut at any byte, expiry, clients
 * that do not read.
 * covers: store/node_conn, store/node_batch
 */
#include <errno.h>

#include "io/io_sim.h"
#include "store/dir_rig.h"
#include "store/embedded_node.h"
#include "store/node.h"

static const struct io_sim_options calm = {.seed = 1, .delay_min_us = 50, .delay_max_us = 50};
static const struct io_sim_options rough = {.seed = 1,
                                            .delay_min_us = 10,
                                            .delay_max_us = 2000,
                                            .split_permille = 500,
                                            .window_bytes = 300};

struct client {
    struct io_conn *io;
    struct buffer in, out;
    bool is_connected, is_closed, reads_nothing;
};

struct world {
    struct dir_rig dir;
    struct io_loop *loop, *client_loop;
    struct embedded_node_options options;
    struct embedded_node *node;
};

/* ---- clients --------------------------------------------------------------------------------- */

static void client_flush(struct client *client)
{
    while (client->is_connected && client->out.len) {
        struct iovec part = {buffer_bytes(&client->out), client->out.len};
        ssize_t count = io_write(client->io, &part, 1);
        if (count <= 0)
            return;
        buffer_take(&client->out, (size_t)count);
    }
}

static void client_drain(struct client *client)
{
    char piece[1000];
    ssize_t count = 1;
    while (count > 0) {
        count = io_read(client->io, piece, sizeof piece);
        if (count > 0)
            buffer_append(&client->in, piece, (size_t)count);
    }
    if (count == 0 || count != -EAGAIN) {
        client->is_closed = true;
        io_close(&client->io);
    }
}

static void on_client_event(void *context, int events)
{
    struct client *client = context;
    if (events & IO_WRITABLE) {
        client->is_connected = true;
        client_flush(client);
    }
    if (events & IO_READABLE && !client->reads_nothing)
        client_drain(client);
}

static void client_start(struct client *client, struct world *world)
{
    *client = (struct client){.io = NULL};
    assert_int_equal(io_connect(world->client_loop, "node:1", on_client_event, client, &client->io),
                     0);
    io_sim_run(10, NULL);
}

static void client_stop(struct client *client)
{
    io_close(&client->io);
    buffer_release(&client->in);
    buffer_release(&client->out);
}

static void say(struct client *client, const char *text)
{
    buffer_append_text(&client->out, text);
    client_flush(client);
}

/* What has come since the last look, in one line. */
static const char *heard(struct client *client)
{
    static char text[4096];
    size_t to = 0;
    for (size_t i = 0; i < client->in.len && to < sizeof text - 1; i++) {
        char c = buffer_bytes(&client->in)[i];
        if (c != '\r')
            text[to++] = c == '\n' ? ' ' : c;
    }
    text[to ? to - 1 : 0] = '\0';
    buffer_clear(&client->in);
    return text;
}

static void expect_heard(struct client *client, const char *want)
{
    io_sim_run(1000, NULL);
    assert_string_equal(heard(client), want);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static void node_start(struct world *world)
{
    assert_int_equal(io_loop_create(&world->loop), 0);
    if (embedded_node_create(world->loop, &world->options, &world->node, world->dir.message,
                             sizeof world->dir.message) != 0)
        fail_msg("%s", world->dir.message);
}

static void node_stop(struct world *world)
{
    embedded_node_destroy(&world->node);
    io_loop_destroy(&world->loop);
}

static void world_start(struct world *world, const struct io_sim_options *sim)
{
    memset(world, 0, sizeof *world);
    dir_rig_make(&world->dir);
    world->options = (struct embedded_node_options){
        .id = "node-1",
        .listen = "node:1",
        .data_dir = world->dir.path,
        .durability = DURABILITY_EVERYSEC,
        .sync_on_loop = true,
        .size_max = 16 << 20,
        .limits = {.arg_count_max = 1000,
                   .arg_len_max = 1 << 20,
                   .inline_len_max = 1 << 16,
                   .request_len_max = 4 << 20},
    };
    io_sim_begin(sim);
    assert_int_equal(io_loop_create(&world->client_loop), 0);
    node_start(world);
}

static void world_stop(struct world *world)
{
    node_stop(world);
    io_loop_destroy(&world->client_loop);
    io_sim_end();
    dir_rig_remove(&world->dir);
}

static struct embedded_node_stats stats_of(const struct world *world)
{
    struct embedded_node_stats stats;
    embedded_node_read_stats(world->node, &stats);
    return stats;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void requests_cut_at_any_byte_are_answered_all_the_same(void **state)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world world;
        struct client client;
        struct io_sim_options sim = rough;
        sim.seed = seed;
        world_start(&world, &sim);
        client_start(&client, &world);
        say(&client,
            "SET a 'hello world'\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n\r\n*0\r\nINCR n\nINCR n\r\n");
        say(&client, "*3\r\n$6\r\nAPPEND\r\n$1\r\na\r\n$3\r\n\r\n!\r\nSTRLEN a\r\n");
        expect_heard(&client, "+OK $11 hello world :1 :2 :14 :14");
        client_stop(&client);
        world_stop(&world);
    }
}

static void clients_of_one_turn_share_a_commit(void **state)
{
    enum { CLIENTS = 50 };
    struct world world;
    struct client clients[CLIENTS];
    world_start(&world, &calm);
    for (int i = 0; i < CLIENTS; i++)
        client_start(&clients[i], &world);
    for (int i = 0; i < CLIENTS; i++)
        say(&clients[i], "INCR n\r\nINCR n\r\n");
    io_sim_run(100, NULL);
    assert_int_equal(stats_of(&world).commands, 2 * CLIENTS);
    assert_in_range(stats_of(&world).commits, 1, CLIENTS);
    say(&clients[0], "GET n\r\n");
    io_sim_run(100, NULL);
    assert_non_null(strstr(heard(&clients[0]), "$3 100"));
    for (int i = 0; i < CLIENTS; i++)
        client_stop(&clients[i]);
    world_stop(&world);
}

/* All three arrive in one turn, in this order. */
static void nothing_of_a_killed_connection_is_executed_any_more(void **state)
{
    struct world world;
    struct client killer, victim;
    world_start(&world, &calm);
    client_start(&killer, &world);
    client_start(&victim, &world);
    say(&victim, "CLIENT ID\r\n");
    expect_heard(&victim, ":2");
    io_sim_stop("node:1");
    say(&killer, "CLIENT KILL ID 2\r\n");
    io_sim_run(10, NULL);
    say(&victim, "SET late 1\r\nSADD \"\\x00cw:d\" a\r\n");
    io_sim_run(10, NULL);
    io_sim_resume("node:1");
    expect_heard(&killer, ":1");
    assert_true(victim.is_closed);
    say(&killer, "EXISTS late \"\\x00cw:d\"\r\n");
    expect_heard(&killer, ":0");
    client_stop(&killer);
    client_stop(&victim);
    world_stop(&world);
}

static void what_is_not_resp_is_refused_and_the_connection_closed(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    client_start(&client, &world);
    say(&client, "SET a 1\r\n*1\r\n$x\r\nSET a 2\r\n");
    expect_heard(&client, "+OK -ERR Protocol error: invalid bulk length");
    assert_true(client.is_closed);
    client_stop(&client);
    client_start(&client, &world);
    say(&client, "GET a\r\n");
    expect_heard(&client, "$1 1");
    client_stop(&client);
    world_stop(&world);
}

static void quit_is_the_last_that_is_heard(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    client_start(&client, &world);
    say(&client, "PING\r\nQUIT\r\nPING\r\n");
    expect_heard(&client, "+PONG +OK");
    assert_true(client.is_closed);
    client_stop(&client);
    world_stop(&world);
}

static void what_a_client_said_of_itself_is_its_own(void **state)
{
    struct world world;
    struct client one, other;
    world_start(&world, &calm);
    client_start(&one, &world);
    client_start(&other, &world);
    say(&one, "HELLO 3\r\n");
    io_sim_run(100, NULL);
    heard(&one);
    say(&one, "GET none\r\n");
    say(&other, "GET none\r\n");
    expect_heard(&one, "_");
    expect_heard(&other, "$-1");
    client_stop(&one);
    client_stop(&other);
    world_stop(&world);
}

/* Its replies pile up to a limit; then it is read no more, and goes on when it reads. */
static void a_client_that_does_not_read_is_not_read_from(void **state)
{
    enum { GETS = 200 };
    struct world world;
    struct client client;
    struct io_sim_options sim = calm;
    sim.window_bytes = 10000;
    world_start(&world, &sim);
    client_start(&client, &world);
    say(&client, "SETRANGE k 99999 x\r\n");
    io_sim_run(100, NULL);
    client.reads_nothing = true;
    io_watch_reading(client.io, false);
    for (int i = 0; i < GETS; i++)
        say(&client, "GET k\r\n");
    io_sim_run(5000, NULL);
    uint64_t served = stats_of(&world).commands - 1;
    assert_in_range(served, 5, 20);
    client.reads_nothing = false;
    io_watch_reading(client.io, true);
    io_sim_run(60000, NULL);
    assert_int_equal(stats_of(&world).commands - 1, GETS);
    assert_int_equal(client.in.len,
                     strlen(":100000\r\n") + GETS * (100000 + strlen("$100000\r\n\r\n")));
    client_stop(&client);
    world_stop(&world);
}

static void there_is_a_limit_to_the_number_of_clients(void **state)
{
    struct world world;
    struct client client, other;
    world_start(&world, &calm);
    client_start(&client, &world);
    world.node->conn_count = NODE_CONN_COUNT_MAX; /* as if there were so many */
    client_start(&other, &world);
    expect_heard(&other, "-ERR max number of clients reached");
    assert_true(other.is_closed);
    world.node->conn_count = 1;
    client_stop(&other);
    client_start(&other, &world);
    say(&other, "PING\r\n");
    expect_heard(&other, "+PONG");
    client_stop(&other);
    client_stop(&client);
    world_stop(&world);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void expired_keys_go_without_being_asked_for(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    client_start(&client, &world);
    for (int i = 0; i < 1000; i++) {
        char line[64];
        snprintf(line, sizeof line, "SET key-%d v PX %d\r\n", i, 1000 + i % 10);
        say(&client, line);
    }
    say(&client, "SET stays v\r\nSET later v EX 100\r\n");
    io_sim_run(900, NULL);
    assert_int_equal(stats_of(&world).key_count, 1002);
    io_sim_run(2000, NULL);
    assert_int_equal(stats_of(&world).key_count, 2);
    assert_int_equal(stats_of(&world).expired_keys, 1000);
    io_sim_run(100000, NULL);
    assert_int_equal(stats_of(&world).key_count, 1);
    client_stop(&client);
    world_stop(&world);
}

static void an_idle_node_sleeps(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    client_start(&client, &world);
    say(&client, "SET k v\r\n");
    io_sim_run(5000, NULL);
    assert_in_range(io_sim_run(3600000, NULL), 0, 0);
    client_stop(&client);
    world_stop(&world);
}

static unsigned sync_count;

static int counting_sync(struct store *store)
{
    sync_count++;
    return 0;
}

static void everysec_syncs_a_second_after_a_write_and_only_then(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    struct store_ops ops = *world.node->store->ops;
    const struct store_ops *real = world.node->store->ops;
    ops.sync = counting_sync;
    world.node->store->ops = &ops;
    sync_count = 0;
    client_start(&client, &world);
    say(&client, "SET a 1\r\n");
    io_sim_run(900, NULL);
    assert_int_equal(sync_count, 0);
    say(&client, "SET a 2\r\n");
    io_sim_run(200, NULL);
    assert_int_equal(sync_count, 1);
    say(&client, "GET a\r\n");
    io_sim_run(5000, NULL);
    assert_int_equal(sync_count, 1);
    world.node->store->ops = real;
    client_stop(&client);
    world_stop(&world);
}

static void expired_keys_are_swept_after_a_restart(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    client_start(&client, &world);
    say(&client, "SET k v PX 500\r\n");
    io_sim_run(100, NULL);
    client_stop(&client);
    node_stop(&world);
    io_sim_run(1000, NULL);
    node_start(&world);
    assert_int_equal(stats_of(&world).key_count, 1);
    io_sim_run(2000, NULL);
    assert_int_equal(stats_of(&world).key_count, 0);
    world_stop(&world);
}

/* ---- room ------------------------------------------------------------------------------------ */

/* One pipeline with what fits and what does not: each command gets its own answer. */
static void a_full_store_refuses_only_what_does_not_fit(void **state)
{
    struct world world;
    struct client client;
    world_start(&world, &calm);
    node_stop(&world);
    world.options.size_max = 1 << 20;
    node_start(&world);
    client_start(&client, &world);
    say(&client,
        "SET before 1\r\nSETRANGE big 1000000 x\r\nSETRANGE other 900000 x\r\nSET after 2\r\n"
        "INCR after\r\nGET before\r\n");
    io_sim_run(1000, NULL);
    const char *replies = heard(&client);
    assert_non_null(strstr(replies, "+OK -OOM node 'node-1' is full: "));
    assert_int_equal(stats_of(&world).write_errors, 1);
    say(&client, "MGET before after\r\nSTRLEN big\r\nSTRLEN other\r\n");
    expect_heard(&client, "*2 $1 1 $1 3 :0 :900001");
    client_stop(&client);
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_cut_at_any_byte_are_answered_all_the_same),
        cmocka_unit_test(clients_of_one_turn_share_a_commit),
        cmocka_unit_test(nothing_of_a_killed_connection_is_executed_any_more),
        cmocka_unit_test(what_is_not_resp_is_refused_and_the_connection_closed),
        cmocka_unit_test(quit_is_the_last_that_is_heard),
        cmocka_unit_test(what_a_client_said_of_itself_is_its_own),
        cmocka_unit_test(a_client_that_does_not_read_is_not_read_from),
        cmocka_unit_test(there_is_a_limit_to_the_number_of_clients),
        cmocka_unit_test(everysec_syncs_a_second_after_a_write_and_only_then),
        cmocka_unit_test(expired_keys_go_without_being_asked_for),
        cmocka_unit_test(an_idle_node_sleeps),
        cmocka_unit_test(expired_keys_are_swept_after_a_restart),
        cmocka_unit_test(a_full_store_refuses_only_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
