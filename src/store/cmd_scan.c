/*
 * SCAN, KEYS and RANDOMKEY.
 *
 * SCAN walks the records in the order of their hashes, and its cursor is the upper 48 bits of the
 * hash at which the next call goes on: no state is kept, a key that is there all the time is
 * returned whatever comes and goes around it, and the router has 16 bits left for the node. Keys
 * that share those 48 bits are returned together, more than COUNT of them if need be; that is
 * commonly the case only for keys with the same hash tag.
 */
#include <inttypes.h>
#include <stdio.h>

#include "store/glob.h"
#include "store/handlers.h"

enum {
    CURSOR_BITS = 48,
    SCAN_COUNT = 10,          /* unless COUNT says otherwise */
    SCAN_VISITS_MAX = 10000,  /* whatever COUNT says: a call must not hold up the others */
    SCAN_REPLY_MAX = 1 << 20, /* bytes; likewise */
    PATTERN_LEN_MAX = 4096,   /* longer ones only serve to burn time */
    RANDOM_STEPS = 8,
    RANDOM_VISITS_MAX = 1000,
};

static uint64_t position_of(uint64_t hash)
{
    return hash >> (64 - CURSOR_BITS);
}

/* ---- what both SCAN and KEYS want ------------------------------------------------------------ */

struct filter {
    struct slice pattern;
    bool has_pattern; /* "*" is none */
    bool is_empty;    /* nothing fits: a type that is not a string */
};

static bool set_pattern(struct call *call, struct filter *filter, struct slice pattern)
{
    if (pattern.len > PATTERN_LEN_MAX) {
        reply_errorf(call, "ERR the pattern is longer than %d bytes", PATTERN_LEN_MAX);
        return false;
    }
    filter->pattern = pattern;
    filter->has_pattern = pattern.len != 1 || pattern.ptr[0] != '*';
    return true;
}

/* A damaged record's key is listed: who asks for it is told. */
static bool passes(const struct call *call, const struct filter *filter, struct slice key,
                   const struct record *record)
{
    if (filter->is_empty || (record && record_is_expired(record, call->keyspace->now_ms)))
        return false;
    return !filter->has_pattern || glob_match(filter->pattern, key);
}

/* Adds a key to the reply to come. False: enough, it is too long or memory is out. */
static bool list_key(struct call *call, struct slice key)
{
    struct buffer *listed = &call->engine->listed;
    if (!resp_write_bulk(listed, key.ptr, key.len)) {
        call->is_unwritable = true;
        return false;
    }
    if (listed->len > call->engine->reply_len_max)
        call->is_oversize = true;
    return !call->is_oversize;
}

/* ---- KEYS ------------------------------------------------------------------------------------ */

struct keys_walk {
    struct call *call;
    struct filter filter;
    size_t count;
};

static bool visit_key(void *context, uint64_t hash, struct slice key, const struct record *record)
{
    struct keys_walk *walk = context;
    if (!passes(walk->call, &walk->filter, key, record))
        return true;
    walk->count++;
    return list_key(walk->call, key);
}

void cmd_keys(struct call *call)
{
    struct keys_walk walk = {.call = call};
    if (!set_pattern(call, &walk.filter, arg(call, 1)))
        return;
    keyspace_walk(call->keyspace, 0, visit_key, &walk);
    reply_listed(call, walk.count);
}

/* ---- SCAN ------------------------------------------------------------------------------------ */

struct scan {
    struct call *call;
    struct filter filter;
    uint64_t cursor, next; /* positions; next is 0 at the end */
    uint64_t visits_max, visits;
    uint64_t position; /* of the key last seen */
    size_t count;
};

static bool has_enough(const struct scan *scan)
{
    return scan->visits >= scan->visits_max || scan->call->engine->listed.len >= SCAN_REPLY_MAX;
}

static bool visit_scan(void *context, uint64_t hash, struct slice key, const struct record *record)
{
    struct scan *scan = context;
    uint64_t position = position_of(hash);
    if (position != scan->position && has_enough(scan)) {
        scan->next = position;
        return false;
    }
    scan->position = position;
    scan->visits++;
    if (!passes(scan->call, &scan->filter, key, record))
        return true;
    scan->count++;
    return list_key(scan->call, key);
}

static bool read_cursor(struct call *call, struct scan *scan)
{
    int64_t cursor;
    if (!resp_parse_integer(arg(call, 1), &cursor) || cursor < 0 || cursor >> CURSOR_BITS) {
        reply_error(call, "ERR invalid cursor");
        return false;
    }
    scan->cursor = (uint64_t)cursor;
    return true;
}

/* Reads the option at argument i and its value behind it. */
static bool read_scan_option(struct call *call, uint32_t i, struct scan *scan)
{
    int64_t count;
    if (i + 1 < arg_count(call) && arg_is(call, i, "match"))
        return set_pattern(call, &scan->filter, arg(call, i + 1));
    if (i + 1 < arg_count(call) && arg_is(call, i, "type")) {
        scan->filter.is_empty = !arg_is(call, i + 1, "string");
        return true;
    }
    if (i + 1 < arg_count(call) && arg_is(call, i, "count")) {
        if (!arg_integer(call, i + 1, &count))
            return false;
        if (count > 0) {
            scan->visits_max = count < SCAN_VISITS_MAX ? (uint64_t)count : SCAN_VISITS_MAX;
            return true;
        }
    }
    reply_syntax_error(call);
    return false;
}

void cmd_scan(struct call *call)
{
    struct scan scan = {.call = call, .visits_max = SCAN_COUNT};
    char text[24];
    if (!read_cursor(call, &scan))
        return;
    for (uint32_t i = 2; i < arg_count(call); i += 2)
        if (!read_scan_option(call, i, &scan))
            return;
    keyspace_walk(call->keyspace, scan.cursor << (64 - CURSOR_BITS), visit_scan, &scan);
    snprintf(text, sizeof text, "%" PRIu64, scan.next);
    reply_array(call, 2);
    reply_text(call, text);
    reply_listed(call, scan.count);
}

/* ---- RANDOMKEY ------------------------------------------------------------------------------- */

/* The key is one of the first few behind a random place: fair enough for hashes, which lie evenly,
 * and a few steps on so that keys with one hash tag all have a chance. */
struct random_walk {
    struct call *call;
    struct slice key;
    bool is_found;
    uint64_t steps, visits;
};

static bool visit_random(void *context, uint64_t hash, struct slice key,
                         const struct record *record)
{
    struct random_walk *walk = context;
    static const struct filter all;
    if (!passes(walk->call, &all, key, record))
        return ++walk->visits < RANDOM_VISITS_MAX;
    walk->key = key;
    walk->is_found = true;
    return walk->steps-- > 0;
}

void cmd_randomkey(struct call *call)
{
    struct random *random = &call->keyspace->random;
    struct random_walk walk = {.call = call, .steps = random_below(random, RANDOM_STEPS)};
    keyspace_walk(call->keyspace, random_next(random), visit_random, &walk);
    if (!walk.is_found)
        keyspace_walk(call->keyspace, 0, visit_random, &walk);
    if (walk.is_found)
        reply_bulk(call, walk.key);
    else
        reply_null(call);
}
