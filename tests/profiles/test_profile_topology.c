/*
 * What clusters say of themselves, read into slots and tokens.
 *
 * covers: profile_topology, profile_topology_redis, profile_topology_cassandra
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <clockwise/profile.h>

static const char cluster_nodes[] =
    "07c37dfeb235213a872192d90877d0cd55635b91 127.0.0.1:30004@31004,hostname4 slave "
    "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 0 1426238317239 4 connected\n"
    "67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1 127.0.0.1:30002@31002,hostname2 master - 0 "
    "1426238316232 2 connected 5461-10922\n"
    "292f8b365bb7edb5e285caf0b7e6ddc7265d2f4f 127.0.0.1:30003@31003 master - 0 1426238318243 3 "
    "connected 10923-16382 16383 [77->-e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca]\n"
    "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 127.0.0.1:30001@31001 myself,master - 0 0 1 "
    "connected 0-5460\n";

static const char slots_for_people[] = "1) 1) (integer) 0\n"
                                       "   2) (integer) 5460\n"
                                       "   3) 1) \"127.0.0.1\"\n"
                                       "      2) (integer) 30001\n"
                                       "      3) \"09dbe9720cda62f7865eabc5fd8857c5d2678366\"\n"
                                       "      4) 1) hostname\n"
                                       "         2) \"host-1.redis.example.com\"\n"
                                       "   4) 1) \"127.0.0.1\"\n"
                                       "      2) (integer) 30004\n"
                                       "      3) \"821d8ca00d7ccf931ed3ffc7e3db0599d2271abf\"\n"
                                       "      4) (empty array)\n"
                                       "2) 1) (integer) 5461\n"
                                       "   2) (integer) 16383\n"
                                       "   3) 1) \"127.0.0.1\"\n"
                                       "      2) (integer) 30002\n"
                                       "      3) \"c9d93d9f2c0c524ff34cc11838c2003d8c29e013\"\n"
                                       "      4) (empty array)\n";

static const char slots_raw[] = "0\n5460\n127.0.0.1\n30001\n09dbe9720cda62f7865eabc5fd8857c5\n\n"
                                "127.0.0.1\n30004\n821d8ca00d7ccf931ed3ffc7e3db0599d2271abf\n\n"
                                "5461\n16383\n127.0.0.1\n30002\nc9d93d9f2c0c524ff34cc11838c2\n\n";

static int make(const char *profile, const char *text, size_t len, struct cw_profile_map **ret_map,
                struct cw_error *error)
{
    struct cw_profile_options options = {.topology = text, .topology_len = len};
    return cw_profile_map_create(cw_profile_find(profile), &options, ret_map, error);
}

static void assert_owner(const struct cw_profile_map *map, const char *key, const char *address)
{
    const struct cw_profile_node *node = cw_profile_map_node(
        map, cw_profile_locate(map, key, strlen(key)));
    assert_non_null(node);
    assert_string_equal(node->address, address);
}

/* Slots: a 15495, b 3300, c 7365, {b}x as b. */
static void assert_three(const char *text, size_t len, const char *of_a, const char *of_c)
{
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    if (make("redis-cluster", text, len, &map, &error) != CW_OK)
        fail_msg("%s", error.message);
    assert_owner(map, "a", of_a);
    assert_owner(map, "b", "127.0.0.1:30001");
    assert_owner(map, "x{b}y", "127.0.0.1:30001");
    assert_owner(map, "c", of_c);
    cw_profile_map_unref(&map);
    assert_null(map);
}

static void cluster_nodes_gives_masters_and_their_slots(void **state)
{
    assert_three(cluster_nodes, strlen(cluster_nodes), "127.0.0.1:30003", "127.0.0.1:30002");
}

static void cluster_slots_is_read_as_printed_for_people_and_raw(void **state)
{
    assert_three(slots_for_people, strlen(slots_for_people), "127.0.0.1:30002", "127.0.0.1:30002");
    assert_three(slots_raw, strlen(slots_raw), "127.0.0.1:30002", "127.0.0.1:30002");
}

static void crlf_and_a_byte_order_mark_change_nothing(void **state)
{
    char text[2048] = "\xef\xbb\xbf";
    size_t len = 3;
    for (const char *at = cluster_nodes; *at; at++) {
        if (*at == '\n')
            text[len++] = '\r';
        text[len++] = *at;
    }
    assert_three(text, len, "127.0.0.1:30003", "127.0.0.1:30002");
}

static void a_slot_that_nobody_owns_is_no_place(void **state)
{
    struct cw_profile_map *map = NULL;
    static const char text[] = "0\n5460\n127.0.0.1\n30001\nid\n";
    assert_int_equal(make("redis-cluster", text, strlen(text), &map, NULL), CW_OK);
    assert_int_equal(cw_profile_locate(map, "a", 1), CW_NO_NODE);
    assert_int_equal(cw_profile_position(map, "a", 1), 15495);
    assert_true(cw_profile_map_share(map, 0) == 5461.0 / 16384);
    cw_profile_map_unref(&map);
}

static void a_topology_that_makes_no_sense_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *says;
    } cases[] = {
        {"", 0, "no node owns a slot"},
        {"hello\n", 1, "no node owns a slot"},
        {"id 1.1.1.1:1@2 master - 0 0 1 connected 0-5\nid 1.1.1.1:2@2 master -\n", 2, "8 words"},
        {"id 1.1.1.1:1@2 master - 0 0 1 connected 5-0\n", 1, "no range of slots"},
        {"id 1.1.1.1:1@2 master - 0 0 1 connected 0-16384\n", 1, "no range of slots"},
        {"id 1.1.1.1:1@2 master - 0 0 1 connected 0-5 5\n", 0, "two owners"},
        {"0\n16384\n127.0.0.1\n30001\n", 2, "no range of slots"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_profile_map *map = NULL;
        struct cw_error error = {0};
        assert_int_equal(make("redis-cluster", cases[i].text, strlen(cases[i].text), &map, &error),
                         CW_EBAD_TEXT);
        assert_int_equal(error.line, cases[i].line);
        if (!strstr(error.message, cases[i].says))
            fail_msg("'%s' does not say '%s'", error.message, cases[i].says);
    }
}

/* ---- Cassandra ------------------------------------------------------------------------------- */

static const char nodetool_ring[] =
    "\n"
    "Datacenter: dc1\n"
    "==========\n"
    "Address    Rack   Status State   Load        Owns    Token\n"
    "                                                     4611686018427387904\n"
    "10.0.0.1   r1     Up     Normal  70.2 KiB    50.00%  -4611686018427387904\n"
    "10.0.0.2   r2     Down   Normal  ?           50.00%  0\n"
    "10.0.0.3   r1     Up     Leaving 1 MiB       ?       4611686018427387904\n"
    "\n"
    "Datacenter: dc2\n"
    "==========\n"
    "Address    Rack   Status State   Load        Owns    Token\n"
    "                                                     5\n"
    "10.1.0.1   r1     Up     Normal  70.2 KiB    50.00%  5\n"
    "\n"
    "  Warning: \"nodetool ring\" is used to output all the tokens of a node.\n";

static void nodetool_ring_gives_tokens_datacenters_and_racks(void **state)
{
    struct cw_profile_options options = {.topology = nodetool_ring,
                                         .topology_len = strlen(nodetool_ring),
                                         .replication = "dc2:1,dc1:2"};
    struct cw_profile_map *map = NULL;
    uint32_t nodes[4];
    assert_int_equal(cw_profile_map_create(cw_profile_find("cassandra"), &options, &map, NULL),
                     CW_OK);
    assert_int_equal(cw_profile_map_node_count(map), 4);
    /* The token of "a" is -8839064797231613815, before all of these. */
    assert_owner(map, "a", "10.0.0.1");
    assert_int_equal(cw_profile_locate_n(map, "a", 1, 4, nodes), 3);
    assert_string_equal(cw_profile_map_node(map, nodes[0])->address, "10.1.0.1");
    assert_string_equal(cw_profile_map_node(map, nodes[1])->address, "10.0.0.1");
    assert_string_equal(cw_profile_map_node(map, nodes[2])->address, "10.0.0.2");
    assert_int_equal(cw_profile_locate_n(map, "a", 1, 2, nodes), 2);
    assert_true(cw_profile_map_share(map, 0) == 0.5);
    cw_profile_map_unref(&map);
}

static void a_ring_that_makes_no_sense_is_refused_with_its_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
    } cases[] = {{"", 0},
                 {"# nothing\n", 1},
                 {"10.0.0.1 dc1 r1\n", 1},
                 {"10.0.0.1 dc1 r1 1,x\n", 1},
                 {"10.0.0.1 dc1 r1 1\n10.0.0.2 dc1 r1 \n", 2},
                 {"Datacenter: d\n10.0.0.1 r1 Up\n", 2},
                 {"Datacenter: d\n10.0.0.1 r1 Up Normal 1 MiB x 12e\n", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_profile_map *map = NULL;
        struct cw_error error = {0};
        assert_int_equal(make("cassandra", cases[i].text, strlen(cases[i].text), &map, &error),
                         CW_EBAD_TEXT);
        assert_int_equal(error.line, cases[i].line);
    }
}

/* Ten thousand nodes with three tokens each: the text is read in its length, not its square. */
static void a_large_ring_is_read(void **state)
{
    enum { NODES = 10000, LINE = 64 };
    char *text = malloc(NODES * 3 * LINE);
    size_t len = 0;
    assert_non_null(text);
    for (unsigned i = 0; i < NODES * 3; i++)
        len += (size_t)snprintf(text + len, LINE, "10.%u.%u.1 dc%u r%u %u\n", i % NODES / 250,
                                i % 250, i % 2, i % 10, i * 7);
    struct cw_profile_map *map = NULL;
    assert_int_equal(make("cassandra", text, len, &map, NULL), CW_OK);
    assert_int_equal(cw_profile_map_node_count(map), NODES);
    cw_profile_map_unref(&map);
    free(text);
}

/* Whatever is cut off, the answer is a map or an error, and nothing is read past the end. */
static void a_text_cut_at_any_byte_is_read_or_refused(void **state)
{
    const char *const texts[] = {cluster_nodes, slots_for_people, slots_raw, nodetool_ring};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t len = 0; len <= strlen(texts[i]); len++) {
            struct cw_profile_map *map = NULL;
            char *copy = malloc(len ? len : 1);
            assert_non_null(copy);
            memcpy(copy, texts[i], len);
            int status = make(i < 3 ? "redis-cluster" : "cassandra", copy, len, &map, NULL);
            assert_true(status == CW_OK || (status < 0 && !map));
            cw_profile_map_unref(&map);
            free(copy);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cluster_nodes_gives_masters_and_their_slots),
        cmocka_unit_test(cluster_slots_is_read_as_printed_for_people_and_raw),
        cmocka_unit_test(crlf_and_a_byte_order_mark_change_nothing),
        cmocka_unit_test(a_slot_that_nobody_owns_is_no_place),
        cmocka_unit_test(a_topology_that_makes_no_sense_is_refused_with_its_line),
        cmocka_unit_test(nodetool_ring_gives_tokens_datacenters_and_racks),
        cmocka_unit_test(a_ring_that_makes_no_sense_is_refused_with_its_line),
        cmocka_unit_test(a_large_ring_is_read),
        cmocka_unit_test(a_text_cut_at_any_byte_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
