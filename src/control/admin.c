#include "control/admin.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "control/address_check.h"
#include "control/admin_answer.h"
#include "control/admin_change.h"
#include "control/admin_guard.h"
#include "control/metrics.h"
#include "control/status_json.h"
#include "control/version.h"
#include "io/socket.h"

enum {
    CONNECTIONS_MAX = 64,
    CONNECTION_TIMEOUT_SECONDS = 15,
    CONNECTION_MEMORY = 32 << 10,
    WORKERS_TIMEOUT_MS = 3000,
    MOVER_TIMEOUT_MS = 25000,   /* less than what the command line waits for an answer */
    BODY_LEN_MAX = 1 << 20,     /* kept of a question */
    BODY_LEN_DRAINED = 8 << 20, /* read, so that who sends too much hears why */
};

struct admin {
    struct admin_options options;
    struct monitor *monitor;
    struct MHD_Daemon *daemon;
    struct timespec started;
    int socket; /* the daemon's, once there is one */
    char address[IO_ADDRESS_LEN_MAX];
    atomic_bool is_stopping;
    struct admin_change change;
};

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
    answer_say(answer, MHD_HTTP_OK,
               "clockwise " CLOCKWISE_VERSION "\n\n"
               "/healthz              ok while the workers come round\n"
               "/metrics              Prometheus\n"
               "/v1/status            everything, JSON\n"
               "/v1/pools             the pools, JSON\n"
               "/v1/pools/NAME/map    the canonical text of a pool's newest map\n"
               "/v1/pools/NAME/...    POST plan, POST transitions, GET transition, GET history,\n"
               "                      POST transition/{pause,resume,cancel,abandon,throttle}");
}

/* NULL after an answer was given. */
static struct snapshot *ask_workers(struct admin *admin, struct answer *answer)
{
    struct snapshot *snapshot = NULL;
    int status = monitor_read(admin->monitor, WORKERS_TIMEOUT_MS, &snapshot);
    if (status == -ETIMEDOUT)
        answer_say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "a worker does not come round");
    else if (status < 0)
        answer_say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    return snapshot;
}

static void page_health(struct admin *admin, struct answer *answer)
{
    struct snapshot *snapshot = ask_workers(admin, answer);
    if (snapshot)
        answer_say(answer, MHD_HTTP_OK, "ok");
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
    if (!status_print_json(snapshot, uptime_seconds(admin), admin->options.mover, &answer->body))
        answer_say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
    snapshot_destroy(&snapshot);
}

static void page_pools(struct admin *admin, struct answer *answer)
{
    if (!pools_print_json(admin->options.config, admin->options.router, &answer->body))
        answer_say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
}

static void print_map(struct cw_map *map, struct answer *answer)
{
    char *text = NULL;
    size_t len = 0;
    if (cw_map_to_text(map, &text, &len) != CW_OK || !buffer_append(&answer->body, text, len))
        answer_say(answer, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
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
    answer_say(answer, MHD_HTTP_NOT_FOUND, "no such pool; /v1/pools lists them");
}

static void answer_page(struct admin *admin, const struct admin_question *question,
                        struct answer *answer)
{
    static const struct {
        const char *url, *type;
        void (*page)(struct admin *admin, struct answer *answer);
    } pages[] = {
        {"/", answer_type_text, page_index},          {"/healthz", answer_type_text, page_health},
        {"/metrics", answer_type_text, page_metrics}, {"/v1/status", answer_type_json, page_status},
        {"/v1/pools", answer_type_json, page_pools},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].url, question->url) == 0) {
            answer->type = pages[i].type;
            pages[i].page(admin, answer);
            return;
        }
    answer->type = answer_type_json;
    if (strncmp(question->url, "/v1/pools/", strlen("/v1/pools/")) == 0)
        page_map(admin, question->url, answer);
    else
        answer_say(answer, MHD_HTTP_NOT_FOUND, "no such page; / lists them");
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

/* One question while its body arrives. */
struct request {
    struct buffer body;
    size_t body_len; /* also of what was not kept */
};

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
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
    enum MHD_Result result = MHD_queue_response(connection, answer->code, response);
    MHD_destroy_response(response);
    return result;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Why a POST is refused before anybody looks at what it says; false after the answer was filled. */
static bool may_change(const struct admin *admin, struct MHD_Connection *connection,
                       const struct request *request, struct answer *answer)
{
    struct admin_headers headers = {
        .content_type = header_of(connection, MHD_HTTP_HEADER_CONTENT_TYPE),
        .origin = header_of(connection, MHD_HTTP_HEADER_ORIGIN),
        .fetch_site = header_of(connection, "Sec-Fetch-Site"),
        .host = header_of(connection, MHD_HTTP_HEADER_HOST),
    };
    unsigned code;
    const char *problem = admin_guard_change(&headers, address_is_loopback(admin->address), &code);
    if (problem)
        answer_refuse_sentence(answer, code, problem);
    else if (request->body_len > request->body.len)
        answer_refuse(answer, MHD_HTTP_CONTENT_TOO_LARGE, "the question is longer than 1 MB",
                      "ask for fewer nodes at once");
    return !problem && request->body_len == request->body.len;
}

static void format_peer(struct MHD_Connection *connection, char *ret_text, size_t size)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char host[64] = "?", port[8] = "";
    if (info)
        getnameinfo(info->client_addr,
                    info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                             : sizeof(struct sockaddr_in),
                    host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(ret_text, size, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static void answer_question(struct admin *admin, struct MHD_Connection *connection,
                            const struct request *request, struct admin_question *question,
                            struct answer *answer)
{
    char peer[80];
    bool is_post = strcmp(question->method, MHD_HTTP_METHOD_POST) == 0;
    bool is_get = strcmp(question->method, MHD_HTTP_METHOD_GET) == 0 ||
                  strcmp(question->method, MHD_HTTP_METHOD_HEAD) == 0;
    format_peer(connection, peer, sizeof peer);
    question->peer = peer;
    question->body = buffer_bytes(&request->body);
    question->body_len = request->body.len;
    if (!is_post && !is_get) {
        answer_say(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and POST");
        return;
    }
    bool is_change = admin_change_has_page(question->url);
    if (is_post && !is_change)
        answer_say(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET");
    else if (!is_change)
        answer_page(admin, question, answer);
    else if (!is_post || may_change(admin, connection, request, answer))
        admin_change_page(&admin->change, question, answer);
}

/* Keeps a part of the body. False when so much is sent that nobody listens to the end. */
static bool take_body(struct request *request, const char *bytes, size_t len)
{
    request->body_len += len;
    if (request->body_len <= BODY_LEN_MAX)
        return buffer_append(&request->body, bytes, len);
    return request->body_len <= BODY_LEN_DRAINED;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **slot)
{
    struct request *request = *slot;
    struct answer answer = {MHD_HTTP_OK, answer_type_text, BUFFER_INIT};
    struct admin_question question = {.method = method, .url = url};
    /* The first call has only the head; answering to the last keeps the connection open. */
    if (!request) {
        *slot = calloc(1, sizeof *request);
        return *slot ? MHD_YES : MHD_NO;
    }
    if (*upload_size) {
        bool ok = take_body(request, upload, *upload_size);
        *upload_size = 0;
        return ok ? MHD_YES : MHD_NO;
    }
    answer_question(context, connection, request, &question, &answer);
    return send_answer(connection, &answer);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode code)
{
    struct request *request = *slot;
    if (request)
        buffer_release(&request->body);
    free(request);
    *slot = NULL;
}

static int start_daemon(struct admin *admin)
{
    admin->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL,
        NULL, on_request, admin, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
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
    admin->change = (struct admin_change){options->config,   options->router,     options->mover,
                                          options->journals, &admin->is_stopping, MOVER_TIMEOUT_MS};
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
    atomic_store(&admin->is_stopping, true);
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
