/*
 * Every way in which nodes can be wrong has a status of its own and a message that names the node
 * and the remedy.
 * covers: placement/map
 */
#include "placement/fleet.h"

static int create(const struct cw_node *nodes, size_t count, struct cw_error *error)
{
    struct cw_map *map = NULL;
    struct cw_map_options options = {.nodes = nodes, .node_count = count};
    memset(error, 0, sizeof *error);
    int status = cw_map_create(&options, &map, error);
    assert_true((status == CW_OK) == (map != NULL));
    if (status != CW_OK)
        assert_int_equal(error->status, status);
    cw_map_unref(&map);
    return status;
}

static void expect(struct cw_node node, int status, const char *part)
{
    struct cw_error error;
    struct cw_node nodes[2] = {{.id = "other", .weight = 1}, node};
    assert_int_equal(create(nodes, 2, &error), status);
    if (part && !strstr(error.message, part))
        fail_msg("'%s' does not say '%s'", error.message, part);
}

static char *repeat(char c, size_t count)
{
    char *text = calloc(count + 1, 1);
    if (!text)
        abort();
    memset(text, c, count);
    return text;
}

static void bad_ids_are_refused(void **state)
{
    char *longest = repeat('x', CW_ID_LEN_MAX), *too_long = repeat('x', CW_ID_LEN_MAX + 1);
    expect((struct cw_node){.id = NULL, .weight = 1}, CW_EBAD_ID, "''");
    expect((struct cw_node){.id = "", .weight = 1}, CW_EBAD_ID, "''");
    expect((struct cw_node){.id = "a b", .weight = 1}, CW_EBAD_ID, "'a b'");
    expect((struct cw_node){.id = "a\"b", .weight = 1}, CW_EBAD_ID, "letters");
    expect((struct cw_node){.id = "a\xc3\xa4", .weight = 1}, CW_EBAD_ID, NULL);
    expect((struct cw_node){.id = too_long, .weight = 1}, CW_EBAD_ID, "63");
    expect((struct cw_node){.id = longest, .weight = 1}, CW_OK, NULL);
    expect((struct cw_node){.id = "aZ0._-:@/[]", .weight = 1}, CW_OK, NULL);
    free(longest);
    free(too_long);
}

static void bad_weights_are_refused(void **state)
{
    expect((struct cw_node){.id = "n1", .weight = 0}, CW_EBAD_WEIGHT, "'n1' has weight 0: use 1");
    expect((struct cw_node){.id = "n1", .weight = CW_WEIGHT_MAX + 1}, CW_EBAD_WEIGHT, "1000000");
    expect((struct cw_node){.id = "n1", .weight = UINT32_MAX}, CW_EBAD_WEIGHT, "4294967295");
    expect((struct cw_node){.id = "n1", .weight = CW_WEIGHT_MAX}, CW_OK, NULL);
}

static void bad_zones_and_addresses_are_refused(void **state)
{
    char *long_zone = repeat('z', CW_ID_LEN_MAX + 1);
    char *long_address = repeat('1', CW_ADDRESS_LEN_MAX + 1);
    expect((struct cw_node){.id = "n", .weight = 1, .zone = long_zone}, CW_EBAD_ZONE, "'n'");
    expect((struct cw_node){.id = "n", .weight = 1, .zone = "a b"}, CW_EBAD_ZONE, "'a b'");
    expect((struct cw_node){.id = "n", .weight = 1, .address = long_address}, CW_EBAD_ADDRESS,
           "'n'");
    expect((struct cw_node){.id = "n", .weight = 1, .address = "a\\b"}, CW_EBAD_ADDRESS, NULL);
    expect((struct cw_node){.id = "n", .weight = 1, .address = "a\nb"}, CW_EBAD_ADDRESS, NULL);
    expect((struct cw_node){.id = "n", .weight = 1, .address = "/run/redis.sock,db=(1)"}, CW_OK,
           NULL);
    free(long_zone);
    free(long_address);
}

static void equal_ids_are_refused(void **state)
{
    expect((struct cw_node){.id = "other", .weight = 5}, CW_EDUPLICATE_ID, "'other'");
}

static void no_nodes_and_too_many_are_refused(void **state)
{
    struct cw_error error;
    struct cw_node one = {.id = "a", .weight = 1};
    assert_int_equal(create(NULL, 0, &error), CW_ENO_NODES);
    assert_int_equal(create(&one, 0, &error), CW_ENO_NODES);
    assert_int_equal(create(NULL, 3, &error), CW_EINVAL);
    assert_int_equal(create(&one, CW_NODE_COUNT_MAX + 1, &error), CW_ETOO_MANY_NODES);
}

static void wrong_calls_are_refused_not_crashed_on(void **state)
{
    struct cw_map *map = NULL;
    struct cw_error error;
    struct cw_node one = {.id = "a", .weight = 1};
    struct cw_map_options options = {
        .placement = (enum cw_placement)77, .nodes = &one, .node_count = 1};
    assert_int_equal(cw_map_create(&options, &map, &error), CW_EINVAL);
    assert_int_equal(cw_map_create(NULL, &map, &error), CW_EINVAL);
    options.placement = CW_PLACEMENT_SLOTS;
    assert_int_equal(cw_map_create(&options, NULL, NULL), CW_EINVAL);
    assert_int_equal(cw_map_change(NULL, &one, 1, &map, NULL), CW_EINVAL);
    options.generation = UINT64_MAX;
    assert_int_equal(cw_map_create(&options, &map, &error), CW_OK);
    struct cw_map *next = NULL;
    assert_int_equal(cw_map_change(map, &one, 1, &next, &error), CW_EINVAL);
    assert_null(next);
    cw_map_unref(&map);
    cw_map_unref(&map);
    cw_map_unref(NULL);
}

static void nodes_are_numbered_by_id_and_found(void **state)
{
    struct cw_node nodes[] = {{.id = "b", .weight = 2, .address = "B:1", .zone = "z"},
                              {.id = "a", .weight = 1},
                              {.id = "B", .weight = 5}};
    struct cw_map *map = NULL;
    struct cw_map_options options = {.nodes = nodes, .node_count = 3, .generation = 9};
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    assert_string_equal(cw_map_node(map, 0)->id, "B");
    assert_string_equal(cw_map_node(map, 1)->id, "a");
    assert_string_equal(cw_map_node(map, 1)->address, "");
    assert_string_equal(cw_map_node(map, 2)->address, "B:1");
    assert_string_equal(cw_map_node(map, 2)->zone, "z");
    assert_null(cw_map_node(map, 3));
    assert_int_equal(cw_map_find_node(map, "b"), 2);
    assert_int_equal(cw_map_find_node(map, "c"), CW_NO_NODE);
    assert_int_equal(cw_map_find_node(map, NULL), CW_NO_NODE);
    assert_int_equal(cw_map_generation(map), 9);
    assert_int_equal(cw_map_node_count(map), 3);
    assert_true(cw_map_ideal_share(map, 0) == 5 / 8.0);
    assert_true(cw_map_ideal_share(map, 3) == 0);
    assert_true(cw_map_share(map, 3) == 0);
    assert_true(cw_map_memory(map) > CW_SLOT_COUNT * 4);
    struct cw_map *same = cw_map_ref(map);
    cw_map_unref(&map);
    assert_string_equal(cw_map_node(same, 0)->id, "B");
    cw_map_unref(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_ids_are_refused),
        cmocka_unit_test(bad_weights_are_refused),
        cmocka_unit_test(bad_zones_and_addresses_are_refused),
        cmocka_unit_test(equal_ids_are_refused),
        cmocka_unit_test(no_nodes_and_too_many_are_refused),
        cmocka_unit_test(wrong_calls_are_refused_not_crashed_on),
        cmocka_unit_test(nodes_are_numbered_by_id_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
