/*
 * Servers that are written oddly, in every profile: without a port, of weight 0 or less, twice, as
 * IPv6, as a unix socket. Each is an error that names the server, or what the system does; the same
 * table for people stands in docs/profiles.md.
 *
 * covers: profile_nodes
 */
#include "profiles/profile_helper.h"

/* What becomes of the odd one of two servers. */
#define NO_SOCKETS    "error: no unix sockets"
#define ASK_JAVA      "error: host/ip:port"
#define NOT_ZERO      "error: a whole number from 1"
#define NOT_ZERO_REAL "error: a number above 0"

/*
 * "error: ..."  refused, and the message says that
 * "name ..."    it is hashed by that name
 * "text"        by its text, which is no name (nginx hashes host and port apart)
 * "place"       by its place among the servers, whatever it is called
 * of weight 0:  "one" as weight 1, "none" it has no keys
 * twice:        "first", "second": one of the two has all keys, "both": each has its own
 */
struct row {
    const char *profile;
    const char *no_port, *zero, *twice, *ipv6, *socket;
};

static const struct row rows[] = {
    {"libmemcached-ketama-weighted", "name cache2", "one", "first", "name ::1:11212",
     "name /run/m.sock:0"},
    {"libmemcached-ketama-weighted-late", "name cache2", "one", "first", "name ::1:11212",
     "name /run/m.sock:0"},
    {"libmemcached-ketama", "name cache2", "one", "first", "name ::1:11212", "name /run/m.sock:0"},
    {"libmemcached-spy", "name /cache2:11211", "one", "first", "name /::1:11212", NO_SOCKETS},
    {"libmemcached-modula", "place", "one", "both", "place", "place"},
    {"twemproxy-ketama", "error: no port", NOT_ZERO, "error: twemproxy refuses", "name [::1]:11212",
     "name /run/m.sock:"},
    {"twemproxy-modula", "error: no port", NOT_ZERO, "error: twemproxy refuses", "place", "place"},
    {"libketama", "name cache2", NOT_ZERO, "first", "name [::1]:11212", "name /run/m.sock"},
    {"npm-hashring", "name cache2", NOT_ZERO, "first", "name [::1]:11212", "name /run/m.sock"},
    {"npm-hashring-vnodes", "name cache2", NOT_ZERO, "first", "name [::1]:11212",
     "name /run/m.sock"},
    {"npm-hashring-sha1-hash_ring", "name cache2", NOT_ZERO, "first", "name [::1]:11212",
     "name /run/m.sock"},
    {"npm-memcached", "name cache2", NOT_ZERO, "first", "name ::1:11212", NO_SOCKETS},
    {"hash_ring", "name cache2", NOT_ZERO, "second", "name [::1]:11212", "name /run/m.sock"},
    {"uhashring-ketama", "name cache2", NOT_ZERO, "second", "name [::1]:11212", "name /run/m.sock"},
    {"uhashring", "name cache2", NOT_ZERO, "second", "name [::1]:11212", "name /run/m.sock"},
    {"spymemcached-ketama", ASK_JAVA, "one", "second", ASK_JAVA, NO_SOCKETS},
    {"spymemcached-ketama-weighted", ASK_JAVA, NOT_ZERO, "second", ASK_JAVA, NO_SOCKETS},
    {"spymemcached-ketama-hash", ASK_JAVA, "one", "second", ASK_JAVA, NO_SOCKETS},
    {"spymemcached-libmemcached", "name cache2", "one", "second", "name ::1:11212", NO_SOCKETS},
    {"spymemcached-libmemcached-weighted", "name cache2", NOT_ZERO, "second", "name ::1:11212",
     NO_SOCKETS},
    {"spymemcached-modulo", "place", "one", "both", "place", "place"},
    {"xmemcached-ketama", ASK_JAVA, NOT_ZERO, "second", ASK_JAVA, NO_SOCKETS},
    {"xmemcached-ketama-nginx", "name cache2", NOT_ZERO, "second", "name ::1:11212", NO_SOCKETS},
    {"xmemcached-libmemcached", "name cache2", "one", "second", "name ::1:11212", NO_SOCKETS},
    {"xmemcached-array", "place", NOT_ZERO, "both", "place", "place"},
    {"nginx-hash-consistent", "text", NOT_ZERO, "first", "text", "text"},
    {"nginx-hash", "place", NOT_ZERO, "both", "place", "place"},
    {"cache-memcached-fast-ketama", "text", NOT_ZERO_REAL, "first", "text", "text"},
    {"cache-memcached-fast", "place", NOT_ZERO_REAL, "both", "place", "place"},
    {"haproxy-consistent", "place", "none", "both", "place", NO_SOCKETS},
    {"haproxy-3.0-consistent", "place", "none", "both", "place", NO_SOCKETS},
    {"haproxy-map-based", "place", "none", "both", "place", NO_SOCKETS},
    {"mcrouter-ch3", "place", "one", "both", "place", "place"},
    {"mcrouter-weighted-ch3", "place", "none", "both", "place", "place"},
    {"mcrouter-crc32", "place", "one", "both", "place", "place"},
    {"mcrouter-rendezvous", "name cache2", "one", "second", "name [::1]:11212", "name /run/m.sock"},
    {"mcrouter-weighted-rendezvous", "name cache2", NOT_ZERO_REAL, "first", "name [::1]:11212",
     "name /run/m.sock"},
    {"envoy-ring-hash", "name cache2", NOT_ZERO, "first", "name [::1]:11212", "name /run/m.sock"},
    {"grpc-ring-hash", "name cache2", NOT_ZERO, "first", "name [::1]:11212", "name /run/m.sock"},
    {"envoy-maglev", "name cache2", NOT_ZERO, "both", "name [::1]:11212", "name /run/m.sock"},
    {"envoy-maglev-host-order", "name cache2", NOT_ZERO, "both", "name [::1]:11212",
     "name /run/m.sock"},
    {"memcached-proxy-jump", "place", "one", "both", "place", "place"},
    {"memcached-proxy-ring", "name cache2:11211", "one", "first", "name ::1:11212", NO_SOCKETS},
    {"memcached-proxy-ring-ketama", "name cache2:11211", "one", "first", "name ::1:11212",
     NO_SOCKETS},
    {"memcached-proxy-ring-twemproxy", "name cache2", "one", "first", "name ::1:11212", NO_SOCKETS},
    {"memcached-proxy-ring-evcache", "name cache2/cache2:11211", "one", "first",
     "name ::1/::1:11212", NO_SOCKETS},
    {"dalli", "name cache2:11211", NOT_ZERO, "first", "name ::1:11212", NO_SOCKETS},
    {"pymemcache", "name cache2:11211", "one", "first", "name ::1:11212", NO_SOCKETS},
    {"pymemcache-bytes", "name cache2:11211", "one", "first", "name ::1:11212", NO_SOCKETS},
    {"memjs", "place", "one", "both", "place", "place"},
    {"gomemcache", "place", "one", "both", "place", "place"},
    {"pecl-memcache-consistent", "name cache2:11211", NOT_ZERO, "first", "name ::1:11212",
     NO_SOCKETS},
    {"pecl-memcache-standard", "place", NOT_ZERO, "both", "place", NO_SOCKETS},
    {"kafka", "place", "one", "both", "place", "place"},
    {"librdkafka-consistent", "place", "one", "both", "place", "place"},
    {"librdkafka-fnv1a", "place", "one", "both", "place", "place"},
    {"kafkajs-legacy", "place", "one", "both", "place", "place"},
    {"guava-consistent-hash", "place", "one", "both", "place", "place"},
    {"varnish-shard", "name cache2", NOT_ZERO_REAL, "first", "name [::1]:11212",
     "name /run/m.sock"},
    {"varnish-hash", "place", NOT_ZERO_REAL, "both", "place", "place"},
    {"carbon-ch", "name ('cache2', None)", "one", "both", "error: of IPv6 is not known",
     NO_SOCKETS},
    {"carbon-fnv1a-ch", "place", "one", "both", "error: of IPv6 is not known", NO_SOCKETS},
    {"couchbase-ketama", "name cache2", "one", "first", "name [::1]:11212", "name /run/m.sock"},
    {"groupcache", "name cache2", "one", "second", "name [::1]:11212", "name /run/m.sock"},
    {"stathat-consistent", "name cache2", "one", "second", "name [::1]:11212", "name /run/m.sock"},
    {"buraksezer-consistent", "name cache2", "one", "error: not enough room", "name [::1]:11212",
     "name /run/m.sock"},
    {"buraksezer-consistent-0", "name cache2", "one", "error: not enough room", "name [::1]:11212",
     "name /run/m.sock"},
    {"ex_hash_ring", "name cache2", NOT_ZERO_REAL, "first", "name [::1]:11212", "name /run/m.sock"},
};

enum { ROW_COUNT = sizeof rows / sizeof *rows, KEYS = 1000 };

/* Two servers, the second one given; NULL when they are refused. */
static struct cw_profile_map *make_two(const char *profile, node second, struct cw_error *error)
{
    node nodes[] = {{.address = "10.0.0.1:11211", .weight = 1}, second};
    struct cw_profile_options options = {.nodes = nodes, .node_count = 2};
    struct cw_profile_map *map = NULL;
    *error = (struct cw_error){0};
    cw_profile_map_create(cw_profile_find(profile), &options, &map, error);
    return map;
}

static uint32_t owner_of(const struct cw_profile_map *map, unsigned number)
{
    char key[16];
    size_t len = (size_t)snprintf(key, sizeof key, "key:%u", number);
    return cw_profile_locate(map, key, len);
}

static unsigned count_second(const struct cw_profile_map *map)
{
    unsigned count = 0;
    for (unsigned i = 0; i < KEYS; i++)
        count += owner_of(map, i) == 1;
    return count;
}

static int is_same(const struct cw_profile_map *map, const char *profile, node second)
{
    struct cw_error error;
    struct cw_profile_map *other = make_two(profile, second, &error);
    unsigned same = 0;
    if (!other)
        fail_msg("%s refuses what it is compared with: %s", profile, error.message);
    for (unsigned i = 0; i < KEYS; i++)
        same += owner_of(map, i) == owner_of(other, i);
    cw_profile_map_unref(&other);
    return same == KEYS;
}

static int is_what(const struct cw_profile_map *map, const char *profile, node odd,
                   const char *what)
{
    unsigned second = count_second(map);
    node other = {.address = "10.9.9.9:1", .weight = 1};
    if (strcmp(what, "place") == 0)
        return is_same(map, profile, other);
    if (strcmp(what, "one") == 0)
        return is_same(map, profile, (node){.address = odd.address, .weight = 1});
    if (strncmp(what, "name ", 5) == 0) {
        other.name = what + 5;
        return is_same(map, profile, other) && second > 0;
    }
    if (strcmp(what, "text") == 0)
        return !is_same(map, profile, other) && second > KEYS / 4 && second < KEYS * 3 / 4;
    if (strcmp(what, "both") == 0)
        return second > 0 && second < KEYS;
    return second == (strcmp(what, "second") == 0 ? KEYS : 0); /* or "first", "none" */
}

static void check(const char *profile, node odd, const char *what)
{
    struct cw_error error;
    struct cw_profile_map *map = make_two(profile, odd, &error);
    int is_refused = strncmp(what, "error: ", 7) == 0;
    if (!map && !is_refused)
        fail_msg("%s refuses '%s' of weight %g: %s", profile, odd.address, odd.weight,
                 error.message);
    if (map && is_refused)
        fail_msg("%s takes '%s' of weight %g, which should be %s", profile, odd.address, odd.weight,
                 what);
    if (!map && !strstr(error.message, what + 7))
        fail_msg("%s says '%s', which should be %s", profile, error.message, what);
    if (map && !is_what(map, profile, odd, what))
        fail_msg("%s: '%s' of weight %g is not '%s'", profile, odd.address, odd.weight, what);
    cw_profile_map_unref(&map);
}

static void every_profile_that_has_servers_is_in_the_table(void **state)
{
    size_t at = 0;
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        if (profile->settings & CW_PROFILE_TOPOLOGY || !strcmp(profile->name, "couchbase-vbucket"))
            continue; /* they place on what the cluster says, or on numbers */
        assert_in_range(at, 0, ROW_COUNT - 1);
        assert_string_equal(rows[at++].profile, profile->name);
    }
    assert_int_equal(at, ROW_COUNT);
}

static void
a_server_without_a_port_is_refused_or_has_the_name_that_the_system_gives_it(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        check(rows[i].profile, (node){.address = "cache2", .weight = 1}, rows[i].no_port);
}

static void a_weight_of_0_is_refused_or_what_it_is_to_the_system(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        check(rows[i].profile, (node){.address = "10.0.0.2:11211"}, rows[i].zero);
}

static void no_system_has_weights_below_0_or_that_are_no_numbers(void **state)
{
    static const double weights[] = {-1, -0.5, -1e300, NAN, -INFINITY};
    for (size_t i = 0; i < ROW_COUNT; i++)
        for (size_t j = 0; j < sizeof weights / sizeof *weights; j++)
            check(rows[i].profile, (node){.address = "10.0.0.2:11211", .weight = weights[j]},
                  "error: server '10.0.0.2:11211' has weight");
}

static void a_server_that_stands_twice_is_refused_or_what_the_system_makes_of_it(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        check(rows[i].profile, (node){.address = "10.0.0.1:11211", .weight = 1}, rows[i].twice);
}

static void ipv6_is_refused_or_has_the_name_that_the_system_gives_it(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        check(rows[i].profile, (node){.address = "[::1]:11212", .weight = 1}, rows[i].ipv6);
}

static void a_unix_socket_is_refused_or_has_the_name_that_the_system_gives_it(void **state)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        check(rows[i].profile, (node){.address = "/run/m.sock", .weight = 1}, rows[i].socket);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_that_has_servers_is_in_the_table),
        cmocka_unit_test(
            a_server_without_a_port_is_refused_or_has_the_name_that_the_system_gives_it),
        cmocka_unit_test(a_weight_of_0_is_refused_or_what_it_is_to_the_system),
        cmocka_unit_test(no_system_has_weights_below_0_or_that_are_no_numbers),
        cmocka_unit_test(a_server_that_stands_twice_is_refused_or_what_the_system_makes_of_it),
        cmocka_unit_test(ipv6_is_refused_or_has_the_name_that_the_system_gives_it),
        cmocka_unit_test(a_unix_socket_is_refused_or_has_the_name_that_the_system_gives_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
