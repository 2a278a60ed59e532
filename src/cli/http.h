/*
 * One question to a router's admin address.
 */
#ifndef CLI_HTTP_H
#define CLI_HTTP_H

#include "base/buffer.h"

/* GET http://address/path. CLI_OK with the body, which the caller releases; else CLI_FAILED after
 * saying why, with what could be done. */
int http_get(const char *address, const char *path, struct buffer *ret_body);
/* The same with any answer: CLI_OK with its code and body. json: what is sent with POST; NULL: GET.
 */
int http_ask(const char *address, const char *path, const char *json, long *ret_code,
             struct buffer *ret_body);

#endif
