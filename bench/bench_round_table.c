/*
 * What the round table asks of its device and keeps in its stash, by base (1 is linear hashing), as
 * it grows from 1024 to 4096 blocks of 64 records; and, at the end, reads, blocks written, syncs
 * and time for each kind of call.
 *
 *   round_table [--json] [--load 0.85] [--file PATH] [--sync]
 *
 * Without --file the blocks are in memory; a file is made anew and removed. Its syncs are counted,
 * and done only with --sync: then a run takes one for each of the 700,000 calls.
 */
#include <clockwise/round_table.h>

#include "base/assert.h"
#include "usage.h"
#include "base/random.h"
#include "store/block_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK_SIZE = 4096, KEY_SIZE = 16, VALUE_SIZE = 47, BLOCKS_FROM = 1024, BLOCKS_TO = 4096 };
enum { CALLS = 2000, CUTS = 256 };

#define NO_KEY ((uint64_t)1 << 40) /* keys from here on are never inserted */

/* Passes everything on to memory or a file, and counts. */
struct meter {
    struct cw_block_device device;
    struct block_file file;
    const char *path; /* NULL: memory */
    char *bytes;
    uint64_t reads, blocks_written, syncs;
};

static int meter_read(void *context, uint64_t block, void *ret_bytes)
{
    struct meter *meter = context;
    meter->reads++;
    if (meter->path)
        return meter->file.device.read(&meter->file, block, ret_bytes);
    memcpy(ret_bytes, meter->bytes + block * BLOCK_SIZE, BLOCK_SIZE);
    return 0;
}

static int meter_write(void *context, uint64_t block, uint32_t block_count, const void *bytes)
{
    struct meter *meter = context;
    meter->blocks_written += block_count;
    if (meter->path)
        return meter->file.device.write(&meter->file, block, block_count, bytes);
    memcpy(meter->bytes + block * BLOCK_SIZE, bytes, (size_t)block_count * BLOCK_SIZE);
    return 0;
}

static int meter_sync(void *context)
{
    struct meter *meter = context;
    meter->syncs++;
    return meter->path ? meter->file.device.sync(&meter->file) : 0;
}

static int meter_resize(void *context, uint64_t block_count)
{
    struct meter *meter = context;
    if (meter->path)
        return meter->file.device.resize(&meter->file, block_count);
    char *moved = realloc(meter->bytes, block_count * BLOCK_SIZE);
    if (!moved)
        return -1;
    meter->bytes = moved;
    return 0;
}

static void meter_open(struct meter *meter, const char *path, bool sync)
{
    *meter = (struct meter){.path = path,
                            .device = {.context = meter,
                                       .block_size = BLOCK_SIZE,
                                       .read = meter_read,
                                       .write = meter_write,
                                       .sync = meter_sync,
                                       .resize = meter_resize}};
    if (!path)
        return;
    int error = block_file_create(&meter->file, path, BLOCK_SIZE);
    if (error) {
        fprintf(stderr, "round_table: %s: %s\n", path, strerror(-error));
        exit(1);
    }
    meter->file.no_sync = !sync;
}

static void meter_close(struct meter *meter)
{
    free(meter->bytes);
    if (!meter->path)
        return;
    block_file_close(&meter->file);
    unlink(meter->path);
}

/* ---- what is measured ------------------------------------------------------------------------ */

enum call { FIND, FIND_NONE, INSERT, REPLACE, DELETE, SHRINK, GROW, CALL_KINDS };

static const char *const call_names[CALL_KINDS] = {"find",   "find, not there", "insert", "replace",
                                                   "delete", "shrink",          "grow"};

struct cost {
    double reads, written, syncs, ns; /* for each call, on average */
    uint64_t reads_max, count;
};

struct result {
    uint32_t base;
    double average, worst; /* share of the stash */
    struct cw_round_table_stats stats;
    struct cost costs[CALL_KINDS];
};

/* The i-th key of the run. */
static void make_key(uint64_t i, unsigned char *ret_key)
{
    uint64_t halves[2] = {random_mix(i), i};
    memcpy(ret_key, halves, sizeof halves);
}

static int make_call(struct cw_round_table *table, enum call call, const unsigned char *key)
{
    unsigned char value[VALUE_SIZE] = {0};
    switch (call) {
    case INSERT:
    case REPLACE: return cw_round_table_insert(table, key, value);
    case DELETE: return cw_round_table_delete(table, key);
    case GROW: return cw_round_table_grow(table);
    case SHRINK: return cw_round_table_shrink(table);
    default: return cw_round_table_find(table, key, value);
    }
}

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The key of the i-th call of a kind, of a table with key_count keys. */
static void choose_key(enum call call, uint64_t i, uint64_t key_count, unsigned char *ret_key)
{
    uint64_t known = random_mix(i) % key_count;
    uint64_t number = call == FIND_NONE                  ? NO_KEY + known
                      : call == INSERT || call == DELETE ? key_count + i
                                                         : known;
    make_key(number, ret_key);
}

/* All calls of a kind; the clock is read once, for reading it costs as much as a call. */
static void measure(struct meter *meter, struct cw_round_table *table, enum call call,
                    uint64_t key_count, struct cost *ret_cost)
{
    unsigned char key[KEY_SIZE];
    struct meter before = *meter;
    struct cost cost = {.count = call == GROW || call == SHRINK ? CUTS : CALLS};
    double start = thread_ns();
    for (uint64_t i = 0; i < cost.count; i++) {
        uint64_t reads = meter->reads;
        choose_key(call, i, key_count, key);
        int status = make_call(table, call, key);
        CW_ASSERT(status == (call == FIND_NONE ? CW_ENOT_FOUND : CW_OK));
        if (meter->reads - reads > cost.reads_max)
            cost.reads_max = meter->reads - reads;
    }
    cost.ns = (thread_ns() - start) / (double)cost.count;
    cost.reads = (double)(meter->reads - before.reads) / (double)cost.count;
    cost.written = (double)(meter->blocks_written - before.blocks_written) / (double)cost.count;
    cost.syncs = (double)(meter->syncs - before.syncs) / (double)cost.count;
    *ret_cost = cost;
}

/* Inserts keys from *key on, growing at the load, and watches the stash. */
static void grow_table(struct cw_round_table *table, double load, uint64_t *key,
                       struct result *result)
{
    struct cw_round_table_stats *stats = &result->stats;
    for (cw_round_table_stats(table, stats); stats->block_count < BLOCKS_TO; ++*key) {
        unsigned char bytes[KEY_SIZE];
        make_key(*key, bytes);
        int status = make_call(table, INSERT, bytes);
        CW_ASSERT(status == CW_OK);
        cw_round_table_stats(table, stats);
        if ((double)stats->record_count <= load * stats->block_count * stats->block_capacity)
            continue;
        double share = (double)stats->stash_count / (double)stats->record_count;
        result->average += share / (BLOCKS_TO - BLOCKS_FROM);
        result->worst = share > result->worst ? share : result->worst;
        status = cw_round_table_grow(table);
        CW_ASSERT(status == CW_OK);
    }
}

static struct result run(uint32_t base, double load, const char *path, bool sync)
{
    struct cw_round_table_options options = {.key_size = KEY_SIZE,
                                             .value_size = VALUE_SIZE,
                                             .block_count = BLOCKS_FROM,
                                             .base = base,
                                             .stash_every = base < 8 ? 4 : 0};
    struct meter meter;
    struct cw_round_table *table = NULL;
    struct result result = {.base = base};
    uint64_t key_count = 0;
    meter_open(&meter, path, sync);
    int status = cw_round_table_create(&meter.device, &options, &table, NULL);
    CW_ASSERT(status == CW_OK);
    grow_table(table, load, &key_count, &result);
    for (enum call call = 0; call < CALL_KINDS; call++)
        measure(&meter, table, call, key_count, &result.costs[call]);
    status = cw_round_table_check(table);
    CW_ASSERT(status == CW_OK);
    cw_round_table_stats(table, &result.stats);
    cw_round_table_close(&table);
    meter_close(&meter);
    return result;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_table(const struct result *result)
{
    printf("\nbase %u: stash %.2f %% of the records on average, %.2f %% at worst, at 4096 blocks; "
           "%.1f MB in memory, %.1f on the device\n",
           result->base, 100 * result->average, 100 * result->worst,
           (double)result->stats.memory / 1e6,
           (double)result->stats.device_blocks * BLOCK_SIZE / 1e6);
    printf("  %-18s %7s %9s %9s %7s %9s\n", "call", "reads", "at most", "written", "syncs", "ns");
    for (int call = 0; call < CALL_KINDS; call++) {
        const struct cost *cost = &result->costs[call];
        printf("  %-18s %7.2f %9llu %9.2f %7.2f %9.0f\n", call_names[call], cost->reads,
               (unsigned long long)cost->reads_max, cost->written, cost->syncs, cost->ns);
    }
}

static void print_json(const struct result *result, bool first)
{
    printf("%s\n  {\"base\": %u, \"stash_average\": %.5f, \"stash_worst\": %.5f, \"records\": %llu,"
           " \"memory_bytes\": %zu, \"calls\": [",
           first ? "" : ",", result->base, result->average, result->worst,
           (unsigned long long)result->stats.record_count, result->stats.memory);
    for (int call = 0; call < CALL_KINDS; call++) {
        const struct cost *cost = &result->costs[call];
        printf(
            "%s\n    {\"call\": \"%s\", \"reads\": %.3f, \"reads_max\": %llu, \"written\": %.3f, "
            "\"syncs\": %.3f, \"ns\": %.0f}",
            call ? "," : "", call_names[call], cost->reads, (unsigned long long)cost->reads_max,
            cost->written, cost->syncs, cost->ns);
    }
    printf("]}");
}

struct arguments {
    const char *unknown; /* the first argument that makes no sense */
    bool json, sync;
    double load;
    const char *path;
};

static bool read_arguments(int argc, char **argv, struct arguments *ret_arguments)
{
    *ret_arguments = (struct arguments){.load = 0.85};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--json") == 0)
            ret_arguments->json = true;
        else if (strcmp(argv[i], "--sync") == 0)
            ret_arguments->sync = true;
        else if (strcmp(argv[i], "--load") == 0 && has_value)
            ret_arguments->load = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--file") == 0 && has_value)
            ret_arguments->path = argv[++i];
        else
            return ret_arguments->unknown = argv[i], false;
    }
    ret_arguments->unknown = "--load";
    return ret_arguments->load >= 0.1 && ret_arguments->load <= 0.95;
}

int main(int argc, char **argv)
{
    static const uint32_t bases[] = {1, 8, 32};
    struct arguments arguments;
    if (!read_arguments(argc, argv, &arguments))
        return bench_usage("round_table [--json] [--load 0.1 .. 0.95] [--file PATH] [--sync]",
                           arguments.unknown);
    if (arguments.json)
        printf("{\"block_capacity\": 64, \"load\": %.2f, \"results\": [", arguments.load);
    else
        printf("64 records of 63 bytes a block, load %.2f, grown from %d to %d blocks\n",
               arguments.load, BLOCKS_FROM, BLOCKS_TO);
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        struct result result = run(bases[i], arguments.load, arguments.path, arguments.sync);
        if (arguments.json)
            print_json(&result, i == 0);
        else
            print_table(&result);
    }
    if (arguments.json)
        printf("]}\n");
    return 0;
}
