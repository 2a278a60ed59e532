#include "control/stored_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/address_check.h"
#include "control/log.h"
#include "control/map_difference.h"
#include "control/map_store_file.h"
#include "router/router.h"

static const char *engine_name(const struct config_pool *pool)
{
    return pool->engine == ENGINE_EMBEDDED ? "embedded" : "redis";
}

static int out_of_memory(char *ret_problem)
{
    snprintf(ret_problem, MAP_PROBLEM_SIZE, "out of memory");
    return -ENOMEM;
}

/* ---- whether a record suits its pool ----------------------------------------------------------
 */

static bool is_address_of(const struct config_pool *pool, const struct cw_node *node)
{
    char expected[IO_ADDRESS_LEN_MAX], ignored[200];
    if (pool->engine != ENGINE_EMBEDDED)
        return address_check(node->address, ignored, sizeof ignored);
    snprintf(expected, sizeof expected, "inproc:%s/%s", pool->name, node->id);
    return strcmp(node->address, expected) == 0;
}

static int check_addresses(const struct config_pool *pool, const struct cw_map *map,
                           const char *folder, char *ret_problem)
{
    for (uint32_t i = 0; i < cw_map_node_count(map); i++) {
        const struct cw_node *node = cw_map_node(map, i);
        if (is_address_of(pool, node))
            continue;
        snprintf(ret_problem, MAP_PROBLEM_SIZE,
                 "map store %.400s: %s.json: node '%s' has the address '%.100s', which is none; "
                 "put the newest good copy back",
                 folder, pool->name, node->id, node->address);
        return -EINVAL;
    }
    return 0;
}

static int check_record(const struct config_pool *pool, const struct map_record *record,
                        const char *folder, char *ret_problem)
{
    const struct transition_info *info = record->transition;
    if (strcmp(record->engine, engine_name(pool)) != 0) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE,
                 "pool '%s': engine is %s in the configuration and %s in the stored map "
                 "(%.400s/%s.json), and a pool never changes it; give the pool another name, or "
                 "the engine that it had",
                 pool->name, engine_name(pool), record->engine, folder, pool->name);
        return -EINVAL;
    }
    int status = check_addresses(pool, record->map, folder, ret_problem);
    if (status == 0 && info)
        status = check_addresses(pool, info->from, folder, ret_problem);
    if (status == 0 && info)
        status = check_addresses(pool, info->to, folder, ret_problem);
    return status;
}

/* ---- taking -----------------------------------------------------------------------------------
 */

/* The first record of a pool, stored at once. */
static int make_first(struct stored_maps *maps, const struct config_pool *pool, size_t index,
                      char *ret_problem)
{
    struct map_record first = {.map = pool->map, .next_transition = 1, .engine = engine_name(pool)};
    struct map_record *record = map_record_copy(&first);
    if (!record)
        return out_of_memory(ret_problem);
    int status = map_store_file_put_now(maps->store, pool->name, record, ret_problem);
    record->revision = 1;
    maps->records[index] = record;
    return status;
}

/* What the configuration is compared with: where a transition under way leads. */
static const struct cw_map *aim_of(const struct map_record *record)
{
    const struct transition_info *info = record->transition;
    return info ? info->state == TRANSITION_ABORTING ? info->from : info->to : record->map;
}

static int take(struct stored_maps *maps, const struct config_pool *pool, size_t index,
                bool has_file, char *ret_problem)
{
    struct map_record **record = &maps->records[index];
    const char *folder = map_store_file_folder(maps->store)->path;
    int status = maps->store->ops->load(maps->store, pool->name, record, ret_problem,
                                        MAP_PROBLEM_SIZE);
    if (status == -ENOENT)
        return make_first(maps, pool, index, ret_problem);
    if (status == 0)
        status = check_record(pool, *record, folder, ret_problem);
    if (status < 0)
        return status;
    maps->maps[index] = (*record)->map;
    /* Without a file nobody wishes anything: the nodes that serve begins with are only a start. */
    if (has_file)
        map_difference(pool->map, aim_of(*record), &maps->differences[index]);
    if (maps->differences[index].len)
        buffer_append(&maps->differences[index], "", 1);
    return 0;
}

static int open_store(const struct config *config, struct io_loop *loop, struct stored_maps *maps,
                      char *ret_problem)
{
    bool is_off;
    char *folder = config_map_folder(config, &is_off);
    if (is_off)
        return 0;
    int status = folder ? map_store_file_open(folder, loop, &maps->store, ret_problem)
                        : out_of_memory(ret_problem);
    free(folder);
    return status;
}

int stored_maps_open(const struct config *config, struct io_loop *loop,
                     struct stored_maps *ret_maps, char ret_problem[static MAP_PROBLEM_SIZE])
{
    struct stored_maps *maps = ret_maps;
    *maps = (struct stored_maps){.pool_count = config->pool_count};
    maps->records = calloc(config->pool_count, sizeof *maps->records);
    maps->maps = calloc(config->pool_count, sizeof *maps->maps);
    maps->differences = calloc(config->pool_count, sizeof *maps->differences);
    if (!maps->records || !maps->maps || !maps->differences)
        return out_of_memory(ret_problem);
    int status = open_store(config, loop, maps, ret_problem);
    for (size_t i = 0; i < config->pool_count && status == 0; i++) {
        maps->maps[i] = config->pools[i].map;
        if (maps->store)
            status = take(maps, &config->pools[i], i, config->path != NULL, ret_problem);
    }
    return status;
}

void stored_maps_close(struct stored_maps *maps)
{
    if (maps->store)
        maps->store->ops->close(maps->store);
    for (size_t i = 0; i < maps->pool_count; i++) {
        if (maps->records)
            map_record_destroy(&maps->records[i]);
        if (maps->differences)
            buffer_release(&maps->differences[i]);
    }
    free(maps->records);
    free(maps->maps);
    free(maps->differences);
    *maps = (struct stored_maps){0};
}

void stored_maps_warn(const struct stored_maps *maps, const struct config *config)
{
    for (size_t i = 0; i < maps->pool_count; i++)
        if (maps->differences[i].len)
            log_event(LEVEL_WARN,
                      "event=map_differs pool=%s generation=%" PRIu64
                      " message=\"the configuration is not what the stored map is, which is used: "
                      "%.700s; `clockwise apply %.500s` makes the map like the file\"",
                      config->pools[i].name, cw_map_generation(maps->maps[i]),
                      buffer_bytes(&maps->differences[i]), config->path);
}
