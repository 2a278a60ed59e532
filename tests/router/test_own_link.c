/*
 * Own links: how they are lent, kept, bounded and ended, one promise a test.
 * covers: own_link
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/fixture.h"
#include "router/own_link.h"

static const struct io_sim_options calm = {
    .seed = 1, .delay_min_us = 10, .delay_max_us = 100, .window_bytes = 1 << 16};

static struct node *begin(struct fixture *fixture, uint32_t own_links_max)
{
    fixture_init(fixture, 1, 1);
    fixture->options.limits.own_links_max = own_links_max;
    fixture_start(fixture, &calm);
    io_sim_run(20, NULL);
    return fixture->workers[0]->pools[0].nodes[0];
}

static struct own_link *lend(struct node *node, int protocol)
{
    char text[512];
    struct own_link *own = own_link_lend(node, protocol, text, sizeof text);
    assert_non_null(own);
    return own;
}

/* Sends a request whose reply is for nobody; whether it was taken. */
static bool ask(struct own_link *own, const char *request)
{
    char text[512];
    struct link *link = &own->link;
    if (!link_accepts(link, 1, text, sizeof text))
        return false;
    buffer_append_text(&link->out, request);
    link_send(link, request_borrow(link->node->pool->worker, NULL, REQUEST_RELAY));
    return true;
}

/* How many connections a node has. */
static uint32_t conn_count(const struct memory_node *node)
{
    uint32_t count = 0;
    list_for_each (entry, &node->conns)
        count++;
    return count;
}

static void its_number_at_the_node_is_known_once_it_is_ready(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct own_link *own = lend(node, 2), *other = lend(node, 3);
    assert_int_equal(own->id, 0);
    io_sim_run(20, NULL);
    assert_int_equal(own->link.state, LINK_READY);
    list_for_each (entry, &fixture.nodes[0]->conns) {
        struct memory_conn *conn = list_entry(entry, struct memory_conn, in_node);
        if (conn->id == own->id || conn->id == other->id)
            assert_int_equal(conn->protocol, conn->id == own->id ? 2 : 3);
    }
    assert_int_not_equal(own->id, 0);
    assert_int_not_equal(other->id, 0);
    assert_int_not_equal(own->id, other->id);
    own_link_return(&own, true);
    own_link_return(&other, true);
    assert_null(own);
    fixture_stop(&fixture);
}

static void a_returned_one_is_lent_to_the_next_in_its_protocol(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct own_link *own = lend(node, 2), *first = own;
    io_sim_run(20, NULL);
    own_link_return(&own, true);
    struct own_link *resp3 = lend(node, 3), *resp2 = lend(node, 2);
    assert_ptr_not_equal(resp3, first);
    assert_ptr_equal(resp2, first);
    own_link_return(&resp2, true);
    own_link_return(&resp3, true);
    fixture_stop(&fixture);
}

static void one_that_is_not_clean_is_closed_when_nothing_is_under_way(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct own_link *own = lend(node, 2);
    io_sim_run(20, NULL);
    uint32_t before = conn_count(fixture.nodes[0]);
    assert_true(ask(own, "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"));
    own_link_return(&own, false);
    assert_int_equal(node_in_flight(node), 1);
    io_sim_run(50, NULL);
    assert_non_null(memory_node_find(fixture.nodes[0], "a")); /* it was done before the end */
    assert_int_equal(node_in_flight(node), 0);
    assert_int_equal(conn_count(fixture.nodes[0]), before - 1);
    assert_int_equal(node->own_lent_count + node->own_idle_count, 0);
    fixture_stop(&fixture);
}

static void one_that_is_being_unblocked_is_not_lent_on(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct own_link *own = lend(node, 2), *first = own;
    io_sim_run(20, NULL);
    first->unblocks = 1;
    own_link_return(&own, true);
    io_sim_run(50, NULL);
    struct own_link *next = lend(node, 2);
    assert_ptr_not_equal(next, first);
    first->unblocks = 0;
    io_sim_run(50, NULL);
    assert_int_equal(first->state, OWN_IDLE);
    own_link_return(&next, true);
    fixture_stop(&fixture);
}

static void idle_ones_are_closed_after_a_while_and_only_so_many_are_kept(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 100);
    struct own_link *own[100];
    for (int i = 0; i < 100; i++)
        own[i] = lend(node, 2);
    io_sim_run(50, NULL);
    for (int i = 0; i < 100; i++)
        own_link_return(&own[i], true);
    io_sim_run(50, NULL);
    assert_int_equal(node->own_idle_count, 64);
    assert_int_equal(node->own_lent_count, 0);
    io_sim_run(31000, NULL);
    assert_int_equal(node->own_idle_count, 0);
    assert_int_equal(conn_count(fixture.nodes[0]), 0); /* the shared one was never needed */
    fixture_stop(&fixture);
}

static void over_the_limit_the_error_names_it(void **state)
{
    struct fixture fixture;
    char text[512];
    struct node *node = begin(&fixture, 2);
    struct own_link *a = lend(node, 2), *b = lend(node, 2);
    assert_null(own_link_lend(node, 2, text, sizeof text));
    assert_string_equal(text, "BUSY node 'n0' (sim-n0:1) has 2 connections for clients that wait "
                              "or watch keys; more are allowed by a higher limit "
                              "(limits.own_connections)");
    io_sim_run(20, NULL);
    own_link_return(&a, true);
    a = lend(node, 2);
    own_link_return(&a, true);
    own_link_return(&b, true);
    fixture_stop(&fixture);
}

static void one_that_was_closed_takes_nothing_and_is_not_opened_again(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct own_link *own = lend(node, 2);
    io_sim_run(20, NULL);
    memory_close_all(fixture.nodes[0]);
    io_sim_run(20, NULL);
    assert_true(own_link_is_lost(own));
    assert_int_not_equal(node->health, NODE_DOWN);
    assert_false(ask(own, "*1\r\n$4\r\nPING\r\n"));
    own_link_return(&own, true);
    io_sim_run(50, NULL);
    assert_int_equal(node->own_lent_count + node->own_idle_count, 0);
    fixture_stop(&fixture);
}

static void a_server_that_takes_no_more_connections_is_not_down(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct text_client *client = text_client_create("router:7400");
    assert_string_equal(text_ask(client, "SET a 1\r\n"), "+OK\r\n");
    fixture.nodes[0]->password = "for new ones only";
    struct own_link *own = lend(node, 2);
    assert_true(ask(own, "*1\r\n$4\r\nPING\r\n"));
    io_sim_run(50, NULL);
    assert_true(own_link_is_lost(own));
    assert_int_equal(node->health, NODE_UP);
    own_link_return(&own, true);
    text_client_destroy(client);
    fixture_stop(&fixture);
}

static void a_node_that_goes_down_fails_them(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct text_client *client = text_client_create("router:7400");
    struct own_link *own = lend(node, 2);
    io_sim_run(20, NULL);
    memory_node_stop(fixture.nodes[0]);
    assert_true(ask(own, "*1\r\n$4\r\nPING\r\n"));
    own->link.flight.ring[own->link.flight.head]->deadline_ms = UINT64_MAX; /* it may wait */
    text_ask_for(client, "GET a\r\n", 1000);
    assert_int_equal(node->health, NODE_DOWN);
    assert_true(own_link_is_lost(own));
    assert_int_equal(own->link.flight.count, 0);
    own_link_return(&own, true);
    text_client_destroy(client);
    fixture_stop(&fixture);
}

static void it_outlives_its_node(void **state)
{
    struct fixture fixture;
    struct node *node = begin(&fixture, 10);
    struct own_link *own = lend(node, 2);
    io_sim_run(20, NULL);
    struct cw_map *map = fixture_map(1, 1);
    fixture.nodes[1] = memory_node_create(fixture_address(1), 7);
    fixture.node_count = 2;
    assert_int_equal(router_set_map(fixture.router, 0, map), 0);
    io_sim_run(50, NULL);
    assert_null(own->link.node);
    assert_true(own_link_is_lost(own));
    own_link_return(&own, true);
    cw_map_unref(&map);
    fixture_stop(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_number_at_the_node_is_known_once_it_is_ready),
        cmocka_unit_test(a_returned_one_is_lent_to_the_next_in_its_protocol),
        cmocka_unit_test(one_that_is_not_clean_is_closed_when_nothing_is_under_way),
        cmocka_unit_test(one_that_is_being_unblocked_is_not_lent_on),
        cmocka_unit_test(idle_ones_are_closed_after_a_while_and_only_so_many_are_kept),
        cmocka_unit_test(over_the_limit_the_error_names_it),
        cmocka_unit_test(one_that_was_closed_takes_nothing_and_is_not_opened_again),
        cmocka_unit_test(a_server_that_takes_no_more_connections_is_not_down),
        cmocka_unit_test(a_node_that_goes_down_fails_them),
        cmocka_unit_test(it_outlives_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
