/*
 * In the order of dependence: what is looked at before, the embedded nodes, the workers that use
 * them (made), the admin address that asks the workers, the workers (started).
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
#include "control/preflight.h"
#include "control/table.h"
#include "control/version.h"
#include "control/address_check.h"
#include "router/router.h"

struct serving {
    const struct config *config;
    struct fleet *fleet;
    struct crew *crew;
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

static int start_fleet(struct serving *serving)
{
    int status = fleet_create(serving->config, &serving->fleet, serving->message);
    if (status < 0)
        return status;
    status = fleet_start(serving->fleet);
    return status < 0 ? fail(serving, status, "cannot start a thread") : 0;
}

/* Binds every pool's address; nobody is answered before the crew starts. */
static int make_crew(struct serving *serving)
{
    struct router_options options;
    char address[IO_ADDRESS_LEN_MAX] = "";
    int status = config_to_router(serving->config, &options);
    if (status < 0)
        return fail(serving, status, "cannot start");
    options.version = CLOCKWISE_VERSION;
    options.log = log_line;
    status = crew_create(&options, &serving->crew, address);
    free((void *)(uintptr_t)options.pools);
    if (status < 0 && address[0])
        preflight_explain_listen(address, status, "listen", serving->message, SERVE_MESSAGE_SIZE);
    else if (status < 0)
        return fail(serving, status, "cannot make the workers");
    return status;
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
    };
    if (strcmp(config->admin, "off") == 0)
        return 0;
    if (!address_is_loopback(config->admin))
        log_event(LEVEL_WARN,
                  "event=admin_open address=%s message=\"whoever reaches this address can read "
                  "status and maps; it has no password\"",
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
        status = start_fleet(serving);
    if (status == 0)
        status = make_crew(serving);
    if (status == 0)
        status = start_admin(serving);
    if (status == 0)
        status = start_crew(serving);
    return status;
}

/* The admin address first, for it asks the workers; the nodes last, for the workers use them. */
static void stop(struct serving *serving)
{
    admin_stop(serving->admin);
    crew_destroy(&serving->crew);
    fleet_destroy(&serving->fleet);
    admin_destroy(&serving->admin);
}

/* ---- running --------------------------------------------------------------------------------- */

static void print_banner(const struct serving *serving)
{
    const struct config *config = serving->config;
    const char **listen = calloc(config->pool_count, sizeof *listen);
    struct buffer out = BUFFER_INIT;
    if (!listen)
        return;
    for (size_t i = 0; i < config->pool_count; i++)
        listen[i] = crew_listen_address(serving->crew, (uint32_t)i);
    banner_print(config, listen, serving->admin ? admin_address(serving->admin) : NULL,
                 table_wants_color(STDOUT_FILENO), &out);
    fwrite(buffer_bytes(&out), 1, out.len, stdout);
    fflush(stdout);
    buffer_release(&out);
    free(listen);
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
