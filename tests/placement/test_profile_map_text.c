/*
 * The text of a profile's map: its form, a round trip, and what is wrong with others.
 * covers: placement/text_profile, placement/text_escape
 */
#include "placement/profile_maps.h"

static void the_form_is_the_one_that_is_documented(void **state)
{
    static const struct cw_profile_node servers[] = {{.weight = 1, .name = "a\"b%\n\xc3"},
                                                     {.weight = 0.1, .address = "x y", .number = 7},
                                                     {.weight = 1, .is_down = 1}};
    struct cw_profile_options options = {.nodes = servers, .node_count = 3};
    struct cw_node nodes[] = {three[0], three[1], three[2]};
    nodes[1].weight = 1;
    assert_int_equal(cw_profile_options_set(&options, "hash", "crc32", NULL), CW_OK);
    struct cw_map *map = NULL;
    /* No system has all of these facts at once: the text is what is looked at. */
    struct cw_error error;
    assert_int_equal(try_map("haproxy-consistent", nodes, 3, &options, &map, &error),
                     CW_EBAD_WEIGHT);
    struct cw_profile_node fine[] = {servers[0], servers[1], servers[2]};
    fine[1].weight = 3;
    options.nodes = fine;
    map = make("haproxy-consistent", nodes, 3, &options);
    char *text = fleet_text(map);
    assert_string_equal(text, "{\n"
                              "  \"clockwise_map\": 1,\n"
                              "  \"generation\": 1,\n"
                              "  \"placement\": \"profile\",\n"
                              "  \"profile\": \"haproxy-consistent\",\n"
                              "  \"settings\": [\"hash=crc32\"],\n"
                              "  \"nodes\": [\n"
                              "    {\"id\": \"a\", \"address\": \"10.0.0.3:11211\", \"weight\": 1, "
                              "\"place\": 2, \"down\": 1},\n"
                              "    {\"id\": \"b\", \"address\": \"10.0.0.2:11211\", \"weight\": 1, "
                              "\"place\": 1, \"server\": \"x y\", \"number\": 7, "
                              "\"server_weight\": \"3\"},\n"
                              "    {\"id\": \"c\", \"address\": \"10.0.0.1:11211\", \"weight\": 1, "
                              "\"place\": 0, \"name\": \"a%22b%25%0A%C3\"}\n"
                              "  ]\n"
                              "}\n");
    struct cw_map *again = NULL;
    assert_int_equal(cw_map_from_text(text, strlen(text), &again, &error), CW_OK);
    char *text_again = fleet_text(again);
    assert_string_equal(text, text_again);
    assert_int_equal(count_moved(map, again), 0);
    free(text);
    free(text_again);
    cw_map_unref(&map);
    cw_map_unref(&again);
}

static void a_topology_and_the_order_survive(void **state)
{
    struct cw_profile_options options = with_slots();
    struct cw_map *map = make("redis-cluster", three, 3, &options), *again = NULL;
    char *text = fleet_text(map);
    assert_int_equal(cw_map_from_text(text, strlen(text), &again, NULL), CW_OK);
    assert_string_equal(id_of(again, "foo"), "b");
    free(text);
    cw_map_unref(&map);
    cw_map_unref(&again);
    map = make_three("libmemcached-modula");
    text = fleet_text(map);
    assert_int_equal(cw_map_from_text(text, strlen(text), &again, NULL), CW_OK);
    assert_int_equal(count_moved(map, again), 0);
    free(text);
    cw_map_unref(&map);
    cw_map_unref(&again);
}

#define HEAD    "{\"clockwise_map\": 1, \"generation\": 1, \"placement\": \"profile\", "
#define PROFILE "\"profile\": \"twemproxy-ketama\", "
#define NODE    "{\"id\": \"a\", \"address\": \"h:1\", \"weight\": 1, \"place\": 0"
#define NODES   "\"nodes\": [" NODE "}]}"

static const struct {
    const char *text, *says;
    enum cw_status status;
} faults[] = {
    {HEAD NODES, "'profile' is missing", CW_EBAD_TEXT},
    {HEAD PROFILE NODES, "'settings' is missing", CW_EBAD_TEXT},
    {HEAD "\"profile\": \"twem\", \"settings\": [], " NODES, "no profile 'twem'", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [\"hash\"], " NODES, "like hash=md5", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [\"hash=\"], " NODES, "is empty", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [\"hsh=md5\"], " NODES, "no setting 'hsh'", CW_EINVAL},
    {HEAD PROFILE "\"settings\": [\"hash=md5\", \"hash=crc16\"], " NODES, "twice", CW_EBAD_KEY},
    {HEAD PROFILE "\"settings\": [\"salt=x\"], " NODES, "has no setting salt", CW_EINVAL},
    {HEAD PROFILE "\"settings\": [\"tag=%7B%7D\"], " NODES, "written as %", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [\"tag=%0\"], " NODES, "written as %", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [\"tag=%00x\"], " NODES, "written as %", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [\"hash=md5\"] , \"nodes\": [{\"id\": \"a\", \"weight\": 1}]}",
     "'place' is missing", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [], \"nodes\": [" NODE "}, {\"id\": \"b\", \"weight\": 1, "
                  "\"place\": 0}]}",
     "'a' and 'b' have the same place", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [], \"nodes\": [{\"id\": \"b\", \"weight\": 1, \"place\": 1}]}",
     "has place 1", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [], \"nodes\": [" NODE ", \"server_weight\": \"x\"}]}",
     "'x' is no weight", CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [], \"nodes\": [" NODE ", \"server_weight\": \"0\"}]}",
     "has weight 0", CW_EBAD_WEIGHT},
    {HEAD PROFILE "\"settings\": [], \"nodes\": [" NODE ", \"number\": 0}]}", "from 1 to",
     CW_EBAD_TEXT},
    {HEAD PROFILE "\"settings\": [], \"nodes\": []}", "at least one node", CW_ENO_NODES},
    {"{\"clockwise_map\": 1, \"generation\": 1, \"placement\": \"rendezvous\", \"nodes\": [" NODE
     "}]}",
     "does not know 'place'", CW_EBAD_KEY},
    {"{\"clockwise_map\": 1, \"generation\": 1, \"placement\": \"rendezvous\", " PROFILE
     "\"nodes\": []}",
     "'profile' belongs to placement profile", CW_EBAD_KEY},
};

static void each_fault_has_its_sentence(void **state)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct cw_map *map = NULL;
        struct cw_error error = {0};
        int status = cw_map_from_text(faults[i].text, strlen(faults[i].text), &map, &error);
        check(status == (int)faults[i].status && strstr(error.message, faults[i].says),
              "%s gave %s '%s', should say '%s'", faults[i].text,
              cw_status_name((enum cw_status)status), error.message, faults[i].says);
        check(error.line == 1 && error.column >= 1, "%s: %u:%u", faults[i].text, error.line,
              error.column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_is_the_one_that_is_documented),
        cmocka_unit_test(a_topology_and_the_order_survive),
        cmocka_unit_test(each_fault_has_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
