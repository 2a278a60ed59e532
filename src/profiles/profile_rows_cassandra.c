/*
 * Cassandra and Scylla.
 */
#include "profiles/profile_topology.h"

#include "profiles/profile.h"

static const struct profile rows[] = {
    {
        .shown = {.name = "cassandra",
                  .family = "cassandra",
                  .hash = "murmur3-token",
                  .rule = "Murmur3 token of the partition key; the first token that is not before "
                          "it; replicas by SimpleStrategy or NetworkTopologyStrategy",
                  .versions = "python3-cassandra 3.25.0, npm cassandra-driver 4.10.0",
                  .evidence = "real program",
                  .limits = "Give nodetool ring as the topology. The order of replicas is the "
                            "drivers'; the set is the server's. A composite partition key must be "
                            "given serialised. Scylla's tablets are not covered.",
                  .settings = CW_PROFILE_TOPOLOGY | CW_PROFILE_REPLICATION},
        .engine = &profile_engine_cassandra,
        .hashes = HASHES_OTHER,
        .may_be_empty = 1,
        .read_topology = profile_topology_cassandra,
        .ring = {.bits = 64},
    },
};

const struct profile_rows profile_rows_cassandra = {rows, sizeof rows / sizeof *rows};
