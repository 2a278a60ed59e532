/*
 * Marks of single elements. Of a key that is known to be big only the elements that were written
 * are read again: what the source has of them now is set on the target, what it has no more is
 * removed there. Where that makes no sense (the key has another type now, on either side) the whole
 * key is put among those found to be big, to be copied anew.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "move/answer.h"
#include "move/drain.h"

struct element_type {
    const char *name, *read, *write, *remove;
    /* What stands in WRITE for an element with the value read; false when it is not there. */
    bool is_value_first; /* ZADD: score, member */
    bool is_flag;        /* SMISMEMBER: 1 or 0, and nothing but the member is written */
    bool has_times;      /* elements may have lifetimes of their own */
};

static const struct element_type element_types[] = {
    {"hash", "HMGET", "HSET", "HDEL", false, false, true},
    {"set", "SMISMEMBER", "SADD", "SREM", false, true, false},
    {"zset", "ZMSCORE", "ZADD", "ZREM", true, false, false},
};

/* ---- marks ------------------------------------------------------------------------------------
 */

static bool split_mark(struct slice mark, struct slice *ret_key, struct slice *ret_element)
{
    if (mark.len < DRAIN_ELEMENT_HEAD || mark.ptr[0] != 'e')
        return false;
    const unsigned char *at = (const unsigned char *)mark.ptr + 1;
    size_t len = (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
    if (len > mark.len - DRAIN_ELEMENT_HEAD)
        return false;
    *ret_key = (struct slice){mark.ptr + DRAIN_ELEMENT_HEAD, len};
    *ret_element = (struct slice){ret_key->ptr + len, mark.len - DRAIN_ELEMENT_HEAD - len};
    return true;
}

bool drain_add_element(struct drain *drain, struct slice mark)
{
    struct slice key, element;
    uint32_t number = (uint32_t)key_list_count(&drain->marks);
    if (!split_mark(mark, &key, &element))
        return false;
    if (!key_list_add(&drain->marks, mark) || !buffer_append(&drain->order, &number, sizeof number))
        job_fail_memory(&drain->job);
    return true;
}

static struct slice mark_at(const struct drain *drain, size_t i)
{
    uint32_t number;
    memcpy(&number, buffer_bytes(&drain->order) + i * sizeof number, sizeof number);
    return key_list_at(&drain->marks, number);
}

static struct slice key_at(const struct drain *drain, size_t i)
{
    struct slice key = {0}, element;
    bool is_mark = split_mark(mark_at(drain, i), &key, &element);
    CW_ASSERT(is_mark);
    return key;
}

static struct slice element_at(const struct drain *drain, size_t i)
{
    struct slice key, element = {0};
    bool is_mark = split_mark(mark_at(drain, i), &key, &element);
    CW_ASSERT(is_mark);
    return element;
}

/* As bytes: the key's length comes before the key, so marks of one key come together. */
static int compare_marks(const void *a, const void *b, void *context)
{
    const struct key_list *marks = context;
    struct slice one = key_list_at(marks, *(const uint32_t *)a);
    struct slice other = key_list_at(marks, *(const uint32_t *)b);
    int order = memcmp(one.ptr, other.ptr, one.len < other.len ? one.len : other.len);
    return order ? order : (one.len > other.len) - (one.len < other.len);
}

/* ---- one group --------------------------------------------------------------------------------
 */

static void start_groups(struct job *job);

static struct slice group_key(const struct element_group *group)
{
    return key_at(group->drain, group->from);
}

static struct peer *group_target(const struct element_group *group)
{
    return group->drain->job.move->to_peers[group->target];
}

static void group_done(struct element_group *group)
{
    group->is_busy = false;
    group->drain->groups_busy--;
    start_groups(&group->drain->job);
}

static void copy_whole(struct element_group *group)
{
    struct drain *drain = group->drain;
    copier_found_big(&drain->job, drain->source, group_key(group));
    group_done(group);
}

static bool is_wrong_type(const char *reply, size_t len)
{
    struct slice error;
    return answer_is_error(reply, len, &error) && answer_error_is(error, "WRONGTYPE");
}

/* The last reply of the group's one or two writes. */
static void on_written(void *context, const char *reply, size_t len)
{
    struct element_group *group = context;
    struct job *job = &group->drain->job;
    job_enter(job);
    if (!job->is_ended && is_wrong_type(reply, len))
        copy_whole(group);
    else if (job_is_answered(job, group_target(group), reply, len))
        group_done(group);
    job_leave(job);
}

static void on_first_written(void *context, const char *reply, size_t len)
{
    struct element_group *group = context;
    struct job *job = &group->drain->job;
    job_enter(job);
    /* Of a wrong type the second reply tells as well. */
    if (!is_wrong_type(reply, len))
        job_is_answered(job, group_target(group), reply, len);
    job_leave(job);
}

/* What is to be written and removed, put together from what was read. */
struct group_writes {
    struct slice set[2 + 2 * DRAIN_GROUP], removed[2 + DRAIN_GROUP];
    size_t set_count, removed_count;
};

static void add_write(struct group_writes *writes, const struct element_type *type,
                      struct slice element, struct slice value)
{
    if (type->is_value_first)
        writes->set[writes->set_count++] = value;
    writes->set[writes->set_count++] = element;
    if (!type->is_value_first && !type->is_flag)
        writes->set[writes->set_count++] = value;
}

/* Whether the source has the element now. False in return: no proper answer. */
static bool read_value(const struct element_type *type, struct answer *answer,
                       struct slice *ret_value, bool *ret_is_there)
{
    int64_t flag;
    struct resp_value value;
    if (type->is_flag) {
        bool fine = answer_integer(answer, &flag);
        *ret_is_there = fine && flag == 1;
        return fine;
    }
    if (resp_read_value(answer->at, (size_t)(answer->end - answer->at), &value) != RESP_DONE ||
        value.type != '$')
        return false;
    answer->at += value.head_len;
    *ret_is_there = !value.is_null;
    *ret_value = value.text;
    return true;
}

static bool read_group(struct element_group *group, const char *reply, size_t len,
                       struct group_writes *writes)
{
    struct answer answer = answer_start(reply, len);
    size_t count;
    if (!answer_array(&answer, &count) || count != group->count)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct slice element = element_at(group->drain, group->from + i), value = {"", 0};
        bool is_there;
        if (!read_value(group->type, &answer, &value, &is_there))
            return false;
        if (is_there)
            add_write(writes, group->type, element, value);
        else
            writes->removed[writes->removed_count++] = element;
    }
    return true;
}

static size_t count_times(const struct element_group *group)
{
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        count += group->times_ms[i] >= 0;
    return count;
}

/* A field that was set has none any more on the target; where it has one it was counted up. */
static void write_time(struct element_group *group, size_t i, peer_reply callback)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, group->times_ms[i]);
    struct slice args[] = {slice_of("HPEXPIREAT"), group_key(group),
                           slice_of(text),         slice_of("FIELDS"),
                           slice_of("1"),          element_at(group->drain, group->from + i)};
    job_call(&group->drain->job, group_target(group), args, 6, callback, group);
}

static void write_group(struct element_group *group, const struct group_writes *writes)
{
    struct job *job = &group->drain->job;
    struct peer *target = group_target(group);
    bool has_set = writes->set_count > 2, has_removed = writes->removed_count > 2;
    size_t left = has_set + has_removed + count_times(group);
    if (has_set)
        job_call(job, target, writes->set, writes->set_count,
                 --left ? on_first_written : on_written, group);
    for (size_t i = 0; i < group->count; i++)
        if (group->times_ms[i] >= 0)
            write_time(group, i, --left ? on_first_written : on_written);
    if (has_removed)
        job_call(job, target, writes->removed, writes->removed_count, on_written, group);
    peer_flush(target);
    job->move->progress->chunks++;
}

static void on_read(void *context, const char *reply, size_t len)
{
    struct element_group *group = context;
    struct drain *drain = group->drain;
    struct group_writes writes = {.set_count = 2, .removed_count = 2};
    job_enter(&drain->job);
    if (!drain->job.is_ended && is_wrong_type(reply, len)) {
        copy_whole(group);
    } else if (job_is_answered(&drain->job, drain->peer, reply, len)) {
        writes.set[0] = slice_of(group->type->write);
        writes.removed[0] = slice_of(group->type->remove);
        writes.set[1] = writes.removed[1] = group_key(group);
        throttle_take(drain->job.move->throttle, 0, len);
        drain->job.move->progress->bytes_copied += len;
        if (read_group(group, reply, len, &writes))
            write_group(group, &writes);
        else
            job_fail_strange(&drain->job, drain->peer, group->type->read);
    }
    job_leave(&drain->job);
}

/* A source of another version, which does not know the question, has no lifetimes of fields. */
static void on_times(void *context, const char *reply, size_t len)
{
    struct element_group *group = context;
    struct drain *drain = group->drain;
    struct answer answer = answer_start(reply, len);
    struct slice error;
    size_t count = 0;
    bool fine = true;
    job_enter(&drain->job);
    bool is_error = answer_is_error(reply, len, &error);
    if (!is_error && job_is_answered(&drain->job, drain->peer, reply, len))
        fine = answer_array(&answer, &count) && (count == 0 || count == group->count);
    for (size_t i = 0; fine && i < count; i++)
        fine = answer_integer(&answer, &group->times_ms[i]);
    if (!fine)
        job_fail_strange(&drain->job, drain->peer, "HPEXPIRETIME");
    job_leave(&drain->job);
}

static void read_times(struct element_group *group)
{
    struct drain *drain = group->drain;
    char text[24];
    struct slice args[4 + DRAIN_GROUP] = {slice_of("HPEXPIRETIME"), group_key(group),
                                          slice_of("FIELDS")};
    snprintf(text, sizeof text, "%zu", group->count);
    args[3] = slice_of(text);
    for (size_t i = 0; i < group->count; i++)
        args[4 + i] = element_at(drain, group->from + i);
    job_call(&drain->job, drain->peer, args, 4 + group->count, on_times, group);
}

static void read_elements(struct element_group *group)
{
    struct slice args[2 + DRAIN_GROUP];
    struct drain *drain = group->drain;
    for (size_t i = 0; i < group->count; i++)
        group->times_ms[i] = -1;
    if (group->type->has_times && drain->job.move->has_field_times)
        read_times(group);
    args[0] = slice_of(group->type->read);
    args[1] = group_key(group);
    for (size_t i = 0; i < group->count; i++)
        args[2 + i] = element_at(drain, group->from + i);
    job_call(&drain->job, drain->peer, args, 2 + group->count, on_read, group);
    peer_flush(drain->peer);
}

static void remove_key(struct element_group *group)
{
    struct slice args[] = {{"UNLINK", 6}, group_key(group)};
    job_call(&group->drain->job, group_target(group), args, 2, on_written, group);
    peer_flush(group_target(group));
}

static void take_type(struct element_group *group, struct slice name)
{
    group->type = NULL;
    for (size_t i = 0; i < sizeof element_types / sizeof element_types[0]; i++)
        if (slice_is(name, element_types[i].name))
            group->type = &element_types[i];
    if (group->type)
        read_elements(group);
    else if (slice_is(name, "none"))
        remove_key(group);
    else
        copy_whole(group);
}

static void on_type(void *context, const char *reply, size_t len)
{
    struct element_group *group = context;
    struct drain *drain = group->drain;
    struct slice name;
    job_enter(&drain->job);
    if (job_is_answered(&drain->job, drain->peer, reply, len)) {
        if (answer_is_text(reply, len, &name))
            take_type(group, name);
        else
            job_fail_strange(&drain->job, drain->peer, "TYPE");
    }
    job_leave(&drain->job);
}

/* ---- all groups -------------------------------------------------------------------------------
 */

static struct element_group *find_idle_group(struct drain *drain)
{
    for (int i = 0; i < DRAIN_GROUPS; i++)
        if (!drain->groups[i].is_busy)
            return &drain->groups[i];
    return NULL;
}

/* The next elements of one key. Notes each key once. */
static void start_group(struct drain *drain, struct element_group *group)
{
    size_t all = key_list_count(&drain->marks), at = drain->element_at;
    struct slice key = key_at(drain, at), args[] = {{"TYPE", 4}, key};
    *group = (struct element_group){.drain = drain, .from = at};
    while (at < all && group->count < DRAIN_GROUP && slice_equal(key_at(drain, at), key))
        at++, group->count++;
    drain->element_at = at;
    if (!move_target(drain->job.move, key, drain->source, &group->target))
        return;
    if (group->from == 0 || !slice_equal(key_at(drain, group->from - 1), key))
        drain_note(drain, key);
    group->is_busy = true;
    drain->groups_busy++;
    throttle_take(drain->job.move->throttle, 1, 0);
    job_call(&drain->job, drain->peer, args, 2, on_type, group);
}

static void start_groups(struct job *job)
{
    struct drain *drain = (struct drain *)job;
    struct element_group *group;
    size_t all = key_list_count(&drain->marks);
    while (!job->is_ended && drain->element_at < all && (group = find_idle_group(drain))) {
        if (!job_may_send(job, start_groups))
            break;
        start_group(drain, group);
    }
    peer_flush(drain->peer);
    if (job->is_ended || drain->element_at < all || drain->groups_busy > 0)
        return;
    key_list_clear(&drain->marks);
    buffer_clear(&drain->order);
    drain->element_at = 0;
    drain->next(drain);
}

void drain_elements(struct drain *drain)
{
    size_t count = key_list_count(&drain->marks);
    if (count > 1)
        qsort_r(buffer_bytes(&drain->order), count, sizeof(uint32_t), compare_marks, &drain->marks);
    start_groups(&drain->job);
}

/* ---- expiry -----------------------------------------------------------------------------------
 */

static void expiry_done(struct drain *drain)
{
    if (--drain->expiries_busy == 0 && !drain->job.is_ended)
        drain_expiries(drain);
}

static void on_expiry_set(void *context, const char *reply, size_t len)
{
    struct element_expiry *expiry = context;
    struct drain *drain = expiry->drain;
    job_enter(&drain->job);
    if (job_is_answered(&drain->job, drain->job.move->to_peers[expiry->target], reply, len))
        expiry_done(drain);
    job_leave(&drain->job);
}

static void set_expiry(struct element_expiry *expiry, int64_t expires_ms)
{
    char text[24];
    struct peer *target = expiry->drain->job.move->to_peers[expiry->target];
    snprintf(text, sizeof text, "%" PRId64, expires_ms);
    struct slice expire[] = {{"PEXPIREAT", 9}, expiry->key, slice_of(text)};
    struct slice persist[] = {{"PERSIST", 7}, expiry->key};
    struct slice unlink[] = {{"UNLINK", 6}, expiry->key};
    job_call(&expiry->drain->job, target,
             expires_ms >= 0    ? expire
             : expires_ms == -1 ? persist
                                : unlink,
             expires_ms >= 0 ? 3 : 2, on_expiry_set, expiry);
    peer_flush(target);
}

static void on_expiry(void *context, const char *reply, size_t len)
{
    struct element_expiry *expiry = context;
    struct drain *drain = expiry->drain;
    int64_t expires_ms;
    job_enter(&drain->job);
    if (job_is_answered(&drain->job, drain->peer, reply, len)) {
        if (answer_is_integer(reply, len, &expires_ms))
            set_expiry(expiry, expires_ms);
        else
            job_fail_strange(&drain->job, drain->peer, "PEXPIRETIME");
    }
    job_leave(&drain->job);
}

/* The next big keys; the marks of a change of expiry alone say nothing about elements. */
void drain_expiries(struct drain *drain)
{
    size_t count = big_keys_count(drain->big);
    for (; drain->big_at < count && drain->expiries_busy < DRAIN_EXPIRIES; drain->big_at++) {
        struct element_expiry *expiry = &drain->expiries[drain->expiries_busy];
        *expiry = (struct element_expiry){drain, big_keys_at(drain->big, drain->big_at), 0};
        if (!move_target(drain->job.move, expiry->key, drain->source, &expiry->target))
            continue;
        struct slice args[] = {{"PEXPIRETIME", 11}, expiry->key};
        drain->expiries_busy++;
        job_call(&drain->job, drain->peer, args, 2, on_expiry, expiry);
    }
    peer_flush(drain->peer);
    if (drain->expiries_busy == 0 && !drain->job.is_ended)
        drain->next(drain);
}
