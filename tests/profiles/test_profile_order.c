/*
 * Where the order of servers is the placement and where it is not, over every golden fleet; counts
 * of points in 32-bit floats; keys with bytes above 127. Ties are in test_profile.c.
 *
 * covers: profile_nodes, profile_count, profile_hash
 */
#include "profiles/profile_golden.h"

static struct lines keys;

static int set_up(void **state)
{
    keys = golden_lines("keys");
    return keys.count != GOLDEN_KEY_COUNT;
}

static int tear_down(void **state)
{
    golden_lines_free(&keys);
    return 0;
}

static int is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > 127)
            return 0;
    return 1;
}

/* The text of the key's server, which tells servers apart whatever their numbers are. */
static const char *server_of(const struct cw_profile_map *map, const char *key)
{
    const struct cw_profile_node *node = cw_profile_map_node(
        map, cw_profile_locate(map, key, strlen(key)));
    return node ? node->address : "none";
}

static unsigned count_moved(const struct cw_profile_map *one, const struct cw_profile_map *other)
{
    unsigned moved = 0;
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++)
        moved += strcmp(server_of(one, keys.list[i]), server_of(other, keys.list[i])) != 0;
    return moved;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Profiles that place by the order of the servers. HAProxy does where servers have no number of
 * their own, and by address where two servers have one. carbon does where points meet: with 16 bits
 * that is here and there. */
static int order_matters(const struct golden_case *one)
{
    static const char *const names[] = {
        "libmemcached-modula",
        "spymemcached-modulo",
        "xmemcached-array",
        "nginx-hash",
        "cache-memcached-fast",
        "mcrouter-ch3",
        "mcrouter-weighted-ch3",
        "mcrouter-crc32",
        "memcached-proxy-jump",
        "memjs",
        "gomemcache",
        "pecl-memcache-standard",
        "varnish-hash",
        "carbon-ch",
        "carbon-fnv1a-ch",
        "guava-consistent-hash",
    };
    const char *server_key = one->options.server_key;
    if (strncmp(one->profile, "haproxy-", 8) == 0)
        return server_key ? strcmp(server_key, "addr") == 0 : one->fleet->nodes[0].number == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(one->profile, names[i]) == 0)
            return 1;
    return 0;
}

/* The same order each time, far from the given one. */
static void shuffle(struct cw_profile_node *nodes, size_t count, uint32_t seed)
{
    for (size_t i = count - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        size_t at = (seed >> 8) % (i + 1);
        struct cw_profile_node node = nodes[i];
        nodes[i] = nodes[at];
        nodes[at] = node;
    }
}

/* The most keys that move in some shuffled orders. */
static unsigned move_by_shuffling(const struct golden_case *one)
{
    static struct cw_profile_node nodes[FLEET_NODES_MAX];
    struct cw_profile_options options = one->options;
    struct cw_profile_map *map = golden_map(one->profile, &options);
    unsigned most = 0;
    options.nodes = nodes;
    for (uint32_t seed = 1; seed <= 5; seed++) {
        memcpy(nodes, one->fleet->nodes, one->fleet->count * sizeof *nodes);
        shuffle(nodes, one->fleet->count, seed);
        struct cw_profile_map *shuffled = golden_map(one->profile, &options);
        unsigned moved = count_moved(map, shuffled);
        most = moved > most ? moved : most;
        cw_profile_map_unref(&shuffled);
    }
    cw_profile_map_unref(&map);
    return most;
}

static void
a_shuffled_golden_fleet_is_the_same_placement_unless_order_is_the_placement(void **state)
{
    static struct golden_cases cases; /* large */
    struct golden_case one;
    unsigned by_order = 0, by_names = 0;
    golden_open(&cases);
    while (golden_next(&cases, &one)) {
        if (!one.fleet || one.fleet->count < 2)
            continue;
        unsigned moved = move_by_shuffling(&one);
        int matters = order_matters(&one);
        by_order += matters != 0;
        by_names += !matters;
        if ((moved > 0) != matters)
            fail_msg("%s (%s): %u of 2000 keys move when servers change places", one.profile,
                     one.file, moved);
    }
    assert_in_range(by_order, 20, 1000);
    assert_in_range(by_names, 20, 1000);
}

/* twemproxy sorts by the length of names, libmemcached takes the order of the calls: of names that
 * are not in both orders, divided alike, each makes something else. */
static void twemproxy_sorts_by_length_and_libmemcached_takes_the_order_of_calls(void **state)
{
    struct cw_profile_node nodes[] = {{.address = "10.0.0.30:11211", .weight = 1},
                                      {.address = "10.0.0.4:11211", .weight = 1},
                                      {.address = "10.0.0.10:11211", .weight = 1}};
    struct cw_profile_node sorted[] = {nodes[1], nodes[2], nodes[0]};
    struct cw_profile_node bytes[] = {nodes[2], nodes[0], nodes[1]};
    struct cw_profile_options options = {.nodes = nodes, .node_count = 3, .hash = "fnv1a_64"};
    struct cw_profile_map *nutcracker = golden_map("twemproxy-modula", &options);
    struct cw_profile_map *given = golden_map("libmemcached-modula", &options);
    options.nodes = sorted;
    struct cw_profile_map *by_length = golden_map("libmemcached-modula", &options);
    options.nodes = bytes;
    struct cw_profile_map *by_bytes = golden_map("libmemcached-modula", &options);
    assert_int_equal(count_moved(nutcracker, by_length), 0);
    assert_in_range(count_moved(nutcracker, given), 1000, 2000);
    assert_in_range(count_moved(nutcracker, by_bytes), 1000, 2000);
    assert_in_range(count_moved(given, by_length), 1000, 2000);
    cw_profile_map_unref(&nutcracker);
    cw_profile_map_unref(&given);
    cw_profile_map_unref(&by_length);
    cw_profile_map_unref(&by_bytes);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* Keys that libmemcached and a relative place differently over n equal servers. */
static unsigned count_different(const char *relative, size_t n)
{
    static char addresses[64][48];
    struct cw_profile_node nodes[64];
    for (size_t i = 0; i < n; i++) {
        snprintf(addresses[i], sizeof addresses[i], "10.0.1.%zu:11211", i + 1);
        nodes[i] = (struct cw_profile_node){.address = addresses[i], .weight = 1};
    }
    struct cw_profile_options options = {.nodes = nodes, .node_count = n};
    struct cw_profile_map *other = golden_map(relative, &options);
    options.hash = "md5";
    struct cw_profile_map *map = golden_map("libmemcached-ketama-weighted", &options);
    unsigned different = count_moved(map, other);
    cw_profile_map_unref(&map);
    cw_profile_map_unref(&other);
    return different;
}

/* npm's memcached has the same names and points, counted in doubles; spymemcached counts in floats
 * too. That the floats are the very ones is what the golden files of 25, 47 and 61 servers say. */
static void points_are_lost_at_25_47_and_61_servers_where_counts_are_32_bit_floats(void **state)
{
    static const size_t lossy[] = {25, 47, 61}, whole[] = {5, 24, 26, 46, 60};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        assert_int_equal(count_different("npm-memcached", whole[i]), 0);
    for (size_t i = 0; i < sizeof lossy / sizeof *lossy; i++) {
        assert_in_range(count_different("npm-memcached", lossy[i]), 5, 200);
        assert_int_equal(count_different("spymemcached-libmemcached-weighted", lossy[i]), 0);
    }
}

/* ---- bytes above 127 ------------------------------------------------------------------------- */

static void only_keys_with_bytes_above_127_know_signed_from_unsigned_chars(void **state)
{
    static struct golden_cases cases; /* large */
    struct golden_case one;
    unsigned high = 0, cases_that_move = 0;
    for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++)
        high += !is_ascii(keys.list[i]);
    assert_in_range(high, 100, 1000); /* or no golden file would have seen them */
    golden_open(&cases);
    while (golden_next(&cases, &one)) {
        if (!one.fleet || !(cw_profile_find(one.profile)->settings & CW_PROFILE_UNSIGNED_CHAR))
            continue;
        unsigned moved = 0;
        struct cw_profile_map *x86 = golden_map(one.profile, &one.options);
        one.options.unsigned_char = 1;
        struct cw_profile_map *arm = golden_map(one.profile, &one.options);
        for (size_t i = 0; i < GOLDEN_KEY_COUNT; i++) {
            int same = strcmp(server_of(x86, keys.list[i]), server_of(arm, keys.list[i])) == 0;
            if (!same && is_ascii(keys.list[i]))
                fail_msg("%s: the ASCII key '%s' moves", one.file, keys.list[i]);
            moved += !same;
        }
        cases_that_move += moved > high / 4;
        cw_profile_map_unref(&x86);
        cw_profile_map_unref(&arm);
    }
    assert_in_range(cases_that_move, 10, 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_shuffled_golden_fleet_is_the_same_placement_unless_order_is_the_placement),
        cmocka_unit_test(twemproxy_sorts_by_length_and_libmemcached_takes_the_order_of_calls),
        cmocka_unit_test(points_are_lost_at_25_47_and_61_servers_where_counts_are_32_bit_floats),
        cmocka_unit_test(only_keys_with_bytes_above_127_know_signed_from_unsigned_chars),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
