/*
 * Before a transition begins: the nodes are looked at, what would move is estimated, and a change
 * that cannot be is refused. Nothing is stored yet, so a refusal leaves no trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/transition.h"

static struct job *look_at_source(struct transition *transition, uint32_t node, job_done done,
                                  void *context)
{
    return job_look(&transition->move, transition->move.from_peers[node],
                    &transition->from_ends[node].facts, done, context);
}

static struct job *look_at_target(struct transition *transition, uint32_t node, job_done done,
                                  void *context)
{
    return job_look(&transition->move, transition->move.to_peers[node],
                    &transition->to_ends[node].facts, done, context);
}

static struct job *estimate_source(struct transition *transition, uint32_t node, job_done done,
                                   void *context)
{
    struct move_estimate *estimate = &transition->from_ends[node].estimate;
    *estimate = (struct move_estimate){.bytes_to = transition->bytes_in,
                                       .keys_to = transition->keys_in};
    return job_estimate(&transition->move, node, ESTIMATE_SAMPLE, estimate, done, context);
}

static const struct node_jobs look_sources = {"looking at", false, false, look_at_source};
static const struct node_jobs look_targets = {"looking at", true, false, look_at_target};
static const struct node_jobs estimate_sources = {"looking at", false, false, estimate_source};

/* Sources, then targets. */
static void look_at_targets(struct transition *transition)
{
    if (transition->outcome.result == JOB_DONE)
        transition_run_jobs(transition, &look_targets, transition->looked_then);
    else
        transition->looked_then(transition);
}

void transition_look(struct transition *transition, transition_step then)
{
    transition->looked_then = then;
    transition_run_jobs(transition, &look_sources, look_at_targets);
}

/* Whether what was looked at went well; else the request is refused. */
static bool looked_well(struct transition *transition)
{
    if (transition->outcome.result == JOB_DONE)
        return true;
    transition_refuse(transition, -EIO, transition->outcome.problem);
    return false;
}

/* New nodes must be empty: whose data it is that stands there, nobody but a person knows. */
static bool targets_are_empty(struct transition *transition, char *ret_problem)
{
    const struct transition_info *info = &transition->info;
    for (uint32_t i = 0; i < cw_map_node_count(info->to); i++) {
        const struct cw_node *node = cw_map_node(info->to, i);
        uint32_t before = cw_map_find_node(info->from, node->id);
        bool is_new = before == CW_NO_NODE ||
                      !transition_is_same_node(node, cw_map_node(info->from, before));
        uint64_t count = transition->to_ends[i].facts.key_count;
        if (!is_new || count == 0 || info->may_purge || info->no_copy)
            continue;
        snprintf(ret_problem, MOVE_PROBLEM_SIZE,
                 "node '%s' (%s) is not empty: it has %llu keys; empty it (FLUSHALL there), or let "
                 "what stands in the way be removed with --purge",
                 node->id, node->address ? node->address : "", (unsigned long long)count);
        return false;
    }
    return true;
}

/* A server that is said to have the data already, and has none, would be every key's loss. */
static bool targets_have_data(struct transition *transition, char *ret_problem)
{
    const struct cw_map *to = transition->info.to;
    for (uint32_t i = 0; transition->info.no_copy && i < cw_map_node_count(to); i++) {
        const struct transition_end *end = &transition->to_ends[i];
        if (!end->is_used || end->facts.key_count > 0)
            continue;
        snprintf(ret_problem, MOVE_PROBLEM_SIZE,
                 "node '%s' (%s) is empty, so it cannot have the data already; leave --no-copy out "
                 "to have them copied, or give the node up if they are lost (clockwise node dead)",
                 cw_map_node(to, i)->id, cw_map_node(to, i)->address);
        return false;
    }
    return true;
}

bool transition_check(struct transition *transition, char ret_problem[static MOVE_PROBLEM_SIZE])
{
    uint32_t from_count = cw_map_node_count(transition->info.from);
    uint32_t to_count = cw_map_node_count(transition->info.to);
    struct node_facts *facts = calloc((size_t)from_count + to_count, sizeof *facts);
    snprintf(ret_problem, MOVE_PROBLEM_SIZE, "out of memory");
    if (!facts)
        return false;
    transition->move.has_field_times = false;
    for (uint32_t i = 0; i < from_count; i++) {
        facts[i] = transition->from_ends[i].facts;
        transition->move.has_field_times |= node_facts_has_field_times(&facts[i]);
    }
    for (uint32_t i = 0; i < to_count; i++)
        facts[from_count + i] = transition->to_ends[i].facts;
    const struct check_input input = {
        .from = transition->info.from,
        .to = transition->info.to,
        .from_facts = facts,
        .to_facts = facts + from_count,
        .bytes_in = transition->bytes_in,
    };
    bool fits = check_nodes(&input, &transition->move.by_value, ret_problem);
    free(facts);
    return fits;
}

static void answer_estimate(struct transition *transition, const char *problem)
{
    mover_estimated estimated = transition->estimated;
    uint32_t from_count = cw_map_node_count(transition->info.from);
    struct mover_estimate estimate = {
        .from = transition->info.from,
        .to = transition->info.to,
        .keys_in = transition->keys_in,
        .bytes_in = transition->bytes_in,
    };
    estimate.keys = calloc(from_count, sizeof *estimate.keys);
    estimate.bytes = calloc(from_count, sizeof *estimate.bytes);
    bool fine = estimate.keys && estimate.bytes;
    snprintf(estimate.problem, sizeof estimate.problem, "%s", problem);
    if (!*problem)
        mover_doubt_death(transition, estimate.problem);
    for (uint32_t i = 0; fine && i < from_count; i++) {
        const struct move_estimate *one = &transition->from_ends[i].estimate;
        estimate.keys[i] = one->keys;
        estimate.bytes[i] = one->bytes;
        estimate.sampled += one->sampled;
        if (one->heaviest_bytes <= estimate.heaviest_bytes)
            continue;
        estimate.heaviest_bytes = one->heaviest_bytes;
        memcpy(estimate.heaviest, one->heaviest, sizeof estimate.heaviest);
    }
    transition->estimated = NULL;
    estimated(transition->answer_context, fine ? 0 : -ENOMEM, fine ? "" : "out of memory",
              fine ? &estimate : NULL);
    free(estimate.keys);
    free(estimate.bytes);
    transition_end(transition);
}

static void answer_started(struct transition *transition)
{
    mover_answer answer = transition->answer;
    char text[64];
    snprintf(text, sizeof text, "transition %llu has begun",
             (unsigned long long)transition->info.id);
    transition->answer = NULL;
    if (answer)
        answer(transition->answer_context, 0, text);
    step_prepare(transition);
}

static void not_stored(struct transition *transition)
{
    char problem[TRANSITION_NOTE_SIZE];
    memcpy(problem, transition->info.note, sizeof problem);
    transition_refuse(transition, -EIO, problem);
}

static void decide(struct transition *transition)
{
    char problem[MOVE_PROBLEM_SIZE] = "";
    bool fits = transition_check(transition, problem) && targets_are_empty(transition, problem) &&
                targets_have_data(transition, problem);
    if (transition->is_probe) {
        answer_estimate(transition, problem);
    } else if (!fits) {
        transition_refuse(transition, -EINVAL, problem);
    } else {
        transition->next_transition = transition->info.id + 1;
        transition_put(transition, TRANSITION_PREPARED, answer_started, not_stored);
    }
}

static void estimated(struct transition *transition)
{
    if (looked_well(transition))
        decide(transition);
}

static void looked(struct transition *transition)
{
    if (looked_well(transition))
        transition_run_jobs(transition, &estimate_sources, estimated);
}

void step_look(struct transition *transition)
{
    transition_look(transition, looked);
}
