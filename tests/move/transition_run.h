/*
 * One run of the simulation of transitions: the changes that people make, the faults that happen
 * meanwhile, and the checks of what is there afterwards. All of it is drawn from the run's seed.
 */
#ifndef TESTS_MOVE_TRANSITION_RUN_H
#define TESTS_MOVE_TRANSITION_RUN_H

#include <stdarg.h>

#include "move/counting_client.h"
#include "move/mover_internal.h"
#include "move/queue_client.h"

enum { CLIENTS = 3, QUEUES = 6, COLD_KEYS = 240, ALL_NODES = 6, FIRST_NODES = 3, STEPS_MAX = 300 };

struct run_options {
    uint64_t seed;
    bool with_faults;
    bool with_queues;  /* some clients wait */
    unsigned left_out; /* enum mover_left_out */
    int favoured;      /* every second fault is this one; -1: none is favoured */
};

enum fault {
    FAULT_KILL,      /* the router is killed */
    FAULT_CRASH,     /* a node crashes */
    FAULT_STOP,      /* a node stops */
    FAULT_LAG,       /* a worker's thread gets no processor */
    FAULT_SETS_LOST, /* dirty sets are evicted */
    FAULT_LATE_RESTORE,
    FAULT_LATE_MARK,  /* its reply */
    FAULT_LATE_WRITE, /* a write comes long after its mark */
    FAULT_PAUSE,
    FAULT_CANCEL,
    FAULT_FULL,    /* the disk of the map store, until the next fault that is about it */
    FAULT_ABANDON, /* what is waited for after a cancel, or the switch, is given up */
    FAULT_COUNT,
};

struct run {
    struct world world;
    struct move_client clients[CLIENTS];
    struct queue queues[QUEUES];
    struct random random;
    const struct run_options *options;
    bool is_down[ALL_NODES], is_stopped[ALL_NODES];
    bool is_given_up[ALL_NODES]; /* at least once: what it need not have, it may have */
    int lagging;                 /* a worker's number, or -1 */
    uint32_t changes, kills, crashes, cancels, abandons, big_keys;
    bool is_router_down;
    char wrong[400];
};

struct result {
    uint64_t checked, writes, errors, transactions, nils, changes, kills, crashes, cancels,
        abandons, big_keys, trace;
    uint64_t pops, empty_waits, unseen; /* of the queues */
    bool states[TRANSITION_STATE_COUNT];
    char wrong[400];
};

static bool chance(struct run *run, uint32_t permille)
{
    return random_below(&run->random, 1000) < permille;
}

static void wrong(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(struct run *run, const char *format, ...)
{
    va_list args;
    if (run->wrong[0])
        return;
    va_start(args, format);
    vsnprintf(run->wrong, sizeof run->wrong, format, args);
    va_end(args);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The nodes of the stored map, changed in one of the ways people change fleets. */
static size_t changed_nodes(struct run *run, struct cw_node *nodes, const char **ret_what)
{
    const struct cw_map *map = world_map(&run->world);
    size_t count = cw_map_node_count(map);
    bool is_used[ALL_NODES] = {false};
    for (uint32_t i = 0; i < count; i++) {
        nodes[i] = *cw_map_node(map, i);
        is_used[world_node_at(&run->world, nodes[i].address)] = true;
    }
    uint32_t spare = 0;
    while (spare < ALL_NODES && is_used[spare])
        spare++;
    uint32_t one = (uint32_t)random_below(&run->random, count);
    switch (random_below(&run->random, 4)) {
    case 0:
        if (spare < ALL_NODES && cw_map_find_node(map, fixture_id(spare)) == CW_NO_NODE) {
            *ret_what = "add";
            nodes[count] = (struct cw_node){
                .id = fixture_id(spare), .address = fixture_address(spare), .weight = 1};
            return count + 1;
        }
        /* fallthrough */
    case 1:
        if (count > 2) {
            *ret_what = "drain";
            nodes[one] = nodes[count - 1];
            return count - 1;
        }
        /* fallthrough */
    case 2:
        if (spare < ALL_NODES) {
            *ret_what = "replace";
            nodes[one].address = fixture_address(spare);
            return count;
        }
        /* fallthrough */
    default:
        *ret_what = "weight";
        nodes[one].weight = nodes[one].weight % 3 + 1;
        return count;
    }
}

static void start_change(struct run *run)
{
    struct cw_node nodes[ALL_NODES + 1];
    const char *what = "";
    struct mover_change change = {.nodes = nodes, .who = "test", .may_purge = true};
    change.node_count = changed_nodes(run, nodes, &what);
    change.what = what;
    change.kind = strcmp(what, "replace") == 0 ? TRANSITION_REPLACE : TRANSITION_CHANGE;
    change.is_deep = chance(run, 200);
    if (chance(run, 500))
        change.throttle = (struct throttle_settings){1000 + random_below(&run->random, 20000), 0,
                                                     chance(run, 500)};
    if (mover_start(run->world.mover, &change, world_answer, &run->world) == 0)
        run->changes++;
}

static void tell(struct run *run, enum mover_verb verb)
{
    const struct throttle_settings faster = {5000, 1 << 20, false};
    mover_tell(run->world.mover, 0, verb, &faster, world_answer, &run->world);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static void kill_router(struct run *run)
{
    run->lagging = -1;
    world_kill_router(&run->world);
    run->is_router_down = true;
    run->kills++;
}

static void revive_router(struct run *run)
{
    if (run->is_router_down)
        world_start_router(&run->world);
    run->is_router_down = false;
}

/* Whether a node serves keys by the stored map. */
static bool is_serving(const struct run *run, uint32_t node)
{
    const struct cw_map *map = world_map(&run->world);
    for (uint32_t i = 0; i < cw_map_node_count(map); i++)
        if (strcmp(cw_map_node(map, i)->address, fixture_address(node)) == 0)
            return true;
    return false;
}

/* From the comparison under the freeze on, a target may have given its last answer before the
 * switch: no protocol tells a crash after that from one right after the switch. */
static bool is_being_switched(const struct run *run)
{
    const struct mover *mover = run->world.mover;
    return mover && mover->pools[0].transition.freeze >= FREEZE_VERIFY;
}

static void crash(struct run *run, uint32_t node)
{
    /* What a serving node loses is lost; here it is asked whether the mover loses anything. */
    bool is_kept = is_serving(run, node) || is_being_switched(run);
    memory_node_crash(run->world.fixture.nodes[node], is_kept ? MEMORY_KEPT : MEMORY_LOST);
    run->is_down[node] = true;
    run->is_stopped[node] = false;
    run->crashes++;
}

static void mend(struct run *run, uint32_t node)
{
    struct memory_node *memory = run->world.fixture.nodes[node];
    if (run->is_down[node])
        memory_node_restart(memory);
    else if (run->is_stopped[node])
        memory_node_continue(memory);
    run->is_down[node] = run->is_stopped[node] = false;
}

static void lose_dirty_sets(struct run *run, uint32_t node)
{
    struct memory_node *memory = run->world.fixture.nodes[node];
    struct memory_item *item = memory_dict_next(&memory->keys, NULL);
    while (item) {
        struct slice name = memory_slice(item->name);
        bool is_set = name.len > 9 && memcmp(name.ptr, "\0cw:dirty:", 10) == 0;
        if (is_set)
            memory_delete(memory, name);
        item = memory_dict_next(&memory->keys, is_set ? NULL : item);
    }
}

/* One worker's loop stands still until the next fault that is about it. */
static void lag(struct run *run)
{
    if (run->lagging >= 0) {
        io_sim_resume_loop(run->world.fixture.loops[run->lagging]);
        run->lagging = -1;
        return;
    }
    run->lagging = (int)random_below(&run->random, run->world.fixture.worker_count);
    io_sim_stop_loop(run->world.fixture.loops[run->lagging]);
}

static void end_lag(struct run *run)
{
    if (run->lagging >= 0)
        lag(run);
}

static void note_given_up(struct run *run, const struct transition_end *ends,
                          const struct cw_map *map)
{
    for (uint32_t i = 0; i < cw_map_node_count(map); i++)
        if (ends[i].is_given_up)
            run->is_given_up[world_node_at(&run->world, cw_map_node(map, i)->address)] = true;
}

/* A person's word, on the mover's loop: what is given up is known there and then only. */
static void on_abandon(void *context)
{
    struct run *run = context;
    const char *text;
    struct transition *transition = &run->world.mover->pools[0].transition;
    if (transition_tell(transition, MOVER_ABANDON, NULL, &text) < 0)
        return;
    note_given_up(run, transition->from_ends, transition->info.from);
    note_given_up(run, transition->to_ends, transition->info.to);
    run->abandons++;
}

static void fault(struct run *run)
{
    uint32_t node = (uint32_t)random_below(&run->random, ALL_NODES);
    struct memory_node *memory = run->world.fixture.nodes[node];
    if (run->is_down[node] || run->is_stopped[node]) {
        if (chance(run, 500))
            mend(run, node);
        return;
    }
    static const char *const writes[] = {"INCR", "RPUSH", "HINCRBY", "SET", "EXEC"};
    int favoured = run->options->favoured;
    /* A full disk keeps transitions from getting anywhere: not while one fault is looked for. */
    uint32_t count = favoured >= 0 ? FAULT_FULL : FAULT_COUNT;
    int fault = favoured >= 0 && chance(run, 500) ? favoured
                                                  : (int)random_below(&run->random, count);
    switch ((enum fault)fault) {
    case FAULT_KILL: kill_router(run); break;
    case FAULT_CRASH: crash(run, node); break;
    case FAULT_STOP:
        memory_node_stop(memory);
        run->is_stopped[node] = true;
        break;
    case FAULT_LAG: lag(run); break;
    case FAULT_SETS_LOST: lose_dirty_sets(run, node); break;
    case FAULT_LATE_RESTORE:
        memory_node_delay(memory, "RESTORE", 1, 100 + random_below(&run->random, 1500), false);
        break;
    case FAULT_LATE_MARK:
        memory_node_delay(memory, "SADD", 1, random_below(&run->random, 400), true);
        break;
    case FAULT_LATE_WRITE:
        memory_node_delay(memory, writes[random_below(&run->random, favoured < 0 ? 5 : 4)], 8,
                          10 + random_below(&run->random, 100), false);
        break;
    case FAULT_PAUSE:
        tell(run, chance(run, 500)   ? MOVER_PAUSE
                  : chance(run, 500) ? MOVER_RESUME
                                     : MOVER_THROTTLE);
        break;
    case FAULT_CANCEL:
        tell(run, MOVER_CANCEL);
        run->cancels++;
        break;
    case FAULT_FULL:
        run->world.store.full_permille = run->world.store.full_permille < 1000 ? 1000 : 0;
        break;
    case FAULT_ABANDON: CW_ASSERT(io_post(run->world.mover_loop, on_abandon, run) == 0); break;
    case FAULT_COUNT: break;
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

static int64_t number_of(struct slice text)
{
    int64_t number = -1;
    resp_parse_integer(text, &number);
    return number;
}

/* As the model counts. */
static int64_t value_of(const struct memory_item *item, enum move_key_kind kind)
{
    int64_t sum = 0;
    const struct memory_dict *fields = &item->value.members;
    if (kind == MOVE_LIST)
        return (int64_t)memory_value_len(&item->value);
    if (kind != MOVE_HASH)
        return number_of(memory_slice(item->value.text));
    for (struct memory_item *field = memory_dict_next(fields, NULL); field;
         field = memory_dict_next(fields, field))
        sum += number_of(memory_slice(field->value.text));
    return sum;
}

/* A key that somebody knows the value of: on its owner, and nowhere else but where a node was given
 * up. */
static void check_key(struct run *run, const char *name, enum move_key_kind kind, int64_t value,
                      uint64_t expire_ms)
{
    const struct cw_map *map = world_map(&run->world);
    const struct cw_node *owner = cw_map_node(map, cw_locate_key(map, name, strlen(name)));
    for (uint32_t i = 0; i < ALL_NODES; i++) {
        struct memory_item *item = memory_node_find(run->world.fixture.nodes[i], name);
        bool is_owner = strcmp(fixture_address(i), owner->address) == 0;
        if (!is_owner && item && !run->is_given_up[i])
            wrong(run, "%s is on %s, its owner is %s", name, fixture_address(i), owner->address);
        if (is_owner && value == 0 && item)
            wrong(run, "%s was deleted, and is there", name);
        if (is_owner && value != 0 && !item)
            wrong(run, "%s is missing on its owner %s", name, owner->address);
        if (is_owner && item && value_of(item, kind) != value)
            wrong(run, "%s is %" PRId64 " and should be %" PRId64, name, value_of(item, kind),
                  value);
        if (is_owner && item && item->value.expire_ms != expire_ms)
            wrong(run, "%s expires at %" PRIu64 " and should at %" PRIu64, name,
                  (uint64_t)item->value.expire_ms, expire_ms);
    }
}

static uint64_t cold_expiry(uint32_t number)
{
    return number % 3 ? 0 : UINT64_C(4102444800000) + number;
}

static void put_cold_keys(struct run *run)
{
    const struct cw_map *map = run->world.first_map;
    for (uint32_t i = 0; i < COLD_KEYS; i++) {
        char name[24], text[24];
        size_t len = (size_t)snprintf(name, sizeof name, "cold:%u", i);
        size_t text_len = (size_t)snprintf(text, sizeof text, "%u", i + 1);
        const struct cw_node *owner = cw_map_node(map, cw_locate_key(map, name, len));
        struct memory_item *item = memory_set(
            run->world.fixture.nodes[world_node_at(&run->world, owner->address)],
            (struct slice){name, len}, (struct slice){text, text_len});
        item->value.expire_ms = cold_expiry(i);
    }
}

static void check_queues(struct run *run)
{
    const struct cw_map *map = world_map(&run->world);
    for (uint32_t i = 0; i < QUEUES && run->options->with_queues; i++) {
        struct queue *queue = &run->queues[i];
        const struct cw_node *owner = cw_map_node(
            map, cw_locate_key(map, queue->key, strlen(queue->key)));
        struct memory_item *left = NULL;
        for (uint32_t node = 0; node < ALL_NODES; node++) {
            struct memory_item *item = memory_node_find(run->world.fixture.nodes[node], queue->key);
            if (strcmp(fixture_address(node), owner->address) == 0)
                left = item;
            else if (item && !run->is_given_up[node])
                wrong(run, "%s is on %s, its owner is %s", queue->key, fixture_address(node),
                      owner->address);
        }
        queue_check(queue, left);
        if (queue->wrong[0])
            wrong(run, "%s", queue->wrong);
    }
}

static void check_all(struct run *run)
{
    char name[48];
    check_queues(run);
    for (uint32_t i = 0; i < COLD_KEYS; i++) {
        snprintf(name, sizeof name, "cold:%u", i);
        check_key(run, name, MOVE_COUNTER, i + 1, cold_expiry(i));
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct move_client *client = &run->clients[i];
        if (client->wrong[0])
            wrong(run, "%s", client->wrong);
        if (client->under_way)
            wrong(run, "client %u still waits for %u replies", i, client->under_way);
        for (uint32_t key = 0; key < MOVE_CLIENT_KEYS; key++) {
            move_key_name(client, key, name);
            if (!client->keys[key].is_given_up)
                check_key(run, name, move_key_kind(key), client->keys[key].value, 0);
        }
    }
}

#endif
