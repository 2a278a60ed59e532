/* What only real sockets have: names to resolve, ports that others took, files of unix sockets,
 * descriptors that run out, much data and many connections.
 * covers: socket */
#include "io/stage.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/address.h"
#include "io/socket.h"

static void start(struct stage *stage, const char *listen_at)
{
    snprintf(variant, sizeof variant, "%s", listen_at);
    stage_open(stage, listen_at);
}

static void in_temp(const char *name, char *ret_path, size_t size)
{
    snprintf(ret_path, size, "/tmp/cw-test-%d-%s", (int)getpid(), name);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The machine's resolver is replaced, for libuv too, so that the tests need no network. "localhost"
 * has an address where nobody listens and then the right one; "slow.test" takes its time. */

__attribute__((visibility("default"))) int getaddrinfo(const char *host, const char *port,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **ret_found);
__attribute__((visibility("default"))) void freeaddrinfo(struct addrinfo *found);

struct found {
    struct addrinfo info;
    struct sockaddr_in v4;
};

static struct addrinfo *found_make(const char *host, const char *port, struct addrinfo *next)
{
    struct found *found = calloc(1, sizeof *found);
    assert_non_null(found);
    found->v4.sin_family = AF_INET;
    found->v4.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    inet_pton(AF_INET, host, &found->v4.sin_addr);
    found->info.ai_family = AF_INET;
    found->info.ai_socktype = SOCK_STREAM;
    found->info.ai_addr = (struct sockaddr *)&found->v4;
    found->info.ai_addrlen = sizeof found->v4;
    found->info.ai_next = next;
    return &found->info;
}

int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                struct addrinfo **ret_found)
{
    if (strcmp(host, "slow.test") == 0)
        usleep(50 * 1000);
    if (strcmp(host, "localhost") != 0)
        return EAI_NONAME;
    *ret_found = found_make("127.0.0.2", port, found_make("127.0.0.1", port, NULL));
    return 0;
}

void freeaddrinfo(struct addrinfo *found)
{
    while (found) {
        struct addrinfo *next = found->ai_next;
        free(list_entry(found, struct found, info));
        found = next;
    }
}

static void a_host_name_is_resolved_and_each_of_its_addresses_tried(void **state)
{
    struct stage stage;
    struct talker talker;
    char address[IO_ADDRESS_LEN_MAX];
    unsigned talking = 0;
    start(&stage, "127.0.0.1:0");
    stage_listen(&stage, echo_accept, &stage);
    snprintf(address, sizeof address, "localhost:%s", strrchr(stage.address, ':') + 1);
    talker_start(&talker, &stage, address, 1, 1000, &talking);
    stage_run(&stage);
    CHECK_INT(talker.error, 0);
    stage_close(&stage);
}

static void a_listener_takes_a_host_name_too(void **state)
{
    struct stage stage;
    struct io_listener *none = NULL;
    start(&stage, "localhost:0");
    stage_listen(&stage, echo_accept, &stage);
    CHECK_INT(strncmp(stage.address, "localhost:", 10), 0);
    CHECK_INT(io_address_is_free(stage.address), -EADDRINUSE);
    CHECK_INT(io_listen(stage.loop, "no-such-host.test:0", echo_accept, NULL, &none),
              -EADDRNOTAVAIL);
    stage_close(&stage);
}

static void a_host_that_does_not_exist_is_told_as_unreachable(void **state)
{
    struct stage stage;
    struct probe probe;
    char byte;
    start(&stage, "");
    stage.address = "no-such-host.test:6379";
    probe_connect(&probe, &stage);
    CHECK_INT(probe.events, IO_READABLE);
    CHECK_INT(io_read(probe.conn, &byte, 1), -EHOSTUNREACH);
    stage_close(&stage);
}

static void closing_or_destroying_while_resolving_is_safe(void **state)
{
    struct stage stage;
    struct probe probes[8] = {{0}};
    start(&stage, "");
    for (unsigned i = 0; i < 8; i++) { /* more than libuv has threads, so some never start */
        CHECK_INT(io_connect(stage.loop, "slow.test:1", probe_note, &probes[i], &probes[i].conn),
                  0);
        if (i % 2)
            io_close(&probes[i].conn);
    }
    CHECK_INT(probes[0].calls, 0);
    stage_close(&stage);
}

static void whoever_closes_before_being_told_of_a_failure_is_not_told(void **state)
{
    struct stage stage;
    struct probe probes[4] = {{0}};
    start(&stage, "");
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(io_connect(stage.loop, "unix:/nobody/listens/here", probe_note, &probes[i],
                             &probes[i].conn),
                  0);
    io_close(&probes[1].conn);
    io_close(&probes[2].conn);
    stage_wait(&stage, 10);
    for (unsigned i = 0; i < 4; i++)
        CHECK_INT(probes[i].calls, i == 0 || i == 3);
    stage_close(&stage);
}

static void a_bad_address_is_refused_at_once(void **state)
{
    struct stage stage;
    struct io_conn *conn;
    char path[200] = "unix:/";
    start(&stage, "");
    CHECK_INT(io_connect(stage.loop, "127.0.0.1", probe_note, NULL, &conn), -EINVAL);
    CHECK_INT(io_connect(stage.loop, "127.0.0.1:0", probe_note, NULL, &conn), -EINVAL);
    CHECK_INT(io_listen(stage.loop, "::1:80", echo_accept, NULL, &stage.listener), -EINVAL);
    memset(path + 6, 'x', 150);
    CHECK_INT(io_connect(stage.loop, path, probe_note, NULL, &conn), -ENAMETOOLONG);
    CHECK_INT(io_listen(stage.loop, path, echo_accept, NULL, &stage.listener), -ENAMETOOLONG);
    CHECK_INT(io_address_is_free(path), -ENAMETOOLONG);
    stage_close(&stage);
}

/* ---- the clock ------------------------------------------------------------------------------- */

struct long_turn {
    struct stage stage;
    struct io_timer *timer;
    uint64_t due_ms;
};

static void check_due(void *context)
{
    struct long_turn *turn = context;
    CHECK(io_now_ms(turn->stage.loop) >= turn->due_ms);
    stage_finish(&turn->stage);
}

static void take_long(void *context, struct io_conn *conn)
{
    struct long_turn *turn = context;
    turn->due_ms = io_now_ms(turn->stage.loop) + 5;
    io_timer_start(turn->timer, 5);
    usleep(20 * 1000);
    CHECK_INT(io_now_ms(turn->stage.loop), turn->due_ms - 5); /* read once a turn */
    io_close(&conn);
}

static void a_timer_that_came_due_during_a_long_turn_finds_its_time_passed(void **state)
{
    struct long_turn turn;
    struct probe client = {0};
    start(&turn.stage, "127.0.0.1:0");
    stage_listen(&turn.stage, take_long, &turn);
    CHECK_INT(io_timer_create(turn.stage.loop, check_due, &turn, &turn.timer), 0);
    CHECK_INT(io_connect(turn.stage.loop, turn.stage.address, probe_note, &client, &client.conn),
              0);
    stage_run(&turn.stage);
    stage_close(&turn.stage);
}

/* ---- who else is there ----------------------------------------------------------------------- */

/* A child process that listens as another router would, SO_REUSEPORT and all. */
static pid_t listen_in_child(const char *address, struct address *ret_address)
{
    int fd, ready[2];
    CHECK_INT(address_parse(address, ret_address, NULL), 0);
    CHECK_INT(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int rc = socket_listen(ret_address, &fd);
        if (write(ready[1], ret_address, sizeof *ret_address) > 0 && rc == 0)
            pause();
        _exit(1);
    }
    CHECK_INT(read(ready[0], ret_address, sizeof *ret_address), sizeof *ret_address);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end_child(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void a_port_that_another_process_listens_on_is_not_free(void **state)
{
    struct stage stage;
    struct address parsed;
    char address[IO_ADDRESS_LEN_MAX];
    pid_t child = listen_in_child("127.0.0.1:0", &parsed);
    address_format(&parsed, address);
    start(&stage, address);
    CHECK_INT(io_address_is_free(address), -EADDRINUSE);
    stage_listen(&stage, echo_accept, &stage); /* the kernel would share it: hence the question */
    end_child(child);
    CHECK_INT(io_address_is_free(address), -EADDRINUSE); /* our own */
    io_listener_close(&stage.listener);
    CHECK_INT(io_address_is_free(address), 0);
    CHECK_INT(io_address_is_free("192.0.2.1:80"), -EADDRNOTAVAIL);
    stage_close(&stage);
}

static void a_port_without_reuse_is_refused_to_a_listener(void **state)
{
    struct stage stage;
    struct sockaddr_storage sockaddr;
    struct address parsed;
    socklen_t len = sizeof sockaddr;
    char address[IO_ADDRESS_LEN_MAX];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_INT(address_parse("127.0.0.1:0", &parsed, NULL), 0);
    CHECK_INT(address_to_sockaddr(&parsed, &sockaddr, &len), 0);
    CHECK_INT(bind(fd, (struct sockaddr *)&sockaddr, len), 0);
    CHECK_INT(listen(fd, 1), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&sockaddr, &len), 0);
    address_format_sockaddr(&sockaddr, len, address);
    start(&stage, address);
    CHECK_INT(io_listen(stage.loop, address, echo_accept, NULL, &stage.listener), -EADDRINUSE);
    stage_close(&stage);
    close(fd);
}

static void several_loops_share_a_port(void **state)
{
    struct stage one, two;
    struct talker talkers[40];
    unsigned talking = 0, here = 0;
    start(&one, "127.0.0.1:0");
    stage_listen(&one, echo_accept, &one);
    start(&two, one.address);
    stage_listen(&two, echo_accept, &two);
    for (unsigned i = 0; i < 40; i++)
        talker_start(&talkers[i], &one, one.address, i, 10, &talking);
    stage_wait(&one, 100); /* only one of the two loops runs, so only its clients are served */
    for (unsigned i = 0; i < 40; i++)
        here += talkers[i].is_over;
    CHECK(here > 0 && here < 40);
    for (unsigned i = 0; i < 40; i++)
        io_close(&talkers[i].conn);
    stage_close(&one);
    stage_close(&two);
}

/* ---- files of unix sockets ------------------------------------------------------------------- */

static void the_file_of_a_dead_listener_is_replaced_and_that_of_a_live_one_is_not(void **state)
{
    struct stage stage;
    struct address parsed;
    struct stat status;
    char path[64], address[80];
    in_temp("dead.sock", path, sizeof path);
    snprintf(address, sizeof address, "unix:%s", path);
    pid_t child = listen_in_child(address, &parsed);
    start(&stage, address);
    CHECK_INT(io_address_is_free(address), -EADDRINUSE);
    CHECK_INT(io_listen(stage.loop, address, echo_accept, NULL, &stage.listener), -EADDRINUSE);
    end_child(child);
    CHECK_INT(stat(path, &status), 0);
    CHECK_INT(io_address_is_free(address), 0);
    stage_listen(&stage, echo_accept, &stage);
    stage_close(&stage);
    CHECK_INT(stat(path, &status), -1); /* a listener takes its file with it */
}

static void a_file_that_is_no_socket_is_left_alone(void **state)
{
    struct stage stage;
    struct stat status;
    char path[64], address[80];
    in_temp("file", path, sizeof path);
    snprintf(address, sizeof address, "unix:%s", path);
    fclose(fopen(path, "w"));
    start(&stage, address);
    CHECK_INT(io_listen(stage.loop, address, echo_accept, NULL, &stage.listener), -EADDRINUSE);
    CHECK_INT(io_address_is_free(address), -EADDRINUSE);
    CHECK_INT(stat(path, &status), 0);
    unlink(path);
    stage_close(&stage);
}

static void a_listener_does_not_remove_the_file_that_took_its_place(void **state)
{
    struct stage stage;
    struct stat status;
    char path[64], address[80];
    in_temp("replaced", path, sizeof path);
    snprintf(address, sizeof address, "unix:%s", path);
    start(&stage, address);
    stage_listen(&stage, echo_accept, &stage);
    unlink(path);
    fclose(fopen(path, "w"));
    io_listener_close(&stage.listener);
    CHECK_INT(stat(path, &status), 0);
    unlink(path);
    stage_close(&stage);
}

static void a_name_inside_the_process_has_one_listener(void **state)
{
    struct stage stage;
    struct io_listener *second = NULL;
    start(&stage, "inproc:one");
    CHECK_INT(io_address_is_free("inproc:one"), 0);
    stage_listen(&stage, echo_accept, &stage);
    CHECK_INT(io_address_is_free("inproc:one"), -EADDRINUSE);
    CHECK_INT(io_listen(stage.loop, "inproc:one", echo_accept, NULL, &second), -EADDRINUSE);
    CHECK(second == NULL);
    stage_close(&stage);
    CHECK_INT(io_address_is_free("inproc:one"), 0);
}

/* ---- much and many --------------------------------------------------------------------------- */

static void fifty_megabytes_come_back_through_full_windows(void **state)
{
    struct stage stage;
    struct talker talker;
    unsigned talking = 0;
    start(&stage, "127.0.0.1:0");
    stage_listen(&stage, echo_accept, &stage);
    talker_start(&talker, &stage, stage.address, 1, 50 * 1000 * 1000, &talking);
    stage_run(&stage);
    CHECK_INT(talker.error, 0);
    CHECK_INT(talker.received, 50 * 1000 * 1000);
    stage_close(&stage);
}

static void a_thousand_connections_at_once(void **state)
{
    struct stage stage;
    struct talker *talkers = calloc(1000, sizeof *talkers);
    struct rlimit limit;
    unsigned talking = 0;
    assert_non_null(talkers);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
    start(&stage, "127.0.0.1:0");
    stage_listen(&stage, echo_accept, &stage);
    for (unsigned i = 0; i < 1000; i++)
        talker_start(&talkers[i], &stage, stage.address, i, 1000, &talking);
    stage_run(&stage);
    for (unsigned i = 0; i < 1000; i++)
        CHECK_INT(talkers[i].error, 0);
    stage_close(&stage);
    free(talkers);
}

/* Descriptors run out after `spare` more. */
static void leave_descriptors(unsigned spare, struct rlimit *ret_old)
{
    struct rlimit limit;
    int next = dup(0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, ret_old), 0);
    limit = *ret_old;
    limit.rlim_cur = (rlim_t)next + spare;
    close(next);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void without_descriptors_the_listener_rests_and_then_goes_on(void **state)
{
    struct stage stage;
    struct talker talkers[6];
    struct rlimit old;
    unsigned talking = 0;
    start(&stage, "127.0.0.1:0");
    stage_listen(&stage, echo_accept, &stage);
    leave_descriptors(6, &old);
    for (unsigned i = 0; i < 6; i++) /* the clients take all that are left */
        talker_start(&talkers[i], &stage, stage.address, i, 1000, &talking);
    stage_wait(&stage, 250);
    uint64_t rest_count = io_listener_rest_count(stage.listener);
    CHECK(rest_count >= 1 && rest_count <= 4);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), 0);
    stage_run(&stage);
    for (unsigned i = 0; i < 6; i++)
        CHECK_INT(talkers[i].error, 0);
    stage_close(&stage);
}

static void connecting_without_descriptors_is_told_as_an_error(void **state)
{
    struct stage stage;
    struct probe probe;
    struct rlimit old;
    char byte;
    start(&stage, "127.0.0.1:0");
    stage_listen(&stage, echo_accept, &stage);
    leave_descriptors(0, &old);
    probe_connect(&probe, &stage);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), 0);
    CHECK_INT(io_read(probe.conn, &byte, 1), -EMFILE);
    stage_close(&stage);
}

/* ---- addresses of sockets -------------------------------------------------------------------- */

static void an_ipv6_listener_says_its_address_in_brackets(void **state)
{
    struct stage stage;
    struct talker talker;
    unsigned talking = 0;
    if (io_address_is_free("[::1]:0") != 0)
        skip(); /* a machine without IPv6 */
    start(&stage, "[::1]:0");
    stage_listen(&stage, echo_accept, &stage);
    CHECK_INT(strncmp(stage.address, "[::1]:", 6), 0);
    CHECK(strcmp(stage.address, "[::1]:0") != 0);
    talker_start(&talker, &stage, stage.address, 1, 1000, &talking);
    stage_run(&stage);
    CHECK_INT(talker.error, 0);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_name_is_resolved_and_each_of_its_addresses_tried),
        cmocka_unit_test(a_host_that_does_not_exist_is_told_as_unreachable),
        cmocka_unit_test(closing_or_destroying_while_resolving_is_safe),
        cmocka_unit_test(a_listener_takes_a_host_name_too),
        cmocka_unit_test(whoever_closes_before_being_told_of_a_failure_is_not_told),
        cmocka_unit_test(a_bad_address_is_refused_at_once),
        cmocka_unit_test(a_timer_that_came_due_during_a_long_turn_finds_its_time_passed),
        cmocka_unit_test(a_port_that_another_process_listens_on_is_not_free),
        cmocka_unit_test(a_port_without_reuse_is_refused_to_a_listener),
        cmocka_unit_test(several_loops_share_a_port),
        cmocka_unit_test(the_file_of_a_dead_listener_is_replaced_and_that_of_a_live_one_is_not),
        cmocka_unit_test(a_file_that_is_no_socket_is_left_alone),
        cmocka_unit_test(a_listener_does_not_remove_the_file_that_took_its_place),
        cmocka_unit_test(a_name_inside_the_process_has_one_listener),
        cmocka_unit_test(fifty_megabytes_come_back_through_full_windows),
        cmocka_unit_test(a_thousand_connections_at_once),
        cmocka_unit_test(without_descriptors_the_listener_rests_and_then_goes_on),
        cmocka_unit_test(connecting_without_descriptors_is_told_as_an_error),
        cmocka_unit_test(an_ipv6_listener_says_its_address_in_brackets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
