#include "store/store_key.h"

#include <stddef.h>
#include <string.h>

#include <clockwise/clockwise.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "store/bytes.h"

static_assert(offsetof(struct store_key, bytes) == offsetof(struct store_key, time) + 8,
              "the time of the expiry index and the key are one run of bytes");

void store_key_make(struct store_key *store_key, struct slice key)
{
    char *rest = store_key->bytes + STORE_KEY_HASH_LEN;
    put_u64(store_key->bytes, cw_hash_tagged(key.ptr, key.len));
    if (key.len <= STORE_KEY_SHORT_MAX) {
        if (key.len)
            memcpy(rest, key.ptr, key.len);
        store_key->len = STORE_KEY_HASH_LEN + key.len;
        return;
    }
    XXH128_hash_t digest = XXH3_128bits(key.ptr, key.len);
    memcpy(rest, key.ptr, STORE_KEY_PREFIX_LEN);
    put_u64(rest + STORE_KEY_PREFIX_LEN, digest.high64);
    put_u64(rest + STORE_KEY_PREFIX_LEN + 8, digest.low64);
    store_key->len = STORE_KEY_LEN_MAX;
}
