#include "cli/map_source.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <clockwise/profile.h>

#include "base/suggest.h"
#include "cli/http.h"
#include "cli/stored_note.h"
#include "control/config.h"

enum { POOLS_MAX = 256 };

/* ---- which pool ------------------------------------------------------------------------------ */

static int cannot_choose(const char *const *names, size_t count, const char *wanted)
{
    struct buffer list = BUFFER_INIT;
    for (size_t i = 0; i < count; i++)
        buffer_printf(&list, "%s%s", i ? ", " : "", names[i]);
    buffer_append(&list, "", 1);
    const char *nearest = wanted ? suggest_nearest(wanted, names, count) : NULL;
    int status;
    if (nearest)
        status = cli_fail("no pool '%s'; did you mean '%s'? There are: %s", wanted, nearest,
                          buffer_bytes(&list));
    else if (wanted)
        status = cli_fail("no pool '%s'; there are: %s", wanted, buffer_bytes(&list));
    else
        status = cli_fail("there are several pools; name one with --pool: %s", buffer_bytes(&list));
    buffer_release(&list);
    return status;
}

/* The pool that was asked for, or the only one. */
static int choose_pool(const char *const *names, size_t count, const char *wanted,
                       size_t *ret_index)
{
    for (size_t i = 0; i < count; i++)
        if (wanted ? strcmp(names[i], wanted) == 0 : count == 1) {
            *ret_index = i;
            return CLI_OK;
        }
    return cannot_choose(names, count, wanted);
}

void map_source_close(struct map_source *source)
{
    cw_map_unref(&source->map);
    cw_profile_map_unref(&source->numbers);
}

static void fill(struct map_source *source, const char *pool, struct cw_map *map)
{
    source->map = map;
    source->numbers = NULL;
    snprintf(source->pool, sizeof source->pool, "%s", pool);
}

/* ---- from a file ----------------------------------------------------------------------------- */

static int choose_from_config(const struct config *config, const char *pool, size_t *ret_index)
{
    const char *names[POOLS_MAX];
    size_t count = 0;
    for (; count < config->pool_count && count < POOLS_MAX; count++)
        names[count] = config->pools[count].name;
    return choose_pool(names, count, pool, ret_index);
}

static int read_config(const char *path, bool is_checked, struct config **ret_config)
{
    struct problems problems;
    struct buffer text = BUFFER_INIT;
    problems_init(&problems);
    *ret_config = NULL;
    int status = config_read(path, &problems, ret_config);
    if (status == 0 && is_checked)
        status = config_check(*ret_config, &problems);
    if (status == 0)
        status = config_make_maps(*ret_config, &problems);
    if (status == 0)
        return CLI_OK;
    problems_print(&problems, path, &text);
    fwrite(buffer_bytes(&text), 1, text.len, stderr);
    buffer_release(&text);
    config_destroy(ret_config);
    return CLI_FAILED;
}

int map_source_read_config(const char *path, const char *pool, struct config **ret_config,
                           size_t *ret_pool)
{
    int status = read_config(path, true, ret_config);
    if (status == CLI_OK)
        status = choose_from_config(*ret_config, pool, ret_pool);
    if (status != CLI_OK)
        config_destroy(ret_config);
    return status;
}

int map_source_from_file(const char *path, const char *pool, bool with_note,
                         struct map_source *ret_source)
{
    struct config *config;
    size_t index;
    int status = read_config(path, false, &config);
    if (status != CLI_OK)
        return status;
    status = choose_from_config(config, pool, &index);
    if (status == CLI_OK)
        fill(ret_source, config->pools[index].name, cw_map_ref(config->pools[index].map));
    if (status == CLI_OK && with_note)
        note_stored_map(config, &config->pools[index]);
    config_destroy(&config);
    return status;
}

/* ---- from a router --------------------------------------------------------------------------- */

static int choose_from_json(const json_t *root, const char *pool, char *ret_name, size_t size)
{
    const char *names[POOLS_MAX];
    size_t count = 0, index;
    const json_t *pools = json_object_get(root, "pools");
    for (size_t i = 0; i < json_array_size(pools) && count < POOLS_MAX; i++) {
        names[count] = json_string_value(json_object_get(json_array_get(pools, i), "name"));
        count += names[count] != NULL;
    }
    int status = choose_pool(names, count, pool, &index);
    if (status == CLI_OK)
        snprintf(ret_name, size, "%s", names[index]);
    return status;
}

int map_source_ask_pool(const char *admin, const char *pool, char *ret_name, size_t size)
{
    struct buffer body = BUFFER_INIT;
    int status = http_get(admin, "/v1/pools", &body);
    if (status != CLI_OK)
        return status;
    json_t *root = json_loadb(body.len ? buffer_bytes(&body) : "", body.len, 0, NULL);
    buffer_release(&body);
    if (!root)
        return cli_fail("http://%s/v1/pools: not JSON; is this a clockwise router?", admin);
    status = choose_from_json(root, pool, ret_name, size);
    json_decref(root);
    return status;
}

static int ask_for_map(const char *admin, struct map_source *ret_source, const char *pool)
{
    char path[128];
    struct buffer body = BUFFER_INIT;
    struct cw_error error = {0};
    struct cw_map *map = NULL;
    snprintf(path, sizeof path, "/v1/pools/%s/map", pool);
    int status = http_get(admin, path, &body);
    if (status != CLI_OK)
        return status;
    int read = cw_map_from_text(body.len ? buffer_bytes(&body) : "", body.len, &map, &error);
    buffer_release(&body);
    if (read != CW_OK)
        return cli_fail("http://%s%s:%u:%u: %s", admin, path, error.line, error.column,
                        error.message);
    fill(ret_source, pool, map);
    return CLI_OK;
}

int map_source_open(const struct cli_args *args, struct map_source *ret_source)
{
    const char *file = cli_value(args, "config"), *admin = cli_value(args, "admin");
    const char *pool = cli_value(args, "pool");
    char name[64];
    if (file && admin)
        return cli_usage(args->command, "-c and --admin exclude each other");
    if (file)
        return map_source_from_file(file, pool, true, ret_source);
    admin = admin ? admin : MAP_SOURCE_ADMIN;
    int status = map_source_ask_pool(admin, pool, name, sizeof name);
    return status == CLI_OK ? ask_for_map(admin, ret_source, name) : status;
}
