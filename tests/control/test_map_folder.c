/*
 * The folder of the map store: who may use it, and what it is made of.
 * covers: control/map_folder, control/network_fs
 */
#include <errno.h>
#include <sys/stat.h>

#include "control/map_folder.h"
#include "control/map_rig.h"
#include "control/network_fs.h"

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

static void a_second_router_is_told_who_the_first_is(void **state)
{
    struct stage *stage = *state;
    struct map_folder second;
    char wanted[96];
    assert_int_equal(map_folder_claim(&stage->folder, stage->problem), 0);
    assert_int_equal(map_folder_open(stage->dir.path, &second, stage->problem), 0);
    assert_int_equal(map_folder_claim(&second, stage->problem), -EBUSY);
    snprintf(wanted, sizeof wanted, "a router works with it already, process %ld; end that one",
             (long)getpid());
    rig_assert_has(stage->problem, wanted);
    map_folder_close(&stage->folder);
    assert_int_equal(map_folder_claim(&second, stage->problem), 0);
    map_folder_close(&second);
}

static void a_full_disk_gets_its_remedy(void **state)
{
    struct stage *stage = *state;
    map_folder_fail(&stage->folder, "main.json", "cannot be written", ENOSPC, stage->problem);
    rig_assert_has(stage->problem, "main.json: cannot be written: No space left on device; make");
}

static void folders_that_cannot_be_used_are_refused_with_the_remedy(void **state)
{
    struct stage *stage = *state;
    struct map_folder folder;
    char path[RIG_PATH_MAX + 64];
    rig_write_text(&stage->dir, "file", "");
    snprintf(path, sizeof path, "%s/file/maps", stage->dir.path);
    assert_int_equal(map_folder_open(path, &folder, stage->problem), -ENOTDIR);
    rig_assert_has(stage->problem, "a part of the path is a file; set another map_store");
    assert_int_equal(map_folder_open("/proc/maps", &folder, stage->problem), -ENOENT);
    rig_assert_has(stage->problem, "cannot be made");
}

static void missing_folders_are_made_for_this_user_alone(void **state)
{
    struct stage *stage = *state;
    struct map_folder folder;
    struct stat status;
    char path[RIG_PATH_MAX + 64], file[RIG_PATH_MAX + 80];
    snprintf(path, sizeof path, "%s/a/", stage->dir.path);
    assert_int_equal(map_folder_open(path, &folder, stage->problem), 0);
    map_folder_close(&folder);
    snprintf(path, sizeof path, "%s/b", stage->dir.path);
    assert_int_equal(map_folder_open(path, &folder, stage->problem), 0);
    map_folder_close(&folder);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    static const char *const files[] = {"a/lock", "a/router", "b/lock", "b/router"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/%s", stage->dir.path, files[i]);
        assert_int_equal(unlink(file), 0);
    }
}

static void network_file_systems_are_known(void **state)
{
    assert_string_equal(network_fs_name(0x6969, ""), "NFS");
    assert_string_equal(network_fs_name(0xff534d42, "cifs"), "CIFS");
    assert_string_equal(network_fs_name(0xfe534d42, "smb3"), "SMB");
    assert_string_equal(network_fs_name(0x01021997, "9p"), "9p");
    assert_string_equal(network_fs_name(0x65735546, "fuse.sshfs"), "sshfs");
    assert_null(network_fs_name(0x65735546, "fuseblk"));
    assert_null(network_fs_name(0x65735546, "fuse.encfs"));
    assert_null(network_fs_name(0xef53, "ext4"));
    assert_null(network_fs_name(0x01021994, "tmpfs"));
    assert_null(network_fs_name(0x9123683e, "btrfs"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_second_router_is_told_who_the_first_is),
        TEST(a_full_disk_gets_its_remedy),
        TEST(folders_that_cannot_be_used_are_refused_with_the_remedy),
        TEST(missing_folders_are_made_for_this_user_alone),
        TEST(network_file_systems_are_known),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
