/*
 * The files of a pool: compare-and-set between processes, what each crash leaves behind, damage,
 * old copies, a full disk.
 * covers: control/pool_file
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "control/journal.h"
#include "control/map_rig.h"
#include "control/pool_file.h"

enum { TEXT_SIZE = 32 << 10 };

struct stage {
    struct dir_rig dir;
    struct map_folder folder;
    struct cw_map *first, *second;
    char problem[MAP_PROBLEM_SIZE];
    char document[TEXT_SIZE], highest[TEXT_SIZE], journal[TEXT_SIZE];
};

static int setup(void **state)
{
    struct stage *stage = calloc(1, sizeof *stage);
    assert_non_null(stage);
    dir_rig_make(&stage->dir);
    assert_int_equal(map_folder_open(stage->dir.path, &stage->folder, stage->problem), 0);
    stage->first = rig_map(1, 2);
    stage->second = rig_map(2, 3);
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    map_folder_close(&stage->folder);
    dir_rig_remove(&stage->dir);
    cw_map_unref(&stage->first);
    cw_map_unref(&stage->second);
    free(stage);
    return 0;
}

static void put(struct stage *stage, const struct map_record *record)
{
    if (pool_file_put(&stage->folder, "main", record, NULL, stage->problem) < 0)
        fail_msg("%s", stage->problem);
    assert_string_equal(stage->problem, "");
}

static struct map_record *load(struct stage *stage)
{
    struct map_record *record = NULL;
    if (pool_file_load(&stage->folder, "main", &record, stage->problem) < 0)
        fail_msg("%s", stage->problem);
    assert_string_equal(stage->problem, "");
    return record;
}

static void expect_stored(struct stage *stage, uint64_t revision, uint64_t generation)
{
    struct map_record *record = load(stage);
    assert_int_equal(record->revision, revision);
    assert_int_equal(cw_map_generation(record->map), generation);
    map_record_destroy(&record);
}

static void expect_load_fails(struct stage *stage, int error, const char *wanted)
{
    struct map_record *record = NULL;
    assert_int_equal(pool_file_load(&stage->folder, "main", &record, stage->problem), error);
    assert_null(record);
    rig_assert_has(stage->problem, wanted);
}

/* The states in the journal, as "stable tracking". */
static void expect_journal(struct stage *stage, const char *wanted)
{
    struct journal_entry *entries = NULL;
    size_t count = 0, len = 0;
    char text[512] = "";
    assert_int_equal(journal_read(&stage->folder, "main", 100, &entries, &count, stage->problem),
                     0);
    for (size_t i = 0; i < count && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", i ? " " : "",
                                entries[i].state);
    free(entries);
    assert_string_equal(text, wanted);
}

/* ---- a pool's life ----------------------------------------------------------------------------
 */

/* Made, changed through three states, and stable with the new map: revisions 1 to 5. */
static void put_change(struct stage *stage, int steps)
{
    struct transition_info info = rig_transition(stage->first, stage->second);
    struct map_record record = rig_record(stage->first);
    put(stage, &record);
    record.next_transition = 2;
    record.transition = &info;
    for (record.revision = 1; record.revision < (uint64_t)steps; record.revision++) {
        static const enum transition_state states[] = {TRANSITION_PREPARED, TRANSITION_TRACKING,
                                                       TRANSITION_SWITCHED, TRANSITION_STABLE};
        info.state = states[record.revision - 1];
        record.map = info.state == TRANSITION_SWITCHED || info.state == TRANSITION_STABLE
                         ? stage->second
                         : stage->first;
        record.transition = info.state == TRANSITION_STABLE ? NULL : &info;
        put(stage, &record);
    }
}

static void a_record_is_stored_and_its_states_are_in_the_journal(void **state)
{
    struct stage *stage = *state;
    struct map_record *record = NULL;
    struct journal_entry *entries = NULL;
    size_t count;
    assert_int_equal(pool_file_load(&stage->folder, "main", &record, stage->problem), -ENOENT);
    put_change(stage, 5);
    expect_stored(stage, 5, 2);
    expect_journal(stage, "stable prepared tracking switched stable");
    assert_int_equal(journal_read(&stage->folder, "main", 1, &entries, &count, stage->problem), 0);
    assert_int_equal(entries[0].transition, 1);
    assert_int_equal(entries[0].keys, 77);
    assert_int_equal(entries[0].generation, 2);
    assert_string_equal(entries[0].what, "add \"n3\"");
    free(entries);
    assert_int_equal(pool_file_revision(&stage->folder, "main"), 5);
    assert_int_equal(pool_file_revision(&stage->folder, "other"), 0);
}

static void a_put_that_is_no_news_adds_no_line(void **state)
{
    struct stage *stage = *state;
    put_change(stage, 3);
    struct transition_info info = rig_transition(stage->first, stage->second);
    struct map_record record = rig_record(stage->first);
    record.revision = 3;
    record.next_transition = 2;
    record.transition = &info;
    info.keys_moved = 78;
    put(stage, &record);
    expect_journal(stage, "stable prepared tracking");
    record.revision = 4;
    snprintf(info.note, sizeof info.note, "paused: a node is full");
    put(stage, &record);
    expect_journal(stage, "stable prepared tracking tracking");
    expect_stored(stage, 5, 1);
    expect_journal(stage, "stable prepared tracking tracking");
}

static void a_record_of_another_revision_is_not_stored(void **state)
{
    struct stage *stage = *state;
    struct map_record record = rig_record(stage->first);
    put(stage, &record);
    static const uint64_t revisions[] = {0, 2, 100};
    for (size_t i = 0; i < 3; i++) {
        record.revision = revisions[i];
        assert_int_equal(pool_file_put(&stage->folder, "main", &record, NULL, stage->problem),
                         -ESTALE);
        rig_assert_has(stage->problem, "main.json has revision 1 and not ");
    }
    expect_stored(stage, 1, 1);
}

/* ---- several processes ------------------------------------------------------------------------
 */

enum { RACERS = 4, PUTS = 200 };

/* Exit status 0 when every put was stored once. */
static int race(const char *path)
{
    char problem[MAP_PROBLEM_SIZE];
    struct map_folder folder;
    struct map_record *record = NULL;
    int stored = 0;
    if (map_folder_open(path, &folder, problem) < 0)
        return 1;
    while (stored < PUTS) {
        int status = pool_file_load(&folder, "main", &record, problem);
        if (status == 0)
            status = pool_file_put(&folder, "main", record, NULL, problem);
        if (status < 0 && status != -ESTALE && status != -EBUSY)
            return 2;
        stored += status == 0;
        map_record_destroy(&record);
    }
    map_folder_close(&folder);
    return 0;
}

static void of_800_puts_of_four_processes_none_is_lost(void **state)
{
    struct stage *stage = *state;
    pid_t racers[RACERS];
    struct map_record record = rig_record(stage->first);
    put(stage, &record);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        if (racers[i] == 0)
            _exit(race(stage->dir.path));
        assert_true(racers[i] > 0);
    }
    for (int i = 0; i < RACERS; i++) {
        int status;
        assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
        assert_int_equal(status, 0);
    }
    expect_stored(stage, 1 + RACERS * PUTS, 1);
}

/* ---- crashes ----------------------------------------------------------------------------------
 */

static void keep(struct stage *stage)
{
    rig_read(&stage->dir, "main.json", stage->document, TEXT_SIZE);
    rig_read(&stage->dir, "main.highest", stage->highest, TEXT_SIZE);
    rig_read(&stage->dir, "main.journal", stage->journal, TEXT_SIZE);
}

static void next_put(struct stage *stage, uint64_t revision)
{
    struct transition_info info = rig_transition(stage->first, stage->second);
    struct map_record record = rig_record(stage->first);
    info.state = TRANSITION_FROZEN;
    record.revision = revision;
    record.next_transition = 2;
    record.transition = &info;
    put(stage, &record);
}

static void a_crash_before_the_document_leaves_the_old_one(void **state)
{
    struct stage *stage = *state;
    char text[TEXT_SIZE];
    put_change(stage, 3);
    keep(stage);
    size_t len = strlen(stage->document);
    for (size_t part = 0; part <= len; part += len / 3) {
        rig_write(&stage->dir, "main.json.tmp", stage->document, part);
        rig_write_text(&stage->dir, "main.highest.tmp", "{");
        expect_stored(stage, 3, 1);
        assert_int_equal(rig_read(&stage->dir, "main.json.tmp", text, sizeof text), -1);
        assert_int_equal(rig_read(&stage->dir, "main.highest.tmp", text, sizeof text), -1);
    }
    rig_write(&stage->dir, "main.json.tmp", stage->document, 10);
    next_put(stage, 3);
    expect_stored(stage, 4, 1);
}

static void a_crash_behind_the_document_is_made_good_at_the_next_load(void **state)
{
    struct stage *stage = *state;
    char text[TEXT_SIZE];
    put_change(stage, 3);
    keep(stage);
    next_put(stage, 3);
    rig_write_text(&stage->dir, "main.highest", stage->highest);
    rig_write_text(&stage->dir, "main.journal", stage->journal);
    expect_stored(stage, 4, 1);
    rig_read(&stage->dir, "main.highest", text, sizeof text);
    rig_assert_has(text, "\"revision\": 4");
    expect_journal(stage, "stable prepared tracking frozen");
    expect_stored(stage, 4, 1);
    expect_journal(stage, "stable prepared tracking frozen");
}

static void a_crash_in_a_journal_line_is_made_good_at_the_next_load(void **state)
{
    struct stage *stage = *state;
    put_change(stage, 4);
    keep(stage);
    rig_write(&stage->dir, "main.journal", stage->journal, strlen(stage->journal) - 20);
    expect_stored(stage, 4, 2);
    expect_journal(stage, "stable prepared tracking switched");
}

static void a_crash_at_the_end_of_a_transition_is_made_good_from_the_line_before(void **state)
{
    struct stage *stage = *state;
    struct journal_entry *entries = NULL;
    size_t count;
    put_change(stage, 4);
    keep(stage);
    struct map_record record = rig_record(stage->second);
    record.revision = 4;
    record.next_transition = 2;
    put(stage, &record);
    rig_write_text(&stage->dir, "main.journal", stage->journal);
    expect_stored(stage, 5, 2);
    expect_journal(stage, "stable prepared tracking switched stable");
    assert_int_equal(journal_read(&stage->folder, "main", 1, &entries, &count, stage->problem), 0);
    assert_int_equal(entries[0].revision, 5);
    assert_int_equal(entries[0].transition, 1);
    assert_string_equal(entries[0].what, "add \"n3\"");
    free(entries);
}

/* ---- damage -----------------------------------------------------------------------------------
 */

static void a_damaged_document_is_refused_and_not_overwritten(void **state)
{
    struct stage *stage = *state;
    struct map_record record = rig_record(stage->first);
    char text[TEXT_SIZE];
    put_change(stage, 3);
    keep(stage);
    static const char *const garbage[] = {"", "{}", "\x01\x02", "[1, 2", "{\"clockwise_pool\": 1}"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        rig_write_text(&stage->dir, "main.json", garbage[i]);
        expect_load_fails(stage, -EINVAL, "main.json cannot be used: ");
        rig_assert_has(stage->problem, "; put the newest good copy back");
        assert_true(pool_file_put(&stage->folder, "main", &record, NULL, stage->problem) < 0);
        rig_read(&stage->dir, "main.json", text, sizeof text);
        assert_string_equal(text, garbage[i]);
    }
    rig_write_text(&stage->dir, "main.json", stage->document);
    expect_stored(stage, 3, 1);
}

static void an_older_copy_is_noticed(void **state)
{
    struct stage *stage = *state;
    char path[RIG_PATH_MAX + 64];
    put_change(stage, 3);
    keep(stage);
    next_put(stage, 3);
    rig_write_text(&stage->dir, "main.json", stage->document);
    expect_load_fails(stage, -ESTALE,
                      "main.json has revision 3 (generation 1), but revision 4 (generation 1) was "
                      "stored there before: an older copy was put back");
    rig_assert_has(stage->problem, "or remove main.highest to go on from this one");
    snprintf(path, sizeof path, "%s/main.highest", stage->dir.path);
    assert_int_equal(unlink(path), 0);
    expect_stored(stage, 3, 1);
}

static void a_document_that_is_gone_is_noticed(void **state)
{
    struct stage *stage = *state;
    struct map_record record = rig_record(stage->first);
    char path[RIG_PATH_MAX + 64];
    put_change(stage, 3);
    snprintf(path, sizeof path, "%s/main.json", stage->dir.path);
    assert_int_equal(unlink(path), 0);
    expect_load_fails(stage, -ESTALE, "main.json is gone, but revision 3 (generation 1)");
    assert_int_equal(pool_file_put(&stage->folder, "main", &record, NULL, stage->problem), -ESTALE);
    rig_assert_has(stage->problem, "remove main.highest to begin anew");
}

static void a_file_of_the_highest_that_is_damaged_is_written_anew(void **state)
{
    struct stage *stage = *state;
    char text[TEXT_SIZE];
    put_change(stage, 3);
    rig_write_text(&stage->dir, "main.highest", "{\"revision\": ");
    expect_stored(stage, 3, 1);
    rig_read(&stage->dir, "main.highest", text, sizeof text);
    assert_string_equal(text, "{\"revision\": 3, \"generation\": 1}\n");
}

/* ---- no room, no right ------------------------------------------------------------------------
 */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void without_room_the_old_document_stays(void **state)
{
    struct stage *stage = *state;
    char text[TEXT_SIZE];
    struct map_record record = rig_record(stage->second);
    put_change(stage, 3);
    keep(stage);
    record.revision = 3;
    limit_files(100);
    int status = pool_file_put(&stage->folder, "main", &record, NULL, stage->problem);
    limit_files(RLIM_INFINITY);
    assert_int_equal(status, -EFBIG);
    rig_assert_has(stage->problem, "main.json: cannot be written: File too large; raise the limit");
    rig_read(&stage->dir, "main.json", text, sizeof text);
    assert_string_equal(text, stage->document);
    assert_int_equal(rig_read(&stage->dir, "main.json.tmp", text, sizeof text), -1);
    put(stage, &record);
    expect_stored(stage, 4, 2);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_record_is_stored_and_its_states_are_in_the_journal),
        TEST(a_put_that_is_no_news_adds_no_line),
        TEST(a_record_of_another_revision_is_not_stored),
        TEST(of_800_puts_of_four_processes_none_is_lost),
        TEST(a_crash_before_the_document_leaves_the_old_one),
        TEST(a_crash_behind_the_document_is_made_good_at_the_next_load),
        TEST(a_crash_in_a_journal_line_is_made_good_at_the_next_load),
        TEST(a_crash_at_the_end_of_a_transition_is_made_good_from_the_line_before),
        TEST(a_damaged_document_is_refused_and_not_overwritten),
        TEST(an_older_copy_is_noticed),
        TEST(a_document_that_is_gone_is_noticed),
        TEST(a_file_of_the_highest_that_is_damaged_is_written_anew),
        TEST(without_room_the_old_document_stays),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
