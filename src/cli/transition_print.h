/*
 * A transition for people: what it is, where it is, and how it goes.
 */
#ifndef CLI_TRANSITION_PRINT_H
#define CLI_TRANSITION_PRINT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buffer.h"

/* One line or two, for `clockwise status`: nothing when it is over. Each behind `indent`. */
void transition_print_short(const json_t *transition, const char *indent, bool has_color,
                            struct buffer *out);
/* Everything. */
void transition_print(const json_t *transition, bool has_color, struct buffer *out);

#endif
