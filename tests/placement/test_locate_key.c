/*
 * Keys against hashes: what a map says of a key is what it says of the hash of its tag.
 * covers: locate_key
 */
#include "placement/fleet.h"

enum { KEYS = 1000 };

static const enum cw_placement placements[] = {
    CW_PLACEMENT_SLOTS,    CW_PLACEMENT_RING,   CW_PLACEMENT_RENDEZVOUS, CW_PLACEMENT_JUMP,
    CW_PLACEMENT_JUMPBACK, CW_PLACEMENT_MAGLEV, CW_PLACEMENT_ROUND,      CW_PLACEMENT_MODULO,
};

static struct cw_map *make_map(enum cw_placement placement)
{
    struct fleet *fleet = fleet_create(7, 5, 1, 3);
    struct cw_map_options options = {
        .placement = placement, .nodes = fleet->nodes, .node_count = fleet->count};
    struct cw_map *map = NULL;
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    free(fleet);
    return map;
}

static void make_keys(char texts[KEYS][40], const void **ret_keys, size_t *ret_lens)
{
    static const char *const forms[] = {"key-%u", "a{tag%u}b", "{}%u", "{%u", "user:{%u}:x"};
    for (unsigned i = 0; i < KEYS; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        ret_lens[i] = (size_t)snprintf(texts[i], 40, forms[i % 5], i);
#pragma GCC diagnostic pop
        ret_keys[i] = texts[i];
    }
}

static void a_key_lives_where_the_hash_of_its_tag_lives(void **state)
{
    static char texts[KEYS][40];
    const void *keys[KEYS];
    size_t lens[KEYS];
    uint32_t batch[KEYS], owners[3], of_hash[3];
    make_keys(texts, keys, lens);
    for (size_t p = 0; p < sizeof placements / sizeof *placements; p++) {
        struct cw_map *map = make_map(placements[p]);
        cw_locate_keys(map, keys, lens, KEYS, batch);
        for (size_t i = 0; i < KEYS; i++) {
            uint64_t hash = cw_hash_tagged(texts[i], lens[i]);
            assert_int_equal(cw_locate_key(map, keys[i], lens[i]), cw_locate(map, hash));
            assert_int_equal(batch[i], cw_locate(map, hash));
            size_t count = cw_locate_n(map, hash, 3, of_hash);
            assert_int_equal(cw_locate_key_n(map, keys[i], lens[i], 3, owners), count);
            assert_memory_equal(owners, of_hash, count * sizeof *owners);
        }
        cw_map_unref(&map);
    }
}

static void keys_of_one_tag_live_together(void **state)
{
    struct cw_map *map = make_map(CW_PLACEMENT_SLOTS);
    assert_int_equal(cw_locate_key(map, "{x}1", 4), cw_locate_key(map, "other{x}", 8));
    assert_int_equal(cw_locate_key(map, "{x}1", 4), cw_locate_key(map, "x", 1));
    cw_map_unref(&map);
}

static void the_empty_key_has_a_place(void **state)
{
    struct cw_map *map = make_map(CW_PLACEMENT_RING);
    assert_true(cw_locate_key(map, "", 0) < cw_map_node_count(map));
    assert_int_equal(cw_locate_key(map, NULL, 0), cw_locate_key(map, "", 0));
    cw_map_unref(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_lives_where_the_hash_of_its_tag_lives),
        cmocka_unit_test(keys_of_one_tag_live_together),
        cmocka_unit_test(the_empty_key_has_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
