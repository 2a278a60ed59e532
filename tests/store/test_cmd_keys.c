/* Keys whatever they hold. */
#include "store/engine_rig.h"

static void keys_are_counted_and_deleted(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET a 1 b 2 c 3", "+OK");
    expect(rig, "EXISTS a a x", ":2");
    expect(rig, "TOUCH a b x", ":2");
    expect(rig, "TYPE a", "+string");
    expect(rig, "TYPE x", "+none");
    expect(rig, "DBSIZE", ":3");
    expect(rig, "DEL a a x", ":1");
    expect(rig, "UNLINK b", ":1");
    expect(rig, "DBSIZE", ":1");
}

static void flushing_leaves_nothing(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET a 1 b 2", "+OK");
    expect(rig, "SET c 3 EX 100", "+OK");
    expect(rig, "FLUSHALL what", "-ERR syntax error");
    expect(rig, "FLUSHALL async", "+OK");
    expect(rig, "DBSIZE", ":0");
    expect(rig, "SET a 1 EX 1", "+OK");
    expect(rig, "FLUSHDB SYNC", "+OK");
    expect(rig, "GET a", "$-1");
    expect(rig, "FLUSHDB sync async", "-ERR syntax error");
}

static void rename_takes_value_and_expiry_along(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "RENAME a b", "-ERR no such key");
    expect(rig, "RENAME a a", "-ERR no such key");
    expect(rig, "SET a v PX 5000", "+OK");
    expect(rig, "RENAME a a", "+OK");
    expect(rig, "SET b old", "+OK");
    expect(rig, "RENAME a b", "+OK");
    expect(rig, "MGET a b", "*2 $-1 $1 v");
    expect(rig, "PTTL b", ":5000");
    expect(rig, "SET c v", "+OK");
    expect(rig, "RENAMENX b c", ":0");
    expect(rig, "RENAMENX b b", ":0");
    expect(rig, "RENAMENX b d", ":1");
    expect(rig, "RENAMENX b d", "-ERR no such key");
    expect(rig, "DBSIZE", ":2");
}

static void copy_leaves_the_source(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "COPY a b", ":0");
    expect(rig, "SET a v PX 5000", "+OK");
    expect(rig, "COPY a b", ":1");
    expect(rig, "MGET a b", "*2 $1 v $1 v");
    expect(rig, "PTTL b", ":5000");
    expect(rig, "COPY a b", ":0");
    expect(rig, "SET a w", "+OK");
    expect(rig, "COPY a b REPLACE", ":1");
    expect(rig, "GET b", "$1 w");
    expect(rig, "PTTL b", ":-1");
    expect(rig, "COPY a a", "-ERR source and destination objects are the same");
    expect(rig, "COPY a c DB 0", ":1");
    expect(rig, "COPY a c DB 1", "-ERR DB index is out of range");
    expect(rig, "COPY a c DB", "-ERR syntax error");
    expect(rig, "COPY a c DB 3000000000",
           "-ERR value is out of range, value must between -2147483648 and 2147483647");
}

/* A value in the store is read and written in one transaction: it must not change under the copy.
 */
static void long_values_survive_rename_copy_and_append(void **state)
{
    struct engine_rig *rig = *state;
    struct slice value;
    char *big = malloc(300000);
    assert_non_null(big);
    for (int i = 0; i < 300000; i++)
        big[i] = (char)(i * 7 + i / 256);
    struct buffer request = BUFFER_INIT;
    buffer_append_text(&request, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$300000\r\n");
    buffer_append(&request, big, 300000);
    buffer_append_text(&request, "\r\n");
    assert_int_equal(engine_rig_run(rig, buffer_bytes(&request), request.len), STORE_OK);
    expect(rig, "COPY a b", ":1");
    expect(rig, "RENAME a c", "+OK");
    expect(rig, "APPEND c xyz", ":300003");
    ask(rig, "GET c");
    value = (struct slice){buffer_bytes(&rig->out) + strlen("$300003\r\n"), 300003};
    assert_memory_equal(value.ptr, big, 300000);
    assert_memory_equal(value.ptr + 300000, "xyz", 3);
    ask(rig, "GET b");
    assert_memory_equal(buffer_bytes(&rig->out) + strlen("$300000\r\n"), big, 300000);
    buffer_release(&request);
    free(big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(keys_are_counted_and_deleted),
        rig_test(flushing_leaves_nothing),
        rig_test(rename_takes_value_and_expiry_along),
        rig_test(copy_leaves_the_source),
        rig_test(long_values_survive_rename_copy_and_append),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
