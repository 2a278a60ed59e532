/*
 * Transitions under faults from a seed: a router of several workers whose clients count what was
 * acknowledged, while nodes join, leave, change their weights and addresses, and while the router
 * is killed, nodes crash and stop, connections are cut, commands come late, dirty sets are lost,
 * disks are full, and people pause and cancel. Afterwards every transition must have ended, every
 * counted write must be there, deleted keys must be gone, and every key must stand on its owner
 * alone.
 *
 * CW_SIM_SEEDS says how many seeds, CW_SIM_FIRST the first, CW_SIM_LOG=1 shows what happens.
 *
 * covers: move/transition, move/transition_steps, move/transition_switch, move/transition_jobs
 * covers: move/transition_open, move/transition_record, move/transition_workers, move/mover
 * covers: move/transition_big, move/transition_plan, move/mover_copy, move/mover_observe
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "move/counting_client.h"

enum { CLIENTS = 3, COLD_KEYS = 240, ALL_NODES = 6, FIRST_NODES = 3, STEPS_MAX = 300 };

struct run_options {
    uint64_t seed;
    bool with_faults;
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
    FAULT_COUNT,
};

struct run {
    struct world world;
    struct move_client clients[CLIENTS];
    struct random random;
    const struct run_options *options;
    bool is_down[ALL_NODES], is_stopped[ALL_NODES];
    int lagging; /* a worker's number, or -1 */
    uint32_t changes, kills, crashes, cancels;
    bool is_router_down;
    char wrong[400];
};

struct result {
    uint64_t checked, writes, errors, changes, kills, crashes, cancels, trace;
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

static void crash(struct run *run, uint32_t node)
{
    /* What a serving node loses is lost; here it is asked whether the mover loses anything. */
    memory_node_crash(run->world.fixture.nodes[node],
                      is_serving(run, node) ? MEMORY_KEPT : MEMORY_LOST);
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

static void fault(struct run *run)
{
    uint32_t node = (uint32_t)random_below(&run->random, ALL_NODES);
    struct memory_node *memory = run->world.fixture.nodes[node];
    if (run->is_down[node] || run->is_stopped[node]) {
        if (chance(run, 500))
            mend(run, node);
        return;
    }
    static const char *const writes[] = {"INCR", "RPUSH", "HINCRBY", "SET"};
    int favoured = run->options->favoured;
    int fault = favoured >= 0 && chance(run, 500) ? favoured
                                                  : (int)random_below(&run->random, FAULT_COUNT);
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
        memory_node_delay(memory, writes[random_below(&run->random, 4)], 1,
                          10 + random_below(&run->random, 300), false);
        break;
    case FAULT_PAUSE: tell(run, chance(run, 700) ? MOVER_PAUSE : MOVER_THROTTLE); break;
    case FAULT_CANCEL:
        tell(run, MOVER_CANCEL);
        run->cancels++;
        break;
    case FAULT_COUNT: break;
    }
}

/* ---- checking -------------------------------------------------------------------------------- */

static int64_t value_of(const struct memory_item *item, enum move_key_kind kind)
{
    int64_t number = -1;
    struct slice text;
    if (kind == MOVE_LIST)
        return (int64_t)memory_value_len(&item->value);
    if (kind == MOVE_HASH) {
        struct memory_item *field = memory_dict_find(&item->value.members,
                                                     (struct slice){"field", 5});
        text = field ? memory_slice(field->value.text) : (struct slice){"", 0};
    } else {
        text = memory_slice(item->value.text);
    }
    resp_parse_integer(text, &number);
    return number;
}

/* A key that somebody knows the value of: on its owner, and nowhere else. */
static void check_key(struct run *run, const char *name, enum move_key_kind kind, int64_t value,
                      uint64_t expire_ms)
{
    const struct cw_map *map = world_map(&run->world);
    const struct cw_node *owner = cw_map_node(map, cw_locate_key(map, name, strlen(name)));
    for (uint32_t i = 0; i < ALL_NODES; i++) {
        struct memory_item *item = memory_node_find(run->world.fixture.nodes[i], name);
        bool is_owner = strcmp(fixture_address(i), owner->address) == 0;
        if (!is_owner && item)
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

static void check_all(struct run *run)
{
    char name[48];
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

/* ---- a run ----------------------------------------------------------------------------------- */

static void heal(struct run *run)
{
    struct io_sim_options calm = {
        .delay_min_us = 5, .delay_max_us = 500, .split_permille = 100, .window_bytes = 4096};
    for (uint32_t i = 0; i < ALL_NODES; i++) {
        mend(run, i);
        memory_node_delay(run->world.fixture.nodes[i], "", 0, 0, false);
    }
    run->world.store.full_permille = run->world.store.late_error_permille = 0;
    io_sim_set(&calm);
    end_lag(run);
    revive_router(run);
    tell(run, MOVER_RESUME);
}

static void wait_for_end(struct run *run)
{
    for (int i = 0; i < 600 && world_is_moving(&run->world); i++) {
        io_sim_run(100, NULL);
        if (i == 300)
            tell(run, MOVER_CANCEL);
        if (i % 50 == 49) /* begun anew too often: a person looks, and goes on */
            tell(run, MOVER_RESUME);
    }
    if (world_is_moving(&run->world))
        wrong(run, "the transition does not end: %s, %s",
              transition_state_name(run->world.store.record->transition->state),
              run->world.store.record->transition->note);
}

static void play(struct run *run)
{
    for (uint32_t change = 0; change < 3; change++) {
        io_sim_run(20 + random_below(&run->random, 100), NULL);
        start_change(run);
        for (uint32_t step = 0; step < STEPS_MAX; step++) {
            io_sim_run(1 + random_below(&run->random, 12), NULL);
            if (run->is_router_down && chance(run, 300))
                revive_router(run);
            else if (run->lagging >= 0 && chance(run, 200))
                end_lag(run);
            else if (run->options->with_faults && !run->is_router_down && chance(run, 200))
                fault(run);
            if (step > 20 && !world_is_moving(&run->world))
                break;
        }
        heal(run);
        wait_for_end(run);
    }
}

static struct result play_seed(const struct run_options *options)
{
    struct run *run = calloc(1, sizeof *run);
    struct result result = {0};
    CW_ASSERT(run);
    run->options = options;
    run->lagging = -1;
    run->random.state = options->seed ^ 0xfeed;
    struct io_sim_options sim = {.seed = options->seed,
                                 .delay_min_us = 5,
                                 .delay_max_us = 2000,
                                 .split_permille = 200,
                                 .cut_per_million = options->with_faults ? 100 : 0,
                                 .window_bytes = 4096};
    world_begin(&run->world, &sim, ALL_NODES, FIRST_NODES,
                1 + (uint32_t)random_below(&run->random, 3));
    run->world.mover_options.left_out = options->left_out;
    if (options->with_faults && chance(run, 300)) {
        run->world.store.full_permille = 30;
        run->world.store.late_error_permille = 30;
    }
    put_cold_keys(run);
    world_start_router(&run->world);
    for (uint32_t i = 0; i < CLIENTS; i++)
        move_client_init(&run->clients[i], i, options->seed);
    play(run);
    for (uint32_t i = 0; i < CLIENTS; i++)
        run->clients[i].is_stopped = true;
    io_sim_run(3000, NULL);
    check_all(run);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        result.checked += run->clients[i].checked;
        result.writes += run->clients[i].writes;
        result.errors += run->clients[i].errors;
        move_client_fini(&run->clients[i]);
    }
    result.changes = run->changes;
    result.kills = run->kills;
    result.crashes = run->crashes;
    result.cancels = run->cancels;
    memcpy(result.states, run->world.store.states, sizeof result.states);
    memcpy(result.wrong, run->wrong, sizeof result.wrong);
    result.trace = io_sim_trace();
    world_end(&run->world);
    free(run);
    return result;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void nothing_is_lost_under_faults(void **state)
{
    uint64_t first = number_from("CW_SIM_FIRST", 1), count = number_from("CW_SIM_SEEDS", 60);
    struct result sum = {0};
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct result result = play_seed(
            &(struct run_options){.seed = seed, .with_faults = true, .favoured = -1});
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, result.wrong);
        sum.checked += result.checked;
        sum.writes += result.writes;
        sum.errors += result.errors;
        sum.changes += result.changes;
        sum.kills += result.kills;
        sum.crashes += result.crashes;
        sum.cancels += result.cancels;
        for (int i = 0; i < TRANSITION_STATE_COUNT; i++)
            sum.states[i] |= result.states[i];
    }
    print_message("%" PRIu64 " seeds: %" PRIu64 " replies checked, %" PRIu64 " counted writes, "
                  "%" PRIu64 " errors, %" PRIu64 " changes, %" PRIu64 " router kills, %" PRIu64
                  " node crashes, %" PRIu64 " cancels\n",
                  count, sum.checked, sum.writes, sum.errors, sum.changes, sum.kills, sum.crashes,
                  sum.cancels);
    for (int i = 0; i < TRANSITION_STATE_COUNT && count >= 20; i++)
        assert_true(sum.states[i]);
}

static void without_faults_no_request_fails(void **state)
{
    (void)state;
    for (uint64_t seed = 1000; seed < 1010; seed++) {
        struct result result = play_seed(&(struct run_options){.seed = seed});
        if (result.wrong[0])
            fail_msg("seed %" PRIu64 ": %s", seed, result.wrong);
        assert_int_equal(result.errors, 0);
        assert_true(result.states[TRANSITION_SWITCHED]);
    }
}

static void the_same_seed_gives_the_same_run(void **state)
{
    (void)state;
    struct run_options options = {.seed = 5, .with_faults = true, .favoured = -1};
    assert_int_equal(play_seed(&options).trace, play_seed(&options).trace);
}

/* The first seed in which the checker finds something wrong; 0: none of them. */
static uint64_t first_found(unsigned left_out, enum fault favoured)
{
    uint64_t count = number_from("CW_SIM_CONTROL_SEEDS", 1000);
    for (uint64_t seed = 1; seed <= count; seed++) {
        struct run_options options = {
            .seed = seed, .with_faults = true, .left_out = left_out, .favoured = (int)favoured};
        struct result result = play_seed(&options);
        if (!result.wrong[0])
            continue;
        print_message("found with seed %" PRIu64 ": %s\n", seed, result.wrong);
        return seed;
    }
    return 0;
}

static void without_acknowledgement_it_is_found(void **state)
{
    (void)state;
    assert_int_not_equal(first_found(MOVER_WITHOUT_ACKNOWLEDGEMENT, FAULT_LAG), 0);
}

static void without_rotation_it_is_found(void **state)
{
    (void)state;
    assert_int_not_equal(first_found(MOVER_WITHOUT_ROTATION, FAULT_LATE_WRITE), 0);
}

static void without_killing_late_calls_it_is_found(void **state)
{
    (void)state;
    assert_int_not_equal(first_found(MOVER_WITHOUT_KILL, FAULT_LATE_RESTORE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_under_faults),
        cmocka_unit_test(without_faults_no_request_fails),
        cmocka_unit_test(the_same_seed_gives_the_same_run),
        cmocka_unit_test(without_acknowledgement_it_is_found),
        cmocka_unit_test(without_rotation_it_is_found),
        cmocka_unit_test(without_killing_late_calls_it_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
