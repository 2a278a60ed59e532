/*
 * A round table in a real file: over reopening, a full disk, and a process that is killed.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/random.h"
#include "store/block_file.h"
#include "store/dir_rig.h"

enum { BLOCK_SIZE = 512, KEYS = 2000 };

static const struct cw_round_table_options options = {.key_size = 8, .value_size = 8};

static struct dir_rig rig;
static char path[RIG_PATH_MAX];

static int make_dir(void **state)
{
    dir_rig_make(&rig);
    dir_rig_file(&rig, "table", path);
    return 0;
}

static int remove_dir(void **state)
{
    dir_rig_remove(&rig);
    return 0;
}

static int put(struct cw_round_table *table, uint64_t key)
{
    struct cw_round_table_stats stats;
    uint64_t value = ~key;
    cw_round_table_stats(table, &stats);
    if (stats.record_count * 10 > 8 * (uint64_t)stats.block_count * stats.block_capacity &&
        cw_round_table_grow(table) != CW_OK)
        return CW_EIO;
    return cw_round_table_insert(table, &key, &value);
}

static bool has(struct cw_round_table *table, uint64_t key)
{
    uint64_t value = 0;
    int status = cw_round_table_find(table, &key, &value);
    assert_true(status == CW_OK || status == CW_ENOT_FOUND);
    assert_true(status == CW_ENOT_FOUND || value == ~key);
    return status == CW_OK;
}

static struct cw_round_table *open_table(struct block_file *file, bool create)
{
    struct cw_round_table *table = NULL;
    assert_int_equal(create ? block_file_create(file, path, BLOCK_SIZE)
                            : block_file_open(file, path, BLOCK_SIZE),
                     0);
    file->no_sync = true; /* only the process dies here */
    assert_int_equal(create ? cw_round_table_create(&file->device, &options, &table, NULL)
                            : cw_round_table_open(&file->device, &table, NULL),
                     CW_OK);
    return table;
}

static void close_table(struct block_file *file, struct cw_round_table *table)
{
    cw_round_table_close(&table);
    block_file_close(file);
}

static void a_table_is_what_it_was_when_its_file_is_opened_again(void **state)
{
    struct block_file file;
    struct cw_round_table *table = open_table(&file, true);
    struct cw_round_table_stats stats;
    struct stat now;
    for (uint64_t key = 0; key < KEYS; key++)
        assert_int_equal(put(table, key), CW_OK);
    cw_round_table_stats(table, &stats);
    assert_int_equal(fstat(file.fd, &now), 0);
    assert_int_equal(now.st_size, stats.device_blocks * BLOCK_SIZE);
    close_table(&file, table);
    table = open_table(&file, false);
    for (uint64_t key = 0; key < 2 * KEYS; key++)
        assert_int_equal(has(table, key), key < KEYS);
    assert_int_equal(cw_round_table_check(table), CW_OK);
    close_table(&file, table);
}

static void a_file_has_one_owner_and_is_not_made_twice(void **state)
{
    struct block_file file, other;
    struct cw_round_table *table = open_table(&file, true);
    assert_int_equal(block_file_open(&other, path, BLOCK_SIZE), -EWOULDBLOCK);
    assert_int_equal(block_file_create(&other, path, BLOCK_SIZE), -EEXIST);
    close_table(&file, table);
    assert_int_equal(block_file_open(&other, path, BLOCK_SIZE), 0);
    block_file_close(&other);
    remove(path);
    assert_int_equal(block_file_open(&other, path, BLOCK_SIZE), -ENOENT);
}

static void a_file_that_was_cut_short_is_refused(void **state)
{
    struct block_file file;
    struct cw_round_table *table = open_table(&file, true);
    for (uint64_t key = 0; key < 500; key++)
        assert_int_equal(put(table, key), CW_OK);
    cw_round_table_close(&table);
    assert_int_equal(ftruncate(file.fd, BLOCK_SIZE + 10), 0);
    assert_int_equal(cw_round_table_open(&file.device, &table, NULL), CW_EIO);
    assert_int_equal(file.last_errno, ENODATA);
    block_file_close(&file);
}

/* A limit on the size of files stands for the disk. */
static void a_full_disk_stops_growing_and_nothing_else(void **state)
{
    struct block_file file;
    struct cw_round_table *table = open_table(&file, true);
    struct rlimit before, limit;
    uint64_t key = 0;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){100 * BLOCK_SIZE, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    while (put(table, key) == CW_OK)
        key++;
    assert_int_equal(file.last_errno, EFBIG);
    assert_int_equal(cw_round_table_grow(table), CW_EIO);
    assert_int_equal(cw_round_table_delete(table, &(uint64_t){0}), CW_OK);
    assert_int_equal(cw_round_table_insert(table, &key, &(uint64_t){~key}), CW_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(cw_round_table_grow(table), CW_OK);
    for (uint64_t i = 0; i <= key; i++)
        assert_int_equal(has(table, i), i > 0);
    close_table(&file, table);
}

/* In a process of its own: puts keys from `first` on, and says so on the pipe after each. */
static pid_t start_writer(uint64_t first, int pipe_fd)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct block_file file;
    struct cw_round_table *table = open_table(&file, false);
    for (uint64_t key = first; put(table, key) == CW_OK; key++)
        if (write(pipe_fd, &key, sizeof key) != sizeof key)
            break;
    _exit(1);
}

static void what_a_killed_process_acknowledged_is_there(void **state)
{
    struct block_file file;
    struct random random = {1};
    uint64_t next = 0, key;
    close_table(&file, open_table(&file, true));
    for (int round = 0; round < 20; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = start_writer(next, ends[1]);
        assert_true(pid > 0);
        close(ends[1]);
        uint64_t until = next + random_below(&random, 300);
        while (read(ends[0], &key, sizeof key) == sizeof key) { /* it may say more, and die */
            next = key + 1;
            if (next >= until)
                kill(pid, SIGKILL);
        }
        close(ends[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        struct cw_round_table *table = open_table(&file, false);
        assert_int_equal(cw_round_table_check(table), CW_OK);
        for (key = 0; key < next; key++)
            assert_true(has(table, key));
        next += has(table, next); /* the one that was interrupted */
        assert_false(has(table, next));
        close_table(&file, table);
    }
    assert_true(next > 1000);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)
    const struct CMUnitTest tests[] = {
        test(a_table_is_what_it_was_when_its_file_is_opened_again),
        test(a_file_has_one_owner_and_is_not_made_twice),
        test(a_file_that_was_cut_short_is_refused),
        test(a_full_disk_stops_growing_and_nothing_else),
        test(what_a_killed_process_acknowledged_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
