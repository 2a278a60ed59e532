/*
 * Every golden file of the profiles: the real programs' answers for 2000 keys, key by key. Prints
 * the table of them, and fails unless each line of each file agrees.
 *
 * covers: profile, profile_map, profile_nodes, profile_key, profile_hash, profile_ring
 * covers: profile_points, profile_points_own, profile_count, profile_table, profile_fill
 * covers: profile_rows_libmemcached, profile_rows_twemproxy, profile_rows_redis
 * covers: profile_rows_ketama, profile_rows_java, profile_rows_nginx, profile_rows_haproxy
 * covers: profile_rows_mcrouter, profile_rows_envoy, profile_rows_memcached
 * covers: profile_rows_clients, profile_rows_cassandra, profile_rows_kafka, profile_rows_more
 * covers: profile_jump, profile_mcrouter, profile_pymemcache, profile_cassandra
 * covers: profile_fill_more, profile_topology_cassandra, legacy_kafkajs, profile_batch
 */
#include "profiles/profile_golden.h"

struct run {
    struct lines keys;
    size_t case_count, failed_count, map_count;
};

static int compare_text(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* The comma list sorted, so that sets can be compared. */
static void sort_list(char *list)
{
    char copy[512], *parts[64], *state = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *at = strtok_r(copy, ",", &state); at; at = strtok_r(NULL, ",", &state))
        parts[count++] = at;
    qsort(parts, count, sizeof *parts, compare_text);
    list[0] = 0;
    for (size_t i = 0, len = 0; i < count; i++)
        len += (size_t)snprintf(list + len, 512 - len, "%s%s", i ? "," : "", parts[i]);
}

static void print_replicas(const struct cw_profile_map *map, const char *key, char ret[512])
{
    uint32_t nodes[CW_REPLICA_COUNT_MAX];
    size_t count = cw_profile_locate_n(map, key, strlen(key), CW_REPLICA_COUNT_MAX, nodes);
    ret[0] = 0;
    for (size_t i = 0, len = 0; i < count; i++)
        len += (size_t)snprintf(ret + len, 512 - len, "%s%s", i ? "," : "",
                                cw_profile_map_node(map, nodes[i])->address);
}

static void print_answer(const struct cw_profile_map *map, const char *kind, const char *key,
                         char ret[512])
{
    size_t len = strlen(key);
    uint32_t owner = cw_profile_locate(map, key, len);
    const struct cw_profile_node *node = cw_profile_map_node(map, owner);
    ret[0] = 0;
    if (strcmp(kind, "address") == 0)
        snprintf(ret, 512, "%s%s", node ? node->address : "none",
                 node && !strchr(node->address, ':') ? ":80" : ""); /* what nginx connects to */
    else if (strcmp(kind, "number") == 0)
        snprintf(ret, 512, "%u", owner);
    else if (strcmp(kind, "position") == 0)
        snprintf(ret, 512, "%llu", (unsigned long long)cw_profile_position(map, key, len));
    else if (strcmp(kind, "token") == 0)
        snprintf(ret, 512, "%lld",
                 (long long)(cw_profile_position(map, key, len) ^ (uint64_t)1 << 63));
    else
        print_replicas(map, key, ret);
    if (strcmp(kind, "set") == 0)
        sort_list(ret);
}

static size_t count_matches(struct run *run, const struct cw_profile_map *map, const char *kind,
                            const char *file)
{
    struct lines want = golden_lines(file);
    size_t matches = 0;
    int shown = 0;
    assert_int_equal(want.count, GOLDEN_KEY_COUNT);
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++) {
        char got[512], expected[512];
        print_answer(map, kind, run->keys.list[i], got);
        snprintf(expected, sizeof expected, "%s", want.list[i]);
        if (strcmp(kind, "set") == 0)
            sort_list(expected);
        int same = strcmp(got, expected) == 0;
        matches += (size_t)same;
        if (!same && !shown++)
            print_message("first difference: line %zu, key '%s': %s, should be %s\n", i + 1,
                          run->keys.list[i], got, expected);
    }
    golden_lines_free(&want);
    return matches;
}

/* All at once, one by one, and by ranges must agree. */
static void check_ways_agree(struct run *run, const struct cw_profile_map *map)
{
    uint32_t nodes[GOLDEN_KEY_COUNT];
    size_t lens[GOLDEN_KEY_COUNT];
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++)
        lens[i] = strlen(run->keys.list[i]);
    cw_profile_locate_batch(map, (const void *const *)run->keys.list, lens, GOLDEN_KEY_COUNT,
                            nodes);
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++) {
        uint64_t last, at = cw_profile_position(map, run->keys.list[i], lens[i]);
        uint32_t owner = cw_profile_locate(map, run->keys.list[i], lens[i]);
        assert_int_equal(nodes[i], owner);
        if (!cw_profile_position_max(map))
            continue;
        assert_int_equal(cw_profile_range_at(map, at, &last), owner);
        assert_true(last >= at && last <= cw_profile_position_max(map));
    }
}

/* ---- the same as a map of nodes ---------------------------------------------------------------
 */

/* The case's servers as nodes whose ids go against their order. */
struct as_nodes {
    struct cw_node nodes[FLEET_NODES_MAX];
    struct cw_profile_node servers[FLEET_NODES_MAX];
    char ids[FLEET_NODES_MAX][16];
    size_t count;
};

static void fill_nodes(struct as_nodes *as, const struct cw_profile_map *map)
{
    for (uint32_t i = 0; cw_profile_map_node(map, i); i++) {
        const struct cw_profile_node *server = cw_profile_map_node(map, i);
        snprintf(as->ids[i], sizeof as->ids[i], "n%04u", FLEET_NODES_MAX - i);
        as->servers[i] = *server;
        as->nodes[i] = (struct cw_node){
            .id = as->ids[i], .address = "10.9.9.9:1", .weight = server->weight == 2 ? 2 : 1};
        as->count = i + 1;
    }
}

static void check_keys(const struct run *run, const struct cw_profile_map *map,
                       const struct cw_map *nodes)
{
    const void *const *keys = (const void *const *)run->keys.list;
    uint32_t owners[GOLDEN_KEY_COUNT];
    size_t lens[GOLDEN_KEY_COUNT];
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++)
        lens[i] = strlen(run->keys.list[i]);
    cw_locate_keys(nodes, keys, lens, GOLDEN_KEY_COUNT, owners);
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++) {
        struct cw_profile_node server;
        uint32_t want = cw_profile_locate(map, keys[i], lens[i]), place = CW_NO_NODE;
        assert_int_equal(cw_locate_key(nodes, keys[i], lens[i]), owners[i]);
        if (owners[i] != CW_NO_NODE)
            assert_int_equal(cw_map_server(nodes, owners[i], &server, &place), CW_OK);
        if (want != CW_NO_NODE && cw_profile_map_node(map, want)->address != server.address)
            assert_string_equal(server.address, cw_profile_map_node(map, want)->address);
        assert_int_equal(place, want);
    }
}

static struct cw_map *read_back(const struct cw_map *map)
{
    char *text = NULL, *again_text = NULL;
    size_t len, again_len;
    struct cw_map *again = NULL;
    struct cw_error error = {0};
    assert_int_equal(cw_map_to_text(map, &text, &len), CW_OK);
    if (cw_map_from_text(text, len, &again, &error) != CW_OK)
        fail_msg("%u:%u: %s\n%.2000s", error.line, error.column, error.message, text);
    assert_int_equal(cw_map_to_text(again, &again_text, &again_len), CW_OK);
    assert_string_equal(text, again_text);
    free(text);
    free(again_text);
    return again;
}

/* A map of nodes places all keys likewise, and so does the map that its text is read into. Where a
 * profile has only numbers there are no nodes. */
static size_t check_as_map(const struct run *run, const struct cw_profile_map *map,
                           struct cw_profile_options *options)
{
    struct as_nodes *as = calloc(1, sizeof *as);
    struct cw_map *nodes = NULL;
    struct cw_error error = {0};
    assert_non_null(as);
    fill_nodes(as, map);
    options->nodes = as->servers;
    options->node_count = as->count;
    struct cw_map_options map_options = {.placement = CW_PLACEMENT_PROFILE,
                                         .nodes = as->nodes,
                                         .node_count = as->count,
                                         .profile = cw_profile_map_profile(map),
                                         .profile_options = options};
    if (as->count && cw_map_create(&map_options, &nodes, &error) != CW_OK)
        fail_msg("%s: %s", cw_profile_map_profile(map)->name, error.message);
    size_t count = as->count;
    if (nodes) {
        struct cw_map *again = read_back(nodes);
        check_keys(run, map, nodes);
        check_keys(run, map, again);
        cw_map_unref(&again);
    }
    cw_map_unref(&nodes);
    free(as);
    return count != 0;
}

static void run_case(struct run *run, struct golden_case *one)
{
    struct cw_profile_map *map = golden_map(one->profile, &one->options);
    size_t matches = count_matches(run, map, one->kind, one->file);
    print_message("%-36s %-44s %4zu of %d%s\n", one->profile, one->file, matches, GOLDEN_KEY_COUNT,
                  strcmp(one->kind, "set") == 0 ? " (sets)" : "");
    check_ways_agree(run, map);
    run->map_count += check_as_map(run, map, &one->options);
    run->case_count++;
    run->failed_count += matches != GOLDEN_KEY_COUNT;
    cw_profile_map_unref(&map);
}

static void every_golden_file_agrees_on_2000_of_2000_keys(void **state)
{
    static struct golden_cases cases; /* large */
    struct golden_case one;
    struct run run = {.keys = golden_lines("keys")};
    assert_int_equal(run.keys.count, GOLDEN_KEY_COUNT);
    golden_open(&cases);
    while (golden_next(&cases, &one))
        run_case(&run, &one);
    print_message("%zu golden files, %zu differ; %zu also as maps of nodes\n", run.case_count,
                  run.failed_count, run.map_count);
    golden_lines_free(&run.keys);
    assert_int_equal(run.failed_count, 0);
    assert_in_range(run.case_count, 1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_golden_file_agrees_on_2000_of_2000_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
