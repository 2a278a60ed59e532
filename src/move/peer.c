#include "move/peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/peer_internal.h"

enum {
    FIRST_SLOTS = 64,
    FLUSH_LEN = 64 << 10, /* more is not gathered before it is written */
    RETRY_MS = 100,       /* between two attempts to connect */
    CALLS_HARD_FACTOR = 4,
};

static void on_event(void *context, int events);
static void on_timer(void *context);
static void on_flusher(void *context);

/* ---- lifecycle --------------------------------------------------------------------------------
 */

static bool copy_text(const char *text, char **ret_copy)
{
    *ret_copy = text ? strdup(text) : NULL;
    return !text || *ret_copy;
}

static void peer_free(struct peer *peer)
{
    free(peer->id);
    free(peer->address);
    free(peer->username);
    free(peer->password);
    free(peer->client_name);
    free(peer->slots);
    buffer_release(&peer->greeting);
    buffer_release(&peer->out);
    buffer_release(&peer->stream.held);
    buffer_release(&peer->in);
    free(peer);
}

int peer_create(struct io_loop *loop, const struct peer_options *options, struct peer **ret_peer)
{
    struct peer *peer = calloc(1, sizeof *peer);
    if (!peer)
        return -ENOMEM;
    peer->loop = loop;
    peer->timeout_ms = options->timeout_ms;
    peer->spares_old = options->spares_old;
    if (!copy_text(options->id, &peer->id) || !copy_text(options->address, &peer->address) ||
        !copy_text(options->username, &peer->username) ||
        !copy_text(options->password, &peer->password) ||
        !copy_text(options->client_name, &peer->client_name) ||
        io_timer_create(loop, on_timer, peer, &peer->timer) < 0 ||
        io_timer_create(loop, on_flusher, peer, &peer->flusher) < 0) {
        peer_destroy(&peer);
        return -ENOMEM;
    }
    *ret_peer = peer;
    return 0;
}

static void close_conn(struct peer *peer)
{
    peer->connection_count += peer->conn != NULL;
    io_close(&peer->conn);
    buffer_clear(&peer->greeting);
    buffer_clear(&peer->in);
    peer->written += peer->out.len;
    buffer_clear(&peer->out);
    peer_stream_drop(peer);
    resp_scanner_init(&peer->scanner);
    peer->state = PEER_CLOSED;
    peer->is_blocked = peer->is_broken = false;
}

/* Inside a callback the memory is still looked at: peer_leave() frees it. */
void peer_destroy(struct peer **peer_at)
{
    struct peer *peer = *peer_at;
    *peer_at = NULL;
    if (!peer)
        return;
    close_conn(peer);
    if (peer->timer)
        io_timer_destroy(&peer->timer);
    if (peer->flusher)
        io_timer_destroy(&peer->flusher);
    peer->count = 0;
    peer->is_destroyed = true;
    if (peer->busy == 0)
        peer_free(peer);
}

static void peer_leave(struct peer *peer)
{
    if (--peer->busy == 0 && peer->is_destroyed)
        peer_free(peer);
}

/* ---- the ring of calls ------------------------------------------------------------------------
 */

static bool reserve_slot(struct peer *peer)
{
    if (peer->count < peer->capacity)
        return true;
    uint32_t capacity = peer->capacity ? peer->capacity * 2 : FIRST_SLOTS;
    struct peer_slot *slots = malloc(capacity * sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < peer->count; i++)
        slots[i] = peer->slots[(peer->head + i) & (peer->capacity - 1)];
    free(peer->slots);
    peer->slots = slots;
    peer->head = 0;
    peer->capacity = capacity;
    return true;
}

static struct peer_slot *slot_at(const struct peer *peer, uint32_t i)
{
    return &peer->slots[(peer->head + i) & (peer->capacity - 1)];
}

struct peer_slot peer_pop_slot(struct peer *peer)
{
    struct peer_slot slot = *slot_at(peer, 0);
    peer->head = (peer->head + 1) & (peer->capacity - 1);
    peer->count--;
    return slot;
}

void peer_forget(struct peer *peer, const void *from, size_t size)
{
    for (uint32_t i = 0; i < peer->count; i++) {
        struct peer_slot *slot = slot_at(peer, i);
        uintptr_t at = (uintptr_t)slot->context;
        if (at < (uintptr_t)from || at - (uintptr_t)from >= size)
            continue;
        slot->callback = NULL;
        if (peer->stream.is_open && slot->end == peer->stream.end)
            peer_stream_spoil(peer);
    }
}

/* ---- time -------------------------------------------------------------------------------------
 */

static void run_timer(struct peer *peer, uint64_t delay_ms)
{
    peer->timer_runs = true;
    io_timer_start(peer->timer, delay_ms);
}

/* Has the peer looked at again when the node may be overdue. */
static void watch_deadline(struct peer *peer)
{
    if (!peer->timer_runs)
        run_timer(peer, peer->timeout_ms);
}

/* The failure is told from the timer, because here nobody may be called. */
void peer_break_later(struct peer *peer)
{
    peer->is_broken = true;
    run_timer(peer, 0);
}

/* ---- failing ----------------------------------------------------------------------------------
 */

/* Everything under way fails. What the callbacks ask for anew waits for the next connection. */
void peer_fail(struct peer *peer, const char *why)
{
    uint64_t wait_ms = peer->state == PEER_READY ? 0 : RETRY_MS;
    snprintf(peer->problem, sizeof peer->problem, "node '%s' (%s) %s", peer->id, peer->address,
             why);
    peer_remember_old(peer);
    close_conn(peer);
    peer->retry_at_ms = io_now_ms(peer->loop) + wait_ms;
    for (uint32_t left = peer->count; left > 0 && !peer->is_destroyed; left--) {
        struct peer_slot slot = peer_pop_slot(peer);
        if (slot.callback)
            slot.callback(slot.context, "", 0);
    }
}

/* ---- connecting -------------------------------------------------------------------------------
 */

static void peer_open(struct peer *peer)
{
    uint64_t now = io_now_ms(peer->loop);
    if (now < peer->retry_at_ms) {
        run_timer(peer, peer->retry_at_ms - now);
        return;
    }
    peer->state = PEER_CONNECTING;
    peer->connection_count++;
    peer->deadline_ms = now + peer->timeout_ms;
    resp_scanner_init(&peer->scanner);
    if (io_connect(peer->loop, peer->address, on_event, peer, &peer->conn) < 0)
        peer_break_later(peer);
    else
        run_timer(peer, peer->timeout_ms);
}

/* ---- calling ----------------------------------------------------------------------------------
 */

static bool write_call(struct buffer *out, const struct slice *args, size_t arg_count,
                       const char *open)
{
    size_t before = out->len;
    bool fine = resp_write_array(out, open ? arg_count + 3 : arg_count);
    for (size_t i = 0; i < arg_count && fine; i++)
        fine = resp_write_bulk(out, args[i].ptr, args[i].len);
    if (fine && open)
        fine = buffer_append_text(out, open);
    if (!fine)
        out->len = before;
    return fine;
}

void peer_flush_soon(struct peer *peer)
{
    if (peer->out.len >= FLUSH_LEN) {
        peer_flush(peer);
    } else if (!peer->flusher_runs && peer->busy == 0) {
        peer->flusher_runs = true;
        io_timer_start(peer->flusher, 0);
    }
}

bool peer_queue(struct peer *peer, const struct peer_slot *slot, const struct slice *args,
                size_t arg_count, const char *open, uint64_t more)
{
    struct buffer *out = peer->stream.is_open ? &peer->stream.held : &peer->out;
    if (peer->count >= CALLS_HARD_FACTOR * PEER_CALLS_MAX || !reserve_slot(peer) ||
        !write_call(out, args, arg_count, open))
        return false;
    if (peer->count == 0)
        peer->heard_ms = io_now_ms(peer->loop);
    uint64_t from = peer->stream.is_open ? peer->stream.end : peer->written;
    peer->count++;
    *slot_at(peer, peer->count - 1) = *slot;
    slot_at(peer, peer->count - 1)->end = from + out->len + more;
    watch_deadline(peer);
    if (peer->state == PEER_READY)
        peer_flush_soon(peer);
    else if (peer->state == PEER_CLOSED && !peer->is_broken)
        peer_open(peer);
    return true;
}

bool peer_call(struct peer *peer, const struct slice *args, size_t arg_count, peer_reply callback,
               void *context)
{
    struct peer_slot slot = {callback, context, io_now_ns(peer->loop), 0};
    return peer_queue(peer, &slot, args, arg_count, NULL, 0);
}

bool peer_has_room(const struct peer *peer)
{
    return peer->count < PEER_CALLS_MAX && peer_unwritten(peer) < PEER_OUT_MAX;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static struct buffer *next_output(struct peer *peer)
{
    if (peer->state == PEER_GREETING)
        return &peer->greeting;
    return peer->state == PEER_READY ? &peer->out : NULL;
}

/* A node that still takes the oldest call is not silent. What is written behind it the kernel takes
 * for a stopped node too. */
static void count_written(struct peer *peer, size_t written)
{
    if (peer->count && peer->written < slot_at(peer, 0)->end)
        peer->heard_ms = io_now_ms(peer->loop);
    peer->written += written;
}

void peer_flush(struct peer *peer)
{
    struct buffer *out = next_output(peer);
    while (out && !peer->is_blocked && !peer->is_broken && (out->len || peer_stream_refill(peer))) {
        struct iovec part = {buffer_bytes(out), out->len};
        ssize_t written = io_write(peer->conn, &part, 1);
        if (written < 0 && written != -EAGAIN) {
            peer_break_later(peer);
            return;
        }
        peer->is_blocked = written != (ssize_t)out->len;
        if (written > 0) {
            buffer_take(out, (size_t)written);
            if (out == &peer->out)
                count_written(peer, (size_t)written);
        }
    }
    buffer_trim(&peer->out, PEER_KEEP_LEN);
}

static void on_flusher(void *context)
{
    struct peer *peer = context;
    peer->flusher_runs = false;
    peer_flush(peer);
}

/* ---- events ------------------------------------------------------------------------------------
 */

static void on_event(void *context, int events)
{
    struct peer *peer = context;
    peer->busy++;
    if (events & IO_WRITABLE) {
        peer->is_blocked = false;
        if (peer->state == PEER_CONNECTING && !peer_greet(peer))
            peer_fail(peer, "cannot be greeted: out of memory");
    }
    if ((events & IO_READABLE) && peer->conn)
        peer_read(peer);
    if (!peer->is_destroyed)
        peer_flush(peer);
    peer_leave(peer);
}

/* ---- deadlines --------------------------------------------------------------------------------
 */

static bool is_overdue(const struct peer *peer, uint64_t now)
{
    if (peer->state == PEER_CONNECTING || peer->state == PEER_GREETING)
        return now >= peer->deadline_ms;
    return peer->state == PEER_READY && peer->count && !peer_stream_starves(peer) &&
           now - peer->heard_ms >= peer->timeout_ms;
}

static uint64_t next_look_ms(const struct peer *peer, uint64_t now)
{
    if (peer_stream_starves(peer))
        return peer->timeout_ms;
    uint64_t at = peer->state == PEER_READY ? peer->heard_ms + peer->timeout_ms : peer->deadline_ms;
    return at > now ? at - now : 1;
}

static void look(struct peer *peer)
{
    uint64_t now = io_now_ms(peer->loop);
    if (peer->is_broken) {
        peer_fail(peer, peer->conn ? "closed the connection" : "cannot be connected");
    } else if (is_overdue(peer, now)) {
        char why[64];
        snprintf(why, sizeof why, "did not answer within %llu ms",
                 (unsigned long long)peer->timeout_ms);
        peer_fail(peer, why);
    } else if (peer->state == PEER_CLOSED && peer->count) {
        peer_open(peer);
    }
}

static void on_timer(void *context)
{
    struct peer *peer = context;
    peer->timer_runs = false;
    peer->busy++;
    look(peer);
    if (!peer->is_destroyed && !peer->timer_runs && (peer->count || peer->state != PEER_CLOSED) &&
        (peer->state != PEER_READY || peer->count))
        run_timer(peer, next_look_ms(peer, io_now_ms(peer->loop)));
    if (!peer->is_destroyed)
        peer_flush(peer);
    peer_leave(peer);
}

/* ---- looking ----------------------------------------------------------------------------------
 */

const char *peer_problem(const struct peer *peer)
{
    return peer->problem;
}

uint64_t peer_connection_count(const struct peer *peer)
{
    return peer->connection_count;
}

const char *peer_id(const struct peer *peer)
{
    return peer->id;
}

uint64_t peer_latency_us(const struct peer *peer)
{
    return peer->latency_ns / 1000;
}
