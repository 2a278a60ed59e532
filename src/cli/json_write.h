/*
 * Keys in JSON. A key is any bytes, a JSON string is Unicode: a key that is UTF-8 becomes
 * "key":"…", any other "key_hex":"…", so that nothing is lost and nothing is ambiguous.
 */
#ifndef CLI_JSON_WRITE_H
#define CLI_JSON_WRITE_H

#include "base/buffer.h"

/* Appends a JSON string of UTF-8 bytes. */
void json_write_string(struct buffer *out, const char *text, size_t len);
/* Appends "key":"…" or "key_hex":"…". */
void json_write_key(struct buffer *out, const char *key, size_t len);

#endif
