/*
 * In the order of dependence: what is looked at before, the stored maps, the embedded nodes, the
 * workers that use them (made), the mover that tells the workers what to do, the admin address that
 * asks both, the workers (started).
 */
#include "control/serve.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/admin.h"
#include "control/banner.h"
#include "control/crew.h"
#include "control/fleet.h"
#include "control/log.h"
#include "control/map_store_file.h"
#include "control/preflight.h"
#include "control/runner.h"
#include "control/stored_maps.h"
#include "control/table.h"
#include "control/version.h"
#include "control/address_check.h"
#include "move/mover.h"
#include "router/router.h"

struct serving {
    const struct config *config;
    struct runner runner; /* the mover's, and of what the map store answers */
    struct stored_maps maps;
    struct fleet *fleet;
    struct router_options options;
    struct crew *crew;
    struct mover *mover;
    struct admin *admin; /* NULL: off */
    char *message;
};

static int fail(struct serving *serving, int error, const char *what)
{
    snprintf(serving->message, SERVE_MESSAGE_SIZE, "%s: %s", what, strerror(-error));
    return error;
}

/* ---- starting -------------------------------------------------------------------------------- */

static void look_at_files(const struct config *config)
{
    char message[400];
    if (preflight_files(config, message, sizeof message) < 0)
        log_event(LEVEL_WARN, "event=few_files message=\"%s\"", message);
}

/* Commands of modules are known in every pool: a name that stands in two of them is one command. */
static int declare_commands(struct serving *serving)
{
    for (size_t i = 0; i < serving->config->pool_count; i++) {
        const struct config_pool *pool = &serving->config->pools[i];
        for (size_t j = 0; j < pool->command_count; j++) {
            const struct config_command *command = &pool->commands[j];
            if (command_find(command->name, strlen(command->name)))
                continue;
            if (!command_declare(command->name, (int16_t)command->arity, (int8_t)command->first_key,
                                 (int8_t)command->last_key, (int8_t)command->step,
                                 command->write)) {
                snprintf(serving->message, SERVE_MESSAGE_SIZE,
                         "pools.%s.commands: %s cannot be declared: more than 256 commands",
                         pool->name, command->name);
                return -ENOSPC;
            }
        }
    }
    return 0;
}

static int open_maps(struct serving *serving)
{
    int status = runner_init(&serving->runner);
    if (status < 0)
        return fail(serving, status, "cannot make a loop");
    status = stored_maps_open(serving->config, serving->runner.loop, &serving->maps,
                              serving->message);
    if (status == 0)
        stored_maps_warn(&serving->maps, serving->config);
    return status;
}

/* A transition under way needs the nodes of its other map too. */
static int add_nodes_of_transitions(struct serving *serving)
{
    int status = 0;
    for (uint32_t i = 0; i < serving->maps.pool_count; i++) {
        const struct map_record *record = serving->maps.records[i];
        const struct transition_info *info = record ? record->transition : NULL;
        const struct cw_map *maps[] = {info ? info->from : NULL, info ? info->to : NULL};
        for (size_t j = 0; info && j < 2; j++)
            for (uint32_t k = 0; status == 0 && k < cw_map_node_count(maps[j]); k++)
                status = fleet_node_begin(serving->fleet, i, cw_map_node(maps[j], k),
                                          serving->message, SERVE_MESSAGE_SIZE);
    }
    return status;
}

static int start_fleet(struct serving *serving)
{
    int status = fleet_create(serving->config, serving->maps.maps, &serving->fleet,
                              serving->message);
    if (status == 0)
        status = add_nodes_of_transitions(serving);
    if (status < 0)
        return status;
    status = fleet_start(serving->fleet);
    return status < 0 ? fail(serving, status, "cannot start a thread") : 0;
}

/* The router's settings, with the stored maps. */
static int make_options(struct serving *serving)
{
    struct router_options *options = &serving->options;
    int status = config_to_router(serving->config, options);
    if (status < 0)
        return fail(serving, status, "cannot start");
    struct pool_settings *pools = (struct pool_settings *)(uintptr_t)options->pools;
    for (uint32_t i = 0; i < options->pool_count; i++)
        pools[i].map = serving->maps.maps[i];
    options->version = CLOCKWISE_VERSION;
    options->log = log_line;
    return 0;
}

/* Binds every pool's address; nobody is answered before the crew starts. */
static int make_crew(struct serving *serving)
{
    char address[IO_ADDRESS_LEN_MAX] = "";
    int status = make_options(serving);
    if (status < 0)
        return status;
    status = crew_create(&serving->options, &serving->crew, address);
    if (status < 0 && address[0])
        preflight_explain_listen(address, status, "listen", serving->message, SERVE_MESSAGE_SIZE);
    else if (status < 0)
        return fail(serving, status, "cannot make the workers");
    return status;
}

static int begin_node(void *context, uint32_t pool, const struct cw_node *node, char *ret_problem,
                      size_t problem_size)
{
    return fleet_node_begin(context, pool, node, ret_problem, problem_size);
}

static void end_node(void *context, uint32_t pool, const char *node_id)
{
    fleet_node_end(context, pool, node_id);
}

static int start_mover(struct serving *serving)
{
    const struct config_move *move = &serving->config->move;
    struct mover_options options = {
        .router = crew_router(serving->crew),
        .loop = serving->runner.loop,
        .store = serving->maps.store,
        .pools = serving->options.pools,
        .pool_count = serving->options.pool_count,
        .transitions_max = (uint32_t)move->transitions,
        .throttle = {.keys_per_second = (uint64_t)move->keys_per_second,
                     .bytes_per_second = (uint64_t)move->bytes_per_second},
        .in_flight_bytes = (uint64_t)move->in_flight,
        .log = log_line,
        .node_begin = begin_node,
        .node_end = end_node,
        .context = serving->fleet,
    };
    int status = mover_create(&options, serving->maps.records, &serving->mover);
    if (status < 0)
        return fail(serving, status, "cannot make the mover");
    status = runner_start(&serving->runner, "mover");
    return status < 0 ? fail(serving, status, "cannot start a thread") : 0;
}

static int start_crew(struct serving *serving)
{
    int status = crew_start(serving->crew);
    return status < 0 ? fail(serving, status, "cannot start a thread") : 0;
}

static int start_admin(struct serving *serving)
{
    const struct config *config = serving->config;
    struct admin_options options = {
        .address = config->admin,
        .config = config,
        .router = crew_router(serving->crew),
        .fleet = serving->fleet,
        .worker_count = config_worker_count(config),
        .mover = serving->mover,
        .journals = serving->maps.store ? map_store_file_folder(serving->maps.store) : NULL,
    };
    if (strcmp(config->admin, "off") == 0)
        return 0;
    if (!address_is_loopback(config->admin))
        log_event(LEVEL_WARN,
                  "event=admin_open address=%s message=\"whoever reaches this address can read "
                  "status and maps and change the fleet; it has no password\"",
                  config->admin);
    int status = admin_create(&options, &serving->admin);
    if (status < 0)
        preflight_explain_listen(config->admin, status, "admin", serving->message,
                                 SERVE_MESSAGE_SIZE);
    return status;
}

/* The workers last: whoever gets an answer from a pool finds all of the router there. */
static int start(struct serving *serving)
{
    look_at_files(serving->config);
    int status = preflight_addresses(serving->config, serving->message, SERVE_MESSAGE_SIZE);
    if (status == 0)
        status = declare_commands(serving);
    if (status == 0)
        status = open_maps(serving);
    if (status == 0)
        status = start_fleet(serving);
    if (status == 0)
        status = make_crew(serving);
    if (status == 0)
        status = start_mover(serving);
    if (status == 0)
        status = start_admin(serving);
    if (status == 0)
        status = start_crew(serving);
    return status;
}

/* The admin address first, for it asks the others; then the mover's thread, so that nothing is
 * begun any more; the workers before the mover, whose counters and callbacks they have; the nodes
 * last, for all of these use them. */
static void stop(struct serving *serving)
{
    admin_stop(serving->admin);
    runner_stop(&serving->runner);
    crew_destroy(&serving->crew);
    if (serving->mover)
        mover_destroy(&serving->mover);
    stored_maps_close(&serving->maps);
    runner_release(&serving->runner);
    fleet_destroy(&serving->fleet);
    admin_destroy(&serving->admin);
    free((void *)(uintptr_t)serving->options.pools);
}

/* ---- running --------------------------------------------------------------------------------- */

static void print_banner(const struct serving *serving)
{
    const struct config *config = serving->config;
    struct banner_pool *pools = calloc(config->pool_count, sizeof *pools);
    struct buffer out = BUFFER_INIT;
    if (!pools)
        return;
    for (size_t i = 0; i < config->pool_count; i++)
        pools[i] = (struct banner_pool){
            crew_listen_address(serving->crew, (uint32_t)i), serving->maps.maps[i],
            serving->maps.differences[i].len ? buffer_bytes(&serving->maps.differences[i]) : NULL};
    banner_print(config, pools, serving->admin ? admin_address(serving->admin) : NULL,
                 table_wants_color(STDOUT_FILENO), &out);
    fwrite(buffer_bytes(&out), 1, out.len, stdout);
    fflush(stdout);
    buffer_release(&out);
    free(pools);
}

/* Signals are waited for here; all threads that are made after this have them blocked. */
static void block_signals(sigset_t *ret_signals)
{
    sigemptyset(ret_signals);
    sigaddset(ret_signals, SIGINT);
    sigaddset(ret_signals, SIGTERM);
    sigaddset(ret_signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to report (ulimit -f) */
}

static void wait_for_signal(const sigset_t *signals)
{
    int number = 0;
    while (sigwait(signals, &number) != 0)
        ;
    log_event(LEVEL_INFO, "event=stopping signal=%s", strsignal(number));
    /* Whoever asks a second time does not want to wait: the default is to end at once. */
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

int serve_run(const struct config *config, char ret_message[static SERVE_MESSAGE_SIZE])
{
    sigset_t signals;
    struct serving serving = {.config = config, .message = ret_message};
    log_set_level((int)config->log_level);
    block_signals(&signals);
    int status = start(&serving);
    if (status == 0) {
        log_event(LEVEL_INFO, "event=started version=" CLOCKWISE_VERSION " workers=%u pools=%zu",
                  (unsigned)config_worker_count(config), config->pool_count);
        print_banner(&serving);
        wait_for_signal(&signals);
    }
    stop(&serving);
    if (status == 0)
        log_event(LEVEL_INFO, "event=stopped");
    else
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    return status;
}
