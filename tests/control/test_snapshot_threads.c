/*
 * Asking workers that come round, and workers that do not.
 * covers: control/snapshot, control/metrics, control/status_json, control/admin, control/crew
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/admin.h"
#include "control/config_helper.h"
#include "control/crew.h"
#include "control/fleet.h"
#include "control/metrics.h"
#include "control/snapshot.h"
#include "control/status_json.h"
#include "io/address.h"

struct stage {
    struct config *config;
    struct fleet *fleet;
    struct crew *crew;
    struct monitor *monitor;
};

/* Two workers that listen but do not run. */
static int setup(void **state)
{
    static const char text[] = "workers: 2\n"
                               "pools:\n"
                               "  main:\n"
                               "    listen: 127.77.7.7:17399\n"
                               "    nodes: [{id: a, address: '127.0.0.1:1'},\n"
                               "            {id: b, address: '127.0.0.1:2', weight: 3}]\n";
    char lines[1000], message[FLEET_MESSAGE_SIZE], address[IO_ADDRESS_LEN_MAX];
    struct stage *stage = calloc(1, sizeof *stage);
    struct router_options options;
    assert_non_null(stage);
    stage->config = read_text_of(text, strlen(text), lines, sizeof lines);
    assert_non_null(stage->config);
    assert_int_equal(config_to_router(stage->config, &options), 0);
    options.version = "test";
    assert_int_equal(fleet_create(stage->config, NULL, &stage->fleet, message), 0);
    assert_int_equal(crew_create(&options, &stage->crew, address), 0);
    free((void *)(uintptr_t)options.pools);
    assert_int_equal(
        monitor_create(stage->config, crew_router(stage->crew), stage->fleet, 2, &stage->monitor),
        0);
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    crew_destroy(&stage->crew);
    fleet_destroy(&stage->fleet);
    monitor_destroy(&stage->monitor);
    config_destroy(&stage->config);
    free(stage);
    return 0;
}

static void workers_that_run_are_all_asked(void **state)
{
    struct stage *stage = *state;
    struct snapshot *snapshot = NULL;
    assert_int_equal(crew_start(stage->crew), 0);
    assert_int_equal(monitor_read(stage->monitor, 20000, &snapshot), 0);
    assert_int_equal(snapshot->worker_count, 2);
    assert_int_equal(snapshot->pool_count, 1);
    assert_int_equal(snapshot->pools[0].workers_at_map, 2);
    const struct snapshot_node *node = &snapshot->pools[0].nodes[0];
    assert_int_equal(node->workers_up + node->workers_probing + node->workers_down, 2);
    assert_false(node->is_embedded);
    snapshot_destroy(&snapshot);
}

static void a_worker_that_does_not_come_round_is_not_waited_for(void **state)
{
    struct stage *stage = *state;
    struct snapshot *snapshot = NULL;
    assert_int_equal(monitor_read(stage->monitor, 50, &snapshot), -ETIMEDOUT);
    assert_int_equal(monitor_read(stage->monitor, 50, &snapshot), -ETIMEDOUT);
    assert_null(snapshot);
    assert_int_equal(crew_start(stage->crew), 0);
    assert_int_equal(monitor_read(stage->monitor, 20000, &snapshot), 0);
    assert_int_equal(snapshot->pools[0].workers_at_map, 2);
    snapshot_destroy(&snapshot);
}

static void a_snapshot_prints_as_json_and_as_metrics(void **state)
{
    struct stage *stage = *state;
    struct snapshot *snapshot = NULL;
    struct buffer out = BUFFER_INIT;
    assert_int_equal(crew_start(stage->crew), 0);
    assert_int_equal(monitor_read(stage->monitor, 20000, &snapshot), 0);
    assert_true(status_print_json(snapshot, 1.5, NULL, &out));
    assert_true(pools_print_json(stage->config, crew_router(stage->crew), &out));
    metrics_print(snapshot, &(struct metrics_router){1.5, 2}, &out);
    buffer_append(&out, "", 1);
    const char *text = buffer_bytes(&out);
    assert_non_null(strstr(text, "\"health\": \"unknown\""));
    assert_non_null(strstr(text, "\"share\": 0.75"));
    assert_non_null(strstr(text, "clockwise_node_weight{pool=\"main\",node=\"b\"} 3\n"));
    assert_non_null(strstr(text, "clockwise_uptime_seconds 1.5\n"));
    assert_null(strstr(text, "clockwise_store_keys{"));
    buffer_release(&out);
    snapshot_destroy(&snapshot);
}

/* The first bytes that the admin address answers to a question. */
static void ask_admin(const char *text, const char *question, char *ret_answer, size_t size)
{
    struct address address;
    struct sockaddr_storage to;
    socklen_t len;
    assert_int_equal(address_parse(text, &address, NULL), 0);
    assert_int_equal(address_to_sockaddr(&address, &to, &len), 0);
    int file = socket(to.ss_family, SOCK_STREAM, 0);
    assert_int_equal(connect(file, (struct sockaddr *)&to, len), 0);
    assert_int_equal(write(file, question, strlen(question)), strlen(question));
    ssize_t got = read(file, ret_answer, size - 1);
    assert_true(got > 0);
    ret_answer[got] = 0;
    close(file);
}

static void the_admin_address_says_when_a_worker_is_stuck(void **state)
{
    struct stage *stage = *state;
    struct admin_options options = {
        "127.0.0.1:0", stage->config, crew_router(stage->crew), stage->fleet, 2, NULL, NULL};
    struct admin *admin = NULL;
    char answer[4096];
    assert_int_equal(admin_create(&options, &admin), 0);
    ask_admin(admin_address(admin), "GET /healthz HTTP/1.0\r\n\r\n", answer, sizeof answer);
    assert_non_null(strstr(answer, " 503 "));
    ask_admin(admin_address(admin), "GET /v1/pools HTTP/1.0\r\n\r\n", answer, sizeof answer);
    assert_non_null(strstr(answer, " 200 "));
    assert_int_equal(crew_start(stage->crew), 0);
    ask_admin(admin_address(admin), "GET /healthz HTTP/1.0\r\n\r\n", answer, sizeof answer);
    assert_non_null(strstr(answer, " 200 "));
    admin_stop(admin);
    crew_destroy(&stage->crew);
    admin_destroy(&admin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workers_that_run_are_all_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_that_does_not_come_round_is_not_waited_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_snapshot_prints_as_json_and_as_metrics, setup, teardown),
        cmocka_unit_test_setup_teardown(the_admin_address_says_when_a_worker_is_stuck, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
