#include "control/change_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "control/address_check.h"
#include "control/config.h"
#include "placement/map.h"

struct making {
    const struct change_pool *pool;
    const struct change_request *request;
    struct change *change;
    struct change_problem *problem;
};

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

/* ---- what never changes ---------------------------------------------------------------------- */

static bool check_generation(const struct making *making)
{
    uint64_t is = cw_map_generation(making->pool->map), wanted = making->request->generation;
    if (!wanted || wanted == is)
        return true;
    return change_refuse(making->problem, -ESTALE,
                         "pool '%s' is at generation %" PRIu64 ", and the plan was made on %" PRIu64
                         ": it was changed meanwhile; look at the plan again",
                         making->pool->name, is, wanted);
}

static bool check_engine(const struct making *making)
{
    const char *wanted = making->request->engine;
    const char *is = making->pool->is_embedded ? "embedded" : "redis";
    if (!wanted || strcmp(wanted, is) == 0)
        return true;
    return change_refuse(making->problem, -EINVAL,
                         "pool '%s' runs on engine %s, and a pool never changes it to %.63s; write "
                         "engine: %s, or make a new pool and move the data with its clients",
                         making->pool->name, is, wanted, is);
}

static bool check_fixed(const struct making *making, const char *name, uint64_t wanted, uint64_t is)
{
    if (!wanted || wanted == is)
        return true;
    return change_refuse(making->problem, -EINVAL,
                         "pool '%s' has %s %" PRIu64 ", which is fixed for its life, not %" PRIu64
                         "; write %s: %" PRIu64,
                         making->pool->name, name, is, wanted, name, is);
}

static bool unknown_placement(const struct making *making, const char *name)
{
    const char *names[CW_PLACEMENT_MODULO + 1];
    for (int i = 0; i <= CW_PLACEMENT_MODULO; i++)
        names[i] = cw_placement_name((enum cw_placement)i);
    const char *nearest = suggest_nearest(name, names, CW_PLACEMENT_MODULO + 1);
    return change_refuse(making->problem, -EINVAL, "there is no placement '%.63s'; use %s", name,
                         nearest ? nearest : "slots, or another that docs/placement.md explains");
}

static bool check_placement(const struct making *making)
{
    const struct change_request *request = making->request;
    const struct cw_map *map = making->pool->map;
    enum cw_placement is = cw_map_placement(map), wanted = is;
    if (request->placement && cw_placement_find(request->placement, &wanted) != CW_OK)
        return unknown_placement(making, request->placement);
    if (wanted != is) {
        making->change->placement = (int)wanted;
        return wanted != CW_PLACEMENT_PROFILE ||
               change_refuse(making->problem, -EINVAL,
                             "a pool cannot change to a profile while it runs; make a new pool "
                             "with the profile and move the data with its clients");
    }
    if (is == CW_PLACEMENT_SLOTS)
        return check_fixed(making, "slots", request->slots, cw_map_slot_count(map));
    return is != CW_PLACEMENT_RING ||
           check_fixed(making, "tokens", request->tokens, map->tokens_per_weight);
}

/* ---- the list of nodes ----------------------------------------------------------------------- */

static struct cw_node *find_node(const struct change *change, const char *id)
{
    for (size_t i = 0; i < change->count; i++)
        if (strcmp(change->nodes[i].id, id) == 0)
            return &change->nodes[i];
    return NULL;
}

static bool no_such_node(const struct making *making, const char *id)
{
    const char *ids[TRANSITION_NODES_MAX];
    size_t count = 0;
    for (; count < making->change->count && count < TRANSITION_NODES_MAX; count++)
        ids[count] = making->change->nodes[count].id;
    const char *nearest = suggest_nearest(id, ids, count);
    if (nearest)
        return change_refuse(making->problem, -ENOENT,
                             "pool '%s' has no node '%.255s'; did you mean '%s'?",
                             making->pool->name, id, nearest);
    return change_refuse(making->problem, -ENOENT,
                         "pool '%s' has no node '%.255s'; `clockwise status` lists its nodes",
                         making->pool->name, id);
}

/* The address that the router gives to an embedded node. */
static const char *embedded_address(const struct making *making, const char *id)
{
    size_t size = strlen("inproc:/") + strlen(making->pool->name) + strlen(id) + 1;
    char *address = malloc(size);
    if (!address) {
        change_refuse(making->problem, -ENOMEM, "out of memory");
        return NULL;
    }
    snprintf(address, size, "inproc:%s/%s", making->pool->name, id);
    making->change->addresses[making->change->address_count++] = address;
    return address;
}

/* A node as it was given gets what it may leave out. */
static bool complete_node(const struct making *making, const struct cw_node *given,
                          struct cw_node *ret_node)
{
    char why[CHANGE_TEXT_SIZE / 2];
    *ret_node = *given;
    ret_node->zone = text_or_none(given->zone);
    ret_node->weight = given->weight ? given->weight : 1;
    if (making->pool->is_embedded) {
        if (given->address)
            return change_refuse(making->problem, -EINVAL,
                                 "node '%.255s' is embedded in the router and has no address; "
                                 "leave it out",
                                 given->id);
        ret_node->address = embedded_address(making, given->id);
        return ret_node->address != NULL;
    }
    if (!given->address)
        return change_refuse(making->problem, -EINVAL,
                             "node '%.255s' has no address; give host:port", given->id);
    if (!address_check(given->address, why, sizeof why))
        return change_refuse(making->problem, -EINVAL, "node '%.63s': %s", given->id, why);
    return true;
}

static bool make_whole(const struct making *making)
{
    const struct change_nodes *wanted = &making->request->nodes;
    struct change *change = making->change;
    bool is_any_kept = false;
    for (change->count = 0; change->count < wanted->count; change->count++) {
        const struct cw_node *node = &wanted->nodes[change->count];
        if (find_node(change, node->id))
            return change_refuse(making->problem, -EINVAL,
                                 "node '%.255s' stands there twice; leave one out", node->id);
        if (!complete_node(making, node, &change->nodes[change->count]))
            return false;
        is_any_kept |= cw_map_find_node(making->pool->map, node->id) != CW_NO_NODE;
    }
    if (!is_any_kept)
        return change_refuse(making->problem, -EINVAL,
                             "this would remove every node of pool '%s': none of those that it has "
                             "is among the %zu wanted; add the new ones first, then drain the old",
                             making->pool->name, wanted->count);
    return true;
}

static void remove_node(struct change *change, struct cw_node *node)
{
    *node = change->nodes[--change->count];
}

static bool make_changes(const struct making *making)
{
    const struct change_request *request = making->request;
    struct change *change = making->change;
    for (size_t i = 0; i < request->drain_count; i++) {
        struct cw_node *node = find_node(change, request->drain[i]);
        if (!node)
            return no_such_node(making, request->drain[i]);
        remove_node(change, node);
    }
    for (size_t i = 0; i < request->weigh.count; i++) {
        struct cw_node *node = find_node(change, request->weigh.nodes[i].id);
        if (!node)
            return no_such_node(making, request->weigh.nodes[i].id);
        node->weight = request->weigh.nodes[i].weight;
    }
    for (size_t i = 0; i < request->add.count; i++) {
        const struct cw_node *given = &request->add.nodes[i];
        if (find_node(change, given->id) ||
            cw_map_find_node(making->pool->map, given->id) != CW_NO_NODE)
            return change_refuse(making->problem, -EINVAL,
                                 "pool '%s' has a node '%.255s' already; take another id, or "
                                 "change that one with `clockwise node weight` or `replace`",
                                 making->pool->name, given->id);
        if (!complete_node(making, given, &change->nodes[change->count]))
            return false;
        change->count++;
    }
    return true;
}

static bool make_replace(const struct making *making)
{
    const struct cw_node *wanted = &making->request->replace;
    char why[CHANGE_TEXT_SIZE / 2];
    making->change->kind = TRANSITION_REPLACE;
    struct cw_node *node = find_node(making->change, wanted->id);
    if (!node)
        return no_such_node(making, wanted->id);
    if (making->pool->is_embedded)
        return change_refuse(making->problem, -EINVAL,
                             "node '%.255s' is embedded in the router and has no address to "
                             "change; add another node and drain this one",
                             wanted->id);
    if (!address_check(wanted->address, why, sizeof why))
        return change_refuse(making->problem, -EINVAL, "node '%.63s': %s", wanted->id, why);
    node->address = wanted->address;
    return true;
}

static bool make_dead(const struct making *making)
{
    const char *id = making->request->dead;
    making->change->kind = TRANSITION_DEAD;
    making->change->dead_id = id;
    struct cw_node *node = find_node(making->change, id);
    if (!node)
        return no_such_node(making, id);
    if (making->change->count == 1)
        return change_refuse(making->problem, -EINVAL,
                             "'%.255s' is the only node of pool '%s', and nobody could take its "
                             "share; add another node first",
                             id, making->pool->name);
    remove_node(making->change, node);
    return true;
}

static bool make_nodes(const struct making *making)
{
    const struct change_request *request = making->request;
    const struct cw_map *map = making->pool->map;
    struct change *change = making->change;
    size_t had = cw_map_node_count(map), more = request->nodes.count + request->add.count;
    change->nodes = calloc(had + more + 1, sizeof *change->nodes);
    change->addresses = calloc(more + 1, sizeof *change->addresses);
    if (!change->nodes || !change->addresses)
        return change_refuse(making->problem, -ENOMEM, "out of memory");
    if (request->has_nodes)
        return make_whole(making);
    for (; change->count < had; change->count++)
        change->nodes[change->count] = *cw_map_node(map, (uint32_t)change->count);
    if (request->replace.id)
        return make_replace(making);
    if (request->dead)
        return make_dead(making);
    return make_changes(making);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Adds a part to the words; what is too much is shown as "…". */
static __attribute__((format(printf, 2, 3))) void add_words(struct change *change,
                                                            const char *format, ...)
{
    static const char more[] = "…";
    char part[sizeof change->what];
    size_t len = strlen(change->what), room = sizeof change->what - len;
    va_list args;
    va_start(args, format);
    vsnprintf(part, sizeof part, format, args);
    va_end(args);
    change->is_change = true;
    if (len >= sizeof more && strcmp(change->what + len + 1 - sizeof more, more) == 0)
        return;
    /* Room for the dots is kept, for what may come behind. */
    const char *words = strlen(part) + 2 * sizeof ", " + sizeof more <= room ? part : more;
    if (len) {
        memcpy(change->what + len, ", ", 2);
        len += 2;
    }
    memcpy(change->what + len, words, strlen(words) + 1);
}

struct differences {
    const struct cw_node *moved; /* one that has another address */
    size_t addresses, others;
};

static void compare_node(struct change *change, const struct cw_node *was, const struct cw_node *is,
                         struct differences *differences)
{
    if (was->weight != is->weight) {
        add_words(change, "weight %s %" PRIu32 " to %" PRIu32, is->id, was->weight, is->weight);
        differences->others++;
    }
    if (strcmp(text_or_none(was->zone), text_or_none(is->zone)) != 0) {
        add_words(change, "zone %s '%s' to '%s'", is->id, text_or_none(was->zone),
                  text_or_none(is->zone));
        differences->others++;
    }
    if (strcmp(text_or_none(was->address), text_or_none(is->address)) != 0) {
        add_words(change, "replace %s %s with %s", is->id, text_or_none(was->address), is->address);
        differences->moved = is;
        differences->addresses++;
    }
}

static void compare_only(struct change *change, const char *verb, const struct cw_node *node,
                         struct differences *differences)
{
    add_words(change, "%s %s", verb, node->id);
    differences->others++;
}

static int order_by_id(const void *a, const void *b)
{
    return strcmp(((const struct cw_node *)a)->id, ((const struct cw_node *)b)->id);
}

/* Words for every difference, in the order of ids, which is the map's. */
static void compare(const struct making *making, struct differences *differences)
{
    struct change *change = making->change;
    const struct cw_map *map = making->pool->map;
    uint32_t was = 0, is = 0;
    qsort(change->nodes, change->count, sizeof *change->nodes, order_by_id);
    while (was < cw_map_node_count(map) || is < change->count) {
        const struct cw_node *old = cw_map_node(map, was);
        const struct cw_node *new = is < change->count ? &change->nodes[is] : NULL;
        if (old && (!new || strcmp(old->id, new->id) < 0)) {
            compare_only(change, change->dead_id ? "dead" : "drain", old, differences);
            was++;
        } else if (new && (!old || strcmp(old->id, new->id) > 0)) {
            compare_only(change, "add", new, differences);
            is++;
        } else if (old && new) {
            compare_node(change, old, new, differences);
            was++;
            is++;
        }
    }
    if (change->placement < 0)
        return;
    add_words(change, "placement %s to %s", cw_map_placement_name(map),
              cw_placement_name((enum cw_placement)change->placement));
    differences->others++;
}

/* Two ids at one address would be one server with two shares. Quadratic only in what is new. */
static bool check_addresses(const struct making *making)
{
    const struct change *change = making->change;
    for (size_t i = 0; i < change->count; i++) {
        const struct cw_node *node = &change->nodes[i];
        uint32_t old = cw_map_find_node(making->pool->map, node->id);
        if (old != CW_NO_NODE && strcmp(text_or_none(cw_map_node(making->pool->map, old)->address),
                                        text_or_none(node->address)) == 0)
            continue;
        for (size_t j = 0; j < change->count; j++)
            if (j != i && strcmp(change->nodes[j].address, node->address) == 0)
                return change_refuse(making->problem, -EINVAL,
                                     "nodes '%.63s' and '%.63s' would be one server, %.255s; give "
                                     "each its own address",
                                     change->nodes[j].id, node->id, node->address);
    }
    return true;
}

/* A new address is a transition of its own kind: the keys of one node are copied from one server to
 * another, and none changes its node. */
/* A pool that was made larger by an earlier version may still shrink, step by step. */
static bool check_embedded_count(const struct making *making)
{
    size_t had = cw_map_node_count(making->pool->map), count = making->change->count;
    if (!making->pool->is_embedded || count <= CONFIG_EMBEDDED_NODES_MAX || count <= had)
        return true;
    return change_refuse(making->problem, -EINVAL,
                         "pool '%s' would have %zu embedded nodes, and at most %d are possible, "
                         "since each has a thread and a file of its own; use fewer, larger ones",
                         making->pool->name, count, CONFIG_EMBEDDED_NODES_MAX);
}

static bool check_result(const struct making *making)
{
    struct change *change = making->change;
    struct differences differences = {0};
    if (change->count == 0)
        return change_refuse(making->problem, -EINVAL,
                             "this would remove every node of pool '%s'; add another one first",
                             making->pool->name);
    if (change->count > TRANSITION_NODES_MAX)
        return change_refuse(making->problem, -EINVAL,
                             "a pool has at most %d nodes; use fewer, larger ones",
                             (int)TRANSITION_NODES_MAX);
    if (!check_embedded_count(making) || !check_addresses(making))
        return false;
    compare(making, &differences);
    const struct cw_node *moved = differences.moved;
    if (moved && differences.addresses + differences.others > 1)
        return change_refuse(making->problem, -EINVAL,
                             "node '%.63s' has another address besides other changes; do that "
                             "first, alone: `clockwise node replace %.63s %.255s`",
                             moved->id, moved->id, moved->address);
    if (moved)
        change->kind = TRANSITION_REPLACE;
    return true;
}

/* Another placement knows nothing of the map that there is. */
static bool make_map(const struct making *making)
{
    struct change *change = making->change;
    const struct change_request *request = making->request;
    struct cw_error error = {0};
    if (change->placement < 0)
        return true;
    bool is_slots = change->placement == CW_PLACEMENT_SLOTS;
    bool is_ring = change->placement == CW_PLACEMENT_RING;
    struct cw_map_options options = {
        .placement = (enum cw_placement)change->placement,
        .nodes = change->nodes,
        .node_count = change->count,
        .generation = cw_map_generation(making->pool->map) + 1,
        .slot_count = is_slots ? (uint32_t)request->slots : 0,
        .tokens_per_weight = is_ring ? (uint32_t)request->tokens : 0,
    };
    int status = cw_map_create(&options, &change->to, &error);
    if (status == CW_OK)
        return true;
    return change_refuse(making->problem, status == CW_ENOMEM ? -ENOMEM : -EINVAL, "%s",
                         error.message);
}

bool change_make(const struct change_pool *pool, const struct change_request *request,
                 struct change *ret_change, struct change_problem *ret_problem)
{
    struct change change = {.kind = TRANSITION_CHANGE, .placement = -1};
    struct making making = {pool, request, &change, ret_problem};
    if (!check_generation(&making) || !check_engine(&making) || !check_placement(&making) ||
        !make_nodes(&making) || !check_result(&making) || !make_map(&making)) {
        change_release(&change);
        return false;
    }
    *ret_change = change;
    return true;
}

void change_release(struct change *change)
{
    cw_map_unref(&change->to);
    for (size_t i = 0; i < change->address_count; i++)
        free(change->addresses[i]);
    free(change->addresses);
    free(change->nodes);
    *change = (struct change){0};
}
