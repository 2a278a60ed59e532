/*
 * Requests: the promise of a reply. They come from the worker's own list of free ones, so that a
 * steady flow allocates nothing, and they keep a client's replies in the order of its requests
 * although the nodes answer in any order.
 *
 * A request is held by up to two: the client's queue, and whoever will answer it (a link, or the
 * parts of a split: in_flight). It is returned when the second lets go.
 */
#include "router/blocking.h"
#include "router/local.h"
#include "router/moving.h"
#include "router/transaction.h"

#include <stdio.h>
#include <stdlib.h>

enum { REQUEST_REPLY_KEEP = 4 * 1024 };

struct request *request_borrow(struct worker *worker, struct client *client, enum request_kind kind)
{
    struct request *request = worker->free_requests;
    if (request) {
        worker->free_requests = request->next;
    } else {
        request = calloc(1, sizeof *request);
        if (!request)
            return NULL;
    }
    request->next = NULL;
    request->client = client;
    request->kind = kind;
    request->in_flight = request->answered = false;
    request->len = 0;
    request->split = NULL;
    request->era = NULL;
    request->missed = NULL;
    request->started_ns = io_now_ns(worker->loop);
    request->pool = client ? client->pool : NULL;
    return request;
}

void request_return(struct worker *worker, struct request *request)
{
    if (request->kind == REQUEST_SPLIT)
        split_destroy(&request->split);
    buffer_clear(&request->reply);
    buffer_trim(&request->reply, REQUEST_REPLY_KEEP);
    request->next = worker->free_requests;
    worker->free_requests = request;
}

/* Passes a reply to the client: straight into its output when it is the oldest request, else it
 * waits in the request. Returns false when memory is out. */
static bool keep_reply(struct client *client, struct request *request, const char *reply,
                       size_t len)
{
    if (client->first == request)
        return buffer_append(&client->out, reply, len);
    client->held += len;
    return buffer_append(&request->reply, reply, len);
}

static void record_latency(struct worker *worker, const struct request *request)
{
    uint64_t elapsed_ns = io_now_ns(worker->loop) - request->started_ns;
    histogram_record(request->pool->latency, elapsed_ns / 1000);
}

static void answer_client(struct worker *worker, struct request *request, const char *reply,
                          size_t len)
{
    struct client *client = request->client;
    request->answered = true;
    if (!client) {
        request_return(worker, request);
        return;
    }
    if (request->kind != REQUEST_BLOCKED)
        record_latency(worker, request);
    if (reply[0] == '-')
        worker->report.errors++;
    if (!keep_reply(client, request, reply, len)) {
        client_close(client); /* returns what is answered, this request too */
        return;
    }
    client_answered(client);
}

void request_answer(struct worker *worker, struct request *request, const char *reply, size_t len)
{
    request->in_flight = false;
    if (__builtin_expect(request->kind == REQUEST_RELAY, 1))
        answer_client(worker, request, reply, len);
    else if (request->kind == REQUEST_PART)
        split_part_answered(worker, request, reply, len);
    else if (request->kind == REQUEST_MARK)
        mark_answered(worker, request, reply);
    else if (request->kind == REQUEST_WATCH)
        watch_answered(worker, request, reply, len);
    else if (request->kind == REQUEST_EXEC)
        exec_answered(worker, request, reply, len);
    else if (request->kind == REQUEST_EXEC_PART)
        exec_part_answered(worker, request, reply, len);
    else if (request->kind == REQUEST_SCAN && request->client && reply[0] == '*')
        scan_answered(worker, request, reply, len);
    else if (request->kind < REQUEST_BLOCKED || blocking_answered(worker, request, reply, len))
        answer_client(worker, request, reply, len);
}

void request_fail(struct worker *worker, struct request *request, const char *text)
{
    char line[640];
    if (request->kind == REQUEST_MARK || request->kind == REQUEST_EXEC_PART) {
        /* The write, or EXEC, behind it fails alike: if the node did it, it did the mark before. */
        request_return(worker, request);
        return;
    }
    int len = snprintf(line, sizeof line, "-%s\r\n", text);
    if ((size_t)len >= sizeof line)
        len = snprintf(line, sizeof line, "-%.600s\r\n", text);
    if (request->kind == REQUEST_EXEC)
        buffer_clear(&request->reply);
    request->kind = request->kind == REQUEST_SCAN ? REQUEST_RELAY : request->kind;
    request_answer(worker, request, line, (size_t)len);
}
