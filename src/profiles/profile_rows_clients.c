/*
 * Clients of memcached in Ruby, Python, JavaScript, Go and PHP whose rules are their own.
 */
#include "profiles/profile.h"

#define REAL .evidence = "real program"
#define PECL .family = "pecl-memcache", .versions = "pecl memcache 4.0.5.2", REAL

static const struct profile rows[] = {
    {
        .shown = {.name = "dalli",
                  .family = "dalli",
                  .hash = "crc32",
                  .rule = "sha1(host:port:k), the last point that is not behind the key's CRC-32",
                  .versions = "dalli 3.0.6",
                  REAL,
                  .limits = "Weights are part of the count only. With failover a key whose server "
                            "is down is hashed again with a counter before it; that is not "
                            "followed."},
        .engine = &profile_engine_ring,
        .hashes = HASHES_OTHER,
        .naming = NAMING_HOST_PORT,
        .weights = WEIGHTS_WHOLE,
        .port = "11211",
        .ring = {.count = COUNT_DOUBLE_LAST,
                 .per = 160,
                 .format = "%n:%k",
                 .point = POINT_SHA1_BE,
                 .wrap = WRAP_BEFORE},
    },
    {
        .shown = {.name = "pymemcache",
                  .family = "python",
                  .hash = "",
                  .rule = "the greatest murmur3_32(host:port-key), keys of type str",
                  .versions = "pymemcache 3.5.2",
                  REAL,
                  .limits = "Characters are hashed by their low 8 bits. Keys of more than 3000 "
                            "bytes have no place."},
        .engine = &profile_engine_pymemcache,
        .naming = NAMING_HOST_PORT,
        .port = "11211",
    },
    {
        .shown = {.name = "pymemcache-bytes",
                  .family = "python",
                  .hash = "",
                  .rule = "the greatest murmur3_32(host:port-b'key'), keys of type bytes",
                  .versions = "pymemcache 3.5.2",
                  REAL,
                  .limits = "One key in five is where the same key as str is. Keys of more than "
                            "3000 bytes have no place."},
        .engine = &profile_engine_pymemcache_bytes,
        .naming = NAMING_HOST_PORT,
        .port = "11211",
    },
    {
        .shown = {.name = "memjs",
                  .family = "npm-memjs",
                  .hash = "js31",
                  .rule = "31*h+c over UTF-16 units, without sign, modulo the number of servers",
                  .versions = "memjs 1.3.2",
                  REAL,
                  .limits = "Servers in the order given."},
        .engine = &profile_engine_table,
        .hashes = HASHES_OTHER,
        .socket_port = "",
        .table = {.fill = FILL_ONCE},
    },
    {
        .shown = {.name = "gomemcache",
                  .family = "go",
                  .hash = "crc32",
                  .rule = "CRC-32 modulo the number of servers",
                  .versions = "gomemcache 0.0~git20141109",
                  REAL,
                  .limits = "Servers in the order given."},
        .engine = &profile_engine_table,
        .hashes = HASHES_OTHER,
        .socket_port = "",
        .table = {.fill = FILL_ONCE},
    },
    {
        .shown = {PECL, .name = "pecl-memcache-consistent", .hash = "crc32",
                  .rule = "1024 buckets over a ring of 160 points a unit of weight", .limits = "",
                  .settings = CW_PROFILE_HASH | CW_PROFILE_UNSIGNED_CHAR},
        .engine = &profile_engine_table,
        .hashes = HASHES_PECL,
        .naming = NAMING_HOST_PORT,
        .weights = WEIGHTS_WHOLE,
        .port = "11211",
        .ring = {.count = COUNT_WEIGHT, .per = 160, .format = "%n-%k", .point = POINT_HASH},
        .table = {.fill = FILL_BUCKETS, .size = 1024},
    },
    {
        .shown = {PECL, .name = "pecl-memcache-standard", .hash = "crc32",
                  .rule = "15 bits of the hash, 0 taken as 1, modulo the sum of the weights",
                  .limits = "", .settings = CW_PROFILE_HASH | CW_PROFILE_UNSIGNED_CHAR},
        .engine = &profile_engine_table,
        .hashes = HASHES_PECL_STANDARD,
        .naming = NAMING_HOST_PORT,
        .weights = WEIGHTS_WHOLE,
        .port = "11211",
        .table = {.fill = FILL_WEIGHT},
    },
};

const struct profile_rows profile_rows_clients = {rows, sizeof rows / sizeof *rows};
