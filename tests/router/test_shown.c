/*
 * What clients see of the keys on the nodes, before, while and after keys move.
 * covers: shown, scan
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/states_world.h"

static void set_reply(struct recorder *recorder, const struct buffer *reply)
{
    recorder->scan_reply = buffer_bytes(reply);
    recorder->scan_reply_len = reply->len;
}

/* Node 0 has a key of its own, one of node 1, a copy that is not whole, and a dirty set. */
static void write_listing(struct world *world, struct buffer *out)
{
    resp_write_array(out, 4);
    resp_write_bulk(out, "\0cw:mig:1.1:a", 13);
    resp_write_bulk_text(out, world_key(world, 0, false, 0));
    resp_write_bulk_text(out, world_key(world, 1, false, 0));
    resp_write_bulk(out, "\0cw:dirty:1:1", 13);
}

static const char *bulk_of(const char *key)
{
    return text_of("$%zu\r\n%s\r\n", strlen(key), key);
}

static void keys_shows_what_each_node_owns(void **state)
{
    struct world world;
    struct buffer listing = BUFFER_INIT, empty = BUFFER_INIT;
    world_begin(&world, 1);
    write_listing(&world, &listing);
    resp_write_array(&empty, 0);
    set_reply(world.nodes[0], &listing);
    set_reply(world.nodes[1], &empty);
    assert_string_equal(text_ask(world.client, "KEYS *\r\n"),
                        text_of("*1\r\n%s", bulk_of(world_key(&world, 0, false, 0))));
    buffer_release(&listing);
    buffer_release(&empty);
    world_stop(&world);
}

static void scan_shows_what_each_node_owns(void **state)
{
    struct world world;
    struct buffer reply = BUFFER_INIT;
    world_begin(&world, 1);
    resp_write_array(&reply, 2);
    resp_write_bulk_text(&reply, "5");
    write_listing(&world, &reply);
    set_reply(world.nodes[0], &reply);
    const char *answer = text_ask(world.client, "SCAN 0 COUNT 4\r\n");
    const char *keys = strstr(answer, "*1\r\n");
    assert_non_null(keys);
    assert_string_equal(keys, text_of("*1\r\n%s", bulk_of(world_key(&world, 0, false, 0))));
    buffer_release(&reply);
    world_stop(&world);
}

static void randomkey_shows_no_key_that_is_none_of_the_nodes(void **state)
{
    struct world world;
    struct buffer hidden = BUFFER_INIT, shown = BUFFER_INIT;
    world_begin(&world, 1);
    resp_write_bulk(&hidden, "\0cw:dirty:1:1", 13);
    resp_write_bulk_text(&shown, world_key(&world, 1, false, 0));
    set_reply(world.nodes[0], &hidden);
    set_reply(world.nodes[1], &shown);
    for (int i = 0; i < 20; i++)
        assert_string_equal(text_ask(world.client, "RANDOMKEY\r\n"),
                            bulk_of(world_key(&world, 1, false, 0)));
    set_reply(world.nodes[1], &hidden);
    assert_string_equal(text_ask(world.client, "RANDOMKEY\r\n"), "$-1\r\n");
    buffer_release(&hidden);
    buffer_release(&shown);
    world_stop(&world);
}

static void a_listing_that_is_none_is_an_error(void **state)
{
    struct world world;
    struct buffer reply = BUFFER_INIT;
    world_begin(&world, 1);
    buffer_append_text(&reply, "*2\r\n$1\r\n0\r\n*2\r\n:1\r\n*0\r\n");
    set_reply(world.nodes[0], &reply);
    assert_memory_equal(text_ask(world.client, "SCAN 0\r\n"), "-ERR a node answered SCAN", 25);
    buffer_release(&reply);
    world_stop(&world);
}

/* Asks for the first piece of a SCAN; its cursor (static storage). */
static const char *begin_scan(struct world *world, struct buffer *reply)
{
    static char cursor[32];
    buffer_clear(reply);
    buffer_append_text(reply, "*2\r\n$1\r\n5\r\n*0\r\n");
    set_reply(world->nodes[0], reply);
    const char *answer = text_ask(world->client, "SCAN 0\r\n");
    assert_int_equal(sscanf(answer, "*2\r\n$%*d\r\n%31s", cursor), 1);
    return cursor;
}

static void a_scan_goes_on_through_a_transition_but_not_over_the_switch(void **state)
{
    struct world world;
    struct buffer reply = BUFFER_INIT;
    world_begin(&world, 1);
    const char *cursor = begin_scan(&world, &reply);
    world_set(&world, MOVE_TRACKING, NULL);
    io_sim_run(20, NULL);
    recorder_take(world.nodes[0]);
    assert_memory_equal(text_ask(world.client, text_of("SCAN %s\r\n", cursor)), "*2\r\n", 4);
    assert_string_equal(recorder_take(world.nodes[0]), "SCAN 5\n");
    world_switch(&world);
    io_sim_run(20, NULL);
    assert_memory_equal(text_ask(world.client, text_of("SCAN %s\r\n", cursor)),
                        "-ERR invalid cursor: keys moved", 31);
    assert_memory_equal(text_ask(world.client, "SCAN 0\r\n"), "*2\r\n", 4);
    buffer_release(&reply);
    world_stop(&world);
}

static void a_cursor_of_any_of_a_thousand_generations_is_of_no_other(void **state)
{
    struct world world;
    struct buffer reply = BUFFER_INIT;
    world_begin(&world, 1);
    const char *cursor = begin_scan(&world, &reply);
    for (uint64_t generation = 2; generation < 1000; generation++) {
        struct cw_map *map = world_map(generation, WORLD_THEN, NULL);
        assert_int_equal(router_set_map(world.router, 0, map), 0);
        cw_map_unref(&map);
        const char *answer = text_ask_for(world.client, text_of("SCAN %s\r\n", cursor), 2);
        assert_memory_equal(answer, "-ERR invalid cursor: keys moved", 31);
    }
    buffer_release(&reply);
    world_stop(&world);
}

static void cursors_that_never_were_are_refused(void **state)
{
    static const char *const cursors[] = {"x", "-1", "7", "9223372036854775807", "281474976710655"};
    struct world world;
    world_begin(&world, 1);
    for (size_t i = 0; i < sizeof cursors / sizeof cursors[0]; i++)
        assert_memory_equal(text_ask(world.client, text_of("SCAN %s\r\n", cursors[i])),
                            "-ERR invalid cursor", 19);
    world_stop(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_shows_what_each_node_owns),
        cmocka_unit_test(scan_shows_what_each_node_owns),
        cmocka_unit_test(randomkey_shows_no_key_that_is_none_of_the_nodes),
        cmocka_unit_test(a_listing_that_is_none_is_an_error),
        cmocka_unit_test(a_scan_goes_on_through_a_transition_but_not_over_the_switch),
        cmocka_unit_test(a_cursor_of_any_of_a_thousand_generations_is_of_no_other),
        cmocka_unit_test(cursors_that_never_were_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
