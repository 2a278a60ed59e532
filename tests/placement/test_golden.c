/*
 * Golden files freeze every mapping: tests/placement/golden/NAME.txt has the owners of 64 hashes
 * for fleets of several sizes, as this library gave them when the mapping was made. A difference
 * means that keys of existing pools would move. To make the files of a new placement:
 *     CW_GOLDEN_WRITE=1 build/dev/tests/test_golden
 */
#include "placement/fleet.h"

static const size_t sizes[] = {1, 2, 3, 10, 100, 1000};
enum { HASHES = 64, REPLICAS = 3 };

/* Hashes of the kind that mappings disagree on first: the ends, powers of two, and any. */
static uint64_t golden_hash(int i)
{
    if (i == 0)
        return 0;
    if (i == 1)
        return UINT64_MAX;
    if (i < 10)
        return (uint64_t)1 << (64 - i * 7);
    char key[16];
    int len = snprintf(key, sizeof key, "key:%d", i);
    return cw_hash(key, (size_t)len);
}

/* Nodes first .. end-1. */
static struct fleet *golden_fleet(enum cw_placement placement, size_t first, size_t end)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    for (size_t i = first; i < end; i++)
        fleet_add(fleet, i, fleet_can(placement, CW_CAN_WEIGHTS) ? 1 + (uint32_t)(i % 3) : 1, 4);
    return fleet;
}

static void print_map(FILE *file, const struct cw_map *map, const char *title)
{
    uint64_t hashes[HASHES];
    uint32_t batch[HASHES];
    fprintf(file, "%s\n", title);
    for (int i = 0; i < HASHES; i++)
        hashes[i] = golden_hash(i);
    cw_locate_batch(map, hashes, HASHES, batch);
    for (int i = 0; i < HASHES; i++) {
        uint32_t owners[REPLICAS];
        size_t count = cw_locate_n(map, hashes[i], REPLICAS, owners);
        assert_int_equal(batch[i], cw_locate(map, hashes[i]));
        assert_int_equal(batch[i], owners[0]);
        fprintf(file, "%016llx", (unsigned long long)hashes[i]);
        for (size_t j = 0; j < count; j++)
            fprintf(file, " %s", cw_map_node(map, owners[j])->id);
        fprintf(file, "\n");
    }
}

/* A first map of each size, and the one that follows it when a node leaves and two join. */
static void print_placement(FILE *file, enum cw_placement placement, uint32_t no_vectors)
{
    struct cw_map_options options = {.placement = placement, .no_vectors = no_vectors};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char title[64];
        struct fleet *fleet = golden_fleet(placement, 0, sizes[i]);
        struct cw_map *map = fleet_map_of(fleet, options);
        snprintf(title, sizeof title, "# %zu nodes", sizes[i]);
        print_map(file, map, title);
        free(fleet);
        if (sizes[i] == 10) {
            fleet = golden_fleet(placement, fleet_can(placement, CW_CAN_REMOVE_ANY), 12);
            struct cw_map *next = fleet_change(map, fleet);
            print_map(file, next, "# the first left if it could, two joined");
            cw_map_unref(&next);
            free(fleet);
        }
        cw_map_unref(&map);
    }
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is missing", path);
    fseek(file, 0, SEEK_END);
    long len = ftell(file);
    rewind(file);
    char *text = calloc((size_t)len + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)len, file), len);
    fclose(file);
    return text;
}

static void compare(const char *path, const char *is)
{
    char *golden = read_file(path);
    size_t at = 0, line = 1;
    while (golden[at] && golden[at] == is[at])
        line += golden[at++] == '\n';
    check(golden[at] == is[at], "%s:%zu: the mapping is another", path, line);
    free(golden);
}

static void check_or_write(enum cw_placement placement, uint32_t no_vectors)
{
    char path[512], *text = NULL;
    size_t len = 0;
    snprintf(path, sizeof path, "%s/tests/placement/golden/%s.txt", CW_SOURCE_DIR,
             cw_placement_name(placement));
    FILE *file = getenv("CW_GOLDEN_WRITE") ? fopen(path, "wb") : open_memstream(&text, &len);
    assert_non_null(file);
    print_placement(file, placement, no_vectors);
    fclose(file);
    if (text)
        compare(path, text);
    free(text);
}

static void mappings_are_what_they_always_were(void **state)
{
    for_each_placement(p) check_or_write(p, 0);
}

static void mappings_are_the_same_without_vectors(void **state)
{
    for_each_placement(p) check_or_write(p, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mappings_are_what_they_always_were),
        cmocka_unit_test(mappings_are_the_same_without_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
