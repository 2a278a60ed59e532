/*
 * Where nodes refuse each other's payloads: which keys are put among the big ones.
 *
 * covers: move/copier
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/copier.h"
#include "move/move_world.h"

static void write_members(struct world *world, const char *command, const char *key, int count)
{
    for (int i = 0; i < count; i++)
        world_do(world, 0, "%s %s m%d", command, key, i);
}

static void set_fields(struct world *world, const char *key, int count)
{
    for (int i = 0; i < count; i++)
        world_do(world, 0, "HSET %s f%d value", key, i);
}

static bool is_found(const struct world *world, const char *key)
{
    for (size_t i = 0; i < key_list_count(&world->found.keys); i++)
        if (slice_is(key_list_at(&world->found.keys, i), key))
            return true;
    return false;
}

/* So many names stand on the list already. */
static void list_others(struct world *world, unsigned count)
{
    char(*names)[24] = calloc(count, sizeof *names);
    struct slice *keys = calloc(count, sizeof *keys);
    for (unsigned i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "other:%u", i);
        keys[i] = world_key(names[i]);
    }
    big_keys_unref(&world->move.big);
    assert_int_equal(big_keys_create(NULL, keys, count, &world->move.big), 0);
    free(keys);
    free(names);
}

static void copy_found_so_many(struct world *world, size_t count)
{
    key_list_clear(&world->found.keys);
    buffer_clear(&world->found.sources);
    world_copy_all(world);
    assert_int_equal(key_list_count(&world->found.keys), count);
}

static void test_what_needs_more_than_a_chunk_is_big(void **state)
{
    (void)state;
    struct world world;
    char hash[64], set[64], list[64], small[64];
    world_begin(&world, &world_calm);
    world.move.by_value = true;
    set_fields(&world, world_name(&world, "hash", hash), 600);
    write_members(&world, "SADD", world_name(&world, "set", set), 600);
    write_members(&world, "RPUSH", world_name(&world, "list", list), 600);
    set_fields(&world, world_name(&world, "small", small), 20);
    copy_found_so_many(&world, 2);
    assert_true(is_found(&world, hash) && is_found(&world, set));
    /* Lists are always marked as a whole. Nothing stays of what was begun. */
    assert_int_equal(memory_size(world.nodes[3]), 2);
    assert_non_null(memory_node_find(world.nodes[3], list));
    assert_non_null(memory_node_find(world.nodes[3], small));
    assert_int_equal(world.progress.keys_copied, 2);
    world_end(&world);
}

static void test_large_keys_are_copied_when_they_cannot_be_listed(void **state)
{
    static const struct {
        unsigned listed;
        bool is_urgent;
        size_t found;
    } cases[] = {
        {COPIER_LISTED_FEW - 1, false, 1},
        {COPIER_LISTED_FEW, false, 0},
        {MOVE_BIG_KEYS_MAX, false, 0},
        {1, true, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        char hash[64];
        world_begin(&world, &world_calm);
        world.move.by_value = true;
        world.move.is_urgent = cases[i].is_urgent;
        list_others(&world, cases[i].listed);
        set_fields(&world, world_name(&world, "hash", hash), 600);
        copy_found_so_many(&world, cases[i].found);
        assert_int_equal(world_count_wrong(&world), cases[i].found);
        world_end(&world);
    }
}

static void test_a_very_large_key_is_listed_while_there_is_room(void **state)
{
    (void)state;
    struct world world;
    char hash[64];
    world_begin(&world, &world_calm);
    world.move.by_value = true;
    list_others(&world, MOVE_BIG_KEYS_MAX - 1);
    set_fields(&world, world_name(&world, "hash", hash), MOVE_BIG_ELEMENTS);
    copy_found_so_many(&world, 1);
    list_others(&world, MOVE_BIG_KEYS_MAX);
    copy_found_so_many(&world, 0);
    assert_int_equal(world_count_wrong(&world), 0);
    world_end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_needs_more_than_a_chunk_is_big),
        cmocka_unit_test(test_large_keys_are_copied_when_they_cannot_be_listed),
        cmocka_unit_test(test_a_very_large_key_is_listed_while_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
