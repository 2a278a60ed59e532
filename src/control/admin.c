#include "control/admin.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "control/metrics.h"
#include "control/status_json.h"
#include "control/version.h"
#include "io/socket.h"

enum {
    CONNECTIONS_MAX = 64,
    CONNECTION_TIMEOUT_SECONDS = 15,
    CONNECTION_MEMORY = 32 << 10,
    WORKERS_TIMEOUT_MS = 3000,
};

struct admin {
    struct admin_options options;
    struct monitor *monitor;
    struct MHD_Daemon *daemon;
    struct timespec started;
    int socket; /* the daemon's, once there is one */
    char address[IO_ADDRESS_LEN_MAX];
};

/* What a page answers: a text, and how it went. */
struct answer {
    unsigned code;
    const char *type;
    struct buffer body;
};

static const char type_text[] = "text/plain; charset=utf-8";
static const char type_json[] = "application/json";

static void say(struct answer *answer, unsigned code, const char *text)
{
    answer->code = code;
    answer->type = type_text;
    buffer_clear(&answer->body);
    buffer_printf(&answer->body, "%s\n", text);
}

static double uptime_seconds(const struct admin *admin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - admin->started.tv_sec) +
           (double)(now.tv_nsec - admin->started.tv_nsec) / 1e9;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void page_index(struct admin *admin, struct answer *answer)
{
    say(answer, MHD_HTTP_OK,
        "clockwise " CLOCKWISE_VERSION "\n\n"
        "/healthz              ok while the workers come round\n"
        "/metrics              Prometheus\n"
        "/v1/status            everything, JSON\n"
        "/v1/pools             the pools, JSON\n"
        "/v1/pools/NAME/map    the canonical text of a pool's newest map");
}

/* NULL after an answer was given. */
static struct snapshot *ask_workers(struct admin *admin, struct answer *answer)
{
    struct snapshot *snapshot = NULL;
    int status = monitor_read(admin->monitor, WORKERS_TIMEOUT_MS, &snapshot);
    if (status == -ETIMEDOUT)
        say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "a worker does not come round");
    else if (status < 0)
        say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    return snapshot;
}

static void page_health(struct admin *admin, struct answer *answer)
{
    struct snapshot *snapshot = ask_workers(admin, answer);
    if (snapshot)
        say(answer, MHD_HTTP_OK, "ok");
    snapshot_destroy(&snapshot);
}

static void page_metrics(struct admin *admin, struct answer *answer)
{
    struct snapshot *snapshot = ask_workers(admin, answer);
    struct metrics_router router = {uptime_seconds(admin), admin->options.worker_count};
    if (!snapshot)
        return;
    answer->type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_print(snapshot, &router, &answer->body);
    snapshot_destroy(&snapshot);
}

static void page_status(struct admin *admin, struct answer *answer)
{
    struct snapshot *snapshot = ask_workers(admin, answer);
    if (!snapshot)
        return;
    if (!status_print_json(snapshot, uptime_seconds(admin), &answer->body))
        say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    snapshot_destroy(&snapshot);
}

static void page_pools(struct admin *admin, struct answer *answer)
{
    if (!pools_print_json(admin->options.config, admin->options.router, &answer->body))
        say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
}

static void print_map(struct cw_map *map, struct answer *answer)
{
    char *text = NULL;
    size_t len = 0;
    if (cw_map_to_text(map, &text, &len) != CW_OK || !buffer_append(&answer->body, text, len))
        say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    free(text);
}

/* "/v1/pools/NAME/map" */
static void page_map(struct admin *admin, const char *url, struct answer *answer)
{
    const struct config *config = admin->options.config;
    const char *name = url + strlen("/v1/pools/"), *end = strchr(name, '/');
    for (size_t i = 0; end && strcmp(end, "/map") == 0 && i < config->pool_count; i++)
        if (strlen(config->pools[i].name) == (size_t)(end - name) &&
            memcmp(config->pools[i].name, name, (size_t)(end - name)) == 0) {
            struct cw_map *map = router_map(admin->options.router, (uint32_t)i);
            print_map(map, answer);
            cw_map_unref(&map);
            return;
        }
    say(answer, MHD_HTTP_NOT_FOUND, "no such pool; /v1/pools lists them");
}

static void answer_page(struct admin *admin, const char *url, struct answer *answer)
{
    static const struct {
        const char *url, *type;
        void (*page)(struct admin *admin, struct answer *answer);
    } pages[] = {
        {"/", type_text, page_index},          {"/healthz", type_text, page_health},
        {"/metrics", type_text, page_metrics}, {"/v1/status", type_json, page_status},
        {"/v1/pools", type_json, page_pools},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].url, url) == 0) {
            answer->type = pages[i].type;
            pages[i].page(admin, answer);
            return;
        }
    answer->type = type_json;
    if (strncmp(url, "/v1/pools/", strlen("/v1/pools/")) == 0)
        page_map(admin, url, answer);
    else
        say(answer, MHD_HTTP_NOT_FOUND, "no such page; / lists them");
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.len, buffer_bytes(&answer->body), MHD_RESPMEM_MUST_COPY);
    buffer_release(&answer->body);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (answer->code == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(connection, answer->code, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **request)
{
    static int was_seen;
    struct answer answer = {MHD_HTTP_OK, type_text, BUFFER_INIT};
    /* The first call has only the head; answering to the second keeps the connection open. */
    if (!*request) {
        *request = &was_seen;
        return MHD_YES;
    }
    if (*upload_size) {
        *upload_size = 0;
        return MHD_YES;
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        say(&answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET");
    else
        answer_page(context, url, &answer);
    return send_answer(connection, &answer);
}

static int start_daemon(struct admin *admin)
{
    admin->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, on_request, admin,
        MHD_OPTION_LISTEN_SOCKET, admin->socket, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)CONNECTION_TIMEOUT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_END);
    return admin->daemon ? 0 : -EIO;
}

/* ---- making and ending ----------------------------------------------------------------------- */

static int listen_on(struct admin *admin, const char *text)
{
    struct address address;
    int status = address_parse(text, &address, NULL);
    if (status == 0)
        status = socket_listen(&address, &admin->socket);
    if (status == 0)
        address_format(&address, admin->address);
    return status;
}

int admin_create(const struct admin_options *options, struct admin **ret_admin)
{
    struct admin *admin = calloc(1, sizeof *admin);
    if (!admin)
        return -ENOMEM;
    admin->options = *options;
    admin->socket = -1;
    clock_gettime(CLOCK_MONOTONIC, &admin->started);
    int status = listen_on(admin, options->address);
    if (status == 0)
        status = monitor_create(options->config, options->router, options->fleet,
                                options->worker_count, &admin->monitor);
    if (status == 0)
        status = start_daemon(admin);
    if (status < 0) {
        admin_destroy(&admin);
        return status;
    }
    *ret_admin = admin;
    return 0;
}

void admin_stop(struct admin *admin)
{
    if (!admin)
        return;
    if (admin->daemon)
        MHD_stop_daemon(admin->daemon);
    else if (admin->socket >= 0)
        close(admin->socket);
    admin->daemon = NULL;
    admin->socket = -1;
}

void admin_destroy(struct admin **admin)
{
    if (!*admin)
        return;
    admin_stop(*admin);
    monitor_destroy(&(*admin)->monitor);
    free(*admin);
    *admin = NULL;
}

const char *admin_address(const struct admin *admin)
{
    return admin->address;
}
