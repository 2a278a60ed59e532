/*
 * What the readers of topologies share: the text itself is the placement, so it goes into the
 * configuration, and the nodes that own anything in it become nodes of the pool.
 */
#ifndef CLI_IMPORT_TOPOLOGY_H
#define CLI_IMPORT_TOPOLOGY_H

#include "cli/import.h"

/* Adds a pool with the nodes that the profile finds in the text; `port` is for addresses that have
 * none (NULL: they must have one). NULL after a remark. */
struct import_pool *import_topology(struct import *import, const char *pool_name,
                                    const char *profile, const char *replication, const char *port);

#endif
