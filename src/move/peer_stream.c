/*
 * Calls that are made piece by piece. Once its first byte is written such a call cannot be taken
 * back, for the node waits for the rest of it. So one that is given up is filled up, and its last
 * argument has the node refuse it. To break the connection instead would fail everybody's calls.
 */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "move/peer_internal.h"

enum { REFILL_LEN = 64 << 10, TEXT_SIZE = 64 };

/* What follows the long argument, from its line end on. */
static size_t write_trailer(char text[TEXT_SIZE], const char *option, const char *value)
{
    int len = snprintf(text, TEXT_SIZE, "\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(option), option,
                       strlen(value), value);
    CW_ASSERT(len > 0 && len < TEXT_SIZE);
    return (size_t)len;
}

bool peer_stream(struct peer *peer, const struct slice *args, size_t arg_count, uint64_t len,
                 const struct peer_stream_end *end, peer_reply callback, void *context)
{
    struct peer_slot slot = {callback, context, 0, 0};
    struct peer_stream *stream = &peer->stream;
    char open[TEXT_SIZE], trailer[TEXT_SIZE];
    uint64_t more = len + write_trailer(trailer, end->option, end->value);
    CW_ASSERT(strlen(end->value) == strlen(end->spoiled));
    snprintf(open, sizeof open, "$%llu\r\n", (unsigned long long)len);
    if (stream->is_open || !peer_queue(peer, &slot, args, arg_count, open, more))
        return false;
    stream->is_open = true;
    stream->is_spoiled = false;
    stream->missing = len;
    stream->end = peer->written + peer->out.len + more;
    stream->says = end;
    return true;
}

/* All bytes are there. Without memory for the little that is left the connection is given up. */
static void close_stream(struct peer *peer)
{
    struct peer_stream *stream = &peer->stream;
    char trailer[TEXT_SIZE];
    size_t len = write_trailer(trailer, stream->says->option,
                               stream->is_spoiled ? stream->says->spoiled : stream->says->value);
    stream->is_open = false;
    if (!buffer_append(&peer->out, trailer, len) ||
        !buffer_append(&peer->out, buffer_bytes(&stream->held), stream->held.len))
        peer_break_later(peer);
    buffer_release(&stream->held);
}

bool peer_stream_add(struct peer *peer, struct slice bytes)
{
    struct peer_stream *stream = &peer->stream;
    if (!stream->is_open)
        return true;
    CW_ASSERT(!stream->is_spoiled && bytes.len <= stream->missing);
    if (peer_stream_starves(peer))
        peer->heard_ms = io_now_ms(peer->loop);
    if (!buffer_append(&peer->out, bytes.ptr, bytes.len))
        return false;
    stream->missing -= bytes.len;
    if (stream->missing == 0)
        close_stream(peer);
    peer_flush_soon(peer);
    return true;
}

void peer_stream_spoil(struct peer *peer)
{
    if (!peer->stream.is_open || peer->stream.is_spoiled)
        return;
    if (peer_stream_starves(peer))
        peer->heard_ms = io_now_ms(peer->loop);
    peer->stream.is_spoiled = true;
    peer_flush(peer);
}

bool peer_stream_refill(struct peer *peer)
{
    struct peer_stream *stream = &peer->stream;
    if (!stream->is_spoiled || !stream->is_open || peer->state != PEER_READY)
        return false;
    size_t len = stream->missing < REFILL_LEN ? (size_t)stream->missing : REFILL_LEN;
    char *to = buffer_reserve(&peer->out, len);
    if (!to) {
        peer_break_later(peer);
        return false;
    }
    memset(to, 0, len);
    buffer_added(&peer->out, len);
    stream->missing -= len;
    if (stream->missing == 0)
        close_stream(peer);
    return true;
}

void peer_stream_drop(struct peer *peer)
{
    peer->stream.is_open = false;
    buffer_release(&peer->stream.held);
}

bool peer_stream_is_first(const struct peer *peer)
{
    return peer->stream.is_open && peer->count && peer->slots[peer->head].end == peer->stream.end;
}

bool peer_stream_starves(const struct peer *peer)
{
    return peer->state == PEER_READY && !peer->stream.is_spoiled && peer->out.len == 0 &&
           peer_stream_is_first(peer);
}

bool peer_can_stream(const struct peer *peer)
{
    return !peer->stream.is_open;
}

size_t peer_unwritten(const struct peer *peer)
{
    return peer->out.len + peer->stream.held.len;
}
