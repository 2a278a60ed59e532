/* The whole node over real sockets: pipelines, group commit, limits, restarts.
 * covers: store/node_conn, store/node_batch */
#include "store/node_rig.h"

static void a_node_keeps_what_it_acknowledged_over_a_restart(void **state)
{
    struct node_rig rig;
    node_rig_start(&rig, node_rig_options());
    assert_string_equal(node_ask(&rig, "SET k v"), "+OK");
    assert_string_equal(node_ask(&rig, "INCR n"), ":1");
    assert_string_equal(node_ask(&rig, "DEL none"), ":0");
    node_rig_end(&rig);
    node_rig_start_again(&rig);
    assert_string_equal(node_ask(&rig, "GET k"), "$1 v");
    assert_string_equal(node_ask(&rig, "INCR n"), ":2");
    node_rig_stop(&rig);
}

/* Many requests in one write(): their replies come in order, out of few commits. */
static void a_pipeline_is_answered_in_order_and_committed_together(void **state)
{
    enum { COUNT = 5000 };
    struct node_rig rig;
    struct buffer out = BUFFER_INIT;
    struct client_input input = {BUFFER_INIT};
    size_t taken = 0;
    node_rig_start(&rig, node_rig_options());
    int fd = client_open(rig.port);
    for (int i = 0; i < COUNT; i++)
        buffer_append_text(&out, "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n");
    client_send(fd, buffer_bytes(&out), out.len);
    for (int i = 1; i <= COUNT; i++) {
        char want[32];
        struct slice reply = client_reply(fd, &input, &taken);
        int len = snprintf(want, sizeof want, ":%d\r\n", i);
        assert_int_equal(reply.len, len);
        assert_memory_equal(reply.ptr, want, reply.len);
    }
    struct embedded_node_stats stats = node_rig_stats(&rig);
    assert_in_range(stats.commits, 1, COUNT / 20);
    close(fd);
    buffer_release(&out);
    buffer_release(&input.bytes);
    node_rig_stop(&rig);
}

/* Once, what had been read but not executed when the output was full was forgotten as soon as a
 * first part of the output was sent. */
static void a_pipeline_of_large_replies_is_answered_to_its_end(void **state)
{
    enum { COUNT = 300, VALUE_LEN = 100000, HEAD_LEN = 9 };
    struct node_rig rig;
    struct buffer out = BUFFER_INIT;
    struct client_input input = {BUFFER_INIT};
    size_t taken = 0;
    node_rig_start(&rig, node_rig_options());
    int fd = client_open(rig.port);
    buffer_printf(&out, "SETRANGE k %d x\r\n", VALUE_LEN - 1);
    for (int i = 0; i < COUNT; i++)
        buffer_append_text(&out, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
    client_send(fd, buffer_bytes(&out), out.len);
    shutdown(fd, SHUT_WR); /* what was sent before the end is answered all the same */
    client_reply(fd, &input, &taken);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(client_reply(fd, &input, &taken).len, HEAD_LEN + VALUE_LEN + 2);
    close(fd);
    buffer_release(&out);
    buffer_release(&input.bytes);
    node_rig_stop(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_keeps_what_it_acknowledged_over_a_restart),
        cmocka_unit_test(a_pipeline_is_answered_in_order_and_committed_together),
        cmocka_unit_test(a_pipeline_of_large_replies_is_answered_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
