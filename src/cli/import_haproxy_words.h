/*
 * Words of haproxy.cfg, as far as its reader must know them.
 */
#ifndef CLI_IMPORT_HAPROXY_WORDS_H
#define CLI_IMPORT_HAPROXY_WORDS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a word at the start of a line opens a section. */
bool haproxy_is_section(const char *word);
/* How many words follow an option of a server that belong to it. */
unsigned haproxy_server_arguments(const char *option);
/* Whether hash-type knows the function. */
bool haproxy_is_function(const char *name);
/* What a method of balance places by, for a person; NULL where it is no hash of a key. */
const char *haproxy_balance_key(const char *method);
/* Whether a line of a backend means nothing to us and is worth no remark. */
bool haproxy_is_silent(const char *word);
/* "30s", "500" (ms), "2m", at most an hour; 0 and anything else is none. */
bool haproxy_duration(const char *text, uint32_t *ret_ms);

#endif
