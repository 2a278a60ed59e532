/*
 * RESP, the protocol of Redis: requests in (RESP2 arrays and inline commands), replies in and out
 * (RESP2 and RESP3). Parsers are incremental and linear, whatever way the input is cut: they keep
 * their place between calls, never look into a payload, and read again no more than a length line
 * (two dozen bytes) that was cut. The buffer may move between calls as long as the bytes from the
 * start of the message stay the same and in one piece. No I/O, no logging; nothing here trusts a
 * length from the network. After BAD a parser is only good for reset or release.
 * Source: the protocol specification at redis.io/docs/reference/protocol-spec.
 */
#ifndef WIRE_RESP_H
#define WIRE_RESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum resp_result {
    RESP_DONE, /* one message, complete */
    RESP_MORE, /* the bytes so far are fine but end inside a message */
    RESP_BAD,  /* not RESP, or over a limit: reason says what; the connection cannot go on */
};

/* A run of bytes inside somebody else's buffer. */
struct slice {
    const char *ptr;
    size_t len;
};

/* ---- requests -------------------------------------------------------------------------------- */

/* What a request may be. A request over a limit is RESP_BAD as soon as its length is announced. */
struct resp_limits {
    uint32_t arg_count_max;  /* arguments, the command's name included */
    uint32_t arg_len_max;    /* bytes in one argument */
    uint32_t inline_len_max; /* bytes in an inline command, without its line end */
    size_t request_len_max;  /* bytes in the whole request, framing included; below 4 GiB */
};

struct resp_arg {
    uint32_t offset; /* from the first byte of the request */
    uint32_t len;
};

enum { RESP_INLINE_ARGS = 24 };

/* A request as far as it is understood, and the parser's place in it. */
struct resp_request {
    struct resp_arg *args; /* arg_count entries; points at fixed[] or to the heap */
    uint32_t arg_count;
    uint32_t length;    /* when DONE: bytes of the request, framing included; 0 args: skip them */
    uint32_t need;      /* when MORE: a total length below which it cannot be complete */
    const char *reason; /* when BAD: a sentence for the client, without "ERR"; static storage */
    bool is_inline;     /* args then point into `unquoted`, not into the input */
    char *unquoted;     /* inline commands only: the arguments without quotes and escapes */
    /* the parser's own */
    uint32_t args_expected, args_capacity, position;
    struct resp_arg fixed[RESP_INLINE_ARGS];
};

void resp_request_init(struct resp_request *request);
/* Frees what it holds and leaves it as after init. */
void resp_request_release(struct resp_request *request);
/* Makes it ready for the next request. As release, but next to nothing when it holds nothing. */
static inline void resp_request_reset(struct resp_request *request)
{
    if (request->args != request->fixed || request->unquoted)
        resp_request_release(request);
    request->arg_count = request->args_expected = request->position = 0;
    request->is_inline = false;
}

/* Reads on in one request that starts at bytes[0] and of which `len` bytes are there by now (all
 * from its start, not only the new ones). */
enum resp_result resp_request_parse(struct resp_request *request, const char *bytes, size_t len,
                                    const struct resp_limits *limits);

/* Argument i of a DONE request that starts at bytes[0]. */
static inline struct slice resp_request_arg(const struct resp_request *request, const char *bytes,
                                            uint32_t i)
{
    const char *base = request->is_inline ? request->unquoted : bytes;
    return (struct slice){base + request->args[i].offset, request->args[i].len};
}

/* ---- replies --------------------------------------------------------------------------------- */

/* Finds the end of one reply (of any type and depth) without understanding it. */
struct resp_scanner {
    size_t position;    /* from the first byte of the reply; when DONE: its length */
    uint64_t remaining; /* values still to come, this one included */
    const char *reason; /* when BAD: static storage */
    bool in_line;       /* position stands inside a line of unbounded length (+ - : , ( # _) */
};

static inline void resp_scanner_init(struct resp_scanner *scanner)
{
    *scanner = (struct resp_scanner){.remaining = 1};
}

/* Reads on in one reply that starts at bytes[0] and of which `len` bytes are there by now. A reply
 * longer than len_max is BAD. A RESP3 push ('>') counts as a reply of its own. */
enum resp_result resp_scan(struct resp_scanner *scanner, const char *bytes, size_t len,
                           size_t len_max);

/* The head of a value: its type byte, and by type: the number of elements of an aggregate (pairs
 * of '%' and '|' count twice), the number of ':' , or the payload of a string-like value. */
struct resp_value {
    char type;         /* one of + - : $ * _ # , ( ! = % ~ > | ; nulls of RESP2 have is_null */
    bool is_null;      /* $-1, *-1 and _ */
    int64_t integer;   /* of ':' and '#'; the number of elements of aggregates */
    struct slice text; /* of + - $ , ( ! = ; for '=' without its "txt:" */
    size_t head_len;   /* bytes up to the first element of an aggregate, or of the whole value */
};

/* Reads the head of the value at bytes[0]. MORE and BAD as above; values nested in it are read by
 * calling again at head_len, and so on. */
enum resp_result resp_read_value(const char *bytes, size_t len, struct resp_value *ret_value);

/* ---- writing --------------------------------------------------------------------------------- */

/* All append to a buffer and return false when memory is out. `protocol` is 2 or 3. */
bool resp_write_simple(struct buffer *out, const char *text);
/* An error line: "-" text; bytes that would break the line are replaced by spaces. */
bool resp_write_error(struct buffer *out, const char *text);
bool resp_write_errorf(struct buffer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool resp_write_integer(struct buffer *out, int64_t number);
bool resp_write_bulk(struct buffer *out, const void *bytes, size_t len);
bool resp_write_bulk_text(struct buffer *out, const char *text);
bool resp_write_null(struct buffer *out, int protocol);       /* $-1 or _ */
bool resp_write_null_array(struct buffer *out, int protocol); /* *-1 or _ */
bool resp_write_array(struct buffer *out, size_t count);
/* A map of `pairs` pairs: %pairs in RESP3, *2*pairs in RESP2. */
bool resp_write_map(struct buffer *out, size_t pairs, int protocol);
bool resp_write_set(struct buffer *out, size_t count, int protocol);
bool resp_write_double(struct buffer *out, double number, int protocol);

/* The value of a decimal integer that is all of the slice, as Redis reads one: optional '-', no
 * '+', no leading zeros, no spaces, within int64. */
bool resp_parse_integer(struct slice text, int64_t *ret_number);

#endif
