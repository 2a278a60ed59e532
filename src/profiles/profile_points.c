/*
 * The points of the servers on a ring, in the order of the servers.
 */
#include "profiles/profile_ring.h"

#include "placement/error.h"
#include "profiles/legacy_digest.h"
#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOM = 20000 }; /* a name of 4096 bytes, written twice and with a number */

static int grow(struct profile_points *points)
{
    uint32_t capacity = points->capacity ? points->capacity * 2 : 1024;
    uint64_t *at = memory_resize(points->at, capacity * sizeof *at);
    if (at)
        points->at = at;
    uint32_t *owners = memory_resize(points->owners, capacity * sizeof *owners);
    if (owners)
        points->owners = owners;
    if (!at || !owners)
        return CW_ENOMEM;
    points->capacity = capacity;
    return CW_OK;
}

int profile_points_add(struct profile_points *points, uint64_t at, uint32_t owner)
{
    if (points->count == points->capacity && grow(points) != CW_OK)
        return CW_ENOMEM;
    points->at[points->count] = at;
    points->owners[points->count++] = owner;
    return CW_OK;
}

void profile_points_fini(struct profile_points *points)
{
    free(points->at);
    free(points->owners);
    memset(points, 0, sizeof *points);
}

static void shift_all(struct profile_points *points, unsigned shift, int up)
{
    for (uint32_t i = 0; i < points->count; i++)
        points->at[i] = up ? points->at[i] << shift : points->at[i] >> shift;
}

/* Positions go to the high bits, which is where ring_sort() looks first. */
int profile_points_sort(struct profile_points *points, unsigned bits)
{
    struct profile_points to = {0};
    to.at = memory_alloc(points->count, sizeof *to.at);
    to.owners = memory_alloc(points->count, sizeof *to.owners);
    if (!to.at || !to.owners) {
        profile_points_fini(&to);
        return CW_ENOMEM;
    }
    shift_all(points, 64 - bits, 1);
    to.count = to.capacity = points->count;
    int in_scratch = ring_sort(points->at, points->owners, to.at, to.owners, points->count);
    struct profile_points old = in_scratch ? *points : to;
    if (in_scratch)
        *points = to;
    profile_points_fini(&old);
    shift_all(points, 64 - bits, 0);
    return CW_OK;
}

/* ---- from digests ---------------------------------------------------------------------------- */

static uint64_t load_le(const uint8_t *at, unsigned len)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < len; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

static uint64_t load_be(const uint8_t *at, unsigned len)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < len; i++)
        word = word << 8 | at[i];
    return word;
}

struct maker {
    const struct cw_profile_map *map;
    struct profile_points *points;
    uint32_t owner;
};

static int add_words(const struct maker *maker, const uint8_t *digest, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (profile_points_add(maker->points, load_le(digest + 4 * i, 4), maker->owner) != CW_OK)
            return CW_ENOMEM;
    return CW_OK;
}

static uint64_t hash_point(const struct cw_profile_map *map, const char *text, size_t len)
{
    legacy_hash_fn *hash = map->profile->ring.point_hash;
    return hash ? hash(text, len, 0) : map->hash(text, len, map->seed);
}

/* Carbon's positions are 16 bits; FNV is folded to them. */
static uint64_t fold16(uint64_t hash)
{
    return (hash >> 16 ^ hash) & 0xffff;
}

static int add_one(const struct maker *maker, const char *text, size_t len)
{
    uint8_t digest[32];
    uint64_t at = 0;
    switch (maker->map->profile->ring.point) {
    case POINT_SHA1_BE:
        legacy_sha1(text, len, digest);
        at = load_be(digest, 4);
        break;
    case POINT_SHA256_END:
        legacy_sha256(text, len, digest);
        at = load_le(digest + 28, 4);
        break;
    case POINT_MD5_16:
    case POINT_MD5_BE64:
        legacy_md5(text, len, digest);
        at = load_be(digest, maker->map->profile->ring.point == POINT_MD5_16 ? 2 : 8);
        break;
    case POINT_MD5_LE64:
        legacy_md5(text, len, digest);
        at = load_le(digest + 8, 8);
        break;
    case POINT_FNV1A_16: at = fold16(legacy_fnv1a_32(text, len, 0)); break;
    default: at = hash_point(maker->map, text, len);
    }
    return profile_points_add(maker->points, at, maker->owner);
}

static int add_text(const struct maker *maker, const char *text, size_t len)
{
    uint8_t digest[20];
    switch (maker->map->profile->ring.point) {
    case POINT_MD5_4:
    case POINT_MD5_3:
        legacy_md5(text, len, digest);
        return add_words(maker, digest, maker->map->profile->ring.point == POINT_MD5_4 ? 4 : 3);
    case POINT_SHA1_4:
    case POINT_SHA1_3:
        legacy_sha1(text, len, digest);
        return add_words(maker, digest, maker->map->profile->ring.point == POINT_SHA1_4 ? 4 : 3);
    default: return add_one(maker, text, len);
    }
}

static int make_node(const struct maker *maker, double weight_sum, char *text)
{
    const struct cw_profile_map *map = maker->map;
    const struct profile_node *node = &map->nodes[maker->owner];
    uint32_t count = profile_point_count(map, node, weight_sum);
    for (uint32_t k = 0; k < count; k++) {
        size_t len = profile_point_text(map->profile->ring.format, node->name, k, text, TEXT_ROOM);
        if (add_text(maker, text, len) != CW_OK)
            return CW_ENOMEM;
    }
    return CW_OK;
}

static int make_from_texts(const struct cw_profile_map *map, struct profile_points *points)
{
    double weight_sum = profile_weight_sum(map);
    char *text = memory_alloc(TEXT_ROOM, 1);
    int status = text ? CW_OK : CW_ENOMEM;
    for (uint32_t i = 0; status == CW_OK && i < map->node_count; i++) {
        struct maker maker = {map, points, i};
        status = make_node(&maker, weight_sum, text);
    }
    free(text);
    return status;
}

/* What the rule will make, at most. */
static double points_wanted(const struct cw_profile_map *map)
{
    double sum = profile_weight_sum(map), wanted = 0;
    if (map->profile->ring.point == POINT_ENVOY)
        return map->options.size_max + (double)map->node_count;
    if (map->profile->ring.point == POINT_CUMULATED)
        return map->node_count;
    if (map->profile->ring.point == POINT_HAPROXY || map->profile->ring.point == POINT_HAPROXY_3_0)
        return sum * map->options.points;
    for (uint32_t i = 0; i < map->node_count; i++)
        wanted += profile_point_count(map, &map->nodes[i], sum);
    return wanted * 4; /* groups are of four at most */
}

int profile_points_make(const struct cw_profile_map *map, struct profile_points *points,
                        struct cw_error *error)
{
    int status;
    if (points_wanted(map) > PROFILE_POINTS_MAX)
        return error_set(error, CW_EBAD_TOKENS,
                         "these weights and settings ask for %.0f points, more than %u: use "
                         "smaller ones",
                         points_wanted(map), PROFILE_POINTS_MAX);
    switch (map->profile->ring.point) {
    case POINT_CRC_CHAIN: status = profile_points_crc_chain(map, points); break;
    case POINT_CUMULATED: status = profile_points_varnish_hash(map, points); break;
    case POINT_HAPROXY:
    case POINT_HAPROXY_3_0: return profile_points_haproxy(map, points, error);
    case POINT_ENVOY: return profile_points_envoy(map, points, error);
    default: status = make_from_texts(map, points);
    }
    return status == CW_OK ? CW_OK : error_no_memory(error);
}
