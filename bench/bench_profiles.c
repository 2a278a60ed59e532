/*
 * What a lookup costs in the placements of other systems, beside our own ring's: nanoseconds of
 * processor time a key, one by one and in a batch, what of that is hashing the key (in a row of
 * single calls: a batch may hash several at once), how many times our own ring's cost it is, one by
 * one and with the system's hash taken off and ours put in its place, and how long the map takes to
 * build. The mark is 2 for the last of these ratios: the hash is the system's and cannot be had for
 * less.
 *
 *   profiles [--json] [--nodes N] [--only NAME]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"

#include <clockwise/profile.h>

enum { KEYS = 100000, ROUNDS = 5, NODES_MAX = 10000 };

static char texts[KEYS][24], addresses[NODES_MAX][32];
static const void *keys[KEYS];
static size_t lens[KEYS];
static uint32_t owners[KEYS];
static struct cw_profile_node nodes[NODES_MAX];
static volatile uint64_t sink;
static int as_json;
static double own_one_ns, own_batch_ns; /* a key, in our own ring */

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void locate_all(const struct cw_profile_map *map)
{
    for (size_t i = 0; i < KEYS; i++)
        sink += cw_profile_locate(map, keys[i], lens[i]);
}

static void locate_batch(const struct cw_profile_map *map)
{
    cw_profile_locate_batch(map, keys, lens, KEYS, owners);
}

static void hash_all(const struct cw_profile_map *map)
{
    for (size_t i = 0; i < KEYS; i++)
        sink += cw_profile_position(map, keys[i], lens[i]);
}

/* The best of some rounds, for one key. */
static double measure(void (*run)(const struct cw_profile_map *map),
                      const struct cw_profile_map *map)
{
    double best = 1e30;
    for (unsigned i = 0; i < ROUNDS; i++) {
        double start = now_ns();
        run(map);
        double took = (now_ns() - start) / KEYS;
        best = took < best ? took : best;
    }
    return best;
}

static void run_profile(const struct cw_profile *profile, size_t node_count)
{
    struct cw_profile_options options = {.nodes = nodes, .node_count = node_count};
    struct cw_profile_map *map = NULL;
    if (profile->settings & CW_PROFILE_TOPOLOGY || strcmp(profile->name, "couchbase-vbucket") == 0)
        options.nodes = NULL, options.node_count = 0;
    double start = now_ns();
    if (cw_profile_map_create(profile, &options, &map, NULL) != CW_OK)
        return;
    double build_us = (now_ns() - start) / 1000, one = measure(locate_all, map);
    double batch = measure(locate_batch, map);
    double hash = cw_profile_position_max(map) ? measure(hash_all, map) : 0;
    double lookup = one - hash > 0 ? one - hash : 0;
    printf(as_json ? "{\"profile\": \"%s\", \"locate_ns\": %.1f, \"batch_ns\": %.1f, "
                     "\"hash_ns\": %.1f, \"times_ring\": %.1f, \"times_ring_batch\": %.1f, "
                     "\"lookup_times_ring\": %.1f, \"build_us\": %.0f}\n"
                   : "%-36s %9.1f %9.1f %9.1f %7.1f %7.1f %7.1f %11.0f\n",
           profile->name, one, batch, hash, one / own_one_ns, batch / own_batch_ns,
           hash > 0 ? lookup / own_one_ns : 0, build_us);
    cw_profile_map_unref(&map);
}

static void run_own_ring(size_t node_count)
{
    static struct cw_node own[NODES_MAX];
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RING, .nodes = own, .node_count = node_count};
    struct cw_map *map = NULL;
    double best = 1e30;
    for (size_t i = 0; i < node_count; i++)
        own[i] = (struct cw_node){.id = addresses[i], .weight = 1};
    CW_ASSERT(cw_map_create(&options, &map, NULL) == CW_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (size_t i = 0; i < KEYS; i++)
            sink += cw_locate(map, cw_hash(keys[i], lens[i]));
        double took = (now_ns() - start) / KEYS;
        best = took < best ? took : best;
    }
    own_one_ns = best;
    own_batch_ns = 1e30;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        cw_locate_keys(map, keys, lens, KEYS, owners);
        double took = (now_ns() - start) / KEYS;
        own_batch_ns = took < own_batch_ns ? took : own_batch_ns;
    }
    if (!as_json)
        printf("%-36s %9s %9s %9s %7s %7s %7s %11s\n%-36s %9.1f %9.1f\n", "ns a key", "locate",
               "batch", "hash", "x ring", "x batch", "lookup", "build, us", "(our own ring)", best,
               own_batch_ns);
    cw_map_unref(&map);
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    size_t node_count = 10;
    for (int i = 1; i < argc; i++) {
        as_json |= strcmp(argv[i], "--json") == 0;
        if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc)
            node_count = strtoul(argv[++i], NULL, 10);
    }
    CW_ASSERT(node_count >= 1 && node_count <= NODES_MAX);
    for (size_t i = 0; i < KEYS; i++) {
        lens[i] = (size_t)snprintf(texts[i], sizeof texts[i], "user:%zu", i * 7919 % 100000000);
        keys[i] = texts[i];
    }
    for (size_t i = 0; i < node_count; i++) {
        snprintf(addresses[i], sizeof addresses[i], "10.%zu.%zu.%zu:11211", i / 62500,
                 i / 250 % 250, i % 250 + 1);
        nodes[i] = (struct cw_profile_node){.address = addresses[i], .weight = 1};
    }
    run_own_ring(node_count);
    for (size_t i = 0; i < cw_profile_count(); i++)
        if (!only || strcmp(only, cw_profile_at(i)->name) == 0)
            run_profile(cw_profile_at(i), node_count);
    return 0;
}
