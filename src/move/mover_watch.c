/*
 * Nodes that came back without their data. Each node of a pool is asked now and then for its run id
 * and the number of its keys: one that was started anew since and has none, or hardly any, where it
 * had some has lost them: clients fill a cache again from its first moment on. Nothing is done
 * about it but to say so, in the log and in the status: whoever runs the fleet knows whether a
 * cache may be cold or a backup must be restored.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "move/answer.h"
#include "move/mover_internal.h"

/* Fewer than this part of the keys that it had are what came since, not what was saved. */
enum { HARDLY_ANY = 10 };

/* ---- what is watched ------------------------------------------------------------------------- */

void watch_init(struct watch *watch, struct mover *mover, uint32_t pool)
{
    *watch = (struct watch){.mover = mover, .pool = pool};
}

void watch_release(struct watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++)
        peer_destroy(&watch->nodes[i].peer);
    free(watch->nodes);
    cw_map_unref(&watch->map);
    watch->nodes = NULL;
    watch->count = 0;
}

static bool connect_node(struct watched *node, const struct cw_node *described)
{
    struct watch *watch = node->watch;
    const struct pool_settings *settings = &watch->mover->options.pools[watch->pool];
    const struct peer_options options = {
        .id = described->id,
        .address = described->address ? described->address : "",
        .username = settings->username,
        .password = settings->password,
        .client_name = "clockwise-watch",
        .timeout_ms = settings->timeout_ms,
    };
    return peer_create(watch->mover->options.loop, &options, &node->peer) == 0;
}

/* What was known of a node under the map before. */
static void remember(struct watched *node, const struct watch *old, const struct cw_node *described)
{
    uint32_t number = old->map ? cw_map_find_node(old->map, described->id) : CW_NO_NODE;
    if (number < old->count && transition_is_same_node(described, cw_map_node(old->map, number)))
        node->before = old->nodes[number].before;
}

/* Without memory nothing is watched; it is tried again with the next map. */
static void watch_map(struct watch *watch, struct cw_map *map)
{
    uint32_t count = cw_map_node_count(map);
    struct watch old = *watch;
    watch->count = 0;
    watch->map = cw_map_ref(map);
    watch->nodes = calloc(count, sizeof *watch->nodes);
    for (uint32_t i = 0; watch->nodes && i < count; i++) {
        watch->nodes[i].watch = watch;
        if (!connect_node(&watch->nodes[i], cw_map_node(map, i)))
            break;
        remember(&watch->nodes[i], &old, cw_map_node(map, i));
        watch->count++;
    }
    watch_release(&old);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void report_loss(struct watched *node)
{
    struct watch *watch = node->watch;
    struct mover *mover = watch->mover;
    struct mover_loss *loss = &mover->losses[watch->pool];
    char line[512];
    mutex_lock(&mover->lock);
    loss->count++;
    loss->seen_ms = io_wall_ms(mover->options.loop);
    snprintf(loss->node, sizeof loss->node, "%s", peer_id(node->peer));
    mutex_unlock(&mover->lock);
    snprintf(
        line, sizeof line,
        "event=node_lost_data pool=%s node=%s keys_before=%llu keys=%llu message=\"it was started "
        "anew without its keys: they are lost unless they are restored\"",
        mover->options.pools[watch->pool].name, peer_id(node->peer),
        (unsigned long long)node->before.key_count, (unsigned long long)node->now.key_count);
    if (mover->options.log)
        mover->options.log(2, line);
}

static void on_size(void *context, const char *reply, size_t len)
{
    struct watched *node = context;
    int64_t count;
    if (!answer_is_integer(reply, len, &count) || count < 0 || !node->now.run_id[0])
        return;
    node->now.key_count = (uint64_t)count;
    uint64_t had = node->before.key_count, has = node->now.key_count;
    bool is_anew = node->before.run_id[0] && strcmp(node->before.run_id, node->now.run_id) != 0;
    if (is_anew && (has ? has < had / HARDLY_ANY : had > 0))
        report_loss(node);
    node->before = node->now;
}

static void on_info(void *context, const char *reply, size_t len)
{
    struct watched *node = context;
    struct slice text;
    node->now = (struct node_facts){0};
    if (answer_is_text(reply, len, &text))
        node_facts_read(&node->now, text);
    if (node->now.is_loading) /* what it has is not known yet */
        node->now.run_id[0] = '\0';
}

static void ask(struct watched *node)
{
    const struct slice info[] = {slice_of("INFO")}, size[] = {slice_of("DBSIZE")};
    peer_call(node->peer, info, 1, on_info, node);
    peer_call(node->peer, size, 1, on_size, node);
}

void mover_watch(struct mover *mover, uint32_t pool)
{
    struct watch *watch = &mover->pools[pool].watch;
    struct cw_map *map = mover->pools[pool].transition.map;
    uint64_t now = io_now_ms(mover->options.loop);
    if (now < watch->asked_ms + mover->options.watch_ms)
        return;
    watch->asked_ms = now;
    if (watch->map != map)
        watch_map(watch, map);
    for (uint32_t i = 0; i < watch->count; i++)
        if (peer_has_room(watch->nodes[i].peer))
            ask(&watch->nodes[i]);
}

void mover_doubt_death(const struct transition *transition,
                       char ret_problem[static MOVE_PROBLEM_SIZE])
{
    const struct watch *watch = &transition->mover->pools[transition->pool].watch;
    const char *dead = transition->info.dead_id;
    uint32_t number = *dead && watch->map ? cw_map_find_node(watch->map, dead) : CW_NO_NODE;
    if (number >= watch->count || !watch->nodes[number].now.run_id[0])
        return;
    snprintf(ret_problem, MOVE_PROBLEM_SIZE,
             "node '%s' answers and has %llu keys, which would be lost; keep them with `clockwise "
             "node drain %s`",
             dead, (unsigned long long)watch->nodes[number].now.key_count, dead);
}
