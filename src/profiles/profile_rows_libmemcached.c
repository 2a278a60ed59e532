/*
 * libmemcached and what stands on it: php-memcached, pylibmc.
 */
#include "profiles/profile.h"

#define CHECKED "libmemcached 1.1.4, php-memcached 3.2.0"
#define COMMON                                                                                     \
    .family = "libmemcached", .versions = CHECKED, .evidence = "real program",                     \
    .settings = CW_PROFILE_HASH | CW_PROFILE_UNSIGNED_CHAR

#define SERVERS                                                                                    \
    .hashes = HASHES_LIBMEMCACHED, .naming = NAMING_DROP_11211, .weights = WEIGHTS_WHOLE_OR_ONE,   \
    .port = "11211", .socket_port = "0"

static const struct profile rows[] = {
    {
        .shown = {COMMON, .name = "libmemcached-ketama-weighted", .hash = "md5",
                  .rule = "ketama: 4 points a digest of md5(name-k), in float32; keys by md5",
                  .limits =
                      "What KETAMA_WEIGHTED and PHP's OPT_LIBKETAMA_COMPATIBLE give. With 25, "
                      "47, 50, ... equal servers a server has 156 points, so that growing to "
                      "or from these numbers moves keys between old servers."},
        .engine = &profile_engine_ring,
        SERVERS,
        .ring = {.count = COUNT_FLOAT32, .per = 160, .format = "%n-%k", .point = POINT_MD5_4},
    },
    {
        .shown = {COMMON, .name = "libmemcached-ketama-weighted-late", .hash = "one_at_a_time",
                  .rule = "the points of ketama weighted, keys by the default hash",
                  .limits = "What KETAMA or DISTRIBUTION_CONSISTENT gives when it is set before "
                            "servers of weight above 1 are added."},
        .engine = &profile_engine_ring,
        SERVERS,
        .ring = {.count = COUNT_FLOAT32, .per = 160, .format = "%n-%k", .point = POINT_MD5_4},
    },
    {
        .shown = {COMMON, .name = "libmemcached-ketama", .hash = "one_at_a_time",
                  .rule = "100 points a server, hash(name-k); weights are ignored",
                  .limits = "What KETAMA and DISTRIBUTION_CONSISTENT give with equal weights, and "
                            "with any weights when set after the servers were added."},
        .engine = &profile_engine_ring,
        SERVERS,
        .ring = {.count = COUNT_FIXED, .per = 100, .format = "%n-%k", .point = POINT_HASH},
    },
    {
        .shown = {COMMON, .name = "libmemcached-spy", .hash = "md5",
                  .rule = "100 points a server, hash(/host:port-k); weights are ignored",
                  .limits = "CONSISTENT_KETAMA_SPY without weights."},
        .engine = &profile_engine_ring,
        .hashes = HASHES_LIBMEMCACHED,
        .naming = NAMING_SLASH,
        .weights = WEIGHTS_IGNORED,
        .port = "11211",
        .ring = {.count = COUNT_FIXED, .per = 100, .format = "%n-%k", .point = POINT_HASH},
    },
    {
        .shown = {COMMON, .name = "libmemcached-modula", .hash = "one_at_a_time",
                  .rule = "hash modulo the number of servers, in the order they were added",
                  .limits = "The default of libmemcached, php-memcached and pylibmc. Weights are "
                            "ignored. SORT_HOSTS: give the servers sorted."},
        .engine = &profile_engine_table,
        SERVERS,
        .table = {.fill = FILL_ONCE},
    },
};

const struct profile_rows profile_rows_libmemcached = {rows, sizeof rows / sizeof *rows};
