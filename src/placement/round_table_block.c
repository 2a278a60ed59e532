/*
 * The round table's blocks as bytes: see round_table.h. What is written here is a file format, and
 * frozen.
 */
#include "placement/round_table.h"

static const char magic[8] = {'c', 'w', 'r', 'o', 'u', 'n', 'd', '1'};

/* Fields of block 0. */
enum {
    SUPER_BLOCK_SIZE = 8,
    SUPER_KEY_SIZE = 12,
    SUPER_VALUE_SIZE = 16,
    SUPER_BASE_BITS = 20,
    SUPER_STASH_EVERY = 24,
    SUPER_CHECKSUM = 56,
};

static bool sizes_are_valid(const struct shape *shape)
{
    if (shape->block_size < CW_BLOCK_SIZE_MIN || shape->block_size > CW_BLOCK_SIZE_MAX ||
        shape->block_size % 8 != 0)
        return false;
    uint32_t room = shape->block_size - BLOCK_HEADER_SIZE;
    return shape->key_size > 0 && shape->key_size <= room &&
           shape->value_size <= room - shape->key_size;
}

int shape_complete(struct shape *shape)
{
    if (!sizes_are_valid(shape) || shape->base_bits >= 32 ||
        1u << shape->base_bits > CW_ROUND_TABLE_BASE_MAX || shape->stash_every == 0 ||
        shape->stash_every > CW_ROUND_TABLE_STASH_EVERY_MAX)
        return CW_EINVAL;
    uint32_t base = 1u << shape->base_bits;
    shape->record_size = shape->key_size + shape->value_size;
    shape->block_capacity = (shape->block_size - BLOCK_HEADER_SIZE) / shape->record_size;
    /* As many for the stash as for records: a group whose keys are as uneven as can be, all in one
     * arc, still can be cut while the stash has whole blocks free. And some more, so that with a
     * small base, whose stash is large, what can come back from it does. */
    shape->stash_image_max = 2 * base + 16;
    shape->image_max = 2 * base + shape->stash_image_max;
    return CW_OK;
}

void shape_write(const struct shape *shape, char *superblock)
{
    memset(superblock, 0, SUPERBLOCK_SIZE);
    memcpy(superblock, magic, sizeof magic);
    block_put(superblock, SUPER_BLOCK_SIZE, 4, shape->block_size);
    block_put(superblock, SUPER_KEY_SIZE, 4, shape->key_size);
    block_put(superblock, SUPER_VALUE_SIZE, 4, shape->value_size);
    block_put(superblock, SUPER_BASE_BITS, 4, shape->base_bits);
    block_put(superblock, SUPER_STASH_EVERY, 4, shape->stash_every);
    block_put(superblock, SUPER_CHECKSUM, 8, cw_hash(superblock, SUPER_CHECKSUM));
}

int shape_read(const char *superblock, struct shape *ret_shape)
{
    if (memcmp(superblock, magic, sizeof magic) != 0 ||
        block_get(superblock, SUPER_CHECKSUM, 8) != cw_hash(superblock, SUPER_CHECKSUM))
        return CW_ECORRUPT;
    struct shape shape = {
        .block_size = (uint32_t)block_get(superblock, SUPER_BLOCK_SIZE, 4),
        .key_size = (uint32_t)block_get(superblock, SUPER_KEY_SIZE, 4),
        .value_size = (uint32_t)block_get(superblock, SUPER_VALUE_SIZE, 4),
        .base_bits = (uint32_t)block_get(superblock, SUPER_BASE_BITS, 4),
        .stash_every = (uint32_t)block_get(superblock, SUPER_STASH_EVERY, 4),
    };
    if (shape_complete(&shape) != CW_OK)
        return CW_ECORRUPT;
    *ret_shape = shape;
    return CW_OK;
}

void block_clear(const struct shape *shape, char *block, enum block_kind kind, uint32_t number)
{
    memset(block, 0, shape->block_size);
    block_put(block, BLOCK_KIND, 2, kind);
    block_put(block, BLOCK_NUMBER, 4, number);
}

uint32_t block_find(const struct shape *shape, char *block, const void *key)
{
    uint32_t count = block_records(block);
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(block_record(shape, block, i), key, shape->key_size) == 0)
            return i;
    return count;
}

void block_append(const struct shape *shape, char *block, const void *key, const void *value)
{
    uint32_t count = block_records(block);
    char *record = block_record(shape, block, count);
    memcpy(record, key, shape->key_size);
    if (value)
        memcpy(record + shape->key_size, value, shape->value_size);
    block_put(block, BLOCK_RECORDS, 2, count + 1);
}

void block_remove(const struct shape *shape, char *block, uint32_t index)
{
    uint32_t last = block_records(block) - 1;
    char *record = block_record(shape, block, last);
    if (index != last)
        memcpy(block_record(shape, block, index), record, shape->record_size);
    memset(record, 0, shape->record_size);
    block_put(block, BLOCK_RECORDS, 2, last);
}

uint64_t block_body_sum(const struct shape *shape, const char *block)
{
    return cw_hash(block + BLOCK_SEQUENCE, shape->block_size - BLOCK_SEQUENCE);
}

uint64_t block_checksum(const struct shape *shape, const char *block)
{
    return cw_hash(block + BLOCK_COMMIT_SUM, shape->block_size - BLOCK_COMMIT_SUM);
}

bool block_is_sound(const struct shape *shape, const char *block)
{
    return block_get(block, BLOCK_CHECKSUM, 8) == block_checksum(shape, block) &&
           block_records(block) <= shape->block_capacity;
}
