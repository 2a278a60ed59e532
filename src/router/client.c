/*
 * Clients: bytes in, requests cut and dispatched, replies out in order.
 *
 * Requests are cut in place from what was read (intake.c) and sent on at once. A client with too
 * much under way (requests, bytes, or output that it does not take) is not read from until it has
 * room again: its requests then wait in the kernel, and in the end the client itself does.
 */
#include "router/blocking.h"
#include "router/transaction.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- coming and going -------------------------------------------------------------------------
 */

static void on_client_event(void *context, int events);

static struct client *client_create(struct pool *pool, struct io_conn *conn)
{
    struct worker *worker = pool->worker;
    struct client *client = calloc(1, sizeof *client);
    if (!client)
        return NULL;
    client->pool = pool;
    client->worker = worker;
    client->conn = conn;
    /* Numbers of different workers never meet. */
    client->id = worker->next_client++ * worker->router->options.worker_count + worker->index + 1;
    client->protocol = 2;
    client->authenticated = pool->settings->client_password == NULL;
    client->connected_ms = client->last_ms = io_now_ms(worker->loop);
    resp_request_init(&client->parser);
    list_init(&client->dirty);
    list_init(&client->resumable);
    list_init(&client->partial);
    list_init(&client->in_held);
    list_push_back(&worker->clients, &client->in_worker);
    worker->report.clients++;
    worker->report.clients_total++;
    return client;
}

static void refuse(struct worker *worker, struct io_conn *conn)
{
    char text[128];
    int len = snprintf(text, sizeof text,
                       "-ERR max number of clients reached (limits.clients: %u)\r\n",
                       worker->limits->client_count_max);
    struct iovec part = {text, (size_t)len};
    io_write(conn, &part, 1);
    io_close(&conn);
    worker->report.clients_refused++;
}

void client_accept(void *context, struct io_conn *conn)
{
    struct pool *pool = context;
    struct worker *worker = pool->worker;
    uint32_t before = __atomic_fetch_add(&worker->router->client_count, 1, __ATOMIC_RELAXED);
    struct client *client = before < worker->limits->client_count_max ? client_create(pool, conn)
                                                                      : NULL;
    if (!client) {
        __atomic_fetch_sub(&worker->router->client_count, 1, __ATOMIC_RELAXED);
        refuse(worker, conn);
        return;
    }
    io_conn_set(conn, on_client_event, client);
    if (worker->limits->idle_ms)
        worker_need_tick(worker);
}

/* Lets go of all requests: those under way come back to nobody. */
static void leave_requests(struct client *client)
{
    struct request *next;
    for (struct request *request = client->first; request; request = next) {
        next = request->next;
        request->client = NULL;
        if (!request->in_flight)
            request_return(client->worker, request);
    }
    client->first = client->last = NULL;
}

void client_close(struct client *client)
{
    struct worker *worker = client->worker;
    if (client->dead)
        return;
    client->dead = client->closing = true;
    blocking_leave(client);
    leave_requests(client);
    transaction_end(client);
    io_close(&client->conn);
    list_remove(&client->dirty);
    list_remove(&client->resumable);
    list_remove(&client->partial);
    list_remove(&client->in_held);
    list_remove(&client->in_worker);
    list_push_back(&worker->dead_clients, &client->in_worker);
    worker->report.clients--;
    __atomic_fetch_sub(&worker->router->client_count, 1, __ATOMIC_RELAXED);
}

void client_free(struct client *client)
{
    CW_ASSERT(client->dead);
    list_remove(&client->in_worker);
    resp_request_release(&client->parser);
    buffer_release(&client->in);
    buffer_release(&client->out);
    free(client);
}

/* Remembers since when a client owes us something (the rest of a request, or the taking of its last
 * replies), so that it does not owe it for ever. */
static void note_waiting(struct client *client, bool is_waiting)
{
    if (!is_waiting) {
        list_remove(&client->partial);
    } else if (list_is_empty(&client->partial) && client->worker->limits->half_request_ms) {
        client->partial_since_ms = io_now_ms(client->worker->loop);
        list_push_back(&client->worker->partial, &client->partial);
        worker_need_tick(client->worker);
    }
}

/* Reads nothing more, answers what it owes, then closes. */
void client_finish(struct client *client)
{
    if (client->closing)
        return;
    client->closing = true;
    client->stopped = true;
    io_watch_reading(client->conn, false);
    note_waiting(client, true);
    client_dirty(client);
}

/* ---- replies ----------------------------------------------------------------------------------
 */

void client_dirty(struct client *client)
{
    if (list_is_empty(&client->dirty) && !client->dead)
        list_push_back(&client->worker->dirty_clients, &client->dirty);
}

/* Whether more may be asked by a client: while it takes its replies, a pipeline's worth at half its
 * memory; while replies pile up that it does not take, those under way have to fit besides. */
static bool has_room(const struct client *client)
{
    const struct router_limits *limits = client->worker->limits;
    return client->queued < limits->pipeline_max && client->held < limits->client_memory_max / 2 &&
           client->out.len < limits->client_memory_max / 8;
}

static void stop_reading(struct client *client)
{
    client->stopped = true;
    io_watch_reading(client->conn, false);
}

bool client_is_alone(struct client *client)
{
    if (!client->first)
        return true;
    client->needs_alone = true;
    stop_reading(client);
    return false;
}

/* Reads on at the turn's end if there is room again. */
static void resume_if_room(struct client *client)
{
    if (client->stopped && !client->closing && has_room(client) &&
        !(client->needs_alone && client->first) && list_is_empty(&client->resumable) &&
        list_is_empty(&client->in_held))
        list_push_back(&client->worker->resumable, &client->resumable);
}

void client_enqueue(struct client *client, struct request *request)
{
    if (client->last)
        client->last->next = request;
    else
        client->first = request;
    client->last = request;
    client->queued++;
    client->held += request->len;
}

/* Takes the oldest request out of the queue. */
static void pop_first(struct client *client)
{
    struct request *request = client->first;
    client->first = request->next;
    if (!client->first)
        client->last = NULL;
    client->queued--;
    client->held -= request->len;
    request_return(client->worker, request);
}

void client_withdraw(struct client *client)
{
    pop_first(client);
    resume_if_room(client);
}

/* Whether the client holds more than it may. Reading stops at half, so only replies bring it here.
 */
static bool over_memory(const struct client *client)
{
    return client->held + client->out.len > client->worker->limits->client_memory_max;
}

static void close_over_memory(struct client *client)
{
    worker_log(client->worker, 2,
               "event=client_closed client=%llu reason=\"its requests and replies hold over "
               "limits.client_memory (%zu bytes)\"",
               (unsigned long long)client->id, client->worker->limits->client_memory_max);
    client_close(client);
}

/* Moves the replies that waited for the oldest request and are next now. */
void client_answered(struct client *client)
{
    while (client->first && client->first->answered) {
        struct request *request = client->first;
        client->held -= request->reply.len;
        if (request->reply.len &&
            !buffer_append(&client->out, buffer_bytes(&request->reply), request->reply.len)) {
            client_close(client);
            return;
        }
        pop_first(client);
    }
    if (over_memory(client)) {
        close_over_memory(client);
        return;
    }
    client_dirty(client);
    resume_if_room(client);
}

struct buffer *client_reply(struct client *client)
{
    if (!client->first)
        return &client->out;
    struct request *request = request_borrow(client->worker, client, REQUEST_READY);
    if (!request)
        return NULL;
    client_enqueue(client, request);
    return &request->reply;
}

void client_replied(struct client *client)
{
    struct request *last = client->last;
    if (last && last->kind == REQUEST_READY && !last->answered) {
        last->answered = true;
        client->held += last->reply.len;
    }
    client_dirty(client);
}

void client_error(struct client *client, const char *text)
{
    struct buffer *out = client_reply(client);
    client->worker->report.errors++;
    if (out)
        resp_write_error(out, text);
    client_replied(client);
}

void client_errorf(struct client *client, const char *format, ...)
{
    char text[640];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    client_error(client, text);
}

void client_flush(struct client *client)
{
    list_remove(&client->dirty);
    while (client->out.len && !client->blocked) {
        struct iovec part = {buffer_bytes(&client->out), client->out.len};
        ssize_t written = io_write(client->conn, &part, 1);
        if (written < 0 && written != -EAGAIN) {
            client_close(client);
            return;
        }
        client->blocked = written != (ssize_t)client->out.len;
        if (written > 0) {
            buffer_take(&client->out, (size_t)written);
            client->worker->report.bytes_out += (uint64_t)written;
        }
    }
    buffer_trim(&client->out, BUFFER_KEEP);
    if (client->closing && !client->first && !client->out.len)
        client_close(client);
    else
        resume_if_room(client);
}

/* ---- requests ---------------------------------------------------------------------------------
 */

static void protocol_error(struct client *client, const char *reason)
{
    client_errorf(client, "ERR %s", reason);
    client_finish(client);
}

/* Cuts and dispatches requests from bytes while there is room. Returns how many bytes were used;
 * what is left is an unfinished request, or waits for room or for another state of the pool. */
static size_t cut_requests(struct client *client, const char *bytes, size_t len)
{
    const struct resp_limits *limits = &client->worker->limits->request;
    size_t used = 0;
    while (used < len && !client->closing) {
        if (!has_room(client)) {
            stop_reading(client);
            return used;
        }
        enum resp_result result = resp_request_parse(&client->parser, bytes + used, len - used,
                                                     limits);
        if (result == RESP_MORE)
            return used;
        if (result == RESP_BAD) {
            protocol_error(client, client->parser.reason);
            return len;
        }
        uint32_t length = client->parser.length;
        bool has_to_wait = client->parser.arg_count > 0 &&
                           !dispatch(client, &client->parser, bytes + used);
        resp_request_reset(&client->parser);
        if (has_to_wait)
            return used;
        used += length;
    }
    return client->closing ? len : used;
}

/* The client will send no more, but may still be reading. */
static void on_end(struct client *client)
{
    if (client->first || client->out.len)
        client_finish(client);
    else
        client_close(client);
}

/* Cuts requests from bytes and keeps the rest. */
static void take_bytes(struct client *client, struct slice bytes)
{
    size_t used = cut_requests(client, bytes.ptr, bytes.len);
    if (!intake_keep(client->worker, &client->in, bytes, used))
        client_close(client);
    if (!client->closing)
        note_waiting(client, client->in.len > 0 && !client->stopped);
}

static void read_client(struct client *client)
{
    struct slice bytes;
    ssize_t got = intake_read(client->worker, client->conn, &client->in, client->parser.need,
                              &bytes);
    if (got == -EAGAIN)
        return;
    if (got == 0) {
        on_end(client);
        return;
    }
    if (got < 0) {
        client_close(client);
        return;
    }
    client->last_ms = io_now_ms(client->worker->loop);
    client->worker->report.bytes_in += (uint64_t)got;
    take_bytes(client, bytes);
}

static void on_client_event(void *context, int events)
{
    struct client *client = context;
    if (events & IO_WRITABLE) {
        client->blocked = false;
        client_dirty(client); /* flushed at the turn's end, after what is read now */
    }
    /* A client that is not read from has its end found by writing. */
    if ((events & IO_READABLE) && !client->stopped)
        read_client(client);
    else if ((events & IO_READABLE) && client->waits)
        blocking_read(client);
}

void client_resume(struct client *client)
{
    list_remove(&client->resumable);
    if (!client->stopped || client->closing || !has_room(client))
        return;
    client->stopped = client->needs_alone = false;
    io_watch_reading(client->conn, true);
    if (client->in.len)
        take_bytes(client, (struct slice){buffer_bytes(&client->in), client->in.len});
    if (list_is_empty(&client->in_held))
        client->hold_since_ns = 0;
}
