/*
 * Comparing values piece by piece. Hashes, sets and sorted sets have no order: the source is walked
 * through, and the target asked about each element; with equal lengths that is enough. Strings,
 * lists and streams are compared window by window.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/verify_internal.h"

enum { FIRST_ASK = 64, WINDOW_BYTES = MOVE_CHUNK_BYTES };

struct verify_type {
    const char *name, *length, *read;
    const char *probe; /* asks the target about elements; NULL: by windows */
    uint32_t parts;    /* strings that an element has on the source */
    /* Whether the target's answer about an element is the second part of it. */
    bool (*is_same)(struct answer *answer, const struct slice *parts);
    /* Asks one side for the next window, and sees how long it was. */
    void (*ask)(struct verify_side *side);
    bool (*take)(struct verify_key *key, struct answer *answer);
    void (*after)(struct verify_key *key); /* what else there is to compare */
};

static void next_piece(struct verify_key *key);

static void differ_in_value(struct verify_key *key)
{
    key->differs = "has another value";
}

static void strange(struct verify_side *side)
{
    job_fail_strange(&side->key->verify->job, side->peer, side->key->type->read);
}

static void flush(struct verify_key *key)
{
    peer_flush(key->sides[VERIFY_SOURCE].peer);
    peer_flush(key->sides[VERIFY_TARGET].peer);
}

static void adapt(struct verify_key *key, uint64_t elements, uint64_t bytes)
{
    if (elements == 0)
        return;
    uint64_t fit = MOVE_CHUNK_BYTES / (bytes / elements + 1);
    key->ask = fit > MOVE_CHUNK_ELEMENTS ? MOVE_CHUNK_ELEMENTS : fit ? (uint32_t)fit : 1;
    throttle_take(key->verify->job.move->throttle, 0, bytes);
}

/* ---- without order ----------------------------------------------------------------------------
 */

/* The elements in key->chunk: after the cursor. */
static struct answer chunk_elements(const struct verify_key *key, size_t *ret_count)
{
    struct answer answer = answer_start(buffer_bytes(&key->chunk), key->chunk.len);
    size_t two;
    *ret_count = 0;
    if (answer_array(&answer, &two) && answer_skip(&answer))
        answer_array(&answer, ret_count);
    return answer;
}

static bool read_element(const struct verify_key *key, struct answer *answer, struct slice *parts)
{
    for (uint32_t i = 0; i < key->type->parts; i++)
        if (!answer_text(answer, &parts[i]))
            return false;
    return true;
}

static void on_probe(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    struct verify_key *key = side->key;
    struct slice parts[2];
    if (verify_enter(side, reply, len)) {
        struct answer there = answer_start(reply, len);
        size_t count, answers;
        struct answer here = chunk_elements(key, &count);
        bool fine = answer_array(&there, &answers) && answers * key->type->parts == count;
        for (size_t i = 0; fine && i < answers && !key->differs; i++) {
            fine = read_element(key, &here, parts);
            if (fine && !key->type->is_same(&there, parts))
                differ_in_value(key);
        }
        if (!fine)
            job_fail_strange(&key->verify->job, side->peer, key->type->probe);
    }
    verify_leave(key);
}

static void probe(struct verify_key *key)
{
    struct buffer args = BUFFER_INIT;
    size_t count;
    struct answer answer = chunk_elements(key, &count);
    struct slice head[] = {slice_of(key->type->probe), verify_name(key)}, parts[2];
    bool fine = buffer_append(&args, (const char *)head, sizeof head);
    for (size_t i = 0; fine && i < count / key->type->parts; i++)
        fine = read_element(key, &answer, parts) &&
               buffer_append(&args, (const char *)parts, sizeof parts[0]);
    key->next = next_piece;
    if (!fine)
        job_fail_memory(&key->verify->job);
    else if (count == 0)
        next_piece(key);
    else
        verify_ask(&key->sides[VERIFY_TARGET],
                   (const struct slice *)(const void *)buffer_bytes(&args),
                   args.len / sizeof(struct slice), on_probe);
    buffer_release(&args);
    flush(key);
}

/* Checks all of the reply once, so that it can be walked through again. */
static bool take_scan(struct verify_key *key, const char *reply, size_t len)
{
    struct answer answer = answer_start(reply, len);
    struct slice cursor, parts[2];
    size_t two, count;
    if (!answer_array(&answer, &two) || two != 2 || !answer_text(&answer, &cursor) ||
        cursor.len == 0 || cursor.len >= sizeof key->cursor || !answer_array(&answer, &count) ||
        count % key->type->parts != 0)
        return false;
    memcpy(key->cursor, cursor.ptr, cursor.len);
    key->cursor[cursor.len] = '\0';
    key->is_whole = slice_is(cursor, "0");
    for (size_t i = 0; i < count / key->type->parts; i++)
        if (!read_element(key, &answer, parts))
            return false;
    adapt(key, count / key->type->parts, len);
    return true;
}

static void on_scan(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    struct verify_key *key = side->key;
    if (verify_enter(side, reply, len)) {
        buffer_clear(&key->chunk);
        if (!take_scan(key, reply, len))
            strange(side);
        else if (!buffer_append(&key->chunk, reply, len))
            job_fail_memory(&key->verify->job);
    }
    verify_leave(key);
}

static void ask_scan(struct verify_key *key)
{
    char count[16];
    snprintf(count, sizeof count, "%u", key->ask);
    struct slice args[] = {slice_of(key->type->read), verify_name(key), slice_of(key->cursor),
                           slice_of("COUNT"), slice_of(count)};
    key->next = probe;
    verify_ask(&key->sides[VERIFY_SOURCE], args, 5, on_scan);
}

static bool is_same_text(struct answer *answer, const struct slice *parts)
{
    struct slice text;
    struct answer at = *answer;
    if (!answer_skip(answer))
        return false;
    return answer_text(&at, &text) && slice_equal(text, parts[1]);
}

static bool is_member(struct answer *answer, const struct slice *parts)
{
    int64_t number;
    (void)parts;
    return answer_integer(answer, &number) && number == 1;
}

static double score_of(struct slice text)
{
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(text.len < 63 ? text.len : 63), text.ptr);
    return strtod(copy, NULL);
}

/* Versions write the same score in different ways. */
static bool is_same_score(struct answer *answer, const struct slice *parts)
{
    struct slice text;
    struct answer at = *answer;
    return answer_skip(answer) && answer_text(&at, &text) &&
           (slice_equal(text, parts[1]) || score_of(text) == score_of(parts[1]));
}

/* ---- by windows -------------------------------------------------------------------------------
 */

static void on_window(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    struct verify_key *key = side->key;
    if (verify_enter(side, reply, len)) {
        struct answer answer = answer_start(reply, len);
        side->digest = cw_hash(reply, len);
        if (side == &key->sides[VERIFY_SOURCE] && !key->type->take(key, &answer))
            strange(side);
    }
    verify_leave(key);
}

static void compare_windows(struct verify_key *key)
{
    if (key->sides[VERIFY_SOURCE].digest != key->sides[VERIFY_TARGET].digest) {
        differ_in_value(key);
        verify_key_end(key);
    } else {
        next_piece(key);
    }
}

static void ask_range(struct verify_side *side, uint64_t count)
{
    const struct verify_key *key = side->key;
    char first[24], last[24];
    snprintf(first, sizeof first, "%" PRIu64, key->position);
    snprintf(last, sizeof last, "%" PRIu64, key->position + count - 1);
    struct slice args[] = {slice_of(key->type->read), verify_name(key), slice_of(first),
                           slice_of(last)};
    verify_ask(side, args, 4, on_window);
}

static void ask_string(struct verify_side *side)
{
    ask_range(side, WINDOW_BYTES);
}

static bool take_string(struct verify_key *key, struct answer *answer)
{
    struct slice bytes;
    if (!answer_text(answer, &bytes))
        return false;
    key->position += bytes.len;
    key->is_whole = bytes.len < WINDOW_BYTES;
    throttle_take(key->verify->job.move->throttle, 0, bytes.len);
    return true;
}

static void ask_list(struct verify_side *side)
{
    ask_range(side, side->key->ask);
}

static bool take_list(struct verify_key *key, struct answer *answer)
{
    size_t count;
    size_t bytes = (size_t)(answer->end - answer->at);
    if (!answer_array(answer, &count))
        return false;
    key->position += count;
    key->is_whole = count < key->ask;
    adapt(key, count, bytes);
    return true;
}

static void ask_stream(struct verify_side *side)
{
    const struct verify_key *key = side->key;
    char count[16];
    snprintf(count, sizeof count, "%u", key->ask);
    struct slice args[] = {
        slice_of("XRANGE"), verify_name(key),  slice_of(key->cursor[0] == '(' ? key->cursor : "-"),
        slice_of("+"),      slice_of("COUNT"), slice_of(count)};
    verify_ask(side, args, 6, on_window);
}

static bool take_stream(struct verify_key *key, struct answer *answer)
{
    size_t count, two;
    size_t bytes = (size_t)(answer->end - answer->at);
    if (!answer_array(answer, &count))
        return false;
    key->is_whole = count < key->ask;
    for (size_t i = 0; i < count; i++) {
        struct slice id;
        if (!answer_array(answer, &two) || two != 2 || !answer_text(answer, &id) || id.len == 0 ||
            id.len + 2 > sizeof key->cursor || !answer_skip(answer))
            return false;
        snprintf(key->cursor, sizeof key->cursor, "(%.*s", (int)id.len, id.ptr);
    }
    adapt(key, count, bytes);
    return true;
}

/* ---- the groups of a stream -------------------------------------------------------------------
 */

static void add_digest(struct verify_side *side, const struct answer *group, const char *field)
{
    struct answer value;
    struct slice raw;
    if (answer_find(group, field, &value) && answer_raw(&value, &raw))
        side->digest = (side->digest ^ cw_hash(raw.ptr, raw.len)) * 0x9e3779b97f4a7c15u;
}

/* The last id says where new entries go on. */
static void on_stream_info(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    if (verify_enter(side, reply, len)) {
        struct answer info = answer_start(reply, len);
        add_digest(side, &info, "last-generated-id");
    }
    verify_leave(side->key);
}

/* Entries that were deleted and still are pending cannot be made by commands. */
static void on_groups(void *context, const char *reply, size_t len)
{
    struct verify_side *side = context;
    if (verify_enter(side, reply, len)) {
        struct answer answer = answer_start(reply, len), value;
        size_t count = 0;
        int64_t pending;
        bool fine = answer_array(&answer, &count);
        side->length = 0;
        for (size_t i = 0; fine && i < count; i++) {
            add_digest(side, &answer, "name");
            add_digest(side, &answer, "consumers");
            add_digest(side, &answer, "last-delivered-id");
            fine = answer_find(&answer, "pending", &value) && answer_integer(&value, &pending) &&
                   answer_skip(&answer);
            side->length += fine ? pending : 0;
        }
        if (!fine)
            job_fail_strange(&side->key->verify->job, side->peer, "XINFO GROUPS");
    }
    verify_leave(side->key);
}

static void compare_groups(struct verify_key *key)
{
    const struct verify_side *source = &key->sides[VERIFY_SOURCE];
    const struct verify_side *target = &key->sides[VERIFY_TARGET];
    if (source->digest != target->digest || target->length > source->length)
        key->differs = "has other consumer groups, or another last id";
    verify_key_end(key);
}

static void ask_groups(struct verify_key *key)
{
    struct slice info[] = {slice_of("XINFO"), slice_of("STREAM"), verify_name(key)};
    struct slice groups[] = {slice_of("XINFO"), slice_of("GROUPS"), verify_name(key)};
    key->next = compare_groups;
    for (int i = VERIFY_SOURCE; i <= VERIFY_TARGET; i++) {
        key->sides[i].digest = 0;
        verify_ask(&key->sides[i], info, 3, on_stream_info);
        verify_ask(&key->sides[i], groups, 3, on_groups);
    }
    flush(key);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const struct verify_type types[] = {
    {"string", "STRLEN", "GETRANGE", NULL, 1, NULL, ask_string, take_string, NULL},
    {"hash", "HLEN", "HSCAN", "HMGET", 2, is_same_text, NULL, NULL, NULL},
    {"set", "SCARD", "SSCAN", "SMISMEMBER", 1, is_member, NULL, NULL, NULL},
    {"zset", "ZCARD", "ZSCAN", "ZMSCORE", 2, is_same_score, NULL, NULL, NULL},
    {"list", "LLEN", "LRANGE", NULL, 1, NULL, ask_list, take_list, NULL},
    {"stream", "XLEN", "XRANGE", NULL, 1, NULL, ask_stream, take_stream, ask_groups},
};

const struct verify_type *verify_find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

const char *verify_length_command(const struct verify_type *type)
{
    return type->length;
}

static void ask_windows(struct verify_key *key)
{
    key->next = compare_windows;
    for (int i = VERIFY_SOURCE; i <= VERIFY_TARGET; i++)
        key->type->ask(&key->sides[i]);
}

static void next_piece(struct verify_key *key)
{
    if (key->differs || (key->is_whole && !key->type->after)) {
        verify_key_end(key);
        return;
    }
    if (key->is_whole)
        key->type->after(key);
    else if (key->type->probe)
        ask_scan(key);
    else
        ask_windows(key);
    flush(key);
}

void verify_value(struct verify_key *key)
{
    key->is_whole = false;
    key->position = 0;
    key->ask = FIRST_ASK;
    snprintf(key->cursor, sizeof key->cursor, "0");
    next_piece(key);
}
