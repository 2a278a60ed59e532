/*
 * The writer of a map's text: bytes that grow, and a failure that is remembered.
 */
#ifndef PLACEMENT_TEXT_WRITE_H
#define PLACEMENT_TEXT_WRITE_H

#include "placement/map.h"

struct writer {
    char *bytes;
    size_t len, size;
    int failed;
};

/* At most 1 KB a call. */
void text_put(struct writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text in quotes, escaped (text_escape.c); `before` stands in front of it inside the quotes. */
void text_put_escaped(struct writer *writer, const char *before, const char *text, size_t len);

/* What a profile's map has more, before the nodes and of each node (text_profile.c). */
void text_put_profile(struct writer *writer, const struct cw_map *map);
void text_put_server(struct writer *writer, const struct cw_map *map, uint32_t index);

#endif
