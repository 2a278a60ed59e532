#include "move/key_scan.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "move/answer.h"

void key_scan_init(struct key_scan *scan, struct job *job, struct peer *peer, const char *cursor)
{
    scan->job = job;
    scan->peer = peer;
    scan->is_over = scan->is_asked = false;
    snprintf(scan->cursor, sizeof scan->cursor, "%s", cursor);
}

/* The page in a reply. False when it is none. */
static bool read_page(struct key_scan *scan, const char *reply, size_t len)
{
    struct answer answer = answer_start(reply, len);
    struct slice cursor, key;
    size_t count;
    if (!answer_array(&answer, &count) || count != 2 || !answer_text(&answer, &cursor) ||
        cursor.len == 0 || cursor.len >= sizeof scan->cursor || !answer_array(&answer, &count))
        return false;
    memcpy(scan->cursor, cursor.ptr, cursor.len);
    scan->cursor[cursor.len] = '\0';
    scan->is_over = strcmp(scan->cursor, "0") == 0;
    for (; count > 0; count--) {
        if (!answer_text(&answer, &key))
            return false;
        scan->on_key(scan->job, key);
    }
    return true;
}

static void on_reply(void *context, const char *reply, size_t len)
{
    struct key_scan *scan = context;
    struct job *job = scan->job;
    job_enter(job);
    scan->is_asked = false;
    if (job_is_answered(job, scan->peer, reply, len)) {
        if (!read_page(scan, reply, len))
            job_fail_strange(job, scan->peer, "SCAN");
        else if (!job->is_ended)
            scan->on_page(job);
    }
    job_leave(job);
}

void key_scan_next(struct key_scan *scan)
{
    char count[16];
    snprintf(count, sizeof count, "%d", MOVE_SCAN_COUNT);
    struct slice args[] = {
        {"SCAN", 4}, {scan->cursor, strlen(scan->cursor)}, {"COUNT", 5}, {count, strlen(count)}};
    CW_ASSERT(!scan->is_asked && !scan->is_over);
    scan->is_asked = true;
    job_call(scan->job, scan->peer, args, 4, on_reply, scan);
    peer_flush(scan->peer);
}
