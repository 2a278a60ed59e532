#include "base/histogram.h"

uint64_t histogram_bucket_limit(uint32_t bucket)
{
    uint32_t steps = 1u << HISTOGRAM_STEP_BITS;
    if (bucket < steps)
        return bucket;
    uint32_t shift = (bucket >> HISTOGRAM_STEP_BITS) - 1;
    uint64_t first = (uint64_t)(steps + (bucket & (steps - 1))) << shift;
    return first + ((UINT64_C(1) << shift) - 1);
}

static uint64_t load(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        to->counts[i] += load(&from->counts[i]);
    to->count += load(&from->count);
    to->sum += load(&from->sum);
    if (load(&from->max) > to->max)
        to->max = load(&from->max);
}

uint64_t histogram_percentile(const struct histogram *histogram, double part)
{
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        total += load(&histogram->counts[i]);
    uint64_t wanted = (uint64_t)(part * (double)total + 0.5);
    uint64_t max = load(&histogram->max);
    for (uint32_t i = 0; total && i < HISTOGRAM_BUCKETS; i++) {
        seen += load(&histogram->counts[i]);
        if (seen >= wanted && seen > 0)
            return histogram_bucket_limit(i) < max ? histogram_bucket_limit(i) : max;
    }
    return max;
}
