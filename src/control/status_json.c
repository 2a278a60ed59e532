#include "control/status_json.h"

#include <jansson.h>
#include <stdlib.h>

#include "control/change_json.h"
#include "control/version.h"

static const char *engine_name(const struct config_pool *pool)
{
    return pool->engine == ENGINE_EMBEDDED ? "embedded" : "redis";
}

static json_t *number(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static bool print(json_t *root, struct buffer *out)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    bool ok = text && buffer_append_text(out, text) && buffer_append_text(out, "\n");
    free(text);
    json_decref(root);
    return ok;
}

/* ---- status ---------------------------------------------------------------------------------- */

static json_t *store_object(const struct embedded_node_stats *store)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "keys", number(store->key_count),
                     "used_bytes", number(store->used_bytes), "size_max", number(store->size_max),
                     "commands", number(store->commands), "commits", number(store->commits),
                     "expired_keys", number(store->expired_keys), "write_errors",
                     number(store->write_errors));
}

static json_t *node_object(const struct snapshot_pool *pool, uint32_t index)
{
    const struct cw_node *node = cw_map_node(pool->map, index);
    const struct snapshot_node *seen = &pool->nodes[index];
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:o, s:f, s:f, s:s, s:o, s:o}", "id", node->id, "address", node->address,
        "zone", node->zone, "weight", number(node->weight), "share", cw_map_share(pool->map, index),
        "ideal_share", cw_map_ideal_share(pool->map, index), "health",
        snapshot_health_name(snapshot_health(seen)), "workers_up", number(seen->workers_up),
        "workers_down", number(seen->workers_down));
    json_t *traffic = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "requests",
                                number(seen->requests), "errors", number(seen->errors), "timeouts",
                                number(seen->timeouts), "in_flight", number(seen->in_flight),
                                "reconnects", number(seen->reconnects), "bytes_out",
                                number(seen->bytes_out), "bytes_in", number(seen->bytes_in));
    if (object && traffic)
        json_object_update(object, traffic);
    json_decref(traffic);
    if (object && seen->is_embedded)
        json_object_set_new(object, "store", store_object(&seen->store));
    return object;
}

static json_t *latency_object(const struct histogram *latency)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "count", number(latency->count), "p50",
                     number(histogram_percentile(latency, 0.5)), "p99",
                     number(histogram_percentile(latency, 0.99)), "p999",
                     number(histogram_percentile(latency, 0.999)), "max", number(latency->max));
}

/* The transition that runs or ran last, and how often a node came back without its data. */
static void add_changes(json_t *object, const char *pool, struct mover *mover, uint32_t index)
{
    struct mover_report report;
    struct mover_loss loss;
    if (mover_read(mover, index, &report)) {
        json_object_set_new(object, "transition", change_transition_json(pool, &report));
        mover_report_release(&report);
    }
    mover_read_loss(mover, index, &loss);
    json_object_set_new(object, "losses",
                        json_pack("{s:o, s:o, s:o}", "count", number(loss.count), "seen_ms",
                                  number(loss.seen_ms), "node", change_any_text(loss.node)));
}

static json_t *pool_object(const struct snapshot_pool *pool, struct mover *mover, uint32_t index)
{
    json_t *nodes = json_array();
    for (uint32_t i = 0; i < cw_map_node_count(pool->map); i++)
        json_array_append_new(nodes, node_object(pool, i));
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "name", pool->config->name, "listen",
        pool->config->listen, "engine", engine_name(pool->config), "placement",
        cw_map_placement_name(pool->map), "generation", number(cw_map_generation(pool->map)),
        "workers_at_generation", number(pool->workers_at_map), "latency_us",
        latency_object(&pool->latency), "nodes", nodes);
    if (object && mover)
        add_changes(object, pool->config->name, mover, index);
    return object;
}

static json_t *worker_object(const struct worker_report *report)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "clients", number(report->clients),
        "clients_blocked", number(report->blocked_clients), "clients_total",
        number(report->clients_total), "clients_refused", number(report->clients_refused),
        "requests", number(report->requests), "errors", number(report->errors), "split_requests",
        number(report->split_requests), "refused_commands", number(report->refused_commands),
        "bytes_in", number(report->bytes_in), "bytes_out", number(report->bytes_out));
}

bool status_print_json(const struct snapshot *snapshot, double uptime_seconds, struct mover *mover,
                       struct buffer *out)
{
    json_t *pools = json_array(), *workers = json_array();
    for (size_t i = 0; i < snapshot->pool_count; i++)
        json_array_append_new(pools, pool_object(&snapshot->pools[i], mover, (uint32_t)i));
    for (uint32_t i = 0; i < snapshot->worker_count; i++)
        json_array_append_new(workers, worker_object(&snapshot->workers[i]));
    return print(json_pack("{s:s, s:f, s:o, s:o, s:o}", "version", CLOCKWISE_VERSION,
                           "uptime_seconds", uptime_seconds, "total",
                           worker_object(&snapshot->total), "workers", workers, "pools", pools),
                 out);
}

/* ---- pools ----------------------------------------------------------------------------------- */

bool pools_print_json(const struct config *config, struct router *router, struct buffer *out)
{
    json_t *pools = json_array();
    for (size_t i = 0; i < config->pool_count; i++) {
        const struct config_pool *pool = &config->pools[i];
        struct cw_map *map = router_map(router, (uint32_t)i);
        json_array_append_new(pools, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", pool->name,
                                               "listen", pool->listen, "engine", engine_name(pool),
                                               "placement", cw_map_placement_name(map),
                                               "generation", number(cw_map_generation(map)),
                                               "nodes", number(cw_map_node_count(map))));
        cw_map_unref(&map);
    }
    return print(json_pack("{s:o}", "pools", pools), out);
}
