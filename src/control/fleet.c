#include "control/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "control/runner.h"
#include "router/router.h"

struct member {
    const char *pool, *id; /* the configuration's */
    struct runner runner;
    struct embedded_node *node;
};

struct fleet {
    size_t count;
    struct member members[];
};

static bool is_embedded(const struct config_pool *pool)
{
    return pool->engine == ENGINE_EMBEDDED;
}

static int make_folder(const char *path, char *ret_message)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    int error = errno;
    snprintf(ret_message, FLEET_MESSAGE_SIZE,
             "cannot make the folder %.800s: %s; make it, or name another with --data-dir", path,
             strerror(error));
    return -error;
}

/* The folder of a node; those above it are made. */
static int make_folders(const struct config *config, const struct config_pool *pool, const char *id,
                        char *ret_path, size_t size, char *ret_message)
{
    int status = make_folder(config->data_dir, ret_message);
    if (status < 0)
        return status;
    snprintf(ret_path, size, "%s/%s", config->data_dir, pool->name);
    status = make_folder(ret_path, ret_message);
    snprintf(ret_path, size, "%s/%s/%s", config->data_dir, pool->name, id);
    return status;
}

static int open_member(struct member *member, const struct config *config,
                       const struct config_pool *pool, const char *id, char *ret_message)
{
    char path[4096], listen[IO_ADDRESS_LEN_MAX];
    int status = make_folders(config, pool, id, path, sizeof path, ret_message);
    if (status < 0)
        return status;
    snprintf(listen, sizeof listen, "inproc:%s/%s", pool->name, id);
    struct embedded_node_options options = {
        .id = id,
        .listen = listen,
        .data_dir = path,
        .durability = (enum durability)pool->durability,
        .size_max = (uint64_t)pool->size_max,
        .limits = {.arg_count_max = (uint32_t)config->limits.arguments,
                   .arg_len_max = (uint32_t)config->limits.value,
                   .inline_len_max = (uint32_t)config->limits.inline_len,
                   .request_len_max = (size_t)config->limits.request},
    };
    member->pool = pool->name;
    member->id = id;
    status = runner_init(&member->runner);
    if (status < 0) {
        snprintf(ret_message, FLEET_MESSAGE_SIZE, "node %s: %s", id, strerror(-status));
        return status;
    }
    return embedded_node_create(member->runner.loop, &options, &member->node, ret_message,
                                FLEET_MESSAGE_SIZE);
}

static int open_members(struct fleet *fleet, const struct config *config, char *ret_message)
{
    for (size_t i = 0; i < config->pool_count; i++) {
        const struct config_pool *pool = &config->pools[i];
        for (size_t j = 0; is_embedded(pool) && j < pool->node_count; j++) {
            int status = open_member(&fleet->members[fleet->count++], config, pool,
                                     pool->nodes[j].id, ret_message);
            if (status < 0)
                return status;
        }
    }
    return 0;
}

int fleet_create(const struct config *config, struct fleet **ret_fleet,
                 char ret_message[static FLEET_MESSAGE_SIZE])
{
    size_t count = 0;
    for (size_t i = 0; i < config->pool_count; i++)
        count += is_embedded(&config->pools[i]) ? config->pools[i].node_count : 0;
    struct fleet *fleet = calloc(1, sizeof *fleet + count * sizeof fleet->members[0]);
    if (!fleet) {
        snprintf(ret_message, FLEET_MESSAGE_SIZE, "out of memory");
        return -ENOMEM;
    }
    int status = open_members(fleet, config, ret_message);
    if (status < 0) {
        fleet_destroy(&fleet);
        return status;
    }
    *ret_fleet = fleet;
    return 0;
}

int fleet_start(struct fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "node %.10s", fleet->members[i].id);
        int status = runner_start(&fleet->members[i].runner, name);
        if (status < 0)
            return status;
    }
    return 0;
}

void fleet_destroy(struct fleet **fleet)
{
    if (!*fleet)
        return;
    for (size_t i = 0; i < (*fleet)->count; i++)
        runner_stop(&(*fleet)->members[i].runner);
    for (size_t i = 0; i < (*fleet)->count; i++) {
        struct member *member = &(*fleet)->members[i];
        if (member->node)
            embedded_node_destroy(&member->node);
        runner_release(&member->runner);
    }
    free(*fleet);
    *fleet = NULL;
}

size_t fleet_count(const struct fleet *fleet)
{
    return fleet->count;
}

void fleet_read_stats(const struct fleet *fleet, size_t index, const char **ret_pool,
                      const char **ret_id, struct embedded_node_stats *ret_stats)
{
    const struct member *member = &fleet->members[index];
    *ret_pool = member->pool;
    *ret_id = member->id;
    embedded_node_read_stats(member->node, ret_stats);
}
