/* covers: move/peer, move/peer_greet, move/peer_read */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "io/io_sim.h"
#include "move/peer.h"
#include "router/memory_node.h"

enum { TIMEOUT_MS = 200, ANSWERS_MAX = 4096 };

/* One node, one loop with a peer to it, and what the peer's calls were answered. */
struct stage {
    struct io_loop *loop;
    struct memory_node *node;
    struct peer *peer;
    char answers[ANSWERS_MAX]; /* replies without line ends, '|' after each; "none" when lost */
    uint32_t answered, lost;
    bool destroys, calls_again;
};

static const char address[] = "sim-peer:1";

static struct peer *make_peer(struct stage *stage, const char *password)
{
    struct peer *peer;
    struct peer_options options = {.id = "cache-1",
                                   .address = address,
                                   .password = password,
                                   .client_name = "cw:mover",
                                   .timeout_ms = TIMEOUT_MS};
    assert_int_equal(peer_create(stage->loop, &options, &peer), 0);
    return peer;
}

static void stage_begin(struct stage *stage, const struct io_sim_options *options)
{
    *stage = (struct stage){0};
    io_sim_begin(options);
    stage->node = memory_node_create(address, options->seed);
    assert_int_equal(io_loop_create(&stage->loop), 0);
    stage->peer = make_peer(stage, NULL);
}

static void stage_end(struct stage *stage)
{
    peer_destroy(&stage->peer);
    io_loop_destroy(&stage->loop);
    memory_node_destroy(stage->node);
    io_sim_end();
}

static const struct io_sim_options calm = {
    .seed = 1, .delay_min_us = 50, .delay_max_us = 200, .window_bytes = 1 << 16};

static void call(struct stage *stage, const char *words);

static void on_answer(void *context, const char *reply, size_t len)
{
    struct stage *stage = context;
    char *to = stage->answers + strlen(stage->answers);
    stage->answered++;
    stage->lost += len == 0;
    if (len == 0)
        snprintf(to, sizeof stage->answers - (size_t)(to - stage->answers), "none|");
    for (size_t i = 0; i < len && to < stage->answers + sizeof stage->answers - 2; i++)
        if (reply[i] != '\r')
            *to++ = reply[i] == '\n' ? '|' : reply[i];
    if (stage->destroys)
        peer_destroy(&stage->peer);
    if (stage->calls_again) {
        stage->calls_again = false;
        call(stage, "GET again");
    }
}

/* Words with a space between them. */
static void call_peer(struct stage *stage, struct peer *peer, const char *words)
{
    struct slice args[16];
    size_t count = 0;
    while (*words && count < 16) {
        args[count] = (struct slice){words, strcspn(words, " ")};
        words += args[count].len + (words[args[count].len] == ' ');
        count++;
    }
    assert_true(peer_call(peer, args, count, on_answer, stage));
}

static void call(struct stage *stage, const char *words)
{
    call_peer(stage, stage->peer, words);
}

static void test_calls_are_answered_in_their_order(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    call(&stage, "SET a 1");
    call(&stage, "INCR a");
    call(&stage, "GET a");
    call(&stage, "NOSUCH");
    assert_string_equal(stage.answers, ""); /* nothing comes before it has returned */
    io_sim_run(100, NULL);
    assert_string_equal(stage.answers, "+OK|:2|$1|2|-ERR unknown command 'NOSUCH'|");
    assert_true(peer_latency_us(stage.peer) > 0);
    struct memory_conn *conn = list_entry(stage.node->conns.next, struct memory_conn, in_node);
    assert_string_equal(conn->name, "cw:mover");
    stage_end(&stage);
}

static void
test_a_thousand_calls_come_through_a_network_that_cuts_everything_in_pieces(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &(struct io_sim_options){.seed = 7,
                                                 .delay_min_us = 1,
                                                 .delay_max_us = 500,
                                                 .split_permille = 300,
                                                 .window_bytes = 4096});
    for (int i = 0; i < 1000; i++)
        call(&stage, "INCR n");
    assert_true(peer_has_room(stage.peer));
    for (int i = 0; i < 24; i++)
        call(&stage, "INCR n");
    assert_false(peer_has_room(stage.peer));
    io_sim_run(60000, NULL);
    assert_int_equal(stage.answered, 1024);
    assert_int_equal(stage.lost, 0);
    assert_true(peer_has_room(stage.peer));
    stage_end(&stage);
}

static void test_a_node_that_is_not_there_fails_calls_with_its_name(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    memory_node_crash(stage.node, MEMORY_KEPT);
    call(&stage, "GET a");
    io_sim_run(TIMEOUT_MS, NULL);
    assert_string_equal(stage.answers, "none|");
    assert_non_null(strstr(peer_problem(stage.peer), "node 'cache-1' (sim-peer:1) cannot be"));
    stage_end(&stage);
}

static void test_a_silent_node_fails_calls_at_the_deadline_and_is_asked_again(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    call(&stage, "SET a 1");
    io_sim_run(50, NULL);
    memory_node_stop(stage.node);
    stage.calls_again = true;
    call(&stage, "SET a 2");
    io_sim_run(TIMEOUT_MS - 20, NULL);
    assert_int_equal(stage.lost, 0);
    io_sim_run(40, NULL);
    assert_int_equal(stage.lost, 1);
    assert_string_equal(peer_problem(stage.peer),
                        "node 'cache-1' (sim-peer:1) did not answer within 200 ms");
    memory_node_continue(stage.node);
    io_sim_run(1000, NULL);
    assert_string_equal(stage.answers, "+OK|none|$-1|");
    stage_end(&stage);
}

/* A reply as large as a dump of a big key takes longer than the timeout; the node is not silent. */
static void test_a_long_reply_that_flows_is_no_silence(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage,
                &(struct io_sim_options){
                    .seed = 3, .delay_min_us = 20000, .delay_max_us = 20000, .window_bytes = 1000});
    char *value = calloc(1, 40001);
    memset(value, 'x', 40000);
    memory_set(stage.node, (struct slice){"long", 4}, (struct slice){value, 40000});
    struct slice args[] = {{"STRLEN", 6}, {"long", 4}};
    assert_true(peer_call(stage.peer, args, 2, on_answer, &stage));
    struct slice set[] = {{"SET", 3}, {"copy", 4}, {value, 40000}};
    assert_true(peer_call(stage.peer, set, 3, on_answer, &stage));
    struct slice get[] = {{"GET", 3}, {"long", 4}};
    assert_true(peer_call(stage.peer, get, 2, NULL, NULL));
    assert_true(peer_call(stage.peer, args, 2, on_answer, &stage));
    io_sim_run(20000, NULL);
    assert_string_equal(stage.answers, ":40000|+OK|:40000|");
    free(value);
    stage_end(&stage);
}

static void test_a_node_with_a_password_is_greeted_with_it(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    stage.node->password = "secret";
    call(&stage, "GET a");
    io_sim_run(50, NULL);
    assert_string_equal(stage.answers, "none|");
    assert_non_null(strstr(peer_problem(stage.peer), "NOAUTH"));
    peer_destroy(&stage.peer);
    stage.peer = make_peer(&stage, "secret");
    call(&stage, "GET a");
    io_sim_run(50, NULL);
    assert_string_equal(stage.answers, "none|$-1|");
    peer_destroy(&stage.peer);
    stage.peer = make_peer(&stage, "wrong");
    call(&stage, "GET a");
    io_sim_run(50, NULL);
    assert_non_null(strstr(peer_problem(stage.peer), "refuses us: WRONGPASS"));
    stage_end(&stage);
}

static void test_a_node_that_loads_its_data_takes_no_calls(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    stage.node->is_loading = true;
    call(&stage, "GET a");
    io_sim_run(50, NULL);
    assert_string_equal(stage.answers, "none|");
    assert_non_null(strstr(peer_problem(stage.peer), "refuses us: LOADING"));
    stage_end(&stage);
}

/* ---- late commands ----------------------------------------------------------------------------
 */

static void on_dump(void *context, const char *reply, size_t len)
{
    struct resp_value value;
    assert_int_equal(resp_read_value(reply, len, &value), RESP_DONE);
    assert_true(buffer_append(context, value.text.ptr, value.text.len));
}

/* Asks for the old value of k to be restored, in which the network takes two seconds, longer than
 * we wait. */
static void send_a_restore_that_is_late(struct stage *stage)
{
    struct buffer payload = BUFFER_INIT;
    struct slice dump[] = {{"DUMP", 4}, {"k", 1}};
    call(stage, "SET k old");
    assert_true(peer_call(stage->peer, dump, 2, on_dump, &payload));
    io_sim_run(50, NULL);
    struct slice restore[] = {
        {"RESTORE", 7}, {"k", 1}, {"0", 1}, {buffer_bytes(&payload), payload.len}, {"REPLACE", 7}};
    memory_node_delay(stage->node, "RESTORE", 1, 2000, false);
    assert_true(peer_call(stage->peer, restore, 5, on_answer, stage));
    buffer_release(&payload);
    io_sim_run(TIMEOUT_MS + 50, NULL);
    assert_int_equal(stage->lost, 1);
}

static void assert_value(struct stage *stage, const char *value)
{
    memset(stage->answers, 0, sizeof stage->answers);
    call(stage, "GET k");
    io_sim_run(100, NULL);
    char want[64];
    snprintf(want, sizeof want, "$%zu|%s|", strlen(value), value);
    assert_string_equal(stage->answers, want);
}

static void test_a_late_restore_is_never_executed_once_another_was_answered(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    send_a_restore_that_is_late(&stage);
    call(&stage, "SET k new");
    io_sim_run(100, NULL);
    assert_value(&stage, "new");
    io_sim_run(5000, NULL);
    assert_value(&stage, "new");
    stage_end(&stage);
}

/* The same with a mover that only connects anew: the test above can fail. */
static void test_without_the_kill_the_late_restore_brings_old_data_back(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    send_a_restore_that_is_late(&stage);
    peer_destroy(&stage.peer);
    stage.peer = make_peer(&stage, NULL);
    call(&stage, "SET k new");
    io_sim_run(100, NULL);
    assert_value(&stage, "new");
    io_sim_run(5000, NULL);
    assert_value(&stage, "old");
    stage_end(&stage);
}

/* The connection that was to kill breaks too; the first one is still killed before anything. */
static void test_the_kill_is_tried_until_it_is_answered(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    send_a_restore_that_is_late(&stage);
    memory_node_delay(stage.node, "CLIENT", 1, 400, true);
    call(&stage, "SET k new");
    io_sim_run(TIMEOUT_MS + 100, NULL);
    assert_int_equal(stage.lost, 2);
    call(&stage, "SET k new");
    io_sim_run(400, NULL);
    assert_value(&stage, "new");
    io_sim_run(5000, NULL);
    assert_value(&stage, "new");
    stage_end(&stage);
}

static uint32_t kills;

static void count_kills(void *context, struct memory_call *seen)
{
    (void)context;
    kills += memory_arg_is(seen, 0, "CLIENT") && memory_arg_is(seen, 1, "KILL");
}

/* A restarted node counts its connections from 1: the old id would be somebody else's. */
static void test_a_restarted_node_is_not_asked_to_kill(void **state)
{
    (void)state;
    struct stage stage;
    kills = 0;
    stage_begin(&stage, &calm);
    stage.node->before = count_kills;
    call(&stage, "SET k 1");
    io_sim_run(50, NULL);
    memory_node_delay(stage.node, "GET", 1, 100, false);
    call(&stage, "GET k");
    io_sim_run(20, NULL);
    memory_node_crash(stage.node, MEMORY_KEPT);
    memory_node_restart(stage.node);
    io_sim_run(50, NULL);
    assert_string_equal(stage.answers, "+OK|none|");
    assert_value(&stage, "1");
    assert_int_equal(kills, 0);
    stage_end(&stage);
}

static void test_a_connection_cut_with_calls_under_way_is_killed_at_the_node(void **state)
{
    (void)state;
    struct stage stage;
    kills = 0;
    stage_begin(&stage, &calm);
    stage.node->before = count_kills;
    send_a_restore_that_is_late(&stage);
    assert_value(&stage, "old");
    assert_int_equal(kills, 1);
    stage_end(&stage);
}

/* ---- forgetting -------------------------------------------------------------------------------
 */

static void test_forgotten_calls_are_executed_and_answered_to_nobody(void **state)
{
    (void)state;
    struct stage stage;
    stage_begin(&stage, &calm);
    call(&stage, "SET a 1");
    peer_forget(stage.peer, &stage, sizeof stage);
    call(&stage, "GET a");
    io_sim_run(100, NULL);
    assert_string_equal(stage.answers, "$1|1|");
    stage_end(&stage);
}

static void test_a_peer_may_be_destroyed_in_its_callback(void **state)
{
    (void)state;
    struct stage stage;
    for (int is_down = 0; is_down < 2; is_down++) {
        stage_begin(&stage, &calm);
        stage.destroys = true;
        if (is_down)
            memory_node_crash(stage.node, MEMORY_KEPT);
        call(&stage, "SET a 1");
        call(&stage, "GET a");
        io_sim_run(1000, NULL);
        assert_int_equal(stage.answered, 1);
        assert_null(stage.peer);
        stage_end(&stage);
    }
}

static void test_more_calls_than_there_may_be_are_refused(void **state)
{
    (void)state;
    struct stage stage;
    struct slice ping = {"PING", 4};
    uint32_t taken = 0;
    stage_begin(&stage, &calm);
    while (peer_call(stage.peer, &ping, 1, NULL, NULL))
        taken++;
    assert_int_equal(taken, 4 * PEER_CALLS_MAX);
    io_sim_run(1000, NULL);
    assert_true(peer_call(stage.peer, &ping, 1, NULL, NULL));
    stage_end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_are_answered_in_their_order),
        cmocka_unit_test(
            test_a_thousand_calls_come_through_a_network_that_cuts_everything_in_pieces),
        cmocka_unit_test(test_a_node_that_is_not_there_fails_calls_with_its_name),
        cmocka_unit_test(test_a_silent_node_fails_calls_at_the_deadline_and_is_asked_again),
        cmocka_unit_test(test_a_long_reply_that_flows_is_no_silence),
        cmocka_unit_test(test_a_node_with_a_password_is_greeted_with_it),
        cmocka_unit_test(test_a_node_that_loads_its_data_takes_no_calls),
        cmocka_unit_test(test_a_late_restore_is_never_executed_once_another_was_answered),
        cmocka_unit_test(test_without_the_kill_the_late_restore_brings_old_data_back),
        cmocka_unit_test(test_the_kill_is_tried_until_it_is_answered),
        cmocka_unit_test(test_a_restarted_node_is_not_asked_to_kill),
        cmocka_unit_test(test_a_connection_cut_with_calls_under_way_is_killed_at_the_node),
        cmocka_unit_test(test_forgotten_calls_are_executed_and_answered_to_nobody),
        cmocka_unit_test(test_a_peer_may_be_destroyed_in_its_callback),
        cmocka_unit_test(test_more_calls_than_there_may_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
