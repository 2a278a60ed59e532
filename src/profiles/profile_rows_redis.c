/*
 * Redis Cluster, Valkey, and what clients make of their slots.
 */
#include "profiles/profile_topology.h"
#include "profiles/profile.h"

#define SLOTS                                                                                      \
    .engine = &profile_engine_table, .hashes = HASHES_OTHER, .may_be_empty = 1,                    \
    .read_topology = profile_topology_redis, .table = {.fill = FILL_SLOTS, .size = 16384}

static const struct profile rows[] = {
    {
        .shown = {.name = "redis-cluster",
                  .family = "redis",
                  .hash = "crc16/xmodem",
                  .rule = "CRC16 modulo 16384 of the key, or of its {tag} if that is not empty",
                  .versions = "redis-server 7.0.15, redis-py 4.3.4",
                  .evidence = "real program",
                  .limits = "Give what CLUSTER NODES or CLUSTER SLOTS answered as the topology; "
                            "without one the owners are the slots themselves.",
                  .settings = CW_PROFILE_TOPOLOGY},
        SLOTS,
        .key = KEY_REDIS,
    },
    {
        .shown = {.name = "redis-cluster-js",
                  .family = "redis",
                  .hash = "crc16/xmodem",
                  .rule = "as redis-cluster, but an empty {} does not end the search for a tag",
                  .versions = "npm cluster-key-slot 1.1.2 (ioredis)",
                  .evidence = "real program",
                  .limits = "The slot this client computes; the server answers MOVED when it is "
                            "wrong, as for foo{}{bar}.",
                  .settings = CW_PROFILE_TOPOLOGY},
        SLOTS,
        .key = KEY_REDIS_JS,
    },
};

const struct profile_rows profile_rows_redis = {rows, sizeof rows / sizeof *rows};
