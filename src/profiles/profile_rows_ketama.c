/*
 * The relatives of ketama: the same idea with another name, count, tie or wrap.
 */
#include "profiles/profile.h"

#define REAL .evidence = "real program"
#define KETAMA_RING(count_, per_, point_)                                                          \
    .count = (count_), .per = (per_), .format = "%n-%k", .point = (point_)
#define HASHRING_SHOWN .family = "npm-hashring", .versions = "npm hashring 3.2.0", REAL

#define SERVERS .engine = &profile_engine_ring, .hashes = HASHES_OTHER, .weights = WEIGHTS_WHOLE

static const struct profile rows[] = {
    {
        .shown = {.name = "libketama",
                  .family = "libketama",
                  .hash = "md5/le4",
                  .rule = "md5(name-k), 4 points a digest, the name with its port",
                  .versions = "libketama 18cf9a7 (2014)",
                  REAL,
                  .limits = "It drops addresses of more than 23 bytes and crashes with more than "
                            "about 117 servers. 61 equal servers have 156 points each."},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_FLOAT_DOUBLE, 40, POINT_MD5_4)},
    },
    {
        .shown = {.name = "npm-hashring",
                  HASHRING_SHOWN,
                  .hash = "md5/le4",
                  .rule = "ketama counted in doubles, the name as given",
                  .limits = "7 equal servers have 39 groups of points, 8 have 40.",
                  .settings = CW_PROFILE_POINTS},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_DOUBLE, 40, POINT_MD5_4)},
    },
    {
        .shown = {.name = "npm-hashring-vnodes",
                  HASHRING_SHOWN,
                  .hash = "md5/le4",
                  .rule = "4 points for each of a server's vnodes",
                  .limits = "Give each server's vnodes as its weight."},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_WEIGHT, 1, POINT_MD5_4)},
    },
    {
        .shown = {.name = "npm-hashring-sha1-hash_ring",
                  HASHRING_SHOWN,
                  .hash = "sha1/le4",
                  .rule = "ketama with SHA-1 and 3 points a digest",
                  .limits = ""},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_DOUBLE, 40, POINT_SHA1_3)},
    },
    {
        .shown = {.name = "npm-memcached",
                  .family = "npm-hashring",
                  .hash = "md5/le4",
                  .rule = "npm-hashring with the default port 11211, which names leave out",
                  .versions = "npm memcached 2.2.2, hashring 3.2.0",
                  REAL,
                  .limits = "Also hashring with the option `default port` 11211."},
        SERVERS,
        .naming = NAMING_DROP_11211,
        .port = "11211",
        .ring = {KETAMA_RING(COUNT_DOUBLE, 40, POINT_MD5_4)},
    },
    {
        .shown = {.name = "hash_ring",
                  .family = "python",
                  .hash = "md5/le4",
                  .rule = "ketama with 3 of the 4 points, looked up strictly behind",
                  .versions = "Doist/hash_ring",
                  .evidence = "source",
                  .limits = ""},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_INTEGER, 40, POINT_MD5_3), .tie = TIE_LAST, .wrap = WRAP_ABOVE},
    },
    {
        .shown = {.name = "uhashring-ketama",
                  .family = "python",
                  .hash = "md5/le4",
                  .rule = "ketama counted in integers, looked up strictly behind",
                  .versions = "uhashring 2.1",
                  REAL,
                  .limits = ""},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_INTEGER, 40, POINT_MD5_4), .tie = TIE_LAST, .wrap = WRAP_ABOVE},
    },
    {
        .shown = {.name = "uhashring",
                  .family = "python",
                  .hash = "md5/be64",
                  .rule = "160 points a unit of weight, whole md5 digests as numbers",
                  .versions = "uhashring 2.1",
                  REAL,
                  .limits = "Digests are compared in their first 64 of 128 bits.",
                  .settings = CW_PROFILE_POINTS},
        SERVERS,
        .ring = {KETAMA_RING(COUNT_WEIGHT, 160, POINT_MD5_BE64), .tie = TIE_LAST,
                 .wrap = WRAP_ABOVE, .bits = 64},
    },
};

const struct profile_rows profile_rows_ketama = {rows, sizeof rows / sizeof *rows};
