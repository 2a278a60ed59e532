/*
 * The mover from outside: requests are posted to its loop, reports are copied out under a lock.
 */
#include "move/mover_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests -------------------------------------------------------------------------------- */

enum request_kind {
    REQUEST_START,
    REQUEST_TELL,
    REQUEST_ESTIMATE,
};

struct mover_request {
    struct mover *mover;
    enum request_kind kind;
    struct mover_change change; /* pool: of all kinds */
    enum mover_verb verb;
    struct throttle_settings throttle;
    mover_answer answer;
    mover_estimated estimated;
    void *context;
    struct list in_mover;
};

/* A transition that only estimates. */
struct probe {
    struct transition transition;
    struct list in_mover;
};

static void request_free(struct mover_request *request)
{
    mover_change_release(&request->change);
    free(request);
}

/* The pools whose keys move, as "'a', 'b'"; how many they are. */
static uint32_t name_moving(const struct mover *mover, char *ret_names, size_t size)
{
    uint32_t count = 0;
    size_t len = 0;
    *ret_names = 0;
    for (uint32_t i = 0; i < mover->options.pool_count; i++) {
        if (!mover->pools[i].transition.is_running)
            continue;
        if (len < size)
            len += (size_t)snprintf(ret_names + len, size - len, "%s'%.63s'", count ? ", " : "",
                                    mover->options.pools[i].name);
        count++;
    }
    return count;
}

/* A dead node, and a server that has the data already, must not wait for hours of copying. */
static bool is_copying(const struct mover_change *change)
{
    return change->kind != TRANSITION_DEAD && !change->no_copy;
}

/* True when as many transitions run as may; then that was answered. */
static bool refuse_one_more(const struct mover *mover, const struct mover_request *request)
{
    char names[200], text[MOVE_PROBLEM_SIZE];
    uint32_t most = mover->options.transitions_max;
    uint32_t count = name_moving(mover, names, sizeof names);
    if (count < most || !is_copying(&request->change))
        return false;
    snprintf(text, sizeof text,
             "keys of pool%s %s are being moved, and this router moves those of %u pool%s at a "
             "time; wait for the end (clockwise transition wait), cancel it, or raise "
             "move.transitions and start the router anew",
             count == 1 ? "" : "s", names, most, most == 1 ? "" : "s");
    request->answer(request->context, -EBUSY, text);
    return true;
}

static void start(struct mover *mover, struct mover_request *request)
{
    struct transition *transition = &mover->pools[request->change.pool].transition;
    if (transition->is_running) {
        request->answer(request->context, -EBUSY,
                        "another transition of this pool is under way; wait for its end, or cancel "
                        "it (clockwise transition status)");
        return;
    }
    if (refuse_one_more(mover, request))
        return;
    transition->answer = request->answer;
    transition->answer_context = request->context;
    transition_start(transition, &request->change);
}

static void estimate(struct mover *mover, struct mover_request *request)
{
    struct transition *of_pool = &mover->pools[request->change.pool].transition;
    struct probe *probe = calloc(1, sizeof *probe);
    if (!probe || transition_init_probe(&probe->transition, of_pool) < 0) {
        free(probe);
        request->estimated(request->context, -ENOMEM, "out of memory", NULL);
        return;
    }
    list_push_back(&mover->probes, &probe->in_mover);
    probe->transition.estimated = request->estimated;
    probe->transition.answer_context = request->context;
    transition_start(&probe->transition, &request->change);
}

static void tell(struct mover *mover, struct mover_request *request)
{
    const char *text = "";
    int status = transition_tell(&mover->pools[request->change.pool].transition, request->verb,
                                 &request->throttle, &text);
    request->answer(request->context, status, text);
}

static void on_request(void *context)
{
    struct mover_request *request = context;
    struct mover *mover = request->mover;
    mutex_lock(&mover->lock);
    list_remove(&request->in_mover);
    mutex_unlock(&mover->lock);
    switch (request->kind) {
    case REQUEST_START: start(mover, request); break;
    case REQUEST_TELL: tell(mover, request); break;
    case REQUEST_ESTIMATE: estimate(mover, request); break;
    }
    request_free(request);
}

static int post(struct mover *mover, const struct mover_request *model,
                const struct mover_change *change)
{
    struct mover_request *request = malloc(sizeof *request);
    if (!request)
        return -ENOMEM;
    *request = *model;
    request->mover = mover;
    request->change = (struct mover_change){.pool = change->pool};
    if (!mover_change_copy(&request->change, change)) {
        free(request);
        return -ENOMEM;
    }
    mutex_lock(&mover->lock);
    list_push_back(&mover->requests, &request->in_mover);
    int status = io_post(mover->options.loop, on_request, request);
    if (status < 0)
        list_remove(&request->in_mover);
    mutex_unlock(&mover->lock);
    if (status < 0)
        request_free(request);
    return status;
}

int mover_start(struct mover *mover, const struct mover_change *change, mover_answer answer,
                void *context)
{
    const struct mover_request model = {
        .kind = REQUEST_START, .answer = answer, .context = context};
    return post(mover, &model, change);
}

int mover_tell(struct mover *mover, uint32_t pool, enum mover_verb verb,
               const struct throttle_settings *throttle, mover_answer answer, void *context)
{
    const struct mover_change change = {.pool = pool};
    struct mover_request model = {
        .kind = REQUEST_TELL, .verb = verb, .answer = answer, .context = context};
    if (throttle)
        model.throttle = *throttle;
    return post(mover, &model, &change);
}

int mover_ask_estimate(struct mover *mover, const struct mover_change *change,
                       mover_estimated answer, void *context)
{
    const struct mover_request model = {
        .kind = REQUEST_ESTIMATE, .estimated = answer, .context = context};
    return post(mover, &model, change);
}

/* ---- reports --------------------------------------------------------------------------------- */

static uint64_t seconds_left(const struct move_progress *progress, double scan_rate)
{
    if (progress->keys_expected <= progress->keys_scanned || scan_rate < 1)
        return 0;
    return (uint64_t)((double)(progress->keys_expected - progress->keys_scanned) / scan_rate) + 1;
}

/* Jobs that have ended stay in the list until the next ones begin. */
static void describe_jobs(const struct transition *transition, char *ret_text, size_t size)
{
    uint32_t count = transition->job_kind && transition->jobs_left ? transition->job_count : 0;
    char failed[60];
    if (transition_can_abandon(transition) &&
        transition_name_failed(transition, failed, sizeof failed))
        snprintf(ret_text, size, "%s, waiting for %s", transition->job_kind->doing, failed);
    else if (count)
        snprintf(ret_text, size, "%s %u node%s", transition->job_kind->doing, count,
                 count == 1 ? "" : "s");
    else if (transition->info.state == TRANSITION_CLEANING)
        snprintf(ret_text, size, "letting the targets sync before the old owners are cleared");
    else
        snprintf(ret_text, size, "waiting for the workers");
}

static void describe(const struct transition *transition, char *ret_text, size_t size)
{
    const struct move_progress *progress = &transition->progress;
    char doing[100];
    describe_jobs(transition, doing, sizeof doing);
    if (transition->info.is_paused)
        snprintf(ret_text, size, "paused");
    else if (transition->epoch > 1 && transition->info.state < TRANSITION_SWITCHED)
        snprintf(ret_text, size, "%s, round %u, %llu key%s written meanwhile", doing,
                 transition->round, (unsigned long long)progress->keys_dirty,
                 progress->keys_dirty == 1 ? "" : "s");
    else
        snprintf(ret_text, size, "%s", doing);
}

static void measure_rate(struct mover_pool *pool, uint64_t now)
{
    uint64_t scanned = pool->transition.progress.keys_scanned;
    uint64_t elapsed = now - pool->keys_at_ms;
    if (elapsed < 5 * TICK_MS)
        return;
    if (scanned >= pool->keys_before)
        pool->rate = (double)(scanned - pool->keys_before) * 1000 / (double)elapsed;
    pool->keys_before = scanned;
    pool->keys_at_ms = now;
}

static void make_report(const struct mover_pool *pool, struct mover_report *report)
{
    const struct transition *transition = &pool->transition;
    *report = (struct mover_report){
        .is_running = transition->is_running,
        .revision = transition->revision,
        .generation = cw_map_generation(transition->map),
        .info = transition->info,
        .progress = transition->progress,
        .counters = transition->counters,
        .epoch = transition->epoch,
        .started_ms = transition->started_ms,
        .now_ms = io_wall_ms(transition->options->loop),
        .keys_per_second = transition->is_running ? pool->rate : 0,
        .factor = transition->throttle.factor,
        .seconds_left = seconds_left(&transition->progress, pool->rate),
        .hold_us = transition->info.held_us,
        .p99_us = pool->observation.p99_us,
        .before_p99_us = pool->observation.before_p99_us,
    };
    if (transition->is_running)
        describe(transition, report->doing, sizeof report->doing);
}

static void reference(struct mover_report *report)
{
    if (report->info.from)
        cw_map_ref(report->info.from);
    if (report->info.to)
        cw_map_ref(report->info.to);
}

void mover_report_release(struct mover_report *report)
{
    cw_map_unref(&report->info.from);
    cw_map_unref(&report->info.to);
}

void mover_publish(struct transition *transition)
{
    struct mover *mover = transition->mover;
    struct mover_report report;
    if (transition->is_probe || !transition->is_stored)
        return;
    struct mover_pool *pool = &mover->pools[transition->pool];
    measure_rate(pool, io_now_ms(mover->options.loop));
    make_report(pool, &report);
    reference(&report);
    mutex_lock(&mover->lock);
    struct mover_report old = pool->report;
    bool had = pool->has_report;
    pool->report = report;
    pool->has_report = true;
    mutex_unlock(&mover->lock);
    if (had)
        mover_report_release(&old);
}

bool mover_read(struct mover *mover, uint32_t pool, struct mover_report *ret_report)
{
    mutex_lock(&mover->lock);
    bool has_report = mover->pools[pool].has_report;
    if (has_report) {
        *ret_report = mover->pools[pool].report;
        reference(ret_report);
    }
    mutex_unlock(&mover->lock);
    return has_report;
}

void mover_read_loss(struct mover *mover, uint32_t pool, struct mover_loss *ret_loss)
{
    mutex_lock(&mover->lock);
    *ret_loss = mover->losses[pool];
    mutex_unlock(&mover->lock);
}

struct throttle *mover_shared_throttle(struct mover *mover)
{
    return &mover->throttle;
}

/* ---- ticks ----------------------------------------------------------------------------------- */

static void free_probes(struct mover *mover, bool all)
{
    list_for_each (entry, &mover->probes) {
        struct probe *probe = list_entry(entry, struct probe, in_mover);
        if (!all && probe->transition.is_running)
            continue;
        list_remove(entry);
        transition_fini(&probe->transition);
        free(probe);
    }
}

static void on_tick(void *context)
{
    struct mover *mover = context;
    free_probes(mover, false);
    for (uint32_t i = 0; i < mover->options.pool_count; i++) {
        mover_observe(mover, i);
        mover_watch(mover, i);
        if (mover->pools[i].transition.is_running)
            mover_publish(&mover->pools[i].transition);
    }
    io_timer_start(mover->tick, TICK_MS);
}

/* ---- making and ending ----------------------------------------------------------------------- */

static void set_defaults(struct mover_options *options)
{
    if (!options->transitions_max)
        options->transitions_max = 1;
    if (!options->in_flight_bytes)
        options->in_flight_bytes = 64 << 20;
    if (!options->freeze_budget_ms)
        options->freeze_budget_ms = 200;
    if (!options->freeze_keys)
        options->freeze_keys = 200;
    if (!options->settle_ms)
        options->settle_ms = 1500;
    if (!options->watch_ms)
        options->watch_ms = 5000;
}

int mover_create(const struct mover_options *options, struct map_record *const *records,
                 struct mover **ret_mover)
{
    struct mover *mover = calloc(1, sizeof *mover);
    if (!mover)
        return -ENOMEM;
    mover->options = *options;
    set_defaults(&mover->options);
    throttle_init(&mover->throttle, &options->throttle, io_now_ms(options->loop));
    mutex_init(&mover->lock);
    list_init(&mover->requests);
    list_init(&mover->probes);
    mover->pools = calloc(options->pool_count, sizeof *mover->pools);
    mover->losses = calloc(options->pool_count, sizeof *mover->losses);
    int status = mover->pools && mover->losses
                     ? io_timer_create(options->loop, on_tick, mover, &mover->tick)
                     : -ENOMEM;
    for (uint32_t i = 0; status == 0 && i < options->pool_count; i++) {
        observation_init(&mover->pools[i].observation, mover, i);
        watch_init(&mover->pools[i].watch, mover, i);
        status = transition_init(&mover->pools[i].transition, mover, &mover->options, i,
                                 records ? records[i] : NULL);
        if (status == 0 && records && records[i] && records[i]->transition)
            transition_resume_stored(&mover->pools[i].transition);
    }
    if (status < 0) {
        mover_destroy(&mover);
        return status;
    }
    io_timer_start(mover->tick, TICK_MS);
    *ret_mover = mover;
    return 0;
}

static void cancel_requests(struct mover *mover)
{
    list_for_each (entry, &mover->requests) {
        struct mover_request *request = list_entry(entry, struct mover_request, in_mover);
        list_remove(entry);
        if (request->estimated)
            request->estimated(request->context, -ECANCELED, "the router is stopping", NULL);
        else
            request->answer(request->context, -ECANCELED, "the router is stopping");
        request_free(request);
    }
}

void mover_destroy(struct mover **mover_at)
{
    struct mover *mover = *mover_at;
    *mover_at = NULL;
    if (!mover)
        return;
    cancel_requests(mover);
    free_probes(mover, true);
    for (uint32_t i = 0; mover->pools && i < mover->options.pool_count; i++) {
        watch_release(&mover->pools[i].watch);
        if (mover->pools[i].transition.mover)
            transition_fini(&mover->pools[i].transition);
        if (mover->pools[i].has_report)
            mover_report_release(&mover->pools[i].report);
    }
    io_timer_destroy(&mover->tick);
    mutex_fini(&mover->lock);
    free(mover->losses);
    free(mover->pools);
    free(mover);
}
