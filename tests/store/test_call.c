/* What happens around a command: refusals, and what a failure of the store leaves. */
#include "store/engine_rig.h"

static void unknown_commands_are_quoted_as_by_redis(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "NOSUCH", "-ERR unknown command 'NOSUCH', with args beginning with: ");
    expect(rig, "nosuch a 'b c'",
           "-ERR unknown command 'nosuch', with args beginning with: 'a' 'b c' ");
    expect(rig, "nosuch 'a\\r\\nb'",
           "-ERR unknown command 'nosuch', with args beginning with: "
           "'a\\r\\nb' ");
    expect(rig, "nosuch \"a\\r\\nb\"",
           "-ERR unknown command 'nosuch', with args beginning with: "
           "'a  b' ");
}

static void a_long_unknown_command_is_cut(void **state)
{
    struct engine_rig *rig = *state;
    char line[1024], want[512];
    snprintf(line, sizeof line, "%0200d %0100d %0100d end", 0, 0, 0);
    snprintf(want, sizeof want,
             "-ERR unknown command '%0128d', with args beginning with: '%0100d' '%025d' ", 0, 0, 0);
    expect(rig, line, want);
}

static void arity_is_checked_by_the_table(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "GET", "-ERR wrong number of arguments for 'get' command");
    expect(rig, "GeT a b", "-ERR wrong number of arguments for 'get' command");
    expect(rig, "SET a", "-ERR wrong number of arguments for 'set' command");
    expect(rig, "MGET", "-ERR wrong number of arguments for 'mget' command");
}

static void commands_of_other_types_name_the_remedy(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "HSET h f v",
           "-ERR 'HSET' is not served by embedded nodes; use a pool with engine: redis");
    expect(rig, "hset",
           "-ERR 'HSET' is not served by embedded nodes; use a pool with engine: redis");
}

static void all_that_the_table_promises_is_served(void **state)
{
    for (unsigned id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id(id);
        if (command->flags & COMMAND_EMBEDDED && !call_is_served(command))
            fail_msg("%s is marked EMBEDDED and not served", command->name);
    }
}

/* Turns a bit of the value of key "k" where it lies in the file, behind LMDB's back. */
static void damage_value(struct engine_rig *rig)
{
    static const char value[] = "a-value-that-is-found-easily";
    char path[RIG_PATH_MAX], bytes[65536];
    dir_rig_file(&rig->dir, "data.mdb", path);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    size_t len = fread(bytes, 1, sizeof bytes, file);
    char *found = memmem(bytes, len, value, sizeof value - 1);
    assert_non_null(found);
    fseek(file, found - bytes, SEEK_SET);
    fputc('A', file);
    fclose(file);
}

static void a_damaged_record_is_named_and_can_be_overwritten(void **state)
{
    struct engine_rig *rig = *state;
    static const char damaged[] =
        "-ERR the record of key 'k' on node 'node-1' is damaged (its checksum does not match); "
        "delete or overwrite it";
    expect(rig, "SET k a-value-that-is-found-easily", "+OK");
    damage_value(rig);
    expect(rig, "GET k", damaged);
    expect(rig, "APPEND k x", damaged);
    expect(rig, "MGET none k", damaged);
    expect(rig, "RENAME k z", damaged);
    expect(rig, "GET other", "$-1");
    expect(rig, "KEYS *", "*1 $1 k");
    expect(rig, "SET k new", "+OK");
    expect(rig, "GET k", "$3 new");
}

static void a_damaged_record_can_be_deleted(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET k a-value-that-is-found-easily", "+OK");
    damage_value(rig);
    expect(rig, "DEL k", ":1");
    expect(rig, "GET k", "$-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(unknown_commands_are_quoted_as_by_redis),
        rig_test(a_long_unknown_command_is_cut),
        rig_test(arity_is_checked_by_the_table),
        rig_test(commands_of_other_types_name_the_remedy),
        cmocka_unit_test(all_that_the_table_promises_is_served),
        rig_test(a_damaged_record_is_named_and_can_be_overwritten),
        rig_test(a_damaged_record_can_be_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
