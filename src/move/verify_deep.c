#include "move/verify_internal.h"

static void walk_source(struct verify *verify);
static void next_target(struct verify *verify);

static void on_differ(struct verify *verify, struct slice key)
{
    if (!key_list_add(verify->differ, key))
        job_fail_memory(&verify->job);
}

/* ---- walking ----------------------------------------------------------------------------------
 */

static void on_key(struct job *job, struct slice key)
{
    struct verify *verify = (struct verify *)job;
    uint32_t target;
    if (!move_target(job->move, key, verify->source, &target) ||
        (verify->how == VERIFY_EXISTS && target != verify->target))
        return;
    if (!key_list_add(&verify->page, key))
        job_fail_memory(job);
}

static void start_page(struct job *job)
{
    if (job_may_send(job, start_page))
        verify_go_on((struct verify *)job);
}

/* The walk goes on behind the page: what is compared next is not asked for twice. */
static void next_page(struct verify *verify)
{
    if (!verify->scan.is_over)
        key_scan_next(&verify->scan);
    else
        next_target(verify);
}

static void walk(struct verify *verify, struct peer *peer)
{
    verify->on_page_done = next_page;
    key_scan_init(&verify->scan, &verify->job, peer, "0");
    verify->scan.on_key = on_key;
    verify->scan.on_page = start_page;
    key_scan_next(&verify->scan);
}

static void walk_source(struct verify *verify)
{
    walk(verify, verify->job.move->from_peers[verify->source]);
}

static void next_target(struct verify *verify)
{
    uint32_t target;
    verify->how = VERIFY_EXISTS;
    if (verify->target_at * sizeof target >= verify->targets.len) {
        verify_finish(verify, JOB_DONE);
        return;
    }
    memcpy(&target, buffer_bytes(&verify->targets) + verify->target_at * sizeof target,
           sizeof target);
    verify->target_at++;
    verify->target = target;
    walk(verify, verify->job.move->to_peers[target]);
}

/* ---- which targets ----------------------------------------------------------------------------
 */

static bool add_target(struct verify *verify, uint32_t target)
{
    return buffer_append(&verify->targets, (const char *)&target, sizeof target);
}

/* Every node but the source itself, where a placement does not tell or the map is the same. */
static bool add_all_targets(struct verify *verify)
{
    const struct move *move = verify->job.move;
    bool fine = true;
    for (uint32_t i = 0; i < cw_map_node_count(move->to) && fine; i++)
        if (move->to_peers[i] != move->from_peers[verify->source])
            fine = add_target(verify, i);
    return fine;
}

static bool add_planned_targets(struct verify *verify, const struct cw_plan *plan)
{
    size_t count;
    bool fine = true;
    const struct cw_move *moves = cw_plan_moves(plan, &count);
    for (size_t i = 0; i < count && fine; i++)
        if (moves[i].from_node == verify->source)
            fine = add_target(verify, moves[i].to_node);
    return fine;
}

/* A node that is replaced keeps its id: the plan knows nothing of its new address. */
static bool find_targets(struct verify *verify)
{
    const struct move *move = verify->job.move;
    struct cw_plan *plan = NULL;
    const char *id = cw_map_node(move->from, verify->source)->id;
    uint32_t same = cw_map_find_node(move->to, id);
    bool is_replaced = same != CW_NO_NODE &&
                       move->to_peers[same] != move->from_peers[verify->source];
    if (is_replaced || cw_plan_create(move->from, move->to, &plan) != 0)
        return add_all_targets(verify);
    bool fine = add_planned_targets(verify, plan);
    cw_plan_destroy(&plan);
    return fine;
}

struct job *job_verify_deep(struct move *move, uint32_t source, struct key_list *differ,
                            job_done done, void *context)
{
    struct verify *verify = verify_create(move, source, VERIFY_VALUE, done, context);
    if (!verify)
        return NULL;
    verify->differ = differ;
    verify->on_differ = on_differ;
    if (find_targets(verify))
        walk_source(verify);
    else
        job_fail_memory(&verify->job);
    return job_started(&verify->job);
}
