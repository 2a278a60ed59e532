/*
 * What the placements are compared with: the plain forms that most programs have, compiled into the
 * bench, and the library of Debian's libmemcached when it is there. For bench_placement.c only.
 */
#ifndef BENCH_PLACEMENT_REFERENCES_H
#define BENCH_PLACEMENT_REFERENCES_H

#include "placement/map.h"
#include "placement/ring.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The paper's jump loop, again, so that the library's own may change. */
static inline uint32_t reference_jump(uint64_t key, uint32_t buckets)
{
    int64_t b = -1, j = 0;
    while (j < (int64_t)buckets) {
        b = j;
        key = key * 2862933555777941757u + 1;
        j = (int64_t)((double)(b + 1) * ((double)((int64_t)1 << 31) / (double)((key >> 33) + 1)));
    }
    return (uint32_t)b;
}

/* The usual binary search for the first token not before the hash, with a branch each step. The
 * barrier keeps compilers from making it the branch-free one. */
static inline uint32_t reference_branchy(const struct ring *ring, uint64_t hash)
{
    uint32_t low = 0, high = ring->token_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ring->tokens[middle] < hash) {
            __asm__ volatile("");
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return ring->owners[low < ring->token_count ? low : 0];
}

static inline uint32_t reference_branch_free(const struct ring *ring, uint64_t hash)
{
    const uint64_t *base = ring->tokens;
    for (uint32_t left = ring->token_count; left > 1; left -= left / 2)
        base += base[left / 2 - 1] < hash ? left / 2 : 0;
    uint32_t at = (uint32_t)(base - ring->tokens) + (*base < hash);
    return ring->owners[at < ring->token_count ? at : 0];
}

/* Rendezvous as written everywhere: one hash of key and node a node, the greatest wins. */
static inline uint32_t reference_rendezvous(const struct cw_map *map, uint64_t hash)
{
    uint64_t best = 0;
    uint32_t winner = 0;
    for (uint32_t i = 0; i < map->nodes.count; i++) {
        uint64_t draw = mix64(hash ^ node_hash(&map->nodes, i));
        if (draw > best) {
            best = draw;
            winner = i;
        }
    }
    return winner;
}

/* ---- libmemcached, loaded when it is there ---- */

struct memcached_library {
    void *pool; /* memcached_st; NULL: not there */
    uint32_t (*generate_hash)(const void *pool, const char *key, size_t key_len);
};

/* A ketama pool of so many servers. The numbers are those of libmemcached's behaviours. */
static inline struct memcached_library memcached_library_open(uint32_t server_count)
{
    enum { BEHAVIOR_KETAMA_WEIGHTED = 16 };
    struct memcached_library library = {0};
    void *handle = dlopen("libmemcached.so.11", RTLD_NOW);
    if (!handle)
        return library;
    void *(*create)(void *) = (void *(*)(void *))dlsym(handle, "memcached_create");
    int (*add)(void *, const char *, unsigned short) = (int (*)(
        void *, const char *, unsigned short))dlsym(handle, "memcached_server_add");
    int (*set)(void *, int,
               uint64_t) = (int (*)(void *, int, uint64_t))dlsym(handle, "memcached_behavior_set");
    library.generate_hash = (uint32_t(*)(const void *, const char *, size_t))dlsym(
        handle, "memcached_generate_hash");
    if (!create || !add || !set || !library.generate_hash)
        return library;
    library.pool = create(NULL);
    for (uint32_t i = 0; i < server_count; i++) {
        char host[32];
        snprintf(host, sizeof host, "10.0.%u.%u", i >> 8, i & 255);
        add(library.pool, host, 11211);
    }
    set(library.pool, BEHAVIOR_KETAMA_WEIGHTED, 1); /* last, or each server builds the ring anew */
    return library;
}

#endif
