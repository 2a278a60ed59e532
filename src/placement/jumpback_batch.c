#include "placement/jumpback.h"

void jumpback_batch(enum vectors vectors, const uint64_t *hashes, size_t count,
                    uint32_t bucket_count, uint32_t *ret_buckets)
{
    for (size_t i = 0; i < count; i++)
        ret_buckets[i] = jumpback_bucket(hashes[i], bucket_count);
}
