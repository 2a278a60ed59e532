/*
 * A plan that a router made, for people.
 */
#ifndef CLI_APPLY_PLAN_H
#define CLI_APPLY_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buffer.h"

/* `plan` is what the page `plan` answered, of a change. */
void apply_plan_print(const json_t *plan, bool has_color, struct buffer *out);

#endif
