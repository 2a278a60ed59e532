/* What comes from the node: replies are cut, and each answers the oldest call. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "move/peer_internal.h"

enum {
    READ_LEN_MIN = 16 << 10,
    LATENCY_WEIGHT = 16, /* one answer is a 16th of the smoothed time */
};

static void count_latency(struct peer *peer, uint64_t took_ns)
{
    uint64_t before = peer->latency_ns ? peer->latency_ns : took_ns;
    peer->latency_ns = before - before / LATENCY_WEIGHT + took_ns / LATENCY_WEIGHT;
}

static void answer(struct peer *peer, const char *reply, size_t len)
{
    struct peer_slot slot = peer_pop_slot(peer);
    if (slot.called_ns)
        count_latency(peer, io_now_ns(peer->loop) - slot.called_ns);
    if (slot.callback)
        slot.callback(slot.context, reply, len);
}

static void take_reply(struct peer *peer, const char *reply, size_t len)
{
    char text[PEER_PROBLEM_SIZE - 100];
    const char *why = NULL;
    if (peer->state == PEER_GREETING) {
        why = peer_greeted(peer, reply, len, text, sizeof text);
        if (peer->state == PEER_READY)
            peer->heard_ms = io_now_ms(peer->loop);
    } else if (peer->count == 0) {
        why = "answered what was not asked";
    } else {
        if (peer_stream_is_first(peer))
            why = "refused a command before it was whole";
        answer(peer, reply, len);
    }
    if (why && !peer->is_destroyed)
        peer_fail(peer, why);
}

/* Cuts whole replies from what was read; stops when one of them ended the connection. */
static void cut_replies(struct peer *peer)
{
    while (peer->in.len && !peer->is_destroyed) {
        const char *bytes = buffer_bytes(&peer->in);
        enum resp_result result = resp_scan(&peer->scanner, bytes, peer->in.len,
                                            PEER_REPLY_LEN_MAX);
        if (result == RESP_MORE)
            return;
        if (result == RESP_BAD) {
            char why[96];
            snprintf(why, sizeof why, "answered with what is no reply: %.50s",
                     peer->scanner.reason);
            peer_fail(peer, why);
            return;
        }
        size_t len = peer->scanner.position;
        resp_scanner_init(&peer->scanner);
        take_reply(peer, bytes, len);
        if (peer->in.len) /* else it was closed meanwhile */
            buffer_take(&peer->in, len);
    }
    if (!peer->is_destroyed)
        buffer_trim(&peer->in, PEER_KEEP_LEN);
}

static void read_failed(struct peer *peer, ssize_t got)
{
    char why[160];
    const char *error = got ? strerror((int)-got) : "";
    snprintf(why, sizeof why, "%s%s%s%s",
             peer->state == PEER_CONNECTING ? "cannot be connected" : "closed the connection",
             got ? ": " : "", error, peer_remedy(peer));
    peer_fail(peer, why);
}

void peer_read(struct peer *peer)
{
    char *to = buffer_reserve(&peer->in, READ_LEN_MIN);
    if (!to) {
        peer_fail(peer, "sent a reply for which there is no memory");
        return;
    }
    ssize_t got = io_read(peer->conn, to, buffer_room(&peer->in));
    if (got == -EAGAIN)
        return;
    if (got <= 0) {
        read_failed(peer, got);
        return;
    }
    buffer_added(&peer->in, (size_t)got);
    peer->heard_ms = io_now_ms(peer->loop);
    cut_replies(peer);
}
