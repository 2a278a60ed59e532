/*
 * JumpBackHash of numbers; see jumpback.c.
 */
#ifndef PLACEMENT_JUMPBACK_H
#define PLACEMENT_JUMPBACK_H

#include "placement/mix.h"
#include "placement/vectors.h"

#include <stddef.h>
#include <stdint.h>

/* A number below 2^e from half a word, which is chosen by the parity of the bits that are left. */
static inline uint32_t jumpback_offset(uint64_t first, uint32_t bits, uint32_t mask)
{
    return (uint32_t)(first >> ((unsigned)(__builtin_popcount(bits) & 1) << 5)) & mask;
}

/*
 * bucket_count is 1 .. 2^31. The bits below the count's width say in which of the intervals
 * [2^e, 2^(e+1)) the key has a bucket that it would jump to; the highest interval is tried first,
 * and when its bucket is not there yet, earlier buckets of that interval are drawn.
 */
static inline uint32_t jumpback_bucket(uint64_t hash, uint32_t bucket_count)
{
    if (bucket_count <= 1)
        return 0;
    uint32_t bits = (uint32_t)(hash ^ (hash >> 32)) &
                    (UINT32_MAX >> __builtin_clz(bucket_count - 1));
    uint64_t draw = 0; /* of the stream */
    while (bits) {
        uint32_t start = (uint32_t)1 << (31 - __builtin_clz(bits));
        uint32_t bucket = start + jumpback_offset(hash, bits, start - 1);
        while (bucket >= bucket_count) {
            uint64_t word = mix_stream(hash, draw++);
            bucket = (uint32_t)word & (2 * start - 1);
            if (bucket < start)
                break;
            if (bucket < bucket_count)
                return bucket;
            bucket = (uint32_t)(word >> 32) & (2 * start - 1);
            if (bucket < start)
                break;
        }
        if (bucket >= start)
            return bucket;
        bits ^= start;
    }
    return 0;
}

/* The same of many keys, with these vectors. */
void jumpback_batch(enum vectors vectors, const uint64_t *hashes, size_t count,
                    uint32_t bucket_count, uint32_t *ret_buckets);

#endif
