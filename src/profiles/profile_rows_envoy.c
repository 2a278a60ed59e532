/*
 * Envoy and gRPC. A key is what the hash policy makes of a request: for a header, its value.
 */
#include "profiles/profile.h"

#define HEADER_LIMIT                                                                               \
    "One header of one value; several values or policies are combined before. Healthy hosts "      \
    "only; "                                                                                       \
    "hash_balance_factor is not covered. "

static const struct profile rows[] = {
    {
        .shown = {.name = "envoy-ring-hash",
                  .family = "envoy",
                  .hash = "xx_hash",
                  .rule = "xxh64(name_i), as many points as a running sum of the weights allows",
                  .versions = "Envoy's own unit tests (13e9fdb)",
                  .evidence = "test vectors",
                  .limits = HEADER_LIMIT
                  "Name is ip:port, or the hostname, or the metadata "
                  "hash_key. With the default of 1024 points a server that joins moves "
                  "keys between others.",
                  .settings = CW_PROFILE_HASH | CW_PROFILE_SIZE | CW_PROFILE_SIZE_MAX},
        .engine = &profile_engine_ring,
        .hashes = HASHES_ENVOY,
        .weights = WEIGHTS_WHOLE,
        .socket_port = "",
        .ring = {.point = POINT_ENVOY, .bits = 64, .size_max = 8 << 20},
        .table = {.size = 1024},
    },
    {
        .shown = {.name = "grpc-ring-hash",
                  .family = "envoy",
                  .hash = "xx_hash",
                  .rule = "envoy-ring-hash over servers sorted by name, 4096 points at most",
                  .versions = "grpc-go 4793ad0",
                  .evidence = "real program",
                  .limits = HEADER_LIMIT,
                  .settings = CW_PROFILE_SIZE | CW_PROFILE_SIZE_MAX},
        .engine = &profile_engine_ring,
        .hashes = HASHES_ENVOY,
        .order = ORDER_NAME,
        .weights = WEIGHTS_WHOLE,
        .socket_port = "",
        .ring = {.point = POINT_ENVOY, .bits = 64, .size_max = 4096},
        .table = {.size = 1024},
    },
    {
        .shown = {.name = "envoy-maglev",
                  .family = "envoy",
                  .hash = "xx_hash",
                  .rule = "maglev of 65537 places over servers sorted by name; xxh64 of the key",
                  .versions = "Envoy's own unit tests (08417eb)",
                  .evidence = "test vectors",
                  .limits = HEADER_LIMIT,
                  .settings = CW_PROFILE_SIZE},
        .engine = &profile_engine_table,
        .hashes = HASHES_ENVOY,
        .order = ORDER_NAME,
        .weights = WEIGHTS_WHOLE,
        .socket_port = "",
        .table = {.fill = FILL_MAGLEV, .size = 65537},
    },
    {
        .shown = {.name = "envoy-maglev-host-order",
                  .family = "envoy",
                  .hash = "xx_hash",
                  .rule = "envoy-maglev over servers in the order given",
                  .versions = "Envoy before the fix of issue 20703",
                  .evidence = "source",
                  .limits = HEADER_LIMIT,
                  .settings = CW_PROFILE_SIZE},
        .engine = &profile_engine_table,
        .hashes = HASHES_ENVOY,
        .weights = WEIGHTS_WHOLE,
        .socket_port = "",
        .table = {.fill = FILL_MAGLEV, .size = 65537},
    },
};

const struct profile_rows profile_rows_envoy = {rows, sizeof rows / sizeof *rows};
