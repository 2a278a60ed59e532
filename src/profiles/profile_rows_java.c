/*
 * Java's memcached clients. Their names of servers are what Java prints for a socket address: with
 * a slash before an address that has no name, and with the name before it once somebody asked for
 * it.
 */
#include "profiles/profile.h"

#define SPY  .family = "spymemcached", .versions = "spymemcached 2.12.3", .evidence = "real program"
#define XMEM .family = "xmemcached", .versions = "xmemcached 5d09c5d", .evidence = "real program"
#define JAVA_NAME                                                                                  \
    "Once getHostName() was called, or when the server was given by name, a node is called "       \
    "host/ip:port: give it that name."
#define REVERSE_NAME "The client uses the reverse DNS of an address: give the server that name."
#define RING         .engine = &profile_engine_ring, .port = "11211"

static const struct profile rows[] = {
    {
        .shown = {SPY, .name = "spymemcached-ketama", .hash = "KETAMA_HASH",
                  .rule = "4 points a digest of md5(host:port-k), 160 a server",
                  .limits = JAVA_NAME},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_HOST_PORT,
        .java_address = 1,
        .ring = {.count = COUNT_FIXED,
                 .per = 40,
                 .format = "%n-%k",
                 .point = POINT_MD5_4,
                 .tie = TIE_LAST},
    },
    {
        .shown = {SPY, .name = "spymemcached-ketama-weighted", .hash = "KETAMA_HASH",
                  .rule = "as spymemcached-ketama, counted as libmemcached counts by weight",
                  .limits = JAVA_NAME},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_HOST_PORT,
        .weights = WEIGHTS_WHOLE,
        .java_address = 1,
        .ring = {.count = COUNT_FLOAT32,
                 .per = 160,
                 .format = "%n-%k",
                 .point = POINT_MD5_4,
                 .tie = TIE_LAST},
    },
    {
        .shown = {SPY, .name = "spymemcached-ketama-hash", .hash = "CRC_HASH",
                  .rule = "160 points a server, hash(host:port-k) with a hash other than ketama's",
                  .limits = JAVA_NAME " CRC_HASH has only 15 bits.", .settings = CW_PROFILE_HASH},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_HOST_PORT,
        .java_address = 1,
        .ring = {.count = COUNT_FIXED,
                 .per = 160,
                 .format = "%n-%k",
                 .point = POINT_HASH,
                 .tie = TIE_LAST},
    },
    {
        .shown = {SPY, .name = "spymemcached-libmemcached", .hash = "KETAMA_HASH",
                  .rule = "160 points a server, named as libmemcached does",
                  .limits = REVERSE_NAME},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_DROP_11211,
        .ring = {.count = COUNT_FIXED,
                 .per = 40,
                 .format = "%n-%k",
                 .point = POINT_MD5_4,
                 .tie = TIE_LAST},
    },
    {
        .shown = {SPY, .name = "spymemcached-libmemcached-weighted", .hash = "KETAMA_HASH",
                  .rule = "as libmemcached-ketama-weighted", .limits = REVERSE_NAME},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_DROP_11211,
        .weights = WEIGHTS_WHOLE,
        .ring = {.count = COUNT_FLOAT32,
                 .per = 160,
                 .format = "%n-%k",
                 .point = POINT_MD5_4,
                 .tie = TIE_LAST},
    },
    {
        .shown = {SPY, .name = "spymemcached-modulo", .hash = "NATIVE_HASH",
                  .rule = "hash modulo the number of servers, in the order given", .limits = "",
                  .settings = CW_PROFILE_HASH},
        .engine = &profile_engine_table,
        .hashes = HASHES_SPYMEMCACHED,
        .table = {.fill = FILL_ONCE},
    },
    {
        .shown = {XMEM, .name = "xmemcached-ketama", .hash = "KETAMA_HASH",
                  .rule = "160 points a unit of weight, 4 a digest of md5(/ip:port-k)",
                  .limits = REVERSE_NAME " Weights are not normalised: a server that joins moves "
                                         "no keys between others."},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_SLASH,
        .weights = WEIGHTS_WHOLE,
        .java_address = 1,
        .ring = {.count = COUNT_WEIGHT,
                 .per = 40,
                 .format = "%n-%k",
                 .point = POINT_MD5_4,
                 .tie = TIE_LAST},
    },
    {
        .shown = {XMEM, .name = "xmemcached-ketama-nginx", .hash = "KETAMA_HASH",
                  .rule = "160 points a unit of weight, without the port if it is 11211",
                  .limits = "It uses the resolved address, not the text of the configuration."},
        RING,
        .hashes = HASHES_SPYMEMCACHED,
        .naming = NAMING_DROP_11211,
        .weights = WEIGHTS_WHOLE,
        .ring = {.count = COUNT_WEIGHT,
                 .per = 40,
                 .format = "%n-%k",
                 .point = POINT_MD5_4,
                 .tie = TIE_LAST},
    },
    {
        .shown = {XMEM, .name = "xmemcached-libmemcached", .hash = "ONE_AT_A_TIME",
                  .rule = "100 points a server by one_at_a_time over unsigned bytes",
                  .limits = REVERSE_NAME},
        RING,
        .hashes = HASHES_OTHER,
        .naming = NAMING_DROP_11211,
        .ring = {.count = COUNT_FIXED,
                 .per = 100,
                 .format = "%n-%k",
                 .point = POINT_HASH,
                 .tie = TIE_LAST},
    },
    {
        .shown = {XMEM, .name = "xmemcached-array", .hash = "NATIVE_HASH",
                  .rule = "String.hashCode() modulo the sum of weights, servers in the order given",
                  .limits = ""},
        .engine = &profile_engine_table,
        .hashes = HASHES_SPYMEMCACHED,
        .weights = WEIGHTS_WHOLE,
        .table = {.fill = FILL_WEIGHT},
    },
};

const struct profile_rows profile_rows_java = {rows, sizeof rows / sizeof *rows};
