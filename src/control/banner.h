/*
 * What a person sees when the router has started: where it listens, its nodes, and what to try.
 */
#ifndef CONTROL_BANNER_H
#define CONTROL_BANNER_H

#include "base/buffer.h"
#include "control/config.h"

/* listen: the pools' real addresses, in their order; admin: NULL when it is off. */
void banner_print(const struct config *config, const char *const *listen, const char *admin,
                  bool has_color, struct buffer *out);

#endif
