#include "cli/apply_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/http.h"

const char *apply_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

uint64_t apply_number(const json_t *object, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(object, key));
    return number > 0 ? (uint64_t)number : 0;
}

double apply_real(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* A refusal is {"error": …, "remedy": …}; what is no JSON is shown as it came. */
static int refused(const char *pool, long code, const struct buffer *body, const json_t *root)
{
    const char *error = apply_text(root, "error"), *remedy = apply_text(root, "remedy");
    if (!*error)
        return cli_fail("pool %s: the router answered %ld: %.*s", pool, code,
                        (int)(body->len > 200 ? 200 : body->len), buffer_bytes(body));
    bool is_named = strncmp(error, "pool '", 6) == 0;
    return cli_fail("%s%s%s%s%s%s", is_named ? "" : "pool ", is_named ? "" : pool,
                    is_named ? "" : ": ", error, *remedy ? "; " : "", remedy);
}

static int ask(const char *admin, const char *pool, const char *page, const char *json,
               json_t **ret_root)
{
    struct buffer path = BUFFER_INIT, body = BUFFER_INIT;
    long code = 0;
    if (!buffer_printf(&path, "/v1/pools/%s/%s%c", pool, page, 0))
        return cli_fail("out of memory");
    int status = http_ask(admin, buffer_bytes(&path), json, &code, &body);
    buffer_release(&path);
    if (status != CLI_OK)
        return status;
    json_t *root = json_loadb(buffer_bytes(&body), body.len, 0, NULL);
    if (code < 200 || code > 299)
        status = refused(pool, code, &body, root);
    else if (!root)
        status = cli_fail("http://%s: not JSON; is this a clockwise router?", admin);
    buffer_release(&body);
    if (status == CLI_OK)
        *ret_root = root;
    else
        json_decref(root);
    return status;
}

int apply_ask(const char *admin, const char *pool, const char *page, const json_t *body,
              json_t **ret_root)
{
    char *json = body ? json_dumps(body, JSON_COMPACT) : NULL;
    if (body && !json)
        return cli_fail("out of memory");
    int status = ask(admin, pool, page, json, ret_root);
    free(json);
    return status;
}

void apply_append_bytes(struct buffer *out, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1024;
    buffer_printf(out, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void apply_append_count(struct buffer *out, uint64_t count, const char *one, const char *several)
{
    buffer_printf(out, "%" PRIu64 " %s", count, count == 1 ? one : several);
}

void apply_append_duration(struct buffer *out, uint64_t ms)
{
    uint64_t seconds = ms / 1000;
    if (ms < 60000)
        buffer_printf(out, "%.1f s", (double)ms / 1000);
    else if (seconds < 3600)
        buffer_printf(out, "%" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
    else
        buffer_printf(out, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600,
                      seconds / 60 % 60, seconds % 60);
}
