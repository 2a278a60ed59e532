/* The contract of io.h on real sockets of every kind.
 * covers: io_uv_conn, io_uv_listen, io_uv_watch, inproc */
#include "io/scenarios.h"

#include <unistd.h>

static char unix_address[64];

static void play(void (*scenario)(struct stage *stage), const char *listen_at)
{
    struct stage stage;
    snprintf(variant, sizeof variant, "%s", listen_at);
    stage_open(&stage, listen_at);
    scenario(&stage);
    stage_close(&stage);
}

#define SCENARIO_TEST(name)                                                                        \
    static void name##_on_any_socket(void **state)                                                 \
    {                                                                                              \
        play(name, "127.0.0.1:0");                                                                 \
        play(name, unix_address);                                                                  \
        play(name, "inproc:stage");                                                                \
    }
SCENARIOS(SCENARIO_TEST)

int main(void)
{
#define ENTRY(name) cmocka_unit_test(name##_on_any_socket),
    const struct CMUnitTest tests[] = {SCENARIOS(ENTRY)};
    snprintf(unix_address, sizeof unix_address, "unix:/tmp/cw-test-io-%d.sock", (int)getpid());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
