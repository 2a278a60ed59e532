/*
 * Inside of the round table (clockwise/round_table.h): its blocks as bytes, the commit that changes
 * several of them at once, the stash. Nothing here is for more than one thread at a time.
 *
 * The device, in blocks:
 *
 *     0                        what the table is made of, written once
 *     1 ..                     the journal: two halves of image_max blocks
 *     behind it                one block of the stash, stash_every blocks of records, one of the
 *                              stash, and so on: both kinds grow at the end of one file
 *
 * Numbers are little-endian. A block of records or of the stash begins with 64 bytes (offsets in
 * enum block_field) and holds its records, key and value, in no order. All that is behind them is
 * zero. The checksum covers everything else, the block's own number included, so that a block in
 * another's place is seen.
 */
#ifndef PLACEMENT_ROUND_TABLE_H
#define PLACEMENT_ROUND_TABLE_H

#include "placement/round.h"

#include <clockwise/round_table.h>

#include <stdbool.h>
#include <string.h>

enum block_field {
    BLOCK_CHECKSUM = 0,          /* u64: of COMMIT_SUM and all behind it */
    BLOCK_COMMIT_SUM = 8,        /* u64: of all images of the commit, each behind this field */
    BLOCK_SEQUENCE = 16,         /* u64: of the commit that wrote it */
    BLOCK_TABLE_RECORDS = 24,    /* u64: the table's state after that commit: records, */
    BLOCK_TABLE_BLOCKS = 32,     /* u32: blocks of records, */
    BLOCK_TABLE_STASH_USED = 36, /* u32: blocks of the stash; those behind them are empty */
    BLOCK_NUMBER = 40,           /* u32: among its kind */
    BLOCK_KIND = 44,             /* u16: enum block_kind */
    BLOCK_RECORDS = 46,          /* u16: records in it */
    BLOCK_IMAGE_INDEX = 48,      /* u16: which of the commit's images it is, */
    BLOCK_IMAGE_COUNT = 50,      /* u16: and of how many */
    BLOCK_HEADER_SIZE = 64,      /* the rest is 0 */
};

enum block_kind { BLOCK_OF_TABLE = 1, BLOCK_OF_STASH = 2 };

enum { SUPERBLOCK_SIZE = 64, IMAGES_MAX = 4 * CW_ROUND_TABLE_BASE_MAX + 16 };

/* Fixed when the table is made. */
struct shape {
    uint32_t block_size, key_size, value_size, record_size;
    uint32_t block_capacity; /* records */
    uint32_t base_bits, stash_every;
    uint32_t stash_image_max; /* blocks of the stash that one commit may change */
    uint32_t image_max;       /* blocks that one commit may change */
};

/* Travels in every commit. */
struct table_state {
    uint64_t sequence; /* of the last commit */
    uint64_t record_count;
    uint32_t block_count;
    uint32_t stash_used; /* blocks of the stash; those from here on are empty, whatever they hold */
};

/* A record of the stash: its hash, and where it lies. */
struct stash_entry {
    uint64_t hash;
    uint32_t block, index;
};

/* The blocks of the stash as they are on the device, and an index of their records in the order of
 * hashes, so that those of a block or a group are neighbours. */
struct stash {
    char *blocks; /* the first stash_used */
    struct stash_entry *entries;
    struct stash_entry *fresh; /* room for merging a commit's records in */
    size_t block_capacity, entry_capacity, fresh_capacity, count;
    uint32_t first_room; /* all blocks before it are full */
};

struct cw_round_table {
    struct cw_block_device device;
    struct shape shape;
    struct table_state state, next; /* now, and once the commit being made is done */
    struct round round;             /* of state.block_count */
    struct stash stash;
    char *images; /* the commit being made: image_count blocks */
    uint32_t image_count;
    char *old_blocks; /* of a group, while it is cut anew */
    bool broken;      /* a write failed: only opening anew can tell what is on the device */
};

/* ---- bytes (round_table_block.c) ------------------------------------------------------------- */

static inline uint64_t block_get(const char *bytes, unsigned at, unsigned size)
{
    uint64_t number = 0;
    for (unsigned i = size; i-- > 0;)
        number = number << 8 | (unsigned char)bytes[at + i];
    return number;
}

static inline void block_put(char *bytes, unsigned at, unsigned size, uint64_t number)
{
    for (unsigned i = 0; i < size; i++)
        bytes[at + i] = (char)(number >> 8 * i);
}

static inline uint32_t block_number(const char *block)
{
    return (uint32_t)block_get(block, BLOCK_NUMBER, 4);
}

static inline enum block_kind block_kind(const char *block)
{
    return (enum block_kind)block_get(block, BLOCK_KIND, 2);
}

static inline uint32_t block_records(const char *block)
{
    return (uint32_t)block_get(block, BLOCK_RECORDS, 2);
}

static inline char *block_record(const struct shape *shape, char *block, uint32_t index)
{
    return block + BLOCK_HEADER_SIZE + (size_t)index * shape->record_size;
}

static inline uint64_t record_hash(const struct shape *shape, const char *record)
{
    return cw_hash(record, shape->key_size);
}

/* Fills in what follows from the sizes, stash_every and base_bits; CW_EINVAL unless all are in
 * range and a record fits. */
int shape_complete(struct shape *shape);
/* Block 0, SUPERBLOCK_SIZE bytes of it. */
void shape_write(const struct shape *shape, char *superblock);
/* CW_ECORRUPT unless it is one. */
int shape_read(const char *superblock, struct shape *ret_shape);

void block_clear(const struct shape *shape, char *block, enum block_kind kind, uint32_t number);
/* The place of a key, or block_records() when it is not there. */
uint32_t block_find(const struct shape *shape, char *block, const void *key);
/* There is room. value may be NULL: zeroes. */
void block_append(const struct shape *shape, char *block, const void *key, const void *value);
/* The last record takes its place. */
void block_remove(const struct shape *shape, char *block, uint32_t index);
/* The sum of an image that its commit's sum is made of. */
uint64_t block_body_sum(const struct shape *shape, const char *block);
uint64_t block_checksum(const struct shape *shape, const char *block);
/* Its checksum is right and its records are no more than fit. */
bool block_is_sound(const struct shape *shape, const char *block);

/* ---- device and commit (round_table_commit.c) ------------------------------------------------ */

uint64_t device_block_count(const struct shape *shape, uint32_t block_count);
/* Blocks of the stash that stand before the end of a table of so many blocks. */
uint32_t stash_block_count(const struct shape *shape, uint32_t block_count);
/* Reads a block and checks it. CW_EIO, CW_ECORRUPT. */
int device_read_block(struct cw_round_table *table, enum block_kind kind, uint32_t number,
                      char *ret_block);

/* A commit is made in four steps: begin; add images; change table->next; run. Until it runs nothing
 * has changed, and it may be forgotten. */
void commit_begin(struct cw_round_table *table);
/* The next image, with nothing in it yet. */
char *commit_add(struct cw_round_table *table);
/* The image of a block of the stash, copied when first asked for; it may be table->next.stash_used,
 * a new one. NULL when the commit cannot take one more. */
char *commit_stash_block(struct cw_round_table *table, uint32_t number);
/* The same, but NULL when the commit has none of that block yet. */
char *commit_find_stash_block(const struct cw_round_table *table, uint32_t number);
/* Image i of the commit. */
char *commit_image(const struct cw_round_table *table, uint32_t i);
/* All or nothing, durable. CW_ENOMEM: nothing was written. CW_EIO: the table is broken. */
int commit_run(struct cw_round_table *table);
/* Writes one block of records, outside of any commit. For a table that is being made. */
int commit_write_empty(struct cw_round_table *table, uint32_t number);
/* The first commit of a new table, into a journal that is cleared: CW_EIO. */
int commit_first(struct cw_round_table *table);
/* Finds the last commit, and the one before it, and writes them again. */
int commit_recover(struct cw_round_table *table);

/* ---- cutting a group (round_table_cut.c) ----------------------------------------------------- */

/* The commit by which a table becomes one block larger, or smaller. CW_EFULL, and all that
 * commit_run() and device_read_block() return. */
int cut_group(struct cw_round_table *table, bool grow);

/* ---- stash (round_table_stash.c) ------------------------------------------------------------- */

/* The entry of a key, or NULL. O(log n). */
const struct stash_entry *stash_find(struct cw_round_table *table, uint64_t hash, const void *key);
/* The first entry whose hash is not below this one: an index up to stash.count. O(log n). */
size_t stash_lower_bound(const struct stash *stash, uint64_t hash);
/* The bytes of a block of the stash as it is. */
char *stash_block(const struct cw_round_table *table, uint32_t number);
/* Puts a record into the images of the commit, in a block below `limit`: if possible in that
 * of its part of the hash space. CW_EFULL. */
int stash_place(struct cw_round_table *table, const char *key, const char *value, uint32_t limit);
/* Moves a record from the stash to an image of a block of records, which has room. False when that
 * would change too many blocks of the stash. */
bool stash_take(struct cw_round_table *table, const struct stash_entry *entry, char *image);
/* Memory for a commit of these images; CW_ENOMEM. */
int stash_reserve(struct cw_round_table *table);
/* Takes over the commit's images of the stash. Cannot fail after stash_reserve(). O(n). */
void stash_apply(struct cw_round_table *table);
/* Reads the stash of an opened table. CW_ENOMEM, CW_EIO, CW_ECORRUPT. */
int stash_load(struct cw_round_table *table);
void stash_release(struct stash *stash);

#endif
