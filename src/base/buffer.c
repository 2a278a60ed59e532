#include "base/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_FIRST_CAPACITY = 512 };

char buffer_nothing[1];

void buffer_release(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer)BUFFER_INIT;
}

void buffer_trim(struct buffer *buffer, size_t keep_max)
{
    if (buffer->len == 0 && buffer->capacity > keep_max)
        buffer_release(buffer);
}

static void move_to_front(struct buffer *buffer)
{
    if (buffer->head == 0)
        return;
    memmove(buffer->data, buffer->data + buffer->head, buffer->len);
    buffer->head = 0;
}

char *buffer_reserve(struct buffer *buffer, size_t more)
{
    if (more > SIZE_MAX / 4 - buffer->len)
        return NULL;
    size_t need = buffer->len + more;
    if (need > buffer->capacity) {
        size_t capacity = buffer->capacity ? buffer->capacity : BUFFER_FIRST_CAPACITY;
        while (capacity < need)
            capacity *= 2;
        move_to_front(buffer);
        char *data = realloc(buffer->data, capacity);
        if (!data)
            return NULL;
        buffer->data = data;
        buffer->capacity = capacity;
    } else if (buffer_room(buffer) < more) {
        move_to_front(buffer);
    }
    return buffer_bytes(buffer) + buffer->len;
}

bool buffer_append_text(struct buffer *buffer, const char *text)
{
    return buffer_append(buffer, text, strlen(text));
}

bool buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return false;
    char *to = buffer_reserve(buffer, (size_t)len + 1);
    if (!to)
        return false;
    va_start(args, format);
    vsnprintf(to, (size_t)len + 1, format, args);
    va_end(args);
    buffer->len += (size_t)len;
    return true;
}
