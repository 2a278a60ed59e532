/*
 * Jump consistent hash of numbers; see jump.c.
 */
#ifndef PLACEMENT_JUMP_H
#define PLACEMENT_JUMP_H

#include "placement/vectors.h"

#include <stddef.h>
#include <stdint.h>

/* The paper's loop. bucket_count is 1 .. 2^31-1. */
static inline uint32_t jump_bucket(uint64_t key, uint32_t bucket_count)
{
    int64_t bucket = -1, next = 0;
    while (next < (int64_t)bucket_count) {
        bucket = next;
        key = key * 2862933555777941757u + 1;
        next = (int64_t)((double)(bucket + 1) *
                         ((double)((int64_t)1 << 31) / (double)((key >> 33) + 1)));
    }
    return (uint32_t)bucket;
}

/* The same of many keys, with these vectors. */
void jump_batch(enum vectors vectors, const uint64_t *keys, size_t count, uint32_t bucket_count,
                uint32_t *ret_buckets);

#endif
