/*
 * A worker: one loop with its listeners, clients and connections to the nodes. It shares nothing
 * with the other workers; a new map and questions from outside come as posts between two turns.
 */
#include "router/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void worker_log(const struct worker *worker, int level, const char *format, ...)
{
    char line[512];
    va_list args;
    if (!worker->router->options.log)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    worker->router->options.log(level, line);
}

uint32_t *worker_numbers(uint32_t **numbers, uint32_t *capacity, uint32_t count)
{
    if (count <= *capacity)
        return *numbers;
    uint32_t *more = realloc(*numbers, count * sizeof *more);
    if (!more)
        return NULL;
    *numbers = more;
    *capacity = count;
    return more;
}

/* ---- turns and ticks --------------------------------------------------------------------------
 */

/* What is flushed may make room for requests that were read before: they are taken up at once, for
 * no event may come to do it later. Ends, because nothing new is read here. */
static void on_turn_end(void *context)
{
    struct worker *worker = context;
    do {
        while (!list_is_empty(&worker->resumable))
            client_resume(list_entry(worker->resumable.next, struct client, resumable));
        while (!list_is_empty(&worker->dirty_links))
            link_flush(list_entry(worker->dirty_links.next, struct link, dirty));
        while (!list_is_empty(&worker->dirty_clients))
            client_flush(list_entry(worker->dirty_clients.next, struct client, dirty));
    } while (!list_is_empty(&worker->resumable) || !list_is_empty(&worker->dirty_links));
    while (!list_is_empty(&worker->dead_clients))
        client_free(list_entry(worker->dead_clients.next, struct client, in_worker));
}

/* Closes clients that began something and did not go on. */
static void close_stuck(struct worker *worker)
{
    uint64_t now = io_now_ms(worker->loop), limit = worker->limits->half_request_ms;
    while (!list_is_empty(&worker->partial)) {
        struct client *client = list_entry(worker->partial.next, struct client, partial);
        if (now < client->partial_since_ms + limit)
            return;
        worker_log(
            worker, 1,
            "event=client_closed client=%llu reason=\"owed the rest of a request, or the taking "
            "of its last replies, for over limits.half_request (%llu ms)\"",
            (unsigned long long)client->id, (unsigned long long)limit);
        client_close(client);
    }
}

static void close_idle(struct worker *worker)
{
    uint64_t now = io_now_ms(worker->loop), limit = worker->limits->idle_ms;
    list_for_each (entry, &worker->clients) {
        struct client *client = list_entry(entry, struct client, in_worker);
        if (limit && now >= client->last_ms + limit && !client->first && !client->waits &&
            list_is_empty(&client->in_held))
            client_close(client);
    }
}

/* Whether the worker itself came late. What nodes have sent meanwhile is not read yet, so nobody
 * may be judged by the time that has passed. A few times in a row; it may be busy all the time. */
static bool was_held_up(struct worker *worker)
{
    bool is_late = io_now_ms(worker->loop) >= worker->tick_due_ms + TICK_LATE_MS;
    worker->late_ticks = is_late && worker->late_ticks < TICKS_LATE_MAX ? worker->late_ticks + 1
                                                                        : 0;
    return worker->late_ticks;
}

static void on_tick(void *context)
{
    struct worker *worker = context;
    bool is_running = !list_is_empty(&worker->partial);
    worker->ticking = false;
    if (was_held_up(worker)) {
        worker_need_tick(worker);
        return;
    }
    close_stuck(worker);
    if (worker->limits->idle_ms) {
        close_idle(worker);
        is_running |= !list_is_empty(&worker->clients);
    }
    for (uint32_t i = 0; i < worker->router->options.pool_count; i++)
        is_running |= pool_tick(&worker->pools[i]);
    if (is_running)
        worker_need_tick(worker);
}

void worker_need_tick(struct worker *worker)
{
    if (worker->ticking)
        return;
    worker->ticking = true;
    worker->tick_due_ms = io_now_ms(worker->loop) + TICK_MS;
    io_timer_start(worker->tick, TICK_MS);
}

/* ---- making and ending ------------------------------------------------------------------------
 */

static int pool_start(struct worker *worker, uint32_t index, char *ret_address)
{
    struct pool *pool = &worker->pools[index];
    struct era *era = &worker->router->states[index]->eras[worker->index];
    pool->worker = worker;
    pool->index = index;
    pool->settings = &worker->router->options.pools[index];
    list_init(&pool->eras);
    list_init(&pool->held);
    list_init(&pool->blocked);
    list_init(&pool->woken);
    list_init(&pool->retired);
    pool->latency = calloc(1, sizeof *pool->latency);
    int error = pool->latency ? pool_set_state(pool, &era->state->what) : -ENOMEM;
    if (error == 0) {
        era_begin(pool, era);
        error = io_listen(worker->loop, pool->settings->listen, client_accept, pool,
                          &pool->listener);
    }
    if (error < 0)
        snprintf(ret_address, IO_ADDRESS_LEN_MAX, "%s", pool->settings->listen);
    return error;
}

static void init_lists(struct worker *worker)
{
    list_init(&worker->clients);
    list_init(&worker->dead_clients);
    list_init(&worker->dirty_clients);
    list_init(&worker->dirty_links);
    list_init(&worker->resumable);
    list_init(&worker->partial);
}

int worker_create(struct router *router, uint32_t index, struct io_loop *loop,
                  struct worker **ret_worker, char ret_address[static IO_ADDRESS_LEN_MAX])
{
    struct worker *worker = calloc(1, sizeof *worker);
    ret_address[0] = '\0';
    if (!worker)
        return -ENOMEM;
    worker->router = router;
    worker->limits = &router->options.limits;
    worker->index = index;
    worker->loop = loop;
    worker->random.state = io_wall_ms(loop) + index;
    init_lists(worker);
    worker->intake = malloc(INTAKE_SIZE);
    worker->pools = calloc(router->options.pool_count, sizeof *worker->pools);
    int error = worker->intake && worker->pools
                    ? io_timer_create(loop, on_tick, worker, &worker->tick)
                    : -ENOMEM;
    for (uint32_t i = 0; error == 0 && i < router->options.pool_count; i++)
        error = pool_start(worker, i, ret_address);
    if (error < 0) {
        worker_destroy(&worker);
        return error;
    }
    io_on_turn_end(loop, on_turn_end, worker);
    router->workers[index] = worker;
    *ret_worker = worker;
    return 0;
}

static void free_requests(struct worker *worker)
{
    struct request *next;
    for (struct request *request = worker->free_requests; request; request = next) {
        next = request->next;
        buffer_release(&request->reply);
        free(request);
    }
}

void worker_destroy(struct worker **worker_ptr)
{
    struct worker *worker = *worker_ptr;
    *worker_ptr = NULL;
    if (!worker)
        return;
    if (worker->router->workers[worker->index] == worker)
        worker->router->workers[worker->index] = NULL;
    while (!list_is_empty(&worker->clients))
        client_close(list_entry(worker->clients.next, struct client, in_worker));
    while (!list_is_empty(&worker->dead_clients))
        client_free(list_entry(worker->dead_clients.next, struct client, in_worker));
    for (uint32_t i = 0; worker->pools && i < worker->router->options.pool_count; i++)
        if (worker->pools[i].worker)
            pool_release(&worker->pools[i]);
    io_timer_destroy(&worker->tick);
    io_on_turn_end(worker->loop, NULL, NULL);
    free_requests(worker);
    free(worker->pools);
    free(worker->intake);
    free(worker->owners);
    free(worker->part_of_node);
    free(worker->first_key);
    free(worker->next_key);
    buffer_release(&worker->members);
    free(worker);
}

/* ---- what it knows ----------------------------------------------------------------------------
 */

const char *worker_listen_address(const struct worker *worker, uint32_t pool)
{
    return io_listener_address(worker->pools[pool].listener);
}

void worker_read_report(const struct worker *worker, struct worker_report *ret_report)
{
    *ret_report = worker->report;
}

uint32_t worker_index(const struct worker *worker)
{
    return worker->index;
}

uint32_t worker_node_count(const struct worker *worker, uint32_t pool)
{
    return worker->pools[pool].node_count;
}

void worker_read_node(const struct worker *worker, uint32_t pool, uint32_t number,
                      struct node_report *ret_report)
{
    const struct node *node = worker->pools[pool].nodes[number];
    *ret_report = (struct node_report){
        .id = node->id,
        .address = node->address,
        .health = node->health,
        .requests = node->requests,
        .errors = node->errors,
        .timeouts = node->timeouts,
        .in_flight = node_in_flight(node),
        .reconnects = node->reconnects,
        .bytes_out = node->bytes_out,
        .bytes_in = node->bytes_in,
        .last_answer_ms = node->last_answer_ms,
    };
}

uint64_t worker_map_generation(const struct worker *worker, uint32_t pool)
{
    return cw_map_generation(worker->pools[pool].map);
}

const struct histogram *worker_latency(const struct worker *worker, uint32_t pool)
{
    return worker->pools[pool].latency;
}
