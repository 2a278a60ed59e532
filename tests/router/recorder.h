/*
 * A node for tests that keeps no data but a record of every command, in order, as text: arguments
 * with a space between, a line each, bytes that are not printable as \xHH. What it answers is
 * plain, or told beforehand.
 */
#ifndef TESTS_ROUTER_RECORDER_H
#define TESTS_ROUTER_RECORDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/buffer.h"
#include "base/list.h"
#include "io/io.h"
#include "wire/resp.h"

struct recorder {
    struct io_loop *loop;
    struct io_listener *listener;
    struct list conns;
    char record[1 << 16]; /* terminated */
    size_t record_len;
    uint32_t connects;      /* how often it was connected */
    const char *mark_reply; /* to SADD; NULL: ":1" */
    const char *exec_reply; /* to EXEC; NULL: "+OK" */
    const void *scan_reply; /* to SCAN, KEYS and RANDOMKEY; NULL: an empty one */
    size_t scan_reply_len;
};

struct recorder_conn {
    struct recorder *recorder;
    struct io_conn *conn;
    struct buffer in, out;
    struct resp_request request;
    struct list in_recorder;
};

static void recorder_note(struct recorder *recorder, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        size_t room = sizeof recorder->record - recorder->record_len;
        CW_ASSERT(room > 8);
        recorder->record_len += (size_t)snprintf(recorder->record + recorder->record_len, room,
                                                 byte > 0x20 && byte < 0x7f ? "%c" : "\\x%02x",
                                                 byte);
    }
}

static void recorder_answer(struct recorder_conn *conn)
{
    struct recorder *recorder = conn->recorder;
    const char *bytes = buffer_bytes(&conn->in);
    struct slice name = resp_request_arg(&conn->request, bytes, 0);
    if (name.len == 4 && memcmp(name.ptr, "PING", 4) == 0) { /* the router's greeting */
        resp_write_simple(&conn->out, "PONG");
        return;
    }
    for (uint32_t i = 0; i < conn->request.arg_count; i++) {
        recorder_note(recorder, resp_request_arg(&conn->request, bytes, i));
        recorder->record[recorder->record_len++] = i + 1 < conn->request.arg_count ? ' ' : '\n';
    }
    recorder->record[recorder->record_len] = '\0';
    bool is_scan = name.ptr[0] == 'S' && name.len == 4 && memcmp(name.ptr, "SCAN", 4) == 0;
    if (is_scan || memcmp(name.ptr, "KEYS", 4) == 0 || memcmp(name.ptr, "RAND", 4) == 0)
        buffer_append(&conn->out, recorder->scan_reply, recorder->scan_reply_len);
    else if (memcmp(name.ptr, "SADD", 4) == 0)
        buffer_append_text(&conn->out, recorder->mark_reply ? recorder->mark_reply : ":1\r\n");
    else if (memcmp(name.ptr, "EXEC", 4) == 0 && recorder->exec_reply)
        buffer_append_text(&conn->out, recorder->exec_reply);
    else if (memcmp(name.ptr, "CLIE", 4) == 0)
        resp_write_integer(&conn->out, 1);
    else if (memcmp(name.ptr, "HELL", 4) == 0)
        resp_write_map(&conn->out, 0, 3);
    else if (memcmp(name.ptr, "DEL", 3) == 0)
        resp_write_integer(&conn->out, 1);
    else
        resp_write_simple(&conn->out, "OK");
}

static void recorder_conn_close(struct recorder_conn *conn)
{
    list_remove(&conn->in_recorder);
    io_close(&conn->conn);
    buffer_release(&conn->in);
    buffer_release(&conn->out);
    resp_request_release(&conn->request);
    free(conn);
}

static bool recorder_flush(struct recorder_conn *conn)
{
    while (conn->out.len) {
        struct iovec part = {buffer_bytes(&conn->out), conn->out.len};
        ssize_t written = io_write(conn->conn, &part, 1);
        if (written < 0)
            return written == -EAGAIN;
        buffer_take(&conn->out, (size_t)written);
    }
    return true;
}

static bool recorder_read(struct recorder_conn *conn)
{
    static const struct resp_limits limits = {1 << 12, 1 << 20, 1 << 16, 1 << 22};
    char bytes[4096];
    ssize_t got = io_read(conn->conn, bytes, sizeof bytes);
    if (got <= 0)
        return got == -EAGAIN;
    buffer_append(&conn->in, bytes, (size_t)got);
    while (conn->in.len && resp_request_parse(&conn->request, buffer_bytes(&conn->in), conn->in.len,
                                              &limits) == RESP_DONE) {
        recorder_answer(conn);
        buffer_take(&conn->in, conn->request.length);
        resp_request_reset(&conn->request);
    }
    return true;
}

static void recorder_on_event(void *context, int events)
{
    struct recorder_conn *conn = context;
    bool fine = !(events & IO_READABLE) || recorder_read(conn);
    if (!fine || !recorder_flush(conn))
        recorder_conn_close(conn);
}

static void recorder_on_accept(void *context, struct io_conn *accepted)
{
    struct recorder *recorder = context;
    struct recorder_conn *conn = calloc(1, sizeof *conn);
    recorder->connects++;
    conn->recorder = recorder;
    conn->conn = accepted;
    resp_request_init(&conn->request);
    list_push_back(&recorder->conns, &conn->in_recorder);
    io_conn_set(accepted, recorder_on_event, conn);
}

static struct recorder *recorder_create(const char *address)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    list_init(&recorder->conns);
    CW_ASSERT(io_loop_create(&recorder->loop) == 0);
    CW_ASSERT(
        io_listen(recorder->loop, address, recorder_on_accept, recorder, &recorder->listener) == 0);
    return recorder;
}

static void recorder_destroy(struct recorder *recorder)
{
    while (!list_is_empty(&recorder->conns))
        recorder_conn_close(list_entry(recorder->conns.next, struct recorder_conn, in_recorder));
    io_listener_close(&recorder->listener);
    io_loop_destroy(&recorder->loop);
    free(recorder);
}

/* What was recorded since the last time (static storage). */
static const char *recorder_take(struct recorder *recorder)
{
    static char taken[8][1 << 16];
    static int turn;
    char *text = taken[turn++ % 8];
    memcpy(text, recorder->record, sizeof recorder->record);
    recorder->record_len = 0;
    recorder->record[0] = '\0';
    return text;
}

#endif
