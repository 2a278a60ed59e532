/*
 * What a cluster says of itself, from anywhere: refused with a sentence, or a map that has an owner
 * among its nodes, or none, for any key.
 */
#include "base/assert.h"

#include <clockwise/profile.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void try_profile(const char *name, const char *text, size_t len)
{
    struct cw_profile_options options = {.topology = text, .topology_len = len};
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    uint32_t nodes[4];
    int status = cw_profile_map_create(cw_profile_find(name), &options, &map, &error);
    if (status != CW_OK) {
        CW_ASSERT(error.status == (enum cw_status)status && error.message[0]);
        return;
    }
    uint32_t owner = cw_profile_locate(map, text, len);
    CW_ASSERT(owner == CW_NO_NODE || cw_profile_map_node(map, owner));
    CW_ASSERT(cw_profile_locate_n(map, text, len, 4, nodes) <= 4);
    cw_profile_map_unref(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    try_profile("redis-cluster", (const char *)data, len);
    try_profile("cassandra", (const char *)data, len);
    return 0;
}
