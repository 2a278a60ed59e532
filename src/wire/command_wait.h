/*
 * Commands that may wait at the node: whether a request does, and for how long.
 */
#ifndef WIRE_COMMAND_WAIT_H
#define WIRE_COMMAND_WAIT_H

#include "base/buffer.h"
#include "wire/command.h"

#define WAIT_FOR_EVER UINT64_MAX

struct command_wait {
    uint32_t arg;        /* the argument that holds the timeout */
    bool is_ms;          /* it is in milliseconds; otherwise in seconds, with a fraction */
    uint64_t timeout_ms; /* rounded up; WAIT_FOR_EVER: 0, or nothing that can be read as a time
                            (then the node refuses it) */
};

/* Whether a request of a command with COMMAND_BLOCKING, whose arity fits, waits when there is
 * nothing for it: always, but for XREAD and XREADGROUP without BLOCK. O(1) but for these. */
bool command_find_wait(const struct command *command, const struct resp_request *request,
                       const char *bytes, struct command_wait *ret_wait);

/* Appends a time (not WAIT_FOR_EVER) as the bulk string that takes the timeout's place. False when
 * memory is out. */
bool command_write_wait(struct buffer *out, const struct command_wait *wait, uint64_t left_ms);

#endif
