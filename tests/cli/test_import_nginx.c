/* covers: cli/import_nginx_statements */
#include "cli/import_helper.h"

#define HASH "upstream u {\n  hash $memcached_key consistent;\n"

static void gives(const char *section, const char *text, const char *pools)
{
    becomes(&import_format_nginx, section, text, pools);
}

static void wrong(const char *text, const char *remark)
{
    says(&import_format_nginx, NULL, IMPORT_WRONG, text, remark);
}

static void servers_are_hashed_as_written_and_connected_to_at_port_80(void **state)
{
    gives(NULL,
          "http {\n" HASH "  server 10.0.0.3 weight=3;\n  server 10.0.0.1:11211;\n"
          "  server [::1]:11211 down;\n  server [::1];\n  server unix:/run/m;\n}\n"
          "server { location / { memcached_pass u; } }\n}\n",
          "  u:\n"
          "    listen: 127.0.0.1:7400  # chosen: the file names none\n"
          "    engine: memcached  # for locate and plan: serve does not route it yet\n"
          "    placement: nginx-hash-consistent\n"
          "    nodes:\n"
          "      - {id: 10.0.0.3, address: 10.0.0.3:80, server: 10.0.0.3, weight: 3}\n"
          "      - {id: 10.0.0.1:11211, address: 10.0.0.1:11211}\n"
          "      - {id: \"[::1]:11211\", address: \"[::1]:11211\", down: yes}\n"
          "      - {id: \"[::1]\", address: \"[::1]:80\", server: \"[::1]\"}\n"
          "      - {id: unix:/run/m, address: unix:/run/m}\n");
}

static void plain_hash_and_other_engines_are_known(void **state)
{
    gives(NULL, "upstream r{hash \"$redis_key\";server 1.1.1.1:1;}location /{redis2_pass r;}",
          "  r:\n    listen: 127.0.0.1:7400  # chosen: the file names none\n    engine: redis\n"
          "    placement: nginx-hash\n    nodes:\n      - {id: 1.1.1.1:1, address: 1.1.1.1:1}\n");
    gives(NULL, "upstream r { hash $redis_key; server 1.1.1.1:1; }\r\n",
          "  r:\n    listen: 127.0.0.1:7400  # chosen: the file names none\n"
          "    engine: other  # for locate and plan: serve does not route it yet\n"
          "    placement: nginx-hash\n    nodes:\n      - {id: 1.1.1.1:1, address: 1.1.1.1:1}\n");
}

static void the_only_upstream_with_a_hash_is_taken(void **state)
{
    static const char text[] = "upstream a { server 1.1.1.1:1; }\n"
                               "content_by_lua_block { local x = '}' .. \"{}\" }\n"
                               "upstream b { hash $memcached_key; server 1.1.1.1:2; }\n";
    import_from(&import_format_nginx, NULL, text, strlen(text));
    assert_string_equal(imported.import.pools[0].name, "b");
    done();
    says(&import_format_nginx, "a", IMPORT_MOVES, text, "f:1: upstream 'a' has no `hash`");
    wrong("upstream a { server h:1; }\nupstream b { server h:1; }\n",
          "f: several upstreams: a, b; say which with --upstream");
    wrong("http { include x; }\n", "f: no upstream is in it (files that it includes");
}

static void what_is_not_carried_over_is_said_in_its_line(void **state)
{
    static const char *const notes[][2] = {
        {"keepalive 8;", "f:3: option 'keepalive': not carried over"},
        {"server 1.1.1.1:2 max_fails=2\nfail_timeout=3s;",
         "f:3: server '1.1.1.1:2': not carried over: max_fails, fail_timeout\n"},
        {"server 1.1.1.1:2 backup;", "f:3: server '1.1.1.1:2': a backup gets no keys"},
        {"server cache1:2;", "f:3: server 'cache1:2': if the name has several addresses"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        char text[256];
        snprintf(text, sizeof text, HASH "%s\nserver 1.1.1.1:1;}", notes[i][0]);
        says(&import_format_nginx, NULL, IMPORT_NOTE, text, notes[i][1]);
    }
    says(&import_format_nginx, NULL, IMPORT_NOTE, "upstream u{\nhash $uri$args;server 1.1.1.1:1;}",
         "f:2: option 'hash': the key is the value of $uri$args");
}

static void other_methods_move_keys(void **state)
{
    static const char *const methods[] = {"ip_hash", "least_conn", "random two"};
    for (size_t i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof text, "upstream u {\n%s;\nserver 1.1.1.1:1;\n}", methods[i]);
        says(&import_format_nginx, NULL, IMPORT_MOVES, text, "f:2: option '");
    }
}

static void mistakes_have_their_line(void **state)
{
    static const char *const bad[][2] = {
        {"server 1.1.1.1:1 weight=0;", "f:3: server '1.1.1.1:1': the weight is not a whole number "
                                       "of 1 or more"},
        {"server 1.1.1.1:1 weight=-1;", "the weight is not"},
        {"server 1.1.1.1:1 weight=x;", "the weight is not"},
        {"server;", "f:3: option 'server': write `server ADDRESS;`"},
        {"hash;", "f:3: option 'hash': write `hash KEY;`"},
        {"hash $a consistant;", "f:3: option 'hash': write `hash KEY;`"},
        {"include servers.conf;", "f:3: option 'include': another file is not read"},
        {"server \"1.1.1.1:1;", "f:3: a \" without its end"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, HASH "%s\nserver 1.1.1.1:9;}", bad[i][0]);
        wrong(text, bad[i][1]);
    }
    wrong(HASH "server 1.1.1.1:1;\n", "f:1: the block that begins here has no end");
    wrong(HASH "}", "f:1: upstream 'u' has no servers");
    wrong("stream { upstream u { hash $x; server 1.1.1.1; } }", "f:1: server '1.1.1.1': no port");
}

static void a_server_that_stands_twice_is_one_to_the_ring(void **state)
{
    static const char servers[] = "server 1.1.1.1:1;\nserver 1.1.1.1:2;server 1.1.1.1:1 weight=3;}";
    char text[256];
    snprintf(text, sizeof text, HASH "%s", servers);
    import_from(&import_format_nginx, NULL, text, strlen(text));
    assert_string_equal(buffer_bytes(&imported.said),
                        "f:4: server '1.1.1.1:1' stands in line 3 already; to the ring they are "
                        "one, of the greater weight\n");
    assert_non_null(strstr(pools_of_result(),
                           "    nodes:\n"
                           "      - {id: 1.1.1.1:1, address: 1.1.1.1:1, weight: 3}\n"
                           "      - {id: 1.1.1.1:2, address: 1.1.1.1:2}\n"));
    done();
    snprintf(text, sizeof text, "upstream u{hash $memcached_key;%s", servers);
    says(&import_format_nginx, NULL, IMPORT_WRONG, text, "have the same address 1.1.1.1:1");
}

static void statements_are_cut_at_every_place_without_reading_on(void **state)
{
    static const char text[] = "http { upstream u { hash \"$a\\\"b\"; server 1.1.1.1:1 down; # }\n"
                               "server ${x}y\\;z; } } a_by_lua_block { { } }";
    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = strndup(text, len);
        import_from(&import_format_nginx, "u", copy, len);
        done();
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_are_hashed_as_written_and_connected_to_at_port_80),
        cmocka_unit_test(plain_hash_and_other_engines_are_known),
        cmocka_unit_test(the_only_upstream_with_a_hash_is_taken),
        cmocka_unit_test(what_is_not_carried_over_is_said_in_its_line),
        cmocka_unit_test(other_methods_move_keys),
        cmocka_unit_test(mistakes_have_their_line),
        cmocka_unit_test(a_server_that_stands_twice_is_one_to_the_ring),
        cmocka_unit_test(statements_are_cut_at_every_place_without_reading_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
