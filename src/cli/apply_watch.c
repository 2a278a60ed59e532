#include "cli/apply_watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/apply_ask.h"
#include "cli/compare_progress.h"
#include "control/table.h"

enum { ASK_EVERY_MS = 200, LINE_EVERY = 50, PARTS = 1000 };

static volatile sig_atomic_t was_interrupted;

static void on_interrupt(int number)
{
    was_interrupted = number;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* What a person is shown as the state: none is reached while the nodes are looked at. */
static const char *state_word(const json_t *transition)
{
    const char *state = apply_text(transition, "state");
    if (!json_is_true(json_object_get(transition, "is_running")))
        return state;
    if (strcmp(apply_text(transition, "outcome"), "paused") == 0)
        return "paused";
    return strcmp(state, "stable") == 0 ? "checking" : state;
}

/* The time left comes first: it is the last that may be cut off at the edge of a terminal. */
void apply_append_progress(const json_t *transition, bool has_state, struct buffer *out)
{
    const json_t *progress = json_object_get(transition, "progress");
    uint64_t left = apply_number(transition, "seconds_left");
    uint64_t p99 = apply_number(transition, "p99_us");
    if (has_state)
        buffer_printf(out, "%s, %.0f %%, ", state_word(transition),
                      apply_real(transition, "part") * 100);
    if (left)
        buffer_printf(out, "%" PRIu64 ":%02" PRIu64 " left, ", left / 60, left % 60);
    buffer_printf(out, "%.0f keys/s scanned, ", apply_real(transition, "keys_scanned_per_second"));
    apply_append_count(out, apply_number(progress, "copies"), "copy", "copies");
    buffer_append_text(out, ", ");
    apply_append_bytes(out, apply_number(progress, "copied_bytes"));
    if (p99)
        buffer_printf(out, ", p99 %.1f ms", (double)p99 / 1000);
}

void apply_append_summary(const json_t *transition, struct buffer *out)
{
    const char *what = apply_text(transition, "what");
    uint64_t started = apply_number(transition, "started_ms");
    uint64_t ended = apply_number(json_object_get(transition, "reached"), "stable");
    uint64_t now = ended > started ? ended : apply_number(transition, "now_ms");
    buffer_printf(out, "%s: ", apply_text(transition, "outcome"));
    table_append_safe(out, what, strlen(what));
    buffer_append_text(out, "; ");
    apply_append_count(out, apply_number(transition, "copies"), "copy", "copies");
    buffer_append_text(out, " (");
    apply_append_bytes(out, apply_number(transition, "copied_bytes"));
    buffer_append_text(out, ") in ");
    apply_append_duration(out, now > started ? now - started : 0);
    buffer_printf(out, "; freeze %.1f ms; generation %" PRIu64 "\n",
                  (double)apply_number(transition, "freeze_us") / 1000,
                  apply_number(transition, "generation"));
}

/* ---- showing --------------------------------------------------------------------------------- */

struct watch {
    const char *admin, *pool;
    struct progress progress;
    char state[32];  /* of the last line */
    unsigned rounds; /* since then */
};

/* Where there is no terminal: a line for each state, and one now and then. */
static void show_line(struct watch *watch, const json_t *transition)
{
    struct buffer line = BUFFER_INIT;
    const char *state = state_word(transition);
    if (watch->rounds++ % LINE_EVERY != 0 && strcmp(state, watch->state) == 0)
        return;
    watch->rounds = 1;
    snprintf(watch->state, sizeof watch->state, "%s", state);
    apply_append_progress(transition, true, &line);
    fprintf(stderr, "%.*s\n", (int)line.len, buffer_bytes(&line));
    buffer_release(&line);
}

static void show(struct watch *watch, const json_t *transition)
{
    struct buffer tail = BUFFER_INIT;
    if (!watch->progress.is_on) {
        show_line(watch, transition);
        return;
    }
    apply_append_progress(transition, false, &tail);
    buffer_append(&tail, "", 1);
    progress_show_more(&watch->progress, state_word(transition),
                       (uint64_t)(apply_real(transition, "part") * PARTS), PARTS,
                       buffer_bytes(&tail));
    buffer_release(&tail);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Ends the process as Ctrl-C does, so that a script that calls it ends too. */
static int interrupted(struct watch *watch)
{
    progress_clear(&watch->progress);
    fprintf(stderr,
            "\nclockwise: the transition goes on in the router. `clockwise transition status` "
            "shows how, `clockwise\ntransition wait` waits for it again, `clockwise transition "
            "pause` and `cancel` stop it.\n");
    signal(was_interrupted, SIG_DFL);
    raise(was_interrupted);
    return CLI_FAILED;
}

static int ended(const json_t *transition)
{
    const char *note = apply_text(transition, "note");
    if (strcmp(apply_text(transition, "outcome"), "done") == 0)
        return CLI_OK;
    if (strcmp(apply_text(transition, "outcome"), "paused") == 0)
        return cli_fail("the transition is paused: %s\nWhen that is mended, `clockwise transition "
                        "resume` goes on; `clockwise transition cancel` gives it up.",
                        note);
    return cli_fail("the transition was cancelled%s%s", *note ? ": " : "", note);
}

/* Paused without a reason is what a person asked for, who may resume it. */
static bool is_over(const json_t *transition)
{
    const char *outcome = apply_text(transition, "outcome");
    if (strcmp(outcome, "paused") == 0)
        return *apply_text(transition, "note") != 0;
    return strcmp(outcome, "running") != 0;
}

static int wait_for_end(struct watch *watch, json_t **ret_transition)
{
    static const struct timespec pause = {.tv_nsec = ASK_EVERY_MS * 1000000L};
    while (!was_interrupted) {
        json_t *transition = NULL;
        int status = apply_ask(watch->admin, watch->pool, "transition", NULL, &transition);
        if (status != CLI_OK && !was_interrupted)
            return status;
        if (transition && is_over(transition)) {
            progress_clear(&watch->progress);
            status = ended(transition);
            *ret_transition = transition;
            return status;
        }
        if (transition)
            show(watch, transition);
        json_decref(transition);
        nanosleep(&pause, NULL);
    }
    return interrupted(watch);
}

int apply_watch(const char *admin, const char *pool, json_t **ret_transition)
{
    struct watch watch = {.admin = admin, .pool = pool};
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    json_t *transition = NULL;
    was_interrupted = 0;
    progress_init(&watch.progress, STDERR_FILENO);
    sigaction(SIGINT, &action, &before);
    int status = wait_for_end(&watch, &transition);
    sigaction(SIGINT, &before, NULL);
    progress_clear(&watch.progress);
    if (ret_transition)
        *ret_transition = transition;
    else
        json_decref(transition);
    return status;
}
