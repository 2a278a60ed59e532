/*
 * The output of `nodetool ring`. Cassandra is found and planned, not routed.
 */
#include <string.h>

#include "cli/import.h"
#include "cli/import_topology.h"

static void read_nodetool(struct import *import)
{
    struct import_pool *pool = import_topology(import, "cassandra", "cassandra", "1", "9042");
    if (pool)
        import_remark(import, IMPORT_NOTE, 0, NULL,
                      "the keyspace's replication is not in this text: it is 1 here; set "
                      "profile.replication to it, as \"dc1:3,dc2:2\"");
}

static bool looks_like_nodetool(const char *text)
{
    return strstr(text, "Datacenter:") && strstr(text, "Token");
}

const struct import_format import_format_nodetool = {
    .name = "nodetool",
    .what = "the output of nodetool ring",
    .looks_like = looks_like_nodetool,
    .read = read_nodetool,
};
