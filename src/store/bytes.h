/* Big-endian numbers in stored bytes: their order as bytes is their order as numbers. */
#ifndef STORE_BYTES_H
#define STORE_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void put_u32(char *to, uint32_t number)
{
    uint32_t big = htobe32(number);
    memcpy(to, &big, sizeof big);
}

static inline void put_u64(char *to, uint64_t number)
{
    uint64_t big = htobe64(number);
    memcpy(to, &big, sizeof big);
}

static inline uint32_t get_u32(const char *from)
{
    uint32_t big;
    memcpy(&big, from, sizeof big);
    return be32toh(big);
}

static inline uint64_t get_u64(const char *from)
{
    uint64_t big;
    memcpy(&big, from, sizeof big);
    return be64toh(big);
}

#endif
