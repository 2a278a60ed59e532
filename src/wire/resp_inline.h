/*
 * Inline commands: a line of words, the second form of a request. A part of the request parser in
 * resp_request.c, used by nobody else.
 */
#ifndef WIRE_RESP_INLINE_H
#define WIRE_RESP_INLINE_H

#include "wire/resp.h"

#define RESP_REASON_ARGUMENTS "Protocol error: too many arguments (limits.arguments)"
#define RESP_REASON_VALUE     "Protocol error: argument too long (limits.value)"
#define RESP_REASON_REQUEST   "Protocol error: request too large (limits.request)"
#define RESP_REASON_MEMORY    "out of memory for the arguments of a request"

/* As resp_request_parse(), for a request whose first byte is not '*'. */
enum resp_result resp_inline_parse(struct resp_request *request, const char *bytes, size_t len,
                                   const struct resp_limits *limits);

/* Appends an argument; false when memory is out. */
bool resp_request_push(struct resp_request *request, uint32_t offset, uint32_t len);

#endif
