/*
 * The round table against a model, what it asks of its device, and what it answers to bad input,
 * damage and failing devices. Crashes: test_round_table_crash.c.
 * covers: placement/round_table_block, placement/round_table_cut
 */
#include "placement/block_memory.h"
#include "placement/fleet.h"
#include "placement/round.h"

enum { KEYS = 3000, DEVICE_BLOCKS = 4000 };

static struct cw_round_table *create(struct block_memory *memory,
                                     const struct cw_round_table_options *options)
{
    struct cw_round_table *table = NULL;
    struct cw_error error = {0};
    check(cw_round_table_create(&memory->device, options, &table, &error) == CW_OK, "%s",
          error.message);
    return table;
}

static struct cw_round_table *reopen(struct block_memory *memory, struct cw_round_table *table)
{
    struct cw_error error = {0};
    cw_round_table_close(&table);
    check(cw_round_table_open(&memory->device, &table, &error) == CW_OK, "%s", error.message);
    return table;
}

static struct cw_round_table_stats stats_of(const struct cw_round_table *table)
{
    struct cw_round_table_stats stats;
    cw_round_table_stats(table, &stats);
    return stats;
}

static void put(struct cw_round_table *table, uint64_t key, uint64_t value)
{
    int status = cw_round_table_insert(table, &key, &value);
    check(status == CW_OK, "key %llu: %s", (unsigned long long)key,
          cw_status_name((enum cw_status)status));
}

/* Keys 0 .. count-1, growing at this load. */
static void fill(struct cw_round_table *table, uint64_t count, double load)
{
    for (uint64_t key = 0; key < count; key++) {
        struct cw_round_table_stats stats = stats_of(table);
        if ((double)stats.record_count > load * stats.block_count * stats.block_capacity)
            assert_int_equal(cw_round_table_grow(table), CW_OK);
        put(table, key, key + 1);
    }
}

/* ---- laws ------------------------------------------------------------------------------------ */

static void check_against(struct cw_round_table *table, const uint64_t *values, uint64_t seed)
{
    uint64_t count = 0;
    assert_int_equal(cw_round_table_check(table), CW_OK);
    for (uint64_t key = 0; key < KEYS; key++) {
        uint64_t value = 0;
        int status = cw_round_table_find(table, &key, &value);
        check(value == values[key] && status == (value ? CW_OK : CW_ENOT_FOUND),
              "seed %llu, key %llu: %llu instead of %llu", (unsigned long long)seed,
              (unsigned long long)key, (unsigned long long)value, (unsigned long long)values[key]);
        count += value != 0;
    }
    assert_int_equal(stats_of(table).record_count, count);
}

/* A random call; what it returns is what the model says. */
static void step(struct cw_round_table *table, uint64_t *values, struct random *random,
                 unsigned insert_percent)
{
    uint64_t key = random_below(random, KEYS), value = random_next(random) | 1;
    uint64_t dice = random_below(random, 100);
    struct cw_round_table_stats before = stats_of(table);
    if (dice < insert_percent) {
        int status = cw_round_table_insert(table, &key, &value);
        assert_true(status == CW_OK || (status == CW_EFULL && !values[key] &&
                                        before.stash_count == before.stash_capacity));
        if (status == CW_OK)
            values[key] = value;
    } else if (dice < 90) {
        int status = cw_round_table_delete(table, &key);
        assert_int_equal(status, values[key] ? CW_OK : CW_ENOT_FOUND);
        values[key] = 0;
    } else {
        bool grow = dice < 90 + insert_percent / 9;
        int status = grow ? cw_round_table_grow(table) : cw_round_table_shrink(table);
        assert_true(status == CW_OK || status == CW_EFULL ||
                    (status == CW_EINVAL && !grow && before.block_count == 1));
        if (status == CW_OK)
            assert_int_equal(stats_of(table).block_count, before.block_count + (grow ? 1 : -1));
    }
}

static void check_random_calls(uint64_t seed)
{
    struct random random = {seed};
    uint64_t values[KEYS] = {0};
    struct cw_round_table_options options = {
        .key_size = 8,
        .value_size = 8,
        .base = 1u << random_below(&random, 5),
        .stash_every = (uint32_t)(1 + random_below(&random, 20)),
        .block_count = (uint32_t)(1 + random_below(&random, 40))};
    struct block_memory *memory = block_memory_create(
        128u + 16 * (uint32_t)random_below(&random, 20), DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    for (int phase = 0; phase < 6; phase++) { /* filling and emptying in turns */
        for (int i = 0; i < 3000; i++)
            step(table, values, &random, phase % 2 ? 30 : 70);
        if (phase % 3 == 1)
            table = reopen(memory, table);
        check_against(table, values, seed);
    }
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

static void random_calls_do_what_the_model_does(void **state)
{
    for_each_seed(seed, 30) check_random_calls(seed);
}

static void a_table_grows_and_shrinks_back_to_one_block(void **state)
{
    struct cw_round_table_options options = {
        .key_size = 8, .value_size = 8, .base = 4, .stash_every = 3};
    struct block_memory *memory = block_memory_create(256, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    fill(table, KEYS, 0.9);
    uint64_t left = KEYS;
    while (stats_of(table).block_count > 1) {
        struct cw_round_table_stats stats = stats_of(table);
        while (left > 0.8 * (stats.block_count - 1) * stats.block_capacity) {
            left--;
            assert_int_equal(cw_round_table_delete(table, &left), CW_OK);
        }
        assert_int_equal(cw_round_table_shrink(table), CW_OK);
        assert_int_equal(memory->size, stats_of(table).device_blocks * 256);
    }
    assert_int_equal(cw_round_table_check(table), CW_OK);
    assert_int_equal(stats_of(table).record_count, left);
    assert_int_equal(cw_round_table_shrink(table), CW_EINVAL);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

/* All keys in one 64th of the hash space: the worst that can be asked of cutting and stash. */
static void keys_that_all_fall_into_one_arc_are_kept(void **state)
{
    struct cw_round_table_options options = {
        .key_size = 8, .value_size = 0, .base = 8, .block_count = 40, .stash_every = 2};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    uint64_t keys[200], key = 0;
    size_t count = 0;
    for (; count < 200; key++)
        if (cw_hash(&key, 8) >> 58 == 5)
            keys[count++] = key;
    size_t placed = 0;
    while (placed < count && cw_round_table_insert(table, &keys[placed], NULL) == CW_OK)
        placed++;
    assert_true(placed > 160); /* the stash has 20 blocks of 8 */
    int shrunk = 0;
    while (cw_round_table_shrink(table) == CW_OK)
        shrunk++;
    assert_true(shrunk > 0);
    for (int i = 0; i < 400; i++)
        assert_int_equal(cw_round_table_grow(table), CW_OK);
    for (size_t i = 0; i < placed; i++)
        assert_int_equal(cw_round_table_find(table, &keys[i], NULL), CW_OK);
    assert_int_equal(cw_round_table_check(table), CW_OK);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

/* ---- what it asks of the device -------------------------------------------------------------- */

static void a_lookup_reads_at_most_one_block(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8, .stash_every = 3};
    struct block_memory *memory = block_memory_create(256, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    uint64_t unread = 0;
    fill(table, KEYS, 0.9);
    for (uint64_t key = 0; key < 2 * KEYS; key++) {
        uint64_t before = memory->reads, value;
        int status = cw_round_table_find(table, &key, &value);
        assert_int_equal(status, key < KEYS ? CW_OK : CW_ENOT_FOUND);
        check(memory->reads - before <= 1, "key %llu: %llu reads", (unsigned long long)key,
              (unsigned long long)(memory->reads - before));
        unread += memory->reads == before;
    }
    assert_true(unread > 0);
    assert_int_equal(unread, stats_of(table).stash_count); /* those of the stash need none */
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

static void a_change_costs_what_the_header_says(void **state)
{
    enum { COUNT = 1150 }; /* of 1200 that fit into the blocks, so that the stash is used */
    struct cw_round_table_options options = {
        .key_size = 8, .value_size = 8, .block_count = 100, .stash_every = 3};
    struct block_memory *memory = block_memory_create(256, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    for (uint64_t i = 0; i < 2 * COUNT; i++) {
        bool insert = i < COUNT;
        uint64_t key = i % COUNT;
        uint64_t reads = memory->reads, blocks = memory->blocks_written, syncs = memory->syncs;
        assert_int_equal(insert ? cw_round_table_insert(table, &key, &key)
                                : cw_round_table_delete(table, &key),
                         CW_OK);
        assert_true(memory->reads - reads <= 1);
        assert_true(memory->blocks_written - blocks <= (insert ? 2 : 4));
        assert_int_equal(memory->syncs - syncs, 1);
    }
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

/* Reads s blocks, writes s + 1 and a few of the stash, each twice: with one sync. */
static void growing_and_shrinking_touch_one_group(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8};
    struct block_memory *memory = block_memory_create(1088, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    uint64_t changed = 0, count = 0;
    fill(table, 30000, 0.85); /* 64 a block: about 550 blocks */
    for (int i = 0; i < 200; i++) {
        bool grow = i % 2 == 0 || i > 100;
        uint32_t n = stats_of(table).block_count;
        struct round smaller = round_init(n - !grow, 3);
        uint64_t reads = memory->reads, blocks = memory->blocks_written, syncs = memory->syncs;
        assert_int_equal(grow ? cw_round_table_grow(table) : cw_round_table_shrink(table), CW_OK);
        assert_int_equal(memory->reads - reads, smaller.s + !grow);
        assert_int_equal(memory->syncs - syncs, 1);
        uint64_t written = (memory->blocks_written - blocks) / 2;
        check(written >= smaller.s + grow && written <= smaller.s + grow + 8,
              "%llu blocks changed, of a group of %u", (unsigned long long)written, smaller.s);
        changed += written - smaller.s - grow;
        count++;
    }
    check(changed <= 3 * count, "%llu blocks of the stash changed in %llu calls",
          (unsigned long long)changed, (unsigned long long)count);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

/* The bytes of a table are a format: the same on every machine and in every version. */
static void the_bytes_on_the_device_are_frozen(void **state)
{
    struct cw_round_table_options options = {
        .key_size = 8, .value_size = 3, .base = 2, .stash_every = 2};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    for (unsigned i = 0; i < 60; i++) {
        char key[8] = {(char)i}, value[3] = {(char)(3 * i), 1, 2};
        assert_int_equal(cw_round_table_insert(table, key, value), CW_OK);
        if (i % 6 == 5)
            assert_int_equal(cw_round_table_grow(table), CW_OK);
        if (i % 10 == 9)
            assert_int_equal(cw_round_table_delete(table, key), CW_OK);
    }
    uint64_t hash = cw_hash(memory->bytes, memory->size);
    check(hash == 0x5f00ea54096b5ee1u, "the device hashes to %016llx", (unsigned long long)hash);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static int try_create(uint32_t block_size, struct cw_round_table_options options)
{
    struct block_memory *memory = block_memory_create(block_size, 400, false);
    struct cw_round_table *table = NULL;
    int status = cw_round_table_create(&memory->device, &options, &table, NULL);
    assert_true((status == CW_OK) == (table != NULL));
    cw_round_table_close(&table);
    block_memory_destroy(memory);
    return status;
}

static void sizes_out_of_range_are_refused(void **state)
{
    typedef struct cw_round_table_options options;
    assert_int_equal(try_create(128, (options){.key_size = 1}), CW_OK);
    assert_int_equal(try_create(128, (options){.key_size = 64}), CW_OK);
    assert_int_equal(try_create(128, (options){.key_size = 1, .value_size = 63}), CW_OK);
    assert_int_equal(try_create(128, (options){.key_size = 0, .value_size = 8}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 65}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 2, .value_size = 63}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 8, .value_size = -1u}), CW_EINVAL);
    assert_int_equal(try_create(120, (options){.key_size = 8}), CW_EINVAL);
    assert_int_equal(try_create(132, (options){.key_size = 8}), CW_EINVAL);
    assert_int_equal(try_create(65544, (options){.key_size = 8}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 8, .base = 3}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 8, .base = 128}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 8, .base = 1}), CW_OK);
    assert_int_equal(try_create(128, (options){.key_size = 8, .stash_every = 4097}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 8, .block_count = -1u}), CW_EINVAL);
    assert_int_equal(try_create(128, (options){.key_size = 8, .block_count = 1000}), CW_EIO);
}

static void a_missing_argument_is_refused(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options), *other = NULL;
    struct cw_block_device device = memory->device;
    uint64_t key = 1;
    device.sync = NULL;
    assert_int_equal(cw_round_table_create(NULL, &options, &other, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_create(&device, &options, &other, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_create(&memory->device, NULL, &other, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_create(&memory->device, &options, NULL, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_open(NULL, &other, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_open(&memory->device, NULL, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_insert(NULL, &key, &key), CW_EINVAL);
    assert_int_equal(cw_round_table_insert(table, NULL, &key), CW_EINVAL);
    assert_int_equal(cw_round_table_insert(table, &key, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_find(NULL, &key, &key), CW_EINVAL);
    assert_int_equal(cw_round_table_find(table, NULL, &key), CW_EINVAL);
    assert_int_equal(cw_round_table_delete(NULL, &key), CW_EINVAL);
    assert_int_equal(cw_round_table_delete(table, NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_grow(NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_shrink(NULL), CW_EINVAL);
    assert_int_equal(cw_round_table_check(NULL), CW_EINVAL);
    cw_round_table_close(NULL);
    cw_round_table_close(&other);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

static void a_full_table_says_so_and_takes_more_once_it_has_grown(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    for (uint64_t key = 0; key < 8; key++) /* a block and a block of the stash, 4 each */
        put(table, key, key);
    uint64_t key = 8, first = 0, value;
    assert_int_equal(cw_round_table_insert(table, &key, &key), CW_EFULL);
    assert_int_equal(cw_round_table_find(table, &key, &value), CW_ENOT_FOUND);
    put(table, first, 77); /* a value may be replaced */
    assert_int_equal(cw_round_table_grow(table), CW_OK);
    assert_int_equal(cw_round_table_shrink(table), CW_OK);
    assert_int_equal(cw_round_table_grow(table), CW_OK);
    put(table, key, key);
    assert_int_equal(cw_round_table_shrink(table), CW_EFULL);
    assert_int_equal(cw_round_table_check(table), CW_OK);
    assert_int_equal(cw_round_table_find(table, &first, &value), CW_OK);
    assert_int_equal(value, 77);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

static void a_device_without_a_table_is_refused_with_the_reason(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8};
    struct block_memory *memory = block_memory_create(256, DEVICE_BLOCKS, false);
    struct cw_round_table *table = NULL;
    struct cw_error error = {0};
    assert_int_equal(cw_round_table_open(&memory->device, &table, &error), CW_EIO); /* empty */
    assert_string_equal(error.message, "the device failed to read block 0");
    assert_int_equal(memory->device.resize(memory, 100), 0);
    assert_int_equal(cw_round_table_open(&memory->device, &table, &error), CW_ECORRUPT);
    assert_string_equal(error.message, "block 0 is not that of a round table");
    table = create(memory, &options);
    cw_round_table_close(&table);
    memory->device.block_size = 128;
    assert_int_equal(cw_round_table_open(&memory->device, &table, &error), CW_EINVAL);
    assert_string_equal(error.message, "the table has blocks of 256 bytes, the device of 128");
    assert_null(table);
    block_memory_destroy(memory);
}

/* ---- damage and failing devices -------------------------------------------------------------- */

/* Each byte in turn, while the table is closed: whatever it was, no wrong answer comes of it. What
 * is damaged in the journal or in what nobody reads may go unseen. */
static void a_damaged_byte_never_gives_a_wrong_answer(void **state)
{
    struct cw_round_table_options options = {
        .key_size = 8, .value_size = 8, .base = 2, .stash_every = 2};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, true);
    struct cw_round_table *table = create(memory, &options);
    size_t noticed = 0;
    fill(table, 40, 0.9);
    table = reopen(memory, table); /* syncs: durable is the copy */
    cw_round_table_close(&table);
    for (size_t at = 0; at < memory->size; at++) {
        memcpy(memory->bytes, memory->durable, memory->size);
        memory->bytes[at] ^= (char)(1 << at % 8);
        int opened = cw_round_table_open(&memory->device, &table, NULL);
        assert_true(opened == CW_OK || opened == CW_ECORRUPT || opened == CW_EINVAL);
        bool seen = opened != CW_OK || cw_round_table_check(table) != CW_OK;
        for (uint64_t key = 0; opened == CW_OK && key < 50; key++) {
            uint64_t value = 0;
            int status = cw_round_table_find(table, &key, &value);
            assert_true((status == CW_OK && value == key + 1 && key < 40) ||
                        (status == CW_ENOT_FOUND && key >= 40) || (status == CW_ECORRUPT && seen));
        }
        noticed += seen;
        cw_round_table_close(&table);
    }
    assert_true(noticed > 10 * 128); /* each byte of the blocks of records, at least */
    block_memory_destroy(memory);
}

static void a_read_that_fails_changes_nothing(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8, .stash_every = 2};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, false);
    struct cw_round_table *table = create(memory, &options);
    uint64_t key = 0, value, before;
    fill(table, 200, 0.7);
    do { /* until it is a key that is not in the stash */
        key++;
        before = memory->reads;
        assert_int_equal(cw_round_table_find(table, &key, &value), CW_OK);
    } while (before == memory->reads);
    int (*calls[])(struct cw_round_table *) = {cw_round_table_grow, cw_round_table_shrink,
                                               cw_round_table_check};
    for (int call = 0; call < 6; call++) {
        memory->fail_at = memory->reads + 1;
        int status = call == 0   ? cw_round_table_find(table, &key, &value)
                     : call == 1 ? cw_round_table_insert(table, &key, &value)
                     : call == 2 ? cw_round_table_delete(table, &key)
                                 : calls[call - 3](table);
        check(status == CW_EIO, "call %d: %d", call, status);
        memory->fail_at = 0;
        assert_int_equal(cw_round_table_check(table), CW_OK);
        assert_int_equal(cw_round_table_find(table, &key, &value), CW_OK);
    }
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

static void after_a_write_that_failed_the_table_is_closed_to_all_calls(void **state)
{
    struct cw_round_table_options options = {.key_size = 8, .value_size = 8};
    struct block_memory *memory = block_memory_create(128, DEVICE_BLOCKS, true);
    struct cw_round_table *table = create(memory, &options);
    struct random random = {1};
    uint64_t key = 1, value = 0;
    put(table, key, 5);
    memory->changes = 0;
    memory->cut_at = 1;
    assert_int_equal(cw_round_table_insert(table, &key, &key), CW_EIO);
    block_memory_restart(memory, SURVIVES_NOTHING, &random);
    assert_int_equal(cw_round_table_find(table, &key, &value), CW_EIO);
    assert_int_equal(cw_round_table_insert(table, &key, &key), CW_EIO);
    assert_int_equal(cw_round_table_delete(table, &key), CW_EIO);
    assert_int_equal(cw_round_table_grow(table), CW_EIO);
    assert_int_equal(cw_round_table_check(table), CW_EIO);
    table = reopen(memory, table);
    assert_int_equal(cw_round_table_find(table, &key, &value), CW_OK);
    assert_int_equal(value, 5);
    cw_round_table_close(&table);
    block_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls_do_what_the_model_does),
        cmocka_unit_test(a_table_grows_and_shrinks_back_to_one_block),
        cmocka_unit_test(keys_that_all_fall_into_one_arc_are_kept),
        cmocka_unit_test(a_lookup_reads_at_most_one_block),
        cmocka_unit_test(a_change_costs_what_the_header_says),
        cmocka_unit_test(growing_and_shrinking_touch_one_group),
        cmocka_unit_test(the_bytes_on_the_device_are_frozen),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(a_missing_argument_is_refused),
        cmocka_unit_test(a_full_table_says_so_and_takes_more_once_it_has_grown),
        cmocka_unit_test(a_device_without_a_table_is_refused_with_the_reason),
        cmocka_unit_test(a_damaged_byte_never_gives_a_wrong_answer),
        cmocka_unit_test(a_read_that_fails_changes_nothing),
        cmocka_unit_test(after_a_write_that_failed_the_table_is_closed_to_all_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
