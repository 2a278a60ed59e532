/*
 * A pool's transition from outside the steps: how it begins, begins anew, is paused, cancelled and
 * over.
 */
#include "move/transition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- saying so ------------------------------------------------------------------------------- */

void transition_log(const struct transition *transition, int level, const char *event,
                    const char *text)
{
    char line[MOVE_PROBLEM_SIZE + 256];
    if (!transition->options->log || transition->is_probe)
        return;
    snprintf(line, sizeof line, "event=%s pool=%s transition=%llu%s%s%s", event,
             transition->settings->name, (unsigned long long)transition->info.id,
             *text ? " message=\"" : "", text, *text ? "\"" : "");
    transition->options->log(level, line);
}

void transition_note(struct transition *transition, const char *text)
{
    if (strncmp(transition->info.note, text, sizeof transition->info.note - 1) == 0)
        return;
    snprintf(transition->info.note, sizeof transition->info.note, "%s", text);
    if (*text)
        transition_log(transition, 2, "transition_trouble", text);
    mover_publish(transition);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void on_timer(void *context)
{
    struct transition *transition = context;
    transition_step then = transition->timer_then;
    transition->timer_then = NULL;
    if (then)
        then(transition);
}

void transition_later(struct transition *transition, uint64_t delay_ms, transition_step then)
{
    transition->timer_then = then;
    io_timer_start(transition->timer, delay_ms);
}

void transition_trouble(struct transition *transition, const char *problem, transition_step again)
{
    uint64_t backoff = transition->backoff_ms ? transition->backoff_ms * 2 : RETRY_FIRST_MS;
    transition->backoff_ms = backoff < RETRY_MAX_MS ? backoff : RETRY_MAX_MS;
    transition_note(transition, problem);
    transition_later(transition, transition->backoff_ms, again);
}

static void on_budget(void *context)
{
    step_unfreeze(context);
}

void transition_stop_all(struct transition *transition)
{
    transition->run++;
    transition->timer_then = NULL;
    transition->freeze = FREEZE_NONE;
    io_timer_stop(transition->timer);
    io_timer_stop(transition->budget);
    transition_stop_jobs(transition);
    job_stop(&transition->big_job);
}

/* ---- beginning ------------------------------------------------------------------------------- */

static void answer(struct transition *transition, int status, const char *text)
{
    mover_answer callback = transition->answer;
    transition->answer = NULL;
    if (callback)
        callback(transition->answer_context, status, text);
}

void transition_refuse(struct transition *transition, int status, const char *why)
{
    mover_estimated estimated = transition->estimated;
    transition->estimated = NULL;
    answer(transition, status, why);
    if (estimated)
        estimated(transition->answer_context, status, why, NULL);
    transition_end(transition);
}

static void fill_info(struct transition *transition, const struct mover_change *change,
                      struct cw_map *to)
{
    struct transition_info *info = &transition->info;
    cw_map_unref(&info->from);
    cw_map_unref(&info->to);
    *info = (struct transition_info){
        .id = transition->next_transition,
        .attempt = 1,
        .kind = change->kind,
        .is_deep = change->is_deep,
        .may_purge = change->may_purge,
        .no_copy = change->no_copy,
        .throttle = change->throttle,
        .from = cw_map_ref(transition->map),
        .to = to,
    };
    snprintf(info->who, sizeof info->who, "%s", change->who ? change->who : "");
    snprintf(info->what, sizeof info->what, "%s", change->what ? change->what : "");
    if (change->kind == TRANSITION_DEAD)
        snprintf(info->dead_id, sizeof info->dead_id, "%s", change->dead_id);
}

/* What counts from zero with each transition. */
static void reset(struct transition *transition)
{
    uint64_t now = io_now_ms(transition->options->loop);
    transition->is_running = true;
    transition->is_stored = false;
    transition->wants_cancel = transition->is_compared = false;
    transition->progress = (struct move_progress){0};
    transition->counters = (struct move_counters){0};
    transition->epoch = transition->round = transition->void_count = transition->big_rounds = 0;
    transition->backoff_ms = transition->frozen_ns = 0;
    transition->freeze = FREEZE_NONE;
    transition->begun_count = 0;
    transition->started_ms = io_wall_ms(transition->options->loop);
    throttle_init(&transition->throttle, &transition->info.throttle, now);
    transition->throttle.shared = mover_shared_throttle(transition->mover);
}

static void begin_nodes_and_look(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE];
    int status = transition_begin_node(transition, problem);
    if (status > 0) {
        transition_later(transition, 0, begin_nodes_and_look);
        return;
    }
    if (status == 0)
        status = transition_open(transition, problem);
    if (status < 0)
        transition_refuse(transition, status, problem);
    else
        step_look(transition);
}

void transition_start(struct transition *transition, const struct mover_change *change)
{
    char problem[MOVE_PROBLEM_SIZE];
    struct cw_map *to = NULL;
    int status = transition_plan(transition, change, &to, problem);
    if (status < 0) {
        transition_refuse(transition, status, problem);
        return;
    }
    fill_info(transition, change, to);
    reset(transition);
    transition->is_fenced = !transition->has_given_up;
    begin_nodes_and_look(transition);
}

static void open_stored(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE];
    int status;
    do /* as a rule all of them run already */
        status = transition_begin_node(transition, problem);
    while (status > 0);
    if (status < 0 || transition_open(transition, problem) < 0) {
        transition_close(transition);
        transition->begun_count = 0;
        transition_trouble(transition, problem, open_stored);
        return;
    }
    if (transition->info.state == TRANSITION_ABORTING)
        step_abort(transition);
    else if (transition->info.state >= TRANSITION_SWITCHED)
        step_switched(transition);
    else
        transition_begin_anew(transition, "the router was restarted");
}

void transition_resume_stored(struct transition *transition)
{
    reset(transition);
    transition->is_stored = true;
    transition->is_fenced = false;
    transition->throttle.is_paused = transition->info.is_paused;
    open_stored(transition);
}

void transition_begin_anew(struct transition *transition, const char *why)
{
    bool was_frozen = transition->freeze != FREEZE_NONE;
    transition_stop_all(transition);
    if (was_frozen) /* what waits must not wait for a disk */
        transition_tell_workers(transition, MOVE_PREPARED, NULL);
    if (transition->wants_cancel && !transition->is_putting) {
        step_abort(transition);
        return;
    }
    transition_note(transition, why);
    transition_log(transition, 2, "transition_anew", why);
    if (++transition->void_count > VOID_MAX) {
        transition->info.is_paused = transition->throttle.is_paused = true;
        transition->void_count = 0;
    }
    transition->info.attempt++;
    transition->epoch = transition->round = transition->big_rounds = 0;
    transition->is_compared = transition->move.is_urgent = false;
    __atomic_store_n(&transition->counters.marks_failed, 0, __ATOMIC_RELAXED);
    transition->progress = (struct move_progress){0};
    for (uint32_t i = 0; i < cw_map_node_count(transition->info.from); i++)
        key_sample_clear(&transition->move.samples[i]);
    key_list_clear(&transition->found.keys);
    buffer_clear(&transition->found.sources);
    big_keys_unref(&transition->move.big);
    transition_name_set(transition);
    transition_put(transition, TRANSITION_PREPARED, step_prepare, NULL);
}

/* ---- a person's word ------------------------------------------------------------------------- */

static int cancel(struct transition *transition, const char **ret_text)
{
    if (transition->info.state == TRANSITION_ABORTING) {
        *ret_text = "it is being cancelled already; should it wait for a node that is gone for "
                    "good, give that up (clockwise transition abandon)";
        return -EALREADY;
    }
    if (transition->info.state >= TRANSITION_SWITCHED || transition->freeze == FREEZE_SWITCH) {
        *ret_text = "the new map is in force already; plan the change back instead";
        return -EPERM;
    }
    transition->wants_cancel = true;
    *ret_text = "cancelled; what was copied is removed from the targets";
    if (!transition->is_putting)
        step_abort(transition);
    return 0;
}

static int pause(struct transition *transition, bool is_paused, const char **ret_text)
{
    if (transition->info.state == TRANSITION_ABORTING) {
        *ret_text = "it is being cancelled, which can't be paused; wait for its end (clockwise "
                    "transition wait)";
        return -EPERM;
    }
    if (transition->info.state >= TRANSITION_SWITCHED) {
        *ret_text = "the new map is in force and only the old owners are being cleared, which "
                    "can't be paused; slow it down with `clockwise transition throttle`";
        return -EPERM;
    }
    *ret_text = is_paused ? "paused; writes of the moving keys are still marked" : "goes on";
    transition->info.is_paused = transition->throttle.is_paused = is_paused;
    if (!is_paused)
        transition_note(transition, "");
    transition_put_too(transition);
    mover_publish(transition);
    return 0;
}

/* What it is that goes so fast from now on. */
static const char *throttled_text(const struct transition *transition)
{
    if (transition->info.state == TRANSITION_ABORTING)
        return "throttled: how fast the targets are cleared";
    if (transition->info.state >= TRANSITION_SWITCHED)
        return "throttled: how fast the old owners are cleared";
    return "throttled: how fast keys are copied";
}

int transition_tell(struct transition *transition, enum mover_verb verb,
                    const struct throttle_settings *throttle, const char **ret_text)
{
    if (!transition->is_running || transition->info.state == TRANSITION_STABLE) {
        *ret_text = "no transition is under way in this pool; `clockwise transition status` tells "
                    "of the last one";
        return -ENOENT;
    }
    switch (verb) {
    case MOVER_PAUSE: return pause(transition, true, ret_text);
    case MOVER_RESUME: return pause(transition, false, ret_text);
    case MOVER_CANCEL: return cancel(transition, ret_text);
    case MOVER_ABANDON: return transition_abandon(transition, ret_text);
    case MOVER_THROTTLE:
        transition->info.throttle = *throttle;
        throttle_set(&transition->throttle, throttle);
        mover_publish(transition);
        *ret_text = throttled_text(transition);
        return 0;
    }
    return -EINVAL;
}

/* ---- making and ending ----------------------------------------------------------------------- */

void transition_end(struct transition *transition)
{
    transition_stop_all(transition);
    transition_close(transition);
    transition_end_nodes(transition);
    transition->is_running = false;
    mover_publish(transition);
}

static int make_timers(struct transition *transition)
{
    struct io_loop *loop = transition->options->loop;
    list_init(&transition->acks);
    int status = io_timer_create(loop, on_timer, transition, &transition->timer);
    return status < 0 ? status : io_timer_create(loop, on_budget, transition, &transition->budget);
}

int transition_init(struct transition *transition, struct mover *mover,
                    const struct mover_options *options, uint32_t pool,
                    const struct map_record *record)
{
    *transition = (struct transition){
        .mover = mover,
        .options = options,
        .pool = pool,
        .settings = &options->pools[pool],
        .next_transition = 1,
    };
    int status = make_timers(transition);
    if (status == 0 && record)
        status = transition_take_record(transition, record);
    else if (status == 0)
        transition->map = router_map(options->router, pool);
    return status;
}

int transition_init_probe(struct transition *probe, const struct transition *of_pool)
{
    *probe = (struct transition){
        .mover = of_pool->mover,
        .options = of_pool->options,
        .pool = of_pool->pool,
        .settings = of_pool->settings,
        .map = cw_map_ref(of_pool->map),
        .is_probe = true,
    };
    int status = make_timers(probe);
    for (size_t i = 0; i < of_pool->burnt_count && status == 0; i++)
        status = transition_burn(probe, of_pool->burnt[i]);
    return status;
}

void transition_fini(struct transition *transition)
{
    if (transition->is_running) {
        transition_stop_all(transition);
        answer(transition, -ECANCELED, "the router is stopping");
        if (transition->estimated)
            transition->estimated(transition->answer_context, -ECANCELED, "the router is stopping",
                                  NULL);
        transition_close(transition);
    }
    transition_forget_acks(transition);
    io_timer_destroy(&transition->timer);
    io_timer_destroy(&transition->budget);
    transition_release_record(transition);
}
