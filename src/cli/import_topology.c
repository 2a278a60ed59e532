#include "cli/import_topology.h"

#include <stdlib.h>
#include <string.h>

/* "host:port", with IPv6 as clusters print it: "fe80::1:6379". NULL where a part is missing. */
static const char *connectable(struct import *import, const char *text, const char *port)
{
    const char *colon = strrchr(text, ':');
    uint64_t number;
    if (port)
        return import_address(import, text, port);
    if (!colon || colon == text || !import_number(colon + 1, 65535, &number) || number == 0)
        return NULL;
    return import_address(import, import_text_of(import, text, (size_t)(colon - text)), colon + 1);
}

static void add_node(struct import *import, struct import_pool *pool, const char *text,
                     const char *port)
{
    struct import_node node = {.place = {.address = text, .weight = 1}};
    node.address = connectable(import, text, port);
    if (!node.address)
        import_remark(import, IMPORT_WRONG, 0, NULL,
                      "node '%.60s' has no host or no port: a cluster that was just made does not "
                      "know its first node's address yet; ask another node, or ask again later",
                      text);
    else
        import_add_node(import, pool, &node);
}

struct import_pool *import_topology(struct import *import, const char *pool_name,
                                    const char *profile, const char *replication, const char *port)
{
    struct cw_profile_options options = {
        .topology = import->text, .topology_len = import->len, .replication = replication};
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    int status = cw_profile_map_create(cw_profile_find(profile), &options, &map, &error);
    if (status == CW_ENOMEM)
        import->no_memory = true;
    if (status != CW_OK) {
        import_remark(import, IMPORT_WRONG, error.line, NULL, "%s", error.message);
        return NULL;
    }
    struct import_pool *pool = import_add_pool(import, pool_name, 0, profile);
    for (uint32_t i = 0; pool && i < cw_profile_map_node_count(map); i++)
        add_node(import, pool, cw_profile_map_node(map, i)->address, port);
    if (pool)
        pool->options = options;
    cw_profile_map_unref(&map);
    return pool;
}
