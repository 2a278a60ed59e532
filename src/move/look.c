/* Looking at a node: INFO, DBSIZE, and a key that lives for a second, written and dumped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/answer.h"
#include "move/check.h"
#include "move/job_internal.h"
#include "move/refusal.h"

enum { DUMP_END = 10 }; /* a payload ends with its version, two bytes, and a checksum of eight */

struct look {
    struct job job;
    struct peer *peer;
    struct node_facts *facts;
    uint32_t pending;
};

static const struct job_kind look_kind = {sizeof(struct look), NULL};
static const struct slice probe_key = {"\0cw:probe", sizeof "\0cw:probe" - 1};

/* ---- INFO -------------------------------------------------------------------------------------
 */

/* The value of a line "name:value". */
static bool find_line(struct slice text, const char *name, struct slice *ret_value)
{
    size_t name_len = strlen(name);
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        size_t len = (size_t)(line_end - at);
        if (len > name_len && at[name_len] == ':' && memcmp(at, name, name_len) == 0) {
            *ret_value = (struct slice){at + name_len + 1, len - name_len - 1};
            if (ret_value->len && ret_value->ptr[ret_value->len - 1] == '\r')
                ret_value->len--;
            return true;
        }
        at = newline ? newline + 1 : end;
    }
    return false;
}

static void read_text(struct slice text, const char *name, const char *prefix, char *ret_text,
                      size_t size)
{
    struct slice value;
    if (find_line(text, name, &value))
        snprintf(ret_text, size, "%s%.*s", prefix, (int)(value.len < size ? value.len : size),
                 value.ptr);
}

static void read_number(struct slice text, const char *name, uint64_t *ret_number)
{
    struct slice value;
    int64_t number;
    if (find_line(text, name, &value) && resp_parse_integer(value, &number) && number >= 0)
        *ret_number = (uint64_t)number;
}

static bool has(struct slice text, const char *name, const char *wanted)
{
    struct slice value;
    return find_line(text, name, &value) && slice_is(value, wanted);
}

/* Later lines win: Valkey tells of a redis_version too. */
void node_facts_read(struct node_facts *facts, struct slice text)
{
    struct slice value;
    read_text(text, "cw_incarnation", "", facts->run_id, sizeof facts->run_id);
    read_text(text, "run_id", "", facts->run_id, sizeof facts->run_id);
    read_text(text, "redis_version", "", facts->version, sizeof facts->version);
    read_text(text, "valkey_version", "valkey ", facts->version, sizeof facts->version);
    read_text(text, "clockwise_version", "clockwise ", facts->version, sizeof facts->version);
    read_number(text, "used_memory", &facts->memory_used);
    read_number(text, "maxmemory", &facts->memory_max);
    read_number(text, "used_bytes", &facts->memory_used);
    read_number(text, "size_max_bytes", &facts->memory_max);
    facts->is_replica = has(text, "role", "slave");
    facts->is_loading = has(text, "loading", "1") || has(text, "async_loading", "1");
    facts->is_cluster = has(text, "cluster_enabled", "1");
    facts->evicts = find_line(text, "maxmemory_policy", &value) && !slice_is(value, "noeviction");
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void note_refusal(struct node_facts *facts, struct slice error)
{
    char text[100];
    const char *remedy = refusal_remedy(error);
    facts->is_loading |= answer_error_is(error, "LOADING");
    facts->is_replica |= answer_error_is(error, "READONLY");
    snprintf(facts->refusal, sizeof facts->refusal, "answered a write with \"%s\"; %s",
             refusal_printable(error, text, sizeof text), remedy ? remedy : "look at its log");
}

/* Counts an answer; what a node refuses is a fact like others. */
static bool enter(struct look *look, const char *reply, size_t len, struct slice *ret_error)
{
    job_enter(&look->job);
    look->pending--;
    if (len > 0 && answer_is_error(reply, len, ret_error))
        return false;
    *ret_error = (struct slice){NULL, 0};
    return job_is_answered(&look->job, look->peer, reply, len);
}

static void leave(struct look *look)
{
    if (look->pending == 0)
        job_finish(&look->job);
    job_leave(&look->job);
}

static void on_info(void *context, const char *reply, size_t len)
{
    struct look *look = context;
    struct slice text;
    job_enter(&look->job);
    look->pending--;
    if (job_is_answered(&look->job, look->peer, reply, len)) {
        if (answer_is_text(reply, len, &text))
            node_facts_read(look->facts, text);
        else
            job_fail_strange(&look->job, look->peer, "INFO");
    }
    leave(look);
}

static void on_size(void *context, const char *reply, size_t len)
{
    struct look *look = context;
    struct slice error;
    int64_t number;
    if (enter(look, reply, len, &error)) {
        if (answer_is_integer(reply, len, &number) && number >= 0)
            look->facts->key_count = (uint64_t)number;
        else
            job_fail_strange(&look->job, look->peer, "DBSIZE");
    }
    leave(look);
}

static void on_written(void *context, const char *reply, size_t len)
{
    struct look *look = context;
    struct slice error;
    if (!enter(look, reply, len, &error) && error.len)
        note_refusal(look->facts, error);
    leave(look);
}

/* Nodes that have no DUMP, or no key, have no version of it. */
static void on_dump(void *context, const char *reply, size_t len)
{
    struct look *look = context;
    struct slice error, payload;
    if (enter(look, reply, len, &error) && answer_is_text(reply, len, &payload) &&
        payload.len >= DUMP_END) {
        const unsigned char *end = (const unsigned char *)payload.ptr + payload.len - DUMP_END;
        look->facts->dump_version = (uint64_t)end[0] | (uint64_t)end[1] << 8;
    }
    leave(look);
}

static void on_removed(void *context, const char *reply, size_t len)
{
    struct look *look = context;
    struct slice error;
    enter(look, reply, len, &error);
    leave(look);
}

/* ---- asking -----------------------------------------------------------------------------------
 */

static void ask(struct look *look, const struct slice *args, size_t count, peer_reply callback)
{
    look->pending++;
    job_call(&look->job, look->peer, args, count, callback, look);
}

struct job *job_look(struct move *move, struct peer *peer, struct node_facts *ret_facts,
                     job_done done, void *context)
{
    struct look *look = job_create(&look_kind, move, done, context);
    struct slice info[] = {slice_of("INFO")};
    struct slice size[] = {slice_of("DBSIZE")};
    struct slice set[] = {slice_of("SET"), probe_key, slice_of(""), slice_of("PX"),
                          slice_of("1000")};
    struct slice dump[] = {slice_of("DUMP"), probe_key};
    struct slice unlink[] = {slice_of("UNLINK"), probe_key};
    if (!look)
        return NULL;
    memset(ret_facts, 0, sizeof *ret_facts);
    look->peer = peer;
    look->facts = ret_facts;
    ask(look, info, 1, on_info);
    ask(look, size, 1, on_size);
    ask(look, set, 5, on_written);
    ask(look, dump, 2, on_dump);
    ask(look, unlink, 2, on_removed);
    peer_flush(peer);
    return job_started(&look->job);
}
