/*
 * What a lookup costs in the placements of other systems, beside our own ring's: nanoseconds of
 * processor time a key.
 *
 *   one    a key, located alone
 *   batch  a key among many
 *   hash   of that, the system's hash of the key, timed alone
 *   find   of that, the node for a hash, timed alone over hashes that were made before
 *
 * and then how many times our own ring's cost that is: the whole batch, and the finding. The mark
 * is 2 for the finding: the hash is the system's, and what is placed must be hashed by it. Where a
 * system hashes each key together with each node there is no such step; the cost of a node is shown
 * instead. Last, how long the map takes to build.
 *
 *   profiles [--json] [--nodes N] [--only NAME]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "usage.h"
#include "profiles/profile.h"

enum { KEYS = 20000, ROUNDS = 15, NODES_MAX = 10000, TOPOLOGY_ROOM = NODES_MAX * 64 };

static char texts[KEYS][24], addresses[NODES_MAX][32];
static const void *keys[KEYS];
static size_t lens[KEYS];
static uint32_t owners[KEYS];
static uint64_t hashes[KEYS];
static struct cw_profile_node nodes[NODES_MAX];
static volatile uint64_t sink;
static int as_json;

/* Nanoseconds a key; negative where there is no such step. */
struct costs {
    double one, batch, hash, find;
};
static struct costs own;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The best of some rounds, for one key. */
static double measure(void (*run)(const void *map), const void *map)
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

/* ---- profiles -------------------------------------------------------------------------------- */

static void locate_each(const void *map)
{
    for (size_t i = 0; i < KEYS; i++)
        sink += cw_profile_locate(map, keys[i], lens[i]);
}

static void locate_batch(const void *map)
{
    cw_profile_locate_batch(map, keys, lens, KEYS, owners);
}

static void hash_batch(const void *map)
{
    profile_hash_keys(map, keys, lens, KEYS, hashes);
}

static void find_batch(const void *map)
{
    profile_locate_hashes(map, hashes, KEYS, owners);
}

static void print_times(double value, double of)
{
    if (as_json && value < 0)
        printf("null");
    else if (value < 0)
        printf("%8s", "-");
    else
        printf(as_json ? "%.2f" : "%8.1f", value / of);
}

static void print_row(const char *name, const struct costs *costs, size_t node_count,
                      double build_us)
{
    static const char *const names[] = {"one_ns",      "batch_ns",   "hash_ns", "find_ns",
                                        "batch_times", "find_times", "node_ns", "build_us"};
    double by_node = costs->find < 0 ? costs->batch : -1;
    const double values[][2] = {{costs->one, 1},
                                {costs->batch, 1},
                                {costs->hash, 1},
                                {costs->find, 1},
                                {costs->batch, own.batch},
                                {costs->find, own.find},
                                {by_node, (double)node_count},
                                {build_us, 1}};
    printf(as_json ? "{\"profile\": \"%s\"" : "%-34s", name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (as_json)
            printf(", \"%s\": ", names[i]);
        print_times(values[i][0], values[i][1]);
    }
    printf(as_json ? "}\n" : "\n");
}

/* One token a node, spread evenly: enough for a ring that is looked up. */
static void put_topology(char *text, size_t node_count)
{
    for (size_t i = 0, len = 0; i < node_count; i++)
        len += (size_t)snprintf(text + len, TOPOLOGY_ROOM - len, "%.*s dc1 r1 %lld\n",
                                (int)strcspn(addresses[i], ":"), addresses[i],
                                (long long)(UINT64_MAX / node_count * i));
}

static void run_profile(const struct cw_profile *profile, size_t node_count)
{
    static char topology[TOPOLOGY_ROOM];
    struct cw_profile_options options = {.nodes = nodes, .node_count = node_count};
    struct cw_profile_map *map = NULL;
    int numbers_only = strcmp(profile->name, "couchbase-vbucket") == 0;
    if (profile->settings & CW_PROFILE_TOPOLOGY || numbers_only)
        options.nodes = NULL, options.node_count = 0;
    if (strcmp(profile->name, "cassandra") == 0) {
        put_topology(topology, node_count);
        options.topology = topology;
        options.topology_len = strlen(topology);
    }
    double start = now_ns();
    if (cw_profile_map_create(profile, &options, &map, NULL) != CW_OK)
        return;
    double build_us = (now_ns() - start) / 1000;
    struct costs costs = {measure(locate_each, map), measure(locate_batch, map), -1, -1};
    if (profile_by_hash(map)) {
        costs.hash = measure(hash_batch, map);
        costs.find = measure(find_batch, map);
    }
    print_row(profile->name, &costs, node_count, build_us);
    cw_profile_map_unref(&map);
}

/* ---- our own ring ---------------------------------------------------------------------------- */

static void own_each(const void *map)
{
    for (size_t i = 0; i < KEYS; i++)
        sink += cw_locate(map, cw_hash(keys[i], lens[i]));
}

static void own_batch(const void *map)
{
    cw_locate_keys(map, keys, lens, KEYS, owners);
}

static void own_hash(const void *map)
{
    for (size_t i = 0; i < KEYS; i++)
        hashes[i] = cw_hash(keys[i], lens[i]);
}

static void own_find(const void *map)
{
    cw_locate_batch(map, hashes, KEYS, owners);
}

static void run_own_ring(size_t node_count)
{
    static struct cw_node list[NODES_MAX];
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RING, .nodes = list, .node_count = node_count};
    struct cw_map *map = NULL;
    for (size_t i = 0; i < node_count; i++)
        list[i] = (struct cw_node){.id = addresses[i], .weight = 1};
    double start = now_ns();
    CW_ASSERT(cw_map_create(&options, &map, NULL) == CW_OK);
    double build_us = (now_ns() - start) / 1000;
    own = (struct costs){measure(own_each, map), measure(own_batch, map), measure(own_hash, map),
                         measure(own_find, map)};
    if (!as_json)
        printf("%-34s%8s%8s%8s%8s%8s%8s%8s%8s\n", "ns a key", "one", "batch", "hash", "find",
               "x batch", "x find", "a node", "us");
    print_row("(our own ring)", &own, node_count, build_us);
    cw_map_unref(&map);
}

int main(int argc, char **argv)
{
    static const char usage[] = "profiles [--json] [--only PROFILE] [--nodes 1 .. 10000]";
    const char *only = NULL;
    size_t node_count = 10;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            as_json = 1;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--nodes") == 0 && i + 1 < argc)
            node_count = strtoul(argv[++i], NULL, 10);
        else
            return bench_usage(usage, argv[i]);
    }
    if (node_count < 1 || node_count > NODES_MAX)
        return bench_usage(usage, "--nodes");
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
