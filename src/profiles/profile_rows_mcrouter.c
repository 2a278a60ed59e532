/*
 * mcrouter's hash functions.
 */
#include "profiles/profile.h"

#define COMMON                                                                                     \
    .family = "mcrouter", .versions = "mcrouter 9d7f434 (2026)", .evidence = "real program",       \
    .settings = CW_PROFILE_SALT
#define SERVERS .key = KEY_MCROUTER, .socket_port = ""
#define KEY_LIMIT                                                                                  \
    "Only the part of a key before |#| is hashed (by its documents; not run). Keys of more than "  \
    "4000 bytes may have no place; mcrouter refuses them. "

static const struct profile rows[] = {
    {
        .shown = {COMMON, .name = "mcrouter-ch3", .hash = "",
                  .rule = "furc_hash of the key and the salt: a number below the pool's size",
                  .limits = KEY_LIMIT "Servers are known by their position: add and remove at the "
                                      "end only."},
        .engine = &profile_engine_ch3,
        SERVERS,
    },
    {
        .shown = {COMMON, .name = "mcrouter-weighted-ch3", .hash = "",
                  .rule = "Ch3, and a second draw that a server of weight w passes with "
                          "probability w",
                  .limits = KEY_LIMIT "A weight that the configuration leaves out is 0.5."},
        .engine = &profile_engine_ch3_weighted,
        SERVERS,
        .weights = WEIGHTS_PART,
    },
    {
        .shown = {COMMON, .name = "mcrouter-crc32", .hash = "",
                  .rule = "31 bits of CRC-32 modulo the number of servers", .limits = KEY_LIMIT},
        .engine = &profile_engine_mcrouter_crc32,
        SERVERS,
    },
    {
        .shown = {COMMON, .name = "mcrouter-rendezvous", .hash = "",
                  .rule = "the greatest hash of server and key, compared as doubles",
                  .limits = KEY_LIMIT "Give the server's text of the pool as the address."},
        .engine = &profile_engine_mcrouter_rendezvous,
        SERVERS,
    },
    {
        .shown = {COMMON, .name = "mcrouter-weighted-rendezvous", .hash = "",
                  .rule = "the greatest weight / -ln(hash of server and key)", .limits = KEY_LIMIT},
        .engine = &profile_engine_mcrouter_rendezvous_weighted,
        SERVERS,
        .weights = WEIGHTS_REAL,
    },
};

const struct profile_rows profile_rows_mcrouter = {rows, sizeof rows / sizeof *rows};
