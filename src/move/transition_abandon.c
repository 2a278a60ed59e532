/*
 * Giving up nodes that are gone for good. When a transition was cancelled its targets are cleared,
 * and after a switch the old owners; a node that does not answer is waited for, and meanwhile the
 * pool cannot be changed. A person, never the mover by itself, may say that it is waited for in
 * vain.
 *
 * Nothing can be lost by that: what is to be cleared are copies, and the owners have everything.
 * What stays may be old copies on a node that comes back after all, and a command to it that is
 * executed late. Nobody reads them, and every transition that brings keys to a node first ends the
 * connections of earlier ones there (job_fence()) and removes what stands where the keys will be; a
 * node that is new to the pool is refused if it is not empty.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "move/transition.h"

bool transition_can_abandon(const struct transition *transition)
{
    enum transition_state state = transition->info.state;
    return transition->is_stored && !transition->is_putting &&
           (state == TRANSITION_ABORTING || state == TRANSITION_CLEANING);
}

static const struct cw_node *node_of(const struct node_job *slot)
{
    const struct transition *transition = slot->transition;
    return cw_map_node(transition->job_kind->is_of_targets ? transition->info.to
                                                           : transition->info.from,
                       slot->node);
}

uint32_t transition_name_failed(const struct transition *transition, char *ret_names, size_t size)
{
    uint32_t count = 0;
    size_t len = 0;
    *ret_names = 0;
    for (uint32_t i = 0; i < transition->job_count; i++) {
        const struct node_job *slot = &transition->jobs[i];
        if (!slot->has_failed)
            continue;
        if (len < size)
            len += (size_t)snprintf(ret_names + len, size - len, "%s'%s'", count ? ", " : "",
                                    node_of(slot)->id);
        count++;
    }
    return count;
}

/* The problem is cut rather than the remedy. */
void transition_note_waiting(struct transition *transition, const char *problem)
{
    char note[TRANSITION_NOTE_SIZE];
    snprintf(note, sizeof note,
             "%.280s; if it is gone for good, stop waiting for it: clockwise transition abandon",
             problem);
    transition_note(transition, note);
}

/* A node that stands in both maps is one server, and is waited for in neither. */
static void give_up(struct transition *transition, const struct node_job *slot)
{
    char line[MOVE_PROBLEM_SIZE];
    const struct cw_node *node = node_of(slot);
    uint32_t in_from = cw_map_find_node(transition->info.from, node->id);
    if (transition->job_kind->is_of_targets)
        transition->to_ends[slot->node].is_given_up = true;
    else
        transition->from_ends[slot->node].is_given_up = true;
    if (in_from != CW_NO_NODE &&
        transition_is_same_node(node, cw_map_node(transition->info.from, in_from)))
        transition->from_ends[in_from].is_given_up = true;
    snprintf(line, sizeof line, "node '%s' (%s) is given up without being cleared", node->id,
             node->address ? node->address : "");
    transition_log(transition, 2, "transition_abandon", line);
}

/* Adds "'cache-4' (10.0.0.4:6379)" for each end that is given up. */
static void append_given_up(const struct transition_end *ends, const struct cw_map *map,
                            char *names, size_t size)
{
    for (uint32_t i = 0; i < cw_map_node_count(map); i++) {
        const struct cw_node *node = cw_map_node(map, i);
        size_t len = strlen(names);
        char one[CW_ID_LEN_MAX + 3];
        snprintf(one, sizeof one, "'%s'", node->id);
        if (ends[i].is_given_up && !strstr(names, one))
            snprintf(names + len, size - len, "%s%s (%s)", len ? ", " : "", one,
                     node->address ? node->address : "");
    }
}

void transition_note_given_up(struct transition *transition)
{
    char names[200] = "", note[TRANSITION_NOTE_SIZE];
    append_given_up(transition->to_ends, transition->info.to, names, sizeof names);
    append_given_up(transition->from_ends, transition->info.from, names, sizeof names);
    if (!*names)
        return;
    snprintf(note, sizeof note,
             "given up without being cleared: node %s; copies of keys may be left there, which "
             "nobody reads; a server that left the pool has to be emptied before it joins again",
             names);
    transition_note(transition, note);
}

int transition_abandon(struct transition *transition, const char **ret_text)
{
    char names[60];
    if (!transition_can_abandon(transition)) {
        *ret_text = "only a node that is waited for after `cancel`, or when the old owners are "
                    "cleared, can be given up; see `clockwise transition status`";
        return -EPERM;
    }
    if (!transition_name_failed(transition, names, sizeof names)) {
        *ret_text = "every node answers, or was not asked long enough; wait a few seconds and see "
                    "`clockwise transition status`";
        return -EPERM;
    }
    for (uint32_t i = 0; i < transition->job_count; i++)
        if (transition->jobs[i].has_failed)
            give_up(transition, &transition->jobs[i]);
    transition->has_given_up = true;
    transition_note_given_up(transition);
    transition_stop_all(transition);
    *ret_text = "given up: it is not waited for any more; what it may still hold is told by "
                "`clockwise transition status`";
    step_clear_again(transition);
    return 0;
}
