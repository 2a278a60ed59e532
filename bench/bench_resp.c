/*
 * What the wire costs: nanoseconds for each request parsed, reply scanned, reply written and
 * command looked up, from pipelines as a router reads them.
 *
 *   resp [--json] [--only NAME] [--count N]
 *
 * With --only and two counts under callgrind the difference is the number of instructions each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "usage.h"
#include "wire/command.h"
#include "wire/resp.h"

enum { BATCH = 100, ROUNDS = 5 };

static const struct resp_limits limits = {1 << 20, 512 << 20, 64 << 10, (size_t)1 << 31};

/* A pipeline of BATCH messages. */
static struct buffer pipeline = BUFFER_INIT;
static struct buffer out = BUFFER_INIT;
static volatile uint64_t sink;

static void fill(const char *message)
{
    buffer_clear(&pipeline);
    for (int i = 0; i < BATCH; i++)
        CW_ASSERT(buffer_append_text(&pipeline, message));
}

static void parse_requests(void)
{
    struct resp_request request;
    const char *at = buffer_bytes(&pipeline), *end = at + pipeline.len;
    resp_request_init(&request);
    while (at < end) {
        CW_ASSERT(resp_request_parse(&request, at, (size_t)(end - at), &limits) == RESP_DONE);
        at += request.length;
        resp_request_reset(&request);
    }
    resp_request_release(&request);
}

static void route_requests(void)
{
    struct resp_request request;
    struct command_key_range keys;
    const char *at = buffer_bytes(&pipeline), *end = at + pipeline.len;
    resp_request_init(&request);
    while (at < end) {
        CW_ASSERT(resp_request_parse(&request, at, (size_t)(end - at), &limits) == RESP_DONE);
        struct slice name = resp_request_arg(&request, at, 0);
        const struct command *command = command_find(name.ptr, name.len);
        CW_ASSERT(command && command_arity_fits(command, request.arg_count));
        CW_ASSERT(!command_find_keys(command, &request, at, &keys));
        sink += keys.count;
        at += request.length;
        resp_request_reset(&request);
    }
    resp_request_release(&request);
}

static void scan_replies(void)
{
    const char *at = buffer_bytes(&pipeline), *end = at + pipeline.len;
    while (at < end) {
        struct resp_scanner scanner;
        resp_scanner_init(&scanner);
        CW_ASSERT(resp_scan(&scanner, at, (size_t)(end - at), 1 << 30) == RESP_DONE);
        at += scanner.position;
    }
}

static void write_bulks(void)
{
    buffer_clear(&out);
    for (int i = 0; i < BATCH; i++)
        CW_ASSERT(resp_write_bulk(&out, "0123456789abcdef", 16));
}

static void write_integers(void)
{
    buffer_clear(&out);
    for (int i = 0; i < BATCH; i++)
        CW_ASSERT(resp_write_integer(&out, i * 1234567));
}

static void find_commands(void)
{
    for (int i = 0; i < BATCH; i++)
        sink += command_find("get", 3)->id;
}

#define KEY     "$16\r\nkey:000000000042\r\n"
#define VALUE64 "$64\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n"
#define TEN(x)  x x x x x x x x x x

static const struct work {
    const char *name;
    const char *message;
    void (*run)(void);
} works[] = {
    {"request GET", "*2\r\n$3\r\nGET\r\n" KEY, parse_requests},
    {"request SET of 64 bytes", "*3\r\n$3\r\nSET\r\n" KEY VALUE64, parse_requests},
    {"request MGET of 10", "*11\r\n$4\r\nMGET\r\n" TEN(KEY), parse_requests},
    {"request GET, inline", "GET key:000000000042\r\n", parse_requests},
    {"request GET, command and keys", "*2\r\n$3\r\nGET\r\n" KEY, route_requests},
    {"reply of 16 bytes", KEY, scan_replies},
    {"reply of 64 bytes", VALUE64, scan_replies},
    {"reply OK", "+OK\r\n", scan_replies},
    {"reply integer", ":1234\r\n", scan_replies},
    {"reply null", "$-1\r\n", scan_replies},
    {"reply of 10 strings", "*10\r\n" TEN(KEY), scan_replies},
    {"write 16 bytes", NULL, write_bulks},
    {"write integer", NULL, write_integers},
    {"find a command", NULL, find_commands},
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The best of some rounds: what disturbs a round only ever makes it slower. */
static double measure(const struct work *work, uint64_t count)
{
    double best = 0;
    if (work->message)
        fill(work->message);
    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();
        for (uint64_t done = 0; done < count; done += BATCH)
            work->run();
        double took = seconds() - start;
        if (round == 0 || took < best)
            best = took;
    }
    return best * 1e9 / (double)count;
}

static void report(const struct work *work, double ns, bool json, bool first)
{
    if (json)
        printf("%s{\"name\": \"%s\", \"ns\": %.2f}", first ? "" : ", ", work->name, ns);
    else
        printf("%-32s %8.1f ns\n", work->name, ns);
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    uint64_t count = 2000000;
    bool json = false, first = true;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            only = argv[++i];
        else if (strcmp(argv[i], "--count") == 0 && i + 1 < argc)
            count = strtoull(argv[++i], NULL, 10);
        else
            return bench_usage("resp [--json] [--only NAME] [--count N]", argv[i]);
    }
    printf("%s", json ? "{\"resp\": [" : "");
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        if (only && strcmp(only, works[i].name) != 0)
            continue;
        report(&works[i], measure(&works[i], count < BATCH ? BATCH : count), json, first);
        first = false;
    }
    printf("%s", json ? "]}\n" : "");
    buffer_release(&pipeline);
    buffer_release(&out);
    return 0;
}
