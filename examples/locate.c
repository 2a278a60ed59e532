/*
 * Embedding libclockwise: a map of three nodes, the owners of some keys, and what moves when a
 * fourth node joins. Build it against an installed library with
 *     cc locate.c $(pkg-config --cflags --libs clockwise)
 */
#include <clockwise/clockwise.h>

#include <stdio.h>
#include <string.h>

static const struct cw_node nodes[] = {
    {.id = "cache-1", .address = "10.0.0.1:6379", .zone = "a", .weight = 1},
    {.id = "cache-2", .address = "10.0.0.2:6379", .zone = "b", .weight = 1},
    {.id = "cache-3", .address = "10.0.0.3:6379", .zone = "a", .weight = 2},
    {.id = "cache-4", .address = "10.0.0.4:6379", .zone = "b", .weight = 1},
};

static void print_owners(const struct cw_map *map)
{
    static const char *const keys[] = {"user:1001", "user:1002", "{cart:7}:items",
                                       "{cart:7}:total"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint32_t owners[2];
        uint64_t hash = cw_hash_tagged(keys[i], strlen(keys[i]));
        size_t count = cw_locate_n(map, hash, 2, owners);
        printf("%-15s", keys[i]);
        for (size_t j = 0; j < count; j++)
            printf(" %s", cw_map_node(map, owners[j])->id);
        printf("\n");
    }
}

static void print_moves(const struct cw_map *from, const struct cw_map *to,
                        const struct cw_plan *plan)
{
    size_t count;
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    printf("%.2f %% of all keys move (at least %.2f %% must):\n", 100 * cw_plan_share(plan),
           100 * cw_plan_ideal_share(plan));
    for (size_t i = 0; i < count; i++)
        printf("  %s -> %s  %.2f %%\n", cw_map_node(from, moves[i].from_node)->id,
               cw_map_node(to, moves[i].to_node)->id, 100 * moves[i].share);
}

int main(void)
{
    struct cw_map *before = NULL, *after = NULL;
    struct cw_plan *plan = NULL;
    struct cw_error error;
    struct cw_map_options options = {.nodes = nodes, .node_count = 3};
    int status = cw_map_create(&options, &before, &error);
    if (status == CW_OK)
        status = cw_map_change(before, nodes, 4, &after, &error);
    if (status != CW_OK) {
        fprintf(stderr, "locate: %s\n", error.message);
        return 1;
    }
    print_owners(before);
    status = cw_plan_create(before, after, &plan);
    if (status == CW_OK)
        print_moves(before, after, plan);
    cw_plan_destroy(&plan);
    cw_map_unref(&after);
    cw_map_unref(&before);
    return status == CW_OK ? 0 : 1;
}
