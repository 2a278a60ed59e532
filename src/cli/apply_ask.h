/*
 * Questions about changes to a router, and reading what it answers.
 */
#ifndef CLI_APPLY_ASK_H
#define CLI_APPLY_ASK_H

#include <jansson.h>
#include <stdint.h>

#include "cli/cli.h"

/* Asks /v1/pools/POOL/PAGE: with POST and `body` (not taken), or with GET where that is NULL.
 * CLI_OK and a new reference; or CLI_FAILED after saying what the router refused and the remedy. */
int apply_ask(const char *admin, const char *pool, const char *page, const json_t *body,
              json_t **ret_root);

/* Members of what was answered; "" and 0 for what is not there. */
const char *apply_text(const json_t *object, const char *key);
uint64_t apply_number(const json_t *object, const char *key);
double apply_real(const json_t *object, const char *key);

/* Appends "1.5 MB" (by 1024), "12.3 s" or "1:23:45". */
void apply_append_bytes(struct buffer *out, uint64_t bytes);
/* "1 copy", "2 copies". */
void apply_append_count(struct buffer *out, uint64_t count, const char *one, const char *several);
void apply_append_duration(struct buffer *out, uint64_t ms);

#endif
