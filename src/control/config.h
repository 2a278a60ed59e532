/*
 * The configuration: a YAML file read by the table of options (options.def) into plain structs,
 * every problem reported with its line and column, and from there into what the router is made of.
 *
 * Reading does no harm whatever the file holds: its length, depth and number of values are bounded,
 * anchors and aliases are refused. Not thread-safe; a configuration is constant once it is read.
 */
#ifndef CONTROL_CONFIG_H
#define CONTROL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/problems.h"

struct cw_node;
struct cw_profile;
struct router_options;
struct yaml_node;
struct yaml_tree;

/* Members without a unit in their names are counts, bytes or choices; see options.def for each. */
struct config_limits {
    int64_t clients, pipeline, client_memory, arguments, key, value, request, inline_len, reply;
    int64_t node_queue, own_connections, half_request_ms, idle_ms;
};

/* What all transitions may do together. */
struct config_move {
    int64_t transitions, keys_per_second, bytes_per_second, in_flight;
};

struct config_node {
    const struct yaml_node *yaml; /* where it stands in the file */
    const char *id, *address, *zone;
    int64_t weight;
    /* With a profile: what the other system knows of it. */
    const char *name, *server;
    int64_t number, down;
    double server_weight; /* below 0: not set, which is 1 */
};

/* Settings of a profile as they are written; see cw_profile_options_set(). */
struct config_settings {
    const char *hash, *tag, *stop, *salt, *server_key, *points, *size, *size_max, *load;
    const char *replication, *topology, *unsigned_char;
};

/* Each has a thread and a file of its own. */
enum { CONFIG_EMBEDDED_NODES_MAX = 64 };

/* Engines that serve refuses, behind those of enum engine: such pools are for locate and plan. */
enum { CONFIG_ENGINE_MEMCACHED = 2, CONFIG_ENGINE_OTHER = 3 };

/* Where profiles begin among the numbers of placements that are read. */
enum { CONFIG_PROFILE_FIRST = 1000 };

/* A command of a module, for command_declare(). */
struct config_command {
    const struct yaml_node *yaml;
    const char *name;
    int64_t arity, first_key, last_key, step, write;
};

struct config_pool {
    const struct yaml_node *yaml, *name_yaml;
    const char *name, *listen, *listen_memcached;
    const char *username, *password, *client_password;
    const struct cw_profile *profile; /* with CW_PLACEMENT_PROFILE; else NULL */
    struct config_settings settings;
    int64_t engine, placement, slots, tokens, connections; /* enum engine, enum cw_placement */
    int64_t timeout_ms, probe_interval_ms, probe_interval_max_ms;
    int64_t on_node_down; /* enum node_down_policy */
    int64_t durability;   /* enum durability */
    int64_t size_max;
    struct config_node *nodes;
    size_t node_count;
    struct config_command *commands;
    size_t command_count;
    struct cw_map *map; /* the first generation; NULL until config_make_maps() */
};

struct config {
    struct yaml_tree *tree; /* owns every text */
    const struct yaml_node *yaml;
    const char *path; /* of the file, not owned; NULL: what serve uses without one */
    const char *data_dir, *admin, *map_store_file, *map_store_etcd;
    int64_t workers, log_level;
    struct config_limits limits;
    struct config_move move;
    struct config_pool *pools;
    size_t pool_count;
};

/* ---- reading --------------------------------------------------------------------------------- */

enum { CONFIG_FILE_LEN_MAX = 16 << 20 };

/* Reads a text. 0, or -EINVAL with at least one problem, or -ENOMEM (a problem too). */
int config_parse(const char *text, size_t len, struct problems *problems,
                 struct config **ret_config);
/* Reads a file: the same, and every way in which a file cannot be read is a problem. */
int config_read(const char *path, struct problems *problems, struct config **ret_config);
/* What `clockwise serve` uses without a file: one pool of three embedded nodes. Never NULL unless
 * memory is out. */
struct config *config_default(void);
/* The text of that, for people to start from. Static storage. */
const char *config_default_text(void);
void config_destroy(struct config **config);

/* Checks what concerns several values at once, after the reading and after command line options
 * were laid over it. Adds problems; 0 or -EINVAL. */
int config_check(const struct config *config, struct problems *problems);
/* Refuses pools that can be read but not served. Adds problems; 0 or -EINVAL. */
int config_check_served(const struct config *config, struct problems *problems);
/* Makes each pool's map. The cost is cw_map_create()'s. 0, -EINVAL with problems, or -ENOMEM. */
int config_make_maps(struct config *config, struct problems *problems);

/* The part of that of a pool whose placement is a profile (config_profile.c): `nodes` are its nodes
 * as a map takes them. */
int config_make_profile_map(struct config_pool *pool, const struct cw_node *nodes,
                            struct problems *problems);
/* The weight of a server of a profile, from text. False with a message, as option_convert(). */
bool config_server_weight(const char *text, double *ret_weight, char *ret_message, size_t size);

const struct config_pool *config_find_pool(const struct config *config, const char *name);

/* ---- to the router --------------------------------------------------------------------------- */

/* The folder of the map store; NULL: there is none ("off"). The caller frees it with free() and may
 * take NULL for "off" only when *ret_is_off says so: else memory is out. */
char *config_map_folder(const struct config *config, bool *ret_is_off);

/* The number of workers, where 0 was asked for. */
uint32_t config_worker_count(const struct config *config);

/* What router_create() takes, after config_make_maps(). The caller frees ret_options->pools; all
 * else is the configuration's. 0 or -ENOMEM. */
int config_to_router(const struct config *config, struct router_options *ret_options);

#endif
