/*
 * What commands that read answer when their key does not exist, for pools that are caches: while a
 * node is down its keys may be answered so.
 */
#ifndef WIRE_COMMAND_MISS_H
#define WIRE_COMMAND_MISS_H

#include "wire/command.h"

/* Whether there is such an answer: not for writes, scripts, commands that no key is named to, and
 * those whose answer depends on more than the number of their arguments. */
bool command_has_miss(const struct command *command, uint32_t arg_count);
/* Writes it; arg_count is that of the request, its name included. Only if there is one. False when
 * memory is out. */
bool command_write_miss(struct buffer *out, const struct command *command, uint32_t arg_count,
                        int protocol);

#endif
