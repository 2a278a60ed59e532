/* Dirty sets as commands, at their bounds. (What they answer: test_mover_commands_uv.c.) */
#include "store/engine_rig.h"

#define SET_NAME "\"\\x00cw:dirty:1:1\""

static void a_mark_too_many_is_refused_and_said(void **state)
{
    struct engine_rig *rig = *state;
    rig->engine.marks.count_max = 3;
    expect(rig, "SADD " SET_NAME " a b c", ":3");
    expect(rig, "SADD " SET_NAME " a c", ":0");
    assert_memory_equal(ask(rig, "SADD " SET_NAME " d"), "-OOM ", 5);
    expect(rig, "SCARD " SET_NAME, ":3");
    expect(rig, "SREM " SET_NAME " a", ":1");
    expect(rig, "SADD " SET_NAME " d", ":1");
}

static void what_does_not_fit_into_the_reply_stays_in_the_set(void **state)
{
    struct engine_rig *rig = *state;
    char command[64];
    int popped = 0, count = 1;
    rig->engine.reply_len_max = 200;
    for (int i = 0; i < 100; i++) {
        snprintf(command, sizeof command, "SADD " SET_NAME " m%d", i);
        expect(rig, command, ":1");
    }
    while (count > 0) {
        const char *reply = ask(rig, "SPOP " SET_NAME " 1000");
        assert_int_equal(sscanf(reply, "*%d", &count), 1);
        assert_in_range(count, 0, 20);
        popped += count;
    }
    assert_int_equal(popped, 100);
}

static void a_client_of_resp3_gets_a_set(void **state)
{
    struct engine_rig *rig = *state;
    rig->session.protocol = 3;
    expect(rig, "SADD " SET_NAME " a", ":1");
    expect(rig, "SPOP " SET_NAME " 5", "~1 $1 a");
    expect(rig, "SPOP " SET_NAME, "_");
}

static void flushing_drops_the_marks_too(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SADD " SET_NAME " a", ":1");
    expect(rig, "SADD \"\\x00cw:dirty:1:2\" a", ":1");
    expect(rig, "FLUSHALL", "+OK");
    expect(rig, "EXISTS " SET_NAME " \"\\x00cw:dirty:1:2\"", ":0");
    assert_int_equal(rig->engine.marks.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(a_mark_too_many_is_refused_and_said),
        rig_test(what_does_not_fit_into_the_reply_stays_in_the_set),
        rig_test(a_client_of_resp3_gets_a_set),
        rig_test(flushing_drops_the_marks_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
