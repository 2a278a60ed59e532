#include "cli/transition_print.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/apply_ask.h"
#include "cli/apply_watch.h"
#include "control/table.h"

static void append_safe(struct buffer *out, const char *text)
{
    table_append_safe(out, text, strlen(text));
}

static const char *color_of(const char *outcome)
{
    return strcmp(outcome, "paused") == 0 || strcmp(outcome, "cancelled") == 0 ? "\033[33m"
                                                                               : "\033[32m";
}

static void append_outcome(const json_t *transition, bool has_color, struct buffer *out)
{
    const char *outcome = apply_text(transition, "outcome");
    buffer_printf(out, "%s%s%s", has_color ? color_of(outcome) : "", outcome,
                  has_color ? "\033[0m" : "");
}

void transition_print_short(const json_t *transition, const char *indent, bool has_color,
                            struct buffer *out)
{
    const char *note = apply_text(transition, "note");
    if (!json_is_true(json_object_get(transition, "is_running")))
        return;
    buffer_printf(out, "%stransition %" PRIu64 " ", indent, apply_number(transition, "id"));
    append_outcome(transition, has_color, out);
    buffer_append_text(out, ": ");
    append_safe(out, apply_text(transition, "what"));
    buffer_printf(out, "\n%s  ", indent);
    apply_append_progress(transition, true, out);
    buffer_append_text(out, "\n");
    if (!*note)
        return;
    buffer_printf(out, "%s  ", indent);
    append_safe(out, note);
    buffer_append_text(out, "\n");
}

/* ---- everything ------------------------------------------------------------------------------ */

static void print_text(const json_t *transition, const char *title, const char *key,
                       struct buffer *out)
{
    const char *text = apply_text(transition, key);
    if (!*text)
        return;
    buffer_printf(out, "  %-9s", title);
    append_safe(out, text);
    buffer_append_text(out, "\n");
}

static void append_time(struct buffer *out, uint64_t ms)
{
    char text[32];
    struct tm parts;
    time_t seconds = (time_t)(ms / 1000);
    if (gmtime_r(&seconds, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%SZ", &parts))
        buffer_append_text(out, text);
}

static void print_reached(const json_t *transition, struct buffer *out)
{
    static const char *const states[] = {"prepared", "tracking", "frozen", "switched",
                                         "cleaning", "aborting", "stable"};
    const json_t *reached = json_object_get(transition, "reached");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        uint64_t at = apply_number(reached, states[i]);
        if (!at)
            continue;
        buffer_printf(out, "  %-9s", states[i]);
        append_time(out, at);
        buffer_append_text(out, "\n");
    }
}

static void print_throttle(const json_t *transition, struct buffer *out)
{
    const json_t *throttle = json_object_get(transition, "throttle");
    uint64_t keys = apply_number(throttle, "keys_per_second");
    uint64_t bytes = apply_number(throttle, "bytes_per_second");
    bool is_automatic = json_is_true(json_object_get(throttle, "automatic"));
    buffer_append_text(out, "  throttle ");
    if (keys)
        buffer_printf(out, "%" PRIu64 " keys/s, ", keys);
    if (bytes) {
        apply_append_bytes(out, bytes);
        buffer_append_text(out, "/s, ");
    }
    if (is_automatic)
        buffer_printf(out, "automatic, now at %.0f %%\n", apply_real(throttle, "factor") * 100);
    else
        buffer_append_text(out, keys || bytes ? "not automatic\n" : "off\n");
}

static void print_work(const json_t *transition, struct buffer *out)
{
    const json_t *progress = json_object_get(transition, "progress");
    const json_t *writes = json_object_get(transition, "writes");
    buffer_printf(out,
                  "  keys     %" PRIu64 " of about %" PRIu64 " scanned, %" PRIu64
                  " written meanwhile, %" PRIu64 " verified, %" PRIu64 " purged\n",
                  apply_number(progress, "keys_scanned"), apply_number(progress, "keys_expected"),
                  apply_number(progress, "keys_written"), apply_number(progress, "keys_verified"),
                  apply_number(progress, "keys_purged"));
    buffer_printf(out, "  copies   %" PRIu64 ", ", apply_number(progress, "copies"));
    apply_append_bytes(out, apply_number(progress, "copied_bytes"));
    if (apply_number(progress, "big_keys")) {
        buffer_append_text(out, "; ");
        apply_append_count(out, apply_number(progress, "big_keys"), "big key", "big keys");
        buffer_append_text(out, " in ");
        apply_append_count(out, apply_number(progress, "chunks"), "chunk", "chunks");
    }
    buffer_printf(out, "\n  writes   %" PRIu64 " marked, %" PRIu64 " held",
                  apply_number(writes, "marks"), apply_number(writes, "held"));
    if (apply_number(writes, "held"))
        buffer_printf(out, ", for %.1f ms at most",
                      (double)apply_number(writes, "held_us_max") / 1000);
    buffer_printf(out, "\n  freeze   %.1f ms\n",
                  (double)apply_number(transition, "freeze_us") / 1000);
}

void transition_print(const json_t *transition, bool has_color, struct buffer *out)
{
    buffer_printf(out, "pool %s, transition %" PRIu64 " ", apply_text(transition, "pool"),
                  apply_number(transition, "id"));
    append_outcome(transition, has_color, out);
    buffer_append_text(out, ": ");
    append_safe(out, apply_text(transition, "what"));
    buffer_append_text(out, "\n  ");
    if (json_is_true(json_object_get(transition, "is_running"))) {
        apply_append_progress(transition, true, out);
        buffer_append_text(out, "\n");
    } else {
        apply_append_summary(transition, out);
    }
    print_text(transition, "doing", "doing", out);
    print_text(transition, "note", "note", out);
    print_text(transition, "asked by", "who", out);
    if (json_object_get(transition, "progress"))
        print_work(transition, out);
    if (json_object_get(transition, "throttle"))
        print_throttle(transition, out);
    print_reached(transition, out);
}
