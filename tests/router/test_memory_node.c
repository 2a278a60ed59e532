/*
 * The node that other tests believe: what it keeps, how it scans, and that its faults are what they
 * say. (Beside a real server and an embedded node: store/test_mover_commands_uv.c.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/fixture.h"

static const struct io_sim_options calm = {
    .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 16};

struct stage {
    struct memory_node *node;
    struct text_client *client, *other;
};

static void start(struct stage *stage)
{
    io_sim_begin(&calm);
    stage->node = memory_node_create("sim:1", 1);
    stage->client = text_client_create("sim:1");
    stage->other = text_client_create("sim:1");
    io_sim_run(10, NULL);
}

static void stop(struct stage *stage)
{
    text_client_destroy(stage->client);
    text_client_destroy(stage->other);
    memory_node_destroy(stage->node);
    io_sim_end();
}

static void reconnect(struct text_client **client)
{
    text_client_destroy(*client);
    *client = text_client_create("sim:1");
    io_sim_run(10, NULL);
}

#define expect(client, command, reply) assert_string_equal(text_ask(client, command "\r\n"), reply)

/* ---- what it keeps --------------------------------------------------------------------------- */

static void strings_and_their_options(void **state)
{
    struct stage stage;
    start(&stage);
    struct text_client *client = stage.client;
    expect(client, "SET k 1 NX PX 5000", "+OK\r\n");
    expect(client, "SET k 2 NX", "$-1\r\n");
    expect(client, "SET k 3 XX GET KEEPTTL", "$1\r\n1\r\n");
    assert_true(memory_node_find(stage.node, "k")->value.expire_ms > 0);
    expect(client, "INCR k", ":4\r\n");
    expect(client, "INCRBY k 10", ":14\r\n");
    expect(client, "APPEND k x", ":3\r\n");
    expect(client, "INCR k", "-ERR value is not an integer or out of range\r\n");
    expect(client, "GETRANGE k -2 -1", "$2\r\n4x\r\n");
    io_sim_run(5000, NULL);
    expect(client, "GET k", "$-1\r\n");
    expect(client, "DBSIZE", ":0\r\n");
    expect(client, "SET k 1 NX XX", "-ERR syntax error\r\n");
    expect(client, "SET k 1 PX 0", "-ERR invalid expire time in 'set' command\r\n");
    stop(&stage);
}

static void lists_hashes_and_sets_of_which_an_empty_one_is_no_key(void **state)
{
    struct stage stage;
    start(&stage);
    struct text_client *client = stage.client;
    expect(client, "RPUSH l b c", ":2\r\n");
    expect(client, "LPUSH l a", ":3\r\n");
    expect(client, "LRANGE l 0 -1", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n");
    expect(client, "HSET h f 1 g x", ":2\r\n");
    expect(client, "HINCRBY h f 4", ":5\r\n");
    expect(client, "HMGET h f nothing", "*2\r\n$1\r\n5\r\n$-1\r\n");
    expect(client, "HDEL h f g", ":2\r\n");
    expect(client, "TYPE h", "+none\r\n");
    expect(client, "SADD s a b a", ":2\r\n");
    expect(client, "SISMEMBER s b", ":1\r\n");
    expect(client, "SPOP s 0", "*0\r\n");
    assert_memory_equal(text_ask(client, "SPOP s 9\r\n"), "*2\r\n", 4);
    expect(client, "EXISTS s l", ":1\r\n");
    expect(client, "SADD l x",
           "-WRONGTYPE Operation against a key holding the wrong kind of "
           "value\r\n");
    stop(&stage);
}

static void a_renamed_key_keeps_its_lifetime(void **state)
{
    struct stage stage;
    start(&stage);
    struct text_client *client = stage.client;
    text_ask(client, "SADD a 1 2 3\r\nPEXPIREAT a 1799999999999\r\nSET b x\r\n");
    expect(client, "RENAMENX a b", ":0\r\n");
    expect(client, "RENAME a b", "+OK\r\n");
    expect(client, "SCARD b", ":3\r\n");
    expect(client, "PEXPIRETIME b", ":1799999999999\r\n");
    expect(client, "PEXPIRETIME a", ":-2\r\n");
    expect(client, "PERSIST b", ":1\r\n");
    expect(client, "PEXPIRETIME b", ":-1\r\n");
    expect(client, "PEXPIRE b -1", ":1\r\n");
    expect(client, "EXISTS b", ":0\r\n");
    stop(&stage);
}

/* ---- payloads -------------------------------------------------------------------------------- */

/* Sends RESTORE with what DUMP gave, a byte of it flipped if at >= 0; returns the answer. */
static const char *carry(struct stage *stage, const char *from, const char *to, const char *rest,
                         int flipped)
{
    struct buffer command = BUFFER_INIT;
    char ask[64];
    long len;
    snprintf(ask, sizeof ask, "DUMP %s\r\n", from);
    const char *dumped = text_ask(stage->client, ask);
    assert_int_equal(sscanf(dumped, "$%ld\r\n", &len), 1);
    static char payload[4096];
    memcpy(payload, strchr(dumped, '\n') + 1, (size_t)len);
    if (flipped >= 0)
        payload[flipped % len] ^= 1;
    resp_write_array(&command, strstr(rest, "REPLACE") ? 6 : 5);
    resp_write_bulk_text(&command, "RESTORE");
    resp_write_bulk_text(&command, to);
    resp_write_bulk(&command, rest, strcspn(rest, " "));
    resp_write_bulk(&command, payload, (size_t)len);
    resp_write_bulk_text(&command, "ABSTTL");
    if (strstr(rest, "REPLACE"))
        resp_write_bulk_text(&command, "REPLACE");
    text_send_bytes(stage->client, buffer_bytes(&command), command.len);
    buffer_release(&command);
    return text_ask(stage->client, "");
}

static void a_payload_carries_every_type_and_is_refused_with_a_flipped_byte(void **state)
{
    static const char *const makers[] = {"SET k value\r\n", "RPUSH k a b a\r\n", "SADD k a b c\r\n",
                                         "HSET k f 1 g 2\r\n", "SET k ''\r\n"};
    struct stage stage;
    start(&stage);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        text_ask(stage.client, "FLUSHALL\r\n");
        text_ask(stage.client, makers[i]);
        assert_string_equal(carry(&stage, "k", "copy", "0", -1), "+OK\r\n");
        assert_int_equal(memory_node_digest(stage.node, "k"),
                         memory_node_digest(stage.node, "copy"));
        assert_memory_equal(carry(&stage, "k", "copy", "0", -1), "-BUSYKEY ", 9);
        for (int flipped = 0; flipped < 60; flipped++)
            assert_memory_equal(carry(&stage, "k", "copy", "0 REPLACE", flipped), "-ERR DUMP ", 10);
        assert_string_equal(carry(&stage, "k", "copy", "1799999999999 REPLACE", -1), "+OK\r\n");
        expect(stage.client, "PEXPIRETIME copy", ":1799999999999\r\n");
        assert_string_equal(carry(&stage, "k", "copy", "5 REPLACE", -1), "+OK\r\n");
        expect(stage.client, "EXISTS copy", ":0\r\n"); /* its time was over */
    }
    stop(&stage);
}

static void a_payload_of_a_later_version_is_refused(void **state)
{
    struct stage stage;
    start(&stage);
    text_ask(stage.client, "SET k v\r\n");
    stage.node->dump_version = 11;
    struct buffer payload = BUFFER_INIT;
    memory_dump(&payload, &memory_node_find(stage.node, "k")->value, 11);
    struct slice bytes = {buffer_bytes(&payload), payload.len};
    assert_true(memory_dump_is_sound(bytes, 11));
    assert_false(memory_dump_is_sound(bytes, 10));
    buffer_release(&payload);
    stop(&stage);
}

/* ---- SCAN ------------------------------------------------------------------------------------ */

enum { KEPT = 200 };

struct tally {
    uint8_t seen[KEPT];
    int repeated;
};

static void count_kept(void *context, struct memory_item *item)
{
    struct tally *tally = context;
    unsigned number;
    if (sscanf(item->name.ptr, "kept%u", &number) == 1 && tally->seen[number]++)
        tally->repeated++;
}

static void put_many(struct memory_dict *dict, const char *prefix, int from, int to, bool put)
{
    char name[32];
    for (int i = from; i < to; i++) {
        struct slice slice = {name, (size_t)snprintf(name, sizeof name, "%s%d", prefix, i)};
        if (put)
            memory_dict_put(dict, slice);
        else
            memory_dict_remove(dict, slice);
    }
}

static void what_is_there_all_the_time_is_scanned_while_the_table_grows_and_shrinks(void **state)
{
    int repeated = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct memory_dict dict = {0};
        struct tally tally = {0};
        struct random random = {seed};
        uint64_t cursor = 0;
        put_many(&dict, "kept", 0, KEPT, true);
        do {
            cursor = memory_dict_scan(&dict, cursor, count_kept, &tally);
            if (random_below(&random, 32) == 0)
                put_many(&dict, "other", 0, 2500, random_below(&random, 2));
        } while (cursor);
        for (int i = 0; i < KEPT; i++)
            if (!tally.seen[i])
                fail_msg("seed %" PRIu64 ": kept%d was not seen", seed, i);
        repeated += tally.repeated;
        memory_dict_clear(&dict);
    }
    assert_true(repeated > 0); /* the tables really shrank under the cursors */
}

static void scans_have_options_and_small_sets_come_whole(void **state)
{
    struct stage stage;
    start(&stage);
    struct text_client *client = stage.client;
    text_ask(client, "SET s1 x\r\nSET t1 x\r\nRPUSH l1 a\r\n");
    expect(client, "SCAN 0 MATCH s* COUNT 100", "*2\r\n$1\r\n0\r\n*1\r\n$2\r\ns1\r\n");
    expect(client, "SCAN 0 TYPE list COUNT 100", "*2\r\n$1\r\n0\r\n*1\r\n$2\r\nl1\r\n");
    expect(client, "SCAN 0 COUNT 0", "-ERR syntax error\r\n");
    expect(client, "SCAN x", "-ERR invalid cursor\r\n");
    text_ask(client, "SADD few 1 2 3\r\n");
    assert_memory_equal(text_ask(client, "SSCAN few 0 COUNT 1\r\n"), "*2\r\n$1\r\n0\r\n*3\r\n", 15);
    stage.node->scan_whole_max = 0;
    text_ask(client, "SADD more 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\r\n");
    assert_memory_not_equal(text_ask(client, "SSCAN more 0 COUNT 1\r\n"), "*2\r\n$1\r\n0\r\n", 11);
    expect(client, "HSCAN nothing 0", "*2\r\n$1\r\n0\r\n*0\r\n");
    stop(&stage);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void a_crash_keeps_loses_or_takes_back_the_data(void **state)
{
    struct stage stage;
    char run_id[41];
    start(&stage);
    text_ask(stage.client, "SET a 1\r\n");
    memory_node_save(stage.node);
    text_ask(stage.client, "SET b 1\r\n");
    memcpy(run_id, stage.node->run_id, sizeof run_id);
    text_send(stage.client, "SET c 1\r\n"); /* on its way when the node dies */
    memory_node_crash(stage.node, MEMORY_KEPT);
    io_sim_run(50, NULL);
    assert_true(stage.client->is_closed);
    memory_node_restart(stage.node);
    assert_string_not_equal(run_id, stage.node->run_id);
    reconnect(&stage.client);
    expect(stage.client, "EXISTS a b c", ":2\r\n");
    expect(stage.client, "CLIENT ID", ":1\r\n");
    memory_node_crash(stage.node, MEMORY_AS_SAVED);
    memory_node_restart(stage.node);
    reconnect(&stage.client);
    expect(stage.client, "EXISTS a b", ":1\r\n");
    memory_node_crash(stage.node, MEMORY_LOST);
    reconnect(&stage.client);
    expect(stage.client, "PING", ""); /* nobody there */
    memory_node_restart(stage.node);
    reconnect(&stage.client);
    expect(stage.client, "DBSIZE", ":0\r\n");
    stop(&stage);
}

static void a_stopped_node_executes_late_what_it_was_sent(void **state)
{
    struct stage stage;
    start(&stage);
    memory_node_stop(stage.node);
    expect(stage.client, "SET k 1", "");
    reconnect(&stage.client); /* the sender gives up */
    memory_node_continue(stage.node);
    io_sim_run(50, NULL);
    assert_non_null(memory_node_find(stage.node, "k"));
    stop(&stage);
}

static void a_stopped_node_that_is_killed_forgets_what_it_was_sent(void **state)
{
    struct stage stage;
    start(&stage);
    memory_node_stop(stage.node);
    expect(stage.client, "SET k 1", "");
    memory_node_crash(stage.node, MEMORY_KEPT);
    memory_node_restart(stage.node);
    reconnect(&stage.client);
    expect(stage.client, "GET k", "$-1\r\n");
    stop(&stage);
}

static void a_delayed_command_comes_late_even_when_its_sender_has_gone(void **state)
{
    struct stage stage;
    start(&stage);
    memory_node_delay(stage.node, "SET", 1, 2000, false);
    expect(stage.client, "SET k old\r\nINCR n", "");
    expect(stage.other, "SET k new", "+OK\r\n"); /* only one was to be held up */
    expect(stage.other, "GET n", "$-1\r\n");     /* what follows waits behind it */
    reconnect(&stage.client);
    io_sim_run(2000, NULL);
    expect(stage.other, "GET k", "$3\r\nold\r\n");
    expect(stage.other, "GET n", "$1\r\n1\r\n");
    stop(&stage);
}

static void a_killed_connection_executes_nothing_any_more(void **state)
{
    struct stage stage;
    start(&stage);
    expect(stage.client, "CLIENT ID", ":1\r\n");
    memory_node_delay(stage.node, "SET", 1, 2000, false);
    expect(stage.client, "SET k old\r\nINCR n", "");
    expect(stage.other, "CLIENT KILL ID 1", ":1\r\n");
    expect(stage.other, "CLIENT KILL ID 1", ":0\r\n");
    io_sim_run(2000, NULL);
    assert_true(stage.client->is_closed);
    expect(stage.other, "EXISTS k n", ":0\r\n");
    stop(&stage);
}

static void a_delayed_reply_is_late_but_the_command_was_executed(void **state)
{
    struct stage stage;
    start(&stage);
    memory_node_delay(stage.node, "SET", 1, 500, true);
    expect(stage.client, "SET k 1\r\nPING", "");
    expect(stage.other, "GET k", "$1\r\n1\r\n");
    assert_string_equal(text_ask_for(stage.client, "", 500), "+OK\r\n+PONG\r\n");
    stop(&stage);
}

static void crash_at_incr(void *context, struct memory_call *call)
{
    if (memory_arg_is(call, 0, "INCR"))
        memory_node_crash(call->node, MEMORY_KEPT);
}

static void a_node_can_crash_before_any_command(void **state)
{
    struct stage stage;
    start(&stage);
    stage.node->before = crash_at_incr;
    expect(stage.client, "SET k 1\r\nINCR k\r\nINCR k", "");
    memory_node_restart(stage.node);
    assert_string_equal(memory_node_find(stage.node, "k")->value.text.ptr, "1");
    stop(&stage);
}

static void a_node_refuses_what_its_state_forbids(void **state)
{
    struct stage stage;
    start(&stage);
    struct text_client *client = stage.client;
    stage.node->password = "secret";
    expect(client, "GET k", "-NOAUTH Authentication required.\r\n");
    expect(client, "AUTH secret", "+OK\r\n");
    stage.node->is_replica = true;
    assert_memory_equal(text_ask(client, "SET k 1\r\n"), "-READONLY ", 10);
    assert_non_null(strstr(text_ask(client, "INFO\r\n"), "role:slave\r\n"));
    stage.node->is_replica = false;
    stage.node->is_loading = true;
    assert_memory_equal(text_ask(client, "GET k\r\n"), "-LOADING ", 9);
    stage.node->is_loading = false;
    stage.node->max_bytes = 1;
    expect(client, "SET k 1", "+OK\r\n");
    assert_memory_equal(text_ask(client, "SADD s 1\r\n"), "-OOM ", 5);
    expect(client, "DEL k", ":1\r\n");
    expect(client, "NOTHING", "-ERR unknown command 'NOTHING'\r\n");
    assert_memory_equal(text_ask(client, "GET\r\n"), "-ERR wrong number of arguments", 30);
    assert_int_equal(stage.node->wrong_commands, 2);
    stop(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_and_their_options),
        cmocka_unit_test(lists_hashes_and_sets_of_which_an_empty_one_is_no_key),
        cmocka_unit_test(a_renamed_key_keeps_its_lifetime),
        cmocka_unit_test(a_payload_carries_every_type_and_is_refused_with_a_flipped_byte),
        cmocka_unit_test(a_payload_of_a_later_version_is_refused),
        cmocka_unit_test(what_is_there_all_the_time_is_scanned_while_the_table_grows_and_shrinks),
        cmocka_unit_test(scans_have_options_and_small_sets_come_whole),
        cmocka_unit_test(a_crash_keeps_loses_or_takes_back_the_data),
        cmocka_unit_test(a_stopped_node_executes_late_what_it_was_sent),
        cmocka_unit_test(a_stopped_node_that_is_killed_forgets_what_it_was_sent),
        cmocka_unit_test(a_delayed_command_comes_late_even_when_its_sender_has_gone),
        cmocka_unit_test(a_killed_connection_executes_nothing_any_more),
        cmocka_unit_test(a_delayed_reply_is_late_but_the_command_was_executed),
        cmocka_unit_test(a_node_can_crash_before_any_command),
        cmocka_unit_test(a_node_refuses_what_its_state_forbids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
