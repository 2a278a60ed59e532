#include "placement/jump.h"

void jump_batch(enum vectors vectors, const uint64_t *keys, size_t count, uint32_t bucket_count,
                uint32_t *ret_buckets)
{
    for (size_t i = 0; i < count; i++)
        ret_buckets[i] = jump_bucket(keys[i], bucket_count);
}
