#include "control/last_transition.h"

#include <stdio.h>

static void take_entry(const struct journal_entry *entry, struct mover_report *report)
{
    struct transition_info *info = &report->info;
    int state = transition_state_find(entry->state), kind = transition_kind_find(entry->kind);
    if (!report->started_ms)
        report->started_ms = entry->time_ms;
    report->now_ms = entry->time_ms;
    report->generation = entry->generation;
    report->revision = entry->revision;
    info->id = entry->transition;
    info->attempt = entry->attempt;
    info->keys_moved = entry->keys;
    info->bytes_moved = entry->bytes;
    info->held_us = entry->held_us;
    if (kind >= 0)
        info->kind = (enum transition_kind)kind;
    if (state >= 0) {
        info->state = (enum transition_state)state;
        info->reached_ms[state] = entry->time_ms;
    }
    snprintf(info->who, sizeof info->who, "%s", entry->who);
    snprintf(info->what, sizeof info->what, "%s", entry->what);
    snprintf(info->note, sizeof info->note, "%s", entry->note);
}

bool last_transition(const struct journal_entry *entries, size_t count,
                     struct mover_report *ret_report)
{
    struct mover_report report = {0};
    uint64_t last = 0;
    for (size_t i = 0; i < count; i++)
        last = entries[i].transition ? entries[i].transition : last;
    for (size_t i = 0; last && i < count; i++)
        if (entries[i].transition == last)
            take_entry(&entries[i], &report);
    if (last)
        *ret_report = report;
    return last != 0;
}
