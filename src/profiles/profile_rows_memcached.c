/*
 * The proxy inside memcached.
 */
#include "profiles/profile.h"

#define COMMON                                                                                     \
    .family = "memcached-proxy", .versions = "memcached 2d51e36 --enable-proxy",                   \
    .evidence = "real program"
#define KEYS          CW_PROFILE_TAG | CW_PROFILE_STOP | CW_PROFILE_SALT
#define RING_SETTINGS CW_PROFILE_HASH | CW_PROFILE_POINTS | KEYS
#define SALT_LIMIT    "The seed is the salt. "
#define SERVERS                                                                                    \
    .hashes = HASHES_MEMCACHED, .port = "11211", .tag = KEY_TAGGED_OR_EMPTY,                       \
    .seed_of_salt = legacy_xxh3
#define HASH_LIMIT                                                                                 \
    SALT_LIMIT                                                                                     \
    "With the default hash only the points are this kind's: for a placement that other "           \
    "clients share, the pool must also have hash=mcp.dist_ring_hash.hash, which is the "           \
    "hash `md5` here. Weights do not exist."

static const struct profile rows[] = {
    {
        .shown = {COMMON, .name = "memcached-proxy-jump", .hash = "xxh3",
                  .rule = "jump hash of XXH3 over servers in the order of the pool",
                  .limits = SALT_LIMIT "Add and remove servers at the end only.", .settings = KEYS},
        .engine = &profile_engine_jump,
        SERVERS,
    },
    {
        .shown = {COMMON, .name = "memcached-proxy-ring", .hash = "xxh3",
                  .rule = "160 points a server, the low 32 bits of XXH3(host:port-k)",
                  .limits = SALT_LIMIT, .settings = RING_SETTINGS},
        .engine = &profile_engine_ring,
        SERVERS,
        .naming = NAMING_HOST_PORT,
        .ring = {.count = COUNT_FIXED,
                 .per = 160,
                 .format = "%n-%k",
                 .point = POINT_HASH,
                 .point_hash = legacy_xxh3},
    },
    {
        .shown = {COMMON, .name = "memcached-proxy-ring-ketama", .hash = "xxh3",
                  .rule = "160 points a server, 4 a digest of md5(host:port-k)",
                  .limits = HASH_LIMIT, .settings = RING_SETTINGS},
        .engine = &profile_engine_ring,
        SERVERS,
        .naming = NAMING_HOST_PORT,
        .ring = {.count = COUNT_QUARTER, .per = 160, .format = "%n-%k", .point = POINT_MD5_4},
    },
    {
        .shown = {COMMON, .name = "memcached-proxy-ring-twemproxy", .hash = "xxh3",
                  .rule = "as -ring-ketama, names without the port 11211", .limits = HASH_LIMIT,
                  .settings = RING_SETTINGS},
        .engine = &profile_engine_ring,
        SERVERS,
        .naming = NAMING_DROP_11211,
        .ring = {.count = COUNT_QUARTER, .per = 160, .format = "%n-%k", .point = POINT_MD5_4},
    },
    {
        .shown = {COMMON, .name = "memcached-proxy-ring-evcache", .hash = "xxh3",
                  .rule = "as -ring-ketama, names as EVCache has them: host/host:port",
                  .limits = HASH_LIMIT, .settings = RING_SETTINGS},
        .engine = &profile_engine_ring,
        SERVERS,
        .naming = NAMING_TWICE,
        .ring = {.count = COUNT_QUARTER, .per = 160, .format = "%n-%k", .point = POINT_MD5_4},
    },
};

const struct profile_rows profile_rows_memcached = {rows, sizeof rows / sizeof *rows};
