/*
 * The pages that change a fleet, over a mover that answers as it is told: at once, too late, or
 * never. It stands in for the real one, by its names.
 * covers: control/admin_change, control/admin_answer, control/change_wait, control/last_transition
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/admin_change.h"
#include "control/change_wait.h"
#include "control/config_helper.h"
#include "control/journal.h"
#include "router/router.h"
#include "store/dir_rig.h"

/* ---- the mover ------------------------------------------------------------------------------- */

struct mover {
    int status; /* what it answers */
    const char *text;
    bool is_silent, is_out_of_memory, has_transition;
    struct mover_change asked; /* the last change; texts below */
    size_t node_count;
    char what[100], who[100];
    enum mover_verb verb;
    struct throttle_settings throttle;
    mover_answer answer;
    mover_estimated estimated;
    void *context;
    struct cw_map *from, *to;
    pthread_t thread;
};

static void *answer_on_another_thread(void *context)
{
    struct mover *mover = context;
    struct mover_estimate estimate = {.from = mover->from, .to = mover->to};
    if (mover->answer)
        mover->answer(mover->context, mover->status, mover->text);
    else
        mover->estimated(mover->context, mover->status, mover->text,
                         mover->status < 0 ? NULL : &estimate);
    return NULL;
}

static int take_question(struct mover *mover, mover_answer answer, mover_estimated estimated,
                         void *context)
{
    if (mover->is_out_of_memory)
        return -ENOMEM;
    mover->answer = answer;
    mover->estimated = estimated;
    mover->context = context;
    if (!mover->is_silent)
        assert_int_equal(pthread_create(&mover->thread, NULL, answer_on_another_thread, mover), 0);
    return 0;
}

static void take_change(struct mover *mover, const struct mover_change *change)
{
    mover->asked = *change;
    snprintf(mover->what, sizeof mover->what, "%s", change->what);
    snprintf(mover->who, sizeof mover->who, "%s", change->who);
    cw_map_unref(&mover->to);
    cw_map_change(mover->from, change->nodes, change->node_count, &mover->to, NULL);
}

int mover_start(struct mover *mover, const struct mover_change *change, mover_answer answer,
                void *context)
{
    take_change(mover, change);
    return take_question(mover, answer, NULL, context);
}

int mover_ask_estimate(struct mover *mover, const struct mover_change *change,
                       mover_estimated answer, void *context)
{
    take_change(mover, change);
    return take_question(mover, NULL, answer, context);
}

int mover_tell(struct mover *mover, uint32_t pool, enum mover_verb verb,
               const struct throttle_settings *throttle, mover_answer answer, void *context)
{
    mover->verb = verb;
    mover->throttle = throttle ? *throttle : (struct throttle_settings){0};
    return take_question(mover, answer, NULL, context);
}

bool mover_read(struct mover *mover, uint32_t pool, struct mover_report *ret_report)
{
    *ret_report = (struct mover_report){.is_running = true, .info.id = 5};
    return mover->has_transition;
}

void mover_report_release(struct mover_report *report)
{
}

void mover_read_loss(struct mover *mover, uint32_t pool, struct mover_loss *ret_loss)
{
    *ret_loss = (struct mover_loss){0};
}

/* ---- the stage ------------------------------------------------------------------------------- */

struct stage {
    struct config *config;
    struct router *router;
    struct mover mover;
    struct map_folder folder; /* the journal's, empty */
    struct dir_rig dir;
    atomic_bool is_stopping;
    struct admin_change change;
    struct answer answer;
};

static int setup(void **state)
{
    static const char text[] = "workers: 1\n"
                               "pools:\n"
                               "  main:\n"
                               "    listen: 127.77.7.7:17399\n"
                               "    nodes: [{id: a, address: '127.0.0.1:1'},\n"
                               "            {id: b, address: '127.0.0.1:2', weight: 3}]\n";
    char lines[1000], problem[MAP_PROBLEM_SIZE];
    struct stage *stage = calloc(1, sizeof *stage);
    struct router_options options;
    assert_non_null(stage);
    stage->config = read_text_of(text, strlen(text), lines, sizeof lines);
    assert_non_null(stage->config);
    assert_int_equal(config_to_router(stage->config, &options), 0);
    options.version = "test";
    assert_int_equal(router_create(&options, &stage->router), 0);
    free((void *)(uintptr_t)options.pools);
    dir_rig_make(&stage->dir);
    assert_int_equal(map_folder_open(stage->dir.path, &stage->folder, problem), 0);
    stage->mover.from = router_map(stage->router, 0);
    stage->mover.text = "";
    stage->change = (struct admin_change){stage->config,  stage->router,       &stage->mover,
                                          &stage->folder, &stage->is_stopping, 60000};
    *state = stage;
    return 0;
}

static int teardown(void **state)
{
    struct stage *stage = *state;
    map_folder_close(&stage->folder);
    dir_rig_remove(&stage->dir);
    buffer_release(&stage->answer.body);
    cw_map_unref(&stage->mover.from);
    cw_map_unref(&stage->mover.to);
    router_destroy(&stage->router);
    config_destroy(&stage->config);
    free(stage);
    return 0;
}

/* Asks a page; the code, and the body as a text in stage->answer. 0: there is no such page. */
static unsigned ask(struct stage *stage, const char *method, const char *url, const char *body)
{
    struct admin_question question = {method, url, body, strlen(body), "127.0.0.1:5"};
    buffer_release(&stage->answer.body);
    stage->answer = (struct answer){200, "", BUFFER_INIT};
    stage->mover.thread = 0;
    if (!admin_change_page(&stage->change, &question, &stage->answer))
        return 0;
    if (stage->mover.thread)
        pthread_join(stage->mover.thread, NULL);
    buffer_append(&stage->answer.body, "", 1);
    return stage->answer.code;
}

static void assert_says(const struct stage *stage, const char *words)
{
    const char *text = buffer_bytes(&stage->answer.body);
    if (!strstr(text, words))
        fail_msg("wanted %s in %s", words, text);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const char drain_a[] = "{\"drain\": [\"a\"], \"who\": \"me\"}";

static void a_plan_is_the_movers_estimate(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", drain_a), 200);
    assert_says(stage, "\"what\": \"drain a\"");
    assert_says(stage, "\"generation_after\": 2");
    assert_int_equal(stage->mover.asked.node_count, 1);
    assert_int_equal(stage->mover.asked.generation, 1);
    assert_string_equal(stage->mover.who, "me via 127.0.0.1:5");
}

static void a_plan_of_nothing_asks_nobody(void **state)
{
    struct stage *stage = *state;
    static const char same[] = "{\"weight\": [{\"id\": \"b\", \"weight\": 3}]}";
    stage->mover.is_out_of_memory = true;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", same), 200);
    assert_says(stage, "\"is_change\": false");
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transitions", same), 409);
    assert_says(stage, "nothing would change");
}

static void a_transition_is_started(void **state)
{
    struct stage *stage = *state;
    stage->mover.has_transition = true;
    assert_int_equal(
        ask(stage, "POST", "/v1/pools/main/transitions", "{\"dead\": \"a\", \"deep\": true}"), 202);
    assert_says(stage, "\"id\": 5");
    assert_int_equal(stage->mover.asked.kind, TRANSITION_DEAD);
    assert_true(stage->mover.asked.is_deep && stage->mover.asked.throttle.is_automatic);
    assert_string_equal(stage->mover.what, "dead a");
    assert_string_equal(stage->mover.who, "admin 127.0.0.1:5");
}

static void every_refusal_of_the_mover_has_a_code_and_a_remedy(void **state)
{
    static const struct {
        int status;
        unsigned code;
    } cases[] = {{-EBUSY, 409}, {-ESTALE, 412}, {-EINVAL, 422}, {-EPERM, 409},
                 {-EIO, 502},   {-ENOENT, 404}, {-ENOSPC, 507}, {-EXDEV, 500}};
    struct stage *stage = *state;
    stage->mover.text = "it cannot be; try another";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stage->mover.status = cases[i].status;
        assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", drain_a), cases[i].code);
        assert_int_equal(ask(stage, "POST", "/v1/pools/main/transitions", drain_a), cases[i].code);
        assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/pause", ""), cases[i].code);
        assert_says(stage, "\"error\": \"it cannot be\"");
        assert_says(stage, "\"remedy\": \"try another\"");
    }
    stage->mover.is_out_of_memory = true;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transitions", drain_a), 503);
}

static void a_transition_is_told_what_to_do(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/resume", ""), 200);
    assert_int_equal(stage->mover.verb, MOVER_RESUME);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/cancel", ""), 200);
    assert_int_equal(stage->mover.verb, MOVER_CANCEL);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/abandon", ""), 200);
    assert_int_equal(stage->mover.verb, MOVER_ABANDON);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/throttle",
                         "{\"keys_per_second\": 9, \"automatic\": false}"),
                     200);
    assert_int_equal(stage->mover.verb, MOVER_THROTTLE);
    assert_int_equal(stage->mover.throttle.keys_per_second, 9);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/throttle", "{\"kays\": 9}"),
                     422);
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/transition", ""), 404);
    assert_says(stage, "had no transition yet");
    stage->mover.has_transition = true;
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/transition", ""), 200);
    assert_says(stage, "\"outcome\": \"running\"");
}

static void the_journal_is_the_history(void **state)
{
    struct stage *stage = *state;
    char problem[MAP_PROBLEM_SIZE];
    struct journal_entry entry = {.time_ms = 5, .transition = 3, .generation = 2};
    snprintf(entry.state, sizeof entry.state, "tracking");
    snprintf(entry.what, sizeof entry.what, "drain a");
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/history", ""), 200);
    assert_says(stage, "\"entries\": []");
    assert_int_equal(journal_append(&stage->folder, "main", &entry, problem), 0);
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/history", ""), 200);
    assert_says(stage, "\"what\": \"drain a\"");
    assert_says(stage, "\"state\": \"tracking\"");
}

static void after_a_restart_the_journal_tells_of_the_last_transition(void **state)
{
    struct stage *stage = *state;
    static const char *const states[] = {"prepared", "tracking", "aborting", "stable"};
    char problem[MAP_PROBLEM_SIZE];
    for (unsigned i = 0; i < 8; i++) {
        struct journal_entry entry = {.time_ms = 1000 + i, .transition = 3 + i / 4, .keys = i};
        snprintf(entry.state, sizeof entry.state, "%s", states[i % 4]);
        snprintf(entry.kind, sizeof entry.kind, "change");
        snprintf(entry.what, sizeof entry.what, "drain %u", i / 4);
        assert_int_equal(journal_append(&stage->folder, "main", &entry, problem), 0);
    }
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/transition", ""), 200);
    assert_says(stage, "\"id\": 4");
    assert_says(stage, "\"what\": \"drain 1\"");
    assert_says(stage, "\"outcome\": \"cancelled\"");
    assert_says(stage, "\"started_ms\": 1004");
    assert_says(stage, "\"stable\": 1007");
    assert_null(strstr(buffer_bytes(&stage->answer.body), "progress"));
}

static void an_answer_that_comes_too_late_harms_nobody(void **state)
{
    struct stage *stage = *state;
    stage->mover.is_silent = true;
    stage->change.timeout_ms = 20;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", drain_a), 504);
    answer_on_another_thread(&stage->mover);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transitions", drain_a), 504);
    answer_on_another_thread(&stage->mover);
}

static void nobody_waits_for_a_router_that_ends(void **state)
{
    struct stage *stage = *state;
    stage->mover.is_silent = true;
    stage->is_stopping = true;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", drain_a), 503);
    assert_says(stage, "being stopped");
    answer_on_another_thread(&stage->mover);
}

static void pages_and_pools_that_are_not_there(void **state)
{
    struct stage *stage = *state;
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/map", ""), 0);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main", ""), 0);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition/stop", ""), 0);
    assert_int_equal(ask(stage, "POST", "/v1/pools/mian/plan", drain_a), 404);
    assert_says(stage, "did you mean 'main'?");
    assert_int_equal(ask(stage, "POST", "/v1/pools//plan", drain_a), 404);
    assert_int_equal(ask(stage, "GET", "/v1/pools/main/plan", ""), 405);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/transition", ""), 405);
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", "{\"drain\": [\"x\"]}"), 404);
    stage->change.journals = NULL;
    assert_int_equal(ask(stage, "POST", "/v1/pools/main/plan", drain_a), 501);
    assert_says(stage, "map_store");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plan_is_the_movers_estimate, setup, teardown),
        cmocka_unit_test_setup_teardown(a_plan_of_nothing_asks_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(a_transition_is_started, setup, teardown),
        cmocka_unit_test_setup_teardown(every_refusal_of_the_mover_has_a_code_and_a_remedy, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_transition_is_told_what_to_do, setup, teardown),
        cmocka_unit_test_setup_teardown(the_journal_is_the_history, setup, teardown),
        cmocka_unit_test_setup_teardown(after_a_restart_the_journal_tells_of_the_last_transition,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_answer_that_comes_too_late_harms_nobody, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nobody_waits_for_a_router_that_ends, setup, teardown),
        cmocka_unit_test_setup_teardown(pages_and_pools_that_are_not_there, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
