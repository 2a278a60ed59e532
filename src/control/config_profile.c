/*
 * Pools that are placed as another system does it: from the settings and servers of the file to the
 * profile's map, and from what the profile refuses to the place in the file.
 */
#include "control/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clockwise/profile.h>

#include "base/suggest.h"
#include "control/yaml_tree.h"

enum { NAMES_MAX = 64 };

struct making {
    struct config_pool *pool;
    const struct cw_node *nodes;
    struct cw_profile_node *servers;
    struct cw_profile_options options;
    struct problems *problems;
};

bool config_server_weight(const char *text, double *ret_weight, char *ret_message, size_t size)
{
    char *end;
    double weight = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end || !(weight <= CW_WEIGHT_MAX)) {
        snprintf(ret_message, size, "'%.40s' is no weight; use a number from 0 to %u", text,
                 CW_WEIGHT_MAX);
        return false;
    }
    *ret_weight = weight;
    return true;
}

/* ---- settings -------------------------------------------------------------------------------- */

static const char *text_of(const struct config_settings *settings, enum cw_profile_setting setting)
{
    switch (setting) {
    case CW_PROFILE_HASH: return settings->hash;
    case CW_PROFILE_TAG: return settings->tag;
    case CW_PROFILE_STOP: return settings->stop;
    case CW_PROFILE_SALT: return settings->salt;
    case CW_PROFILE_SERVER_KEY: return settings->server_key;
    case CW_PROFILE_POINTS: return settings->points;
    case CW_PROFILE_SIZE: return settings->size;
    case CW_PROFILE_SIZE_MAX: return settings->size_max;
    case CW_PROFILE_LOAD: return settings->load;
    case CW_PROFILE_REPLICATION: return settings->replication;
    case CW_PROFILE_TOPOLOGY: return settings->topology;
    case CW_PROFILE_UNSIGNED_CHAR: return settings->unsigned_char;
    }
    return NULL;
}

static const struct yaml_node *place_of(const struct config_pool *pool, const char *key)
{
    const struct yaml_node *profile = yaml_find_key(pool->yaml, "profile");
    const struct yaml_node *found = profile && key ? yaml_find_key(profile->value, key) : NULL;
    const struct yaml_node *placement = yaml_find_key(pool->yaml, "placement");
    return found ? found : profile ? profile : placement;
}

static void complain(const struct making *making, const char *key, const char *message)
{
    const struct yaml_node *at = place_of(making->pool, key);
    problems_add(making->problems, at->line, at->column, "pools.%s.profile%s%s: %s",
                 making->pool->name, key ? "." : "", key ? key : "", message);
}

static void unknown_hash(const struct making *making, const char *hash)
{
    const struct cw_profile *profile = making->pool->profile;
    const char *names[NAMES_MAX];
    char message[400];
    size_t count = 0, len = 0;
    while (count < NAMES_MAX && (names[count] = cw_profile_hash_at(profile, count)))
        count++;
    const char *nearest = suggest_nearest(hash, names, count);
    len = (size_t)snprintf(message, sizeof message, "%s has no hash '%.40s'; ", profile->name,
                           hash);
    if (nearest)
        snprintf(message + len, sizeof message - len, "did you mean '%s'?", nearest);
    for (size_t i = 0; i < count && !nearest && len < sizeof message; i++)
        len += (size_t)snprintf(message + len, sizeof message - len, "%s%s",
                                i == 0           ? "use "
                                : i + 1 == count ? " or "
                                                 : ", ",
                                names[i]);
    complain(making, "hash", message);
}

static bool has_hash(const struct cw_profile *profile, const char *hash)
{
    const char *name;
    for (size_t i = 0; (name = cw_profile_hash_at(profile, i)); i++)
        if (strcmp(name, hash) == 0)
            return true;
    return false;
}

/* "it has hash, tag and points" */
static void unknown_setting(const struct making *making, const char *key)
{
    const struct cw_profile *profile = making->pool->profile;
    char message[400];
    size_t len = (size_t)snprintf(message, sizeof message, "%s has no such setting; ",
                                  profile->name);
    const char *before = profile->settings ? "it has " : "it has none";
    if (!profile->settings)
        len += (size_t)snprintf(message + len, sizeof message - len, "%s", before);
    for (uint32_t left = profile->settings; left; left &= left - 1) {
        len += (size_t)snprintf(message + len, sizeof message - len, "%s%s", before,
                                cw_profile_setting_name(left & -left));
        before = ", ";
    }
    snprintf(message + len, sizeof message - len, "; leave it out");
    complain(making, key, message);
}

static bool set_one(struct making *making, enum cw_profile_setting setting)
{
    const char *text = text_of(&making->pool->settings, setting);
    const char *name = cw_profile_setting_name(setting);
    struct cw_error error = {0};
    if (!text)
        return true;
    if (!(making->pool->profile->settings & setting))
        unknown_setting(making, name);
    else if (setting == CW_PROFILE_HASH && !has_hash(making->pool->profile, text))
        unknown_hash(making, text);
    else if (cw_profile_options_set(&making->options, name, text, &error) != CW_OK)
        complain(making, name, error.message);
    else
        return true;
    return false;
}

static int take_settings(struct making *making)
{
    bool fine = true;
    for (uint32_t bit = 1; cw_profile_setting_name(bit); bit <<= 1)
        fine &= set_one(making, bit);
    return fine ? 0 : -EINVAL;
}

/* ---- servers --------------------------------------------------------------------------------- */

static void take_servers(struct making *making, bool is_embedded)
{
    for (size_t i = 0; i < making->pool->node_count; i++) {
        const struct config_node *node = &making->pool->nodes[i];
        const char *address = is_embedded ? node->id : node->address;
        making->servers[i] = (struct cw_profile_node){
            .address = node->server ? node->server : address,
            .name = node->name,
            .weight = node->server_weight < 0 ? 1 : node->server_weight,
            .number = (uint32_t)node->number,
            .is_down = node->down != 0,
        };
    }
    making->options.nodes = making->servers;
    making->options.node_count = making->pool->node_count;
}

/* What the first `count` servers alone give. */
static int try_first(const struct making *making, size_t count, struct cw_error *error)
{
    struct cw_profile_options options = making->options;
    struct cw_profile_map *map = NULL;
    options.node_count = count;
    int status = cw_profile_map_create(making->pool->profile, &options, &map, error);
    cw_profile_map_unref(&map);
    return status;
}

/* The server that is to blame: the last of the fewest that are refused in this way; NULL when it is
 * none of them alone. */
static const struct config_node *find_culprit(const struct making *making, int status)
{
    struct cw_error error;
    size_t fine = 0, bad = making->pool->node_count;
    if (making->options.topology || try_first(making, bad, &error) != status ||
        try_first(making, 0, &error) == status)
        return NULL;
    while (bad - fine > 1) {
        size_t middle = fine + (bad - fine) / 2;
        if (try_first(making, middle, &error) == status)
            bad = middle;
        else
            fine = middle;
    }
    return &making->pool->nodes[bad - 1];
}

static const char *key_of(const struct config_node *node, int status)
{
    switch (status) {
    case CW_EBAD_WEIGHT: return "weight";
    case CW_EBAD_ADDRESS: return node->server ? "server" : "address";
    case CW_EDUPLICATE_ID: return node->name ? "name" : node->number ? "number" : "address";
    default: return "down";
    }
}

static int report(const struct making *making, int status, const struct cw_error *error)
{
    if (status == CW_ENOMEM)
        return -ENOMEM;
    bool is_of_one = status == CW_EBAD_WEIGHT || status == CW_EBAD_ADDRESS ||
                     status == CW_EDUPLICATE_ID || status == CW_EINVAL;
    const struct config_node *node = is_of_one ? find_culprit(making, status) : NULL;
    if (!node || (status == CW_EINVAL && !node->down)) {
        complain(making, NULL, error->message);
        return -EINVAL;
    }
    const struct yaml_node *at = yaml_find_key(node->yaml, key_of(node, status));
    at = at ? at : node->yaml;
    problems_add(making->problems, at->line, at->column, "node '%.63s': %s", node->id,
                 error->message);
    return -EINVAL;
}

/* ---- the map --------------------------------------------------------------------------------- */

static int create(struct making *making)
{
    struct config_pool *pool = making->pool;
    struct cw_error error = {0};
    struct cw_map_options options = {.placement = CW_PLACEMENT_PROFILE,
                                     .nodes = making->nodes,
                                     .node_count = pool->node_count,
                                     .profile = pool->profile,
                                     .profile_options = &making->options};
    cw_map_unref(&pool->map);
    int status = cw_map_create(&options, &pool->map, &error);
    return status == CW_OK ? 0 : report(making, status, &error);
}

int config_make_profile_map(struct config_pool *pool, const struct cw_node *nodes,
                            struct problems *problems)
{
    struct making making = {.pool = pool, .nodes = nodes, .problems = problems};
    int status = take_settings(&making);
    if (status < 0)
        return status;
    making.servers = calloc(pool->node_count, sizeof *making.servers);
    if (!making.servers)
        return -ENOMEM;
    take_servers(&making, strncmp(nodes[0].address, "inproc:", 7) == 0);
    status = create(&making);
    free(making.servers);
    return status;
}
