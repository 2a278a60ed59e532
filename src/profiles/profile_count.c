/*
 * How many points a server has: the arithmetic of each system, with its rounding. Where it is done
 * in 32-bit floats the rounding is visible: with 25, 47, 50, 61, ... equal servers libmemcached
 * places 156 points instead of 160. Every product goes through a volatile variable, so that no
 * compiler keeps more precision than the original had, or fuses a product with a sum.
 */
#include "profiles/profile_ring.h"

#include <stdio.h>
#include <string.h>

static uint32_t whole(double value)
{
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* libmemcached's order of operations: share * points / 4 * servers, then a nudge against results
 * that fell just below a whole number (it is smaller than what it should mend). */
static uint32_t count_float32(double weight, double sum, double n, uint32_t points)
{
    volatile float value = (float)weight / (float)sum;
    value = value * (float)points;
    value = value / 4.0f;
    value = value * (float)n;
    value = value + 1e-10f;
    return whole(value);
}

static uint32_t count_float_double(double weight, double sum, double n, uint32_t groups)
{
    volatile float share = (float)weight / (float)sum;
    volatile double product = (double)share * (double)groups;
    product = product * n;
    volatile float cut = (float)product;
    return whole(cut);
}

static uint32_t count_double(double weight, double sum, double n, uint32_t groups)
{
    volatile double value = weight / sum;
    value = value * groups;
    value = value * n;
    return whole(value);
}

static uint32_t count_double_last(double weight, double sum, double n, uint32_t points)
{
    volatile double value = (double)points * n;
    value = value * weight;
    value = value / sum;
    return whole(value);
}

uint32_t profile_point_count(const struct cw_profile_map *map, const struct profile_node *node,
                             double weight_sum)
{
    uint32_t per = map->options.points;
    double weight = node->weight, n = map->node_count;
    switch (map->profile->ring.count) {
    case COUNT_FIXED: return per;
    case COUNT_QUARTER: return per / 4;
    case COUNT_WEIGHT: return whole(weight * per + 0.5);
    case COUNT_FLOAT32: return count_float32(weight, weight_sum, n, per);
    case COUNT_FLOAT_DOUBLE: return count_float_double(weight, weight_sum, n, per);
    case COUNT_DOUBLE: return count_double(weight, weight_sum, n, per);
    case COUNT_DOUBLE_LAST: return count_double_last(weight, weight_sum, n, per);
    case COUNT_INTEGER:
        return (uint32_t)((uint64_t)per * map->node_count * (uint64_t)weight /
                          (uint64_t)weight_sum);
    }
    return 0;
}

size_t profile_point_text(const char *format, const char *name, uint32_t k, char *ret, size_t room)
{
    size_t len = 0;
    for (const char *at = format; *at; at++) {
        char number[16] = {at[0], 0};
        const char *piece = number;
        if (at[0] == '%' && at[1] == 'n')
            piece = name;
        else if (at[0] == '%' && at[1] == 'k')
            snprintf(number, sizeof number, "%u", k);
        at += at[0] == '%';
        size_t piece_len = strlen(piece);
        if (piece_len > room - len)
            return 0;
        memcpy(ret + len, piece, piece_len);
        len += piece_len;
    }
    return len;
}
