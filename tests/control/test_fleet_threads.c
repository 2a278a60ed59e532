/*
 * Embedded nodes that come and go while others run. Run under ThreadSanitizer too.
 * covers: control/fleet, control/runner
 */
#include <errno.h>
#include <sys/stat.h>

#include "control/config_helper.h"
#include "control/fleet.h"
#include "io/inproc.h"
#include "store/dir_rig.h"

struct stage {
    struct dir_rig dir;
    struct config *config;
    struct fleet *fleet;
    char names[256]; /* of the nodes that were visited */
};

static int setup(void **state)
{
    char text[1000], lines[1000], message[FLEET_MESSAGE_SIZE];
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    dir_rig_make(&stage->dir);
    snprintf(text, sizeof text,
             "data_dir: %s\n"
             "pools:\n"
             "  cache: {listen: '127.0.0.1:1', nodes: [{id: r, address: '127.0.0.1:2'}]}\n"
             "  main: {listen: '127.0.0.1:3', engine: embedded, nodes: [{id: a}, {id: b}]}\n",
             stage->dir.path);
    stage->config = read_text_of(text, strlen(text), lines, sizeof lines);
    assert_non_null(stage->config);
    if (fleet_create(stage->config, NULL, &stage->fleet, message) < 0)
        fail_msg("%s", message);
    *state = stage;
    return 0;
}

static void remove_node(struct stage *stage, const char *id)
{
    static const char *const files[] = {"/data.mdb", "/lock.mdb", "/lock", ""};
    char path[RIG_PATH_MAX + 64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/main/%s%s", stage->dir.path, id, files[i]);
        remove(path);
    }
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    fleet_destroy(&stage->fleet);
    config_destroy(&stage->config);
    remove_node(stage, "a");
    remove_node(stage, "b");
    remove_node(stage, "c");
    dir_rig_remove(&stage->dir);
    free(stage);
    return 0;
}

static void add_name(void *context, const char *pool, const char *id,
                     const struct embedded_node_stats *stats)
{
    struct stage *stage = context;
    size_t len = strlen(stage->names);
    assert_string_equal(pool, "main");
    snprintf(stage->names + len, sizeof stage->names - len, "%s%s", len ? " " : "", id);
}

static void expect_nodes(struct stage *stage, const char *wanted)
{
    stage->names[0] = 0;
    fleet_read_stats(stage->fleet, add_name, stage);
    assert_string_equal(stage->names, wanted);
}

static void begin(struct stage *stage, uint32_t pool, const char *id)
{
    char message[FLEET_MESSAGE_SIZE];
    struct cw_node node = {.id = id, .weight = 1};
    if (fleet_node_begin(stage->fleet, pool, &node, message, sizeof message) < 0)
        fail_msg("%s", message);
}

static void nodes_come_and_go_while_the_others_run(void **state)
{
    struct stage *stage = *state;
    struct stat status;
    char path[RIG_PATH_MAX + 64];
    assert_int_equal(fleet_start(stage->fleet), 0);
    expect_nodes(stage, "a b");
    assert_int_equal(inproc_is_free("main/c"), 0);
    begin(stage, 1, "c");
    expect_nodes(stage, "a b c");
    assert_int_equal(inproc_is_free("main/c"), -EADDRINUSE);
    begin(stage, 1, "c"); /* is there already */
    begin(stage, 0, "x"); /* of a pool of servers */
    expect_nodes(stage, "a b c");
    fleet_node_end(stage->fleet, 1, "b");
    fleet_node_end(stage->fleet, 1, "b");
    fleet_node_end(stage->fleet, 0, "r");
    expect_nodes(stage, "a c");
    assert_int_equal(inproc_is_free("main/b"), 0);
    snprintf(path, sizeof path, "%s/main/b/data.mdb", stage->dir.path);
    assert_int_equal(stat(path, &status), 0); /* the data stay */
    begin(stage, 1, "b");
    expect_nodes(stage, "a c b");
}

static void a_node_that_cannot_be_opened_is_told_and_leaves_nothing(void **state)
{
    struct stage *stage = *state;
    char message[FLEET_MESSAGE_SIZE] = "", path[RIG_PATH_MAX + 64];
    struct cw_node node = {.id = "c", .weight = 1};
    assert_int_equal(fleet_start(stage->fleet), 0);
    snprintf(path, sizeof path, "%s/main/c", stage->dir.path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    assert_true(fleet_node_begin(stage->fleet, 1, &node, message, sizeof message) < 0);
    assert_non_null(strstr(message, "main/c"));
    expect_nodes(stage, "a b");
    assert_int_equal(inproc_is_free("main/c"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_come_and_go_while_the_others_run, setup, teardown),
        cmocka_unit_test_setup_teardown(a_node_that_cannot_be_opened_is_told_and_leaves_nothing,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
