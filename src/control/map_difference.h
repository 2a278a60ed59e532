/*
 * In what a configuration's map differs from the one that is stored, for a person.
 */
#ifndef CONTROL_MAP_DIFFERENCE_H
#define CONTROL_MAP_DIFFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <clockwise/clockwise.h>

#include "base/buffer.h"

/* Appends "node n4 is in the file only; node n1 has weight 2 in the file and 1 in the map", the
 * first few of them and how many more there are; nothing when nodes (ids, weights, zones and
 * addresses), placement and slots are the same. What history made of the map is no difference. */
void map_difference(const struct cw_map *file, const struct cw_map *stored, struct buffer *out);

#endif
