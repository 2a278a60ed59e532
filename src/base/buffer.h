/*
 * A growable run of bytes that is appended to at its end and taken from at its front: what a
 * connection still has to write, or has read and not yet understood. One owner, no threads.
 *
 * data[head .. head+len) are the bytes. Taking from the front only moves head; the room is made
 * good when more is needed, so a steady flow neither copies nor allocates. Growth doubles;
 * allocation failure is reported, never fatal.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buffer {
    char *data;
    size_t head, len, capacity;
};

#define BUFFER_INIT                                                                                \
    {                                                                                              \
        NULL, 0, 0, 0                                                                              \
    }

/* Frees the memory and leaves an empty buffer. */
void buffer_release(struct buffer *buffer);
/* Gives memory back when the buffer is empty and holds more than keep_max bytes. */
void buffer_trim(struct buffer *buffer, size_t keep_max);

/* Makes room for at least `more` bytes at the end and returns where they go, or NULL when memory
 * is out. The bytes count only after buffer_added(). */
char *buffer_reserve(struct buffer *buffer, size_t more);

/* Where the bytes of a buffer are that never had any. */
extern char buffer_nothing[1];

/* Never NULL; valid until the buffer changes. */
static inline char *buffer_bytes(const struct buffer *buffer)
{
    return buffer->data ? buffer->data + buffer->head : buffer_nothing;
}

static inline size_t buffer_room(const struct buffer *buffer)
{
    return buffer->capacity - buffer->head - buffer->len;
}

static inline void buffer_added(struct buffer *buffer, size_t count)
{
    buffer->len += count;
}

static inline void buffer_take(struct buffer *buffer, size_t count)
{
    buffer->len -= count;
    buffer->head = buffer->len ? buffer->head + count : 0;
}

static inline void buffer_clear(struct buffer *buffer)
{
    buffer->head = buffer->len = 0;
}

static inline bool buffer_append(struct buffer *buffer, const void *bytes, size_t count)
{
    char *to;
    if (count == 0)
        return true;
    to = buffer_room(buffer) >= count ? buffer_bytes(buffer) + buffer->len
                                      : buffer_reserve(buffer, count);
    if (!to)
        return false;
    memcpy(to, bytes, count);
    buffer->len += count;
    return true;
}

bool buffer_append_text(struct buffer *buffer, const char *text);
/* printf into the buffer; false when memory is out. */
bool buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
