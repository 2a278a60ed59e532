/*
 * The router: its description, and visits to the workers, one after the other, by posts to their
 * loops. (What all are told at once: state.c.)
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
    }
    free((void *)(uintptr_t)pools);
}

int router_create(const struct router_options *options, struct router **ret_router)
{
    struct router *router = calloc(1, sizeof *router);
    if (!router)
        return -ENOMEM;
    mutex_init(&router->lock);
    list_init(&router->visits);
    list_init(&router->all_states);
    router->options = *options;
    router->options.version = copy_text(options->version);
    struct pool_settings *pools = calloc(options->pool_count, sizeof *pools);
    router->options.pools = pools;
    router->states = calloc(options->pool_count, sizeof(struct state *));
    router->workers = calloc(options->worker_count, sizeof(struct worker *));
    bool fine = pools && router->states && router->workers && router->options.version;
    for (uint32_t i = 0; fine && i < options->pool_count; i++) {
        router->states[i] = state_create_first(router, i, options->pools[i].map);
        fine = copy_pool(&pools[i], &options->pools[i]) && router->states[i];
    }
    if (!fine) {
        router_destroy(&router);
        return -ENOMEM;
    }
    *ret_router = router;
    return 0;
}

/* Those that were under way when the loops ended. */
static void forget_visits(struct router *router);

void router_destroy(struct router **router_ptr)
{
    struct router *router = *router_ptr;
    *router_ptr = NULL;
    if (!router)
        return;
    while (!list_is_empty(&router->all_states))
        state_destroy(list_entry(router->all_states.next, struct state, in_router));
    free_pools(router);
    free_text(router->options.version);
    free(router->states);
    free(router->workers);
    forget_visits(router);
    mutex_fini(&router->lock);
    free(router);
}

/* ---- visits -----------------------------------------------------------------------------------
 */

struct visit {
    struct router *router;
    worker_visit visit;
    io_callback done;
    void *context;
    uint32_t next;
    struct list in_router; /* so that it is freed when a loop never runs again */
};

static void visit_free(struct visit *visit)
{
    struct router *router = visit->router;
    mutex_lock(&router->lock);
    list_remove(&visit->in_router);
    mutex_unlock(&router->lock);
    free(visit);
}

static void forget_visits(struct router *router)
{
    list_for_each (entry, &router->visits)
        free(list_entry(entry, struct visit, in_router));
}

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
    visit_free(visit);
}

int router_visit(struct router *router, worker_visit visit_worker, io_callback done, void *context)
{
    struct visit *visit = malloc(sizeof *visit);
    if (!visit)
        return -ENOMEM;
    *visit = (struct visit){router, visit_worker, done, context, 0, {NULL, NULL}};
    mutex_lock(&router->lock);
    list_push_back(&router->visits, &visit->in_router);
    mutex_unlock(&router->lock);
    int error = io_post(router->workers[0]->loop, visit_next, visit);
    if (error < 0)
        visit_free(visit);
    return error;
}
