/*
 * What the tests of profiles share: making maps and expecting refusals.
 */
#ifndef TESTS_PROFILES_PROFILE_HELPER_H
#define TESTS_PROFILES_PROFILE_HELPER_H

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <clockwise/profile.h>

typedef struct cw_profile_node node;

static inline struct cw_profile_map *make(const char *profile,
                                          const struct cw_profile_options *options)
{
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    if (cw_profile_map_create(cw_profile_find(profile), options, &map, &error) != CW_OK)
        fail_msg("%s: %s", profile, error.message);
    return map;
}

static inline struct cw_profile_map *make_nodes(const char *profile, const node *nodes,
                                                size_t count)
{
    struct cw_profile_options options = {.nodes = nodes, .node_count = count};
    return make(profile, &options);
}

static inline void assert_refused(const char *profile, const struct cw_profile_options *options,
                                  enum cw_status status, const char *says)
{
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    int got = cw_profile_map_create(cw_profile_find(profile), options, &map, &error);
    if (got != (int)status || !strstr(error.message, says))
        fail_msg("%s gave %s '%s', should be %s and say '%s'", profile, cw_status_name(got),
                 error.message, cw_status_name(status), says);
    assert_null(map);
}

static inline void assert_node_refused(const char *profile, node bad, enum cw_status status,
                                       const char *says)
{
    node nodes[] = {{.address = "10.0.0.1:11211", .weight = 1}, bad};
    struct cw_profile_options options = {.nodes = nodes, .node_count = 2};
    assert_refused(profile, &options, status, says);
}

#endif
