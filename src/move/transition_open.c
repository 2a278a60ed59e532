/*
 * What a transition needs of its two maps: a connection to each node, and which of them keys leave
 * or come to.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/copier.h"
#include "move/transition.h"

static struct transition_end *find_end(struct transition_end *ends, const struct cw_map *map,
                                       const char *id)
{
    uint32_t number = cw_map_find_node(map, id);
    return number == CW_NO_NODE ? NULL : &ends[number];
}

/* ---- who takes part -------------------------------------------------------------------------- */

static void use_all(struct transition_end *ends, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ends[i].is_used = true;
}

/* By the plan of the two maps where there is one; otherwise every node may be concerned. */
static int use_planned(struct transition *transition)
{
    struct cw_plan *plan;
    size_t count;
    int status = cw_plan_create(transition->info.from, transition->info.to, &plan);
    if (status == CW_ENOMEM)
        return -ENOMEM;
    if (status < 0) {
        use_all(transition->from_ends, cw_map_node_count(transition->info.from));
        use_all(transition->to_ends, cw_map_node_count(transition->info.to));
        return 0;
    }
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    for (size_t i = 0; i < count; i++) {
        transition->from_ends[moves[i].from_node].is_used = true;
        transition->to_ends[moves[i].to_node].is_used = true;
    }
    cw_plan_destroy(&plan);
    return 0;
}

/* A node that has another address in the new map gives its keys to itself; a dead one gives nothing
 * to anybody. */
static int use_ends(struct transition *transition)
{
    const struct cw_map *from = transition->info.from, *to = transition->info.to;
    int status = use_planned(transition);
    for (uint32_t i = 0; i < cw_map_node_count(from); i++) {
        const struct cw_node *node = cw_map_node(from, i);
        uint32_t number = cw_map_find_node(to, node->id);
        if (number == CW_NO_NODE || transition_is_same_node(node, cw_map_node(to, number)))
            continue;
        /* Nothing is asked of a server whose data the new one has: as a rule it is dead. */
        transition->from_ends[i].is_used = !transition->info.no_copy;
        transition->to_ends[number].is_used = true;
    }
    struct transition_end *dead = find_end(transition->from_ends, from, transition->info.dead_id);
    if (dead)
        dead->is_used = false;
    return status;
}

/* ---- connections ----------------------------------------------------------------------------- */

static int connect_node(struct transition *transition, const struct cw_node *node,
                        struct peer **ret_peer)
{
    const struct pool_settings *settings = transition->settings;
    struct peer_options options = {
        .id = node->id,
        .address = node->address ? node->address : "",
        .username = settings->username,
        .password = settings->password,
        .client_name = transition->peer_name,
        .timeout_ms = settings->timeout_ms,
        .spares_old = transition->options->left_out & MOVER_WITHOUT_KILL,
    };
    return peer_create(transition->options->loop, &options, ret_peer);
}

static struct peer *shared_peer(const struct transition *transition, const struct cw_node *node)
{
    uint32_t number = cw_map_find_node(transition->info.from, node->id);
    if (number == CW_NO_NODE ||
        !transition_is_same_node(node, cw_map_node(transition->info.from, number)))
        return NULL;
    return transition->move.from_peers[number];
}

static int connect_all(struct transition *transition)
{
    struct move *move = &transition->move;
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < cw_map_node_count(move->from); i++)
        status = connect_node(transition, cw_map_node(move->from, i), &move->from_peers[i]);
    for (uint32_t i = 0; status == 0 && i < cw_map_node_count(move->to); i++) {
        const struct cw_node *node = cw_map_node(move->to, i);
        move->to_peers[i] = shared_peer(transition, node);
        if (!move->to_peers[i])
            status = connect_node(transition, node, &move->to_peers[i]);
    }
    return status;
}

static void disconnect_all(struct transition *transition)
{
    struct move *move = &transition->move;
    for (uint32_t i = 0; move->to_peers && i < cw_map_node_count(move->to); i++)
        if (move->to_peers[i] != shared_peer(transition, cw_map_node(move->to, i)))
            peer_destroy(&move->to_peers[i]);
    for (uint32_t i = 0; move->from_peers && i < cw_map_node_count(move->from); i++)
        peer_destroy(&move->from_peers[i]);
    free(move->to_peers);
    free(move->from_peers);
    move->to_peers = move->from_peers = NULL;
}

uint64_t transition_slowest_source_us(const struct transition *transition)
{
    const struct move *move = &transition->move;
    uint64_t slowest = 0;
    for (uint32_t i = 0; move->from_peers && i < cw_map_node_count(move->from); i++) {
        uint64_t latency = transition->from_ends[i].is_used ? peer_latency_us(move->from_peers[i])
                                                            : 0;
        slowest = latency > slowest ? latency : slowest;
    }
    return slowest;
}

/* ---- engines --------------------------------------------------------------------------------- */

static bool has_nodes_to_begin(const struct transition *transition)
{
    return transition->settings->engine == ENGINE_EMBEDDED && transition->options->node_begin;
}

static bool is_new(const struct transition *transition, uint32_t number)
{
    const struct cw_node *node = cw_map_node(transition->info.to, number);
    return cw_map_find_node(transition->info.from, node->id) == CW_NO_NODE;
}

int transition_begin_node(struct transition *transition, char ret_problem[static MOVE_PROBLEM_SIZE])
{
    const struct mover_options *options = transition->options;
    const struct cw_map *to = transition->info.to;
    if (!has_nodes_to_begin(transition) || transition->is_probe)
        return 0;
    while (transition->begun_count < cw_map_node_count(to)) {
        uint32_t number = transition->begun_count++;
        if (!is_new(transition, number))
            continue;
        int status = options->node_begin(options->context, transition->pool,
                                         cw_map_node(to, number), ret_problem, MOVE_PROBLEM_SIZE);
        return status < 0 ? status : 1;
    }
    return 0;
}

/* To estimate, it is done without nodes that would have to be started. */
static void leave_out_new(struct transition *transition)
{
    if (!has_nodes_to_begin(transition) || !transition->is_probe)
        return;
    for (uint32_t i = 0; i < cw_map_node_count(transition->info.to); i++)
        if (is_new(transition, i))
            transition->to_ends[i].is_used = false;
}

void transition_end_nodes(struct transition *transition)
{
    const struct mover_options *options = transition->options;
    const struct cw_map *stays = transition->map;
    const struct cw_map *other = stays == transition->info.to ? transition->info.from
                                                              : transition->info.to;
    if (!other || transition->is_probe || !options->node_end ||
        transition->settings->engine != ENGINE_EMBEDDED)
        return;
    for (uint32_t i = 0; i < cw_map_node_count(other); i++)
        if (cw_map_find_node(stays, cw_map_node(other, i)->id) == CW_NO_NODE)
            options->node_end(options->context, transition->pool, cw_map_node(other, i)->id);
}

/* ---- both ------------------------------------------------------------------------------------ */

void transition_name_set(struct transition *transition)
{
    const struct transition_info *info = &transition->info;
    struct move *move = &transition->move;
    /* The first byte is 0, so the length is what was written behind it. */
    int len = snprintf(move->prefix + 1, sizeof move->prefix - 1,
                       "cw:mig:%llu.%u:", (unsigned long long)info->id, info->attempt);
    move->prefix[0] = '\0';
    move->prefix_len = (size_t)len + 1;
    memcpy(transition->closed_set, transition->dirty_set, sizeof transition->closed_set);
    transition->closed_set_len = transition->dirty_set_len;
    len = snprintf(transition->dirty_set + 1, sizeof transition->dirty_set - 1,
                   "cw:dirty:%llu.%u:%u", (unsigned long long)info->id, info->attempt,
                   transition->epoch);
    transition->dirty_set[0] = '\0';
    transition->dirty_set_len = (size_t)len + 1;
}

/* What has a place for each node. */
static bool allocate(struct transition *transition)
{
    struct move *move = &transition->move;
    uint32_t from = cw_map_node_count(move->from), to = cw_map_node_count(move->to);
    move->samples = calloc(from, sizeof *move->samples);
    move->from_peers = calloc(from, sizeof(struct peer *));
    move->to_peers = calloc(to, sizeof(struct peer *));
    bool fine = move->samples && move->from_peers && move->to_peers;
    transition->from_ends = calloc(from, sizeof *transition->from_ends);
    transition->to_ends = calloc(to, sizeof *transition->to_ends);
    transition->jobs = calloc(from > to ? from : to, sizeof *transition->jobs);
    fine &= transition->from_ends && transition->to_ends && transition->jobs;
    transition->bytes_in = calloc(to, sizeof *transition->bytes_in);
    transition->keys_in = calloc(to, sizeof *transition->keys_in);
    return fine && transition->bytes_in && transition->keys_in;
}

/* All sources are copied from at once, and other pools' transitions may run too. */
static uint64_t portion_of(const struct transition *transition)
{
    uint64_t sources = 0;
    for (uint32_t i = 0; i < cw_map_node_count(transition->move.from); i++)
        sources += transition->from_ends[i].is_used;
    uint64_t batches = sources * COPIER_BATCHES * transition->options->transitions_max;
    uint64_t portion = batches ? transition->options->in_flight_bytes / batches : 0;
    return portion ? portion : 1;
}

int transition_open(struct transition *transition, char ret_problem[static MOVE_PROBLEM_SIZE])
{
    struct transition_info *info = &transition->info;
    transition->move = (struct move){
        .loop = transition->options->loop,
        .from = info->from,
        .to = info->to,
        .dead = info->dead_id[0] ? cw_map_find_node(info->from, info->dead_id) : CW_NO_NODE,
        .is_embedded = transition->settings->engine == ENGINE_EMBEDDED,
        .elements_max = transition->options->elements_max,
        .throttle = &transition->throttle,
        .progress = &transition->progress,
        .found = &transition->found,
    };
    snprintf(ret_problem, MOVE_PROBLEM_SIZE, "out of memory");
    if (!allocate(transition))
        return -ENOMEM;
    snprintf(transition->peer_name, sizeof transition->peer_name, "clockwise-%s:%s",
             transition->is_probe ? "probe" : "mover", transition->settings->name);
    int status = use_ends(transition);
    transition->move.portion_bytes = portion_of(transition);
    leave_out_new(transition);
    if (status == 0)
        status = connect_all(transition);
    transition_name_set(transition);
    return status;
}

static void release_samples(struct transition *transition)
{
    struct move *move = &transition->move;
    for (uint32_t i = 0; move->samples && i < cw_map_node_count(move->from); i++)
        key_sample_release(&move->samples[i]);
    free(move->samples);
    move->samples = NULL;
}

static void release_ends(struct transition_end **ends, const struct cw_map *map)
{
    for (uint32_t i = 0; *ends && i < cw_map_node_count(map); i++) {
        key_list_release(&(*ends)[i].drained);
        key_list_release(&(*ends)[i].differ);
    }
    free(*ends);
    *ends = NULL;
}

void transition_close(struct transition *transition)
{
    transition_stop_jobs(transition);
    disconnect_all(transition);
    release_samples(transition);
    release_ends(&transition->from_ends, transition->info.from);
    release_ends(&transition->to_ends, transition->info.to);
    key_list_release(&transition->found.keys);
    buffer_release(&transition->found.sources);
    big_keys_unref(&transition->move.big);
    free(transition->jobs);
    free(transition->bytes_in);
    free(transition->keys_in);
    transition->jobs = NULL;
    transition->bytes_in = transition->keys_in = NULL;
}
