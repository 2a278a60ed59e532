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

static struct cw_map *golden_map(enum cw_placement placement, size_t size)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    for (size_t i = 0; i < size; i++)
        fleet_add(fleet, i, 1 + (uint32_t)(i % 3), 4);
    struct cw_map *map = fleet_map(fleet, placement);
    free(fleet);
    return map;
}

static void print_map(FILE *file, const struct cw_map *map, const char *title)
{
    fprintf(file, "%s\n", title);
    for (int i = 0; i < HASHES; i++) {
        uint32_t owners[REPLICAS];
        uint64_t hash = golden_hash(i);
        size_t count = cw_locate_n(map, hash, REPLICAS, owners);
        fprintf(file, "%016llx %s", (unsigned long long)hash, fleet_owner(map, hash));
        for (size_t j = 1; j < count; j++)
            fprintf(file, " %s", cw_map_node(map, owners[j])->id);
        fprintf(file, "\n");
    }
}

/* A first map of each size, and the one that follows it when a node leaves and one joins. */
static void print_placement(FILE *file, enum cw_placement placement)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char title[64];
        struct cw_map *map = golden_map(placement, sizes[i]);
        snprintf(title, sizeof title, "# %zu nodes", sizes[i]);
        print_map(file, map, title);
        if (sizes[i] == 10) {
            struct fleet *fleet = calloc(1, sizeof *fleet);
            assert_non_null(fleet);
            for (size_t j = 1; j < 11; j++)
                fleet_add(fleet, j, 1 + (uint32_t)(j % 3), 4);
            struct cw_map *next = fleet_change(map, fleet);
            print_map(file, next, "# 10 nodes: the first left, another joined");
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

static void mappings_are_what_they_always_were(void **state)
{
    for (int p = 0; cw_placement_name((enum cw_placement)p); p++) {
        char path[512], *text = NULL;
        size_t len = 0;
        const char *name = cw_placement_name((enum cw_placement)p);
        snprintf(path, sizeof path, "%s/tests/placement/golden/%s.txt", CW_SOURCE_DIR, name);
        FILE *file = getenv("CW_GOLDEN_WRITE") ? fopen(path, "wb") : open_memstream(&text, &len);
        assert_non_null(file);
        print_placement(file, (enum cw_placement)p);
        fclose(file);
        if (text)
            compare(path, text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mappings_are_what_they_always_were)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
