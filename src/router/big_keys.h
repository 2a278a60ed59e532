/*
 * Keys that are too large to be copied at once while they move. Writes to them are marked element
 * by element, so that a change of one field does not copy a million again. A list is immutable and
 * shared by all workers; a longer one takes its place.
 */
#ifndef ROUTER_BIG_KEYS_H
#define ROUTER_BIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/resp.h"

struct big_keys;

/* The keys of `old` (may be NULL) and more; copies them. 0 or -ENOMEM. */
int big_keys_create(const struct big_keys *old, const struct slice *keys, size_t count,
                    struct big_keys **ret_keys);
struct big_keys *big_keys_ref(struct big_keys *keys);
/* Drops a reference and nulls the pointer; NULL is fine. Any thread. */
void big_keys_unref(struct big_keys **keys);
/* O(log count). NULL: no keys. */
bool big_keys_has(const struct big_keys *keys, struct slice key);
size_t big_keys_count(const struct big_keys *keys);
/* The key number `index`, which is less than the count; valid as long as the list. */
struct slice big_keys_at(const struct big_keys *keys, size_t index);

#endif
