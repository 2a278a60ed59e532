/*
 * The round table's commits: several blocks change at once, or none does.
 *
 * A commit writes the images of all blocks that it changes into one half of the journal, syncs, and
 * writes the same images to their places. Commits take the halves in turn, so one sync each is
 * enough: the sync of commit n also makes sure of what n - 1 wrote in place, before n + 1 may
 * overwrite the half of n - 1. After a crash a half is valid if all its images are of one commit
 * (each carries the sum of all of them) and undamaged; at most one, the one being written, is not.
 * Writing the older valid half and then the newer one again gives the table as of the newer.
 *
 * A half may be valid without ever having been acknowledged; then that call has happened. It may
 * also show the commit before the last but one again, when the crash came before its first block
 * was overwritten: then both halves are in place already, and writing them again changes nothing.
 */
#include "placement/round_table.h"

uint32_t stash_block_count(const struct shape *shape, uint32_t block_count)
{
    return (block_count + shape->stash_every - 1) / shape->stash_every;
}

static uint64_t journal_half(const struct shape *shape, uint64_t sequence)
{
    return 1 + (sequence & 1) * shape->image_max;
}

static uint64_t position(const struct shape *shape, enum block_kind kind, uint32_t number)
{
    uint64_t start = 1 + 2 * (uint64_t)shape->image_max;
    if (kind == BLOCK_OF_STASH)
        return start + (uint64_t)number * (shape->stash_every + 1);
    return start + number + number / shape->stash_every + 1;
}

uint64_t device_block_count(const struct shape *shape, uint32_t block_count)
{
    return position(shape, BLOCK_OF_TABLE, block_count - 1) + 1;
}

char *commit_image(const struct cw_round_table *table, uint32_t i)
{
    return table->images + (size_t)i * table->shape.block_size;
}

int device_read_block(struct cw_round_table *table, enum block_kind kind, uint32_t number,
                      char *ret_block)
{
    const struct cw_block_device *device = &table->device;
    if (device->read(device->context, position(&table->shape, kind, number), ret_block))
        return CW_EIO;
    if (!block_is_sound(&table->shape, ret_block) || block_kind(ret_block) != kind ||
        block_number(ret_block) != number)
        return CW_ECORRUPT;
    return CW_OK;
}

/* ---- making a commit ------------------------------------------------------------------------- */

void commit_begin(struct cw_round_table *table)
{
    table->image_count = 0;
    table->next = table->state;
    table->next.sequence++;
}

char *commit_add(struct cw_round_table *table)
{
    return commit_image(table, table->image_count++);
}

char *commit_find_stash_block(const struct cw_round_table *table, uint32_t number)
{
    for (uint32_t i = 0; i < table->image_count; i++) {
        char *block = commit_image(table, i);
        if (block_kind(block) == BLOCK_OF_STASH && block_number(block) == number)
            return block;
    }
    return NULL;
}

static uint32_t count_stash_images(const struct cw_round_table *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->image_count; i++)
        count += block_kind(commit_image(table, i)) == BLOCK_OF_STASH;
    return count;
}

char *commit_stash_block(struct cw_round_table *table, uint32_t number)
{
    char *block = commit_find_stash_block(table, number);
    if (block)
        return block;
    if (count_stash_images(table) == table->shape.stash_image_max)
        return NULL;
    block = commit_add(table);
    if (number < table->state.stash_used)
        memcpy(block, stash_block(table, number), table->shape.block_size);
    else
        block_clear(&table->shape, block, BLOCK_OF_STASH, number);
    if (number == table->next.stash_used)
        table->next.stash_used++;
    return block;
}

/* Blocks at the end of the stash that the commit leaves empty need not be read any more. */
static void trim_stash(struct cw_round_table *table)
{
    for (; table->next.stash_used > 0; table->next.stash_used--) {
        uint32_t last = table->next.stash_used - 1;
        const char *block = commit_find_stash_block(table, last);
        if (block_records(block ? block : stash_block(table, last)) > 0)
            return;
    }
}

/* Tells a commit from every other, one of the same sequence before a crash included. */
static uint64_t sum_of_images(const struct cw_round_table *table)
{
    char sums[IMAGES_MAX * 8];
    for (uint32_t i = 0; i < table->image_count; i++)
        block_put(sums, 8 * i, 8, block_body_sum(&table->shape, commit_image(table, i)));
    return cw_hash(sums, (size_t)table->image_count * 8);
}

static void seal_images(struct cw_round_table *table)
{
    for (uint32_t i = 0; i < table->image_count; i++) {
        char *block = commit_image(table, i);
        block_put(block, BLOCK_SEQUENCE, 8, table->next.sequence);
        block_put(block, BLOCK_TABLE_RECORDS, 8, table->next.record_count);
        block_put(block, BLOCK_TABLE_BLOCKS, 4, table->next.block_count);
        block_put(block, BLOCK_TABLE_STASH_USED, 4, table->next.stash_used);
        block_put(block, BLOCK_IMAGE_INDEX, 2, i);
        block_put(block, BLOCK_IMAGE_COUNT, 2, table->image_count);
    }
    uint64_t sum = sum_of_images(table);
    for (uint32_t i = 0; i < table->image_count; i++) {
        char *block = commit_image(table, i);
        block_put(block, BLOCK_COMMIT_SUM, 8, sum);
        block_put(block, BLOCK_CHECKSUM, 8, block_checksum(&table->shape, block));
    }
}

static int write_journal(struct cw_round_table *table)
{
    const struct cw_block_device *device = &table->device;
    uint64_t half = journal_half(&table->shape, table->next.sequence);
    if (device->write(device->context, half, table->image_count, table->images) ||
        device->sync(device->context))
        return CW_EIO;
    return CW_OK;
}

/* Those that the table of this state has: after a block was taken away the commit before may have
 * changed it still. */
static int write_in_place(struct cw_round_table *table, const struct table_state *state)
{
    const struct cw_block_device *device = &table->device;
    for (uint32_t i = 0; i < table->image_count; i++) {
        enum block_kind kind = block_kind(commit_image(table, i));
        uint32_t number = block_number(commit_image(table, i));
        if (number >= (kind == BLOCK_OF_STASH ? state->stash_used : state->block_count))
            continue;
        if (device->write(device->context, position(&table->shape, kind, number), 1,
                          commit_image(table, i)))
            return CW_EIO;
    }
    return CW_OK;
}

int commit_run(struct cw_round_table *table)
{
    int status = stash_reserve(table);
    if (status != CW_OK)
        return status;
    trim_stash(table);
    seal_images(table);
    status = write_journal(table);
    if (status == CW_OK)
        status = write_in_place(table, &table->next);
    if (status != CW_OK) {
        table->broken = true;
        return status;
    }
    table->state = table->next;
    table->round = round_init(table->state.block_count, table->shape.base_bits);
    stash_apply(table);
    return CW_OK;
}

/* ---- a new table ----------------------------------------------------------------------------- */

int commit_write_empty(struct cw_round_table *table, uint32_t number)
{
    commit_begin(table);
    block_clear(&table->shape, commit_add(table), BLOCK_OF_TABLE, number);
    seal_images(table);
    return write_in_place(table, &table->next);
}

int commit_first(struct cw_round_table *table)
{
    const struct cw_block_device *device = &table->device;
    memset(table->images, 0, table->shape.block_size);
    for (uint64_t sequence = 0; sequence < 2; sequence++)
        if (device->write(device->context, journal_half(&table->shape, sequence), 1, table->images))
            return CW_EIO;
    commit_begin(table);
    block_clear(&table->shape, commit_add(table), BLOCK_OF_TABLE, 0);
    return commit_run(table);
}

/* ---- after a crash --------------------------------------------------------------------------- */

static struct table_state state_of_image(const char *block)
{
    return (struct table_state){
        .sequence = block_get(block, BLOCK_SEQUENCE, 8),
        .record_count = block_get(block, BLOCK_TABLE_RECORDS, 8),
        .block_count = (uint32_t)block_get(block, BLOCK_TABLE_BLOCKS, 4),
        .stash_used = (uint32_t)block_get(block, BLOCK_TABLE_STASH_USED, 4),
    };
}

/* Image i of a commit, after image 0 of it. */
static bool image_belongs(const struct cw_round_table *table, uint32_t i, uint64_t half)
{
    const char *block = commit_image(table, i), *first = commit_image(table, 0);
    uint64_t count = block_get(first, BLOCK_IMAGE_COUNT, 2);
    return block_is_sound(&table->shape, block) && count > 0 && count <= table->shape.image_max &&
           (block_get(block, BLOCK_SEQUENCE, 8) & 1) == half &&
           block_get(block, BLOCK_IMAGE_INDEX, 2) == i &&
           block_get(block, BLOCK_COMMIT_SUM, 8) == block_get(first, BLOCK_COMMIT_SUM, 8);
}

/* Reads the commit in a half of the journal into the images: none when it is not whole. */
static int read_half(struct cw_round_table *table, uint64_t half)
{
    const struct cw_block_device *device = &table->device;
    uint32_t count = 1;
    table->image_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (device->read(device->context, journal_half(&table->shape, half) + i,
                         commit_image(table, i)))
            return CW_EIO;
        if (!image_belongs(table, i, half))
            return CW_OK;
        count = (uint32_t)block_get(table->images, BLOCK_IMAGE_COUNT, 2);
    }
    table->image_count = count;
    return CW_OK;
}

/* The half itself is written again too, with the same bytes: after a sync that failed the system
 * may show what it has dropped, and what is on the disk is something else. */
static int replay_half(struct cw_round_table *table, uint64_t half)
{
    const struct cw_block_device *device = &table->device;
    int status = read_half(table, half);
    if (status != CW_OK || table->image_count == 0)
        return status;
    if (device->write(device->context, journal_half(&table->shape, half), table->image_count,
                      table->images))
        return CW_EIO;
    return write_in_place(table, &table->state);
}

static bool state_is_possible(const struct shape *shape, const struct table_state *state)
{
    if (state->block_count == 0 || state->block_count > CW_ROUND_TABLE_BLOCK_COUNT_MAX)
        return false;
    uint32_t stash = stash_block_count(shape, state->block_count);
    return state->stash_used <= stash &&
           state->record_count <= ((uint64_t)state->block_count + stash) * shape->block_capacity;
}

/* The state after the last commit; *ret_last is the half that has it. */
static int find_last_commit(struct cw_round_table *table, uint64_t *ret_last)
{
    struct table_state states[2] = {{0}, {0}};
    for (uint64_t half = 0; half < 2; half++) {
        int status = read_half(table, half);
        if (status != CW_OK)
            return status;
        if (table->image_count > 0)
            states[half] = state_of_image(table->images);
    }
    uint64_t last = states[1].sequence > states[0].sequence;
    const struct table_state *found = &states[last], *other = &states[!last];
    if (found->sequence == 0 || (other->sequence && other->sequence + 1 != found->sequence) ||
        !state_is_possible(&table->shape, found))
        return CW_ECORRUPT;
    table->state = *found;
    *ret_last = last;
    return CW_OK;
}

int commit_recover(struct cw_round_table *table)
{
    const struct cw_block_device *device = &table->device;
    uint64_t last;
    int status = find_last_commit(table, &last);
    if (status == CW_OK)
        status = replay_half(table, !last);
    if (status == CW_OK)
        status = replay_half(table, last);
    /* The next commit overwrites the older half. */
    if (status == CW_OK && device->sync(device->context))
        status = CW_EIO;
    table->round = round_init(table->state.block_count, table->shape.base_bits);
    return status;
}
