/* A disk without room: the writers get an error, readers go on, nothing acknowledged is lost, and
 * with room again the node writes again. The disk is a limit on the size of files. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "store/node_rig.h"

enum { KEY_COUNT = 2000, VALUE_LEN = 500, PIPELINE = 20 };

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static rlim_t data_size(struct node_rig *rig)
{
    char path[RIG_PATH_MAX];
    struct stat status;
    dir_rig_file(&rig->dir, "data.mdb", path);
    assert_int_equal(stat(path, &status), 0);
    return (rlim_t)status.st_size;
}

struct outcome {
    bool is_acknowledged[KEY_COUNT];
    int count, errors;
};

static void set_pipelined(int fd, struct client_input *input, size_t *taken, int first,
                          struct outcome *outcome)
{
    struct buffer out = BUFFER_INIT;
    for (int i = first; i < first + PIPELINE; i++)
        buffer_printf(&out, "SET key-%d %0*d\r\n", i, VALUE_LEN, i);
    client_send(fd, buffer_bytes(&out), out.len);
    for (int i = first; i < first + PIPELINE; i++) {
        struct slice reply = client_reply(fd, input, taken);
        outcome->is_acknowledged[i] = reply.ptr[0] == '+';
        outcome->count += reply.ptr[0] == '+';
        outcome->errors += reply.ptr[0] == '-';
        if (reply.ptr[0] == '-' &&
            !memmem(reply.ptr, reply.len, "cannot write to its data dir", 28))
            fail_msg("not the error that was wanted: %.*s", (int)reply.len, reply.ptr);
    }
    buffer_release(&out);
}

static void set_all(struct node_rig *rig, struct outcome *outcome)
{
    struct client_input input = {BUFFER_INIT};
    size_t taken = 0;
    int fd = client_open(rig->port);
    *outcome = (struct outcome){.count = 0};
    for (int i = 0; i < KEY_COUNT; i += PIPELINE)
        set_pipelined(fd, &input, &taken, i, outcome);
    buffer_release(&input.bytes);
    close(fd);
}

/* What was acknowledged is there, whole; what was refused is not. */
static void check_all(struct node_rig *rig, const struct outcome *outcome)
{
    struct client_input input = {BUFFER_INIT};
    size_t taken = 0;
    char line[64], want[VALUE_LEN + 32];
    int fd = client_open(rig->port);
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(line, sizeof line, "GET key-%d\r\n", i);
        client_send_text(fd, line);
        struct slice reply = client_reply(fd, &input, &taken);
        snprintf(want, sizeof want, "$%d\r\n%0*d\r\n", VALUE_LEN, VALUE_LEN, i);
        if (!outcome->is_acknowledged[i])
            snprintf(want, sizeof want, "$-1\r\n");
        if (reply.len != strlen(want) || memcmp(reply.ptr, want, reply.len) != 0)
            fail_msg("key-%d: acknowledged %d, but '%.20s…'", i, outcome->is_acknowledged[i],
                     reply.ptr);
    }
    buffer_release(&input.bytes);
    close(fd);
}

static void run_out_of_room(enum durability durability)
{
    static struct outcome outcome;
    struct node_rig rig;
    struct embedded_node_options options = node_rig_options();
    options.durability = durability;
    node_rig_start(&rig, options);
    limit_files(data_size(&rig) + 350000);
    set_all(&rig, &outcome);
    assert_in_range(outcome.errors, 1, KEY_COUNT - 1);
    assert_in_range(outcome.count, 100, KEY_COUNT - 1);
    assert_int_equal(node_rig_stats(&rig).write_errors, outcome.errors);
    check_all(&rig, &outcome);
    node_rig_end(&rig);
    node_rig_start_again(&rig);
    check_all(&rig, &outcome);
    limit_files(RLIM_INFINITY);
    assert_string_equal(node_ask(&rig, "SET room again"), "+OK");
    set_all(&rig, &outcome);
    assert_int_equal(outcome.count, KEY_COUNT);
    check_all(&rig, &outcome);
    node_rig_stop(&rig);
}

static void a_full_disk_loses_nothing_with_always(void **state)
{
    run_out_of_room(DURABILITY_ALWAYS);
}

static void a_full_disk_loses_nothing_with_everysec(void **state)
{
    run_out_of_room(DURABILITY_EVERYSEC);
}

static void a_full_disk_loses_nothing_with_no(void **state)
{
    run_out_of_room(DURABILITY_NO);
}

int main(void)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_loses_nothing_with_always),
        cmocka_unit_test(a_full_disk_loses_nothing_with_everysec),
        cmocka_unit_test(a_full_disk_loses_nothing_with_no),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
