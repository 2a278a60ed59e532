/*
 * The journal: entries come back in order, what is torn is skipped, and it does not grow for ever.
 * covers: control/journal
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "control/journal.h"
#include "control/map_rig.h"

struct stage {
    struct dir_rig dir;
    struct map_folder folder;
    char problem[MAP_PROBLEM_SIZE];
};

static int setup(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    dir_rig_make(&stage->dir);
    assert_int_equal(map_folder_open(stage->dir.path, &stage->folder, stage->problem), 0);
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    map_folder_close(&stage->folder);
    dir_rig_remove(&stage->dir);
    free(stage);
    return 0;
}

static struct journal_entry entry_number(uint64_t number)
{
    struct journal_entry entry = {.time_ms = 1700000000000 + number,
                                  .transition = 1 + number / 7,
                                  .attempt = 1,
                                  .kind = "change",
                                  .state = "tracking",
                                  .generation = 3,
                                  .revision = number,
                                  .keys = 10,
                                  .bytes = 11,
                                  .held_us = 12,
                                  .who = "a person",
                                  .what = "add \"n4\"",
                                  .note = "line\nline"};
    return entry;
}

static void append(struct stage *stage, uint64_t number)
{
    struct journal_entry entry = entry_number(number);
    if (journal_append(&stage->folder, "main", &entry, stage->problem) < 0)
        fail_msg("%s", stage->problem);
}

/* The revisions of the last entries, as "3 4 5". */
static void expect(struct stage *stage, size_t count, const char *wanted)
{
    struct journal_entry *entries = NULL;
    size_t got = 0, len = 0;
    char text[512] = "";
    if (journal_read(&stage->folder, "main", count, &entries, &got, stage->problem) < 0)
        fail_msg("%s", stage->problem);
    for (size_t i = 0; i < got && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", i ? " " : "",
                                (int)entries[i].revision);
    free(entries);
    assert_string_equal(text, wanted);
}

static void entries_come_back_as_they_were_written(void **state)
{
    struct stage *stage = *state;
    struct journal_entry *entries = NULL, wanted = entry_number(5);
    size_t count = 0;
    expect(stage, 10, "");
    append(stage, 5);
    assert_int_equal(journal_sync(&stage->folder, "main", stage->problem), 0);
    assert_int_equal(journal_read(&stage->folder, "main", 10, &entries, &count, stage->problem), 0);
    assert_int_equal(count, 1);
    struct buffer wanted_line = BUFFER_INIT, line = BUFFER_INIT;
    assert_true(journal_write_entry(&wanted, &wanted_line));
    assert_true(journal_write_entry(&entries[0], &line));
    assert_int_equal(line.len, wanted_line.len);
    assert_memory_equal(buffer_bytes(&line), buffer_bytes(&wanted_line), line.len);
    buffer_release(&wanted_line);
    buffer_release(&line);
    free(entries);
}

static void the_last_ones_are_given_oldest_first(void **state)
{
    struct stage *stage = *state;
    for (uint64_t i = 1; i <= 12; i++)
        append(stage, i);
    expect(stage, 3, "10 11 12");
    expect(stage, 0, "");
    expect(stage, 1000000, "1 2 3 4 5 6 7 8 9 10 11 12");
}

static void lines_that_are_torn_or_garbage_are_skipped(void **state)
{
    struct stage *stage = *state;
    char text[8192];
    append(stage, 1);
    append(stage, 2);
    ssize_t len = rig_read(&stage->dir, "main.journal", text, sizeof text);
    for (ssize_t cut = 1; cut < len / 2; cut += 7) {
        rig_write(&stage->dir, "main.journal", text, (size_t)(len - cut));
        expect(stage, 10, cut == 1 ? "1 2" : "1");
        append(stage, 3);
        expect(stage, 10, cut == 1 ? "1 2 3" : "1 3");
    }
    rig_write_text(&stage->dir, "main.journal", "\n\n{}\n[1]\n\xff\xfe\n{\"time_ms\":1}\n");
    expect(stage, 10, "");
    append(stage, 4);
    expect(stage, 10, "4");
}

static void a_full_journal_becomes_the_old_one(void **state)
{
    struct stage *stage = *state;
    char path[RIG_PATH_MAX + 64];
    append(stage, 1);
    append(stage, 2);
    snprintf(path, sizeof path, "%s/main.journal", stage->dir.path);
    /* Nobody writes 16 MB for a test: a hole has no lines either. */
    assert_int_equal(truncate(path, JOURNAL_LEN_MAX - 10), 0);
    append(stage, 3);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_in_range(status.st_size, 100, 1000);
    expect(stage, 10, "1 2 3");
    assert_int_equal(truncate(path, JOURNAL_LEN_MAX - 10), 0);
    append(stage, 4);
    expect(stage, 10, "3 4");
}

static void a_full_disk_takes_back_what_it_cut_short(void **state)
{
    struct stage *stage = *state;
    struct rlimit limit;
    struct stat status;
    char path[RIG_PATH_MAX + 64];
    append(stage, 1);
    snprintf(path, sizeof path, "%s/main.journal", stage->dir.path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = (rlim_t)status.st_size + 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    struct journal_entry entry = entry_number(2);
    assert_true(journal_append(&stage->folder, "main", &entry, stage->problem) < 0);
    rig_assert_has(stage->problem, "main.journal: cannot be written: ");
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect(stage, 10, "1");
    append(stage, 3);
    expect(stage, 10, "1 3");
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_come_back_as_they_were_written, setup, teardown),
        cmocka_unit_test_setup_teardown(the_last_ones_are_given_oldest_first, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_that_are_torn_or_garbage_are_skipped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_full_journal_becomes_the_old_one, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_takes_back_what_it_cut_short, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
