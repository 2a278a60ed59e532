/*
 * Memory that runs out at any allocation gives CW_ENOMEM, leaks nothing (the address sanitizer
 * looks) and leaves nothing half built. This program brings its own pair of allocators, so the
 * library's are not linked.
 * covers: placement/memory
 */
#include "placement/fleet.h"
#include "placement/memory.h"
#include "base/pages.h"

#include <clockwise/profile.h>

static long allocations_left; /* before they fail; below 0: never */

static bool fails_now(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

void *memory_alloc(size_t count, size_t size)
{
    return fails_now() ? NULL : calloc(count ? count : 1, size);
}

void *memory_alloc_lines(size_t count, size_t size)
{
    return fails_now() ? NULL : pages_alloc(count * size);
}

void *memory_resize(void *block, size_t size)
{
    return fails_now() ? NULL : realloc(block, size);
}

/* Everything that allocates, on one pair of fleets; the first failure ends it. */
static int do_everything(const struct fleet *before, const struct fleet *after,
                         enum cw_placement placement, struct cw_error *error)
{
    struct cw_map *from = NULL, *to = NULL, *read = NULL;
    struct cw_plan *plan = NULL;
    char *text = NULL;
    size_t len;
    struct cw_profile_options settings = {.hash = "murmur_hash_2"};
    struct cw_map_options options = {
        .placement = placement, .nodes = before->nodes, .node_count = before->count};
    if (placement == CW_PLACEMENT_PROFILE) {
        options.profile = cw_profile_find("envoy-ring-hash");
        options.profile_options = &settings;
    }
    int status = cw_map_create(&options, &from, error);
    if (status == CW_OK)
        status = cw_map_change(from, after->nodes, after->count, &to, error);
    if (status == CW_OK)
        status = fleet_can(placement, CW_CAN_RANGES) ? cw_plan_create(from, to, &plan)
                                                     : cw_plan_estimate(from, to, 100, &plan);
    if (status == CW_OK)
        status = cw_map_to_text(to, &text, &len);
    if (status == CW_OK)
        status = cw_map_from_text(text, len, &read, error);
    assert_true((status == CW_OK) == (read != NULL));
    free(text);
    cw_plan_destroy(&plan);
    cw_map_unref(&from);
    cw_map_unref(&to);
    cw_map_unref(&read);
    return status;
}

static long count_failures(enum cw_placement placement)
{
    struct fleet *before = fleet_create(1, 20, fleet_can(placement, CW_CAN_WEIGHTS) ? 3 : 1, 3);
    struct fleet *after = fleet_copy(before);
    fleet_add(after, 5, 1, 3);
    if (fleet_can(placement, CW_CAN_REMOVE_ANY))
        fleet_remove(after, 2);
    long failures = 0;
    for (;; failures++) {
        struct cw_error error = {0};
        allocations_left = failures;
        int status = do_everything(before, after, placement, &error);
        allocations_left = -1;
        if (status == CW_OK)
            break;
        check(status == CW_ENOMEM, "%s: allocation %ld failing gave %s",
              cw_placement_name(placement), failures, cw_status_name((enum cw_status)status));
    }
    free(before);
    free(after);
    return failures;
}

static void each_allocation_may_fail(void **state)
{
    for_each_placement(p) assert_true(count_failures(p) > 15);
    assert_true(count_failures(CW_PLACEMENT_PROFILE) > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
