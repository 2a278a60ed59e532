/*
 * What a lookup costs: nanoseconds for each placement, single, in batches and one depending on the
 * other, for 10 to 10,000 nodes; and the ratios to the plain references that the project promises.
 *
 *   placement [--json] [--quick]
 *
 * Each figure is the best of interleaved rounds in thread CPU time, each behind an unmeasured run
 * of the same kind, so that a noisy machine does not decide. Keys are fresh in every round.
 */
#include "placement_references.h"
#include "usage.h"

#include "base/assert.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 8192, KEYS_SLOW = 512, ROUNDS = 40, ROUNDS_QUICK = 6, WARM_RUNS = 16 };

static uint64_t hashes[KEYS];
static char texts[KEYS][16]; /* keys of 16 bytes, for end to end */
static uint32_t owners[KEYS];
static volatile uint32_t sink;
static int rounds = ROUNDS, json, first_row = 1;

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void fresh_keys(void)
{
    static uint64_t state;
    for (int i = 0; i < KEYS; i++)
        hashes[i] = mix64(state += MIX_GOLDEN);
}

static void make_texts(void)
{
    for (int i = 0; i < KEYS; i++)
        snprintf(texts[i], sizeof texts[i], "key:%011u",
                 (unsigned)(mix_stream(1, (uint64_t)i) >> 40));
}

/* ---- races ---- */

/* Something that answers the first `count` keys. */
struct racer {
    const char *name;
    void (*run)(const struct racer *racer, int count);
    const struct cw_map *map;
    const struct memcached_library *library;
    int count;
    double best_ns; /* a key */
};

static void race(struct racer *racers, int racer_count)
{
    for (int i = 0; i < racer_count; i++)
        racers[i].best_ns = 1e18;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < racer_count; i++) {
            struct racer *racer = &racers[i];
            for (int warm = WARM_RUNS; warm >= 0; warm--) {
                fresh_keys();
                double start = now_ns();
                racer->run(racer, racer->count);
                double took = (now_ns() - start) / racer->count;
                if (warm == 0 && took < racer->best_ns)
                    racer->best_ns = took;
            }
            sink = owners[0];
        }
}

static void run_single(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = cw_locate(racer->map, hashes[i]);
}

static void run_batch(const struct racer *racer, int count)
{
    cw_locate_batch(racer->map, hashes, (size_t)count, owners);
}

static void run_dependent(const struct racer *racer, int count)
{
    uint32_t owner = 0;
    for (int i = 0; i < count; i++)
        owner = cw_locate(racer->map, hashes[i] + owner);
    owners[0] = owner;
}

static void run_jump(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = reference_jump(hashes[i], racer->map->nodes.count);
}

static void run_branchy(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = reference_branchy(racer->map->state, hashes[i]);
}

static void run_branch_free(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = reference_branch_free(racer->map->state, hashes[i]);
}

static void run_rendezvous(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = reference_rendezvous(racer->map, hashes[i]);
}

static void run_hash(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = (uint32_t)XXH3_64bits(texts[i], sizeof texts[i]);
}

static void run_text_single(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = cw_locate(racer->map, XXH3_64bits(texts[i], sizeof texts[i]));
}

static void run_text_batch(const struct racer *racer, int count)
{
    enum { BLOCK = 64 };
    uint64_t block[BLOCK];
    for (int at = 0; at < count; at += BLOCK) {
        for (int i = 0; i < BLOCK; i++)
            block[i] = XXH3_64bits(texts[at + i], sizeof texts[at + i]);
        cw_locate_batch(racer->map, block, BLOCK, owners + at);
    }
}

static void run_memcached(const struct racer *racer, int count)
{
    for (int i = 0; i < count; i++)
        owners[i] = racer->library->generate_hash(racer->library->pool, texts[i],
                                                  sizeof texts[i] - 1);
}

/* ---- fleets ---- */

static struct cw_map *make_map(enum cw_placement placement, uint32_t node_count, uint32_t tokens)
{
    struct cw_node *nodes = calloc(node_count, sizeof *nodes);
    char(*ids)[16] = calloc(node_count, sizeof *ids);
    CW_ASSERT(nodes && ids);
    for (uint32_t i = 0; i < node_count; i++) {
        snprintf(ids[i], sizeof ids[i], "node-%u", i);
        nodes[i] = (struct cw_node){.id = ids[i], .weight = 1};
    }
    struct cw_map *map = NULL;
    struct cw_map_options options = {.placement = placement,
                                     .nodes = nodes,
                                     .node_count = node_count,
                                     .tokens_per_weight = tokens};
    CW_ASSERT(cw_map_create(&options, &map, NULL) == CW_OK);
    free(nodes);
    free(ids);
    return map;
}

static double time_change_ms(const struct cw_map *from)
{
    uint32_t count = cw_map_node_count(from);
    struct cw_node *nodes = calloc(count + 1, sizeof *nodes);
    struct cw_map *to = NULL;
    CW_ASSERT(nodes);
    for (uint32_t i = 0; i < count; i++)
        nodes[i] = *cw_map_node(from, i);
    nodes[count] = (struct cw_node){.id = "another", .weight = 1};
    double start = now_ns();
    CW_ASSERT(cw_map_change(from, nodes, count + 1, &to, NULL) == CW_OK);
    double took = (now_ns() - start) / 1e6;
    cw_map_unref(&to);
    free(nodes);
    return took;
}

/* ---- what is printed ---- */

static void print_lookup(const char *name, uint32_t nodes, const struct racer *racers,
                         const struct cw_map *map)
{
    if (json)
        printf("%s\n    {\"placement\": \"%s\", \"nodes\": %u, \"single_ns\": %.2f, "
               "\"batch_ns\": %.2f, \"dependent_ns\": %.2f, \"bytes\": %zu}",
               first_row ? "" : ",", name, nodes, racers[0].best_ns, racers[1].best_ns,
               racers[2].best_ns, cw_map_memory(map));
    else
        printf("%-11s %6u %9.2f %9.2f %9.2f %11.1f\n", name, nodes, racers[0].best_ns,
               racers[1].best_ns, racers[2].best_ns, (double)cw_map_memory(map) / 1024);
    first_row = 0;
}

/* at_least: whether the mark is a floor or a ceiling. */
static void print_mark(const char *what, double value, double mark, const char *unit, int at_least)
{
    int holds = at_least ? value >= mark : value <= mark;
    if (json)
        printf("%s\n    {\"what\": \"%s\", \"value\": %.3f, \"mark\": %g, \"unit\": \"%s\", "
               "\"holds\": %s}",
               first_row ? "" : ",", what, value, mark, unit, holds ? "true" : "false");
    else
        printf("%-60s %8.2f %s, mark %s %g%s\n", what, value, unit, at_least ? ">=" : "<=", mark,
               holds ? "" : "  MISSED");
    first_row = 0;
}

static void measure_lookups(void)
{
    static const uint32_t sizes[] = {10, 100, 1000, 10000};
    if (!json)
        printf("%-11s %6s %9s %9s %9s %11s\n", "placement", "nodes", "single ns", "batch ns",
               "depend ns", "memory KiB");
    for (enum cw_placement p = CW_PLACEMENT_SLOTS; p < CW_PLACEMENT_PROFILE; p++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct cw_map *map = make_map(p, sizes[i], 0);
            int slow = p == CW_PLACEMENT_RENDEZVOUS && sizes[i] > 100;
            int count = slow ? KEYS_SLOW : KEYS, before = rounds;
            struct racer racers[] = {{"single", run_single, map, NULL, count, 0},
                                     {"batch", run_batch, map, NULL, count, 0},
                                     {"dependent", run_dependent, map, NULL, count, 0}};
            rounds = slow ? ROUNDS_QUICK / 2 : rounds;
            race(racers, 3);
            rounds = before;
            print_lookup(cw_placement_name(p), sizes[i], racers, map);
            cw_map_unref(&map);
        }
}

static void measure_ring(uint32_t nodes, double batch_mark)
{
    struct cw_map *map = make_map(CW_PLACEMENT_RING, nodes, 160);
    struct racer racers[] = {{"binary search", run_branchy, map, NULL, KEYS, 0},
                             {"branch-free", run_branch_free, map, NULL, KEYS, 0},
                             {"single", run_single, map, NULL, KEYS, 0},
                             {"batch", run_batch, map, NULL, KEYS, 0}};
    char what[96];
    race(racers, 4);
    if (!json)
        printf("ring %u x 160: binary search %.1f ns, branch-free %.1f, single %.2f, batch %.2f\n",
               nodes, racers[0].best_ns, racers[1].best_ns, racers[2].best_ns, racers[3].best_ns);
    snprintf(what, sizeof what, "ring %u x 160, batch, to the usual binary search", nodes);
    print_mark(what, racers[0].best_ns / racers[3].best_ns, batch_mark, "times", 1);
    if (nodes == 1000)
        print_mark("ring 1000 x 160, single, to the usual binary search",
                   racers[0].best_ns / racers[2].best_ns, 15, "times", 1);
    cw_map_unref(&map);
}

static void measure_against_jump(void)
{
    struct cw_map *jump = make_map(CW_PLACEMENT_JUMP, 1000, 0);
    struct cw_map *slots = make_map(CW_PLACEMENT_SLOTS, 1000, 0);
    struct cw_map *jump_large = make_map(CW_PLACEMENT_JUMP, 10000, 0);
    struct cw_map *round = make_map(CW_PLACEMENT_ROUND, 10000, 0);
    struct racer racers[] = {{"jump loop", run_jump, jump, NULL, KEYS, 0},
                             {"slots", run_single, slots, NULL, KEYS, 0},
                             {"slots", run_batch, slots, NULL, KEYS, 0},
                             {"jump", run_batch, jump, NULL, KEYS, 0},
                             {"jump loop", run_jump, jump_large, NULL, KEYS, 0},
                             {"round", run_single, round, NULL, KEYS, 0},
                             {"round", run_batch, round, NULL, KEYS, 0}};
    race(racers, 7);
    double loop = racers[0].best_ns, loop_large = racers[4].best_ns;
    print_mark("slots, 1000 nodes, single, to the jump loop", loop / racers[1].best_ns, 18, "times",
               1);
    print_mark("slots, 1000 nodes, batch, to the jump loop", loop / racers[2].best_ns, 40, "times",
               1);
    print_mark("jump, 1000 nodes, batch, to its loop", loop / racers[3].best_ns, 8, "times", 1);
    print_mark("round, 10000 nodes, single, to the jump loop", loop_large / racers[5].best_ns, 15,
               "times", 1);
    print_mark("round, 10000 nodes, batch, to the jump loop", loop_large / racers[6].best_ns, 80,
               "times", 1);
    cw_map_unref(&jump);
    cw_map_unref(&slots);
    cw_map_unref(&jump_large);
    cw_map_unref(&round);
}

static void measure_rendezvous(void)
{
    struct cw_map *widest = make_map(CW_PLACEMENT_RENDEZVOUS, 100, 0);
    struct cw_map *avx2 = make_map(CW_PLACEMENT_RENDEZVOUS, 100, 0);
    if (avx2->vectors > VECTORS_AVX2)
        avx2->vectors = VECTORS_AVX2;
    struct racer racers[] = {{"one hash a node", run_rendezvous, widest, NULL, KEYS, 0},
                             {"batch", run_batch, widest, NULL, KEYS, 0},
                             {"batch, AVX2", run_batch, avx2, NULL, KEYS, 0}};
    race(racers, 3);
    print_mark("rendezvous, 100 nodes, batch, to one hash a node",
               racers[0].best_ns / racers[1].best_ns, 12, "times", 1);
    print_mark("rendezvous, 100 nodes, batch with AVX2, to one hash a node",
               racers[0].best_ns / racers[2].best_ns, 12, "times", 1);
    cw_map_unref(&widest);
    cw_map_unref(&avx2);
}

static void measure_end_to_end(void)
{
    struct cw_map *slots = make_map(CW_PLACEMENT_SLOTS, 1000, 0);
    struct memcached_library library = memcached_library_open(100);
    struct racer racers[] = {{"XXH3", run_hash, slots, NULL, KEYS, 0},
                             {"single", run_text_single, slots, NULL, KEYS, 0},
                             {"batch", run_text_batch, slots, NULL, KEYS, 0},
                             {"libmemcached", run_memcached, slots, &library, KEYS, 0}};
    race(racers, library.pool ? 4 : 3);
    if (!json)
        printf("16-byte keys: XXH3 alone %.2f ns, slots single %.2f, batch %.2f\n",
               racers[0].best_ns, racers[1].best_ns, racers[2].best_ns);
    print_mark("slots, 16-byte keys, single, to XXH3 alone", racers[1].best_ns / racers[0].best_ns,
               2, "times", 0);
    print_mark("slots, 16-byte keys, batch, to XXH3 alone", racers[2].best_ns / racers[0].best_ns,
               1.6, "times", 0);
    if (library.pool)
        print_mark("libmemcached's ketama, 100 servers, to slots single",
                   racers[3].best_ns / racers[1].best_ns, 1, "times", 1);
    else if (!json)
        puts("libmemcached is not installed: no comparison with its ketama");
    cw_map_unref(&slots);
}

enum { LARGE_RING_NODES = 65536, LARGE_RING_TOKENS = 1000 };
#define LARGE_RING_POINTS ((double)LARGE_RING_NODES * LARGE_RING_TOKENS)

struct large_ring {
    double seconds, bytes_kept, bytes_peak;
};

static double resident_max_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static struct large_ring build_large_ring(void)
{
    double before = resident_max_bytes(), start = now_ns();
    struct cw_map *map = make_map(CW_PLACEMENT_RING, LARGE_RING_NODES, LARGE_RING_TOKENS);
    struct large_ring ring = {.seconds = (now_ns() - start) / 1e9,
                              .bytes_kept = (double)cw_map_memory(map),
                              .bytes_peak = resident_max_bytes() - before};
    cw_map_unref(&map);
    return ring;
}

/* In a process of its own, so that its peak of memory is its own too. */
static struct large_ring build_large_ring_apart(void)
{
    struct large_ring ring = {0};
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        ring = build_large_ring();
        _exit(write(ends[1], &ring, sizeof ring) != sizeof ring);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &ring, sizeof ring) != sizeof ring)
        exit(1);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return ring;
}

static void measure_builds(int quick)
{
    double best_fill = 1e18, best_change = 1e18;
    for (int i = 0; i < 5; i++) {
        double start = now_ns();
        struct cw_map *map = make_map(CW_PLACEMENT_SLOTS, 1000, 0);
        double fill = (now_ns() - start) / 1e6, change = time_change_ms(map);
        best_fill = fill < best_fill ? fill : best_fill;
        best_change = change < best_change ? change : best_change;
        cw_map_unref(&map);
    }
    print_mark("slots, 1000 nodes, first fill", best_fill, 500, "ms", 0);
    print_mark("slots, 1000 nodes, a node joins", best_change, 20, "ms", 0);
    if (quick)
        return;
    struct large_ring ring = build_large_ring_apart();
    print_mark("ring, 65536 x 1000, build", ring.seconds, 8, "s", 0);
    print_mark("ring, 65536 x 1000, memory a point", ring.bytes_kept / LARGE_RING_POINTS, 24,
               "bytes", 0);
    print_mark("ring, 65536 x 1000, memory a point at the peak",
               ring.bytes_peak / LARGE_RING_POINTS, 48, "bytes", 0);
}

int main(int argc, char **argv)
{
    int quick = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = 1;
        else if (strcmp(argv[i], "--quick") == 0)
            quick = 1;
        else
            return bench_usage("placement [--json] [--quick]", argv[i]);
    }
    make_texts();
    if (quick)
        rounds = ROUNDS_QUICK;
    if (json)
        printf("{\"vectors\": %d, \"lookups\": [", vectors_found());
    measure_lookups();
    printf(json ? "], \"marks\": [" : "\n");
    first_row = 1;
    measure_ring(1000, 40);
    measure_ring(10000, 25);
    measure_against_jump();
    measure_rendezvous();
    measure_end_to_end();
    measure_builds(quick);
    if (json)
        printf("\n  ]}\n");
    return 0;
}
