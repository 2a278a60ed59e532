/*
 * In what two maps differ, in words; and where the configuration keeps its maps.
 * covers: control/map_difference, control/config_router
 */
#include "control/config_helper.h"
#include "control/map_difference.h"
#include "control/map_rig.h"

static void expect(const struct cw_map *file, const struct cw_map *stored, const char *wanted)
{
    struct buffer out = BUFFER_INIT;
    map_difference(file, stored, &out);
    assert_true(buffer_append(&out, "", 1));
    assert_string_equal(buffer_bytes(&out), wanted);
    buffer_release(&out);
}

static struct cw_map *map_of(enum cw_placement placement, uint32_t slots,
                             const struct cw_node *nodes, size_t count)
{
    struct cw_map *map = NULL;
    struct cw_map_options options = {
        .placement = placement, .nodes = nodes, .node_count = count, .slot_count = slots};
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    return map;
}

static void what_differs_is_named_and_history_is_not(void **state)
{
    struct cw_node nodes[] = {{"a", "h:1", "z", 1}, {"b", "h:2", NULL, 2}};
    struct cw_node others[] = {{"a", "h:9", "", 3}, {"b", "h:2", NULL, 2}, {"c", "h:3", "", 1}};
    struct cw_map *map = map_of(CW_PLACEMENT_SLOTS, 64, nodes, 2), *back = NULL;
    struct cw_map *other = map_of(CW_PLACEMENT_SLOTS, 128, others, 3);
    struct cw_map *ring = map_of(CW_PLACEMENT_RING, 0, others, 3);
    expect(map, map, "");
    assert_int_equal(cw_map_change(map, others, 3, &back, NULL), CW_OK);
    cw_map_unref(&back);
    assert_int_equal(cw_map_change(map, nodes, 2, &back, NULL), CW_OK);
    expect(map, back, "");
    expect(map, other,
           "there are 64 slots in the file and 128 in the map; node a has weight 1 in the file and "
           "3 in the map; node a has address h:1 in the file and h:9 in the map; node a has zone z "
           "in the file and (none) in the map; and 1 more");
    expect(ring, other, "placement is ring in the file and slots in the map");
    cw_map_unref(&map);
    cw_map_unref(&back);
    cw_map_unref(&other);
    cw_map_unref(&ring);
}

static void expect_folder(const char *top, const char *wanted)
{
    char text[500], lines[1000];
    bool is_off;
    snprintf(text, sizeof text, "%s\npools: {a: {listen: 'h:1', nodes: [{id: x, address: 'h:2'}]}}",
             top);
    struct config *config = read_text_of(text, strlen(text), lines, sizeof lines);
    if (!config)
        fail_msg("%s", lines);
    char *folder = config_map_folder(config, &is_off);
    assert_int_equal(is_off, wanted == NULL);
    if (wanted)
        assert_string_equal(folder, wanted);
    free(folder);
    config_destroy(&config);
}

static void the_folder_is_beside_the_data_unless_it_is_set(void **state)
{
    expect_folder("", "./clockwise-data/maps");
    expect_folder("data_dir: /d", "/d/maps");
    expect_folder("map_store: {file: /m}", "/m");
    expect_folder("map_store: /m", "/m");
    expect_folder("map_store: {file: off}", NULL);
    expect_folder("map_store: off", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_differs_is_named_and_history_is_not),
        cmocka_unit_test(the_folder_is_beside_the_data_unless_it_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
