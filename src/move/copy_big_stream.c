/*
 * How a stream is read in pieces and written again: its entries under their own ids, then its
 * counters, then its groups, their consumers and what is pending with them. The order is that of
 * Redis's own rewriting of its log (rewriteStreamObject() in src/aof.c of Redis 7).
 *
 * The counters are read after the entries, so that they are never behind them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "move/copy_big_internal.h"

enum { ASK_MAX = 128 }; /* an entry is a call of its own */

static void next_group(struct copy_big *copy);

/* ---- entries ----------------------------------------------------------------------------------
 */

static bool take_id(struct copy_big *copy, struct slice id)
{
    if (id.len == 0 || id.len + 2 > sizeof copy->cursor)
        return false;
    copy->cursor[0] = '(';
    memcpy(copy->cursor + 1, id.ptr, id.len);
    copy->cursor[1 + id.len] = '\0';
    return true;
}

static void stream_ask(struct copy_big *copy, const struct copy_big_type *type)
{
    char count[16];
    if (copy->ask > ASK_MAX)
        copy->ask = ASK_MAX;
    snprintf(count, sizeof count, "%u", copy->ask);
    struct slice from = slice_of(copy->cursor[0] == '(' ? copy->cursor : "-");
    struct slice args[] = {slice_of(type->read), copy->key,         from,
                           slice_of("+"),        slice_of("COUNT"), slice_of(count)};
    copy_big_ask(copy, args, 6, copy_big_on_chunk);
}

static bool take_entry(struct copy_big *copy, const struct copy_big_type *type,
                       struct answer *answer)
{
    size_t two, count;
    struct slice id, field;
    if (!answer_array(answer, &two) || two != 2 || !answer_text(answer, &id) ||
        !take_id(copy, id) || !answer_array(answer, &count))
        return false;
    copy_big_add(copy, type->write, &id, 1);
    for (size_t i = 0; i < count; i++) {
        if (!answer_text(answer, &field))
            return false;
        copy_big_add_arg(copy, field);
    }
    copy_big_send_added(copy);
    return true;
}

static bool stream_take(struct copy_big *copy, const struct copy_big_type *type,
                        struct answer *answer)
{
    size_t count;
    const char *start = answer->at;
    if (!answer_array(answer, &count))
        return false;
    copy->is_whole = count < copy->ask;
    if (count == 0)
        return true;
    copy_big_begin_chunk(copy);
    for (size_t i = 0; i < count; i++)
        if (!take_entry(copy, type, answer))
            return false;
    copy_big_end_chunk(copy);
    copy_big_adapt(copy, count, (uint64_t)(answer->at - start));
    return true;
}

/* ---- what is pending in a group ---------------------------------------------------------------
 */

static struct slice group_name(const struct copy_big *copy)
{
    return key_list_at(&copy->groups, copy->group);
}

/* A group that was destroyed meanwhile: the stream will be marked and come again. */
static bool is_without_group(struct copy_big *copy, const char *reply, size_t len)
{
    struct slice error;
    if (!answer_is_error(reply, len, &error) || !answer_error_is(error, "NOGROUP"))
        return false;
    copy->pending--;
    copy->pending_got = 0;
    return true;
}

static bool claim(struct copy_big *copy, struct answer *answer)
{
    size_t four;
    struct slice id, consumer;
    int64_t idle_ms, deliveries;
    char time[24], count[24];
    if (!answer_array(answer, &four) || four != 4 || !answer_text(answer, &id) ||
        !take_id(copy, id) || !answer_text(answer, &consumer) ||
        !answer_integer(answer, &idle_ms) || !answer_integer(answer, &deliveries))
        return false;
    snprintf(time, sizeof time, "%" PRId64, copy->time_ms - idle_ms);
    snprintf(count, sizeof count, "%" PRId64, deliveries);
    struct slice args[] = {slice_of("XCLAIM"), copy->temporary,   group_name(copy),
                           consumer,           slice_of("0"),     id,
                           slice_of("TIME"),   slice_of(time),    slice_of("RETRYCOUNT"),
                           slice_of(count),    slice_of("FORCE"), slice_of("JUSTID")};
    copy_big_tell(copy, args, sizeof args / sizeof args[0], copy_big_on_written);
    return true;
}

static void on_pending(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct answer answer = answer_start(reply, len);
    if (!is_without_group(copy, reply, len) &&
        copy_big_is_answered(copy, copy->source, reply, len)) {
        bool fine = answer_array(&answer, &copy->pending_got);
        for (size_t i = 0; fine && i < copy->pending_got; i++)
            fine = claim(copy, &answer);
        if (!fine)
            copy_big_fail_strange(copy, copy->source, "XPENDING");
        peer_flush(copy->target);
    }
    copy_big_go_on(copy);
}

/* XPENDING tells how long ago an entry was delivered; the node's own clock makes a time of it. */
static void on_time(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct answer answer = answer_start(reply, len);
    size_t two;
    int64_t seconds, microseconds;
    if (copy_big_is_answered(copy, copy->source, reply, len)) {
        if (answer_array(&answer, &two) && two == 2 && answer_integer(&answer, &seconds) &&
            answer_integer(&answer, &microseconds))
            copy->time_ms = seconds * 1000 + microseconds / 1000;
        else
            copy_big_fail_strange(copy, copy->source, "TIME");
    }
    copy_big_go_on(copy);
}

static void after_pending(struct copy_big *copy);

static void ask_pending(struct copy_big *copy)
{
    char count[16];
    struct slice time[] = {slice_of("TIME")};
    snprintf(count, sizeof count, "%d", ASK_MAX);
    struct slice from = slice_of(copy->cursor[0] == '(' ? copy->cursor : "-");
    struct slice args[] = {slice_of("XPENDING"), copy->key,      group_name(copy), from,
                           slice_of("+"),        slice_of(count)};
    copy->next = after_pending;
    copy_big_ask(copy, time, 1, on_time);
    copy_big_ask(copy, args, 6, on_pending);
    peer_flush(copy->source);
    copy_big_go_on(copy);
}

static void after_pending(struct copy_big *copy)
{
    if (copy->pending_got == ASK_MAX) {
        ask_pending(copy);
    } else {
        copy->group++;
        next_group(copy);
    }
}

/* ---- groups and consumers ---------------------------------------------------------------------
 */

static bool make_consumers(struct copy_big *copy, struct answer *answer)
{
    size_t count;
    bool fine = answer_array(answer, &count);
    for (size_t i = 0; fine && i < count; i++) {
        struct answer value;
        struct slice name;
        fine = answer_find(answer, "name", &value) && answer_text(&value, &name) &&
               answer_skip(answer);
        struct slice args[] = {slice_of("XGROUP"), slice_of("CREATECONSUMER"), copy->temporary,
                               group_name(copy), fine ? name : copy->key};
        if (fine)
            copy_big_tell(copy, args, 5, copy_big_on_written);
    }
    return fine;
}

static void on_consumers(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct answer answer = answer_start(reply, len);
    if (!is_without_group(copy, reply, len) &&
        copy_big_is_answered(copy, copy->source, reply, len)) {
        if (!make_consumers(copy, &answer))
            copy_big_fail_strange(copy, copy->source, "XINFO CONSUMERS");
        peer_flush(copy->target);
    }
    copy_big_go_on(copy);
}

static void next_group(struct copy_big *copy)
{
    if (copy->group < key_list_count(&copy->groups)) {
        struct slice args[] = {slice_of("XINFO"), slice_of("CONSUMERS"), copy->key,
                               group_name(copy)};
        copy->cursor[0] = '-';
        copy->next = ask_pending;
        copy_big_ask(copy, args, 4, on_consumers);
    } else {
        copy->next = copy_big_finish;
        copy_big_ask_expiry(copy);
    }
    peer_flush(copy->source);
    copy_big_go_on(copy);
}

static bool make_group(struct copy_big *copy, const struct answer *group)
{
    struct answer value;
    struct slice name, last;
    int64_t entries_read;
    bool is_null = true;
    char text[24];
    if (!answer_find(group, "name", &value) || !answer_text(&value, &name) ||
        !answer_find(group, "last-delivered-id", &value) || !answer_text(&value, &last))
        return false;
    if (answer_find(group, "entries-read", &value) &&
        !answer_integer_or_null(&value, &entries_read, &is_null))
        return false;
    snprintf(text, sizeof text, "%" PRId64, is_null ? -1 : entries_read);
    struct slice args[] = {
        slice_of("XGROUP"),      slice_of("CREATE"), copy->temporary, name, last,
        slice_of("ENTRIESREAD"), slice_of(text),
    };
    copy_big_tell(copy, args, is_null ? 5 : 7, copy_big_on_written);
    if (!key_list_add(&copy->groups, name))
        copy_big_fail(copy, JOB_FAILED, "no memory for the groups of a stream");
    return true;
}

static void on_groups(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct answer answer = answer_start(reply, len);
    size_t count;
    if (copy_big_is_answered(copy, copy->source, reply, len)) {
        bool fine = answer_array(&answer, &count);
        for (size_t i = 0; fine && i < count; i++)
            fine = make_group(copy, &answer) && answer_skip(&answer);
        if (!fine)
            copy_big_fail_strange(copy, copy->source, "XINFO GROUPS");
        peer_flush(copy->target);
    }
    copy_big_go_on(copy);
}

static void ask_groups(struct copy_big *copy)
{
    struct slice args[] = {slice_of("XINFO"), slice_of("GROUPS"), copy->key};
    copy->next = next_group;
    copy_big_ask(copy, args, 3, on_groups);
    peer_flush(copy->source);
    copy_big_go_on(copy);
}

/* ---- counters ---------------------------------------------------------------------------------
 */

/* A stream may be empty: one entry that is trimmed away at once makes it. */
static void make_empty(struct copy_big *copy, struct slice last)
{
    struct slice args[] = {slice_of("XADD"),
                           copy->temporary,
                           slice_of("MAXLEN"),
                           slice_of("0"),
                           slice_is(last, "0-0") ? slice_of("0-1") : last,
                           slice_of("x"),
                           slice_of("y")};
    copy_big_begin_chunk(copy);
    copy_big_tell(copy, args, sizeof args / sizeof args[0], copy_big_on_written);
    copy_big_end_chunk(copy);
}

/* entries-added and max-deleted-entry-id came with Redis 7. */
static bool set_counters(struct copy_big *copy, const struct answer *info)
{
    struct answer value;
    struct slice last, deleted;
    int64_t added;
    char text[24];
    if (!answer_find(info, "last-generated-id", &value) || !answer_text(&value, &last))
        return false;
    bool has_counters = answer_find(info, "entries-added", &value) &&
                        answer_integer(&value, &added) &&
                        answer_find(info, "max-deleted-entry-id", &value) &&
                        answer_text(&value, &deleted);
    if (!copy->is_begun)
        make_empty(copy, last);
    snprintf(text, sizeof text, "%" PRId64, has_counters ? added : 0);
    struct slice args[] = {slice_of("XSETID"),           copy->temporary, last,
                           slice_of("ENTRIESADDED"),     slice_of(text),  slice_of("MAXDELETEDID"),
                           has_counters ? deleted : last};
    copy_big_tell(copy, args, has_counters ? 7 : 3, copy_big_on_written);
    return true;
}

static void on_info(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    struct answer answer = answer_start(reply, len);
    if (copy_big_is_answered(copy, copy->source, reply, len)) {
        if (!set_counters(copy, &answer))
            copy_big_fail_strange(copy, copy->source, "XINFO STREAM");
        peer_flush(copy->target);
    }
    copy_big_go_on(copy);
}

static void ask_info(struct copy_big *copy)
{
    struct slice args[] = {slice_of("XINFO"), slice_of("STREAM"), copy->key};
    copy->next = ask_groups;
    copy_big_ask(copy, args, 3, on_info);
    peer_flush(copy->source);
    copy_big_go_on(copy);
}

const struct copy_big_type copy_big_stream = {
    .name = "stream",
    .read = "XRANGE",
    .write = "XADD",
    .parts = 1,
    .ask = stream_ask,
    .take = stream_take,
    .after = ask_info,
};
