/*
 * Key hashing: XXH3-64 (Collet 2019), seed 0, compiled in so that libclockwise needs only libc, and
 * Redis's hash tag rule.
 */
#include <clockwise/clockwise.h>

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t cw_hash(const void *key, size_t key_len)
{
    return XXH3_64bits(key, key_len);
}

const char *cw_hash_tag(const char *key, size_t key_len, size_t *ret_len)
{
    const char *open = key_len ? memchr(key, '{', key_len) : NULL;
    if (open) {
        const char *tag = open + 1;
        const char *close = memchr(tag, '}', key_len - (size_t)(tag - key));
        if (close && close != tag) {
            *ret_len = (size_t)(close - tag);
            return tag;
        }
    }
    *ret_len = key_len;
    return key;
}

uint64_t cw_hash_tagged(const char *key, size_t key_len)
{
    size_t tag_len;
    const char *tag = cw_hash_tag(key, key_len, &tag_len);
    return XXH3_64bits(tag, tag_len);
}
