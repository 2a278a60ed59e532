/*
 * twemproxy (nutcracker).
 */
#include "profiles/profile.h"

#define COMMON                                                                                     \
    .family = "twemproxy", .versions = "twemproxy 0.5.0", .evidence = "real program",              \
    .hash = "fnv1a_64", .settings = CW_PROFILE_HASH | CW_PROFILE_TAG | CW_PROFILE_UNSIGNED_CHAR

#define SERVERS                                                                                    \
    .hashes = HASHES_TWEMPROXY, .naming = NAMING_DROP_11211, .order = ORDER_LENGTH_NAME,           \
    .weights = WEIGHTS_WHOLE, .tag = KEY_TAGGED, .socket_port = "", .names_unique = 1,             \
    .literal_address = 1

static const struct profile rows[] = {
    {
        .shown = {COMMON, .name = "twemproxy-ketama",
                  .rule = "ketama in float32 over servers sorted by the length of their names",
                  .limits = "auto_eject_hosts: leave the ejected servers out. crc32 has 15 bits "
                            "here and puts every key on one server; crc16 is none."},
        .engine = &profile_engine_ring,
        SERVERS,
        .ring = {.count = COUNT_FLOAT32, .per = 160, .format = "%n-%k", .point = POINT_MD5_4},
    },
    {
        .shown = {COMMON, .name = "twemproxy-modula",
                  .rule = "hash modulo the sum of weights, over servers sorted by the length of "
                          "their names, then by bytes",
                  .limits = "The order of the configuration does not matter, weights do: not what "
                            "libmemcached does. auto_eject_hosts: leave the ejected servers out."},
        .engine = &profile_engine_table,
        SERVERS,
        .table = {.fill = FILL_WEIGHT},
    },
};

const struct profile_rows profile_rows_twemproxy = {rows, sizeof rows / sizeof *rows};
