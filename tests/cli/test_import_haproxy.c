/* covers: cli/import_haproxy_words, cli/import_haproxy_server, cli/import_words */
#include "cli/import_helper.h"

#include "cli/import_haproxy_words.h"
#include "cli/import_words.h"

#define HEAD "backend b\n  balance hash req.hdr(k)\n  hash-type consistent crc32\n"
#define KEY                                                                                        \
    "f:2: option 'balance': the key is the value of that expression\n"                             \
    "f:3: option 'hash-type': releases 3.0 to 3.2"

/* The lines of the pool behind its placement; what is said is not looked at. */
static void gives(const char *section, const char *text, const char *lines)
{
    import_from(&import_format_haproxy, section, text, strlen(text));
    const char *found = strstr(pools_of_result(), "    placement: ");
    assert_non_null(found);
    assert_string_equal(found, lines);
    done();
}

static void wrong(const char *text, const char *remark)
{
    says(&import_format_haproxy, NULL, IMPORT_WRONG, text, remark);
}

static void moves(const char *text, const char *remark)
{
    says(&import_format_haproxy, NULL, IMPORT_MOVES, text, remark);
}

static void servers_keep_their_numbers_weights_and_order(void **state)
{
    gives(NULL,
          HEAD "  server c 10.0.0.3:80 weight 20\n"
               "  server a 10.0.0.1:80 id 2\n"
               "  server bk 10.0.0.9:80 backup\n"
               "  server b [::1]:80 weight 0\n"
               "  server d ::1:81 disabled\n",
          "    placement: haproxy-consistent\n"
          "    profile: {hash: crc32}\n"
          "    nodes:\n"
          "      - {id: c, address: 10.0.0.3:80, weight: 20, number: 1}\n"
          "      - {id: a, address: 10.0.0.1:80, number: 2}\n"
          "      - {id: b, address: \"[::1]:80\", weight: 0, number: 4}\n"
          "      - {id: d, address: \"[::1]:81\", number: 5, down: yes}\n");
}

static void defaults_hold_for_the_backends_behind_them(void **state)
{
    static const char text[] = "defaults\n  balance uri\n  timeout server 30s\n"
                               "defaults named\n  balance hash x\n  hash-type map-based djb2 "
                               "avalanche\n  default-server weight 7\n"
                               "backend one\n  server s 1.1.1.1:1\n"
                               "defaults last\n  balance uri\n"
                               "backend two from named\n  server t 1.1.1.1:1\n"
                               "backend three\n  server u 1.1.1.1:1 weight 2\n";
    gives("one", text,
          "    placement: haproxy-map-based\n    profile: {hash: djb2-avalanche}\n    nodes:\n"
          "      - {id: s, address: 1.1.1.1:1, weight: 7}\n");
    gives("two", text,
          "    placement: haproxy-map-based\n    profile: {hash: djb2-avalanche}\n    nodes:\n"
          "      - {id: t, address: 1.1.1.1:1, weight: 7}\n");
    gives("three", text,
          "    placement: haproxy-map-based\n    nodes:\n"
          "      - {id: u, address: 1.1.1.1:1, weight: 2}\n");
}

static void hash_key_and_guid_are_carried_over(void **state)
{
    gives(NULL, HEAD "  default-server hash-key guid\n  server a 1.1.1.1:1 guid \"g 1\"\n",
          "    placement: haproxy-consistent\n"
          "    profile: {hash: crc32, server_key: guid}\n    nodes:\n"
          "      - {id: a, address: 1.1.1.1:1, name: \"g 1\"}\n");
    gives(NULL, HEAD "  server a 1.1.1.1:1 hash-key addr-port\n",
          "    placement: haproxy-consistent\n"
          "    profile: {hash: crc32, server_key: addr-port}\n    nodes:\n"
          "      - {id: a, address: 1.1.1.1:1}\n");
    wrong(HEAD "  server a 1.1.1.1:1 hash-key addr\n  server b 1.1.1.1:1 hash-key id\n",
          "f:5: server 'b': another hash-key than the server before");
    wrong(HEAD "  server a cache1:1 hash-key addr\n", "f:1: pool 'b': ");
}

static void the_defaults_of_the_program_are_known(void **state)
{
    gives(NULL, "listen l\n  bind :80\n  balance uri\n  server s 1.1.1.1:80\n",
          "    placement: haproxy-map-based\n    nodes:\n      - {id: s, address: 1.1.1.1:80}\n");
    gives(NULL,
          "backend b\n  balance uri\n  hash-type consistent\n  timeout server 2m\n"
          "  server s 1.1.1.1:80\n",
          "    placement: haproxy-consistent\n    timeout: 120000ms\n    nodes:\n"
          "      - {id: s, address: 1.1.1.1:80, number: 1}\n");
}

static void quotes_comments_and_line_ends_are_haproxys(void **state)
{
    gives(NULL,
          "# x\r\nbackend b # y\r\n  balance \"hash\" x\\ y\r\n"
          "  server 's 1' \"1.1.1.1\":80 #z\r\n",
          "    placement: haproxy-map-based\n    nodes:\n      - {id: 1.1.1.1:80, address: "
          "1.1.1.1:80}\n");
}

static void what_does_not_place_by_a_key_moves_keys(void **state)
{
    moves("backend b\n  server s h:1\n", "f:1: option 'balance': roundrobin does not place by");
    moves("backend b\n  balance leastconn\n  server s h:1\n", "f:2: option 'balance': leastconn");
    moves("backend b\n  balance source\n  server s h:1\n", "f:2: option 'balance': source hashes");
    moves(HEAD "  use-server s if x\n  server s h:1\n", "f:4: option 'use-server'");
    moves(HEAD "  stick on src\n  server s h:1\n", "f:4: option 'stick'");
    moves(HEAD "  cookie x insert\n  server s h:1\n", "f:4: option 'cookie'");
}

static void what_is_not_carried_over_is_said_in_its_line(void **state)
{
    static const char *const notes[][2] = {
        {"hash-balance-factor 150", "f:4: option 'hash-balance-factor': under load"},
        {"option httpchk", "f:4: option 'option': not carried over"},
        {"timeout connect 1s", "f:4: option 'timeout': not carried over"},
        {"server x h:2 check inter 2s maxconn 4", "f:4: server 'x': not carried over: check, "
                                                  "inter, maxconn\n"},
        {"server x h:2 backup", "f:4: server 'x': a backup gets no keys"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "  %s\n  server s h:1\n", notes[i][0]);
        says(&import_format_haproxy, NULL, IMPORT_NOTE, text, notes[i][1]);
    }
    says(&import_format_haproxy, NULL, IMPORT_NOTE, HEAD "  server s h:1\n", KEY);
}

static void mistakes_have_their_line(void **state)
{
    static const char *const bad[][2] = {
        {"server s h", "f:4: server 's': no port (HAProxy then takes the client's)"},
        {"server s h:0", "f:4: server 's': no port"},
        {"server s h:1 weight 257", "f:4: server 's': the weight is not a number from 0 to 256"},
        {"server s h:1 weight -1", "f:4: server 's': the weight"},
        {"server s h:1 weight", "f:4: option 'weight': has no value"},
        {"server s h:1 id 0", "f:4: server 's': the id is not a number"},
        {"server s", "f:4: option 'server': write `server NAME ADDRESS:PORT`"},
        {"server s \"$HOST\":1", "f:4: server 's': a variable"},
        {"server-template s 1-3 h:1", "f:4: option 'server-template': the servers come from DNS"},
        {"hash-type random", "f:4: option 'hash-type': write consistent or map-based"},
        {"hash-type consistent md5", "f:4: option 'hash-type': no such function"},
        {"hash-type consistent crc32 x", "f:4: option 'hash-type': the only modifier"},
        {"timeout server x", "f:4: option 'timeout': no time"},
        {".if defined(X)", "f:4: option '.if': conditions are not evaluated"},
        {"server t h:1\n  server t h:2", "f:5: a second server of the name 't'"},
        {"server t h:1 id 3\n  server u h:2 id 3", "f:1: pool 'b': two servers have the number 3"},
        {"server t unix@/s", "this system has no unix sockets"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[256];
        snprintf(text, sizeof text, HEAD "  %s\n  server z h:9\n", bad[i][0]);
        wrong(text, bad[i][1]);
    }
    wrong("backend b from x\n  server s h:1\n", "f:1: option 'backend': no defaults of the name");
    wrong("backend b\nbackend c\n  server s h:1\nbackend d\n  server s h:1\n",
          "f: several backends have servers: c, d; say which with --backend");
    wrong("frontend f\n", "f: no backend with servers is in it");
    says(&import_format_haproxy, "b", IMPORT_WRONG, "backend b\nbackend c\n", "'b' has no servers");
    says(&import_format_haproxy, "b", IMPORT_WRONG, HEAD "  server s h:1\nbackend b\n",
         "f:5: option 'backend': a second section of this name");
}

static void times_are_read_with_their_units(void **state)
{
    uint32_t ms;
    assert_true(haproxy_duration("30s", &ms) && ms == 30000);
    assert_true(haproxy_duration("500", &ms) && ms == 500);
    assert_true(haproxy_duration("7us", &ms) == false || ms == 1);
    assert_true(haproxy_duration("2d", &ms) && ms == 3600000);
    assert_false(haproxy_duration("0", &ms) || haproxy_duration("1x", &ms) ||
                 haproxy_duration("", &ms));
}

static void lines_are_cut_at_every_place_without_reading_on(void **state)
{
    static const char text[] = "a \"b c\" 'd\\' e\\ f # g\n\n  h \"$X\"\r\n";
    for (size_t len = 0; len < sizeof text; len++) {
        struct import import;
        struct import_lines lines;
        char *copy = strndup(text, len);
        import_init(&import, copy, len);
        import_lines_init(&lines, &import);
        while (import_lines_next(&lines))
            continue;
        import_fini(&import);
        free(copy);
    }
    struct import import;
    struct import_lines lines;
    import_init(&import, text, strlen(text));
    import_lines_init(&lines, &import);
    const struct import_line *line = import_lines_next(&lines);
    assert_int_equal(line->count, 4);
    assert_string_equal(line->words[1], "b c");
    assert_string_equal(line->words[2], "d\\");
    assert_string_equal(line->words[3], "e f");
    line = import_lines_next(&lines);
    assert_int_equal(line->number, 3);
    assert_true(line->has_variable);
    assert_null(import_lines_next(&lines));
    import_fini(&import);
}

static void it_is_recognised_by_its_sections(void **state)
{
    assert_true(import_format_haproxy.looks_like("# x\nbackend b\n"));
    assert_true(import_format_haproxy.looks_like("global\n"));
    assert_false(import_format_haproxy.looks_like("a:\n  listen: x\n"));
    assert_false(import_format_haproxy.looks_like("listen: x\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_keep_their_numbers_weights_and_order),
        cmocka_unit_test(defaults_hold_for_the_backends_behind_them),
        cmocka_unit_test(hash_key_and_guid_are_carried_over),
        cmocka_unit_test(the_defaults_of_the_program_are_known),
        cmocka_unit_test(quotes_comments_and_line_ends_are_haproxys),
        cmocka_unit_test(what_does_not_place_by_a_key_moves_keys),
        cmocka_unit_test(what_is_not_carried_over_is_said_in_its_line),
        cmocka_unit_test(mistakes_have_their_line),
        cmocka_unit_test(times_are_read_with_their_units),
        cmocka_unit_test(lines_are_cut_at_every_place_without_reading_on),
        cmocka_unit_test(it_is_recognised_by_its_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
