#include "control/preflight.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "io/io.h"
#include "router/router.h"

/* Loops, their wake-ups, files of the stores, the admin address and a reserve for the rest. */
enum { FILES_OF_A_LOOP = 8, FILES_OF_A_NODE = 8, FILES_BESIDES = 128 };

void preflight_explain_listen(const char *address, int error, const char *key, char *ret_message,
                              size_t message_size)
{
    const char *remedy = error == -EADDRINUSE ? "; stop what listens there, or change "
                         : error == -EACCES   ? "; take a port above 1023: change "
                                              : "; change ";
    snprintf(ret_message, message_size, "cannot listen on %s: %s%s%s", address,
             error == -EADDRINUSE ? "the address is in use" : strerror(-error), remedy, key);
}

int preflight_addresses(const struct config *config, char *ret_message, size_t message_size)
{
    for (size_t i = 0; i < config->pool_count; i++) {
        char key[128];
        int error = io_address_is_free(config->pools[i].listen);
        snprintf(key, sizeof key, "pools.%s.listen (or --listen)", config->pools[i].name);
        if (error < 0) {
            preflight_explain_listen(config->pools[i].listen, error, key, ret_message,
                                     message_size);
            return error;
        }
    }
    if (strcmp(config->admin, "off") == 0)
        return 0;
    int error = io_address_is_free(config->admin);
    if (error < 0)
        preflight_explain_listen(config->admin, error, "admin (or --admin)", ret_message,
                                 message_size);
    return error;
}

static rlim_t files_needed(const struct config *config)
{
    rlim_t workers = config_worker_count(config), links = 0, embedded = 0;
    for (size_t i = 0; i < config->pool_count; i++) {
        const struct config_pool *pool = &config->pools[i];
        bool is_embedded = pool->engine == ENGINE_EMBEDDED;
        rlim_t ends = is_embedded ? 2 : 1; /* both ends of a connection are ours */
        links += pool->node_count * (rlim_t)pool->connections * ends;
        embedded += is_embedded ? pool->node_count : 0;
    }
    return (rlim_t)config->limits.clients + workers * (links + FILES_OF_A_LOOP) +
           embedded * FILES_OF_A_NODE + FILES_BESIDES;
}

int preflight_files(const struct config *config, char *ret_message, size_t message_size)
{
    struct rlimit limit;
    rlim_t needed = files_needed(config);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
        return 0;
    rlim_t hard = limit.rlim_max;
    limit.rlim_cur = hard < needed ? hard : needed;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && hard >= needed)
        return 0;
    snprintf(ret_message, message_size,
             "limits.clients %lld needs %llu open files and only %llu are allowed; raise the limit "
             "(ulimit -n, LimitNOFILE=) or lower limits.clients",
             (long long)config->limits.clients, (unsigned long long)needed,
             (unsigned long long)limit.rlim_cur);
    return -1;
}
