/*
 * Commands made of arbitrary bytes, and one end of a connection that they go to.
 */
#ifndef TESTS_STORE_WISH_H
#define TESTS_STORE_WISH_H

#include "store/node_rig.h"

enum { ARGS_MAX = 12, ARG_LEN_MAX = 1024 };

/* One command: its arguments. */
struct wish {
    char args[ARGS_MAX][ARG_LEN_MAX];
    size_t lens[ARGS_MAX];
    size_t count;
};

static inline void add_bytes(struct wish *wish, const char *bytes, size_t len)
{
    assert_in_range(wish->count, 0, ARGS_MAX - 1);
    assert_in_range(len, 0, ARG_LEN_MAX);
    memcpy(wish->args[wish->count], bytes, len);
    wish->lens[wish->count++] = len;
}

static inline void add(struct wish *wish, const char *text)
{
    add_bytes(wish, text, strlen(text));
}

static inline void append_wish(struct buffer *out, const struct wish *wish)
{
    buffer_printf(out, "*%zu\r\n", wish->count);
    for (size_t i = 0; i < wish->count; i++) {
        buffer_printf(out, "$%zu\r\n", wish->lens[i]);
        buffer_append(out, wish->args[i], wish->lens[i]);
        buffer_append_text(out, "\r\n");
    }
}

struct side {
    int fd;
    struct client_input input;
    size_t taken;
};

#endif
