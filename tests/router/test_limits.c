/*
 * Every bound of the router, each met once: clients, pipeline, memory, key, queue, half a request,
 * idleness, and a client that does not read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/fixture.h"

static const struct io_sim_options calm = {
    .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 14};

static void the_client_over_the_limit_is_told_so(void **state)
{
    struct fixture fixture;
    struct text_client *clients[4];
    fixture_init(&fixture, 1, 2);
    fixture.options.limits.client_count_max = 3;
    fixture_start(&fixture, &calm);
    for (int i = 0; i < 4; i++) {
        clients[i] = text_client_create("router:7400");
        io_sim_run(10, NULL);
    }
    assert_string_equal(text_ask(clients[2], "PING\r\n"), "+PONG\r\n");
    assert_string_equal(text_ask(clients[3], ""),
                        "-ERR max number of clients reached (limits.clients: 3)\r\n");
    text_client_destroy(clients[0]);
    io_sim_run(10, NULL);
    struct text_client *next = text_client_create("router:7400");
    assert_string_equal(text_ask(next, "PING\r\n"), "+PONG\r\n");
    text_client_destroy(next);
    for (int i = 1; i < 4; i++)
        text_client_destroy(clients[i]);
    fixture_stop(&fixture);
}

static void a_pipeline_deeper_than_the_limit_waits_and_is_answered_in_order(void **state)
{
    struct fixture fixture;
    struct buffer commands = BUFFER_INIT, expected = BUFFER_INIT;
    fixture_init(&fixture, 3, 1);
    fixture.options.limits.pipeline_max = 4;
    fixture_start(&fixture, &calm);
    struct text_client *client = text_client_create("router:7400");
    for (int i = 0; i < 500; i++) {
        buffer_printf(&commands, i % 5 ? "SET key%d v\r\n" : "ECHO %d\r\n", i);
        if (i % 5)
            buffer_append_text(&expected, "+OK\r\n");
        else
            buffer_printf(&expected, "$%d\r\n%d\r\n", i < 10 ? 1 : i < 100 ? 2 : 3, i);
    }
    buffer_append(&commands, "", 1);
    buffer_append(&expected, "", 1);
    assert_string_equal(text_ask_for(client, buffer_bytes(&commands), 5000),
                        buffer_bytes(&expected));
    buffer_release(&commands);
    buffer_release(&expected);
    text_client_destroy(client);
    fixture_stop(&fixture);
}

/* A client that asks for much and reads nothing: it is no longer read from, and the router holds no
 * more than it may; when it reads at last, all is there. */
static void a_client_that_does_not_read_is_not_read_from(void **state)
{
    struct fixture fixture;
    struct buffer value = BUFFER_INIT;
    uint64_t before;
    fixture_init(&fixture, 1, 1);
    fixture_start(&fixture, &calm);
    struct text_client *client = text_client_create("router:7400");
    buffer_append_text(&value, "SET big ");
    for (int i = 0; i < 10000; i++)
        buffer_append_text(&value, "x");
    buffer_append(&value, "\r\n", 3);
    assert_string_equal(text_ask(client, buffer_bytes(&value)), "+OK\r\n");
    client->reads_nothing = true;
    before = fixture.nodes[0]->commands;
    for (int i = 0; i < 2000; i++)
        text_send(client, "GET big\r\n");
    io_sim_run(2000, NULL);
    /* limits.client_memory is 1 MiB, of which half is a reason to stop: about 50 values. */
    uint64_t done = fixture.nodes[0]->commands - before;
    assert_true(done > 20);
    assert_true(done < 300);
    client->reads_nothing = false;
    for (int i = 0; i < 4000 && fixture.nodes[0]->commands - before < 2000; i++) {
        text_read(client);
        text_flush(client);
        io_sim_run(5, NULL);
    }
    assert_false(client->is_closed);
    assert_int_equal(fixture.nodes[0]->commands - before, 2000);
    buffer_release(&value);
    text_client_destroy(client);
    fixture_stop(&fixture);
}

static void a_key_over_the_limit_is_refused(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 2, 1);
    fixture.options.limits.key_len_max = 8;
    fixture_start(&fixture, &calm);
    struct text_client *client = text_client_create("router:7400");
    assert_string_equal(text_ask(client, "GET 123456789\r\n"),
                        "-ERR a key of 9 bytes is over the limit of 8 (limits.key)\r\n");
    assert_string_equal(text_ask(client, "GET 12345678\r\n"), "$-1\r\n");
    assert_string_equal(text_ask(client, "GET \"\"\r\n"), "$-1\r\n");
    text_client_destroy(client);
    fixture_stop(&fixture);
}

static void a_node_with_a_full_queue_is_busy(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 1, 1);
    fixture.options.limits.node_queue_max = 2;
    fixture_start(&fixture, &calm);
    struct text_client *client = text_client_create("router:7400");
    const char *answer = text_ask(client, "GET a\r\nGET b\r\nGET c\r\n");
    assert_string_equal(answer, "$-1\r\n$-1\r\n-BUSY node 'n0' (sim-n0:1) has 2 requests waiting "
                                "(limits.node_queue)\r\n");
    text_client_destroy(client);
    fixture_stop(&fixture);
}

static void half_a_request_is_given_up_after_a_while(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 1, 1);
    fixture.options.limits.half_request_ms = 1000;
    fixture_start(&fixture, &calm);
    struct text_client *client = text_client_create("router:7400");
    text_ask_for(client, "*2\r\n$3\r\nGET\r\n$100\r\nabc", 900);
    assert_false(client->is_closed);
    text_ask_for(client, "", 300);
    assert_true(client->is_closed);
    text_client_destroy(client);
    fixture_stop(&fixture);
}

static void an_idle_client_is_closed_only_where_asked(void **state)
{
    for (int is_asked = 0; is_asked < 2; is_asked++) {
        struct fixture fixture;
        fixture_init(&fixture, 1, 1);
        fixture.options.limits.idle_ms = is_asked ? 1000 : 0;
        fixture_start(&fixture, &calm);
        struct text_client *client = text_client_create("router:7400");
        text_ask(client, "PING\r\n");
        io_sim_run(2000, NULL);
        assert_int_equal(client->is_closed, is_asked);
        text_client_destroy(client);
        fixture_stop(&fixture);
    }
}

static void a_password_is_asked_for_where_one_is_set(void **state)
{
    struct fixture fixture;
    fixture_init(&fixture, 1, 1);
    fixture.pool.client_password = "secret";
    fixture_start(&fixture, &calm);
    struct text_client *client = text_client_create("router:7400");
    assert_string_equal(text_ask(client, "GET a\r\n"), "-NOAUTH Authentication required.\r\n");
    assert_memory_equal(text_ask(client, "AUTH wrong\r\n"), "-WRONGPASS", 10);
    assert_memory_equal(text_ask(client, "AUTH secretsecret\r\n"), "-WRONGPASS", 10);
    assert_string_equal(text_ask(client, "AUTH secret\r\n"), "+OK\r\n");
    assert_string_equal(text_ask(client, "GET a\r\n"), "$-1\r\n");
    text_client_destroy(client);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_client_over_the_limit_is_told_so),
        cmocka_unit_test(a_pipeline_deeper_than_the_limit_waits_and_is_answered_in_order),
        cmocka_unit_test(a_client_that_does_not_read_is_not_read_from),
        cmocka_unit_test(a_key_over_the_limit_is_refused),
        cmocka_unit_test(a_node_with_a_full_queue_is_busy),
        cmocka_unit_test(half_a_request_is_given_up_after_a_while),
        cmocka_unit_test(an_idle_client_is_closed_only_where_asked),
        cmocka_unit_test(a_password_is_asked_for_where_one_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
