/*
 * Keys of every type are copied by their value between two real redis-servers, and must be equal
 * there by DEBUG DIGEST-VALUE.
 *
 * covers: move/copy_big, move/copy_big_types, move/copy_big_stream
 */
#include "move/two_servers.h"

#include "base/random.h"
#include "move/copy_big.h"

static struct job_end copy_key(struct slice key)
{
    assert_non_null(copy_big_start(&servers.move, 0, 0, key, servers_on_done, &servers));
    return servers_run(&servers);
}

static struct job_end copy_text(const char *key)
{
    return copy_key(slice_of(key));
}

#define ASSERT_SAME(...)                                                                           \
    do {                                                                                           \
        SERVER_SHOW(&servers, SOURCE, __VA_ARGS__);                                                \
        SERVER_SHOW(&servers, TARGET, __VA_ARGS__);                                                \
        assert_string_equal(servers.shown[SOURCE], servers.shown[TARGET]);                         \
    } while (0)

static void assert_arrived(const char *key)
{
    ASSERT_SAME("DEBUG DIGEST-VALUE %s", key);
    ASSERT_SAME("TYPE %s", key);
    ASSERT_SAME("PEXPIRETIME %s", key);
    assert_string_equal(SERVER_SHOW(&servers, SOURCE, "EXISTS %s", key), ":1 ");
    /* nothing but the key: no temporary one */
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "DBSIZE"), ":1 ");
}

static void assert_copied(const char *key)
{
    struct job_end end = copy_text(key);
    assert_done(&end);
    assert_int_equal(end.count, 1);
    assert_arrived(key);
}

static void flush(void)
{
    SERVER_DO(&servers, SOURCE, "FLUSHALL");
    SERVER_DO(&servers, TARGET, "FLUSHALL");
}

/* ---- every type, of every size ----------------------------------------------------------------
 */

static const struct {
    const char *name, *script; /* makes ARGV[1] elements of KEYS[1] */
} makers[] = {
    {"string", "redis.call('SET', KEYS[1], string.rep('0123456789abcdef\\0', ARGV[1]))"},
    {"hash", "for i = 1, ARGV[1] do redis.call('HSET', KEYS[1], 'f' .. i, 'v' .. i * 7) end"},
    {"set", "for i = 1, ARGV[1] do redis.call('SADD', KEYS[1], 'm' .. i) end"},
    {"intset", "for i = 1, ARGV[1] do redis.call('SADD', KEYS[1], i * 3) end"},
    {"zset", "for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i / 7, 'm' .. i) end"},
    {"list", "for i = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], 'e' .. i % 5) end"},
    {"stream", "for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], i .. '-3', 'a', i, 'b', '') end"},
};

static void make(const char *script, unsigned count)
{
    SERVER_DO(&servers, SOURCE, "EVAL \"%s\" 1 k %u", script, count);
}

static void test_every_type_arrives_whatever_its_size(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 63, 64, 65, 513, 20000};
    for (size_t type = 0; type < sizeof makers / sizeof makers[0]; type++) {
        for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
            flush();
            make(makers[type].script, sizes[size]);
            assert_copied("k");
            SERVER_DO(&servers, SOURCE, "PEXPIREAT k 4102444800123");
            assert_copied("k"); /* over the old one */
            assert_string_equal(SERVER_SHOW(&servers, TARGET, "PEXPIRETIME k"), ":4102444800123 ");
            SERVER_DO(&servers, SOURCE, "PERSIST k");
            assert_copied("k");
            assert_string_equal(SERVER_SHOW(&servers, TARGET, "PEXPIRETIME k"), ":-1 ");
        }
    }
}

static void test_an_older_key_of_another_type_is_replaced(void **state)
{
    (void)state;
    for (size_t type = 0; type < sizeof makers / sizeof makers[0]; type++) {
        flush();
        make(makers[type].script, 1000);
        SERVER_DO(&servers, TARGET, "SET k old PX 100000");
        assert_copied("k");
        SERVER_DO(&servers, TARGET, "DEL k");
        SERVER_DO(&servers, TARGET, "RPUSH \"\\x00cw:mig:7.1:k\" left behind");
        assert_copied("k");
    }
}

static void test_large_elements_arrive(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "for i = 1, 30 do redis.call('HSET', KEYS[1], i, string.rep(i, ARGV[1])) end",
        "for i = 1, 30 do redis.call('SADD', KEYS[1], string.rep(i, ARGV[1])) end",
        "for i = 1, 30 do redis.call('ZADD', KEYS[1], i, string.rep(i, ARGV[1])) end",
        "for i = 1, 30 do redis.call('RPUSH', KEYS[1], string.rep(i, ARGV[1])) end",
        "for i = 1, 30 do redis.call('XADD', KEYS[1], i, i, string.rep(i, ARGV[1])) end",
        "redis.call('SET', KEYS[1], string.rep('x', 262144))",
        "redis.call('SET', KEYS[1], string.rep('y', 262144 * 3 + 1))",
        "redis.call('SET', KEYS[1], '')",
        "redis.call('SET', KEYS[1], '12345')",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        flush();
        make(scripts[i], 200000);
        assert_copied("k");
    }
    ASSERT_SAME("OBJECT ENCODING k");
}

static void test_hyperloglogs_stay_equal_byte_by_byte(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 100, 20000};
    for (size_t i = 0; i < 3; i++) {
        flush();
        make("for i = 1, ARGV[1] do redis.call('PFADD', KEYS[1], i) end", sizes[i]);
        assert_copied("k");
        struct slice reply = server_call(&servers, SOURCE, "GET k");
        assert_true(slice_equal(reply, server_call(&servers, TARGET, "GET k")));
        ASSERT_SAME("PFCOUNT k");
    }
}

static void test_keys_of_any_bytes_arrive(void **state)
{
    (void)state;
    static const char *const keys[] = {"\\x00", "a\\r\\nb", "{t}\\xff", "cw:mig:7.1:k"};
    static const struct slice bytes[] = {
        {"\0", 1}, {"a\r\nb", 4}, {"{t}\xff", 4}, {"cw:mig:7.1:k", 12}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        flush();
        SERVER_DO(&servers, SOURCE, "HSET \"%s\" \"\\x00f\\r\\n\" \"\" \"\" \"\\xfe\"", keys[i]);
        struct job_end end = copy_key(bytes[i]);
        assert_done(&end);
        char key[64];
        snprintf(key, sizeof key, "\"%s\"", keys[i]);
        assert_arrived(key);
    }
}

/* ---- scores ------------------------------------------------------------------------------------
 */

static void add_scores(const double *scores, size_t count)
{
    for (size_t i = 0; i < count; i++)
        SERVER_DO(&servers, SOURCE, "ZADD k %.17g m%zu", scores[i], i);
}

/* By the text that ZSCORE makes, and by what GETRANGE-like comparison cannot hide: the order. */
static void test_scores_arrive_bit_by_bit(void **state)
{
    (void)state;
    struct random random = {3};
    double scores[600] = {0,
                          -0.0,
                          1.0 / 3,
                          1e300,
                          -1e-300,
                          5e-324,
                          1.7976931348623157e308,
                          9007199254740993.0,
                          0.1,
                          -0.1,
                          123456789.123456789,
                          1e17,
                          1e16 + 2};
    for (size_t count = 30; count <= 600; count += 570) { /* packed, and a table */
        flush();
        for (size_t i = 13; i < count; i++) {
            do {
                uint64_t bits = random_next(&random);
                memcpy(&scores[i], &bits, sizeof bits);
            } while (scores[i] != scores[i] || scores[i] - scores[i] != 0);
        }
        add_scores(scores, count);
        SERVER_DO(&servers, SOURCE, "ZADD k inf most -inf least");
        assert_copied("k");
        struct slice order = server_call(&servers, SOURCE, "ZRANGE k 0 -1 WITHSCORES");
        assert_true(slice_equal(order, server_call(&servers, TARGET, "ZRANGE k 0 -1 WITHSCORES")));
        for (size_t i = 13; i < count; i++) {
            struct slice text;
            struct slice reply = server_call(&servers, TARGET, "ZSCORE k m%zu", i);
            assert_true(answer_is_text(reply.ptr, reply.len, &text));
            assert_true(strtod(text.ptr, NULL) == scores[i]);
        }
    }
}

/* ---- streams ----------------------------------------------------------------------------------
 */

static void assert_same_groups(void)
{
    ASSERT_SAME("XINFO GROUPS k");
    ASSERT_SAME("XLEN k");
    struct slice info[2];
    static const char *const fields[] = {"last-generated-id", "entries-added",
                                         "max-deleted-entry-id", "length", "groups"};
    for (int side = SOURCE; side <= TARGET; side++)
        info[side] = server_call(&servers, side, "XINFO STREAM k");
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        struct answer value[2];
        struct slice raw[2];
        for (int side = SOURCE; side <= TARGET; side++) {
            struct answer answer = answer_start(info[side].ptr, info[side].len);
            assert_true(answer_find(&answer, fields[i], &value[side]));
            assert_true(answer_raw(&value[side], &raw[side]));
        }
        if (!slice_equal(raw[SOURCE], raw[TARGET]))
            fail_msg("%s differs", fields[i]);
    }
}

/* id, consumer, milliseconds since, how often: equal but for the time that the test itself takes */
static void assert_same_pending(const char *group)
{
    struct answer answer[2];
    size_t counts[2];
    for (int side = SOURCE; side <= TARGET; side++) {
        struct slice reply = server_call(&servers, side, "XPENDING k %s - + 100000", group);
        answer[side] = answer_start(reply.ptr, reply.len);
        assert_true(answer_array(&answer[side], &counts[side]));
    }
    assert_int_equal(counts[SOURCE], counts[TARGET]);
    for (size_t i = 0; i < counts[SOURCE]; i++) {
        struct slice id[2], consumer[2];
        int64_t idle[2], deliveries[2];
        for (int side = SOURCE; side <= TARGET; side++) {
            size_t four;
            assert_true(answer_array(&answer[side], &four) &&
                        answer_text(&answer[side], &id[side]) &&
                        answer_text(&answer[side], &consumer[side]) &&
                        answer_integer(&answer[side], &idle[side]) &&
                        answer_integer(&answer[side], &deliveries[side]));
        }
        assert_true(slice_equal(id[SOURCE], id[TARGET]));
        assert_true(slice_equal(consumer[SOURCE], consumer[TARGET]));
        assert_int_equal(deliveries[SOURCE], deliveries[TARGET]);
        assert_in_range(idle[TARGET] - idle[SOURCE] + 300000, 0, 600000);
    }
}

static void test_streams_arrive_with_groups_and_what_is_pending(void **state)
{
    (void)state;
    flush();
    make(makers[6].script, 3000);
    SERVER_DO(&servers, SOURCE, "XDEL k 17-3 3000-3");
    SERVER_DO(&servers, SOURCE, "XTRIM k MINID 5");
    SERVER_DO(&servers, SOURCE, "XGROUP CREATE k readers 0");
    SERVER_DO(&servers, SOURCE, "XGROUP CREATE k \"odd \\x00 name\" 100-3");
    SERVER_DO(&servers, SOURCE, "XGROUP CREATE k idle $");
    SERVER_DO(&servers, SOURCE, "XREADGROUP GROUP readers one COUNT 700 STREAMS k >");
    SERVER_DO(&servers, SOURCE, "XREADGROUP GROUP readers two COUNT 2 STREAMS k >");
    SERVER_DO(&servers, SOURCE, "XREADGROUP GROUP readers one COUNT 1 STREAMS k >");
    SERVER_DO(&servers, SOURCE, "XACK k readers 9-3 200-3");
    SERVER_DO(&servers, SOURCE, "XCLAIM k readers three 0 50-3 IDLE 86400000 RETRYCOUNT 9");
    SERVER_DO(&servers, SOURCE, "XGROUP CREATECONSUMER k readers nobody");
    SERVER_DO(&servers, SOURCE, "PEXPIREAT k 4102444800123");
    assert_copied("k");
    assert_same_groups();
    assert_same_pending("readers");
    assert_same_pending("\"odd \\x00 name\"");
    ASSERT_SAME("XPENDING k readers");
    struct slice reply = server_call(&servers, TARGET, "XPENDING k readers 50-3 50-3 1");
    struct slice text;
    struct answer answer = answer_start(reply.ptr, reply.len);
    size_t count;
    int64_t idle = 0;
    assert_true(answer_array(&answer, &count) && count == 1 && answer_array(&answer, &count) &&
                answer_skip(&answer) && answer_text(&answer, &text) && slice_is(text, "three") &&
                answer_integer(&answer, &idle));
    assert_true(idle >= 86400000 - 1000); /* a time of day, not the time of the copy */
}

static void test_an_empty_stream_arrives(void **state)
{
    (void)state;
    flush();
    SERVER_DO(&servers, SOURCE, "XADD k 5-1 a b");
    SERVER_DO(&servers, SOURCE, "XADD k 9-2 a b");
    SERVER_DO(&servers, SOURCE, "XDEL k 5-1 9-2");
    assert_copied("k");
    assert_same_groups();
    flush();
    SERVER_DO(&servers, SOURCE, "XGROUP CREATE k g 0 MKSTREAM");
    assert_copied("k");
    assert_same_groups();
}

/* ---- what is not there -------------------------------------------------------------------------
 */

static void test_what_is_gone_leaves_nothing_on_the_target(void **state)
{
    (void)state;
    flush();
    SERVER_DO(&servers, TARGET, "SET k old");
    struct job_end end = copy_text("k");
    assert_done(&end);
    assert_int_equal(end.count, 0);
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "DBSIZE"), ":0 ");
}

static void test_a_target_that_takes_no_writes_is_named(void **state)
{
    (void)state;
    flush();
    make(makers[1].script, 3000);
    SERVER_DO(&servers, TARGET, "CONFIG SET maxmemory 1");
    struct job_end end = copy_text("k");
    SERVER_DO(&servers, TARGET, "CONFIG SET maxmemory 0");
    assert_int_equal(end.result, JOB_REFUSED);
    assert_non_null(strstr(end.problem, "node-b"));
    assert_non_null(strstr(end.problem, "maxmemory"));
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "DBSIZE"), ":0 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_arrives_whatever_its_size),
        cmocka_unit_test(test_an_older_key_of_another_type_is_replaced),
        cmocka_unit_test(test_large_elements_arrive),
        cmocka_unit_test(test_hyperloglogs_stay_equal_byte_by_byte),
        cmocka_unit_test(test_keys_of_any_bytes_arrive),
        cmocka_unit_test(test_scores_arrive_bit_by_bit),
        cmocka_unit_test(test_streams_arrive_with_groups_and_what_is_pending),
        cmocka_unit_test(test_an_empty_stream_arrives),
        cmocka_unit_test(test_what_is_gone_leaves_nothing_on_the_target),
        cmocka_unit_test(test_a_target_that_takes_no_writes_is_named),
    };
    return cmocka_run_group_tests(tests, servers_set_up, servers_tear_down);
}
