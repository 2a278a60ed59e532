/*
 * From the tree of a YAML text to the structs of config.h. One walk, led by the tables: each key of
 * a map is an option, a section, or a mistake. Reading goes on after a mistake, so that a person
 * sees all of them at once.
 */
#include "control/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clockwise/profile.h>

#include "base/assert.h"
#include "control/options.h"
#include "control/yaml_tree.h"

enum { POOL_COUNT_MAX = 256, PATH_SIZE = 256, POOL_NAME_LEN_MAX = 63 };

struct reader {
    struct config *config;
    struct problems *problems;
    bool no_memory;
    bool has_profile;     /* the pool that is being read */
    char path[PATH_SIZE]; /* of what is being read, as "pools.sessions.nodes[2]" */
};

static void problem(struct reader *reader, const struct yaml_node *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "path: message" at the place of a node; at the top there is no path to name. */
static void problem(struct reader *reader, const struct yaml_node *at, const char *format, ...)
{
    char message[PROBLEM_MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    problems_add(reader->problems, at->line, at->column, "%s%s%s", reader->path,
                 reader->path[0] ? ": " : "", message);
}

/* Goes one step down; the length to which path_leave() goes back. */
static size_t path_enter(struct reader *reader, const char *key)
{
    size_t len = strlen(reader->path);
    snprintf(reader->path + len, PATH_SIZE - len, "%s%.64s", len ? "." : "", key);
    return len;
}

static size_t path_enter_item(struct reader *reader, size_t index)
{
    size_t len = strlen(reader->path);
    snprintf(reader->path + len, PATH_SIZE - len, "[%zu]", index);
    return len;
}

static void path_leave(struct reader *reader, size_t len)
{
    reader->path[len] = 0;
}

static void read_section(struct reader *reader, enum section_id id, const struct yaml_node *map,
                         void *target);

/* ---- options --------------------------------------------------------------------------------- */

/* What an option of numbers is, where the other system's weights are taken as they are. */
static bool is_server_weight(const struct reader *reader, const struct option *option)
{
    return reader->has_profile && option->section == SECTION_NODE &&
           strcmp(option->key, "weight") == 0;
}

static void read_server_weight(struct reader *reader, const struct yaml_node *value,
                               struct config_node *node)
{
    char message[OPTION_MESSAGE_SIZE];
    if (!config_server_weight(value->text, &node->server_weight, message, sizeof message))
        problem(reader, value, "%s", message);
}

static void read_option(struct reader *reader, const struct option *option,
                        const struct yaml_node *value, void *target)
{
    char message[OPTION_MESSAGE_SIZE];
    struct option_value converted = {0};
    if (value->is_broken)
        return;
    if (option->applies == APPLIES_NOT_YET)
        problem(reader, value, "not supported yet; leave it out");
    else if (value->kind != YAML_KIND_SCALAR)
        problem(reader, value, "is %s; write one value", yaml_kind_name(value));
    else if (yaml_is_empty(value))
        problem(reader, value, "has no value; write one or leave the key out");
    else if (is_server_weight(reader, option))
        read_server_weight(reader, value, target);
    else if (!option_convert(option, value->text, &converted, message))
        problem(reader, value, "%s", message);
    else
        option_store(option, &converted, target);
}

static void report_unknown_key(struct reader *reader, enum section_id id,
                               const struct yaml_node *key)
{
    const char *nearest = option_suggest(id, key->text);
    if (nearest)
        problem(reader, key, "unknown key '%.60s'; did you mean '%s'?", key->text, nearest);
    else
        problem(reader, key, "unknown key '%.60s'; see `clockwise help --reference`", key->text);
}

static void report_missing(struct reader *reader, enum section_id id, const struct yaml_node *map)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_by_index(i);
        if (option->section == id && option->default_text == option_required &&
            !yaml_find_key(map, option->key))
            problem(reader, map, "'%s' is missing; set it", option->key);
    }
}

/* ---- sections of several ----------------------------------------------------------------------
 */

static bool is_pool_name(const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
            return false;
    return len > 0 && len <= POOL_NAME_LEN_MAX && name[0] != '.';
}

static void *alloc_elements(struct reader *reader, size_t count, size_t size)
{
    void *elements = yaml_tree_alloc(reader->config->tree, (count ? count : 1) * size);
    if (!elements)
        reader->no_memory = true;
    return elements;
}

/* Looked up before the pool is read: nodes may stand before the placement. */
static bool names_profile(const struct yaml_node *pool)
{
    const struct yaml_node *key = yaml_find_key(pool, "placement");
    return key && key->value && key->value->kind == YAML_KIND_SCALAR &&
           cw_profile_find(key->value->text);
}

static void read_pool(struct reader *reader, const struct yaml_node *key, struct config_pool *pool)
{
    *pool = (struct config_pool){.yaml = key->value, .name_yaml = key, .name = key->text};
    option_store_defaults(SECTION_POOL, pool);
    if (!is_pool_name(key->text))
        problem(reader, key,
                "'%.70s' is no name for a pool; use 1 to %d letters, digits and . _ - and no dot "
                "in front",
                key->text, POOL_NAME_LEN_MAX);
    reader->has_profile = names_profile(key->value);
    read_section(reader, SECTION_POOL, key->value, pool);
    if (pool->placement >= CONFIG_PROFILE_FIRST) {
        pool->profile = cw_profile_at((size_t)(pool->placement - CONFIG_PROFILE_FIRST));
        pool->placement = CW_PLACEMENT_PROFILE;
    }
}

static void read_pools(struct reader *reader, const struct yaml_node *map)
{
    struct config *config = reader->config;
    if (map->child_count == 0 || map->child_count > POOL_COUNT_MAX) {
        problem(reader, map, "%u pools; write 1 to %d", map->child_count, POOL_COUNT_MAX);
        return;
    }
    config->pools = alloc_elements(reader, map->child_count, sizeof *config->pools);
    if (!config->pools)
        return;
    for (const struct yaml_node *key = map->first; key; key = key->next) {
        size_t path = path_enter(reader, key->text);
        if (!key->is_broken)
            read_pool(reader, key, &config->pools[config->pool_count++]);
        path_leave(reader, path);
    }
}

static void read_nodes(struct reader *reader, const struct yaml_node *list,
                       struct config_pool *pool)
{
    pool->nodes = alloc_elements(reader, list->child_count, sizeof *pool->nodes);
    if (!pool->nodes)
        return;
    for (const struct yaml_node *item = list->first; item; item = item->next) {
        size_t path = path_enter_item(reader, pool->node_count);
        struct config_node *node = &pool->nodes[pool->node_count++];
        option_store_defaults(SECTION_NODE, node);
        node->server_weight = -1;
        node->yaml = item;
        read_section(reader, SECTION_NODE, item, node);
        path_leave(reader, path);
    }
}

static void read_commands(struct reader *reader, const struct yaml_node *list,
                          struct config_pool *pool)
{
    pool->commands = alloc_elements(reader, list->child_count, sizeof *pool->commands);
    if (!pool->commands)
        return;
    for (const struct yaml_node *item = list->first; item; item = item->next) {
        size_t path = path_enter_item(reader, pool->command_count);
        struct config_command *command = &pool->commands[pool->command_count++];
        option_store_defaults(SECTION_COMMAND, command);
        command->yaml = item;
        read_section(reader, SECTION_COMMAND, item, command);
        path_leave(reader, path);
    }
}

/* ---- sections -------------------------------------------------------------------------------- */

static void read_subsection(struct reader *reader, const struct section *section,
                            const struct yaml_node *value, void *target)
{
    enum yaml_kind kind = section->shape == SHAPE_LIST ? YAML_KIND_LIST : YAML_KIND_MAP;
    if (value->is_broken)
        return;
    if (section->shape != SHAPE_MAP && value->kind != kind) {
        problem(reader, value, "is %s; write %s", yaml_kind_name(value),
                section->shape == SHAPE_LIST ? "a list, each item behind a '-'"
                                             : "a map from names to pools");
        return;
    }
    switch (section->id) {
    case SECTION_POOL: read_pools(reader, value); break;
    case SECTION_NODE: read_nodes(reader, value, target); break;
    case SECTION_COMMAND: read_commands(reader, value, target); break;
    default: read_section(reader, section->id, value, target); break;
    }
}

static void read_key(struct reader *reader, enum section_id id, const struct yaml_node *key,
                     void *target)
{
    const struct option *option = option_find(id, key->text);
    const struct section *section = section_find(id, key->text);
    if (!option && !section) {
        report_unknown_key(reader, id, key);
        return;
    }
    size_t path = path_enter(reader, key->text);
    if (option && (!section || key->value->kind == YAML_KIND_SCALAR))
        read_option(reader, option, key->value, target);
    else
        read_subsection(reader, section, key->value, target);
    path_leave(reader, path);
}

static void read_section(struct reader *reader, enum section_id id, const struct yaml_node *map,
                         void *target)
{
    if (map->kind != YAML_KIND_MAP && !yaml_is_empty(map)) {
        problem(reader, map, "is %s; write a map of keys and values", yaml_kind_name(map));
        return;
    }
    for (const struct yaml_node *key = map->first; key; key = key->next)
        if (!key->is_broken)
            read_key(reader, id, key, target);
    report_missing(reader, id, map);
}

/* ---- whole configurations -------------------------------------------------------------------- */

static int read_root(struct reader *reader)
{
    struct config *config = reader->config;
    const struct yaml_node *root = yaml_tree_root(config->tree);
    if (!root || yaml_is_empty(root)) {
        problems_add(reader->problems, 0, 0,
                     "is empty; write at least one pool (see `clockwise help --example`)");
        return -EINVAL;
    }
    config->yaml = root;
    read_section(reader, SECTION_TOP, root, config);
    if (root->kind == YAML_KIND_MAP && !yaml_find_key(root, "pools"))
        problems_add(
            reader->problems, root->line, root->column,
            "'pools' is missing; write at least one pool (see `clockwise help --example`)");
    if (reader->no_memory) {
        problems_add(reader->problems, 0, 0, "out of memory");
        return -ENOMEM;
    }
    return reader->problems->count ? -EINVAL : config_check(config, reader->problems);
}

int config_parse(const char *text, size_t len, struct problems *problems,
                 struct config **ret_config)
{
    struct config *config = calloc(1, sizeof *config);
    struct reader reader = {.config = config, .problems = problems};
    if (!config) {
        problems_add(problems, 0, 0, "out of memory");
        return -ENOMEM;
    }
    option_store_defaults(SECTION_TOP, config);
    option_store_defaults(SECTION_LOG, config);
    option_store_defaults(SECTION_LIMITS, config);
    int status = yaml_tree_parse(text, len, problems, &config->tree);
    if (status == 0)
        status = read_root(&reader);
    if (status < 0) {
        config_destroy(&config);
        return status;
    }
    *ret_config = config;
    return 0;
}

void config_destroy(struct config **config)
{
    if (!*config)
        return;
    for (size_t i = 0; i < (*config)->pool_count; i++)
        cw_map_unref(&(*config)->pools[i].map);
    yaml_tree_destroy(&(*config)->tree);
    free(*config);
    *config = NULL;
}

const struct config_pool *config_find_pool(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->pool_count; i++)
        if (strcmp(config->pools[i].name, name) == 0)
            return &config->pools[i];
    return NULL;
}

const char *config_default_text(void)
{
    return "pools:\n"
           "  default:\n"
           "    listen: 127.0.0.1:7400\n"
           "    engine: embedded\n"
           "    nodes:\n"
           "      - {id: node-1}\n"
           "      - {id: node-2}\n"
           "      - {id: node-3}\n"
           "admin: 127.0.0.1:7480\n";
}

struct config *config_default(void)
{
    struct problems problems;
    struct config *config = NULL;
    problems_init(&problems);
    int status = config_parse(config_default_text(), strlen(config_default_text()), &problems,
                              &config);
    CW_ASSERT(status == 0 || status == -ENOMEM);
    return config;
}
