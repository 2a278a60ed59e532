/* Posts from several threads: none is lost, each thread's own keep their order. Names inside the
 * process are connected to from other threads' loops. Run under ThreadSanitizer too. */
#include "io/stage.h"

#include <pthread.h>

enum { THREADS = 4, POSTS = 20000 };

struct poster {
    struct stage *stage;
    unsigned *left;    /* posts of all threads that have not run yet */
    unsigned expected; /* the next of this thread's; touched by the loop's thread alone */
    pthread_t thread;
    struct ticket {
        struct poster *poster;
        unsigned number;
    } tickets[POSTS];
};

static void on_ticket(void *context)
{
    struct ticket *ticket = context;
    struct poster *poster = ticket->poster;
    CHECK_INT(ticket->number, poster->expected);
    poster->expected++;
    if (--*poster->left == 0)
        stage_finish(poster->stage);
}

static void *post_all(void *context)
{
    struct poster *poster = context;
    for (unsigned i = 0; i < POSTS; i++) {
        poster->tickets[i] = (struct ticket){poster, i};
        while (io_post(poster->stage->loop, on_ticket, &poster->tickets[i]) != 0)
            ;
    }
    return NULL;
}

static void posts_of_four_threads_all_run_and_in_the_order_of_each(void **state)
{
    static struct poster posters[THREADS];
    struct stage stage;
    unsigned left = THREADS * POSTS;
    stage_open(&stage, "");
    for (unsigned i = 0; i < THREADS; i++) {
        posters[i].stage = &stage;
        posters[i].left = &left;
        CHECK_INT(pthread_create(&posters[i].thread, NULL, post_all, &posters[i]), 0);
    }
    stage_run(&stage);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(posters[i].thread, NULL);
        CHECK_INT(posters[i].expected, POSTS);
    }
    CHECK_INT(left, 0);
    stage_close(&stage);
}

static void *stop_loop(void *context)
{
    io_loop_stop(context);
    return NULL;
}

static void a_loop_is_stopped_from_another_thread(void **state)
{
    struct stage stage;
    pthread_t thread;
    stage_open(&stage, "");
    for (int i = 0; i < 100; i++) {
        CHECK_INT(pthread_create(&thread, NULL, stop_loop, stage.loop), 0);
        io_loop_run(stage.loop);
        pthread_join(thread, NULL);
    }
    stage_close(&stage);
}

static void *talk(void *context)
{
    struct stage stage;
    struct talker talkers[50];
    unsigned talking = 0;
    stage_open(&stage, "");
    for (unsigned i = 0; i < 50; i++)
        talker_start(&talkers[i], &stage, context, i, 5000, &talking);
    stage_run(&stage);
    for (unsigned i = 0; i < 50; i++)
        CHECK_INT(talkers[i].error, 0);
    stage_close(&stage);
    return NULL;
}

static void *serve(void *context)
{
    struct stage *stage = context;
    stage_run(stage);
    return NULL;
}

static void loops_in_other_threads_connect_by_a_name_inside_the_process(void **state)
{
    struct stage server;
    pthread_t serving, talking[THREADS];
    char address[] = "inproc:server";
    stage_open(&server, address);
    stage_listen(&server, echo_accept, &server);
    CHECK_INT(pthread_create(&serving, NULL, serve, &server), 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&talking[i], NULL, talk, address), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(talking[i], NULL);
    CHECK_INT(io_post(server.loop, stage_finish, &server), 0);
    pthread_join(serving, NULL);
    stage_close(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posts_of_four_threads_all_run_and_in_the_order_of_each),
        cmocka_unit_test(a_loop_is_stopped_from_another_thread),
        cmocka_unit_test(loops_in_other_threads_connect_by_a_name_inside_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
