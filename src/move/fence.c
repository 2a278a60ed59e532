/*
 * Ending what an earlier mover left at a node. A router that was killed may have sent commands that
 * the node has not executed yet; a RESTORE among them would bring old data back. Its connections
 * bear the mover's name: all of that name but our own are killed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "move/answer.h"
#include "move/job_internal.h"

struct fence {
    struct job job;
    struct peer *peer;
    const char *name;
    int64_t own_id;
    uint32_t left; /* kills under way, and one while they are being sent */
};

static const struct job_kind fence_kind = {sizeof(struct fence), NULL};

static void one_less(struct fence *fence)
{
    if (--fence->left == 0)
        job_finish(&fence->job);
}

static void on_killed(void *context, const char *reply, size_t len)
{
    struct fence *fence = context;
    struct slice error;
    job_enter(&fence->job);
    bool is_gone = len && answer_is_error(reply, len, &error) &&
                   answer_error_is(error, "ERR No such client");
    if (is_gone || job_is_answered(&fence->job, fence->peer, reply, len)) {
        fence->job.end.count++;
        one_less(fence);
    }
    job_leave(&fence->job);
}

static void kill_client(struct fence *fence, int64_t id)
{
    char text[24];
    int text_len = snprintf(text, sizeof text, "%" PRId64, id);
    const struct slice words[] = {
        slice_of("CLIENT"), slice_of("KILL"), slice_of("ID"), {text, (size_t)text_len}};
    fence->left++;
    job_call(&fence->job, fence->peer, words, 4, on_killed, fence);
}

/* The value of "field=" in a line of CLIENT LIST; empty if there is none. */
static struct slice field_of(struct slice line, const char *field)
{
    size_t name_len = strlen(field);
    for (size_t at = 0; at + name_len < line.len;) {
        const char *space = memchr(line.ptr + at, ' ', line.len - at);
        size_t end = space ? (size_t)(space - line.ptr) : line.len;
        if (end - at > name_len && line.ptr[at + name_len] == '=' &&
            memcmp(line.ptr + at, field, name_len) == 0)
            return (struct slice){line.ptr + at + name_len + 1, end - at - name_len - 1};
        at = end + 1;
    }
    return (struct slice){line.ptr, 0};
}

static void kill_named(struct fence *fence, struct slice list)
{
    while (list.len) {
        const char *end = memchr(list.ptr, '\n', list.len);
        struct slice line = {list.ptr, end ? (size_t)(end - list.ptr) : list.len};
        int64_t id;
        if (slice_equal(field_of(line, "name"), slice_of(fence->name)) &&
            resp_parse_integer(field_of(line, "id"), &id) && id != fence->own_id)
            kill_client(fence, id);
        size_t used = end ? line.len + 1 : line.len;
        list = (struct slice){list.ptr + used, list.len - used};
    }
}

static void on_list(void *context, const char *reply, size_t len)
{
    struct fence *fence = context;
    struct slice list;
    job_enter(&fence->job);
    if (job_is_answered(&fence->job, fence->peer, reply, len)) {
        if (answer_is_text(reply, len, &list))
            kill_named(fence, list);
        else
            job_fail_strange(&fence->job, fence->peer, "CLIENT LIST");
        one_less(fence);
        peer_flush(fence->peer);
    }
    job_leave(&fence->job);
}

static void on_id(void *context, const char *reply, size_t len)
{
    struct fence *fence = context;
    const struct slice words[] = {slice_of("CLIENT"), slice_of("LIST")};
    job_enter(&fence->job);
    if (job_is_answered(&fence->job, fence->peer, reply, len)) {
        if (!answer_is_integer(reply, len, &fence->own_id))
            job_fail_strange(&fence->job, fence->peer, "CLIENT ID");
        job_call(&fence->job, fence->peer, words, 2, on_list, fence);
        peer_flush(fence->peer);
    }
    job_leave(&fence->job);
}

struct job *job_fence(struct move *move, struct peer *peer, const char *name, job_done done,
                      void *context)
{
    struct fence *fence = job_create(&fence_kind, move, done, context);
    const struct slice words[] = {slice_of("CLIENT"), slice_of("ID")};
    if (!fence)
        return NULL;
    fence->peer = peer;
    fence->name = name;
    fence->left = 1;
    job_call(&fence->job, peer, words, 2, on_id, fence);
    return job_started(&fence->job);
}
