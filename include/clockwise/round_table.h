/*
 * A hash table in a file: fixed-size blocks placed by round-hashing, and a stash in memory for the
 * few records whose block is full. Finding a key reads at most one block, whatever the size; the
 * table grows and shrinks by one block at a time, touching about a dozen.
 *
 * It is for keys and values of fixed size: a longer key is stored as its digest, a longer value as
 * where it lies. It is no database: no transactions over several keys, no order of keys, one
 * process, one thread at a time for each table.
 *
 * The table does no I/O itself: it asks a block device (struct cw_block_device) that the caller
 * brings. A call that returned CW_OK is durable, and a crash between or within any two writes
 * leaves a table in which each call happened entirely or not at all. docs/round-table.md tells how.
 *
 * Keys are placed by cw_hash(), which has no secret: who lets strangers choose the keys stores
 * keyed digests of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLOCKWISE_ROUND_TABLE_H
#define CLOCKWISE_ROUND_TABLE_H

#include <clockwise/clockwise.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CW_BLOCK_SIZE_MIN              128u   /* bytes, a multiple of 8 */
#define CW_BLOCK_SIZE_MAX              65536u /* bytes */
#define CW_ROUND_TABLE_BLOCK_COUNT_MAX (1u << 30)
#define CW_ROUND_TABLE_BASE            8u /* unless set */
#define CW_ROUND_TABLE_BASE_MAX        64u
#define CW_ROUND_TABLE_STASH_EVERY     16u /* unless set */
#define CW_ROUND_TABLE_STASH_EVERY_MAX 4096u

/* Where the blocks are: a file, a partition, memory. Functions return 0, or anything else when they
 * failed; the device keeps the reason. A read sees every write before it. Once sync has returned 0,
 * all writes before it survive a crash; of writes behind it a crash may keep any part of any of
 * them. */
struct cw_block_device {
    void *context;
    uint32_t block_size; /* CW_BLOCK_SIZE_MIN .. MAX, the same for the table's whole life */
    int (*read)(void *context, uint64_t block, void *ret_bytes);
    int (*write)(void *context, uint64_t block, uint32_t block_count, const void *bytes);
    int (*sync)(void *context);
    /* Makes room for so many blocks, or gives back what is behind them. */
    int (*resize)(void *context, uint64_t block_count);
};

/* Zero means "the default", except for the sizes. */
struct cw_round_table_options {
    uint32_t key_size;    /* bytes, from 1; key and value together fit into a block */
    uint32_t value_size;  /* bytes, from 0 */
    uint32_t block_count; /* at the start: 1 unless set */
    uint32_t base;        /* blocks of a group before it is cut: a power of two up to 64. More make
                             growing dearer and the stash a little smaller */
    uint32_t stash_every; /* the file keeps one block for the stash on so many for records */
};

struct cw_round_table_stats {
    uint64_t record_count;
    uint64_t stash_count;    /* of them, in the stash */
    uint64_t stash_capacity; /* records that the stash can take */
    uint32_t block_count;
    uint32_t block_capacity; /* records that fit into a block */
    uint64_t device_blocks;  /* all blocks in use: records, stash and journal */
    size_t memory;           /* bytes of memory held */
};

struct cw_round_table;

/* Makes an empty table on a device and overwrites what is there. The device is copied; what its
 * context points to must outlive the table. error may be NULL. Cost: writes every block once.
 * CW_EINVAL, CW_ENOMEM, CW_EIO. */
CW_API int cw_round_table_create(const struct cw_block_device *device,
                                 const struct cw_round_table_options *options,
                                 struct cw_round_table **ret_table, struct cw_error *error);
/* Opens a table and finishes what a crash has interrupted. CW_ECORRUPT when the device holds none,
 * or a damaged one; CW_EINVAL when its block_size is another than the table's. Cost: reads the
 * journal and the blocks of the stash. */
CW_API int cw_round_table_open(const struct cw_block_device *device,
                               struct cw_round_table **ret_table, struct cw_error *error);
/* Gives the memory back and nulls the caller's pointer; NULL and pointers to NULL are fine. There
 * is nothing to write: what was acknowledged is on the device. */
CW_API void cw_round_table_close(struct cw_round_table **table);

/* All calls below: CW_EINVAL for a missing argument, CW_ECORRUPT for a damaged block. CW_EIO when
 * the device failed; when it failed to write or sync, whether the call happened is only known when
 * the table is opened anew, and until then all calls return CW_EIO. */

/* Copies the value of a key to ret_value (value_size bytes; NULL: only to know whether it is
 * there). CW_ENOT_FOUND. Cost: no read for a key in the stash, else one. */
CW_API int cw_round_table_find(struct cw_round_table *table, const void *key, void *ret_value);
/* Adds a record or replaces the value of the one with this key; value may be NULL when its size is
 * 0. CW_EFULL when block and stash are full: grow, then try again. CW_ENOMEM: nothing changed.
 * Cost: at most one read, two writes, one sync. */
CW_API int cw_round_table_insert(struct cw_round_table *table, const void *key, const void *value);
/* CW_ENOT_FOUND. Cost: at most one read, four writes, one sync. */
CW_API int cw_round_table_delete(struct cw_round_table *table, const void *key);

/* One block more: the records of one group of s blocks are spread over s + 1, base <= s < 2 * base.
 * Call it when record_count passes the load you want, e.g. 0.85 * block_count * block_capacity.
 * CW_EINVAL at CW_ROUND_TABLE_BLOCK_COUNT_MAX; CW_EFULL if more records would have to go to the
 * stash than it can take. Cost: reads s blocks, writes s + 1 and those of the stash that change,
 * each twice; one sync. */
CW_API int cw_round_table_grow(struct cw_round_table *table);
/* One block less, the reverse. CW_EINVAL when there is only one; CW_EFULL if the records would not
 * fit. Cost: reads s + 1 blocks, writes s and those of the stash that change, each twice; one sync,
 * and now and then a few more to empty the last block of the stash. */
CW_API int cw_round_table_shrink(struct cw_round_table *table);

CW_API void cw_round_table_stats(const struct cw_round_table *table,
                                 struct cw_round_table_stats *ret_stats);
/* Reads every block: each record lies in its block or in the stash, none lies twice, and all are
 * counted. CW_OK or CW_ECORRUPT. Cost: block_count reads. */
CW_API int cw_round_table_check(struct cw_round_table *table);

#ifdef __cplusplus
}
#endif

#endif
