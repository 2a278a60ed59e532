/* What every benchmark answers to --help, and to what it does not know. */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <stdio.h>
#include <string.h>

/* The exit code, after the usage was printed: 0 when it was asked for, else 2. */
static inline int bench_usage(const char *usage, const char *argument)
{
    int is_asked = strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
    fprintf(is_asked ? stdout : stderr, "usage: %s\n", usage);
    return is_asked ? 0 : 2;
}

#endif
