#include "control/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/list.h"
#include "base/mutex.h"
#include "control/log.h"
#include "control/runner.h"
#include "router/router.h"

struct member {
    struct list link;
    const struct config_pool *pool;
    char id[CW_ID_LEN_MAX + 1];
    struct runner runner;
    struct embedded_node *node;
};

struct fleet {
    const struct config *config;
    bool is_running;
    /* Whoever walks or changes the list has it; one thread alone changes it. */
    struct mutex lock;
    struct list members;
};

static bool is_embedded(const struct config_pool *pool)
{
    return pool->engine == ENGINE_EMBEDDED;
}

static struct member *find(const struct fleet *fleet, const struct config_pool *pool,
                           const char *id)
{
    list_for_each (link, &fleet->members) {
        struct member *member = list_entry(link, struct member, link);
        if (member->pool == pool && strcmp(member->id, id) == 0)
            return member;
    }
    return NULL;
}

/* ---- folders --------------------------------------------------------------------------------- */

static int make_folder(const char *path, char *ret_message, size_t size)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return 0;
    int error = errno;
    snprintf(ret_message, size,
             "cannot make the folder %.800s: %s; make it, or name another with --data-dir", path,
             strerror(error));
    return -error;
}

/* The folder of a node; those above it are made. */
static int make_folders(const struct config *config, const char *pool, const char *id,
                        char *ret_path, size_t path_size, char *ret_message, size_t size)
{
    int status = make_folder(config->data_dir, ret_message, size);
    if (status < 0)
        return status;
    snprintf(ret_path, path_size, "%s/%s", config->data_dir, pool);
    status = make_folder(ret_path, ret_message, size);
    snprintf(ret_path, path_size, "%s/%s/%s", config->data_dir, pool, id);
    return status;
}

/* ---- one node -------------------------------------------------------------------------------- */

static int open_node(struct member *member, const struct config *config, char *ret_message,
                     size_t message_size)
{
    char path[4096], listen[IO_ADDRESS_LEN_MAX];
    const struct config_pool *pool = member->pool;
    int status = make_folders(config, pool->name, member->id, path, sizeof path, ret_message,
                              message_size);
    if (status < 0)
        return status;
    snprintf(listen, sizeof listen, "inproc:%s/%s", pool->name, member->id);
    struct embedded_node_options options = {
        .id = member->id,
        .listen = listen,
        .data_dir = path,
        .durability = (enum durability)pool->durability,
        .size_max = (uint64_t)pool->size_max,
        .limits = {.arg_count_max = (uint32_t)config->limits.arguments,
                   .arg_len_max = (uint32_t)config->limits.value,
                   .inline_len_max = (uint32_t)config->limits.inline_len,
                   .request_len_max = (size_t)config->limits.request},
    };
    status = runner_init(&member->runner);
    if (status < 0) {
        snprintf(ret_message, message_size, "node %s: %s", member->id, strerror(-status));
        return status;
    }
    return embedded_node_create(member->runner.loop, &options, &member->node, ret_message,
                                message_size);
}

static int start_node(struct member *member)
{
    char name[16];
    snprintf(name, sizeof name, "node %.10s", member->id);
    return runner_start(&member->runner, name);
}

static void destroy_member(struct member *member)
{
    runner_stop(&member->runner);
    if (member->node)
        embedded_node_destroy(&member->node);
    runner_release(&member->runner);
    free(member);
}

int fleet_node_begin(struct fleet *fleet, uint32_t pool, const struct cw_node *node,
                     char *ret_message, size_t message_size)
{
    const struct config_pool *config_pool = &fleet->config->pools[pool];
    if (!is_embedded(config_pool) || find(fleet, config_pool, node->id))
        return 0;
    struct member *member = calloc(1, sizeof *member);
    if (!member) {
        snprintf(ret_message, message_size, "out of memory");
        return -ENOMEM;
    }
    member->pool = config_pool;
    snprintf(member->id, sizeof member->id, "%s", node->id);
    int status = open_node(member, fleet->config, ret_message, message_size);
    if (status == 0 && fleet->is_running && (status = start_node(member)) < 0)
        snprintf(ret_message, message_size, "node %s: cannot start a thread: %s", member->id,
                 strerror(-status));
    if (status < 0) {
        destroy_member(member);
        return status;
    }
    mutex_lock(&fleet->lock);
    list_push_back(&fleet->members, &member->link);
    mutex_unlock(&fleet->lock);
    return 0;
}

void fleet_node_end(struct fleet *fleet, uint32_t pool, const char *id)
{
    const struct config_pool *config_pool = &fleet->config->pools[pool];
    struct member *member = find(fleet, config_pool, id);
    if (!member)
        return;
    mutex_lock(&fleet->lock);
    list_remove(&member->link);
    mutex_unlock(&fleet->lock);
    log_event(LEVEL_INFO,
              "event=node_ended pool=%s node=%s message=\"its data stay in %.600s/%s/%s until "
              "somebody removes them\"",
              config_pool->name, member->id, fleet->config->data_dir, config_pool->name,
              member->id);
    destroy_member(member);
}

/* ---- all nodes ------------------------------------------------------------------------------- */

static int open_map(struct fleet *fleet, uint32_t pool, const struct cw_map *map, char *ret_message)
{
    int status = 0;
    for (uint32_t i = 0; status == 0 && i < cw_map_node_count(map); i++)
        status = fleet_node_begin(fleet, pool, cw_map_node(map, i), ret_message,
                                  FLEET_MESSAGE_SIZE);
    return status;
}

int fleet_create(const struct config *config, struct cw_map *const *maps, struct fleet **ret_fleet,
                 char ret_message[static FLEET_MESSAGE_SIZE])
{
    int status = 0;
    struct fleet *fleet = calloc(1, sizeof *fleet);
    if (!fleet) {
        snprintf(ret_message, FLEET_MESSAGE_SIZE, "out of memory");
        return -ENOMEM;
    }
    fleet->config = config;
    mutex_init(&fleet->lock);
    list_init(&fleet->members);
    for (uint32_t i = 0; status == 0 && i < config->pool_count; i++)
        status = open_map(fleet, i, maps ? maps[i] : config->pools[i].map, ret_message);
    if (status < 0)
        fleet_destroy(&fleet);
    else
        *ret_fleet = fleet;
    return status;
}

int fleet_start(struct fleet *fleet)
{
    fleet->is_running = true;
    list_for_each (link, &fleet->members) {
        int status = start_node(list_entry(link, struct member, link));
        if (status < 0)
            return status;
    }
    return 0;
}

void fleet_destroy(struct fleet **fleet)
{
    if (!*fleet)
        return;
    list_for_each (link, &(*fleet)->members)
        runner_stop(&list_entry(link, struct member, link)->runner);
    list_for_each (link, &(*fleet)->members) {
        list_remove(link);
        destroy_member(list_entry(link, struct member, link));
    }
    mutex_fini(&(*fleet)->lock);
    free(*fleet);
    *fleet = NULL;
}

void fleet_read_stats(const struct fleet *fleet, fleet_visit visit, void *context)
{
    struct mutex *lock = (struct mutex *)(uintptr_t)&fleet->lock;
    mutex_lock(lock);
    list_for_each (link, &fleet->members) {
        const struct member *member = list_entry(link, struct member, link);
        struct embedded_node_stats stats;
        embedded_node_read_stats(member->node, &stats);
        visit(context, member->pool->name, member->id, &stats);
    }
    mutex_unlock(lock);
}
