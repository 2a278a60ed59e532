/* covers: cli/import_lua */
#include "cli/import_helper.h"

#define LISTEN "    listen: 127.0.0.1:7400  # chosen: the file names none\n"
#define ENGINE "    engine: memcached  # for locate and plan: serve does not route it yet\n"
#define NODES                                                                                      \
    "    nodes:\n      - {id: b1, address: 127.0.0.1:11211}\n"                                     \
    "      - {id: b2, address: \"[::1]:11212\"}\n"
#define BACKENDS                                                                                   \
    "local b1 = mcp.backend('b1', '127.0.0.1', 11211)\n"                                           \
    "local b2 = mcp.backend({ label = \"b2\", host = [[::1]], port = \"11212\" })\n"

static void gives(const char *text, const char *pools)
{
    becomes(&import_format_memcached_proxy, NULL, text, pools);
}

static void wrong(const char *text, const char *remark)
{
    says(&import_format_memcached_proxy, NULL, IMPORT_WRONG, text, remark);
}

static void moves(const char *text, const char *remark)
{
    says(&import_format_memcached_proxy, NULL, IMPORT_MOVES, text, remark);
}

static void a_pool_without_options_is_jump(void **state)
{
    gives(BACKENDS "-- p = nothing\nfunction mcp_config_pools()\n"
                   "  local main = mcp.pool({b1, b2})\n  return main\nend\n",
          "  main:\n" LISTEN ENGINE "    placement: memcached-proxy-jump\n" NODES);
    gives(BACKENDS "mcp.pool{b1, b2}",
          "  pool:\n" LISTEN ENGINE "    placement: memcached-proxy-jump\n" NODES);
}

static void ring_options_are_carried_over_from_variables_too(void **state)
{
    gives(BACKENDS "local list = { b1, b2 }\n"
                   "local opts = { dist = mcp.dist_ring_hash, omode = 'ketama', obuckets = 200,\n"
                   "  hash = mcp.dist_ring_hash.hash, filter = \"tags\", filter_conf = \"{}\" }\n"
                   "pools.main = mcp.pool(list, opts)\n",
          "  main:\n" LISTEN ENGINE "    placement: memcached-proxy-ring-ketama\n"
          "    profile: {hash: md5, tag: \"{}\", points: 200}\n" NODES);
    gives(BACKENDS "p = mcp.pool({ b1, b2 }, { seed = 'he\\'llo', filter = 'stop', filter_conf = "
                   "'|#|' })",
          "  p:\n" LISTEN ENGINE "    placement: memcached-proxy-jump\n"
          "    profile: {stop: \"|#|\", salt: \"he'llo\"}\n" NODES);
}

static void modes_of_the_ring_are_profiles(void **state)
{
    static const char *const modes[][2] = {
        {"", "memcached-proxy-ring"},
        {", omode = 'ketama'", "memcached-proxy-ring-ketama"},
        {", omode = 'twemproxy'", "memcached-proxy-ring-twemproxy"},
        {", omode = 'evcache'", "memcached-proxy-ring-evcache"}};
    for (size_t i = 0; i < 4; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 BACKENDS "p = mcp.pool({ b1, b2 }, { dist = mcp.dist_ring_hash%s })", modes[i][0]);
        import_from(&import_format_memcached_proxy, NULL, text, strlen(text));
        assert_string_equal(imported.import.pools[0].profile->name, modes[i][1]);
        done();
    }
    wrong(BACKENDS "p = mcp.pool({b1}, { dist = mcp.dist_ring_hash, omode = 'x' })",
          "f:3: option 'omode': no such mode: 'x'");
}

static void the_route_library_is_read_too(void **state)
{
    gives("pools{\n  main = {\n    backends = { \"127.0.0.1:11211\", { host = '::1', port = 11212 "
          "} },\n    options = { seed = 's' } } }\nroutes{ default = x }\n",
          "  main:\n" LISTEN ENGINE "    placement: memcached-proxy-jump\n"
          "    profile: {salt: s}\n    nodes:\n"
          "      - {id: 127.0.0.1:11211, address: 127.0.0.1:11211}\n"
          "      - {id: \"::1\", address: \"[::1]:11212\"}\n");
}

static void what_no_profile_has_moves_keys(void **state)
{
    moves(BACKENDS "p = mcp.pool({b1}, { dist = mcp.dist_modulo })",
          "f:3: option 'dist': no profile has 'mcp.dist_modulo'");
    moves(BACKENDS "p = mcp.pool({b1}, { hash = mcp.hash_farmhash })",
          "f:3: option 'hash': no profile has 'mcp.hash_farmhash'");
    moves(BACKENDS "p = mcp.pool({b1}, { filter = 'tags', filter_conf = '$$' })",
          "f:3: option 'filter_conf': two equal characters");
    moves(BACKENDS "p = mcp.pool({b1}, { hash_mask = '0x7F' })", "f:3: option 'hash_mask'");
    moves(BACKENDS "p = mcp.pool({b1}, { seed = os.time() })", "f:3: option 'seed': no literal");
}

static void what_would_have_to_be_run_is_refused(void **state)
{
    static const char literal[] = "f:3: no literal: only what is written out is read here";
    wrong(BACKENDS "p = mcp.pool({ b1, b3 })", literal);
    wrong(BACKENDS "p = mcp.pool({ b1, make('x') })", literal);
    wrong(BACKENDS "p = mcp.pool({ mcp.backend('a', 'h' .. 1, 2) })", literal);
    wrong("local t = {}\nfor i = 1, 3 do t[i] = x end\np = mcp.pool(t)",
          "f:3: the pool's backends are no literal table");
    wrong(BACKENDS "local t = { b1 }\ntable.insert(t, b2)\np = mcp.pool(t)",
          "f:5: the pool's backends are no literal table");
    wrong(BACKENDS "local t = { b1 }\nt.x = b2\np = mcp.pool(t)", "f:5: the pool's backends");
    wrong(BACKENDS "local o = a or {}\np = mcp.pool({b1}, o)", "f:4: the pool's options");
    wrong(BACKENDS "p = mcp.pool(b1)", "f:3: the pool's backends are no literal table");
}

static void mistakes_have_their_line(void **state)
{
    wrong("\np = mcp.pool({ 'a", "f:2: a string without its end");
    wrong("p = mcp.pool({\n --[[ x", "f:2: a long bracket without its end");
    wrong("p = mcp.pool({})", "f:1: the pool has no backends");
    wrong("p = mcp.pool({ mcp.backend('a', 'h') })", "f:1: backend 'a': no host, or a port");
    wrong("p = mcp.pool({ mcp.backend('a', 'h', 99999) })", "f:1: backend 'a': no host, or a port");
    wrong("p = mcp.pool({ 'h' })", "f:1: backend 'h': no host, or a port");
    wrong(BACKENDS "p = mcp.pool({b1}, { filter = 'x' })", "f:3: option 'filter'");
    wrong(BACKENDS "p = mcp.pool({b1}, { filter = 'tags' })", "f:3: option 'filter_conf'");
    wrong(BACKENDS "p = mcp.pool({b1}, { obuckets = 0 })", "f:3: option 'obuckets'");
    wrong("p = mcp.pool({{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{1", "nested more than 32");
}

static void texts_are_read_at_every_length_without_reading_on(void **state)
{
    static const char text[] = BACKENDS
        "--[==[ ]] ]==] p = mcp.pool({ b1, [\"x\"] = b2, y = 1 .. 2; }, { seed = 'a\\\\' })";
    for (size_t len = 0; len < sizeof text; len++) {
        char *copy = strndup(text, len);
        import_from(&import_format_memcached_proxy, NULL, copy, len);
        done();
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_without_options_is_jump),
        cmocka_unit_test(ring_options_are_carried_over_from_variables_too),
        cmocka_unit_test(modes_of_the_ring_are_profiles),
        cmocka_unit_test(the_route_library_is_read_too),
        cmocka_unit_test(what_no_profile_has_moves_keys),
        cmocka_unit_test(what_would_have_to_be_run_is_refused),
        cmocka_unit_test(mistakes_have_their_line),
        cmocka_unit_test(texts_are_read_at_every_length_without_reading_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
