/*
 * What a real redis-server says of itself, and an estimate of its keys.
 *
 * covers: move/look, move/estimate
 */
#include "move/two_servers.h"

#include "move/check.h"

static struct node_facts look_at(int side)
{
    struct node_facts facts;
    assert_non_null(
        job_look(&servers.move, servers.peers[side], &facts, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    assert_done(&end);
    return facts;
}

static void test_a_server_is_what_it_says(void **state)
{
    (void)state;
    SERVER_DO(&servers, SOURCE, "MSET a 1 b 2");
    struct node_facts facts = look_at(SOURCE);
    assert_int_equal(strlen(facts.run_id), 40);
    assert_true(facts.version[0] >= '7' && facts.version[0] <= '9');
    assert_true(facts.dump_version >= 10);
    assert_int_equal(facts.key_count, 2);
    assert_true(facts.memory_used > 100000);
    assert_int_equal(facts.memory_max, 0);
    assert_false(facts.is_replica || facts.is_loading || facts.is_cluster || facts.evicts);
    assert_string_equal(facts.refusal, "");
    assert_string_equal(SERVER_SHOW(&servers, SOURCE, "DBSIZE"), ":2 ");
    assert_string_not_equal(facts.run_id, look_at(TARGET).run_id);
}

static void test_settings_that_matter_are_seen(void **state)
{
    (void)state;
    SERVER_DO(&servers, TARGET, "CONFIG SET maxmemory 100mb maxmemory-policy allkeys-lru");
    struct node_facts facts = look_at(TARGET);
    assert_int_equal(facts.memory_max, 100 << 20);
    assert_true(facts.evicts);
    SERVER_DO(&servers, TARGET, "CONFIG SET maxmemory 1 maxmemory-policy noeviction");
    facts = look_at(TARGET);
    assert_non_null(strstr(facts.refusal, "OOM"));
    SERVER_DO(&servers, TARGET, "CONFIG SET maxmemory 0");
    SERVER_DO(&servers, TARGET, "REPLICAOF 127.0.0.1 1");
    facts = look_at(TARGET);
    SERVER_DO(&servers, TARGET, "REPLICAOF NO ONE");
    assert_true(facts.is_replica);
    assert_non_null(strstr(facts.refusal, "READONLY"));
}

/* All keys of the source move, so a sample says how many there are: with no error. */
static void test_an_estimate_of_keys_and_their_weight(void **state)
{
    (void)state;
    struct move_estimate result;
    uint64_t keys_to[1] = {0}, bytes_to[1] = {0};
    memset(&result, 0, sizeof result);
    result.keys_to = keys_to;
    result.bytes_to = bytes_to;
    SERVER_DO(&servers, SOURCE,
              "EVAL \"for i = 1, 50000 do redis.call('SET', 'key:' .. i, string.rep('x', 100)) "
              "end\" 0");
    assert_non_null(job_estimate(&servers.move, 0, 4000, &result, servers_on_done, &servers));
    struct job_end end = servers_run(&servers);
    assert_done(&end);
    assert_in_range(result.sampled, 4000, 6000);
    assert_int_equal(end.count, result.sampled);
    assert_in_range(result.keys, 50000, 50002);
    assert_in_range(result.bytes, result.keys * 100, result.keys * 300);
    assert_int_equal(keys_to[0], result.keys);
    assert_int_equal(bytes_to[0], result.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_is_what_it_says),
        cmocka_unit_test(test_settings_that_matter_are_seen),
        cmocka_unit_test(test_an_estimate_of_keys_and_their_weight),
    };
    return cmocka_run_group_tests(tests, servers_set_up, servers_tear_down);
}
