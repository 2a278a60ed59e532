/* SCAN, KEYS and RANDOMKEY. */
#include "base/random.h"
#include "store/engine_rig.h"

enum { KEY_COUNT = 3000 };

/* How often each key "key-N" was seen. */
struct sightings {
    unsigned short counts[KEY_COUNT];
    size_t total;
};

static void note_keys(const char *bytes, size_t len, struct sightings *sightings)
{
    for (const char *at = bytes; (at = memmem(at, len - (size_t)(at - bytes), "key-", 4));
         at += 4) {
        int number = (int)strtol(at + 4, NULL, 10);
        assert_in_range(number, 0, KEY_COUNT - 1);
        sightings->counts[number]++;
        sightings->total++;
    }
}

/* One call from a cursor; the next cursor. */
static uint64_t scan(struct engine_rig *rig, uint64_t cursor, const char *options,
                     struct sightings *sightings)
{
    char line[128];
    unsigned long long next;
    snprintf(line, sizeof line, "SCAN %llu %s\r\n", (unsigned long long)cursor, options);
    assert_int_equal(engine_rig_run(rig, line, strlen(line)), STORE_OK);
    buffer_append(&rig->out, "", 1);
    assert_int_equal(sscanf(buffer_bytes(&rig->out), "*2\r\n$%*d\r\n%llu\r\n", &next), 1);
    note_keys(buffer_bytes(&rig->out), rig->out.len, sightings);
    assert_true(next < 1ull << 48);
    return next;
}

static void put_keys(struct engine_rig *rig, int from, int to)
{
    char line[64];
    for (int i = from; i < to; i++) {
        snprintf(line, sizeof line, "SET key-%d v", i);
        expect(rig, line, "+OK");
    }
}

static void a_scan_sees_every_key_once(void **state)
{
    struct engine_rig *rig = *state;
    struct sightings sightings = {.total = 0};
    uint64_t cursor = 0;
    int calls = 0;
    put_keys(rig, 0, KEY_COUNT);
    do {
        cursor = scan(rig, cursor, "COUNT 17", &sightings);
        calls++;
    } while (cursor);
    assert_int_equal(sightings.total, KEY_COUNT);
    for (int i = 0; i < KEY_COUNT; i++)
        assert_int_equal(sightings.counts[i], 1);
    assert_in_range(calls, KEY_COUNT / 18, KEY_COUNT / 16);
}

/* Half of the keys are there all the time, the others come and go between the calls. */
static void a_scan_misses_no_key_that_is_there_throughout(void **state)
{
    struct engine_rig *rig = *state;
    struct random random = {11};
    char line[64];
    put_keys(rig, 0, KEY_COUNT / 2);
    for (int round = 0; round < 5; round++) {
        struct sightings sightings = {.total = 0};
        uint64_t cursor = 0;
        do {
            for (int i = 0; i < 10; i++) {
                int number = KEY_COUNT / 2 + (int)random_below(&random, KEY_COUNT / 2);
                snprintf(line, sizeof line,
                         random_below(&random, 2) ? "SET key-%d v" : "DEL key-%d", number);
                ask(rig, line);
            }
            cursor = scan(rig, cursor, "", &sightings);
        } while (cursor);
        for (int i = 0; i < KEY_COUNT / 2; i++)
            if (sightings.counts[i] != 1)
                fail_msg("round %d: key-%d was seen %d times", round, i, sightings.counts[i]);
    }
}

static void keys_with_one_tag_come_together(void **state)
{
    struct engine_rig *rig = *state;
    struct sightings sightings = {.total = 0};
    char line[64];
    for (int i = 0; i < 100; i++) {
        snprintf(line, sizeof line, "SET {t}key-%d v", i);
        expect(rig, line, "+OK");
    }
    assert_int_equal(scan(rig, 0, "COUNT 10", &sightings), 0);
    assert_int_equal(sightings.total, 100);
}

static void options_narrow_a_scan(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "MSET abc 1 abd 2 xyz 3", "+OK");
    expect(rig, "SCAN 0 MATCH xy* COUNT 100", "*2 $1 0 *1 $3 xyz");
    expect(rig, "SCAN 0 TYPE hash COUNT 100", "*2 $1 0 *0");
    expect(rig, "SCAN 0 TYPE string MATCH a?d COUNT 100", "*2 $1 0 *1 $3 abd");
}

static void bad_options_are_refused(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SCAN x", "-ERR invalid cursor");
    expect(rig, "SCAN -1", "-ERR invalid cursor");
    expect(rig, "SCAN 281474976710656", "-ERR invalid cursor");
    expect(rig, "SCAN 281474976710655", "*2 $1 0 *0");
    expect(rig, "SCAN 0 COUNT 0", "-ERR syntax error");
    expect(rig, "SCAN 0 COUNT x", "-ERR value is not an integer or out of range");
    expect(rig, "SCAN 0 COUNT", "-ERR syntax error");
    expect(rig, "SCAN 0 MATCH", "-ERR syntax error");
    expect(rig, "SCAN 0 WHAT 1", "-ERR syntax error");
}

static void a_pattern_has_a_limit(void **state)
{
    struct engine_rig *rig = *state;
    struct buffer line = BUFFER_INIT;
    buffer_append_text(&line, "KEYS ");
    for (int i = 0; i < 4097; i++)
        buffer_append(&line, "a", 1);
    buffer_append_text(&line, "\r\n");
    assert_int_equal(engine_rig_run(rig, buffer_bytes(&line), line.len), STORE_OK);
    assert_string_equal(engine_rig_show(rig), "-ERR the pattern is longer than 4096 bytes");
    buffer_release(&line);
}

static void keys_answers_all_that_fit(void **state)
{
    struct engine_rig *rig = *state;
    struct sightings sightings = {.total = 0};
    put_keys(rig, 0, 500);
    expect(rig, "SET '' empty", "+OK");
    ask(rig, "KEYS key-*");
    buffer_append(&rig->out, "", 1);
    assert_memory_equal(buffer_bytes(&rig->out), "*500\r\n", 6);
    note_keys(buffer_bytes(&rig->out), rig->out.len, &sightings);
    assert_int_equal(sightings.total, 500);
    assert_memory_equal(ask(rig, "KEYS *"), "*501 ", 5);
    expect(rig, "KEYS key-499", "*1 $7 key-499");
    expect(rig, "KEYS nothing*", "*0");
}

static void too_many_keys_for_one_reply_are_an_error(void **state)
{
    struct engine_rig *rig = *state;
    put_keys(rig, 0, 500);
    rig->engine.reply_len_max = 1000;
    expect(rig, "KEYS *", "-ERR the reply would be longer than 1000 bytes; ask for fewer keys");
    expect(rig, "KEYS key-499", "*1 $7 key-499");
}

static void random_keys_are_of_all_keys(void **state)
{
    struct engine_rig *rig = *state;
    struct sightings sightings = {.total = 0};
    expect(rig, "RANDOMKEY", "$-1");
    put_keys(rig, 0, 20);
    for (int i = 0; i < 2000; i++) {
        ask(rig, "RANDOMKEY");
        buffer_append(&rig->out, "", 1);
        note_keys(buffer_bytes(&rig->out), rig->out.len, &sightings);
    }
    assert_int_equal(sightings.total, 2000);
    for (int i = 0; i < 20; i++)
        assert_in_range(sightings.counts[i], 1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(a_scan_sees_every_key_once),
        rig_test(a_scan_misses_no_key_that_is_there_throughout),
        rig_test(keys_with_one_tag_come_together),
        rig_test(options_narrow_a_scan),
        rig_test(bad_options_are_refused),
        rig_test(a_pattern_has_a_limit),
        rig_test(keys_answers_all_that_fit),
        rig_test(too_many_keys_for_one_reply_are_an_error),
        rig_test(random_keys_are_of_all_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
