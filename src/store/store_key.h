/*
 * The key under which LMDB keeps a record: the hash that places the key, big-endian, so that LMDB's
 * order is the order of the placement, and then the key itself. LMDB keys end at 511 bytes, and the
 * expiry index needs 8 of them; so of a longer key only a prefix stands there, with a 128-bit
 * digest of all of it, and the record holds the whole key (RECORD_HAS_KEY). The two forms never
 * meet: only the long one has the full length.
 */
#ifndef STORE_STORE_KEY_H
#define STORE_STORE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/resp.h"

enum {
    STORE_KEY_HASH_LEN = 8,
    STORE_KEY_LEN_MAX = 488,
    STORE_KEY_DIGEST_LEN = 16,
    STORE_KEY_SHORT_MAX = STORE_KEY_LEN_MAX - STORE_KEY_HASH_LEN - 1, /* of a key kept whole */
    STORE_KEY_PREFIX_LEN = STORE_KEY_LEN_MAX - STORE_KEY_HASH_LEN - STORE_KEY_DIGEST_LEN,
};

/* The expiry index puts a time of 8 bytes in front, so bytes[-8] is the store key's own room. */
struct store_key {
    size_t len; /* without the time */
    char time[8];
    char bytes[STORE_KEY_LEN_MAX];
};

void store_key_make(struct store_key *store_key, struct slice key);

static inline bool store_key_is_long(size_t len)
{
    return len == STORE_KEY_LEN_MAX;
}

#endif
