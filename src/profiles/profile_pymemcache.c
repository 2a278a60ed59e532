/*
 * pymemcache: rendezvous hashing over Python's text "server-key". A key of type bytes is printed
 * into that text as Python prints bytes, b'...'; the characters of the text are hashed by their low
 * 8 bits.
 */
#include "profiles/profile.h"

#include <string.h>

enum { TEXT_ROOM = 16384, KEY_AT = 4200 /* behind a name of 4096 bytes and a dash */ };

/* How Python prints one byte inside quotes. */
static size_t print_byte(uint8_t byte, char quote, char *ret)
{
    static const char hex[] = "0123456789abcdef", plain[] = "\t\n\r\\", letters[] = "tnr\\";
    const char *found = byte ? strchr(plain, byte) : NULL;
    if (found || byte == (uint8_t)quote) {
        ret[0] = '\\';
        ret[1] = found ? letters[found - plain] : quote;
        return 2;
    }
    if (byte >= ' ' && byte < 0x7f) {
        ret[0] = (char)byte;
        return 1;
    }
    ret[0] = '\\';
    ret[1] = 'x';
    ret[2] = hex[byte >> 4];
    ret[3] = hex[byte & 15];
    return 4;
}

static size_t print_bytes(const uint8_t *key, size_t len, char *ret)
{
    int doubles = memchr(key, '\'', len) && !memchr(key, '"', len);
    char quote = doubles ? '"' : '\'';
    size_t at = 0;
    ret[at++] = 'b';
    ret[at++] = quote;
    for (size_t i = 0; i < len; i++)
        at += print_byte(key[i], quote, ret + at);
    ret[at++] = quote;
    return at;
}

/* The greatest hash wins; of equal ones, the greater name. */
static uint32_t best_node(const struct cw_profile_map *map, char *text, size_t key_len)
{
    uint32_t best = 0;
    uint64_t best_score = 0;
    for (uint32_t i = 0; i < map->node_count; i++) {
        const char *name = map->nodes[i].name;
        size_t name_len = strlen(name);
        char *start = text + KEY_AT - 1 - name_len;
        memcpy(start, name, name_len);
        uint64_t score = legacy_murmur3_32(start, name_len + 1 + key_len, 0);
        int is_tie = i && score == best_score;
        if (i == 0 || score > best_score || (is_tie && strcmp(name, map->nodes[best].name) > 0)) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

static uint32_t locate(const struct cw_profile_map *map, const void *key, size_t len, int as_bytes)
{
    char text[TEXT_ROOM];
    if (len > (TEXT_ROOM - KEY_AT) / 4 - 4)
        return CW_NO_NODE; /* memcached's keys have at most 250 bytes */
    text[KEY_AT - 1] = '-';
    size_t key_len = as_bytes ? print_bytes(key, len, text + KEY_AT)
                              : legacy_latin_of_utf8(key, len, (uint8_t *)text + KEY_AT);
    return best_node(map, text, key_len);
}

static uint32_t locate_text(const struct cw_profile_map *map, const void *key, size_t len)
{
    return locate(map, key, len, 0);
}

static uint32_t locate_bytes(const struct cw_profile_map *map, const void *key, size_t len)
{
    return locate(map, key, len, 1);
}

static int build(struct cw_profile_map *map, struct cw_error *error)
{
    return CW_OK;
}

static void release(struct cw_profile_map *map)
{
}

static size_t memory(const struct cw_profile_map *map)
{
    return 0;
}

const struct profile_engine profile_engine_pymemcache = {
    .build = build, .release = release, .locate = locate_text, .memory = memory};
const struct profile_engine profile_engine_pymemcache_bytes = {
    .build = build, .release = release, .locate = locate_bytes, .memory = memory};
