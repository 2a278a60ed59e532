/*
 * A block device in memory that counts what is asked of it and whose power can be cut. What was
 * written since the last sync survives a cut as a struct survival says, down to single sectors.
 */
#ifndef TESTS_PLACEMENT_BLOCK_MEMORY_H
#define TESTS_PLACEMENT_BLOCK_MEMORY_H

#include "base/random.h"

#include <clockwise/round_table.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 16 }; /* bytes that a write keeps together; divides block sizes used in tests */

/* What a cut leaves of writes that were not synced. */
enum survival {
    SURVIVES_TORN, /* all but the last, and of that the first sectors */
    SURVIVES_ALL,
    SURVIVES_NOTHING,
    SURVIVES_ANY, /* of each write any sectors */
};

struct block_memory {
    struct cw_block_device device;
    char *bytes, *durable; /* as it is read; as of the last sync */
    size_t size, size_max; /* bytes */
    struct pending {
        size_t at, size;
        char *bytes;
    } * pending; /* writes since the last sync, in order */
    size_t pending_count, pending_max;
    uint64_t reads, writes, blocks_written, syncs, changes;
    uint64_t cut_at;       /* the change (write, sync or resize, from 1) at which the power goes */
    uint64_t fail_at;      /* the read that fails; 0: none */
    uint64_t sync_fail_at; /* the sync that fails and drops what it should have written, though it
                              can still be read: as systems do; 0: none */
    bool is_off, sync_lies;
};

static inline int block_memory_read(void *context, uint64_t block, void *ret_bytes)
{
    struct block_memory *memory = context;
    size_t size = memory->device.block_size, at = block * size;
    memory->reads++;
    if (memory->is_off || memory->reads == memory->fail_at || at + size > memory->size)
        return -1;
    memcpy(ret_bytes, memory->bytes + at, size);
    return 0;
}

/* True when the power goes with this change. */
static inline bool block_memory_change(struct block_memory *memory)
{
    memory->changes++;
    if (memory->changes == memory->cut_at)
        memory->is_off = true;
    return memory->is_off;
}

static inline void block_memory_note(struct block_memory *memory, size_t at, size_t size,
                                     const void *bytes)
{
    if (memory->pending_count == memory->pending_max) {
        memory->pending_max = 2 * memory->pending_max + 16;
        memory->pending = realloc(memory->pending, memory->pending_max * sizeof *memory->pending);
        if (!memory->pending)
            abort();
    }
    char *copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    memory->pending[memory->pending_count++] = (struct pending){at, size, copy};
}

static inline int block_memory_write(void *context, uint64_t block, uint32_t block_count,
                                     const void *bytes)
{
    struct block_memory *memory = context;
    size_t at = block * memory->device.block_size;
    size_t size = (size_t)block_count * memory->device.block_size;
    if (memory->is_off || at + size > memory->size)
        return -1;
    memory->writes++;
    memory->blocks_written += block_count;
    if (memory->durable)
        block_memory_note(memory, at, size, bytes);
    memcpy(memory->bytes + at, bytes, size);
    return block_memory_change(memory) ? -1 : 0;
}

static inline void block_memory_forget(struct block_memory *memory)
{
    for (size_t i = 0; i < memory->pending_count; i++)
        free(memory->pending[i].bytes);
    memory->pending_count = 0;
}

static inline void block_memory_settle(struct block_memory *memory)
{
    for (size_t i = 0; i < memory->pending_count; i++)
        if (memory->pending[i].at < memory->size) /* or it has been given back since */
            memcpy(memory->durable + memory->pending[i].at, memory->pending[i].bytes,
                   memory->pending[i].size);
    block_memory_forget(memory);
}

static inline int block_memory_sync(void *context)
{
    struct block_memory *memory = context;
    memory->syncs++;
    if (memory->is_off || block_memory_change(memory))
        return -1;
    if (memory->syncs == memory->sync_fail_at) {
        block_memory_forget(memory);
        return -1;
    }
    if (memory->durable && !memory->sync_lies)
        block_memory_settle(memory);
    return 0;
}

/* What is cut off is gone at once: a device that gives it back early must do no harm. */
static inline int block_memory_resize(void *context, uint64_t block_count)
{
    struct block_memory *memory = context;
    size_t size = block_count * memory->device.block_size;
    if (memory->is_off || block_memory_change(memory) || size > memory->size_max)
        return -1;
    if (size < memory->size) {
        memset(memory->bytes + size, 0, memory->size - size);
        if (memory->durable)
            memset(memory->durable + size, 0, memory->size - size);
    }
    memory->size = size;
    return 0;
}

/* With `crashes` it remembers what is needed for block_memory_restart(). */
static inline struct block_memory *block_memory_create(uint32_t block_size, size_t block_max,
                                                       bool crashes)
{
    struct block_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        abort();
    memory->device = (struct cw_block_device){.context = memory,
                                              .block_size = block_size,
                                              .read = block_memory_read,
                                              .write = block_memory_write,
                                              .sync = block_memory_sync,
                                              .resize = block_memory_resize};
    memory->size_max = block_max * block_size;
    memory->bytes = calloc(1, memory->size_max);
    memory->durable = crashes ? calloc(1, memory->size_max) : NULL;
    if (!memory->bytes || (crashes && !memory->durable))
        abort();
    return memory;
}

static inline void block_memory_destroy(struct block_memory *memory)
{
    block_memory_forget(memory);
    free(memory->pending);
    free(memory->bytes);
    free(memory->durable);
    free(memory);
}

static inline bool block_memory_sector_survives(enum survival survival, struct random *random,
                                                bool is_last, size_t sector, size_t kept)
{
    switch (survival) {
    case SURVIVES_TORN: return !is_last || sector < kept;
    case SURVIVES_ALL: return true;
    case SURVIVES_NOTHING: return false;
    case SURVIVES_ANY: return random_next(random) >> 63;
    }
    return false;
}

/* The power is back, and the device holds what was durable and what survives of the rest. */
static inline void block_memory_restart(struct block_memory *memory, enum survival survival,
                                        struct random *random)
{
    for (size_t i = 0; i < memory->pending_count; i++) {
        const struct pending *write = &memory->pending[i];
        bool is_last = i + 1 == memory->pending_count;
        size_t sectors = write->size / SECTOR, kept = random_below(random, sectors);
        for (size_t s = 0; s < sectors; s++)
            if (block_memory_sector_survives(survival, random, is_last, s, kept) &&
                write->at + (s + 1) * SECTOR <= memory->size)
                memcpy(memory->durable + write->at + s * SECTOR, write->bytes + s * SECTOR, SECTOR);
    }
    block_memory_forget(memory);
    memcpy(memory->bytes, memory->durable, memory->size_max);
    memory->is_off = false;
    memory->cut_at = memory->changes = 0;
}

#endif
