/*
 * Verification between two real redis-servers: what is equal is found equal, and each single
 * difference is found, in small values and in large ones.
 *
 * covers: move/verify, move/verify_key, move/verify_value, move/verify_deep
 */
#include "move/two_servers.h"

#include "move/copy_big.h"

static struct key_list differ;

static int teardown(void **state)
{
    key_list_release(&differ);
    return servers_tear_down(state);
}

static void flush(void)
{
    SERVER_DO(&servers, SOURCE, "FLUSHALL");
    SERVER_DO(&servers, TARGET, "FLUSHALL");
    servers.move.by_value = false;
}

static void on_both(const char *command)
{
    SERVER_DO(&servers, SOURCE, "%s", command);
    SERVER_DO(&servers, TARGET, "%s", command);
}

static struct job_end verify_key(const char *key)
{
    struct key_list list = KEY_LIST_INIT;
    assert_true(key_list_add(&list, slice_of(key)));
    assert_non_null(job_verify(&servers.move, 0, &list, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    key_list_release(&list);
    assert_int_equal(end.count, 1);
    return end;
}

static struct job_end verify_value(const char *key)
{
    struct key_list list = KEY_LIST_INIT;
    assert_true(key_list_add(&list, slice_of(key)));
    assert_non_null(job_verify_values(&servers.move, 0, &list, NULL, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    key_list_release(&list);
    return end;
}

/* How many keys a deep verification finds different; their names are in `differ`. */
static size_t verify_all(void)
{
    key_list_clear(&differ);
    assert_non_null(job_verify_deep(&servers.move, 0, &differ, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    assert_done(&end);
    assert_int_equal(end.problem[0] != '\0', key_list_count(&differ) > 0);
    return key_list_count(&differ);
}

/* ---- type, length, expiry ---------------------------------------------------------------------
 */

static const char *const outside[][3] = {
    /* on both, then on the target, and what is said */
    {"SET k 1", "RPUSH k a", "type"},
    {"SET k 1", "SET k 12", "length"},
    {"SET k 1", "DEL k", "not on the target"},
    {"SET k 1", "PEXPIREAT k 4102444800000", "expires"},
    {"SET k 1 PXAT 4102444800000", "PEXPIREAT k 4102444800001", "expires"},
    {"HSET k a 1", "HSET k b 1", "length"},
    {"SADD k a 1", "SADD k b 2", "length"},
    {"ZADD k 1 a", "ZADD k 1 b", "length"},
    {"RPUSH k a", "RPUSH k b", "length"},
    {"XADD k 1-1 a b", "XADD k 1-2 a b", "length"},
};

static void test_type_length_and_expiry_must_be_equal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        flush();
        on_both(outside[i][0]);
        struct job_end end = verify_key("k");
        assert_done(&end);
        if (strcmp(outside[i][2], "type") == 0)
            SERVER_DO(&servers, TARGET, "DEL k");
        SERVER_DO(&servers, TARGET, "%s", outside[i][1]);
        end = verify_key("k");
        assert_int_equal(end.result, JOB_DIFFERS);
        assert_non_null(strstr(end.problem, "'k'"));
        assert_non_null(strstr(end.problem, "node-a"));
        assert_non_null(strstr(end.problem, outside[i][2]));
    }
}

static void test_a_key_that_neither_has_is_equal(void **state)
{
    (void)state;
    flush();
    struct job_end end = verify_key("nowhere");
    assert_done(&end);
    SERVER_DO(&servers, TARGET, "SET nowhere 1");
    end = verify_key("nowhere");
    assert_int_equal(end.result, JOB_DIFFERS);
    assert_non_null(strstr(end.problem, "only on the target"));
}

/* Long ago by the source's clock and about to by the target's: the source may already have dropped
 * it. */
static void test_what_expires_in_this_moment_is_equal(void **state)
{
    (void)state;
    flush();
    SERVER_DO(&servers, TARGET, "DEBUG SET-ACTIVE-EXPIRE 0");
    SERVER_DO(&servers, TARGET, "SET k 1 PX 900");
    struct job_end end = verify_key("k");
    SERVER_DO(&servers, TARGET, "DEBUG SET-ACTIVE-EXPIRE 1");
    assert_done(&end);
}

static void test_a_long_list_is_verified_to_its_end(void **state)
{
    (void)state;
    struct key_list list = KEY_LIST_INIT;
    flush();
    on_both("EVAL \"for i = 1, 3000 do redis.call('SET', 'key:' .. i, i) end\" 0");
    for (int i = 1; i <= 3000; i++) {
        char name[32];
        int len = snprintf(name, sizeof name, "key:%d", i);
        assert_true(key_list_add(&list, (struct slice){name, (size_t)len}));
    }
    for (int round = 0; round < 2; round++) {
        assert_non_null(job_verify(&servers.move, 0, &list, servers_on_done, &servers));
        struct job_end end = servers_run(&servers);
        assert_int_equal(end.result, round == 0 ? JOB_DONE : JOB_DIFFERS);
        assert_int_equal(end.count, 3000);
        SERVER_DO(&servers, TARGET, "DEL key:3000");
    }
    key_list_release(&list);
}

/* ---- values -----------------------------------------------------------------------------------
 */

static const struct {
    const char *script; /* makes ARGV[1] elements of KEYS[1] */
    const char *change; /* on the target: same length, another value */
} values[] = {
    {"redis.call('SET', KEYS[1], string.rep('0123456789', ARGV[1] * 10))", "SETRANGE k 77 x"},
    {"for i = 1, ARGV[1] do redis.call('HSET', KEYS[1], 'f' .. i, 'value' .. i * 7) end",
     "HSET k f17 other"},
    {"for i = 1, ARGV[1] do redis.call('HSET', KEYS[1], 'f' .. i, 'value' .. i * 7) end",
     "EVAL \"redis.call('HDEL', 'k', 'f3') redis.call('HSET', 'k', 'new', 1)\" 0"},
    {"for i = 1, ARGV[1] do redis.call('SADD', KEYS[1], 'member' .. i) end",
     "EVAL \"redis.call('SREM', 'k', 'member3') redis.call('SADD', 'k', 'new')\" 0"},
    {"for i = 1, ARGV[1] do redis.call('ZADD', KEYS[1], i / 7, 'member' .. i) end",
     "ZINCRBY k 1e-15 member1"},
    {"for i = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], 'element' .. i) end", "LSET k 40 other"},
    {"for i = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], 'element' .. i) end",
     "EVAL \"redis.call('RPUSH', 'k', redis.call('LPOP', 'k'))\" 0"},
    {"for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], i .. '-1', 'a', 'some text', 'b', i) end",
     "EVAL \"redis.call('XDEL', 'k', '1-1') redis.call('XADD', 'k', '*', 'a', 'b')\" 0"},
    {"for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], i .. '-1', 'a', 'some text', 'b', i) end",
     "XSETID k 99999999-1"},
    {"for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], i .. '-1', 'a', 'some text', 'b', i) end",
     "XGROUP CREATE k other 0"},
};

static void check_value(size_t i, unsigned count, bool by_value)
{
    flush();
    servers.move.by_value = by_value;
    SERVER_DO(&servers, SOURCE, "EVAL \"%s\" 1 k %u", values[i].script, count);
    assert_non_null(copy_big_start(&servers.move, 0, 0, slice_of("k"), servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    assert_done(&end);
    end = verify_value("k");
    assert_done(&end);
    SERVER_DO(&servers, TARGET, "%s", values[i].change);
    end = verify_value("k");
    if (end.result != JOB_DIFFERS)
        fail_msg("not found after %s, with %u elements", values[i].change, count);
}

static void test_every_difference_of_values_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        check_value(i, 50, false);
        check_value(i, 50, true);
        check_value(i, 700, true);
        check_value(i, 20000, false);
    }
}

/* The same members put in in another order: DUMP payloads differ. */
static void test_order_of_insertion_makes_no_difference(void **state)
{
    (void)state;
    flush();
    on_both("HSET fields z 1");
    SERVER_DO(&servers, SOURCE, "HSET fields a 1 b 2");
    SERVER_DO(&servers, TARGET, "HSET fields b 2 a 1");
    SERVER_DO(&servers, SOURCE, "SADD members a b c");
    SERVER_DO(&servers, TARGET, "SADD members c b a");
    assert_int_equal(verify_all(), 0);
}

/* ---- everything -------------------------------------------------------------------------------
 */

static void test_a_deep_verification_finds_exactly_what_differs(void **state)
{
    (void)state;
    flush();
    on_both("EVAL \"for i = 1, 2500 do redis.call('SET', 'key:' .. i, i) end\" 0");
    on_both("EVAL \"for i = 1, 20000 do redis.call('HSET', 'big', 'field' .. i, 'v' .. i) end\" 0");
    SERVER_DO(&servers, SOURCE, "SADD \"\\x00cw:dirty:7.1:1\" x");
    SERVER_DO(&servers, TARGET, "SET \"\\x00cw:mig:7.1:big\" x");
    assert_int_equal(verify_all(), 0);
    assert_true(servers.progress.keys_verified >= 2501);
    SERVER_DO(&servers, TARGET, "HSET big field777 other");
    SERVER_DO(&servers, TARGET, "SET key:100 x");
    SERVER_DO(&servers, TARGET, "SET more x");
    SERVER_DO(&servers, SOURCE, "SET less x");
    assert_int_equal(verify_all(), 4);
    const char *const expected[] = {"big", "key:100", "less", "more"};
    for (size_t i = 0; i < 4; i++) {
        bool is_there = false;
        for (size_t at = 0; at < 4; at++)
            is_there |= slice_is(key_list_at(&differ, at), expected[i]);
        assert_true(is_there);
    }
}

static void test_a_node_that_does_not_answer_ends_the_job(void **state)
{
    (void)state;
    struct peer *peer = servers.peers[TARGET];
    struct peer_options options = {.id = "gone", .address = "127.0.0.1:1", .timeout_ms = 300};
    assert_int_equal(peer_create(servers.loop, &options, &servers.peers[TARGET]), 0);
    assert_non_null(job_verify_deep(&servers.move, 0, &differ, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    peer_destroy(&servers.peers[TARGET]);
    servers.peers[TARGET] = peer;
    assert_int_equal(end.result, JOB_FAILED);
    assert_non_null(strstr(end.problem, "gone"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type_length_and_expiry_must_be_equal),
        cmocka_unit_test(test_a_key_that_neither_has_is_equal),
        cmocka_unit_test(test_what_expires_in_this_moment_is_equal),
        cmocka_unit_test(test_a_long_list_is_verified_to_its_end),
        cmocka_unit_test(test_every_difference_of_values_is_found),
        cmocka_unit_test(test_order_of_insertion_makes_no_difference),
        cmocka_unit_test(test_a_deep_verification_finds_exactly_what_differs),
        cmocka_unit_test(test_a_node_that_does_not_answer_ends_the_job),
    };
    return cmocka_run_group_tests(tests, servers_set_up, teardown);
}
