/*
 * INFO: the answer in the form that client libraries and tools read (name:value lines in sections).
 * What is counted is this worker's; the whole router's figures are at the admin address.
 */
#include "router/local.h"

#include <inttypes.h>

/* The Redis whose behaviour the router follows where a client asks for a version. */
#define FOLLOWED_REDIS_VERSION "7.0.15"

static void write_server(const struct client *client, struct buffer *out)
{
    const struct router *router = client->worker->router;
    buffer_printf(out,
                  "# Server\r\nredis_version:" FOLLOWED_REDIS_VERSION
                  "\r\nredis_mode:standalone\r\nclockwise_version:%s\r\nmultiplexing_api:epoll\r\n"
                  "pool:%s\r\ngeneration:%" PRIu64 "\r\nworkers:%u\r\nworker:%u\r\n",
                  router->options.version, client->pool->settings->name,
                  cw_map_generation(client->pool->map), router->options.worker_count,
                  client->worker->index);
}

static void write_clients(const struct client *client, struct buffer *out)
{
    uint32_t count = __atomic_load_n(&client->worker->router->client_count, __ATOMIC_RELAXED);
    buffer_printf(
        out,
        "# Clients\r\nconnected_clients:%u\r\nmaxclients:%u\r\nblocked_clients:%" PRIu64 "\r\n",
        count, client->worker->limits->client_count_max, client->worker->report.blocked_clients);
}

static void write_stats(const struct client *client, struct buffer *out)
{
    const struct worker_report *report = &client->worker->report;
    buffer_printf(out,
                  "# Stats\r\ntotal_connections_received:%" PRIu64
                  "\r\ntotal_commands_processed:%" PRIu64 "\r\ntotal_net_input_bytes:%" PRIu64
                  "\r\ntotal_net_output_bytes:%" PRIu64 "\r\nrejected_connections:%" PRIu64
                  "\r\ntotal_error_replies:%" PRIu64 "\r\nsplit_requests:%" PRIu64 "\r\n",
                  report->clients_total, report->requests, report->bytes_in, report->bytes_out,
                  report->clients_refused, report->errors, report->split_requests);
}

static const char *health_name(enum node_health health)
{
    return health == NODE_UP ? "up" : health == NODE_PROBING ? "probing" : "down";
}

static void write_nodes(const struct client *client, struct buffer *out)
{
    const struct pool *pool = client->pool;
    buffer_printf(out, "# Nodes\r\nnodes:%u\r\n", pool->node_count);
    for (uint32_t i = 0; i < pool->node_count; i++) {
        const struct node *node = pool->nodes[i];
        buffer_printf(out,
                      "node%u:id=%s,address=%s,health=%s,share=%.4f,requests=%" PRIu64
                      ",errors=%" PRIu64 "\r\n",
                      i, node->id, node->address, health_name(node->health),
                      cw_map_share(pool->map, i), node->requests, node->errors);
    }
}

static void write_persistence(const struct client *client, struct buffer *out)
{
    buffer_append_text(out, "# Persistence\r\nloading:0\r\n"); /* what ready checks look at */
}

static void write_replication(const struct client *client, struct buffer *out)
{
    buffer_append_text(out, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
}

static const struct {
    const char *name;
    void (*write)(const struct client *client, struct buffer *out);
} sections[] = {
    {"server", write_server},           {"clients", write_clients},
    {"persistence", write_persistence}, {"stats", write_stats},
    {"replication", write_replication}, {"nodes", write_nodes},
};

static bool is_wanted(const struct parsed *parsed, const char *section)
{
    uint32_t count = parsed_arg_count(parsed);
    for (uint32_t i = 1; i < count; i++) {
        struct slice wanted = parsed_arg(parsed, i);
        if (word_is(wanted, section) || word_is(wanted, "all") || word_is(wanted, "default") ||
            word_is(wanted, "everything"))
            return true;
    }
    return count == 1;
}

void info_command(struct client *client, const struct parsed *parsed)
{
    struct buffer text = BUFFER_INIT;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (!is_wanted(parsed, sections[i].name))
            continue;
        if (text.len)
            buffer_append_text(&text, "\r\n");
        sections[i].write(client, &text);
    }
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_bulk(out, text.len ? buffer_bytes(&text) : "", text.len);
    client_replied(client);
    buffer_release(&text);
}
