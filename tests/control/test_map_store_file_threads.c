/*
 * The store's thread: puts are answered on the loop and in order, and changes by others are seen.
 * Run under ThreadSanitizer too.
 * covers: control/map_store_file
 */
#include <errno.h>
#include <pthread.h>

#include "control/journal.h"
#include "control/log.h"
#include "control/map_rig.h"
#include "control/map_store_file.h"

struct stage {
    struct dir_rig dir;
    struct io_loop *loop;
    struct map_store *store;
    struct cw_map *map;
    struct map_record record;
    char problem[MAP_PROBLEM_SIZE];
    int answers, wanted, status;
    pthread_t thread;
};

static int setup(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    dir_rig_make(&stage->dir);
    assert_int_equal(io_loop_create(&stage->loop), 0);
    if (map_store_file_open(stage->dir.path, stage->loop, &stage->store, stage->problem) < 0)
        fail_msg("%s", stage->problem);
    stage->map = rig_map(1, 3);
    stage->record = rig_record(stage->map);
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    if (stage->store)
        stage->store->ops->close(stage->store);
    io_loop_destroy(&stage->loop);
    cw_map_unref(&stage->map);
    dir_rig_remove(&stage->dir);
    free(stage);
    return 0;
}

static void on_put(void *context, int status, const char *problem)
{
    struct stage *stage = context;
    assert_true(pthread_equal(stage->thread, pthread_self()));
    stage->status = status;
    snprintf(stage->problem, sizeof stage->problem, "%s", problem);
    if (++stage->answers == stage->wanted)
        io_loop_stop(stage->loop);
}

static void run_until(struct stage *stage, int answers)
{
    stage->wanted = answers;
    stage->thread = pthread_self();
    io_loop_run(stage->loop);
    assert_int_equal(stage->answers, answers);
}

static void put(struct stage *stage)
{
    int answers = stage->answers;
    stage->store->ops->put(stage->store, "main", &stage->record, on_put, stage);
    assert_int_equal(stage->answers, answers); /* never before it returns */
}

static void a_put_is_answered_on_the_loop_and_can_be_loaded(void **state)
{
    struct stage *stage = *state;
    struct map_record *record = NULL;
    char problem[MAP_PROBLEM_SIZE];
    const struct map_store_ops *ops = stage->store->ops;
    assert_int_equal(ops->load(stage->store, "main", &record, problem, sizeof problem), -ENOENT);
    put(stage);
    run_until(stage, 1);
    assert_int_equal(stage->status, 0);
    assert_string_equal(stage->problem, "");
    assert_int_equal(ops->load(stage->store, "main", &record, problem, sizeof problem), 0);
    assert_int_equal(record->revision, 1);
    rig_assert_equal_maps(record->map, stage->map);
    map_record_destroy(&record);
}

static void puts_are_carried_out_in_their_order_and_stale_ones_are_told(void **state)
{
    struct stage *stage = *state;
    struct map_record *record = NULL;
    for (uint64_t i = 0; i < 20; i++) {
        stage->record.revision = i;
        put(stage);
    }
    run_until(stage, 20);
    assert_int_equal(stage->status, 0);
    put(stage); /* of revision 19 again */
    run_until(stage, 21);
    assert_int_equal(stage->status, -ESTALE);
    rig_assert_has(stage->problem, "main.json has revision 20 and not 19");
    char problem[MAP_PROBLEM_SIZE];
    assert_int_equal(
        stage->store->ops->load(stage->store, "main", &record, problem, sizeof problem), 0);
    assert_int_equal(record->revision, 20);
    map_record_destroy(&record);
}

static void a_blocking_put_needs_no_loop(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(map_store_file_put_now(stage->store, "main", &stage->record, stage->problem),
                     0);
    assert_int_equal(map_store_file_put_now(stage->store, "main", &stage->record, stage->problem),
                     -ESTALE);
    struct journal_entry *entries = NULL;
    size_t count;
    assert_int_equal(journal_read(map_store_file_folder(stage->store), "main", 10, &entries, &count,
                                  stage->problem),
                     0);
    assert_int_equal(count, 1);
    assert_string_equal(entries[0].what, "made from the configuration");
    free(entries);
}

static void a_store_that_is_closed_has_stored_what_was_asked_and_calls_nobody(void **state)
{
    struct stage *stage = *state;
    char text[TRANSITION_NOTE_SIZE];
    for (uint64_t i = 0; i < 5; i++) {
        stage->record.revision = i;
        put(stage);
    }
    stage->store->ops->close(stage->store);
    stage->store = NULL;
    assert_int_equal(stage->answers, 0);
    assert_true(rig_read(&stage->dir, "main.json", text, sizeof text) > 0);
    rig_assert_has(text, "\"revision\": 5,");
}

static void a_second_store_of_the_same_folder_is_refused(void **state)
{
    struct stage *stage = *state;
    struct map_store *second = NULL;
    assert_int_equal(map_store_file_open(stage->dir.path, stage->loop, &second, stage->problem),
                     -EBUSY);
    rig_assert_has(stage->problem, "a router works with it already");
}

/* The log is standard error: it is read through a pipe. */
static void a_change_by_somebody_else_is_in_the_log(void **state)
{
    struct stage *stage = *state;
    char text[8192], line[4096];
    int pipes[2], error = dup(STDERR_FILENO);
    assert_int_equal(map_store_file_put_now(stage->store, "main", &stage->record, stage->problem),
                     0);
    rig_read(&stage->dir, "main.json", text, sizeof text);
    char *revision = strstr(text, "\"revision\": 1"), *check = strstr(text, ",\n\"check\"");
    assert_true(revision && check);
    revision[strlen("\"revision\": ")] = '8';
    memcpy(check, "\n}\n", 4);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(dup2(pipes[1], STDERR_FILENO), STDERR_FILENO);
    rig_write(&stage->dir, "main.json", text, strlen(text));
    ssize_t got = read(pipes[0], line, sizeof line - 1);
    dup2(error, STDERR_FILENO);
    close(error);
    close(pipes[0]);
    close(pipes[1]);
    assert_true(got > 0);
    line[got] = 0;
    rig_assert_has(line, "event=map_changed_elsewhere pool=main revision=8 known=1");
    stage->record.revision = 1;
    put(stage);
    run_until(stage, 1);
    assert_int_equal(stage->status, -ESTALE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_put_is_answered_on_the_loop_and_can_be_loaded),
        TEST(puts_are_carried_out_in_their_order_and_stale_ones_are_told),
        TEST(a_blocking_put_needs_no_loop),
        TEST(a_store_that_is_closed_has_stored_what_was_asked_and_calls_nobody),
        TEST(a_second_store_of_the_same_folder_is_refused),
        TEST(a_change_by_somebody_else_is_in_the_log),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
