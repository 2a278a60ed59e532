/*
 * The round table after crashes: the power is cut at every single write, sync and resize of a run,
 * and what was written since the last sync survives whole, torn, not at all, or in any sectors.
 * Every call that was acknowledged has happened, the one that was interrupted has happened or not,
 * and nothing else has.
 * covers: placement/round_table_commit
 */
#include "placement/block_memory.h"
#include "placement/fleet.h"

enum { KEYS = 96, STEPS = 160, BLOCKS_MAX = 600, BLOCK_SIZE = 128 };

/* What the table must hold. */
struct model {
    uint64_t values[KEYS]; /* 0: not there */
    uint32_t block_count;
    struct random random;
};

/* What the call that failed would have changed. */
struct in_flight {
    uint64_t key, value;
    uint32_t block_count;
    bool is_key;
};

static const struct cw_round_table_options options = {
    .key_size = 8, .value_size = 8, .base = 2, .stash_every = 3};

static int grow_or_shrink(struct model *model, struct cw_round_table *table, bool grow,
                          struct in_flight *ret_flight)
{
    uint32_t wanted = model->block_count + (grow ? 1 : -1u);
    *ret_flight = (struct in_flight){.block_count = wanted};
    int status = grow ? cw_round_table_grow(table) : cw_round_table_shrink(table);
    if (status == CW_OK)
        model->block_count = wanted;
    return status;
}

/* One random call. Anything but success, a full table and a missing key ends the run. */
static int step(struct model *model, struct cw_round_table *table, struct in_flight *ret_flight)
{
    uint64_t dice = random_below(&model->random, 100), key = random_below(&model->random, KEYS);
    uint64_t value = random_next(&model->random) | 1;
    if (dice < 12)
        return grow_or_shrink(model, table, true, ret_flight);
    if (dice < 20 && model->block_count > 1)
        return grow_or_shrink(model, table, false, ret_flight);
    *ret_flight = (struct in_flight){.key = key, .value = dice < 70 ? value : 0, .is_key = true};
    int status = dice < 70 ? cw_round_table_insert(table, &key, &value)
                           : cw_round_table_delete(table, &key);
    if (status == CW_OK)
        model->values[key] = ret_flight->value;
    return status;
}

static int run(struct model *model, struct cw_round_table *table, int steps,
               struct in_flight *ret_flight)
{
    for (int i = 0; i < steps; i++) {
        int status = step(model, table, ret_flight);
        if (status != CW_OK && status != CW_EFULL && status != CW_ENOT_FOUND)
            return status;
    }
    *ret_flight = (struct in_flight){.is_key = true, .value = model->values[0]};
    return CW_OK;
}

static bool key_is_right(struct model *model, struct cw_round_table *table, uint64_t key,
                         const struct in_flight *flight)
{
    uint64_t value = 0;
    int status = cw_round_table_find(table, &key, &value);
    if (status != CW_OK && status != CW_ENOT_FOUND)
        return false;
    if (flight->is_key && flight->key == key && value == flight->value)
        model->values[key] = value;
    return value == model->values[key];
}

/* Opens the table again; the call in flight goes into the model if it has happened. */
static bool opens_as_the_model_says(struct block_memory *memory, struct model *model,
                                    const struct in_flight *flight,
                                    struct cw_round_table **ret_table)
{
    struct cw_round_table_stats stats;
    if (cw_round_table_open(&memory->device, ret_table, NULL) != CW_OK)
        return false;
    bool ok = cw_round_table_check(*ret_table) == CW_OK;
    cw_round_table_stats(*ret_table, &stats);
    if (!flight->is_key && stats.block_count == flight->block_count)
        model->block_count = stats.block_count;
    ok = ok && stats.block_count == model->block_count;
    uint64_t count = 0;
    for (uint64_t key = 0; ok && key < KEYS; key++) {
        ok = key_is_right(model, *ret_table, key, flight);
        count += model->values[key] != 0;
    }
    return ok && stats.record_count == count;
}

/* A table that some calls have filled, and the model of it. */
static struct cw_round_table *begin(struct block_memory *memory, struct model *model, uint64_t seed)
{
    struct cw_round_table *table = NULL;
    *model = (struct model){.block_count = 1, .random = {seed}};
    assert_int_equal(cw_round_table_create(&memory->device, &options, &table, NULL), CW_OK);
    memory->changes = 0;
    return table;
}

/* Opens the table while the power may go again; true when it was open before that. */
static bool opens_in_time(struct block_memory *memory, uint64_t cut)
{
    struct cw_round_table *table = NULL;
    memory->cut_at = cut;
    bool opened = cw_round_table_open(&memory->device, &table, NULL) == CW_OK;
    memory->cut_at = 0;
    cw_round_table_close(&table);
    return opened;
}

/* Goes on after the first cut, until the next one. */
static bool goes_on(struct block_memory *memory, struct model *model, struct in_flight *flight,
                    uint64_t cut)
{
    struct cw_round_table *table = NULL;
    bool ok = opens_as_the_model_says(memory, model, flight, &table);
    memory->cut_at = memory->changes + cut;
    if (ok)
        run(model, table, 15, flight);
    cw_round_table_close(&table);
    return ok;
}

/* Runs until the power goes at change `cut`, and once or twice more: while the table is opened or
 * soon behind. *ret_cut is false when the run ended before the cut. */
static bool survives(uint64_t seed, uint64_t cut, enum survival survival, bool sync_lies,
                     bool *ret_cut)
{
    struct block_memory *memory = block_memory_create(BLOCK_SIZE, BLOCKS_MAX, true);
    struct random random = {seed * 1000003 + cut};
    struct model model;
    struct in_flight flight;
    struct cw_round_table *table = begin(memory, &model, seed);
    memory->sync_lies = sync_lies;
    memory->cut_at = cut;
    *ret_cut = run(&model, table, STEPS, &flight) != CW_OK;
    cw_round_table_close(&table);
    block_memory_restart(memory, survival, &random);
    bool ok = true;
    if (opens_in_time(memory, 1 + random_below(&random, 5)))
        ok = goes_on(memory, &model, &flight, 1 + random_below(&random, 40));
    block_memory_restart(memory, survival, &random);
    ok = ok && opens_as_the_model_says(memory, &model, &flight, &table);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
    return ok;
}

static void check_every_cut(uint64_t seed, enum survival survival)
{
    bool is_cut = true;
    uint64_t cut = 0;
    while (is_cut) {
        cut++;
        check(survives(seed, cut, survival, false, &is_cut),
              "seed %llu, cut at change %llu, survival %d", (unsigned long long)seed,
              (unsigned long long)cut, (int)survival);
    }
    assert_true(cut > 2 * STEPS); /* or the run did next to nothing */
}

static void nothing_acknowledged_is_lost_when_the_last_write_is_torn(void **state)
{
    for_each_seed(seed, 4) check_every_cut(seed, SURVIVES_TORN);
}

static void nothing_acknowledged_is_lost_when_all_writes_survive(void **state)
{
    for_each_seed(seed, 2) check_every_cut(seed, SURVIVES_ALL);
}

static void nothing_acknowledged_is_lost_when_no_unsynced_write_survives(void **state)
{
    for_each_seed(seed, 2) check_every_cut(seed, SURVIVES_NOTHING);
}

static void nothing_acknowledged_is_lost_when_any_sectors_survive(void **state)
{
    for_each_seed(seed, 6) check_every_cut(seed, SURVIVES_ANY);
}

/* A sync fails, the table is opened again on what can be read, and then the power goes. */
static bool survives_failed_sync(uint64_t seed, uint64_t sync, bool *ret_failed)
{
    struct block_memory *memory = block_memory_create(BLOCK_SIZE, BLOCKS_MAX, true);
    struct random random = {seed * 1000003 + sync};
    struct model model;
    struct in_flight flight;
    struct cw_round_table *table = begin(memory, &model, seed);
    memory->sync_fail_at = memory->syncs + sync;
    *ret_failed = run(&model, table, STEPS, &flight) != CW_OK;
    memory->sync_fail_at = 0;
    cw_round_table_close(&table);
    bool ok = goes_on(memory, &model, &flight, 1 + random_below(&random, 20));
    block_memory_restart(memory, SURVIVES_ANY, &random);
    ok = ok && opens_as_the_model_says(memory, &model, &flight, &table);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
    return ok;
}

static void a_sync_that_fails_loses_nothing_once_the_table_is_opened_again(void **state)
{
    for_each_seed(seed, 10)
    {
        bool failed = true;
        for (uint64_t sync = 1; failed; sync++)
            check(survives_failed_sync(seed, sync, &failed), "seed %llu, sync %llu",
                  (unsigned long long)seed, (unsigned long long)sync);
    }
}

/* The negative control: on a device whose sync does nothing the same check finds losses. */
static void a_sync_that_lies_is_found_out(void **state)
{
    int lost = 0;
    bool is_cut = true;
    for (uint64_t cut = 1; is_cut; cut += 7)
        lost += !survives(1, cut, SURVIVES_ANY, true, &is_cut);
    check(lost > 10, "only %d losses", lost);
}

/* A table that was never acknowledged is none, or an empty one. */
static void a_table_that_was_not_finished_is_none(void **state)
{
    for (uint64_t cut = 1;; cut++) {
        struct block_memory *memory = block_memory_create(BLOCK_SIZE, BLOCKS_MAX, true);
        struct random random = {cut};
        struct cw_round_table *table = NULL;
        struct cw_round_table_stats stats;
        memory->cut_at = cut;
        int made = cw_round_table_create(&memory->device, &options, &table, NULL);
        cw_round_table_close(&table);
        block_memory_restart(memory, SURVIVES_ANY, &random);
        int status = cw_round_table_open(&memory->device, &table, NULL);
        if (status == CW_OK) {
            cw_round_table_stats(table, &stats);
            assert_int_equal(stats.record_count, 0);
            assert_int_equal(cw_round_table_check(table), CW_OK);
        } else {
            assert_true(made != CW_OK);
            assert_true(status == CW_ECORRUPT || status == CW_EIO);
        }
        cw_round_table_close(&table);
        block_memory_destroy(memory);
        if (made == CW_OK)
            break;
        assert_true(cut < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost_when_the_last_write_is_torn),
        cmocka_unit_test(nothing_acknowledged_is_lost_when_all_writes_survive),
        cmocka_unit_test(nothing_acknowledged_is_lost_when_no_unsynced_write_survives),
        cmocka_unit_test(nothing_acknowledged_is_lost_when_any_sectors_survive),
        cmocka_unit_test(a_sync_that_fails_loses_nothing_once_the_table_is_opened_again),
        cmocka_unit_test(a_sync_that_lies_is_found_out),
        cmocka_unit_test(a_table_that_was_not_finished_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
