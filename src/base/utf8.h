/*
 * UTF-8, as far as showing text needs it: reading one character strictly (no surrogates, no
 * overlong forms), and how many columns of a terminal it takes. No locale, no allocation.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the character at bytes[0]: how many bytes it has (1 .. 4), or 0 when it is no UTF-8. */
size_t utf8_read(const char *bytes, size_t len, uint32_t *ret_character);
bool utf8_is_valid(const char *bytes, size_t len);
/* 0 for combining marks, 2 for wide characters (CJK, emoji), 1 for all others. */
unsigned utf8_width(uint32_t character);

#endif
