/*
 * A histogram of durations or sizes: log-linear buckets (each power of two is cut into 16), so that
 * a percentile is known within 1/16 of its value, in 8 KB whatever is recorded. One writer; others
 * may read at the same time and see each bucket whole, if not all of the same moment. After Gil
 * Tene's HdrHistogram.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_STEP_BITS = 4, /* 16 steps a power of two */
    HISTOGRAM_BUCKETS = (64 - HISTOGRAM_STEP_BITS + 1) << HISTOGRAM_STEP_BITS,
};

/* All zeros is an empty one. */
struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t count, sum, max;
};

static inline uint32_t histogram_bucket(uint64_t value)
{
    if (value < (1u << HISTOGRAM_STEP_BITS))
        return (uint32_t)value;
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_STEP_BITS;
    return ((shift + 1) << HISTOGRAM_STEP_BITS) +
           (uint32_t)((value >> shift) & ((1u << HISTOGRAM_STEP_BITS) - 1));
}

/* The largest value that falls into a bucket. */
uint64_t histogram_bucket_limit(uint32_t bucket);

static inline void histogram_add(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

static inline void histogram_record(struct histogram *histogram, uint64_t value)
{
    histogram_add(&histogram->counts[histogram_bucket(value)], 1);
    histogram_add(&histogram->count, 1);
    histogram_add(&histogram->sum, value);
    if (value > histogram->max)
        __atomic_store_n(&histogram->max, value, __ATOMIC_RELAXED);
}

/* Adds what `from` has to `to`; `from` may be written meanwhile. */
void histogram_merge(struct histogram *to, const struct histogram *from);

/* The value that a part of all (0 .. 1) does not exceed, rounded up to its bucket's limit and never
 * over the maximum; 0 when empty. */
uint64_t histogram_percentile(const struct histogram *histogram, double part);

#endif
