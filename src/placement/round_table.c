/*
 * The round table: external-memory hashing with one read a lookup, after Grossi and Versari,
 * "Round-Hashing for Data Storage: Distributed Servers and External-Memory Tables" (ESA 2018). The
 * paper places blocks by round-hashing (round.h) as others place servers, and keeps the records
 * whose block is full in a stash in memory. How the stash is kept and what survives a crash is
 * ours: round_table_stash.c, round_table_commit.c.
 *
 * Law: a record lies in the block that round-hashing gives to its key's hash, or in the stash,
 * never in both; a lookup reads at most one block, and none for a key in the stash. A block of
 * capacity B gets at most 1 + 1/S of its share, S being the base, so the stash holds the sum of
 * what Poisson numbers of that mean exceed B by: below 1 % of the records at B = 64, S = 8 and a
 * load of 0.85.
 *
 * Cost: insert and delete read one block and write one or two, each twice (journal and place), with
 * one sync. To grow or shrink by a block rewrites one group of S to 2S blocks. Memory: the stash,
 * 16 bytes for each of its records, and 6S + 16 blocks to work in. A change of the stash takes time
 * in proportion to its records.
 *
 * Rejected: linear hashing (S = 1), whose stash is nine times larger; a directory from block number
 * to place, which would make copy-on-write simple and every lookup a reader of the directory; the
 * overflow of a block in its neighbours, which would have to be searched in the whole file when it
 * is opened.
 */
#include "placement/round_table.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>

/* ---- lifecycle ------------------------------------------------------------------------------- */

static bool device_is_valid(const struct cw_block_device *device)
{
    return device && device->read && device->write && device->sync && device->resize &&
           device->block_size >= CW_BLOCK_SIZE_MIN && device->block_size <= CW_BLOCK_SIZE_MAX &&
           device->block_size % 8 == 0;
}

void cw_round_table_close(struct cw_round_table **table)
{
    if (!table || !*table)
        return;
    stash_release(&(*table)->stash);
    free((*table)->images);
    free((*table)->old_blocks);
    free(*table);
    *table = NULL;
}

/* A table of that shape in memory; nothing is read or written. */
static struct cw_round_table *make_table(const struct cw_block_device *device,
                                         const struct shape *shape)
{
    struct cw_round_table *table = memory_alloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->device = *device;
    table->shape = *shape;
    table->images = memory_alloc(shape->image_max, shape->block_size);
    table->old_blocks = memory_alloc(2u << shape->base_bits, shape->block_size);
    if (!table->images || !table->old_blocks)
        cw_round_table_close(&table);
    return table;
}

static int shape_of(const struct cw_block_device *device,
                    const struct cw_round_table_options *options, struct shape *ret_shape)
{
    uint32_t base = options->base ? options->base : CW_ROUND_TABLE_BASE;
    if (base & (base - 1))
        return CW_EINVAL;
    *ret_shape = (struct shape){.block_size = device->block_size,
                                .key_size = options->key_size,
                                .value_size = options->value_size,
                                .base_bits = (uint32_t)__builtin_ctz(base),
                                .stash_every = options->stash_every ? options->stash_every
                                                                    : CW_ROUND_TABLE_STASH_EVERY};
    return shape_complete(ret_shape);
}

/* Writes block 0: with the shape, or such that the device holds no table. */
static int write_superblock(struct cw_round_table *table, const struct shape *shape)
{
    const struct cw_block_device *device = &table->device;
    memset(table->images, 0, table->shape.block_size);
    if (shape)
        shape_write(shape, table->images);
    if (device->write(device->context, 0, 1, table->images) || device->sync(device->context))
        return CW_EIO;
    return CW_OK;
}

/* Block 0 says that there is a table only when all of it is there. */
static int write_new_table(struct cw_round_table *table, uint32_t block_count)
{
    const struct cw_block_device *device = &table->device;
    if (device->resize(device->context, device_block_count(&table->shape, block_count)))
        return CW_EIO;
    int status = write_superblock(table, NULL);
    table->state.block_count = block_count;
    for (uint32_t number = 0; status == CW_OK && number < block_count; number++)
        status = commit_write_empty(table, number);
    if (status == CW_OK)
        status = commit_first(table);
    if (status == CW_OK)
        status = write_superblock(table, &table->shape);
    return status;
}

int cw_round_table_create(const struct cw_block_device *device,
                          const struct cw_round_table_options *options,
                          struct cw_round_table **ret_table, struct cw_error *error)
{
    struct shape shape;
    if (!device_is_valid(device) || !options || !ret_table)
        return error_set(error, CW_EINVAL, "a round table needs a device and options");
    if (shape_of(device, options, &shape) != CW_OK)
        return error_set(error, CW_EINVAL,
                         "a round table needs a base that is a power of two up to %u, and a key "
                         "that fits with its value into %u bytes",
                         CW_ROUND_TABLE_BASE_MAX, device->block_size - BLOCK_HEADER_SIZE);
    if (options->block_count > CW_ROUND_TABLE_BLOCK_COUNT_MAX)
        return error_set(error, CW_EINVAL, "a round table has at most %u blocks",
                         CW_ROUND_TABLE_BLOCK_COUNT_MAX);
    struct cw_round_table *table = make_table(device, &shape);
    if (!table)
        return error_no_memory(error);
    int status = write_new_table(table, options->block_count ? options->block_count : 1);
    if (status != CW_OK) {
        cw_round_table_close(&table);
        return error_set(error, (enum cw_status)status, "the device failed to write a new table");
    }
    *ret_table = table;
    return CW_OK;
}

/* Reads block 0 of a device. */
static int read_shape(const struct cw_block_device *device, struct shape *ret_shape,
                      struct cw_error *error)
{
    char *superblock = memory_alloc(1, device->block_size);
    if (!superblock)
        return error_no_memory(error);
    int failed = device->read(device->context, 0, superblock);
    int status = failed ? CW_EIO : shape_read(superblock, ret_shape);
    free(superblock);
    if (failed)
        return error_set(error, CW_EIO, "the device failed to read block 0");
    if (status != CW_OK)
        return error_set(error, CW_ECORRUPT, "block 0 is not that of a round table");
    if (ret_shape->block_size != device->block_size)
        return error_set(error, CW_EINVAL, "the table has blocks of %u bytes, the device of %u",
                         ret_shape->block_size, device->block_size);
    return CW_OK;
}

static int explain_open(struct cw_error *error, int status)
{
    const char *reason = status == CW_ENOMEM ? "out of memory"
                         : status == CW_EIO  ? "the device failed to read or write"
                                             : "the journal or a block of the stash is damaged";
    return error_set(error, (enum cw_status)status, "%s", reason);
}

int cw_round_table_open(const struct cw_block_device *device, struct cw_round_table **ret_table,
                        struct cw_error *error)
{
    struct shape shape;
    if (!device_is_valid(device) || !ret_table)
        return error_set(error, CW_EINVAL, "a round table needs a device");
    int status = read_shape(device, &shape, error);
    if (status != CW_OK)
        return status;
    struct cw_round_table *table = make_table(device, &shape);
    if (!table)
        return error_no_memory(error);
    status = commit_recover(table);
    if (status == CW_OK)
        status = stash_load(table);
    if (status != CW_OK) {
        cw_round_table_close(&table);
        return explain_open(error, status);
    }
    *ret_table = table;
    return CW_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

int cw_round_table_find(struct cw_round_table *table, const void *key, void *ret_value)
{
    if (!table || !key)
        return CW_EINVAL;
    if (table->broken)
        return CW_EIO;
    const struct shape *shape = &table->shape;
    uint64_t hash = cw_hash(key, shape->key_size);
    const struct stash_entry *entry = stash_find(table, hash, key);
    char *block = entry ? stash_block(table, entry->block) : table->images;
    if (!entry) {
        int status = device_read_block(table, BLOCK_OF_TABLE, round_locate(&table->round, hash),
                                       block);
        if (status != CW_OK)
            return status;
    }
    uint32_t index = entry ? entry->index : block_find(shape, block, key);
    if (index == block_records(block))
        return CW_ENOT_FOUND;
    if (ret_value)
        memcpy(ret_value, block_record(shape, block, index) + shape->key_size, shape->value_size);
    return CW_OK;
}

/* Begins a commit whose first image is the block that has the key: of the stash, or the one that
 * its hash belongs to, whether it is there or not. */
static int begin_with_block(struct cw_round_table *table, uint64_t hash, const void *key,
                            char **ret_block)
{
    commit_begin(table);
    const struct stash_entry *entry = stash_find(table, hash, key);
    if (entry) {
        *ret_block = commit_stash_block(table, entry->block);
        return CW_OK;
    }
    *ret_block = commit_add(table);
    return device_read_block(table, BLOCK_OF_TABLE, round_locate(&table->round, hash), *ret_block);
}

/* The block is full: the commit changes the stash instead. */
static int insert_into_stash(struct cw_round_table *table, const void *key, const void *value)
{
    commit_begin(table);
    table->next.record_count++;
    int status = stash_place(table, key, value,
                             stash_block_count(&table->shape, table->state.block_count));
    return status == CW_OK ? commit_run(table) : status;
}

int cw_round_table_insert(struct cw_round_table *table, const void *key, const void *value)
{
    if (!table || !key || (!value && table->shape.value_size > 0))
        return CW_EINVAL;
    if (table->broken)
        return CW_EIO;
    const struct shape *shape = &table->shape;
    char *block;
    int status = begin_with_block(table, cw_hash(key, shape->key_size), key, &block);
    if (status != CW_OK)
        return status;
    uint32_t index = block_find(shape, block, key);
    if (index < block_records(block)) {
        if (value)
            memcpy(block_record(shape, block, index) + shape->key_size, value, shape->value_size);
        return commit_run(table);
    }
    if (block_records(block) == shape->block_capacity)
        return insert_into_stash(table, key, value);
    block_append(shape, block, key, value);
    table->next.record_count++;
    return commit_run(table);
}

/* A block of records has room for one of its own in the stash. */
static void pull_one(struct cw_round_table *table, char *block)
{
    const struct stash *stash = &table->stash;
    uint64_t first = 0, last = UINT64_MAX;
    if (table->state.block_count > 1)
        round_range(&table->round, block_number(block), &first, &last);
    size_t i = stash_lower_bound(stash, first);
    if (i < stash->count && stash->entries[i].hash <= last)
        stash_take(table, &stash->entries[i], block);
}

int cw_round_table_delete(struct cw_round_table *table, const void *key)
{
    if (!table || !key)
        return CW_EINVAL;
    if (table->broken)
        return CW_EIO;
    const struct shape *shape = &table->shape;
    char *block;
    int status = begin_with_block(table, cw_hash(key, shape->key_size), key, &block);
    if (status != CW_OK)
        return status;
    uint32_t index = block_find(shape, block, key);
    if (index == block_records(block))
        return CW_ENOT_FOUND;
    block_remove(shape, block, index);
    table->next.record_count--;
    if (block_kind(block) == BLOCK_OF_TABLE)
        pull_one(table, block);
    return commit_run(table);
}

/* ---- growing and shrinking ------------------------------------------------------------------- */

int cw_round_table_grow(struct cw_round_table *table)
{
    if (!table || table->state.block_count == CW_ROUND_TABLE_BLOCK_COUNT_MAX)
        return CW_EINVAL;
    if (table->broken)
        return CW_EIO;
    const struct cw_block_device *device = &table->device;
    if (device->resize(device->context,
                       device_block_count(&table->shape, table->state.block_count + 1)))
        return CW_EIO; /* nothing has changed */
    return cut_group(table, true);
}

/* Moves what one commit can out of the last block of the stash. */
static int move_out_of_last(struct cw_round_table *table, uint32_t limit)
{
    const struct shape *shape = &table->shape;
    commit_begin(table);
    char *last = commit_stash_block(table, table->state.stash_used - 1);
    uint32_t before = block_records(last);
    while (block_records(last) > 0) {
        const char *record = block_record(shape, last, block_records(last) - 1);
        if (stash_place(table, record, record + shape->key_size, limit) != CW_OK)
            break;
        block_remove(shape, last, block_records(last) - 1);
    }
    return block_records(last) == before ? CW_EFULL : commit_run(table);
}

int cw_round_table_shrink(struct cw_round_table *table)
{
    if (!table || table->state.block_count == 1)
        return CW_EINVAL;
    if (table->broken)
        return CW_EIO;
    uint32_t limit = stash_block_count(&table->shape, table->state.block_count - 1);
    int status = CW_OK;
    while (status == CW_OK && table->state.stash_used > limit)
        status = move_out_of_last(table, limit);
    if (status == CW_OK)
        status = cut_group(table, false);
    if (status != CW_OK)
        return status;
    /* Should the device not give the room back, the table is no worse for it. */
    const struct cw_block_device *device = &table->device;
    (void)device->resize(device->context,
                         device_block_count(&table->shape, table->state.block_count));
    return CW_OK;
}

/* ---- inspection ------------------------------------------------------------------------------ */

void cw_round_table_stats(const struct cw_round_table *table,
                          struct cw_round_table_stats *ret_stats)
{
    if (!table || !ret_stats)
        return;
    const struct shape *shape = &table->shape;
    const struct stash *stash = &table->stash;
    uint32_t stash_blocks = stash_block_count(shape, table->state.block_count);
    *ret_stats = (struct cw_round_table_stats){
        .record_count = table->state.record_count,
        .stash_count = stash->count,
        .stash_capacity = (uint64_t)stash_blocks * shape->block_capacity,
        .block_count = table->state.block_count,
        .block_capacity = shape->block_capacity,
        .device_blocks = device_block_count(shape, table->state.block_count),
        .memory = sizeof *table +
                  (shape->image_max + (2u << shape->base_bits) + stash->block_capacity) *
                      (size_t)shape->block_size +
                  (stash->entry_capacity + stash->fresh_capacity) * sizeof *stash->entries};
}

/* A block's records belong to it, are distinct, and are not in the stash. */
static bool records_are_right(struct cw_round_table *table, char *block)
{
    const struct shape *shape = &table->shape;
    for (uint32_t i = 0; i < block_records(block); i++) {
        const char *record = block_record(shape, block, i);
        uint64_t hash = record_hash(shape, record);
        if (round_locate(&table->round, hash) != block_number(block) ||
            block_find(shape, block, record) != i || stash_find(table, hash, record))
            return false;
    }
    return true;
}

/* Each entry of the stash is the one that its key finds. */
static bool stash_is_right(struct cw_round_table *table)
{
    const struct stash *stash = &table->stash;
    for (size_t i = 0; i < stash->count; i++) {
        const struct stash_entry *entry = &stash->entries[i];
        const char *record = block_record(&table->shape, stash_block(table, entry->block),
                                          entry->index);
        if (record_hash(&table->shape, record) != entry->hash ||
            stash_find(table, entry->hash, record) != entry)
            return false;
    }
    return true;
}

int cw_round_table_check(struct cw_round_table *table)
{
    if (!table)
        return CW_EINVAL;
    if (table->broken)
        return CW_EIO;
    uint64_t count = table->stash.count;
    if (!stash_is_right(table))
        return CW_ECORRUPT;
    for (uint32_t number = 0; number < table->state.block_count; number++) {
        int status = device_read_block(table, BLOCK_OF_TABLE, number, table->images);
        if (status != CW_OK)
            return status;
        if (!records_are_right(table, table->images))
            return CW_ECORRUPT;
        count += block_records(table->images);
    }
    return count == table->state.record_count ? CW_OK : CW_ECORRUPT;
}
