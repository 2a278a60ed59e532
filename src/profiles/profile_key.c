/*
 * Which part of a key is hashed: the tag rules. They differ most where a tag is empty.
 */
#include "profiles/profile.h"

#include <string.h>

struct part {
    const char *at;
    size_t len;
};

/* What stands between the first `open` and the first `close` behind it; NULL if there is none. */
static struct part between(const char *key, size_t len, char open, char close)
{
    const char *first = len ? memchr(key, open, len) : NULL;
    if (!first)
        return (struct part){NULL, 0};
    const char *tag = first + 1;
    const char *last = memchr(tag, close, len - (size_t)(tag - key));
    return (struct part){last ? tag : NULL, last ? (size_t)(last - tag) : 0};
}

/* npm cluster-key-slot 1.1.2 steps over the '}' of an empty {} and goes on to the next one. */
static struct part between_js(const char *key, size_t len)
{
    const char *first = len ? memchr(key, '{', len) : NULL, *end = key + len;
    if (!first)
        return (struct part){NULL, 0};
    const char *tag = first + 1;
    if (tag < end && *tag == '}')
        tag++;
    const char *last = memchr(tag, '}', (size_t)(end - tag));
    return (struct part){last ? tag : NULL, last ? (size_t)(last - tag) : 0};
}

/* Its first character is rare in keys, so that looking for that alone is the quick way. */
static struct part before(const char *key, size_t len, const char *stop, size_t stop_len)
{
    for (size_t at = 0; at + stop_len <= len; at++) {
        const char *found = memchr(key + at, stop[0], len - at - stop_len + 1);
        if (!found)
            break;
        at = (size_t)(found - key);
        if (memcmp(found, stop, stop_len) == 0)
            return (struct part){key, at};
    }
    return (struct part){key, len};
}

static struct part find_part(const struct cw_profile_map *map, const char *key, size_t len)
{
    const char *tag = map->options.tag;
    switch (map->key) {
    case KEY_WHOLE: break;
    case KEY_REDIS: return between(key, len, '{', '}');
    case KEY_REDIS_JS: return between_js(key, len);
    case KEY_TAGGED:
    case KEY_TAGGED_OR_EMPTY: return between(key, len, tag[0], tag[1]);
    case KEY_MCROUTER: return before(key, len, "|#|", 3);
    case KEY_STOPPED: return before(key, len, map->options.stop, strlen(map->options.stop));
    }
    return (struct part){NULL, 0};
}

const void *profile_key_part(const struct cw_profile_map *map, const void *key, size_t len,
                             size_t *ret_len)
{
    struct part part = find_part(map, key, len);
    int may_be_empty = map->key == KEY_TAGGED_OR_EMPTY || map->key == KEY_STOPPED ||
                       map->key == KEY_MCROUTER || map->key == KEY_REDIS_JS;
    if (!part.at || (part.len == 0 && !may_be_empty)) {
        *ret_len = len;
        return key;
    }
    *ret_len = part.len;
    return part.at;
}
