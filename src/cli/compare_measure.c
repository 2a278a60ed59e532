#include "cli/compare_measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "placement/numbered.h"

enum { BATCH = 4096 };

/* One placement under measurement. */
struct trial {
    struct measure *measure;
    struct placement_result *result;
    struct cw_map_options options;
    struct cw_map *map; /* of the fleet as it is */
    uint32_t *owners;   /* by key */
};

/* ---- balance --------------------------------------------------------------------------------- */

struct balance balance_of(const struct cw_map *fleet, const uint64_t *loads)
{
    uint32_t count = cw_map_node_count(fleet);
    struct balance balance = {.lowest = INFINITY};
    double total = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++)
        total += (double)loads[i];
    for (uint32_t i = 0; i < count; i++) {
        double load = total > 0 ? (double)loads[i] / (total * cw_map_ideal_share(fleet, i)) : 1;
        balance.peak = fmax(balance.peak, load);
        balance.lowest = fmin(balance.lowest, load);
        squares += (load - 1) * (load - 1);
    }
    balance.deviation = sqrt(squares / count);
    return balance;
}

struct chance chance_of(const struct cw_map *fleet, const struct key_set *keys)
{
    uint32_t count = cw_map_node_count(fleet);
    double variance = 0; /* of one key, relative, mean over the nodes */
    for (uint32_t i = 0; i < count; i++) {
        double share = cw_map_ideal_share(fleet, i);
        variance += (1 - share) / share / count;
    }
    return (struct chance){sqrt(variance / (double)keys->count),
                           sqrt(variance * keys->square_sum) / (double)keys->lines};
}

/* ---- walking through the keys ---------------------------------------------------------------- */

static void step(struct trial *trial, size_t count)
{
    char what[64];
    struct measure *measure = trial->measure;
    measure->steps_done += count;
    snprintf(what, sizeof what, "measuring %s", cw_placement_name(trial->result->placement));
    progress_show(measure->progress, what, measure->steps_done, measure->steps);
}

static void place_keys(struct trial *trial)
{
    const struct key_set *keys = trial->measure->keys;
    struct placement_result *result = trial->result;
    for (size_t at = 0; at < keys->count; at += BATCH) {
        size_t count = keys->count - at < BATCH ? keys->count - at : BATCH;
        cw_locate_batch(trial->map, keys->hashes + at, count, trial->owners + at);
        for (size_t i = at; i < at + count; i++) {
            result->keys[trial->owners[i]]++;
            result->lines[trial->owners[i]] += keys->counts[i];
        }
        step(trial, count);
    }
    result->key_balance = balance_of(trial->measure->fleet->map, result->keys);
    result->line_balance = balance_of(trial->measure->fleet->map, result->lines);
}

/* ---- a change -------------------------------------------------------------------------------- */

struct move_count {
    struct trial *trial;
    enum fleet_change change;
    struct cw_map *to;
    uint32_t *numbers;           /* in `to`, of the nodes of the fleet */
    uint32_t *backwards;         /* the other way round */
    uint32_t from_node, to_node; /* the number of the one that changes, in either map */
    bool shrinks;                /* it gives, instead of getting */
    uint64_t moved, needless;
    uint64_t *loads; /* lines, by node of `to` */
};

/* A move is needed if it goes from the node that shrinks or goes, or to the one that grows or
 * comes. */
static void count_move(struct move_count *moves, uint32_t from, uint32_t to)
{
    struct placement_result *result = moves->trial->result;
    bool is_needed = moves->shrinks ? from == moves->from_node : to == moves->to_node;
    moves->moved++;
    moves->needless += !is_needed;
    if (moves->change == FLEET_REMOVE && from == moves->from_node)
        result->heirs.keys[moves->backwards[to]]++;
}

static void count_moves(struct move_count *moves)
{
    struct trial *trial = moves->trial;
    const struct key_set *keys = trial->measure->keys;
    uint32_t nodes[BATCH];
    for (size_t at = 0; at < keys->count; at += BATCH) {
        size_t count = keys->count - at < BATCH ? keys->count - at : BATCH;
        cw_locate_batch(moves->to, keys->hashes + at, count, nodes);
        for (size_t i = 0; i < count; i++) {
            uint32_t from = trial->owners[at + i];
            moves->loads[nodes[i]] += keys->counts[at + i];
            if (moves->numbers[from] != nodes[i])
                count_move(moves, from, nodes[i]);
        }
        step(trial, count);
    }
}

static double ideal_move(const struct move_count *moves)
{
    const struct cw_map *from = moves->trial->map, *to = moves->to;
    double sum = 0;
    for (uint32_t i = 0; i < cw_map_node_count(to); i++) {
        double had = moves->backwards[i] == CW_NO_NODE
                         ? 0
                         : cw_map_ideal_share(from, moves->backwards[i]);
        sum += fmax(0, cw_map_ideal_share(to, i) - had);
    }
    return sum;
}

/* The fullest of the nodes that are left, by the weights that were asked for. */
static double peak_without(const struct move_count *moves)
{
    const struct cw_map *fleet = moves->trial->measure->fleet->map;
    double peak = 0, left = 1 - cw_map_ideal_share(fleet, moves->from_node);
    double lines = (double)moves->trial->measure->keys->lines;
    for (uint32_t i = 0; i < cw_map_node_count(moves->to); i++) {
        double fair = lines * cw_map_ideal_share(fleet, moves->backwards[i]) / left;
        peak = fmax(peak, (double)moves->loads[i] / fair);
    }
    return peak;
}

static void find_heirs(struct move_count *moves)
{
    const struct cw_map *map = moves->trial->map;
    struct heirs *heirs = &moves->trial->result->heirs;
    double left = 1 - cw_map_ideal_share(map, moves->from_node), total = 0;
    uint32_t count = cw_map_node_count(map);
    for (uint32_t i = 0; i < count; i++)
        total += (double)heirs->keys[i];
    for (uint32_t i = 0; i < count && total > 0; i++) {
        double part = (double)heirs->keys[i] / total;
        heirs->count += heirs->keys[i] > 0;
        heirs->excess = fmax(heirs->excess, part * left / cw_map_ideal_share(map, i));
        if (part > heirs->largest) {
            heirs->largest = part;
            snprintf(heirs->largest_id, sizeof heirs->largest_id, "%s", cw_map_node(map, i)->id);
        }
    }
    heirs->possible = count - 1;
    heirs->peak = peak_without(moves);
}

static int measure_move(struct move_count *moves, struct change_result *result)
{
    struct cw_map *map = moves->trial->map;
    uint32_t from_count = cw_map_node_count(map), to_count = cw_map_node_count(moves->to);
    moves->numbers = calloc(from_count, sizeof *moves->numbers);
    moves->backwards = calloc(to_count, sizeof *moves->backwards);
    moves->loads = calloc(to_count, sizeof *moves->loads);
    if (!moves->numbers || !moves->backwards || !moves->loads)
        return cli_fail("out of memory");
    for (uint32_t i = 0; i < from_count; i++)
        moves->numbers[i] = cw_map_find_node(moves->to, cw_map_node(map, i)->id);
    for (uint32_t i = 0; i < to_count; i++)
        moves->backwards[i] = cw_map_find_node(map, cw_map_node(moves->to, i)->id);
    moves->from_node = cw_map_find_node(map, result->id);
    moves->to_node = cw_map_find_node(moves->to, result->id);
    moves->shrinks = moves->to_node == CW_NO_NODE ||
                     (moves->from_node != CW_NO_NODE &&
                      cw_map_ideal_share(moves->to, moves->to_node) <
                          cw_map_ideal_share(map, moves->from_node));
    count_moves(moves);
    double total = (double)moves->trial->measure->keys->count;
    result->is_measured = true;
    result->moved = (double)moves->moved / total;
    result->needless = (double)moves->needless / total;
    result->ideal = ideal_move(moves);
    if (moves->change == FLEET_REMOVE)
        find_heirs(moves);
    return CLI_OK;
}

/* The node that was numbered last, the only one that jump and round can lose. */
static const char *last_id(const struct cw_map *map)
{
    uint32_t last = 0;
    for (uint32_t i = 1; i < cw_map_node_count(map); i++)
        if (numbered_bucket_of(map, i) > numbered_bucket_of(map, last))
            last = i;
    return cw_map_node(map, last)->id;
}

static bool cannot_change(const struct trial *trial, enum fleet_change change,
                          struct change_result *result)
{
    if (change == FLEET_REMOVE && cw_map_node_count(trial->map) == 1)
        snprintf(result->why, sizeof result->why, "there is only one node");
    else if (change == FLEET_WEIGH && !(trial->result->capabilities & CW_CAN_WEIGHTS))
        snprintf(result->why, sizeof result->why, "it knows no weights");
    return result->why[0] != 0;
}

static int measure_change(struct trial *trial, enum fleet_change change)
{
    struct change_result *result = &trial->result->changes[change];
    struct move_count moves = {.trial = trial, .change = change};
    const struct fleet *fleet = trial->measure->fleet;
    bool is_even = trial->result->ignores_weights ||
                   !(trial->result->capabilities & CW_CAN_WEIGHTS);
    struct cw_error error = {0};
    struct node_list list;
    fleet_changed_id(fleet, change, result->id, sizeof result->id);
    if (cannot_change(trial, change, result))
        return CLI_OK;
    if (change == FLEET_REMOVE && !(trial->result->capabilities & CW_CAN_REMOVE_ANY)) {
        snprintf(result->id, sizeof result->id, "%s", last_id(trial->map));
        result->is_last = true;
    }
    int status = fleet_apply(fleet, trial->measure->command, change,
                             result->is_last ? result->id : NULL, is_even, &list);
    if (status == CLI_OK) {
        if (cw_map_change(trial->map, list.nodes, list.count, &moves.to, &error) == CW_OK)
            status = measure_move(&moves, result);
        else
            snprintf(result->why, sizeof result->why, "%s", error.message);
    }
    node_list_release(&list);
    free(moves.numbers);
    free(moves.backwards);
    free(moves.loads);
    cw_map_unref(&moves.to);
    return status;
}

/* ---- a placement ----------------------------------------------------------------------------- */

static int measure_map(struct trial *trial)
{
    struct placement_result *result = trial->result;
    int status = CLI_OK;
    result->is_measured = true;
    result->memory = cw_map_memory(trial->map);
    result->build_seconds = build_seconds_of(&trial->options);
    place_keys(trial);
    result->single_ns = lookup_single_ns(trial->map, trial->measure->keys);
    result->batch_ns = lookup_batch_ns(trial->map, trial->measure->keys);
    for (size_t i = 0; i < FLEET_CHANGES && status == CLI_OK; i++)
        status = measure_change(trial, (enum fleet_change)i);
    return status;
}

static int allocate(struct trial *trial)
{
    struct placement_result *result = trial->result;
    uint32_t count = cw_map_node_count(trial->measure->fleet->map);
    result->keys = calloc(count, sizeof *result->keys);
    result->lines = calloc(count, sizeof *result->lines);
    result->heirs.keys = calloc(count, sizeof *result->heirs.keys);
    trial->owners = calloc(trial->measure->keys->count, sizeof *trial->owners);
    if (!result->keys || !result->lines || !result->heirs.keys || !trial->owners)
        return cli_fail("out of memory");
    return CLI_OK;
}

static struct cw_map_options options_of(const struct measure *measure, enum cw_placement placement,
                                        const struct cw_node *nodes)
{
    const struct fleet *fleet = measure->fleet;
    bool is_slots = placement == CW_PLACEMENT_SLOTS, is_ring = placement == CW_PLACEMENT_RING;
    return (struct cw_map_options){
        .placement = placement,
        .nodes = nodes,
        .node_count = cw_map_node_count(fleet->map),
        .slot_count = is_slots ? fleet->slot_count : 0,
        .tokens_per_weight = is_ring ? fleet->tokens_per_weight : 0,
        .table_size = placement == CW_PLACEMENT_MAGLEV ? fleet->table_size : 0,
    };
}

static int try_placement(struct trial *trial)
{
    struct cw_error error = {0};
    int made = cw_map_create(&trial->options, &trial->map, &error);
    if (made != CW_OK) {
        snprintf(trial->result->why, sizeof trial->result->why, "%s", error.message);
        return CLI_OK;
    }
    int status = allocate(trial);
    if (status == CLI_OK)
        status = measure_map(trial);
    free(trial->owners);
    cw_map_unref(&trial->map);
    return status;
}

int measure_placement(struct measure *measure, enum cw_placement placement,
                      struct placement_result *ret_result)
{
    const struct fleet *fleet = measure->fleet;
    unsigned capabilities = cw_placement_capabilities(placement);
    struct node_list list;
    *ret_result = (struct placement_result){.placement = placement, .capabilities = capabilities};
    ret_result->ignores_weights = fleet->has_weights && !(capabilities & CW_CAN_WEIGHTS);
    /* Equal weights of 2 are equal weights: all of 1 for those that know none. */
    bool is_even = !(capabilities & CW_CAN_WEIGHTS);
    int status = node_list_init(&list, is_even ? fleet->even : fleet->map, 0);
    if (status == CLI_OK) {
        struct trial trial = {.measure = measure, .result = ret_result};
        trial.options = options_of(measure, placement, list.nodes);
        status = try_placement(&trial);
    }
    node_list_release(&list);
    return status;
}

void placement_result_release(struct placement_result *result)
{
    free(result->keys);
    free(result->lines);
    free(result->heirs.keys);
    *result = (struct placement_result){0};
}
