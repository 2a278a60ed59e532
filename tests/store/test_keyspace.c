/* Transactions that many commands share, failures that stay, and the clock of versions. */
#include "store/engine_rig.h"

static struct slice key_a = {"a", 1}, value_1 = {"1", 1};

static void a_transaction_for_reading_becomes_one_for_writing(void **state)
{
    struct engine_rig *rig = *state;
    struct keyspace *keyspace = &rig->engine.keyspace;
    struct record record;
    assert_int_equal(keyspace_begin(keyspace, STORE_READ), STORE_OK);
    assert_int_equal(keyspace_find(keyspace, key_a, &record), 0);
    assert_int_equal(keyspace_begin(keyspace, STORE_WRITE), STORE_OK);
    assert_true(keyspace_put(keyspace, key_a, value_1, 0));
    assert_int_equal(keyspace_begin(keyspace, STORE_READ), STORE_OK);
    assert_int_equal(keyspace_find(keyspace, key_a, &record), 1);
    assert_int_equal(keyspace_commit(keyspace), STORE_OK);
    assert_int_equal(keyspace->commits, 1);
}

static void a_transaction_that_wrote_nothing_is_no_commit(void **state)
{
    struct engine_rig *rig = *state;
    assert_int_equal(keyspace_begin(&rig->engine.keyspace, STORE_WRITE), STORE_OK);
    assert_int_equal(keyspace_commit(&rig->engine.keyspace), STORE_OK);
    assert_int_equal(rig->engine.keyspace.commits, 0);
}

static uint64_t version_of(struct engine_rig *rig, const char *key)
{
    struct keyspace *keyspace = &rig->engine.keyspace;
    struct record record;
    assert_int_equal(keyspace_begin(keyspace, STORE_READ), STORE_OK);
    assert_int_equal(keyspace_find(keyspace, text_slice(key), &record), 1);
    assert_int_equal(keyspace_commit(keyspace), STORE_OK);
    return record.hlc;
}

static void versions_grow_within_and_between_turns(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET a 1 b 2", "+OK");
    assert_int_equal(version_of(rig, "a"), 1700000000000ull << 16);
    assert_int_equal(version_of(rig, "b"), (1700000000000ull << 16) + 1);
    pass_ms(rig, 5);
    expect(rig, "SET a 3", "+OK");
    assert_int_equal(version_of(rig, "a"), 1700000000005ull << 16);
}

/* The clock of the machine may have been set back, or the node killed: versions go on rising. */
static void versions_grow_over_a_restart_with_the_clock_set_back(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SET a 1", "+OK");
    pass_ms(rig, 900);
    expect(rig, "SET b 1", "+OK");
    uint64_t last = version_of(rig, "b");
    engine_rig_close(rig);
    engine_rig_open(rig, 64 << 20);
    rig->engine.keyspace.now_ms = 1600000000000;
    expect(rig, "SET c 1", "+OK");
    assert_true(version_of(rig, "c") > last);
}

static void expired_records_are_swept_in_bounded_steps(void **state)
{
    struct engine_rig *rig = *state;
    char line[64];
    for (int i = 0; i < 25; i++) {
        snprintf(line, sizeof line, "SET key-%d v PX %d", i, 1 + i % 5);
        expect(rig, line, "+OK");
    }
    expect(rig, "SET stays v", "+OK");
    assert_int_equal(rig->engine.keyspace.usage.next_expiry_ms, 1700000000001);
    pass_ms(rig, 1000);
    assert_int_equal(keyspace_sweep(&rig->engine.keyspace, 10), 10);
    assert_int_equal(keyspace_sweep(&rig->engine.keyspace, 10), 10);
    assert_int_equal(keyspace_sweep(&rig->engine.keyspace, 10), 5);
    assert_int_equal(keyspace_sweep(&rig->engine.keyspace, 10), 0);
    expect(rig, "DBSIZE", ":1");
    assert_int_equal(rig->engine.keyspace.usage.next_expiry_ms, UINT64_MAX);
}

static void usage_is_that_of_the_last_commit(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET a 1 b 2", "+OK");
    assert_int_equal(rig->engine.keyspace.usage.key_count, 2);
    assert_in_range(rig->engine.keyspace.usage.used_bytes, 4096, 100000);
    engine_rig_close(rig);
    engine_rig_open(rig, 64 << 20);
    assert_int_equal(rig->engine.keyspace.usage.key_count, 2);
}

/* ---- a store that fails when told to ----------------------------------------------------------
 */

static const struct store_ops *real_ops;

static int failing_put(struct store *store, struct slice key, const struct record *record)
{
    return STORE_TOO_LARGE;
}

static int failing_commit(struct store *store)
{
    real_ops->abort(store);
    return STORE_DISK;
}

static void a_failure_stays_until_the_transaction_is_over(void **state)
{
    struct engine_rig *rig = *state;
    struct keyspace *keyspace = &rig->engine.keyspace;
    struct record record;
    struct store_ops ops = *rig->store->ops;
    const struct store_ops *real = rig->store->ops;
    ops.put = failing_put;
    rig->store->ops = &ops;
    assert_int_equal(keyspace_begin(keyspace, STORE_WRITE), STORE_OK);
    assert_false(keyspace_put(keyspace, key_a, value_1, 0));
    assert_int_equal(keyspace_find(keyspace, key_a, &record), STORE_TOO_LARGE);
    assert_int_equal(keyspace_begin(keyspace, STORE_READ), STORE_TOO_LARGE);
    assert_int_equal(keyspace_commit(keyspace), STORE_TOO_LARGE);
    rig->store->ops = real;
    expect(rig, "SET a 1", "+OK");
}

static void a_failed_commit_leaves_the_old_values(void **state)
{
    struct engine_rig *rig = *state;
    struct store_ops ops = *rig->store->ops;
    const struct store_ops *real = rig->store->ops;
    expect(rig, "SET a old", "+OK");
    real_ops = real;
    ops.commit = failing_commit;
    rig->store->ops = &ops;
    assert_int_equal(engine_rig_run(rig, "SET a new\r\n", 11), STORE_DISK);
    rig->store->ops = real;
    expect(rig, "GET a", "$3 old");
    assert_int_equal(rig->engine.keyspace.commits, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(a_transaction_for_reading_becomes_one_for_writing),
        rig_test(a_transaction_that_wrote_nothing_is_no_commit),
        rig_test(versions_grow_within_and_between_turns),
        rig_test(versions_grow_over_a_restart_with_the_clock_set_back),
        rig_test(expired_records_are_swept_in_bounded_steps),
        rig_test(usage_is_that_of_the_last_commit),
        rig_test(a_failure_stays_until_the_transaction_is_over),
        rig_test(a_failed_commit_leaves_the_old_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
