/*
 * HAProxy's `balance hash`, `uri`, `hdr()` and their kind; `balance source` hashes addresses and is
 * not here.
 */
#include "profiles/profile.h"

#define COMMON(versions_) .family = "haproxy", .versions = versions_, .evidence = "real program"
#define SERVERS                                                                                    \
    .hashes = HASHES_HAPROXY, .naming = NAMING_HOST_PORT, .port = "0",                             \
    .weights = WEIGHTS_WHOLE_OR_OUT, .leaves_down_out = 1
#define KEY_LIMIT "`balance hdr()` hashes a header up to its first comma only. "

static const struct profile rows[] = {
    {
        .shown = {COMMON("haproxy 2.6.12, 3.5-dev5 (50872da)"), .name = "haproxy-consistent",
                  .hash = "sdbm-avalanche",
                  .rule = "16 points a unit of weight counted up from id * 4096, the nearest point",
                  .limits = KEY_LIMIT
                  "All releases but 3.0 to the fix of October 2025. With "
                  "hash-balance-factor keys go elsewhere under load only. Servers "
                  "without an id are numbered by position: one inserted in the middle "
                  "renames those behind it.",
                  .settings = CW_PROFILE_HASH | CW_PROFILE_SERVER_KEY},
        .engine = &profile_engine_ring,
        SERVERS,
        .ring = {.per = 16, .point = POINT_HAPROXY, .wrap = WRAP_NEAREST},
    },
    {
        .shown = {COMMON("haproxy 3.0.0's rule, run in 50872da"), .name = "haproxy-3.0-consistent",
                  .hash = "sdbm-avalanche",
                  .rule = "as haproxy-consistent, counted up from the avalanche of the id",
                  .limits = KEY_LIMIT "3.0 to 3.2 before the fix of October 2025 (03e9a5a1e); two "
                                      "keys in five are where 2.8 had them.",
                  .settings = CW_PROFILE_HASH},
        .engine = &profile_engine_ring,
        SERVERS,
        .ring = {.per = 16, .point = POINT_HAPROXY_3_0, .wrap = WRAP_NEAREST},
    },
    {
        .shown = {COMMON("haproxy 2.6.12, 3.5-dev5 (50872da)"), .name = "haproxy-map-based",
                  .hash = "sdbm",
                  .rule = "hash modulo the sum of weights over a table that interleaves servers",
                  .limits = KEY_LIMIT, .settings = CW_PROFILE_HASH},
        .engine = &profile_engine_table,
        SERVERS,
        .table = {.fill = FILL_SMOOTH},
    },
};

const struct profile_rows profile_rows_haproxy = {rows, sizeof rows / sizeof *rows};
