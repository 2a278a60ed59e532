/*
 * mcrouter's rendezvous hashing of servers of equal weight.
 */
#ifndef PROFILES_PROFILE_MCROUTER_RANK_H
#define PROFILES_PROFILE_MCROUTER_RANK_H

#include "placement/vectors.h"

#include <stddef.h>
#include <stdint.h>

/* The draw of a server for a key, from both their hashes. */
static inline uint64_t mcrouter_combine(uint64_t server, uint64_t key)
{
    const uint64_t m = 0x9ddfea08eb382d69u;
    uint64_t a = (key ^ server) * m;
    a ^= a >> 47;
    uint64_t b = (server ^ a) * m;
    b ^= b >> 47;
    return b * m;
}

/* The server of each key: the greatest draw, compared as doubles, the last of those that are equal
 * in 53 bits. */
void mcrouter_rank(enum vectors vectors, const uint64_t *servers, uint32_t server_count,
                   const uint64_t *keys, size_t key_count, uint32_t *ret_servers);

#endif
