/*
 * What a whole node does for those who move its keys, where bounds and failures meet: marks in a
 * transaction that is lost, the longest value, who a node says that it is.
 * covers: store/random_hex, store/dump
 */
#include "store/random_hex.h"
#include "store/redis_rig.h"

#include "store/dump.h"

#define SET_NAME "\"\\x00cw:dirty:1:1\""

/* ---- marks and lost transactions ------------------------------------------------------------- */

static void append_set(struct buffer *out, int number, struct slice value)
{
    buffer_printf(out, "*3\r\n$3\r\nSET\r\n$4\r\n%04d\r\n", number);
    resp_write_bulk(out, value.ptr, value.len);
}

/* Writes until there is no more room for such a value. */
static void fill(int fd, struct client_input *input, size_t *taken, struct slice value)
{
    struct slice reply = {"+", 1};
    for (int i = 0; reply.ptr[0] == '+'; i++) {
        struct buffer request = BUFFER_INIT;
        append_set(&request, i, value);
        client_send(fd, buffer_bytes(&request), request.len);
        buffer_release(&request);
        reply = client_reply(fd, input, taken);
    }
}

/* The node is full: a batch with a write in it fails as one, and each command is executed again on
 * its own. All of it is sent in one small piece, so that it is one batch. */
static void a_batch_that_is_executed_again_pops_no_mark_twice(void **state)
{
    struct node_rig rig;
    struct embedded_node_options options = node_rig_options();
    struct client_input input = {BUFFER_INIT};
    struct buffer request = BUFFER_INIT;
    size_t taken = 0;
    static char value[8000];
    options.size_max = 1 << 20;
    node_rig_start(&rig, options);
    int fd = client_open(rig.port);
    fill(fd, &input, &taken, (struct slice){value, sizeof value});
    buffer_append_text(&request, "SADD " SET_NAME " a b c\r\n");
    buffer_append_text(&request, "SPOP " SET_NAME " 2\r\nSADD " SET_NAME " d\r\n");
    append_set(&request, 9999, (struct slice){value, sizeof value});
    buffer_append_text(&request, "SCARD " SET_NAME "\r\n");
    client_send(fd, buffer_bytes(&request), request.len);
    static const char *const wanted[] = {":3\r\n", "*2\r\n", ":1\r\n", "-", ":2\r\n"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct slice reply = client_reply(fd, &input, &taken);
        assert_true(reply.len >= strlen(wanted[i]));
        assert_memory_equal(reply.ptr, wanted[i], strlen(wanted[i]));
    }
    buffer_release(&request);
    buffer_release(&input.bytes);
    close(fd);
    node_rig_stop(&rig);
}

/* ---- large values ---------------------------------------------------------------------------- */

static struct slice ask_bulk(int fd, struct client_input *input, size_t *taken, const char *name,
                             const char *key)
{
    struct buffer request = BUFFER_INIT;
    struct resp_value value;
    resp_write_array(&request, 2);
    resp_write_bulk_text(&request, name);
    resp_write_bulk_text(&request, key);
    client_send(fd, buffer_bytes(&request), request.len);
    buffer_release(&request);
    struct slice reply = client_reply(fd, input, taken);
    assert_int_equal(resp_read_value(reply.ptr, reply.len, &value), RESP_DONE);
    return value.text;
}

static void send_with(int fd, const char *head, struct slice bytes, struct client_input *input,
                      size_t *taken, const char *wanted)
{
    struct buffer request = BUFFER_INIT;
    buffer_append_text(&request, head);
    resp_write_bulk(&request, bytes.ptr, bytes.len);
    client_send(fd, buffer_bytes(&request), request.len);
    buffer_release(&request);
    struct slice reply = client_reply(fd, input, taken);
    assert_memory_equal(reply.ptr, wanted, strlen(wanted));
}

/* Its payload is longer than the longest value: it passes all the same, and no value does. */
static void the_longest_value_can_be_dumped_and_restored(void **state)
{
    struct node_rig rig;
    struct embedded_node_options options = node_rig_options();
    struct client_input input = {BUFFER_INIT};
    size_t taken = 0, len = options.limits.arg_len_max;
    node_rig_start(&rig, options);
    int fd = client_open(rig.port);
    char *value = malloc(len + 1);
    assert_non_null(value);
    memset(value, 'v', len + 1);
    send_with(fd, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n", (struct slice){value, len}, &input, &taken,
              "+OK");
    send_with(fd, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n", (struct slice){value, len + 1}, &input, &taken,
              "-ERR string exceeds maximum allowed size");
    struct slice payload = ask_bulk(fd, &input, &taken, "DUMP", "k");
    assert_int_equal(payload.len, dump_len(len));
    char *copy = malloc(payload.len);
    assert_non_null(copy);
    memcpy(copy, payload.ptr, payload.len);
    send_with(fd, "*4\r\n$7\r\nRESTORE\r\n$1\r\nz\r\n$1\r\n0\r\n",
              (struct slice){copy, payload.len}, &input, &taken, "+OK");
    struct slice restored = ask_bulk(fd, &input, &taken, "GET", "z");
    assert_int_equal(restored.len, len);
    assert_memory_equal(restored.ptr, value, len);
    copy[payload.len / 2] ^= 1;
    send_with(fd, "*4\r\n$7\r\nRESTORE\r\n$1\r\ny\r\n$1\r\n0\r\n",
              (struct slice){copy, payload.len}, &input, &taken, "-ERR DUMP payload");
    free(value);
    free(copy);
    buffer_release(&input.bytes);
    close(fd);
    node_rig_stop(&rig);
}

static void a_payload_that_is_a_deletion_or_has_a_key_is_refused(void **state)
{
    char bytes[128];
    struct record record = {.hlc = 5, .flags = RECORD_TOMBSTONE}, got;
    dump_write(&record, bytes);
    assert_false(dump_read((struct slice){bytes, dump_len(0)}, &got));
    record = (struct record){.hlc = 5, .expire_ms = 9, .value = {"abc", 3}};
    dump_write(&record, bytes);
    assert_true(dump_read((struct slice){bytes, dump_len(3)}, &got));
    assert_int_equal(got.hlc, 5);
    assert_int_equal(got.expire_ms, 9);
    assert_memory_equal(got.value.ptr, "abc", 3);
    assert_false(dump_read((struct slice){bytes, dump_len(3) - 1}, &got));
    record.flags = RECORD_HAS_KEY;
    record.key = (struct slice){"k", 1};
    bytes[0] = DUMP_VERSION;
    record_encode(&record, bytes + 1);
    assert_false(dump_read((struct slice){bytes, 1 + record_len(&record)}, &got));
}

/* ---- who a node is --------------------------------------------------------------------------- */

static void read_field(struct node_rig *rig, const char *name, char ret_text[64])
{
    char format[64];
    const char *info = node_ask(rig, "INFO server");
    const char *found = strstr(info, name);
    assert_non_null(found);
    snprintf(format, sizeof format, "%s%%63s", name);
    assert_int_equal(sscanf(found, format, ret_text), 1);
}

static void a_start_has_a_run_id_and_a_data_directory_an_incarnation(void **state)
{
    struct node_rig rig, other;
    char run_id[64], incarnation[64], text[64];
    node_rig_start(&rig, node_rig_options());
    read_field(&rig, "run_id:", run_id);
    read_field(&rig, "cw_incarnation:", incarnation);
    assert_int_equal(strlen(run_id), 40);
    assert_int_equal(strlen(incarnation), 32);
    node_ask(&rig, "FLUSHALL");
    node_rig_end(&rig);
    node_rig_start_again(&rig);
    read_field(&rig, "run_id:", text);
    assert_string_not_equal(text, run_id);
    read_field(&rig, "cw_incarnation:", text);
    assert_string_equal(text, incarnation);
    node_rig_start(&other, node_rig_options());
    read_field(&other, "cw_incarnation:", text);
    assert_string_not_equal(text, incarnation);
    node_rig_stop(&rig);
    node_rig_stop(&other);
}

static void digits_of_a_seed_are_always_the_same(void **state)
{
    char one[41], two[41];
    random_hex(7, 40, one);
    random_hex(7, 40, two);
    assert_string_equal(one, two);
    assert_int_equal(strspn(one, "0123456789abcdef"), 40);
    random_hex(8, 40, two);
    assert_string_not_equal(one, two);
    random_hex(0, 40, one);
    random_hex(0, 40, two);
    assert_string_not_equal(one, two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_that_is_executed_again_pops_no_mark_twice),
        cmocka_unit_test(the_longest_value_can_be_dumped_and_restored),
        cmocka_unit_test(a_payload_that_is_a_deletion_or_has_a_key_is_refused),
        cmocka_unit_test(a_start_has_a_run_id_and_a_data_directory_an_incarnation),
        cmocka_unit_test(digits_of_a_seed_are_always_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
