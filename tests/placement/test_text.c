/*
 * The text form of maps: a round trip, and an error with its place for everything that can be
 * wrong.
 * covers: placement/text_write, placement/text_read, placement/text_owners, placement/json
 */
#include "placement/fleet.h"

static struct cw_map *read_back(const char *text)
{
    struct cw_map *map = NULL;
    struct cw_error error;
    if (cw_map_from_text(text, strlen(text), &map, &error) != CW_OK)
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    return map;
}

static void every_map_comes_back_byte_for_byte(void **state)
{
    for_each_seed(seed, 40)
    {
        struct random random = {seed};
        struct fleet *fleet = fleet_create(seed, 1 + (size_t)random_below(&random, 40), 9,
                                           seed % 4);
        struct cw_map_options options = {
            .placement = seed % 2 ? CW_PLACEMENT_SLOTS : CW_PLACEMENT_RING,
            .generation = random_next(&random),
            .slot_count = 64u << random_below(&random, 8),
            .tokens_per_weight = 1 + (uint32_t)random_below(&random, 99)};
        fleet->nodes[0].address = "10.0.0.1:6379";
        struct cw_map *map = fleet_map_of(fleet, options);
        char *text = fleet_text(map);
        struct cw_map *again = read_back(text);
        char *text_again = fleet_text(again);
        assert_string_equal(text, text_again);
        for (int i = 0; i < 500; i++) {
            uint64_t hash = random_next(&random);
            assert_int_equal(cw_locate(map, hash), cw_locate(again, hash));
        }
        for (uint32_t i = 0; i < cw_map_node_count(map); i++)
            assert_true(cw_map_share(map, i) == cw_map_share(again, i));
        free(text);
        free(text_again);
        cw_map_unref(&map);
        cw_map_unref(&again);
        free(fleet);
    }
}

/* A planned assignment is not what the nodes alone would give, so it must be in the text. */
static void the_planners_assignment_survives(void **state)
{
    struct fleet *fleet = fleet_create(2, 9, 3, 0);
    struct cw_map *first = fleet_map(fleet, CW_PLACEMENT_SLOTS);
    fleet->nodes[0].weight = 7;
    struct cw_map *second = fleet_change(first, fleet);
    struct cw_map *fresh = fleet_map(fleet, CW_PLACEMENT_SLOTS);
    char *text = fleet_text(second), *fresh_text = fleet_text(fresh);
    struct cw_map *again = read_back(text);
    struct cw_plan *plan = NULL;
    assert_string_not_equal(text, fresh_text);
    assert_int_equal(cw_plan_create(second, again, &plan), CW_OK);
    assert_true(cw_plan_share(plan) == 0);
    cw_plan_destroy(&plan);
    free(text);
    free(fresh_text);
    cw_map_unref(&first);
    cw_map_unref(&second);
    cw_map_unref(&fresh);
    cw_map_unref(&again);
    free(fleet);
}

static void the_form_is_the_one_that_is_documented(void **state)
{
    struct cw_node nodes[] = {
        {.id = "b", .weight = 2, .address = "10.0.0.2:6379"},
        {.id = "a", .weight = 1, .zone = "z1"},
    };
    struct cw_map_options options = {
        .placement = CW_PLACEMENT_RING, .nodes = nodes, .node_count = 2, .tokens_per_weight = 5};
    struct cw_map *map = NULL;
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    char *text = fleet_text(map);
    assert_string_equal(text, "{\n"
                              "  \"clockwise_map\": 1,\n"
                              "  \"generation\": 1,\n"
                              "  \"placement\": \"ring\",\n"
                              "  \"tokens_per_weight\": 5,\n"
                              "  \"nodes\": [\n"
                              "    {\"id\": \"a\", \"zone\": \"z1\", \"weight\": 1},\n"
                              "    {\"id\": \"b\", \"address\": \"10.0.0.2:6379\", \"weight\": 2}\n"
                              "  ]\n"
                              "}\n");
    free(text);
    cw_map_unref(&map);
}

static void spacing_and_order_are_free(void **state)
{
    const char *text = "{\"nodes\":[{\"weight\":1,\"slots\":\"32-63\",\"id\":\"b\"}\r\n,\t{\"id\":"
                       "\"a\",\"slots\":\"0-31\",\"weight\":1}],\"slots\":64,\"placement\":"
                       "\"slots\",\"generation\":3,\"clockwise_map\":1}";
    struct cw_map *map = read_back(text);
    assert_int_equal(cw_map_generation(map), 3);
    assert_string_equal(fleet_owner(map, 0), "a");
    assert_string_equal(fleet_owner(map, UINT64_MAX), "b");
    cw_map_unref(&map);
}

#define HEAD   "{\"clockwise_map\": 1, \"generation\": 1, \"placement\": "
#define SLOTS  HEAD "\"slots\", \"slots\": 64, \"nodes\": [\n"
#define RING   HEAD "\"ring\", \"tokens_per_weight\": 5, \"nodes\": [\n"
#define JUMP   HEAD "\"jump\", \"nodes\": [\n"
#define NODE_A "{\"id\": \"a\", \"weight\": 1}"

static const struct bad_text {
    const char *text;
    enum cw_status status;
    unsigned line, column;
    const char *part;
} bad_texts[] = {
    {"", CW_EBAD_TEXT, 1, 1, "ends where a '{'"},
    {"[]", CW_EBAD_TEXT, 1, 1, "'{' should stand here"},
    {"{}", CW_EBAD_TEXT, 1, 1, "'clockwise_map' is missing"},
    {"{\"clockwise_map\": 2}", CW_EBAD_TEXT, 1, 19, "from 1 to 1"},
    {"{\"clockwise_map\": 1, \"nodes\": []}", CW_EBAD_TEXT, 1, 1, "'generation' is missing"},
    {"{\"clockwise_map\": 1,\n\"colour\": 1}", CW_EBAD_KEY, 2, 2, "'colour' is not a key"},
    {"{\"clockwise_map\": 1,\n \"clockwise_map\": 1}", CW_EBAD_KEY, 2, 3, "twice"},
    {"{\"clockwise_map\": 1,}", CW_EBAD_TEXT, 1, 21, "'\"' should stand"},
    {"{\"generation\": 0}", CW_EBAD_TEXT, 1, 16, "from 1 to 18446744073709551615"},
    {"{\"generation\": 18446744073709551616}", CW_EBAD_TEXT, 1, 16, "from 1"},
    {"{\"generation\": 007}", CW_EBAD_TEXT, 1, 16, "leading zeros"},
    {"{\"generation\": -1}", CW_EBAD_TEXT, 1, 16, "without sign"},
    {"{\"generation\": 1.5}", CW_EBAD_TEXT, 1, 17, "'}' should stand"},
    {"{\"generation\" 1}", CW_EBAD_TEXT, 1, 15, "':' should stand"},
    {"{\"placement\": \"circle\"}", CW_EBAD_TEXT, 1, 16, "no placement 'circle'"},
    {"{\"placement\": \"sl\\u006fts\"}", CW_EBAD_TEXT, 1, 18, "backslash"},
    {"{\"placement\": \"slots", CW_EBAD_TEXT, 1, 16, "ends inside"},
    {"{\"slots\": 100}", CW_EBAD_SLOTS, 1, 11, "power of two"},
    {"{\"slots\": 4294967360}", CW_EBAD_SLOTS, 1, 11, "power of two"},
    {"{\"tokens_per_weight\": 0}", CW_EBAD_TEXT, 1, 23, "from 1 to 65536"},
    {HEAD "\"ring\", \"nodes\": [" NODE_A "]}", CW_EBAD_TEXT, 1, 1, "'tokens_per_weight' is"},
    {HEAD "\"slots\", \"nodes\": [" NODE_A "]}", CW_EBAD_TEXT, 1, 1, "'slots' is missing"},
    {HEAD "\"ring\", \"slots\": 64, \"tokens_per_weight\": 5, \"nodes\": []}", CW_EBAD_KEY, 1, 53,
     "belongs to placement slots"},
    {RING "]}", CW_ENO_NODES, 1, 93, "at least one node"},
    {RING NODE_A "]} x", CW_EBAD_TEXT, 2, 28, "something follows"},
    {RING NODE_A, CW_EBAD_TEXT, 2, 25, "ends where a ']'"},
    {RING NODE_A ",\n" NODE_A "]}", CW_EDUPLICATE_ID, 3, 1, "id 'a'"},
    {RING "{\"weight\": 1}]}", CW_EBAD_TEXT, 2, 1, "'id' is missing"},
    {RING "{\"id\": \"a\"}]}", CW_EBAD_TEXT, 2, 1, "'weight' is missing"},
    {RING "{\"id\": \"a b\", \"weight\": 1}]}", CW_EBAD_ID, 2, 1, "'a b'"},
    {RING NODE_A ",\n  {\"id\": \"b\", \"weight\": 0}]}", CW_EBAD_WEIGHT, 3, 3, "'b' has weight 0"},
    {RING "{\"id\": \"b\", \"weight\": 4294967296}]}", CW_EBAD_TEXT, 2, 23, "4294967295"},
    {RING "{\"id\": \"b\", \"weight\": 4294967295}]}", CW_EBAD_WEIGHT, 2, 1, "use 1 to 1000000"},
    {RING "{\"id\": \"b\", \"weight\": 1000000}]}", CW_OK, 0, 0, NULL},
    {RING "{\"id\": \"b\", \"weight\": 1, \"zone\": \"a b\"}]}", CW_EBAD_ZONE, 2, 1, "zone 'a b'"},
    {RING "{\"id\": \"b\", \"weight\": 1, \"address\": \" \"}]}", CW_EBAD_ADDRESS, 2, 1, "'b'"},
    {RING "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0\"}]}", CW_EBAD_KEY, 2, 1,
     "ring does not know 'slots'"},
    {JUMP "{\"id\": \"b\", \"weight\": 1}]}", CW_EBAD_TEXT, 2, 1, "'bucket' is missing"},
    {JUMP "{\"id\": \"b\", \"weight\": 1, \"bucket\": 1}]}", CW_ENOT_SUPPORTED, 1, 69, "bucket 0"},
    {JUMP "{\"id\": \"b\", \"weight\": 1, \"bucket\": 0},\n"
          "{\"id\": \"c\", \"weight\": 1, \"bucket\": 0}]}",
     CW_EBAD_TEXT, 3, 36, "bucket 0 has two owners, 'b' and 'c'"},
    {JUMP "{\"id\": \"b\", \"weight\": 1, \"bucket\": 1048576}]}", CW_EBAD_TEXT, 2, 36, "1048575"},
    {JUMP "{\"id\": \"b\", \"weight\": 1, \"bucket\": 0},\n"
          "{\"id\": \"c\", \"weight\": 2, \"bucket\": 1}]}",
     CW_ENOT_SUPPORTED, 1, 69, "no weights"},
    {HEAD "\"maglev\", \"table_size\": 256, \"nodes\": [" NODE_A "]}", CW_EBAD_TABLE, 1, 90,
     "prime"},
    {HEAD "\"maglev\", \"table_size\": 250, \"nodes\": [" NODE_A "]}", CW_EBAD_TEXT, 1, 76, "251"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1}]}", CW_EBAD_TEXT, 2, 1, "'slots' is missing"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0-63\"}]}", CW_OK, 0, 0, NULL},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"\"}]}", CW_EBAD_TEXT, 1, 83,
     "slot 0 has no owner"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0-62\"}]}", CW_EBAD_TEXT, 1, 83,
     "slot 63 has no owner"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0-64\"}]}", CW_EBAD_TEXT, 2, 38,
     "slot 64: the last one of this map is 63"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0-40,40-63\"}]}", CW_EBAD_TEXT, 2, 41,
     "slot 40 has two owners, 'b' and 'b'"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0-63,\"}]}", CW_EBAD_TEXT, 2, 41,
     "like 0-2,5,9-11"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"5-3\"}]}", CW_EBAD_TEXT, 2, 36,
     "ends behind its start"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"00-63\"}]}", CW_EBAD_TEXT, 2, 36,
     "like 0-2,5,9-11"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0 -63\"}]}", CW_EBAD_TEXT, 2, 37,
     "like 0-2,5,9-11"},
    {SLOTS "{\"id\": \"b\", \"weight\": 1, \"slots\": \"0-99999999999999999999\"}]}", CW_EBAD_TEXT,
     2, 38, "slot 999999999:"},
};

static void each_fault_has_its_status_and_place(void **state)
{
    for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) {
        const struct bad_text *bad = &bad_texts[i];
        struct cw_map *map = NULL;
        struct cw_error error = {0};
        int status = cw_map_from_text(bad->text, strlen(bad->text), &map, &error);
        check(status == (int)bad->status, "%s\n%s instead of %s: %s", bad->text,
              cw_status_name((enum cw_status)status), cw_status_name(bad->status), error.message);
        if (status == CW_OK) {
            cw_map_unref(&map);
            continue;
        }
        assert_null(map);
        check(error.line == bad->line && error.column == bad->column, "%s\n%u:%u instead of %u:%u",
              bad->text, error.line, error.column, bad->line, bad->column);
        check(strstr(error.message, bad->part), "'%s' does not say '%s'", error.message, bad->part);
        assert_int_equal(cw_map_from_text(bad->text, strlen(bad->text), &map, NULL), bad->status);
    }
}

static void every_cut_of_a_text_is_refused(void **state)
{
    struct fleet *fleet = fleet_create(1, 3, 2, 2);
    struct cw_map *map = fleet_map_of(fleet, (struct cw_map_options){.slot_count = 64});
    char *text = fleet_text(map);
    for (size_t len = 0; len + 1 < strlen(text); len++) { /* the last byte is a newline */
        struct cw_map *none = NULL;
        struct cw_error error;
        char *cut = malloc(len + 1); /* its own block, so that reading past its end is seen */
        assert_non_null(cut);
        memcpy(cut, text, len);
        check(cw_map_from_text(cut, len, &none, &error) != CW_OK, "cut at %zu", len);
        free(cut);
    }
    free(text);
    cw_map_unref(&map);
    free(fleet);
}

static void nothing_is_refused(void **state)
{
    struct cw_map *map = NULL;
    char *text;
    size_t len;
    assert_int_equal(cw_map_from_text(NULL, 0, &map, NULL), CW_EINVAL);
    assert_int_equal(cw_map_to_text(NULL, &text, &len), CW_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_map_comes_back_byte_for_byte),
        cmocka_unit_test(the_planners_assignment_survives),
        cmocka_unit_test(the_form_is_the_one_that_is_documented),
        cmocka_unit_test(spacing_and_order_are_free),
        cmocka_unit_test(each_fault_has_its_status_and_place),
        cmocka_unit_test(every_cut_of_a_text_is_refused),
        cmocka_unit_test(nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
