/*
 * A hash of a million fields is copied as a job, over an older one of the same size, and no command
 * takes a server long.
 *
 * SLOWLOG counts the time of the clock, and on a busy machine a server may lose its processor in
 * the middle of anything. A command that is slow by nature is slow each time; so every kind of
 * command has several attempts to show that it is not, by its mean.
 *
 * covers: move/copy_big_job
 */
#include "move/two_servers.h"

#include "move/job_internal.h"

enum { FIELDS = 1000000, SLOW_US = 10000, ATTEMPTS = 2, KINDS_MAX = 64, NAME_SIZE = 32 };

struct kind {
    char name[NAME_SIZE];
    double best_us;
};

static void fill(int side)
{
    for (int from = 0; from < FIELDS; from += 50000)
        SERVER_DO(&servers, side,
                  "EVAL \"for i = ARGV[1], ARGV[1] + 49999 do redis.call('HSET', KEYS[1], "
                  "'field:' .. i, 'value of ' .. i) end\" 1 big %d",
                  from);
}

static int slow_count(int side)
{
    const char *line = SERVER_SHOW(&servers, side, "SLOWLOG LEN");
    return (int)strtol(line + 1, NULL, 10);
}

/* Takes the means of a server's commands; returns how many kinds are known. */
static size_t note_means(int side, struct kind *kinds, size_t count)
{
    struct slice reply = server_call(&servers, side, "INFO commandstats");
    static const char start[] = "cmdstat_", mean[] = "usec_per_call=";
    const char *at = reply.ptr, *end = reply.ptr + reply.len;
    while ((at = memmem(at, (size_t)(end - at), start, sizeof start - 1))) {
        char name[NAME_SIZE];
        at += sizeof start - 1;
        const char *colon = memchr(at, ':', (size_t)(end - at));
        const char *value = colon ? memmem(colon, (size_t)(end - colon), mean, sizeof mean - 1)
                                  : NULL;
        if (!value)
            break;
        double us = strtod(value + sizeof mean - 1, NULL);
        snprintf(name, sizeof name, "%d %.*s", side, (int)(colon - at), at);
        size_t i = 0;
        while (i < count && strcmp(kinds[i].name, name) != 0)
            i++;
        if (i == count) {
            assert_in_range(count, 0, KINDS_MAX - 1);
            snprintf(kinds[count].name, NAME_SIZE, "%s", name);
            kinds[count++].best_us = us;
        } else if (us < kinds[i].best_us) {
            kinds[i].best_us = us;
        }
    }
    return count;
}

static struct job_end copy_job(const char *key)
{
    assert_non_null(job_copy_big(&servers.move, 0, slice_of(key), servers_on_done, &servers));
    return servers_run(&servers);
}

static void copy_measured(void)
{
    for (int side = SOURCE; side <= TARGET; side++) {
        SERVER_DO(&servers, side, "CONFIG SET slowlog-log-slower-than %d", SLOW_US);
        SERVER_DO(&servers, side, "CONFIG RESETSTAT");
        SERVER_DO(&servers, side, "SLOWLOG RESET");
    }
    struct job_end end = copy_job("big");
    assert_done(&end);
    assert_int_equal(end.count, 1);
}

static void test_a_million_fields_keep_no_server_busy(void **state)
{
    (void)state;
    struct kind kinds[KINDS_MAX];
    size_t count = 0;
    int slow = 1;
    fill(SOURCE);
    fill(TARGET);
    for (int attempt = 0; attempt < ATTEMPTS && slow; attempt++) {
        copy_measured();
        slow = slow_count(SOURCE) + slow_count(TARGET);
        for (int side = SOURCE; side <= TARGET; side++)
            count = note_means(side, kinds, count);
        print_message("attempt %d: %d commands took more than %d us\n", attempt + 1, slow, SLOW_US);
    }
    assert_true(count > 4);
    for (size_t i = 0; i < count; i++)
        if (kinds[i].best_us >= SLOW_US)
            fail_msg("%s takes %.0f us", kinds[i].name, kinds[i].best_us);
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "HLEN big"), ":1000000 ");
    assert_string_equal(SERVER_SHOW(&servers, TARGET, "DBSIZE"), ":1 ");
    for (int i = 999; i < FIELDS; i += 99000) {
        char value[64];
        snprintf(value, sizeof value, "value of %d", i);
        struct slice reply = server_call(&servers, TARGET, "HGET big field:%d", i), text;
        assert_true(answer_is_text(reply.ptr, reply.len, &text) && slice_is(text, value));
    }
}

static void test_a_key_that_does_not_move_is_refused(void **state)
{
    (void)state;
    servers.move.to = servers.maps[SOURCE];
    struct job_end end = copy_job("big");
    servers.move.to = servers.maps[TARGET];
    assert_int_equal(end.result, JOB_REFUSED);
    assert_non_null(strstr(end.problem, "'big'"));
}

static void on_nothing(void *context, const struct job_end *end)
{
    (void)context;
    (void)end;
    fail_msg("a job that was stopped told its end");
}

static void test_a_job_may_be_stopped_at_once(void **state)
{
    (void)state;
    SERVER_DO(&servers, SOURCE, "SET small 1");
    struct job *job = job_copy_big(&servers.move, 0, slice_of("big"), on_nothing, NULL);
    job_stop(&job);
    assert_null(job);
    struct job_end end = copy_job("small"); /* answered after what was asked for the other one */
    assert_done(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_million_fields_keep_no_server_busy),
        cmocka_unit_test(test_a_key_that_does_not_move_is_refused),
        cmocka_unit_test(test_a_job_may_be_stopped_at_once),
    };
    return cmocka_run_group_tests(tests, servers_set_up, servers_tear_down);
}
