/*
 * One question to a router's admin address.
 */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include "base/buffer.h"

/* GET http://address/path. CLI_OK with the body, which the caller releases; else CLI_FAILED after
 * saying why, with what could be done. */
int http_get(const char *address, const char *path, struct buffer *ret_body);

#endif
