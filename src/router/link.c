/*
 * Links: one connection to a node, shared by all clients of a worker. Requests are appended to its
 * output and remembered in its flight queue; replies come back in the same order and each answers
 * the oldest. A reply that does not come before its deadline, or a connection that breaks, fails
 * everything under way on this link and no more.
 */
#include "router/own_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLIGHT_FIRST_CAPACITY = 64 };

static void link_open(struct link *link);
static void link_break(struct link *link, const char *why);

static struct worker *link_worker(const struct link *link)
{
    return link->node->pool->worker;
}

/* Has it flushed at the turn's end. */
static void link_dirty(struct link *link)
{
    if (list_is_empty(&link->dirty))
        list_push_back(&link_worker(link)->dirty_links, &link->dirty);
}

static uint64_t now_ms(const struct link *link)
{
    return io_now_ms(link_worker(link)->loop);
}

void link_init(struct link *link, struct node *node, int protocol)
{
    link->node = node;
    link->protocol = protocol;
    list_init(&link->dirty);
}

/* ---- the flight queue -------------------------------------------------------------------------
 */

/* Room for a number of requests more. */
static bool flight_reserve(struct flight *flight, uint32_t count)
{
    if (flight->count + count <= flight->capacity)
        return true;
    uint32_t capacity = flight->capacity ? flight->capacity * 2 : FLIGHT_FIRST_CAPACITY;
    while (capacity < flight->count + count)
        capacity *= 2;
    struct request **ring = malloc(capacity * sizeof *ring);
    if (!ring)
        return false;
    for (uint32_t i = 0; i < flight->count; i++)
        ring[i] = flight->ring[(flight->head + i) & (flight->capacity - 1)];
    free(flight->ring);
    *flight = (struct flight){ring, 0, flight->count, capacity};
    return true;
}

static void flight_push(struct flight *flight, struct request *request)
{
    CW_ASSERT(flight->count < flight->capacity);
    flight->ring[(flight->head + flight->count++) & (flight->capacity - 1)] = request;
}

static struct request *flight_first(const struct flight *flight)
{
    return flight->count ? flight->ring[flight->head] : NULL;
}

static struct request *flight_pop(struct flight *flight)
{
    struct request *request = flight->ring[flight->head];
    flight->head = (flight->head + 1) & (flight->capacity - 1);
    flight->count--;
    return request;
}

/* ---- closing ----------------------------------------------------------------------------------
 */

/* Fails everything under way. Requests that come in meanwhile (a client reads its error and asks
 * again) are behind those counted here. */
static void fail_flight(struct link *link, const char *text)
{
    struct node *node = link->node;
    for (uint32_t left = link->flight.count; left > 0; left--) {
        struct request *request = flight_pop(&link->flight);
        struct era *era = request->era;
        node->errors++;
        down_answer(link_worker(link), request, link->protocol, text);
        era_leave(era);
    }
}

static void link_close(struct link *link)
{
    io_close(&link->conn);
    list_remove(&link->dirty);
    buffer_release(&link->greeting);
    buffer_release(&link->out);
    buffer_release(&link->in);
    link->state = LINK_CLOSED;
    link->is_spent = link->is_own;
    link->blocked = false;
    link->greetings_waiting = 0;
    resp_scanner_init(&link->scanner);
}

void link_fini(struct link *link)
{
    char text[512];
    snprintf(text, sizeof text, "NODEDOWN node '%s' (%s) is no longer used", link->node->id,
             link->node->address);
    link_close(link);
    fail_flight(link, text);
    free(link->flight.ring);
    link->flight = (struct flight){0};
}

static uint64_t next_backoff(struct link *link)
{
    const struct pool_settings *settings = link->node->pool->settings;
    uint64_t backoff = link->backoff_ms ? link->backoff_ms : settings->probe_interval_ms;
    link->backoff_ms = backoff * 2 < settings->probe_interval_max_ms
                           ? backoff * 2
                           : settings->probe_interval_max_ms;
    /* Up to a quarter is left to chance, so that routers do not ask all at once. */
    return backoff - random_below(&link_worker(link)->random, backoff / 4 + 1);
}

void link_abandon(struct link *link, const char *why)
{
    char text[512];
    snprintf(text, sizeof text, "NODEDOWN node '%s' (%s) %s", link->node->id, link->node->address,
             why);
    link_close(link);
    fail_flight(link, text);
}

/* The node did not do what it should: it is DOWN, and asked again later. */
static void link_failed(struct link *link, const char *why)
{
    struct node *node = link->node;
    if (link->is_own) {
        link_abandon(link, why);
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "NODEDOWN node '%s' (%s) %s", node->id, node->address, why);
    node_is_down(node, why);
    link_close(link);
    link->retry_at_ms = now_ms(link) + next_backoff(link);
    worker_need_tick(link_worker(link));
    fail_flight(link, text);
}

/* The connection broke. A node that answered until now may just have been restarted: it is asked
 * again at once, and only if that fails it is DOWN. */
static void link_break(struct link *link, const char *why)
{
    struct node *node = link->node;
    char text[512];
    if (link->state != LINK_READY) {
        link_failed(link, why);
        return;
    }
    snprintf(
        text, sizeof text,
        "NODEDOWN node '%s' (%s) %s before it answered; whether it did what was asked is unknown",
        node->id, node->address, why);
    link_close(link);
    if (!link->is_own) {
        node->health = NODE_PROBING;
        node->reconnects++;
    }
    if (!link->is_own && !node->retired)
        link_open(link);
    fail_flight(link, text);
}

/* ---- opening ----------------------------------------------------------------------------------
 */

static void on_link_event(void *context, int events);

static void link_open(struct link *link)
{
    struct node *node = link->node;
    link->state = LINK_CONNECTING;
    link->deadline_ms = now_ms(link) + node->pool->settings->timeout_ms;
    resp_scanner_init(&link->scanner);
    worker_need_tick(link_worker(link));
    int error = io_connect(link_worker(link)->loop, node->address, on_link_event, link,
                           &link->conn);
    if (error < 0) {
        char why[96];
        snprintf(why, sizeof why, "cannot be connected: %s", strerror(-error));
        link_failed(link, why);
    }
}

/* What is said first on a connection: who we are, the protocol, and whether the node answers. */
static bool write_greeting(struct link *link, struct buffer *out)
{
    const struct pool_settings *settings = link->node->pool->settings;
    bool fine = true;
    if (settings->password) {
        fine &= resp_write_array(out, settings->username ? 3 : 2) &&
                resp_write_bulk_text(out, "AUTH");
        if (settings->username)
            fine &= resp_write_bulk_text(out, settings->username);
        fine &= resp_write_bulk_text(out, settings->password);
        link->greetings_waiting++;
    }
    if (link->protocol == 3) {
        fine &= buffer_append_text(out, "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n");
        link->greetings_waiting++;
    }
    if (link->is_own) {
        fine &= buffer_append_text(out, "*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n");
        link->greetings_waiting++;
    }
    link->greetings_waiting++;
    return fine && buffer_append_text(out, "*1\r\n$4\r\nPING\r\n");
}

static void greet(struct link *link)
{
    link->state = LINK_GREETING;
    if (write_greeting(link, &link->greeting))
        link_dirty(link);
    else
        link_failed(link, "cannot be greeted: out of memory");
}

static void link_ready(struct link *link)
{
    link->state = LINK_READY;
    link->backoff_ms = 0;
    link->retry_at_ms = 0;
    node_is_up(link->node);
    link_dirty(link);
}

/* One reply to the greeting. */
static void greeted(struct link *link, const char *reply, size_t len)
{
    if (reply[0] == '-') {
        char why[96];
        int line_len = (int)(len - 3 < 70 ? len - 3 : 70);
        snprintf(why, sizeof why, "refuses us: %.*s", line_len, reply + 1);
        link_failed(link, why);
        return;
    }
    if (link->is_own)
        own_link_greeted(link, reply, len);
    if (--link->greetings_waiting == 0)
        link_ready(link);
}

/* ---- sending ----------------------------------------------------------------------------------
 */

void link_connect(struct link *link)
{
    if (link->state == LINK_CLOSED && link->node->health != NODE_DOWN && !link->is_spent)
        link_open(link);
}

/* Why a link that is not ready takes nothing. */
static __attribute__((noinline)) void say_closed(const struct link *link, char *ret_text,
                                                 size_t text_size)
{
    struct node *node = link->node;
    node->errors++;
    snprintf(ret_text, text_size, "NODEDOWN node '%s' (%s) %s", node->id, node->address,
             node->health == NODE_DOWN ? node->why
                                       : "closed the connection that this client had for itself");
}

bool link_accepts(struct link *link, uint32_t count, char *ret_text, size_t text_size)
{
    struct node *node = link->node;
    link_connect(link);
    if (link->state != LINK_READY && (node->health == NODE_DOWN || link->is_spent)) {
        say_closed(link, ret_text, text_size);
        return false;
    }
    if (link->flight.count + count > link_worker(link)->limits->node_queue_max ||
        !flight_reserve(&link->flight, count)) {
        snprintf(ret_text, text_size,
                 "BUSY node '%s' (%s) has %u requests waiting (limits.node_queue)", node->id,
                 node->address, link->flight.count);
        return false;
    }
    return true;
}

void link_send(struct link *link, struct request *request)
{
    struct node *node = link->node;
    request->in_flight = true;
    era_enter(node->pool->era, request);
    request->deadline_ms = now_ms(link) + node->pool->settings->timeout_ms;
    request->written_end = link->written + link->out.len;
    if (link->flight.count == 0)
        worker_need_tick(link_worker(link));
    flight_push(&link->flight, request);
    node->requests++;
    link_dirty(link);
}

/* What goes out next: requests wait until the node has answered the greeting. */
static struct buffer *next_output(struct link *link)
{
    if (link->state == LINK_GREETING)
        return &link->greeting;
    return link->state == LINK_READY ? &link->out : NULL;
}

/* A node that is still taking a long request is not silent. Only the oldest request counts: what is
 * written behind it the kernel takes for a stopped node too. */
static void count_written(struct link *link, const struct buffer *out, size_t written)
{
    const struct request *oldest = flight_first(&link->flight);
    link->node->bytes_out += written;
    if (out != &link->out)
        return;
    if (oldest && link->written < oldest->written_end)
        link->heard_ms = now_ms(link);
    link->written += written;
}

void link_flush(struct link *link)
{
    struct buffer *out = next_output(link);
    list_remove(&link->dirty);
    while (out && out->len && !link->blocked) {
        struct iovec part = {buffer_bytes(out), out->len};
        ssize_t written = io_write(link->conn, &part, 1);
        if (written < 0 && written != -EAGAIN) {
            link_break(link, "closed the connection");
            return;
        }
        link->blocked = written != (ssize_t)out->len;
        if (written > 0) {
            buffer_take(out, (size_t)written);
            count_written(link, out, (size_t)written);
        }
    }
    buffer_trim(&link->out, BUFFER_KEEP);
}

/* ---- receiving --------------------------------------------------------------------------------
 */

/* One whole reply. */
static void take_reply(struct link *link, const char *reply, size_t len)
{
    if (reply[0] == '>')
        return; /* a push belongs to no request */
    if (link->state == LINK_GREETING) {
        greeted(link, reply, len);
        return;
    }
    if (link->flight.count == 0) {
        link_failed(link, "answered what was not asked");
        return;
    }
    struct request *request = flight_pop(&link->flight);
    struct era *era = request->era;
    request_answer(link_worker(link), request, reply, len);
    era_leave(era);
}

/* Cuts whole replies from bytes. Returns how many bytes were used; the link may be closed then. */
static size_t cut_replies(struct link *link, const char *bytes, size_t len)
{
    size_t used = 0;
    while (used < len && link->conn) {
        enum resp_result result = resp_scan(&link->scanner, bytes + used, len - used,
                                            link_worker(link)->limits->reply_len_max);
        if (result == RESP_MORE)
            return used;
        if (result == RESP_BAD) {
            char why[96];
            snprintf(why, sizeof why, "answered with what is no reply: %.50s",
                     link->scanner.reason);
            link_failed(link, why);
            return len;
        }
        size_t reply_len = link->scanner.position;
        resp_scanner_init(&link->scanner);
        take_reply(link, bytes + used, reply_len);
        used += reply_len;
    }
    return used;
}

static void read_failed(struct link *link, ssize_t got)
{
    char why[96];
    snprintf(why, sizeof why, "%s%s%s",
             link->state == LINK_CONNECTING ? "cannot be connected" : "closed the connection",
             got ? ": " : "", got ? strerror((int)-got) : "");
    link_break(link, why);
}

static void read_link(struct link *link)
{
    struct slice bytes;
    /* What a long reply needs is not known; asking for twice what is there reads it in few pieces.
     */
    ssize_t got = intake_read(link_worker(link), link->conn, &link->in, 2 * link->in.len, &bytes);
    if (got == -EAGAIN)
        return;
    if (got <= 0) {
        read_failed(link, got);
        return;
    }
    link->node->bytes_in += (uint64_t)got;
    link->node->last_answer_ms = link->heard_ms = now_ms(link);
    size_t used = cut_replies(link, bytes.ptr, bytes.len);
    /* If a reply closed the link, the bytes went with it. */
    if (link->conn && !intake_keep(link_worker(link), &link->in, bytes, used))
        link_failed(link, "sent a reply for which there is no memory");
}

static void on_link_event(void *context, int events)
{
    struct link *link = context;
    if (link->state == LINK_CONNECTING && (events & IO_WRITABLE)) {
        greet(link);
    } else if (events & IO_WRITABLE) {
        link->blocked = false;
        link_dirty(link);
    }
    if ((events & IO_READABLE) && link->conn)
        read_link(link);
}

/* ---- deadlines --------------------------------------------------------------------------------
 */

static void missed_deadline(struct link *link)
{
    char why[96];
    link->node->timeouts++;
    snprintf(why, sizeof why, "did not answer within %llu ms",
             (unsigned long long)link->node->pool->settings->timeout_ms);
    link_failed(link, why);
}

/* Whether the node owes us something and is silent. One that is busy with a long row of replies, or
 * with taking a long request, is not: to give it up would fail the requests of all its clients
 * because one of them asked for much. */
static bool is_overdue(const struct link *link, uint64_t now)
{
    const struct request *oldest = flight_first(&link->flight);
    if (link->state == LINK_CONNECTING || link->state == LINK_GREETING)
        return now >= link->deadline_ms;
    return oldest && now >= oldest->deadline_ms &&
           now - link->heard_ms >= link->node->pool->settings->timeout_ms;
}

bool link_tick(struct link *link)
{
    uint64_t now = now_ms(link);
    if (is_overdue(link, now))
        missed_deadline(link);
    else if (link->state == LINK_CLOSED && link->retry_at_ms && now >= link->retry_at_ms &&
             !link->node->retired)
        link_open(link);
    return link->flight.count || link->state == LINK_CONNECTING || link->state == LINK_GREETING ||
           (link->state == LINK_CLOSED && link->retry_at_ms);
}
