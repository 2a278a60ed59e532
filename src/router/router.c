/*
 * The router: its description, the newest map of each pool, and the two ways to reach the workers
 * from outside, both by posts to their loops: a new map for all, and a visit to one after the
 * other.
 */
#include "router/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- making -----------------------------------------------------------------------------------
 */

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

static bool copy_pool(struct pool_settings *to, const struct pool_settings *from)
{
    *to = *from;
    to->map = NULL;
    to->name = copy_text(from->name);
    to->listen = copy_text(from->listen);
    to->username = copy_text(from->username);
    to->password = copy_text(from->password);
    to->client_password = copy_text(from->client_password);
    return to->name && to->listen && !(from->username && !to->username) &&
           !(from->password && !to->password) && !(from->client_password && !to->client_password);
}

static void free_text(const char *text)
{
    free((void *)(uintptr_t)text);
}

static void free_pools(struct router *router)
{
    const struct pool_settings *pools = router->options.pools;
    for (uint32_t i = 0; pools && i < router->options.pool_count; i++) {
        free_text(pools[i].name);
        free_text(pools[i].listen);
        free_text(pools[i].username);
        free_text(pools[i].password);
        free_text(pools[i].client_password);
        if (router->maps)
            cw_map_unref(&router->maps[i]);
    }
    free((void *)(uintptr_t)pools);
}

int router_create(const struct router_options *options, struct router **ret_router)
{
    struct router *router = calloc(1, sizeof *router);
    if (!router)
        return -ENOMEM;
    mutex_init(&router->lock);
    router->options = *options;
    router->options.version = copy_text(options->version);
    struct pool_settings *pools = calloc(options->pool_count, sizeof *pools);
    router->options.pools = pools;
    router->maps = calloc(options->pool_count, sizeof(struct cw_map *));
    router->workers = calloc(options->worker_count, sizeof(struct worker *));
    bool fine = pools && router->maps && router->workers && router->options.version;
    for (uint32_t i = 0; fine && i < options->pool_count; i++) {
        router->maps[i] = cw_map_ref(options->pools[i].map);
        fine = copy_pool(&pools[i], &options->pools[i]);
    }
    if (!fine) {
        router_destroy(&router);
        return -ENOMEM;
    }
    *ret_router = router;
    return 0;
}

void router_destroy(struct router **router_ptr)
{
    struct router *router = *router_ptr;
    *router_ptr = NULL;
    if (!router)
        return;
    free_pools(router);
    free_text(router->options.version);
    free(router->maps);
    free(router->workers);
    mutex_fini(&router->lock);
    free(router);
}

/* ---- maps -------------------------------------------------------------------------------------
 */

struct cw_map *router_map(struct router *router, uint32_t pool)
{
    mutex_lock(&router->lock);
    struct cw_map *map = cw_map_ref(router->maps[pool]);
    mutex_unlock(&router->lock);
    return map;
}

struct map_change {
    struct worker *worker;
    struct cw_map *map;
    uint32_t pool;
};

static void swap_map(void *context)
{
    struct map_change *change = context;
    /* Posts are kept in order, so the last map that was set is the last that is swapped in. */
    if (pool_set_map(&change->worker->pools[change->pool], change->map) < 0)
        worker_log(change->worker, 3, "event=map_not_taken reason=\"out of memory\"");
    cw_map_unref(&change->map);
    free(change);
}

int router_set_map(struct router *router, uint32_t pool, struct cw_map *map)
{
    int error = 0;
    mutex_lock(&router->lock);
    struct cw_map *old = router->maps[pool];
    router->maps[pool] = cw_map_ref(map);
    cw_map_unref(&old);
    for (uint32_t i = 0; i < router->options.worker_count && error == 0; i++) {
        struct map_change *change = malloc(sizeof *change);
        if (!change) {
            error = -ENOMEM;
            break;
        }
        *change = (struct map_change){router->workers[i], cw_map_ref(map), pool};
        error = io_post(router->workers[i]->loop, swap_map, change);
        if (error < 0) {
            cw_map_unref(&change->map);
            free(change);
        }
    }
    mutex_unlock(&router->lock);
    return error;
}

/* ---- visits -----------------------------------------------------------------------------------
 */

struct visit {
    struct router *router;
    worker_visit visit;
    io_callback done;
    void *context;
    uint32_t next;
};

static void visit_next(void *context)
{
    struct visit *visit = context;
    struct router *router = visit->router;
    visit->visit(router->workers[visit->next], visit->context);
    visit->next++;
    if (visit->next < router->options.worker_count &&
        io_post(router->workers[visit->next]->loop, visit_next, visit) == 0)
        return;
    visit->done(visit->context);
    free(visit);
}

int router_visit(struct router *router, worker_visit visit_worker, io_callback done, void *context)
{
    struct visit *visit = malloc(sizeof *visit);
    if (!visit)
        return -ENOMEM;
    *visit = (struct visit){router, visit_worker, done, context, 0};
    int error = io_post(router->workers[0]->loop, visit_next, visit);
    if (error < 0)
        free(visit);
    return error;
}
