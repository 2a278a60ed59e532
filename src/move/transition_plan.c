/*
 * Whether a change is allowed, and the map it leads to. Looks at maps only; what the nodes are is
 * looked at later (check.c).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "move/transition.h"

static int refuse(char *ret_problem, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse(char *ret_problem, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ret_problem, MOVE_PROBLEM_SIZE, format, args);
    va_end(args);
    return status;
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

bool transition_is_same_node(const struct cw_node *a, const struct cw_node *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(text_of(a->address), text_of(b->address)) == 0;
}

static bool is_burnt(const struct transition *transition, const char *id)
{
    for (size_t i = 0; i < transition->burnt_count; i++)
        if (strcmp(transition->burnt[i], id) == 0)
            return true;
    return false;
}

static int check_request(const struct transition *transition, const struct mover_change *change,
                         char *ret_problem)
{
    const struct cw_map *map = transition->map;
    const char *pool = transition->settings->name;
    uint64_t generation = cw_map_generation(map);
    if (!transition->options->store && !transition->is_probe)
        return refuse(ret_problem, -EPERM,
                      "pool '%s' keeps its map in memory only, so a change would not survive a "
                      "restart; set map_store.file and restart the router first",
                      pool);
    if (change->generation && change->generation != generation)
        return refuse(ret_problem, -ESTALE,
                      "the plan was made on generation %llu of pool '%s', which is at %llu now; "
                      "plan again",
                      (unsigned long long)change->generation, pool, (unsigned long long)generation);
    if (change->to ? cw_map_node_count(change->to) == 0 : change->node_count == 0)
        return refuse(ret_problem, -EINVAL,
                      "this would remove every node of pool '%s'; keep at least one", pool);
    if (change->kind == TRANSITION_DEAD &&
        (!change->dead_id || cw_map_find_node(map, change->dead_id) == CW_NO_NODE))
        return refuse(ret_problem, -ENOENT, "pool '%s' has no node '%s'", pool,
                      text_of(change->dead_id));
    return 0;
}

/* Dead ids come back as new servers under an old name: their data would be taken for the old. */
static int check_nodes_of(const struct transition *transition, const struct cw_map *to,
                          char *ret_problem)
{
    for (uint32_t i = 0; i < cw_map_node_count(to); i++) {
        const struct cw_node *node = cw_map_node(to, i);
        if (is_burnt(transition, node->id))
            return refuse(ret_problem, -EINVAL,
                          "node '%s' was declared dead, and its id is never used again; give the "
                          "server another id",
                          node->id);
        for (uint32_t j = 0; j < i; j++)
            if (strcmp(text_of(cw_map_node(to, j)->address), text_of(node->address)) == 0)
                return refuse(ret_problem, -EINVAL,
                              "nodes '%s' and '%s' have the same address %s; a server can be one "
                              "node only",
                              cw_map_node(to, j)->id, node->id, node->address);
    }
    return 0;
}

static int compare_maps(const struct transition *transition, const struct mover_change *change,
                        const struct cw_map *to, char *ret_problem)
{
    const struct cw_map *from = transition->map;
    uint32_t slots_from = cw_map_slot_count(from), slots_to = cw_map_slot_count(to);
    if (slots_from && slots_to && slots_from != slots_to)
        return refuse(ret_problem, -EINVAL,
                      "pool '%s' has %u slots, for its whole life; the change has %u",
                      transition->settings->name, slots_from, slots_to);
    if (change->to && cw_map_generation(to) != cw_map_generation(from) + 1)
        return refuse(ret_problem, -ESTALE, "the new map has generation %llu, the next one is %llu",
                      (unsigned long long)cw_map_generation(to),
                      (unsigned long long)cw_map_generation(from) + 1);
    bool is_same = !change->to && cw_map_node_count(from) == cw_map_node_count(to);
    for (uint32_t i = 0; is_same && i < cw_map_node_count(from); i++) {
        const struct cw_node *a = cw_map_node(from, i), *b = cw_map_node(to, i);
        is_same = transition_is_same_node(a, b) && a->weight == b->weight &&
                  strcmp(text_of(a->zone), text_of(b->zone)) == 0;
    }
    if (is_same)
        return refuse(ret_problem, -EALREADY, "nothing changes: pool '%s' has these nodes already",
                      transition->settings->name);
    return 0;
}

int transition_plan(const struct transition *transition, const struct mover_change *change,
                    struct cw_map **ret_to, char ret_problem[static MOVE_PROBLEM_SIZE])
{
    struct cw_error error;
    struct cw_map *to = NULL;
    int status = check_request(transition, change, ret_problem);
    if (status < 0)
        return status;
    if (change->to)
        to = cw_map_ref(change->to);
    else if (cw_map_change(transition->map, change->nodes, change->node_count, &to, &error) < 0)
        return refuse(ret_problem, -EINVAL, "%s", error.message);
    status = check_nodes_of(transition, to, ret_problem);
    if (status == 0)
        status = compare_maps(transition, change, to, ret_problem);
    if (status < 0)
        cw_map_unref(&to);
    else
        *ret_to = to;
    return status;
}
