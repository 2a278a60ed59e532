#include "control/change_json.h"

#include <string.h>

#include "control/table.h"

enum { PLAN_SAMPLES = 1 << 20 }; /* where a placement has no ranges: good for 0.1 % */

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

json_t *change_any_text(const char *text)
{
    struct buffer safe = BUFFER_INIT;
    table_append_safe(&safe, text, strlen(text));
    json_t *string = json_stringn(buffer_bytes(&safe), safe.len);
    buffer_release(&safe);
    return string;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Of one node what was and what will be; its number is CW_NO_NODE where it is not. */
static json_t *node_json(const struct change_estimate *estimate, uint32_t was, uint32_t is)
{
    const struct cw_node *old = cw_map_node(estimate->from, was);
    const struct cw_node *new = cw_map_node(estimate->to, is);
    const struct cw_node *any = new ? new : old;
    json_t *object = json_pack("{s:s, s:s, s:s, s:o, s:o, s:f, s:f, s:f}", "id", any->id, "address",
                               any->address ? any->address : "", "zone", any->zone ? any->zone : "",
                               "weight_before", number(old ? old->weight : 0), "weight_after",
                               number(new ? new->weight : 0), "share_before",
                               old ? cw_map_share(estimate->from, was) : 0.0, "share_after",
                               new ? cw_map_share(estimate->to, is) : 0.0, "ideal_share_after",
                               new ? cw_map_ideal_share(estimate->to, is) : 0.0);
    json_t *figures = json_pack(
        "{s:o, s:o, s:o, s:o}", "keys_out", number(old ? estimate->keys[was] : 0), "memory_out",
        number(old ? estimate->bytes[was] : 0), "keys_in", number(new ? estimate->keys_in[is] : 0),
        "memory_in", number(new ? estimate->bytes_in[is] : 0));
    if (object && figures)
        json_object_update(object, figures);
    json_decref(figures);
    return object;
}

static json_t *nodes_json(const struct change_estimate *estimate)
{
    json_t *nodes = json_array();
    for (uint32_t was = 0, is = 0;;) {
        const struct cw_node *old = cw_map_node(estimate->from, was);
        const struct cw_node *new = cw_map_node(estimate->to, is);
        if (!old && !new)
            return nodes;
        int order = !old ? 1 : !new ? -1 : strcmp(old->id, new->id);
        json_array_append_new(nodes, node_json(estimate, order <= 0 ? was : CW_NO_NODE,
                                               order >= 0 ? is : CW_NO_NODE));
        was += order <= 0;
        is += order >= 0;
    }
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* The part of what leaves a node that goes along one of its moves. */
static double part_of_node(const struct cw_move *moves, size_t count, const struct cw_move *move)
{
    double all = 0;
    for (size_t i = 0; i < count; i++)
        all += moves[i].from_node == move->from_node ? moves[i].share : 0;
    return all > 0 ? move->share / all : 0;
}

static json_t *move_json(const struct change_estimate *estimate, const struct cw_move *move,
                         double part)
{
    const struct cw_node *from = cw_map_node(estimate->from, move->from_node);
    const struct cw_node *to = cw_map_node(estimate->to, move->to_node);
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:o, s:o}", "from", from->id, "from_address",
                     from->address ? from->address : "", "to", to->id, "to_address",
                     to->address ? to->address : "", "share", move->share, "keys",
                     number((uint64_t)((double)estimate->keys[move->from_node] * part)), "memory",
                     number((uint64_t)((double)estimate->bytes[move->from_node] * part)));
}

static json_t *moves_json(const struct change_estimate *estimate, const struct cw_plan *plan)
{
    size_t count;
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            list, move_json(estimate, &moves[i], part_of_node(moves, count, &moves[i])));
    return list;
}

/* A new address moves no key to another node, but all of the node's keys to another server. */
static json_t *replace_moves_json(const struct change_estimate *estimate, double *ret_share)
{
    json_t *list = json_array();
    *ret_share = 0;
    for (uint32_t i = 0; i < cw_map_node_count(estimate->to); i++) {
        const struct cw_node *new = cw_map_node(estimate->to, i);
        uint32_t was = cw_map_find_node(estimate->from, new->id);
        const struct cw_node *old = cw_map_node(estimate->from, was);
        if (!old || strcmp(old->address, new->address) == 0)
            continue;
        struct cw_move move = {was, i, cw_map_share(estimate->from, was), 0};
        *ret_share += move.share;
        json_array_append_new(list, move_json(estimate, &move, 1));
    }
    return list;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static uint64_t sum(const uint64_t *numbers, const struct cw_map *map)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < cw_map_node_count(map); i++)
        all += numbers[i];
    return all;
}

static void add_shares(json_t *root, const struct change *change,
                       const struct change_estimate *estimate, const struct cw_plan *plan)
{
    double share = cw_plan_share(plan), ideal = cw_plan_ideal_share(plan);
    json_t *moves;
    if (change->kind == TRANSITION_REPLACE) {
        moves = replace_moves_json(estimate, &share);
        ideal = share;
    } else {
        moves = moves_json(estimate, plan);
    }
    json_object_set_new(root, "share", json_real(share));
    json_object_set_new(root, "ideal_share", json_real(ideal));
    json_object_set_new(root, "share_error", json_real(cw_plan_share_error(plan)));
    json_object_set_new(root, "needless_share", json_real(cw_plan_needless_share(plan)));
    json_object_set_new(root, "moves", moves);
}

static void add_estimate(json_t *root, const struct change_estimate *estimate)
{
    json_object_set_new(root, "generation_after", number(cw_map_generation(estimate->to)));
    json_object_set_new(root, "placement_after", json_string(cw_map_placement_name(estimate->to)));
    json_object_set_new(root, "nodes", nodes_json(estimate));
    json_object_set_new(root, "keys", number(sum(estimate->keys, estimate->from)));
    json_object_set_new(root, "memory", number(sum(estimate->bytes, estimate->from)));
    json_object_set_new(root, "sampled", number(estimate->sampled));
    json_object_set_new(root, "problem", change_any_text(estimate->problem));
    if (estimate->heaviest[0])
        json_object_set_new(root, "heaviest",
                            json_pack("{s:o, s:o}", "key", change_any_text(estimate->heaviest),
                                      "memory", number(estimate->heaviest_bytes)));
}

json_t *change_plan_json(const struct change_pool *pool, const struct change *change,
                         const struct change_estimate *estimate)
{
    struct cw_plan *plan = NULL;
    json_t *root = json_pack("{s:s, s:b, s:s, s:o, s:o, s:s}", "pool", pool->name, "is_change",
                             change->is_change, "kind", transition_kind_name(change->kind), "what",
                             change_any_text(change->what), "generation_before",
                             number(cw_map_generation(pool->map)), "placement_before",
                             cw_map_placement_name(pool->map));
    if (!root || !change->is_change)
        return root;
    int status = cw_plan_create(estimate->from, estimate->to, &plan);
    if (status == CW_ENOT_SUPPORTED)
        status = cw_plan_estimate(estimate->from, estimate->to, PLAN_SAMPLES, &plan);
    if (status != CW_OK) {
        json_decref(root);
        return NULL;
    }
    add_shares(root, change, estimate, plan);
    add_estimate(root, estimate);
    cw_plan_destroy(&plan);
    return root;
}

/* ---- transitions ----------------------------------------------------------------------------- */

const char *change_outcome(const struct mover_report *report)
{
    const struct transition_info *info = &report->info;
    if (report->is_running)
        return info->is_paused ? "paused" : "running";
    if (info->reached_ms[TRANSITION_ABORTING])
        return "cancelled";
    return info->id ? "done" : "none";
}

/* How much of the work is behind it, 0 .. 1: the first copying is nearly all of it. */
static double part_done(const struct mover_report *report)
{
    const struct move_progress *progress = &report->progress;
    if (!report->is_running || report->info.state == TRANSITION_SWITCHED ||
        report->info.state == TRANSITION_CLEANING)
        return 1;
    if (!progress->keys_expected)
        return 0;
    double part = (double)progress->keys_scanned / (double)progress->keys_expected;
    return part < 1 ? part : 1;
}

/* Unknown while what was copied is removed again: that is not measured. */
static uint64_t seconds_left(const struct mover_report *report)
{
    return report->info.state == TRANSITION_ABORTING ? 0 : report->seconds_left;
}

static json_t *reached_json(const struct transition_info *info)
{
    json_t *reached = json_object();
    for (int i = 0; i < TRANSITION_STATE_COUNT; i++)
        if (info->reached_ms[i])
            json_object_set_new(reached, transition_state_name((enum transition_state)i),
                                number(info->reached_ms[i]));
    return reached;
}

static json_t *progress_json(const struct move_progress *progress)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "keys_scanned",
        number(progress->keys_scanned), "keys_expected", number(progress->keys_expected), "copies",
        number(progress->keys_copied), "copied_bytes", number(progress->bytes_copied),
        "keys_written", number(progress->keys_dirty), "big_keys", number(progress->big_keys),
        "chunks", number(progress->chunks), "keys_verified", number(progress->keys_verified),
        "keys_differ", number(progress->keys_differ), "keys_purged", number(progress->keys_purged));
}

static json_t *throttle_json(const struct mover_report *report)
{
    const struct throttle_settings *throttle = &report->info.throttle;
    return json_pack("{s:o, s:o, s:b, s:f}", "keys_per_second", number(throttle->keys_per_second),
                     "bytes_per_second", number(throttle->bytes_per_second), "automatic",
                     throttle->is_automatic, "factor", report->factor);
}

static json_t *writes_json(const struct mover_report *report)
{
    const struct move_counters *counters = &report->counters;
    return json_pack("{s:o, s:o, s:o, s:o}", "marks", number(counters->marks), "marks_failed",
                     number(counters->marks_failed), "held", number(counters->held), "held_us_max",
                     number(counters->held_us_max));
}

static json_t *info_json(const char *pool, const struct mover_report *report)
{
    const struct transition_info *info = &report->info;
    return json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "pool",
                     pool, "id", number(info->id), "attempt", number(info->attempt), "kind",
                     transition_kind_name(info->kind), "state", transition_state_name(info->state),
                     "outcome", change_outcome(report), "is_running", report->is_running, "is_deep",
                     info->is_deep, "what", change_any_text(info->what), "who",
                     change_any_text(info->who), "note", change_any_text(info->note), "doing",
                     change_any_text(report->doing), "generation", number(report->generation));
}

json_t *change_transition_json(const char *pool, const struct mover_report *report)
{
    const struct transition_info *info = &report->info;
    json_t *root = info_json(pool, report);
    json_t *more = json_pack("{s:o, s:o, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                             "started_ms", number(report->started_ms), "now_ms",
                             number(report->now_ms), "part", part_done(report),
                             "keys_scanned_per_second", report->keys_per_second, "seconds_left",
                             number(seconds_left(report)), "copies", number(info->keys_moved),
                             "copied_bytes", number(info->bytes_moved), "freeze_us",
                             number(report->hold_us ? report->hold_us : info->held_us), "reached",
                             reached_json(info), "progress", progress_json(&report->progress),
                             "throttle", throttle_json(report), "writes", writes_json(report));
    if (root && more)
        json_object_update(root, more);
    json_decref(more);
    json_object_set_new(root, "p99_us", number(report->p99_us));
    json_object_set_new(root, "before_p99_us", number(report->before_p99_us));
    return root;
}

json_t *change_ended_json(const char *pool, const struct mover_report *report)
{
    json_t *root = change_transition_json(pool, report);
    json_object_del(root, "progress");
    json_object_del(root, "throttle");
    json_object_del(root, "writes");
    return root;
}

/* ---- history --------------------------------------------------------------------------------- */

static json_t *entry_json(const struct journal_entry *entry)
{
    return json_pack("{s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "time_ms",
                     number(entry->time_ms), "transition", number(entry->transition), "attempt",
                     number(entry->attempt), "kind", entry->kind, "state", entry->state,
                     "generation", number(entry->generation), "copies", number(entry->keys),
                     "copied_bytes", number(entry->bytes), "freeze_us", number(entry->held_us),
                     "who", change_any_text(entry->who), "what", change_any_text(entry->what),
                     "note", change_any_text(entry->note));
}

json_t *change_history_json(const char *pool, const struct journal_entry *entries, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, entry_json(&entries[i]));
    return json_pack("{s:s, s:o}", "pool", pool, "entries", list);
}
