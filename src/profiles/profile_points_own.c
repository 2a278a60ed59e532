/*
 * Points that do not come from a text and a number alone: nginx's chain of checksums, HAProxy's
 * counters, Envoy's running sum.
 */
#include "profiles/profile_ring.h"

#include "placement/error.h"
#include "profiles/legacy_crc.h"

#include <stdio.h>
#include <string.h>

/* ---- nginx, Cache::Memcached::Fast ----------------------------------------------------------- */

/* host, a zero and port are the base; each point is the base continued by the point before. */
static int chain(struct profile_points *points, uint32_t owner, const struct profile_node *node,
                 uint32_t count)
{
    uint32_t base = legacy_crc32_continue(UINT32_MAX, node->host, strlen(node->host) + 1);
    uint32_t point = 0;
    base = legacy_crc32_continue(base, node->port, strlen(node->port));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t before[4] = {(uint8_t)point, (uint8_t)(point >> 8), (uint8_t)(point >> 16),
                             (uint8_t)(point >> 24)};
        point = ~legacy_crc32_continue(base, before, sizeof before);
        if (profile_points_add(points, point, owner) != CW_OK)
            return CW_ENOMEM;
    }
    return CW_OK;
}

int profile_points_crc_chain(const struct cw_profile_map *map, struct profile_points *points)
{
    double weight_sum = profile_weight_sum(map);
    int status = CW_OK;
    for (uint32_t i = 0; status == CW_OK && i < map->node_count; i++)
        status = chain(points, i, &map->nodes[i],
                       profile_point_count(map, &map->nodes[i], weight_sum));
    return status;
}

/* ---- Varnish's directors.hash -----------------------------------------------------------------
 */

/* The last position whose part of the total weight is below the sum so far: doubles decide, so
 * that the estimate is walked to where they change their mind. */
static uint64_t last_below(double sum, double total)
{
    double estimate = sum / total * 0x1p32;
    uint64_t at = estimate >= 0x1p32 ? UINT32_MAX : (uint64_t)estimate;
    while (at < UINT32_MAX && (double)(at + 1) * 0x1p-32 * total < sum)
        at++;
    while (at > 0 && (double)at * 0x1p-32 * total >= sum)
        at--;
    return at;
}

int profile_points_varnish_hash(const struct cw_profile_map *map, struct profile_points *points)
{
    double total = profile_weight_sum(map), sum = 0;
    for (uint32_t i = 0; i < map->node_count; i++) {
        sum += map->nodes[i].weight;
        uint64_t at = i + 1 == map->node_count ? UINT32_MAX : last_below(sum, total);
        if (profile_points_add(points, at, i) != CW_OK)
            return CW_ENOMEM;
    }
    return CW_OK;
}

/* ---- HAProxy --------------------------------------------------------------------------------- */

/* The address as the little-endian number that its four bytes are in memory. */
static int read_ipv4(const char *host, uint32_t *ret_address)
{
    unsigned a, b, c, d;
    char rest;
    if (sscanf(host, "%3u.%3u.%3u.%3u%c", &a, &b, &c, &d, &rest) != 4 || a > 255 || b > 255 ||
        c > 255 || d > 255)
        return CW_EBAD_ADDRESS;
    *ret_address = a | b << 8 | c << 16 | d << 24;
    return CW_OK;
}

static uint32_t read_port(const char *port)
{
    unsigned value = 0;
    return sscanf(port, "%5u", &value) == 1 ? value : 0;
}

static int key_of_address(const struct profile_node *node, int with_port, uint32_t *ret_key,
                          struct cw_error *error)
{
    uint32_t address, port = read_port(node->port);
    if (read_ipv4(node->host, &address) != CW_OK)
        return error_set(error, CW_EBAD_ADDRESS,
                         "server '%.64s': hash-key addr wants an IPv4 address; give the one that "
                         "the name stood for",
                         node->host);
    *ret_key = legacy_full_hash(with_port ? legacy_full_hash(port) + address : address);
    return CW_OK;
}

/* Where a server's numbers start. */
static int server_key(const struct cw_profile_map *map, const struct profile_node *node,
                      uint32_t *ret_key, struct cw_error *error)
{
    const char *kind = *map->options.server_key ? map->options.server_key : "id";
    const char *guid = map->given[node->number].name;
    if (strcmp(kind, "id") == 0) {
        int is_3_0 = map->profile->ring.point == POINT_HAPROXY_3_0;
        *ret_key = is_3_0 ? legacy_full_hash(node->id) : node->id * 4096;
    } else if (strcmp(kind, "id32") == 0) {
        *ret_key = legacy_full_hash(__builtin_bswap32(node->id));
    } else if (strcmp(kind, "addr") == 0 || strcmp(kind, "addr-port") == 0) {
        return key_of_address(node, kind[4] == '-', ret_key, error);
    } else if (strcmp(kind, "guid") == 0) {
        if (!*guid)
            return error_set(error, CW_EBAD_ID, "server %u has no guid: give it as the name",
                             node->number + 1);
        *ret_key = (uint32_t)legacy_xxh32(guid, strlen(guid), 0);
    } else {
        return error_set(error, CW_EINVAL,
                         "server_key '%.32s': use id, id32, addr, addr-port or guid", kind);
    }
    return CW_OK;
}

int profile_points_haproxy(const struct cw_profile_map *map, struct profile_points *points,
                           struct cw_error *error)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        const struct profile_node *node = &map->nodes[i];
        uint32_t key = 0, count = node->is_down ? 0 : (uint32_t)node->weight * map->options.points;
        int status = server_key(map, node, &key, error);
        if (status != CW_OK)
            return status;
        for (uint32_t k = 0; k < count; k++)
            if (profile_points_add(points, legacy_full_hash(key + k), i) != CW_OK)
                return error_no_memory(error);
    }
    return CW_OK;
}

/* ---- Envoy, gRPC ----------------------------------------------------------------------------- */

/* How many points a whole ring has, not rounded: the least server gets a whole number. */
static double ring_scale(const struct cw_profile_map *map, double weight_sum)
{
    double least = 1;
    for (uint32_t i = 0; i < map->node_count; i++) {
        double share = map->nodes[i].weight / weight_sum;
        least = share < least ? share : least;
    }
    double product = least * map->options.size, up = (double)(uint64_t)product;
    double scale = (up < product ? up + 1 : up) / least;
    return scale < map->options.size_max ? scale : map->options.size_max;
}

/* A server adds points while the sum of all so far is below what it should be, so that what one
 * server was rounded by is made good by the next. */
int profile_points_envoy(const struct cw_profile_map *map, struct profile_points *points,
                         struct cw_error *error)
{
    if (map->options.size > map->options.size_max)
        return error_set(error, CW_EINVAL, "the least ring size %u is above the greatest, %u",
                         map->options.size, map->options.size_max);
    double weight_sum = profile_weight_sum(map), scale = ring_scale(map, weight_sum);
    volatile double target = 0; /* no fused multiply-add: see profile_count.c */
    for (uint32_t i = 0; i < map->node_count; i++) {
        volatile double more = scale * (map->nodes[i].weight / weight_sum);
        target = target + more;
        for (uint32_t k = 0; points->count < target; k++) {
            char text[8192];
            size_t len = profile_point_text("%n_%k", map->nodes[i].name, k, text, sizeof text);
            uint64_t at = map->hash(text, len, map->seed);
            if (profile_points_add(points, at, i) != CW_OK)
                return error_no_memory(error);
        }
    }
    return CW_OK;
}
