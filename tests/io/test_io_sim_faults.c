/* What the simulated network adds to the contract: runs that can be had again, and faults. */
#include "io/stage.h"

#include "io/io_sim.h"

enum { SEEDS = 100 };

static const struct io_sim_options rough = {.seed = 1,
                                            .delay_min_us = 10,
                                            .delay_max_us = 2000,
                                            .split_permille = 300,
                                            .window_bytes = 5000};

static void start(struct stage *stage, const struct io_sim_options *options)
{
    snprintf(variant, sizeof variant, "seed %llu", (unsigned long long)options->seed);
    io_sim_begin(options);
    stage_open(stage, "sim:7");
    stage_listen(stage, echo_accept, stage);
}

static void end(struct stage *stage)
{
    stage_close(stage);
    io_sim_end();
}

/* A few talkers under some faults; the trace, and how many were cut off. */
static uint64_t run_world(const struct io_sim_options *options, unsigned *ret_cut)
{
    struct stage stage;
    struct talker talkers[4];
    unsigned talking = 0;
    start(&stage, options);
    for (unsigned i = 0; i < 4; i++)
        talker_start(&talkers[i], &stage, "sim:7", i, 20000, &talking);
    stage_run(&stage);
    *ret_cut = 0;
    for (unsigned i = 0; i < 4; i++) {
        CHECK(talkers[i].error == 0 || talkers[i].error == -ECONNRESET);
        *ret_cut += talkers[i].error != 0;
    }
    uint64_t trace = io_sim_trace();
    end(&stage);
    return trace;
}

/* ---- the seed -------------------------------------------------------------------------------- */

static void the_same_seed_gives_the_same_run_and_another_seed_another(void **state)
{
    struct io_sim_options options = rough;
    uint64_t last = 0;
    unsigned cut, cut_again;
    options.cut_per_million = 5000;
    for (options.seed = 1; options.seed <= 20; options.seed++) {
        uint64_t trace = run_world(&options, &cut);
        CHECK(trace == run_world(&options, &cut_again));
        CHECK_INT(cut, cut_again);
        CHECK(trace != last);
        last = trace;
    }
}

static void one_byte_more_gives_another_trace(void **state)
{
    uint64_t traces[2];
    for (unsigned i = 0; i < 2; i++) {
        struct stage stage;
        struct talker talker;
        unsigned talking = 0;
        start(&stage, &rough);
        talker_start(&talker, &stage, "sim:7", 1, 100 + i, &talking);
        stage_run(&stage);
        traces[i] = io_sim_trace();
        end(&stage);
    }
    CHECK(traces[0] != traces[1]);
}

/* ---- cut connections ------------------------------------------------------------------------- */

static void some_connections_are_cut_and_no_byte_is_ever_wrong(void **state)
{
    struct io_sim_options options = rough;
    unsigned cut, cut_total = 0;
    options.cut_per_million = 3000;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        run_world(&options, &cut);
        cut_total += cut;
    }
    CHECK(cut_total > SEEDS / 10 && cut_total < 4 * SEEDS);
}

static void nothing_is_cut_unless_asked_for(void **state)
{
    struct io_sim_options options = rough;
    unsigned cut;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        run_world(&options, &cut);
        CHECK_INT(cut, 0);
    }
}

static void a_cut_is_an_error_at_both_ends(void **state)
{
    struct io_sim_options options = rough;
    options.cut_per_million = 1000000;
    options.split_permille = 0;
    struct stage stage;
    struct probe server = {0}, client;
    io_sim_begin(&options);
    stage_open(&stage, "sim:7");
    server.stage = &stage;
    stage_listen(&stage, probe_accept, &server);
    probe_connect(&client, &stage);
    CHECK_INT(write_bytes(client.conn, "lost", 4), 4);
    probe_read_until(&server, -ECONNRESET);
    probe_read_until(&client, -ECONNRESET);
    CHECK_INT(client.events, IO_WRITABLE | IO_READABLE);
    CHECK_INT(write_bytes(client.conn, "x", 1), -ECONNRESET);
    CHECK_INT(write_bytes(server.conn, "x", 1), -ECONNRESET);
    end(&stage);
}

/* ---- windows --------------------------------------------------------------------------------- */

static void a_window_holds_so_many_bytes_and_room_is_told(void **state)
{
    struct io_sim_options options = rough;
    struct stage stage;
    struct probe server = {0}, client;
    char bytes[6000] = "";
    options.split_permille = 0;
    io_sim_begin(&options);
    stage_open(&stage, "sim:7");
    server.stage = &stage;
    stage_listen(&stage, probe_accept, &server);
    probe_connect(&client, &stage);
    CHECK_INT(write_bytes(client.conn, bytes, sizeof bytes), 5000);
    CHECK_INT(write_bytes(client.conn, bytes, 1), -EAGAIN);
    client.events = 0;
    stage_wait(&stage, 10);
    CHECK_INT(client.events, 0); /* nobody has read */
    CHECK_INT(io_read(server.conn, bytes, 300), 300);
    stage_wait(&stage, 10);
    CHECK_INT(client.events, IO_WRITABLE);
    CHECK_INT(write_bytes(client.conn, bytes, sizeof bytes), 300);
    end(&stage);
}

/* ---- closing --------------------------------------------------------------------------------- */

static void bytes_that_come_too_late_are_answered_by_a_reset_after_the_end(void **state)
{
    struct io_sim_options options = rough;
    struct stage stage;
    struct probe server = {0}, client;
    options.split_permille = 0;
    io_sim_begin(&options);
    stage_open(&stage, "sim:7");
    server.stage = &stage;
    stage_listen(&stage, probe_accept, &server);
    probe_connect(&client, &stage);
    io_watch_reading(client.conn, false);
    stage_wait(&stage, 5);
    CHECK_INT(write_bytes(client.conn, "late", 4), 4);
    io_close(&server.conn);
    stage_wait(&stage, 10);
    probe_read_until(&client, -ECONNRESET);
    end(&stage);
}

static void reads_are_cut_short_and_some_alarms_are_false(void **state)
{
    struct io_sim_options options = rough;
    struct stage stage;
    struct probe server = {0}, client;
    unsigned nothing = 0, some = 0, all = 0;
    char bytes[10] = "";
    io_sim_begin(&options);
    stage_open(&stage, "sim:7");
    server.stage = &stage;
    stage_listen(&stage, probe_accept, &server);
    probe_connect(&client, &stage);
    while (write_bytes(client.conn, (char[5000]){0}, 5000) != 5000)
        stage_wait(&stage, 5);
    stage_wait(&stage, 10);
    for (int i = 0; i < 400; i++) {
        ssize_t count = io_read(server.conn, bytes, sizeof bytes);
        nothing += count == -EAGAIN;
        some += count > 0 && count < 10;
        all += count == 10;
    }
    CHECK_INT(nothing + some + all, 400);
    CHECK(nothing > 4 && nothing < 40);
    CHECK(some > 40 && some < 160);
    end(&stage);
}

/* ---- stopping and killing -------------------------------------------------------------------- */

/* A talker in a loop of its own, so that the server's can be stopped. */
struct scene {
    struct stage server, client;
    struct talker talker;
    unsigned talking;
};

static void scene_open(struct scene *scene, const struct io_sim_options *options, uint64_t total)
{
    *scene = (struct scene){0};
    start(&scene->server, options);
    stage_open(&scene->client, "");
    scene->talker.total = total;
}

static void scene_talk(struct scene *scene)
{
    talker_start(&scene->talker, &scene->client, "sim:7", 1, scene->talker.total, &scene->talking);
}

static void scene_close(struct scene *scene)
{
    io_close(&scene->talker.conn);
    stage_close(&scene->client);
    end(&scene->server);
}

static void a_stopped_address_accepts_and_answers_nothing_until_it_is_resumed(void **state)
{
    struct io_sim_options options = rough;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        struct scene scene;
        scene_open(&scene, &options, 1000);
        io_sim_stop("sim:7");
        scene_talk(&scene);
        io_sim_run(100, NULL);
        CHECK(scene.talker.connected);
        CHECK_INT(scene.talker.sent, 1000);
        CHECK_INT(scene.talker.received, 0);
        CHECK(list_is_empty(&scene.server.guests));
        io_sim_resume("sim:7");
        io_sim_run(500, NULL);
        CHECK_INT(scene.talker.received, 1000);
        scene_close(&scene);
    }
}

static void what_a_stopped_address_swallows_is_bounded_by_the_window(void **state)
{
    struct scene scene;
    scene_open(&scene, &rough, 100000);
    scene_talk(&scene);
    io_sim_run(5, NULL);
    io_sim_stop("sim:7");
    io_sim_run(100, NULL);
    uint64_t sent = scene.talker.sent;
    CHECK(sent < 100000);
    io_sim_run(100, NULL);
    CHECK_INT(scene.talker.sent, sent);
    io_sim_resume("sim:7");
    io_sim_run(60000, NULL);
    CHECK_INT(scene.talker.error, 0);
    CHECK_INT(scene.talker.received, 100000);
    scene_close(&scene);
}

static void note_time(void *context)
{
    *(uint64_t *)context = io_sim_now_us();
}

static void timers_and_posts_of_a_stopped_loop_wait_and_then_run_late(void **state)
{
    struct scene scene;
    struct io_timer *timer;
    uint64_t fired_us = 0, posted_us = 0;
    scene_open(&scene, &rough, 0);
    CHECK_INT(io_timer_create(scene.server.loop, note_time, &fired_us, &timer), 0);
    io_timer_start(timer, 10);
    CHECK_INT(io_post(scene.server.loop, note_time, &posted_us), 0);
    io_sim_stop("sim:7");
    io_sim_run(50, NULL);
    CHECK_INT(fired_us + posted_us, 0);
    io_sim_resume("sim:7");
    io_sim_run(1, NULL);
    CHECK_INT(fired_us, 50000);
    CHECK_INT(posted_us, 50000);
    scene_close(&scene);
}

static void log_add(char *log, char what)
{
    size_t len = strlen(log);
    CHECK(len < 60);
    log[len] = what;
    log[len + 1] = 0;
}

static void log_timer(void *context)
{
    log_add(context, 't');
}

static void log_post(void *context)
{
    log_add(context, 'p');
}

static void log_end(void *context)
{
    log_add(context, 'e');
}

static void what_a_resumed_loop_runs_at_once_is_still_turns_with_posts_between_them(void **state)
{
    struct scene scene;
    struct io_timer *timer;
    char log[64] = "";
    scene_open(&scene, &rough, 0);
    io_on_turn_end(scene.server.loop, log_end, log);
    io_sim_stop("sim:7");
    CHECK_INT(io_timer_create(scene.server.loop, log_timer, log, &timer), 0);
    io_timer_start(timer, 1);
    io_sim_run(5, NULL);
    CHECK_INT(io_post(scene.server.loop, log_post, log), 0);
    io_sim_run(5, NULL);
    io_sim_resume("sim:7");
    io_sim_run(1, NULL);
    assert_string_equal(log, "tepe");
    scene_close(&scene);
}

static void a_killed_address_cuts_and_refuses_until_it_is_revived(void **state)
{
    struct io_sim_options options = rough;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        struct scene scene;
        scene_open(&scene, &options, 1000000);
        scene_talk(&scene);
        io_sim_run(20, NULL);
        CHECK(scene.talker.received > 0 && !scene.talker.is_over);
        io_sim_kill("sim:7");
        io_sim_run(20, NULL);
        CHECK_INT(scene.talker.error, -ECONNRESET);
        CHECK(list_is_empty(&scene.server.guests));
        scene_talk(&scene);
        io_sim_run(20, NULL);
        CHECK_INT(scene.talker.error, -ECONNREFUSED);
        io_sim_revive("sim:7");
        scene.talker.total = 100;
        scene_talk(&scene);
        io_sim_run(100, NULL);
        CHECK_INT(scene.talker.error, 0);
        CHECK_INT(scene.talker.received, 100);
        scene_close(&scene);
    }
}

static void killing_cuts_who_is_still_connecting_or_waits_to_be_accepted(void **state)
{
    struct io_sim_options options = rough;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        struct scene scene;
        scene_open(&scene, &options, 1000);
        io_listener_pause(scene.server.listener, true);
        scene_talk(&scene);
        io_sim_run(options.seed % 5, NULL);
        io_sim_kill("sim:7");
        io_sim_run(20, NULL);
        CHECK(scene.talker.error == -ECONNRESET || scene.talker.error == -ECONNREFUSED);
        scene_close(&scene);
    }
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void time_is_virtual_and_passes_even_when_nothing_happens(void **state)
{
    struct stage stage;
    bool stop = true;
    start(&stage, &rough);
    uint64_t now_ms = io_now_ms(stage.loop), wall_ms = io_wall_ms(stage.loop);
    CHECK_INT(io_sim_run(24 * 3600 * 1000, NULL), 0);
    CHECK_INT(io_sim_now_us(), 24 * 3600 * 1000000ll);
    CHECK_INT(io_now_ms(stage.loop) - now_ms, 24 * 3600 * 1000);
    CHECK_INT(io_wall_ms(stage.loop) - wall_ms, 24 * 3600 * 1000);
    io_sim_run(1000, &stop);
    CHECK_INT(io_sim_now_us(), 24 * 3600 * 1000000ll);
    end(&stage);
}

static void the_port_zero_becomes_a_port_of_its_own(void **state)
{
    struct stage one, two;
    io_sim_begin(&rough);
    stage_open(&one, "127.0.0.1:0");
    stage_listen(&one, echo_accept, &one);
    stage_open(&two, "127.0.0.1:0");
    stage_listen(&two, echo_accept, &two);
    CHECK(strcmp(one.address, two.address) != 0);
    CHECK_INT(io_address_is_free(one.address), -EADDRINUSE);
    stage_close(&one);
    CHECK_INT(io_address_is_free("127.0.0.1:40001"), 0);
    end(&two);
}

static void clients_are_spread_over_the_loops_that_share_an_address(void **state)
{
    struct stage one, two;
    struct talker talkers[40];
    unsigned talking = 0, here = 0;
    start(&one, &rough);
    stage_open(&two, "sim:7");
    stage_listen(&two, echo_accept, &two);
    for (unsigned i = 0; i < 40; i++)
        talker_start(&talkers[i], &one, "sim:7", i, 1000, &talking);
    io_sim_run(1, NULL);
    io_sim_run(4, NULL);
    list_for_each (link, &one.guests)
        here++;
    CHECK(here > 5 && here < 35);
    stage_run(&one);
    stage_close(&two);
    end(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_run_and_another_seed_another),
        cmocka_unit_test(one_byte_more_gives_another_trace),
        cmocka_unit_test(some_connections_are_cut_and_no_byte_is_ever_wrong),
        cmocka_unit_test(nothing_is_cut_unless_asked_for),
        cmocka_unit_test(a_cut_is_an_error_at_both_ends),
        cmocka_unit_test(a_window_holds_so_many_bytes_and_room_is_told),
        cmocka_unit_test(bytes_that_come_too_late_are_answered_by_a_reset_after_the_end),
        cmocka_unit_test(reads_are_cut_short_and_some_alarms_are_false),
        cmocka_unit_test(a_stopped_address_accepts_and_answers_nothing_until_it_is_resumed),
        cmocka_unit_test(what_a_stopped_address_swallows_is_bounded_by_the_window),
        cmocka_unit_test(timers_and_posts_of_a_stopped_loop_wait_and_then_run_late),
        cmocka_unit_test(what_a_resumed_loop_runs_at_once_is_still_turns_with_posts_between_them),
        cmocka_unit_test(a_killed_address_cuts_and_refuses_until_it_is_revived),
        cmocka_unit_test(killing_cuts_who_is_still_connecting_or_waits_to_be_accepted),
        cmocka_unit_test(time_is_virtual_and_passes_even_when_nothing_happens),
        cmocka_unit_test(the_port_zero_becomes_a_port_of_its_own),
        cmocka_unit_test(clients_are_spread_over_the_loops_that_share_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
