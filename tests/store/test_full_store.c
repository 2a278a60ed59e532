/* A store that is full: what does not fit is refused by name, what was acknowledged stays, and keys
 * can still be deleted.
 * covers: store/store_lmdb_explain */
#include "store/engine_rig.h"

enum { SIZE_MAX_BYTES = 1 << 20, VALUE_LEN = 1000 };

static void big_set(struct buffer *request, int number, size_t len)
{
    char key[32];
    buffer_clear(request);
    int key_len = snprintf(key, sizeof key, "key-%06d", number);
    buffer_printf(request, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%zu\r\n", key_len, key, len);
    char *to = buffer_reserve(request, len + 2);
    assert_non_null(to);
    memset(to, 'v', len);
    memcpy(to + len, "\r\n", 2);
    buffer_added(request, len + 2);
}

/* As the node does it: a failed request may use the reserve if it gives room back. */
static int run_request(struct engine_rig *rig, const char *bytes, size_t len)
{
    struct keyspace *keyspace = &rig->engine.keyspace;
    int status = engine_rig_run(rig, bytes, len);
    struct resp_request request;
    resp_request_init(&request);
    resp_request_parse(&request, bytes, len, &rig_limits);
    bool frees = call_frees_room(&request, bytes);
    resp_request_release(&request);
    if (status != STORE_FULL || !frees)
        return status;
    keyspace_begin(keyspace, STORE_FREE);
    return engine_rig_run(rig, bytes, len);
}

static int run_line(struct engine_rig *rig, const char *line)
{
    return run_request(rig, line, strlen(line));
}

/* Sets keys until one does not fit; how many did. */
static int fill(struct engine_rig *rig)
{
    struct buffer request = BUFFER_INIT;
    int count = 0, status;
    do {
        big_set(&request, count, VALUE_LEN);
        status = engine_rig_run(rig, buffer_bytes(&request), request.len);
        count += status == STORE_OK;
    } while (status == STORE_OK && count < 100000);
    assert_int_equal(status, STORE_FULL);
    buffer_release(&request);
    return count;
}

static void what_does_not_fit_is_refused_with_the_remedy(void **state)
{
    struct engine_rig *rig = *state;
    int count = fill(rig);
    const char *message = rig->store->ops->explain(rig->store, STORE_FULL);
    assert_in_range(count, 300, 1100);
    assert_non_null(strstr(message, "OOM node 'node-1' is full: "));
    assert_non_null(strstr(message, " of 1.0 MiB in use; delete keys, or raise its size_max"));
}

static void nothing_acknowledged_is_lost(void **state)
{
    struct engine_rig *rig = *state;
    char line[64];
    int count = fill(rig);
    engine_rig_close(rig);
    engine_rig_open(rig, SIZE_MAX_BYTES);
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "STRLEN key-%06d", i);
        expect(rig, line, ":1000");
    }
    snprintf(line, sizeof line, "EXISTS key-%06d", count);
    expect(rig, line, ":0");
}

static void keys_can_be_deleted_and_their_room_is_used_again(void **state)
{
    struct engine_rig *rig = *state;
    struct buffer request = BUFFER_INIT;
    char line[64];
    int count = fill(rig), again = 0;
    for (int i = 0; i < count; i += 2) {
        snprintf(line, sizeof line, "DEL key-%06d\r\n", i);
        assert_int_equal(run_line(rig, line), STORE_OK);
        assert_string_equal(engine_rig_show(rig), ":1");
    }
    for (int i = 0; i < count; i += 2) {
        big_set(&request, i, VALUE_LEN);
        again += engine_rig_run(rig, buffer_bytes(&request), request.len) == STORE_OK;
    }
    if (again < count / 2 - count / 10)
        fail_msg("of %d deleted keys only %d fit again", count / 2, again);
    buffer_release(&request);
}

static void a_full_store_can_be_emptied_at_once(void **state)
{
    struct engine_rig *rig = *state;
    fill(rig);
    assert_int_equal(run_line(rig, "FLUSHALL\r\n"), STORE_OK);
    expect(rig, "DBSIZE", ":0");
    expect(rig, "SET k v", "+OK");
}

static void getdel_works_on_a_full_store(void **state)
{
    struct engine_rig *rig = *state;
    fill(rig);
    assert_int_equal(run_line(rig, "GETDEL key-000007\r\n"), STORE_OK);
    assert_memory_equal(buffer_bytes(&rig->out), "$1000\r\n", 7);
}

static void expired_keys_are_swept_from_a_full_store(void **state)
{
    struct engine_rig *rig = *state;
    char line[64];
    for (int i = 0; i < 200; i++) {
        snprintf(line, sizeof line, "SET expiring-%d v PX 100", i);
        expect(rig, line, "+OK");
    }
    fill(rig);
    pass_ms(rig, 1000);
    int count, total = 0;
    while ((count = keyspace_sweep(&rig->engine.keyspace, 20)) > 0)
        total += count;
    assert_int_equal(count, 0);
    assert_int_equal(total, 200);
}

/* Deleting and filling in turn must not eat up the reserve. */
static void the_reserve_is_there_every_time(void **state)
{
    struct engine_rig *rig = *state;
    struct buffer request = BUFFER_INIT;
    char line[64];
    int count = fill(rig);
    for (int i = 0; i < 2000; i++) {
        int number = (int)((unsigned)i * 7919u % (unsigned)count);
        snprintf(line, sizeof line, "DEL key-%06d\r\n", number);
        assert_int_equal(run_line(rig, line), STORE_OK);
        big_set(&request, number, VALUE_LEN + 200 * (i % 3));
        int status = engine_rig_run(rig, buffer_bytes(&request), request.len);
        assert_true(status == STORE_OK || status == STORE_FULL);
    }
    buffer_release(&request);
}

static int small_setup(void **state)
{
    struct engine_rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    engine_rig_start_sized(rig, SIZE_MAX_BYTES);
    *state = rig;
    return 0;
}

#define small_test(name) cmocka_unit_test_setup_teardown(name, small_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        small_test(what_does_not_fit_is_refused_with_the_remedy),
        small_test(nothing_acknowledged_is_lost),
        small_test(keys_can_be_deleted_and_their_room_is_used_again),
        small_test(a_full_store_can_be_emptied_at_once),
        small_test(getdel_works_on_a_full_store),
        small_test(expired_keys_are_swept_from_a_full_store),
        small_test(the_reserve_is_there_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
