/* Opening a directory: each way in which it can fail says what is wrong and what to do.
 * covers: store/store_lmdb_open, store/store_lmdb_lock */
#include <errno.h>
#include <lmdb.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "store/dir_rig.h"

/* Opens and expects a failure whose sentence has both words. */
static void expect_failure(struct dir_rig *dir, int error, const char *word, const char *remedy)
{
    struct store *store = NULL;
    assert_int_equal(dir_rig_open_sized(dir, 64 << 20, &store), error);
    assert_null(store);
    if (!strstr(dir->message, word) || !strstr(dir->message, remedy))
        fail_msg("'%s' says nothing of '%s' or '%s'", dir->message, word, remedy);
}

static void a_missing_directory_is_made(void **state)
{
    struct dir_rig dir, inner;
    dir_rig_make(&dir);
    snprintf(inner.path, sizeof inner.path, "%.400s/node", dir.path);
    struct store *store = dir_rig_open(&inner);
    store_close(&store);
    dir_rig_remove(&inner);
    dir_rig_remove(&dir);
}

static void a_directory_whose_parent_is_missing_is_refused(void **state)
{
    struct dir_rig dir, inner;
    dir_rig_make(&dir);
    snprintf(inner.path, sizeof inner.path, "%.400s/no/node", dir.path);
    expect_failure(&inner, -ENOENT, "cannot be made", "make the directory above it");
    dir_rig_remove(&dir);
}

static void a_file_is_no_directory(void **state)
{
    struct dir_rig dir, inner;
    char path[RIG_PATH_MAX];
    dir_rig_make(&dir);
    dir_rig_file(&dir, "file", path);
    fclose(fopen(path, "w"));
    snprintf(inner.path, sizeof inner.path, "%.470s", path);
    expect_failure(&inner, -ENOTDIR, "is not a directory", "another data_dir");
    snprintf(inner.path, sizeof inner.path, "%.400s/node", path);
    expect_failure(&inner, -ENOTDIR, "cannot be made", "a part of the path is a file");
    dir_rig_remove(&dir);
}

/* In a child that is nobody, because nothing is forbidden to root. */
static void a_directory_without_the_right_to_write_is_refused(void **state)
{
    struct dir_rig dir;
    struct store *store;
    int status;
    dir_rig_make(&dir);
    assert_int_equal(chmod(dir.path, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(2);
        _exit(dir_rig_open_sized(&dir, 64 << 20, &store) == -EACCES &&
                      strstr(dir.message, "the right to write there")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    chmod(dir.path, 0755);
    dir_rig_remove(&dir);
}

static void a_directory_has_one_user_at_a_time(void **state)
{
    struct dir_rig dir;
    char pid[32];
    dir_rig_make(&dir);
    struct store *store = dir_rig_open(&dir);
    snprintf(pid, sizeof pid, "in use by process %ld", (long)getpid());
    expect_failure(&dir, -EBUSY, pid, "a data_dir of its own");
    store_close(&store);
    store = dir_rig_open(&dir);
    store_close(&store);
    dir_rig_remove(&dir);
}

/* The lock goes with the process, however that ends. */
static void a_dead_user_does_not_hold_the_directory(void **state)
{
    struct dir_rig dir;
    struct store *store;
    int status;
    dir_rig_make(&dir);
    pid_t child = fork();
    if (child == 0) {
        if (dir_rig_open_sized(&dir, 64 << 20, &store) != 0)
            _exit(1);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    store = dir_rig_open(&dir);
    store_close(&store);
    dir_rig_remove(&dir);
}

static void write_meta(struct dir_rig *dir, const char *tree, const char *value)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi meta;
    MDB_val name = {6, (void *)(uintptr_t) "format"};
    MDB_val data = {strlen(value), (void *)(uintptr_t)value};
    assert_int_equal(mdb_env_create(&env), 0);
    mdb_env_set_maxdbs(env, 4);
    assert_int_equal(mdb_env_open(env, dir->path, MDB_NOLOCK, 0666), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, tree, MDB_CREATE, &meta), 0);
    assert_int_equal(mdb_put(txn, meta, &name, &data, 0), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
}

static void another_format_is_refused_and_named(void **state)
{
    struct dir_rig dir;
    dir_rig_make(&dir);
    struct store *store = dir_rig_open(&dir);
    store_close(&store);
    write_meta(&dir, "meta", "clockwise store 2");
    expect_failure(&dir, -EPROTO, "has the format 'clockwise store 2'",
                   "use the clockwise that wrote it");
    dir_rig_remove(&dir);
}

static void the_file_of_another_program_is_refused_and_left_alone(void **state)
{
    struct dir_rig dir;
    dir_rig_make(&dir);
    write_meta(&dir, "mails", "hello");
    expect_failure(&dir, -EPROTO, "is not a store of clockwise", "another data_dir");
    dir_rig_remove(&dir);
}

static void write_data(struct dir_rig *dir, const char *bytes, size_t len)
{
    char path[RIG_PATH_MAX];
    dir_rig_file(dir, "data.mdb", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void garbage_is_refused(void **state)
{
    struct dir_rig dir;
    char garbage[16384];
    memset(garbage, 'g', sizeof garbage);
    dir_rig_make(&dir);
    write_data(&dir, garbage, 100);
    expect_failure(&dir, -EPROTO, "is not a store of clockwise", "another data_dir");
    write_data(&dir, garbage, sizeof garbage);
    expect_failure(&dir, -EPROTO, "is not a store of clockwise", "another data_dir");
    dir_rig_remove(&dir);
}

static void an_empty_file_is_a_new_store(void **state)
{
    struct dir_rig dir;
    dir_rig_make(&dir);
    write_data(&dir, "", 0);
    struct store *store = dir_rig_open(&dir);
    store_close(&store);
    dir_rig_remove(&dir);
}

/* ---- damage ---------------------------------------------------------------------------------- */

enum { RECORDS = 2000 };

/* Zeros where pages with records were, as after a power cut that came before they were written. */
static void zero_pages(const char *path)
{
    static const char zeros[4 * 4096];
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 10 * 4096, SEEK_SET), 0);
    assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
    fclose(file);
}

/* A store with records in many pages, closed, and then damaged if wanted. */
static void make_store(struct dir_rig *dir, bool is_damaged)
{
    const struct record record = {.hlc = 1, .value = text_slice("some value to fill pages with")};
    char path[RIG_PATH_MAX], key[32];
    dir_rig_make(dir);
    struct store *store = dir_rig_open(dir);
    assert_int_equal(store->ops->begin(store, STORE_WRITE), STORE_OK);
    for (int i = 0; i < RECORDS; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        assert_int_equal(store->ops->put(store, text_slice(key), &record), STORE_OK);
    }
    assert_int_equal(store->ops->commit(store), STORE_OK);
    store_close(&store);
    dir_rig_file(dir, "data.mdb", path);
    if (is_damaged)
        zero_pages(path);
}

/* How many records can not be had. */
static int count_damaged(struct store *store)
{
    struct record record;
    char key[32];
    int damaged = 0;
    for (int i = 0; i < RECORDS; i++) {
        snprintf(key, sizeof key, "key-%d", i);
        if (store->ops->begin(store, STORE_READ) != STORE_OK)
            continue;
        damaged += store->ops->get(store, text_slice(key), true, &record) < 0;
        store->ops->abort(store);
    }
    return damaged;
}

/* A map over the end of its file would give SIGBUS. */
static void a_file_that_lost_its_end_is_refused(void **state)
{
    struct dir_rig dir;
    char path[RIG_PATH_MAX];
    make_store(&dir, false);
    dir_rig_file(&dir, "data.mdb", path);
    assert_int_equal(truncate(path, 1 << 15), 0);
    expect_failure(&dir, -EIO, "data.mdb' is damaged", "put back a copy");
    dir_rig_remove(&dir);
}

static void lost_pages_give_errors_and_no_crash(void **state)
{
    struct dir_rig dir;
    make_store(&dir, true);
    struct store *store = dir_rig_open(&dir);
    assert_in_range(count_damaged(store), 1, RECORDS - 1);
    assert_non_null(strstr(store->ops->explain(store, STORE_CORRUPT), "are damaged"));
    store_close(&store);
    dir_rig_remove(&dir);
}

/* What a node leaves that did not end by itself. */
static void write_lock(struct dir_rig *dir, const char *text)
{
    char path[RIG_PATH_MAX];
    dir_rig_file(dir, "lock", path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void after_a_power_cut_a_damaged_store_is_refused_every_time(void **state)
{
    struct dir_rig dir;
    make_store(&dir, true);
    write_lock(&dir, "123 another-boot later\n");
    expect_failure(&dir, -EIO, "was damaged when the machine stopped", "put back a copy");
    expect_failure(&dir, -EIO, "was damaged when the machine stopped", "put back a copy");
    dir_rig_remove(&dir);
}

static void after_a_power_cut_a_sound_store_opens(void **state)
{
    struct dir_rig dir;
    make_store(&dir, false);
    write_lock(&dir, "123 another-boot later\n");
    struct store *store = dir_rig_open(&dir);
    assert_int_equal(count_damaged(store), 0);
    store_close(&store);
    dir_rig_remove(&dir);
}

/* With "always" there is nothing to be suspected, however the machine stopped; after a clean end
 * neither. So this store, damaged by other means, opens. */
static void only_what_may_have_been_in_memory_is_suspected(void **state)
{
    static const char *const texts[] = {"123 another-boot always\n", "", "garbage", "\n"};
    struct dir_rig dir;
    struct store *store;
    make_store(&dir, true);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_lock(&dir, texts[i]);
        store = dir_rig_open(&dir);
        store_close(&store);
    }
    dir_rig_remove(&dir);
}

static void too_small_a_size_is_refused(void **state)
{
    struct dir_rig dir;
    struct store *store;
    dir_rig_make(&dir);
    assert_int_equal(dir_rig_open_sized(&dir, 1000, &store), -EINVAL);
    assert_non_null(strstr(dir.message, "size_max of node 'node-1' is below 1 MiB"));
    dir_rig_remove(&dir);
}

/* A store that is larger than its new size_max opens, and is full. */
static void a_smaller_size_max_does_not_lose_data(void **state)
{
    struct dir_rig dir;
    struct store *store;
    struct record record = {.hlc = 1};
    char *value = calloc(1, 4 << 20);
    assert_non_null(value);
    dir_rig_make(&dir);
    store = dir_rig_open(&dir);
    record.value = (struct slice){value, 4 << 20};
    assert_int_equal(store->ops->begin(store, STORE_WRITE), STORE_OK);
    assert_int_equal(store->ops->put(store, text_slice("k"), &record), STORE_OK);
    assert_int_equal(store->ops->commit(store), STORE_OK);
    store_close(&store);
    assert_int_equal(dir_rig_open_sized(&dir, 1 << 20, &store), 0);
    assert_int_equal(store->ops->begin(store, STORE_WRITE), STORE_OK);
    assert_int_equal(store->ops->get(store, text_slice("k"), true, &record), STORE_OK);
    record.value = (struct slice){value, 4 << 20};
    assert_int_equal(store->ops->put(store, text_slice("l"), &record), STORE_FULL);
    store->ops->abort(store);
    store_close(&store);
    free(value);
    dir_rig_remove(&dir);
}

/* In a child, because the limit is the process's. */
static void no_room_on_the_disk_is_said_at_the_start(void **state)
{
    struct dir_rig dir;
    struct store *store;
    struct rlimit limit = {0, 0};
    int status;
    dir_rig_make(&dir);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(dir_rig_open_sized(&dir, 64 << 20, &store) < 0 && strstr(dir.message, "make room")
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    dir_rig_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_directory_is_made),
        cmocka_unit_test(a_directory_whose_parent_is_missing_is_refused),
        cmocka_unit_test(a_file_is_no_directory),
        cmocka_unit_test(a_directory_without_the_right_to_write_is_refused),
        cmocka_unit_test(a_directory_has_one_user_at_a_time),
        cmocka_unit_test(a_dead_user_does_not_hold_the_directory),
        cmocka_unit_test(another_format_is_refused_and_named),
        cmocka_unit_test(the_file_of_another_program_is_refused_and_left_alone),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(an_empty_file_is_a_new_store),
        cmocka_unit_test(a_file_that_lost_its_end_is_refused),
        cmocka_unit_test(lost_pages_give_errors_and_no_crash),
        cmocka_unit_test(after_a_power_cut_a_damaged_store_is_refused_every_time),
        cmocka_unit_test(after_a_power_cut_a_sound_store_opens),
        cmocka_unit_test(only_what_may_have_been_in_memory_is_suspected),
        cmocka_unit_test(too_small_a_size_is_refused),
        cmocka_unit_test(a_smaller_size_max_does_not_lose_data),
        cmocka_unit_test(no_room_on_the_disk_is_said_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
