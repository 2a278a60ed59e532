/* covers: cli/import_yaml, cli/import_picture, cli/import_check, cli/import_write */
#include "cli/import_helper.h"

#define POOL "p:\n  listen: 127.0.0.1:1\n  timeout: 100\n"

static void gives(const char *text, const char *pools)
{
    becomes(&import_format_nutcracker, NULL, text, pools);
}

static void wrong(const char *text, const char *remark)
{
    says(&import_format_nutcracker, NULL, IMPORT_WRONG, text, remark);
}

static void note(const char *text, const char *remark)
{
    says(&import_format_nutcracker, NULL, IMPORT_NOTE, text, remark);
}

static void a_redis_pool_keeps_its_names_weights_tag_and_order(void **state)
{
    gives("beta:\n"
          "  listen: 127.0.0.1:22122\n"
          "  hash: fnv1a_64\n"
          "  hash_tag: \"{}\"\n"
          "  distribution: ketama\n"
          "  timeout: 400\n"
          "  redis: true\n"
          "  redis_auth: 'p\"w'\n"
          "  server_connections: 2\n"
          "  servers:\n"
          "   - 10.0.0.3:6380:1 server-3\n"
          "   - 10.0.0.10:6381:7 b\n"
          "   - 10.0.0.2:6379:1\n",
          "  beta:\n"
          "    listen: 127.0.0.1:22122\n"
          "    engine: redis\n"
          "    placement: twemproxy-ketama\n"
          "    profile: {hash: fnv1a_64, tag: \"{}\"}\n"
          "    timeout: 400ms\n"
          "    connections: 2\n"
          "    password: \"p\\\"w\"\n"
          "    client_password: \"p\\\"w\"\n"
          "    nodes:\n"
          "      - {id: server-3, address: 10.0.0.3:6380, name: server-3}\n"
          "      - {id: b, address: 10.0.0.10:6381, name: b, weight: 7}\n"
          "      - {id: 10.0.0.2:6379, address: 10.0.0.2:6379}\n");
}

static void all_pools_are_read_and_one_if_it_is_named(void **state)
{
    static const char text[] = POOL "  distribution: modula\n  servers: [h:1:1]\n"
                                    "q:\n  listen: l:8\n  timeout: 1\n  servers: [h:2:1]\n";
    import_from(&import_format_nutcracker, NULL, text, strlen(text));
    assert_int_equal(imported.import.pool_count, 2);
    assert_string_equal(imported.import.pools[0].profile->name, "twemproxy-modula");
    assert_string_equal(imported.import.pools[1].profile->name, "twemproxy-ketama");
    done();
    import_from(&import_format_nutcracker, "q", text, strlen(text));
    assert_int_equal(imported.import.pool_count, 1);
    assert_string_equal(imported.import.pools[0].name, "q");
    done();
}

static void ipv6_and_sockets_are_hashed_as_written_and_connected_to_as_we_write_them(void **state)
{
    gives(POOL "  redis: true\n  servers:\n   - ::1:6379:1\n   - /run/r.sock:2\n   - /run/q:1 q\n",
          "  p:\n"
          "    listen: 127.0.0.1:1\n"
          "    engine: redis\n"
          "    placement: twemproxy-ketama\n"
          "    timeout: 100ms\n"
          "    nodes:\n"
          "      - {id: \"[::1]:6379\", address: \"[::1]:6379\", server: \"::1:6379\"}\n"
          "      - {id: unix:/run/r.sock, address: unix:/run/r.sock, weight: 2}\n"
          "      - {id: q, address: unix:/run/q, name: q}\n");
}

static void names_that_are_no_ids_stay_names(void **state)
{
    import_from(&import_format_nutcracker, NULL, POOL "  servers: ['h:1:1 \xc3\xa9', 'h:2:1 b']\n",
                strlen(POOL "  servers: ['h:1:1 \xc3\xa9', 'h:2:1 b']\n"));
    assert_non_null(strstr(pools_of_result(), "{id: h:1, address: h:1, name: \"\xc3\xa9\"}"));
    done();
}

static void line_ends_and_a_byte_order_mark_are_no_matter(void **state)
{
    gives("p:\r\n  listen: l:9\r\n  timeout: 1\r\n  redis: true\r\n  servers:\r\n  - h:1:1\r\n",
          "  p:\n    listen: l:9\n    engine: redis\n    placement: twemproxy-ketama\n"
          "    timeout: 1ms\n    nodes:\n      - {id: h:1, address: h:1}\n");
}

static void a_server_that_nutcracker_refuses_is_refused_in_its_line(void **state)
{
    static const char *const bad[][2] = {
        {"h", "write host:port:weight"},
        {"h:1", "write host:port:weight"},
        {"':1:1'", "write host:port:weight"},
        {"/p", "write host:port:weight"},
        {"h:1:0", "a weight of 0, which nutcracker refuses"},
        {"h:1:-1", "the weight is not a whole number"},
        {"h:1:x", "the weight is not a whole number"},
        {"h:1:1.5", "the weight is not a whole number"},
        {"h:1:99999999999999999999", "the weight is not a whole number"},
        {"h:1:1 two names", "the weight is not a whole number"},
        {"h:1:1  x", "the weight is not a whole number"},
        {"h:0:1", "the port is not a number"},
        {"h:65536:1", "the port is not a number"},
        {"h:p:1", "the port is not a number"},
        {"{a: 1}", "a map where a server must stand"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, POOL "  servers:\n   - a:1:1\n   - %s\n", bad[i][0]);
        wrong(text, bad[i][1]);
        wrong(text, "f:6: ");
    }
}

static void two_servers_of_one_name_are_refused_at_the_second(void **state)
{
    wrong(POOL "  servers:\n   - h:11211:1\n   - b:1:1\n   - x:5:1 h\n",
          "f:7: a second server of the name 'h' (the first is in line 5)");
    wrong(POOL "  servers:\n   - h:1:1\n   - h:1:2\n", "f:6: a second server of the name 'h:1'");
}

static void directives_are_checked_as_nutcracker_checks_them(void **state)
{
    static const char *const bad[][2] = {
        {"redis: yes", "f:4: option 'redis': 'yes' is neither true nor false"},
        {"hash: crc64", "f:4: option 'hash': nutcracker knows no 'crc64'"},
        {"hash_tag: '{'", "f:4: option 'hash_tag': must be two characters"},
        {"distribution: ketma", "f:4: option 'distribution': nutcracker knows no 'ketma'; write "
                                "ketama"},
        {"timeout: 1", "f:4:3: 'timeout' is here a second time"},
        {"backlog: -1", "f:4: option 'backlog': '-1' is not a whole number"},
        {"server_connections: 0", "f:4: option 'server_connections': nutcracker refuses 0"},
        {"redis_auth: x", "f:4: option 'redis_auth': the pool is not redis"},
        {"auto_eject_host: true", "no such directive; did you mean auto_eject_hosts"},
        {"listen: 1", "'listen' is here a second time"},
        {"hash: [a]", "option 'hash': a list where one value must stand"},
        {"redis: &a true", "f:4:10: anchors (&name) are not supported"},
        {"redis: *a", "f:4:10: aliases (*name) are not supported"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, POOL "  %s\n  servers: ['h:1:1']\n", bad[i][0]);
        wrong(text, bad[i][1]);
    }
    wrong("p:\n  listen: h\n  servers: ['h:1:1']\n", "f:2: option 'listen': no host:port");
    wrong(POOL, "f:1: pool 'p' has no list of servers");
    wrong(POOL "  servers: []\n", "f:4: pool 'p' has no list of servers");
    wrong("p: 1\n", "f:1: pool 'p' is a value");
    wrong("- p\n", "f:1: a list where a map from names to pools must stand");
    wrong("", "nothing where a map");
    wrong("p: [\n", "f:2:1: not YAML");
    wrong("p:\n\ta: 1\n", "a tab");
}

static void what_does_not_move_keys_is_a_note(void **state)
{
    static const char *const notes[][2] = {
        {"auto_eject_hosts: true", "f:4: option 'auto_eject_hosts': unless on_node_down says"},
        {"backlog: 512", "option 'backlog': not carried over"},
        {"client_connections: 5", "option 'client_connections'"},
        {"tcpkeepalive: true", "option 'tcpkeepalive'"},
        {"server_retry_timeout: 2000", "option 'server_retry_timeout'"},
        {"server_failure_limit: 2", "option 'server_failure_limit'"},
        {"server_connections: 17", "it is 16 here"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        char text[256];
        snprintf(text, sizeof text, POOL "  %s\n  servers: ['h:1:1']\n", notes[i][0]);
        note(text, notes[i][1]);
    }
    note("p:\n  listen: l:9\n  servers: ['h:1:1']\n", "f:1: option 'timeout': pool 'p' has none");
    note("p:\n  listen: l:9\n  timeout: 99999999\n  servers: ['h:1:1']\n", "an hour here");
    note("p:\n  listen: /l 0666\n  timeout: 1\n  servers: ['h:1:1']\n", "the socket's mode");
    note("a b:\n  listen: l:9\n  timeout: 1\n  servers: ['h:1:1']\n",
         "pool 'a b' is called 'a-b' here");
}

static void what_cannot_move_over_without_misses_is_said_to_move_keys(void **state)
{
    says(&import_format_nutcracker, NULL, IMPORT_MOVES,
         POOL "  distribution: random\n  servers: ['h:1:1']\n",
         "f:4: option 'distribution': random is no placement");
    says(&import_format_nutcracker, NULL, IMPORT_MOVES,
         POOL "  redis: true\n  redis_db: 3\n  servers: ['h:1:1']\n",
         "f:5: option 'redis_db': clockwise uses database 0 alone");
}

static void remarks_are_bounded_and_wrong_ones_are_kept(void **state)
{
    struct buffer text = BUFFER_INIT;
    for (unsigned i = 0; i < 150; i++)
        buffer_printf(&text, "p%u:\n  listen: l:9\n  backlog: 1\n  servers: ['h:1:1']\n", i);
    buffer_append_text(&text, "q:\n  redis: 1\n  servers: ['h:1:1']\n");
    import_from(&import_format_nutcracker, NULL, buffer_bytes(&text), text.len);
    assert_int_equal(imported.import.remark_count, IMPORT_REMARK_COUNT_MAX);
    assert_non_null(strstr(buffer_bytes(&imported.said), "f:602: option 'redis': '1' is neither"));
    assert_non_null(strstr(buffer_bytes(&imported.said), "f: and 102 more\n"));
    buffer_release(&text);
    done();
}

static void a_hundred_thousand_servers_are_read_and_one_more_is_refused(void **state)
{
    struct buffer text = BUFFER_INIT;
    buffer_append_text(&text, POOL "  distribution: modula\n  servers:\n");
    for (unsigned i = 0; i < CW_NODE_COUNT_MAX; i++)
        buffer_printf(&text, "   - 10.%u.%u.%u:11211:1 a-server-of-a-large-fleet-%u\n", i >> 16,
                      i >> 8 & 255, i & 255, i);
    import_from(&import_format_nutcracker, NULL, buffer_bytes(&text), text.len);
    assert_string_equal(buffer_bytes(&imported.said), "");
    assert_int_equal(imported.import.pools[0].node_count, CW_NODE_COUNT_MAX);
    done();
    buffer_append_text(&text, "   - h:1:1\n");
    import_from(&import_format_nutcracker, NULL, buffer_bytes(&text), text.len);
    assert_non_null(strstr(buffer_bytes(&imported.said), "f:100006: more than 100000 servers"));
    buffer_release(&text);
    done();
}

static void it_is_recognised_by_its_servers(void **state)
{
    assert_true(import_format_nutcracker.looks_like("a:\n  servers:\n"));
    assert_false(import_format_nutcracker.looks_like("servers:\n"));
    assert_false(import_format_nutcracker.looks_like("a: {}\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_redis_pool_keeps_its_names_weights_tag_and_order),
        cmocka_unit_test(all_pools_are_read_and_one_if_it_is_named),
        cmocka_unit_test(ipv6_and_sockets_are_hashed_as_written_and_connected_to_as_we_write_them),
        cmocka_unit_test(names_that_are_no_ids_stay_names),
        cmocka_unit_test(line_ends_and_a_byte_order_mark_are_no_matter),
        cmocka_unit_test(a_server_that_nutcracker_refuses_is_refused_in_its_line),
        cmocka_unit_test(two_servers_of_one_name_are_refused_at_the_second),
        cmocka_unit_test(directives_are_checked_as_nutcracker_checks_them),
        cmocka_unit_test(what_does_not_move_keys_is_a_note),
        cmocka_unit_test(what_cannot_move_over_without_misses_is_said_to_move_keys),
        cmocka_unit_test(remarks_are_bounded_and_wrong_ones_are_kept),
        cmocka_unit_test(a_hundred_thousand_servers_are_read_and_one_more_is_refused),
        cmocka_unit_test(it_is_recognised_by_its_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
