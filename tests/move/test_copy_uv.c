/*
 * Keys of every type are copied, and marked elements brought over, between two real redis-servers;
 * they must be equal there by DEBUG DIGEST-VALUE, with the same expiry to the millisecond.
 *
 * covers: move/copier, move/drain_elements
 */
#include "move/two_servers.h"

static int teardown(void **state)
{
    big_keys_unref(&servers.move.big);
    return servers_tear_down(state);
}

#define ON_SOURCE(...) SERVER_DO(&servers, SOURCE, __VA_ARGS__)

#define ASSERT_SAME(...)                                                                           \
    do {                                                                                           \
        SERVER_SHOW(&servers, SOURCE, __VA_ARGS__);                                                \
        SERVER_SHOW(&servers, TARGET, __VA_ARGS__);                                                \
        assert_string_equal(servers.shown[SOURCE], servers.shown[TARGET]);                         \
    } while (0)

static void assert_arrived(const char *key)
{
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "EXISTS %s", key), ":1 ");
    ASSERT_SAME("DEBUG DIGEST-VALUE %s", key);
    ASSERT_SAME("TYPE %s", key);
    ASSERT_SAME("PEXPIRETIME %s", key);
}

static void copy_all(void)
{
    assert_non_null(job_copy(&servers.move, 0, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    assert_done(&end);
}

static const struct slice dirty = {"\0cw:dirty:7.1", 13};

static struct job_end drain(void)
{
    assert_non_null(job_drain(&servers.move, 0, dirty, NULL, servers_on_done, &servers));
    return servers_run(&servers);
}

#define DIRTY "\"\\x00cw:dirty:7.1\""

static const char *const small_keys[] = {"string", "integer", "list",   "hash", "set",
                                         "intset", "zset",    "stream", "hll",  "bits"};

static void make_small_keys(void)
{
    ON_SOURCE("SET string \"a \\x00\\r\\n value\"");
    ON_SOURCE("SET integer 12345");
    ON_SOURCE("RPUSH list a b c \"\" d");
    ON_SOURCE("HSET hash f1 v1 f2 \"\\x00\" \"\" empty");
    ON_SOURCE("SADD set one two \"\\xff\"");
    ON_SOURCE("SADD intset 1 2 3000000000");
    ON_SOURCE("ZADD zset 1.5 a -inf b 3e300 c 0.1 d");
    ON_SOURCE("XADD stream 5-1 f v g w");
    ON_SOURCE("XADD stream 6-1 f v2");
    ON_SOURCE("XGROUP CREATE stream readers 0");
    ON_SOURCE("XREADGROUP GROUP readers alice COUNT 1 STREAMS stream >");
    ON_SOURCE("PFADD hll a b c d e f");
    ON_SOURCE("SETBIT bits 70000 1");
}

static void test_every_type_arrives_with_its_expiry(void **state)
{
    (void)state;
    make_small_keys();
    for (size_t i = 0; i < sizeof small_keys / sizeof small_keys[0]; i += 2)
        ON_SOURCE("PEXPIREAT %s %llu", small_keys[i], 4102444800123ULL + i);
    copy_all();
    for (size_t i = 0; i < sizeof small_keys / sizeof small_keys[0]; i++)
        assert_arrived(small_keys[i]);
    ASSERT_SAME("DBSIZE");
    ASSERT_SAME("XPENDING stream readers");
    ASSERT_SAME("XINFO GROUPS stream");
    ASSERT_SAME("PFCOUNT hll");
    assert_int_equal(servers.end.count, 10);
}

static void test_ten_thousand_keys_are_copied(void **state)
{
    (void)state;
    ON_SOURCE(
        "EVAL \"for i = 1, 10000 do redis.call('SET', 'key:' .. i, string.rep('x', i %% 200)) "
        "if i %% 3 == 0 then redis.call('PEXPIREAT', 'key:' .. i, 4102444800000 + i) end end\" 0");
    copy_all();
    ASSERT_SAME("DBSIZE");
    ASSERT_SAME("DEBUG DIGEST");
    assert_int_equal(servers.progress.keys_copied, 10000);
}

static void test_big_ones_of_every_type_are_found(void **state)
{
    (void)state;
    ON_SOURCE("EVAL \"for i = 1, 10001 do redis.call('HSET', 'hash', i, 'value of the field') "
              "redis.call('SADD', 'set', 'member' .. i) redis.call('ZADD', 'zset', i, 'm' .. i) "
              "redis.call('RPUSH', 'list', 'element ' .. i) "
              "redis.call('XADD', 'stream', '*', 'f', i) end\" 0");
    ON_SOURCE("EVAL \"redis.call('SET', 'string', string.rep('x', 1048577)) "
              "redis.call('SET', 'small', string.rep('x', 1048576)) "
              "for i = 1, 10000 do redis.call('HSET', 'smallhash', i, i) end\" 0");
    copy_all();
    assert_int_equal(key_list_count(&servers.found.keys), 6);
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "DBSIZE"), ":2 ");
    assert_arrived("small");
    assert_arrived("smallhash");
}

/* ---- marks ------------------------------------------------------------------------------------
 */

static void test_marked_keys_of_every_type_are_brought_over(void **state)
{
    (void)state;
    make_small_keys();
    copy_all();
    ON_SOURCE("SADD " DIRTY
              " s kstring klist khash kset kzset kstream khll kbits kintset kinteger");
    ON_SOURCE("APPEND string more");
    ON_SOURCE("LPOP list");
    ON_SOURCE("HDEL hash f1");
    ON_SOURCE("SADD set three");
    ON_SOURCE("ZINCRBY zset 2 a");
    ON_SOURCE("XADD stream 7-1 f v3");
    ON_SOURCE("XACK stream readers 5-1");
    ON_SOURCE("PFADD hll g");
    ON_SOURCE("PEXPIRE bits 100000000");
    ON_SOURCE("DEL intset");
    ON_SOURCE("INCR integer");
    struct job_end end = drain();
    assert_done(&end);
    assert_int_equal(end.count, 10);
    for (size_t i = 0; i < sizeof small_keys / sizeof small_keys[0]; i++)
        if (strcmp(small_keys[i], "intset") != 0)
            assert_arrived(small_keys[i]);
    ASSERT_SAME("EXISTS intset");
    ASSERT_SAME("XPENDING stream readers");
    ASSERT_SAME("DBSIZE"); /* the dirty set is gone, and never was on the target */
}

static void know_as_big(const char *const *keys, size_t count)
{
    struct slice slices[8];
    for (size_t i = 0; i < count; i++)
        slices[i] = slice_of(keys[i]);
    assert_int_equal(big_keys_create(NULL, slices, count, &servers.move.big), 0);
}

#define ELEMENT(len, key, element) "\"e\\x00\\x00\\x00\\x0" #len key element "\" "

static void test_marked_elements_of_big_keys_are_brought_over(void **state)
{
    (void)state;
    static const char *const keys[] = {"hash", "sets", "zset", "list"};
    ON_SOURCE("HSET hash a 1 b 2 c 3");
    ON_SOURCE("SADD sets a b c");
    ON_SOURCE("ZADD zset 1 a 2 b 3 c");
    ON_SOURCE("RPUSH list a");
    copy_all();
    know_as_big(keys, 4);
    ON_SOURCE("HSET hash a 10 \"d \\x00\" 4");
    ON_SOURCE("HDEL hash b");
    ON_SOURCE("SREM sets a");
    ON_SOURCE("SADD sets d");
    ON_SOURCE("ZADD zset 0.1 a inf d -1e-300 e");
    ON_SOURCE("ZREM zset c");
    ON_SOURCE("PEXPIREAT zset 4102444800321");
    ON_SOURCE("SADD " DIRTY " s " ELEMENT(4, "hash", "a") ELEMENT(4, "hash", "b")
                  ELEMENT(4, "hash", "d \\x00") ELEMENT(4, "sets", "a") ELEMENT(4, "sets", "d")
                      ELEMENT(4, "zset", "a") ELEMENT(4, "zset", "c") ELEMENT(4, "zset", "d")
                          ELEMENT(4, "zset", "e") ELEMENT(4, "list", "x"));
    struct job_end end = drain();
    assert_done(&end);
    for (size_t i = 0; i < 3; i++)
        assert_arrived(keys[i]);
    assert_int_equal(key_list_count(&servers.found.keys), 1); /* a list is copied as a whole */
    assert_true(slice_is(key_list_at(&servers.found.keys, 0), "list"));
}

static void test_a_set_that_was_flushed_is_noticed(void **state)
{
    (void)state;
    assert_non_null(job_open_set(&servers.move, 0, dirty, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    assert_done(&end);
    ON_SOURCE("SADD " DIRTY " kx");
    ON_SOURCE("FLUSHALL");
    end = drain();
    assert_int_equal(end.result, JOB_VOID);
    assert_non_null(strstr(end.problem, "node 'node-a' lost all marks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_type_arrives_with_its_expiry, servers_set_up,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_ten_thousand_keys_are_copied, servers_set_up,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_big_ones_of_every_type_are_found, servers_set_up,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_marked_keys_of_every_type_are_brought_over,
                                        servers_set_up, teardown),
        cmocka_unit_test_setup_teardown(test_marked_elements_of_big_keys_are_brought_over,
                                        servers_set_up, teardown),
        cmocka_unit_test_setup_teardown(test_a_set_that_was_flushed_is_noticed, servers_set_up,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
