/*
 * Memory that runs out at any allocation of a profile's map gives CW_ENOMEM, leaks nothing (the
 * address sanitizer looks) and leaves nothing half built. This program brings its own allocators.
 * covers: profiles/profile_map
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <clockwise/profile.h>

#include "placement/memory.h"

static long allocations_left = -1; /* before they fail; below 0: never */

static int fails_now(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *memory_alloc(size_t count, size_t size)
{
    return fails_now() ? NULL : calloc(count ? count : 1, size);
}

void *memory_alloc_lines(size_t count, size_t size)
{
    return fails_now() ? NULL : aligned_alloc(64, count * size);
}

void *memory_resize(void *block, size_t size)
{
    return fails_now() ? NULL : realloc(block, size);
}

static const struct cw_profile_node nodes[] = {
    {.address = "10.0.0.1:11211", .name = "10.0.0.1/10.0.0.1:11211", .weight = 1, .number = 4},
    {.address = "10.0.0.2:11211", .weight = 1},
    {.address = "10.0.0.3:11211", .weight = 1},
};
static const char slots[] = "id 10.0.0.1:1@2 master - 0 0 1 connected 0-100 200\n";
static const char tokens[] = "10.0.0.1 dc1 r1 1,2,3\n10.0.0.2 dc1 r2 7\n";

/* What to make of each profile. */
static struct cw_profile_options options_of(const struct cw_profile *profile)
{
    if (strncmp(profile->name, "redis", 5) == 0)
        return (struct cw_profile_options){.topology = slots, .topology_len = sizeof slots - 1};
    if (strcmp(profile->name, "cassandra") == 0)
        return (struct cw_profile_options){.topology = tokens, .topology_len = sizeof tokens - 1};
    if (strcmp(profile->name, "couchbase-vbucket") == 0)
        return (struct cw_profile_options){0};
    return (struct cw_profile_options){.nodes = nodes, .node_count = 3};
}

static void a_map_is_made_whole_or_not_at_all(void **state)
{
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        struct cw_profile_options options = options_of(profile);
        struct cw_profile_map *map = NULL;
        long failing = 0;
        for (int status = CW_ENOMEM; status != CW_OK; failing++) {
            struct cw_error error = {0};
            allocations_left = failing;
            status = cw_profile_map_create(profile, &options, &map, &error);
            if (status != CW_OK && status != CW_ENOMEM)
                fail_msg("%s: %s", profile->name, error.message);
            assert_true((status == CW_OK) == (map != NULL));
        }
        assert_in_range(failing, 3, 60);
        cw_profile_map_unref(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_is_made_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
