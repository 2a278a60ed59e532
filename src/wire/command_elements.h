/*
 * Which elements of its key a write changes. Only where that can be told from the request for
 * certain: fields of a hash, members of a set or sorted set that stand among the arguments. What
 * chooses its elements itself (SPOP, ZREMRANGEBYSCORE, ...) or changes more of an element than its
 * value (HEXPIRE, HSETEX: its own expiry) is not.
 */
#ifndef WIRE_COMMAND_ELEMENTS_H
#define WIRE_COMMAND_ELEMENTS_H

#include "wire/command.h"

/* Arguments `first`, first + step, ...: `count` of them. */
struct command_element_range {
    uint32_t first, count, step;
};

/* True: the command changes these elements of its (only) key and nothing else; with count 0 none at
 * all, only the expiry of the key. False: not known, it may change all of the key. O(1) but for
 * ZADD's and HGETDEL's options. The request's arity fits. */
bool command_find_elements(const struct command *command, const struct resp_request *request,
                           const char *bytes, struct command_element_range *ret_elements);

#endif
