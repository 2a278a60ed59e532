/*
 * The round table's stash: what does not fit into its block. All of it is in memory, so that a
 * lookup knows without reading whether a key is there, and all of it is in blocks of its own on the
 * device, so that opening a table reads those and no others.
 *
 * A record may lie in any block of the stash. It goes into the one of its part of the hash space
 * while that has room: the records that a group pulls back when it is cut are then in one or two
 * blocks, and cutting it writes few of them.
 */
#include "placement/round_table.h"

#include "placement/memory.h"

#include <stdlib.h>

char *stash_block(const struct cw_round_table *table, uint32_t number)
{
    return table->stash.blocks + (size_t)number * table->shape.block_size;
}

void stash_release(struct stash *stash)
{
    free(stash->blocks);
    free(stash->entries);
    free(stash->fresh);
    *stash = (struct stash){0};
}

/* ---- finding --------------------------------------------------------------------------------- */

size_t stash_lower_bound(const struct stash *stash, uint64_t hash)
{
    size_t low = 0, count = stash->count;
    while (count > 0) {
        size_t half = count / 2;
        if (stash->entries[low + half].hash < hash) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static const char *entry_record(const struct cw_round_table *table, const struct stash_entry *entry)
{
    return block_record(&table->shape, stash_block(table, entry->block), entry->index);
}

const struct stash_entry *stash_find(struct cw_round_table *table, uint64_t hash, const void *key)
{
    const struct stash *stash = &table->stash;
    for (size_t i = stash_lower_bound(stash, hash);
         i < stash->count && stash->entries[i].hash == hash; i++)
        if (memcmp(entry_record(table, &stash->entries[i]), key, table->shape.key_size) == 0)
            return &stash->entries[i];
    return NULL;
}

/* ---- changing, in the images of a commit ----------------------------------------------------- */

static bool has_room(const struct cw_round_table *table, uint32_t number)
{
    const char *block = commit_find_stash_block(table, number);
    if (!block && number >= table->state.stash_used)
        return true;
    return block_records(block ? block : stash_block(table, number)) < table->shape.block_capacity;
}

/* The block for a hash when the stash is cut evenly into so many that they are half full: a power
 * of two, so that most records stay where they belong when it doubles. */
static uint32_t preferred_block(const struct cw_round_table *table, uint64_t hash, uint32_t limit)
{
    uint64_t wanted = table->stash.count * 2 / table->shape.block_capacity, parts = 1;
    while (parts < wanted && 2 * parts <= limit)
        parts *= 2;
    uint64_t number = mix_high(hash, parts);
    return number < table->next.stash_used ? (uint32_t)number : table->next.stash_used;
}

/* A block with room that the commit can still change, or CW_EFULL. */
static char *choose_block(struct cw_round_table *table, uint64_t hash, uint32_t limit)
{
    uint32_t number = preferred_block(table, hash, limit);
    char *block = number < limit && has_room(table, number) ? commit_stash_block(table, number)
                                                            : NULL;
    for (uint32_t i = 0; !block && i < table->image_count; i++) {
        char *image = commit_image(table, i);
        if (block_kind(image) == BLOCK_OF_STASH && block_number(image) < limit &&
            block_records(image) < table->shape.block_capacity)
            block = image;
    }
    for (number = table->stash.first_room;
         !block && number < limit && number <= table->next.stash_used; number++)
        if (has_room(table, number))
            return commit_stash_block(table, number);
    return block;
}

int stash_place(struct cw_round_table *table, const char *key, const char *value, uint32_t limit)
{
    char *block = choose_block(table, cw_hash(key, table->shape.key_size), limit);
    if (!block)
        return CW_EFULL;
    block_append(&table->shape, block, key, value);
    return CW_OK;
}

bool stash_take(struct cw_round_table *table, const struct stash_entry *entry, char *image)
{
    char *block = commit_stash_block(table, entry->block);
    if (!block)
        return false;
    const char *record = entry_record(table, entry);
    block_append(&table->shape, image, record, record + table->shape.key_size);
    block_remove(&table->shape, block, block_find(&table->shape, block, record));
    return true;
}

/* ---- taking the images over ------------------------------------------------------------------ */

/* Room for so many things of that size; what is there stays. */
static bool make_room(void **things, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return true;
    size_t wanted = count + count / 2, bytes;
    if (__builtin_mul_overflow(wanted, size, &bytes))
        return false;
    void *moved = memory_resize(*things, bytes);
    if (!moved)
        return false;
    *things = moved;
    *capacity = wanted;
    return true;
}

static int reserve(struct cw_round_table *table, size_t block_count, size_t fresh_count)
{
    struct stash *stash = &table->stash;
    void *blocks = stash->blocks, *entries = stash->entries, *fresh = stash->fresh;
    bool ok = make_room(&blocks, &stash->block_capacity, block_count, table->shape.block_size);
    stash->blocks = blocks;
    ok = ok && make_room(&entries, &stash->entry_capacity, stash->count + fresh_count,
                         sizeof *stash->entries);
    stash->entries = entries;
    ok = ok && make_room(&fresh, &stash->fresh_capacity, fresh_count, sizeof *stash->fresh);
    stash->fresh = fresh;
    return ok ? CW_OK : CW_ENOMEM;
}

int stash_reserve(struct cw_round_table *table)
{
    size_t fresh_count = 0;
    for (uint32_t i = 0; i < table->image_count; i++)
        if (block_kind(commit_image(table, i)) == BLOCK_OF_STASH)
            fresh_count += block_records(commit_image(table, i));
    return reserve(table, table->next.stash_used, fresh_count);
}

static int compare_entries(const void *left, const void *right)
{
    const struct stash_entry *a = left, *b = right;
    return (a->hash > b->hash) - (a->hash < b->hash);
}

static void sort_entries(struct stash_entry *entries, size_t count)
{
    if (count > 0) /* or there may be no array */
        qsort(entries, count, sizeof *entries, compare_entries);
}

/* The numbers of the blocks of the stash that the commit changes. */
static uint32_t list_changed_blocks(const struct cw_round_table *table, uint32_t *ret_numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->image_count; i++)
        if (block_kind(commit_image(table, i)) == BLOCK_OF_STASH)
            ret_numbers[count++] = block_number(commit_image(table, i));
    return count;
}

static void drop_entries_of(struct stash *stash, const uint32_t *numbers, uint32_t number_count)
{
    size_t kept = 0;
    for (size_t i = 0; i < stash->count; i++) {
        bool drop = false;
        for (uint32_t n = 0; n < number_count; n++)
            drop |= stash->entries[i].block == numbers[n];
        stash->entries[kept] = stash->entries[i];
        kept += !drop;
    }
    stash->count = kept;
}

static size_t list_records(const struct shape *shape, char *block, struct stash_entry *ret_entries)
{
    uint32_t count = block_records(block);
    for (uint32_t i = 0; i < count; i++)
        ret_entries[i] = (struct stash_entry){record_hash(shape, block_record(shape, block, i)),
                                              block_number(block), i};
    return count;
}

/* From the back, so that it needs no more room than the result. */
static void merge_fresh(struct stash *stash, size_t fresh_count)
{
    size_t kept = stash->count, fresh = fresh_count;
    stash->count += fresh_count;
    for (size_t to = stash->count; fresh > 0;) {
        bool is_kept = kept > 0 && stash->entries[kept - 1].hash > stash->fresh[fresh - 1].hash;
        stash->entries[--to] = is_kept ? stash->entries[--kept] : stash->fresh[--fresh];
    }
}

static void take_over(struct cw_round_table *table, const char *image)
{
    struct stash *stash = &table->stash;
    uint32_t number = block_number(image);
    memcpy(stash_block(table, number), image, table->shape.block_size);
    if (number < stash->first_room && block_records(image) < table->shape.block_capacity)
        stash->first_room = number;
}

void stash_apply(struct cw_round_table *table)
{
    struct stash *stash = &table->stash;
    uint32_t numbers[IMAGES_MAX], number_count = list_changed_blocks(table, numbers);
    size_t fresh_count = 0;
    if (number_count == 0)
        return;
    for (uint32_t n = 0; n < number_count; n++) {
        char *image = commit_find_stash_block(table, numbers[n]);
        fresh_count += list_records(&table->shape, image, stash->fresh + fresh_count);
        take_over(table, image);
    }
    drop_entries_of(stash, numbers, number_count);
    sort_entries(stash->fresh, fresh_count);
    merge_fresh(stash, fresh_count);
    while (stash->first_room < table->state.stash_used &&
           block_records(stash_block(table, stash->first_room)) == table->shape.block_capacity)
        stash->first_room++;
}

/* ---- opening --------------------------------------------------------------------------------- */

int stash_load(struct cw_round_table *table)
{
    struct stash *stash = &table->stash;
    for (uint32_t number = 0; number < table->state.stash_used; number++) {
        int status = reserve(table, number + 1, table->shape.block_capacity);
        if (status == CW_OK)
            status = device_read_block(table, BLOCK_OF_STASH, number, stash_block(table, number));
        if (status != CW_OK)
            return status;
        stash->count += list_records(&table->shape, stash_block(table, number),
                                     stash->entries + stash->count);
    }
    sort_entries(stash->entries, stash->count);
    return CW_OK;
}
