/*
 * The time that this thread has computed: what a busy machine does to others does not count.
 */
#ifndef CLI_COMPARE_CLOCK_H
#define CLI_COMPARE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
