/*
 * nginx's `hash` and the Perl client that it is compatible with.
 */
#include "profiles/profile.h"

#define NGINX .family = "nginx", .versions = "nginx 1.22.1", .evidence = "real program"
#define FAST                                                                                       \
    .family = "nginx", .versions = "Cache::Memcached::Fast 0.28", .evidence = "real program"
#define SERVERS                                                                                    \
    .naming = NAMING_HOST_PORT, .port = "", .socket_port = "", .literal_address = 1,               \
    .no_empty_key = 1

static const struct profile rows[] = {
    {
        .shown = {NGINX, .name = "nginx-hash-consistent", .hash = "crc32",
                  .rule = "160 points a unit of weight, each a CRC-32 of the one before",
                  .limits = "A server without a port has no port, not 80. A down server's keys go "
                            "to the next points, 20 at most; what is then left is round robin. A "
                            "name of several addresses is one server: nginx takes them in turn."},
        .engine = &profile_engine_ring,
        .hashes = HASHES_OTHER,
        SERVERS,
        .weights = WEIGHTS_WHOLE,
        .skip_down_max = 20,
        .ring = {.count = COUNT_WEIGHT, .per = 160, .point = POINT_CRC_CHAIN},
    },
    {
        .shown = {NGINX, .name = "nginx-hash", .hash = "crc32/15",
                  .rule = "15 bits of CRC-32 modulo the sum of weights, in the order given",
                  .limits = "A down server's keys are hashed again with 1, 2, ... before them, 20 "
                            "times at most; what is then left is round robin."},
        .engine = &profile_engine_table,
        .hashes = HASHES_OTHER,
        SERVERS,
        .weights = WEIGHTS_WHOLE,
        .skip_down_max = 20,
        .table = {.fill = FILL_WEIGHT},
    },
    {
        .shown = {FAST, .name = "cache-memcached-fast-ketama", .hash = "crc32",
                  .rule = "nginx's ring with ketama_points a unit of weight",
                  .limits = "Weights may be fractions.", .settings = CW_PROFILE_POINTS},
        .engine = &profile_engine_ring,
        .hashes = HASHES_OTHER,
        SERVERS,
        .weights = WEIGHTS_REAL,
        .ring = {.count = COUNT_WEIGHT, .per = 150, .point = POINT_CRC_CHAIN},
    },
    {
        .shown = {FAST, .name = "cache-memcached-fast", .hash = "crc32/15",
                  .rule = "15 bits of CRC-32 modulo the rounded sum of weights",
                  .limits = "ketama_points of 0. Weights may be fractions."},
        .engine = &profile_engine_table,
        .hashes = HASHES_OTHER,
        SERVERS,
        .weights = WEIGHTS_REAL,
        .table = {.fill = FILL_SCALED},
    },
};

const struct profile_rows profile_rows_nginx = {rows, sizeof rows / sizeof *rows};
