#include "store/embedded_node.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/dump.h"
#include "store/node.h"
#include "store/random_hex.h"

enum {
    SWEEP_COUNT_MAX = 200,     /* records in one transaction; between two, requests are served */
    SWEEP_DELAY_MAX_MS = 1000, /* the wall clock may be set: look again */
    SYNC_INTERVAL_MS = 1000,
};

static const size_t REPLY_LEN_MAX_DEFAULT = (size_t)64 << 20;
/* What a reply needs around the longest value. */
enum { REPLY_FRAME_LEN = 64 };

/* ---- statistics ------------------------------------------------------------------------------ */

static void set(_Atomic uint64_t *to, uint64_t number)
{
    atomic_store_explicit(to, number, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

static void publish_stats(struct embedded_node *node)
{
    const struct engine *engine = &node->engine;
    const struct keyspace *keyspace = &engine->keyspace;
    uint64_t sync_errors = node->sync_thread ? sync_thread_errors(node->sync_thread) : 0;
    set(&node->stats.key_count, keyspace->usage.key_count);
    set(&node->stats.used_bytes, keyspace->usage.used_bytes);
    set(&node->stats.commands, engine->commands);
    set(&node->stats.commits, keyspace->commits);
    set(&node->stats.expired_keys, engine->expired_keys);
    set(&node->stats.write_errors, engine->write_errors + sync_errors);
}

void embedded_node_read_stats(const struct embedded_node *node,
                              struct embedded_node_stats *ret_stats)
{
    *ret_stats = (struct embedded_node_stats){
        .key_count = get(&node->stats.key_count),
        .used_bytes = get(&node->stats.used_bytes),
        .size_max = node->engine.keyspace.usage.size_max,
        .commands = get(&node->stats.commands),
        .commits = get(&node->stats.commits),
        .expired_keys = get(&node->stats.expired_keys),
        .write_errors = get(&node->stats.write_errors),
    };
}

/* ---- timers ---------------------------------------------------------------------------------- */

/* Sets the sweep for when the next record expires, or at once if some are over already. */
static void arm_sweep(struct embedded_node *node)
{
    uint64_t next_ms = node->engine.keyspace.usage.next_expiry_ms, now_ms = io_wall_ms(node->loop);
    if (next_ms == node->sweep_armed_ms)
        return;
    node->sweep_armed_ms = next_ms;
    if (next_ms == UINT64_MAX) {
        io_timer_stop(node->sweep_timer);
        return;
    }
    uint64_t delay_ms = next_ms < now_ms ? 1 : next_ms - now_ms + 1;
    io_timer_start(node->sweep_timer,
                   delay_ms < SWEEP_DELAY_MAX_MS ? delay_ms : SWEEP_DELAY_MAX_MS);
}

static void sync_later(struct embedded_node *node)
{
    if (node->is_sync_due || node->durability != DURABILITY_EVERYSEC)
        return;
    node->is_sync_due = true;
    io_timer_start(node->sync_timer, SYNC_INTERVAL_MS);
}

/* After whatever may have committed. */
static void after_commits(struct embedded_node *node, uint64_t commits_before)
{
    if (node->engine.keyspace.commits != commits_before) {
        sync_later(node);
        arm_sweep(node);
    }
    publish_stats(node);
}

static void on_sweep(void *context)
{
    struct embedded_node *node = context;
    struct keyspace *keyspace = &node->engine.keyspace;
    uint64_t commits = keyspace->commits;
    keyspace->now_ms = io_wall_ms(node->loop);
    node->sweep_armed_ms = UINT64_MAX;
    if (keyspace->usage.next_expiry_ms < keyspace->now_ms) {
        int count = keyspace_sweep(keyspace, SWEEP_COUNT_MAX);
        if (count < 0) {
            node->engine.write_errors++;
            io_timer_start(node->sweep_timer, SWEEP_DELAY_MAX_MS);
            return;
        }
        node->engine.expired_keys += (uint64_t)count;
    }
    arm_sweep(node);
    after_commits(node, commits);
}

static void on_sync(void *context)
{
    struct embedded_node *node = context;
    node->is_sync_due = false;
    if (node->sync_thread)
        sync_thread_ask(node->sync_thread);
    else if (node->store->ops->sync(node->store) != 0)
        node->engine.write_errors++;
}

static void on_turn_end(void *context)
{
    struct embedded_node *node = context;
    do {
        uint64_t commits = node->engine.keyspace.commits;
        if (!list_is_empty(&node->ready)) {
            node_run_batches(node);
            after_commits(node, commits);
        }
        node_send_all(node);
    } while (!list_is_empty(&node->ready));
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static int complain(char *message, size_t size, int error, const char *id, const char *what,
                    const char *remedy)
{
    snprintf(message, size, "node '%s' cannot %s: %s; %s", id, what, strerror(-error), remedy);
    return error;
}

static int open_store(struct embedded_node *node, const struct embedded_node_options *options,
                      char *message, size_t size)
{
    const struct store_options store_options = {
        .name = options->id,
        .data_dir = options->data_dir,
        .is_durable = options->durability == DURABILITY_ALWAYS,
        .size_max = options->size_max,
        .seed = options->seed,
    };
    int error = store_lmdb_open(&store_options, &node->store, message, size);
    if (error)
        return error;
    int status = keyspace_init(&node->engine.keyspace, node->store, io_wall_ms(node->loop));
    if (status < 0) {
        snprintf(message, size, "%s", node->store->ops->explain(node->store, status));
        return -EIO;
    }
    return 0;
}

static int start_timers(struct embedded_node *node, const struct embedded_node_options *options)
{
    int error = io_timer_create(node->loop, on_sweep, node, &node->sweep_timer);
    if (error == 0)
        error = io_timer_create(node->loop, on_sync, node, &node->sync_timer);
    if (error == 0 && options->durability == DURABILITY_EVERYSEC && !options->sync_on_loop)
        error = sync_thread_create(node->store, &node->sync_thread);
    return error;
}

static int start(struct embedded_node *node, const struct embedded_node_options *options,
                 char *message, size_t size)
{
    char what[IO_ADDRESS_LEN_MAX + 16];
    int error = open_store(node, options, message, size);
    if (error)
        return error;
    error = start_timers(node, options);
    if (error)
        return complain(message, size, error, options->id, "start", "free some memory");
    snprintf(what, sizeof what, "listen on %s", options->listen);
    error = io_listen(node->loop, options->listen, node_accept, node, &node->listener);
    if (error)
        return complain(message, size, error, options->id, what,
                        "stop what uses the address, or set another");
    io_on_turn_end(node->loop, on_turn_end, node);
    arm_sweep(node);
    publish_stats(node);
    return 0;
}

/* The parser's bounds: what DUMP gives for the longest value must come in again. */
static struct resp_limits widen(struct resp_limits limits)
{
    if (limits.arg_len_max <= UINT32_MAX - DUMP_OVERHEAD_LEN &&
        limits.request_len_max <= UINT32_MAX - DUMP_OVERHEAD_LEN) {
        limits.arg_len_max += DUMP_OVERHEAD_LEN;
        limits.request_len_max += DUMP_OVERHEAD_LEN;
    }
    return limits;
}

static struct embedded_node *make_node(struct io_loop *loop,
                                       const struct embedded_node_options *options)
{
    struct embedded_node *node = calloc(1, sizeof *node);
    size_t value_len_max = options->limits.arg_len_max;
    if (!node)
        return NULL;
    node->loop = loop;
    node->limits = widen(options->limits);
    node->durability = options->durability;
    node->sweep_armed_ms = UINT64_MAX;
    node->engine.kill = node_kill_conn;
    node->engine.kill_context = node;
    random_hex(options->seed, RUN_ID_LEN, node->engine.run_id);
    node->engine.value_len_max = value_len_max;
    node->engine.reply_len_max = options->reply_len_max ? options->reply_len_max
                                                        : REPLY_LEN_MAX_DEFAULT;
    if (node->engine.reply_len_max < value_len_max + REPLY_FRAME_LEN)
        node->engine.reply_len_max = value_len_max + REPLY_FRAME_LEN;
    list_init(&node->conns);
    list_init(&node->ready);
    list_init(&node->unsent);
    node->id = strdup(options->id);
    node->engine.id = node->id;
    if (node->id)
        return node;
    free(node);
    return NULL;
}

int embedded_node_create(struct io_loop *loop, const struct embedded_node_options *options,
                         struct embedded_node **ret_node, char *ret_message, size_t message_size)
{
    struct embedded_node *node = make_node(loop, options);
    if (!node)
        return complain(ret_message, message_size, -ENOMEM, options->id, "start",
                        "free some memory");
    int error = start(node, options, ret_message, message_size);
    if (error)
        embedded_node_destroy(&node);
    else
        *ret_node = node;
    return error;
}

void embedded_node_destroy(struct embedded_node **node)
{
    struct embedded_node *gone = *node;
    if (!gone)
        return;
    if (gone->listener) {
        io_on_turn_end(gone->loop, NULL, NULL);
        io_listener_close(&gone->listener);
    }
    list_for_each (link, &gone->conns)
        conn_close(list_entry(link, struct conn, link));
    io_timer_destroy(&gone->sweep_timer);
    io_timer_destroy(&gone->sync_timer);
    sync_thread_destroy(&gone->sync_thread);
    if (gone->engine.keyspace.store)
        keyspace_fini(&gone->engine.keyspace);
    buffer_release(&gone->engine.listed);
    marks_release(&gone->engine.marks);
    store_close(&gone->store);
    free(gone->id);
    free(gone);
    *node = NULL;
}
