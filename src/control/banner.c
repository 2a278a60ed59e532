#include "control/banner.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <clockwise/clockwise.h>

#include "control/table.h"
#include "control/version.h"
#include "io/address.h"
#include "router/router.h"

/* A terminal shows so many at most; the rest can be had from `clockwise status`. */
enum { NODES_SHOWN_MAX = 32 };

/* As it was started: what is not installed is not found by its name alone. */
static const char *program(void)
{
    return strchr(program_invocation_name, '/') ? program_invocation_name : "clockwise";
}

static void print_nodes(const struct config_pool *pool, const struct cw_map *map, bool has_color,
                        struct buffer *out)
{
    static const char *const titles[] = {"NODE", ">WEIGHT", ">SHARE", "ZONE", "ADDRESS", NULL};
    struct table table;
    uint32_t count = cw_map_node_count(map);
    table_init(&table, titles, has_color);
    for (uint32_t i = 0; i < count && i < NODES_SHOWN_MAX; i++) {
        const struct cw_node *node = cw_map_node(map, i);
        table_cell(&table, node->id);
        table_cellf(&table, "%" PRIu32, node->weight);
        table_cellf(&table, "%.2f %%", cw_map_share(map, i) * 100);
        table_cell(&table, *node->zone ? node->zone : "-");
        table_cell(&table, pool->engine == ENGINE_EMBEDDED ? "in this process" : node->address);
    }
    table_print(&table, "  ", out);
    table_release(&table);
    if (count > NODES_SHOWN_MAX)
        buffer_printf(out, "  and %" PRIu32 " more: clockwise status\n", count - NODES_SHOWN_MAX);
}

/* "-p 7400", "-h 10.0.0.1 -p 7400", "-s /run/x.sock": how redis-cli gets there. */
static void print_redis_cli(const char *listen, const char *arguments, struct buffer *out)
{
    struct address address;
    buffer_append_text(out, "  redis-cli");
    if (address_parse(listen, &address, NULL) == 0 && address.kind == ADDRESS_UNIX)
        buffer_printf(out, " -s %s", address.host);
    else if (strcmp(address.host, "127.0.0.1") == 0 || strcmp(address.host, "0.0.0.0") == 0)
        buffer_printf(out, " -p %u", address.port);
    else
        buffer_printf(out, " -h %s -p %u", address.host, address.port);
    buffer_printf(out, " %s\n", arguments);
}

static void print_what_to_try(const struct config *config, const char *listen, const char *admin,
                              struct buffer *out)
{
    buffer_append_text(out, "\nTry:\n");
    print_redis_cli(listen, "set hello world", out);
    if (!admin)
        return;
    buffer_printf(out, "  %s locate hello", program());
    if (strcmp(admin, "127.0.0.1:7480") != 0)
        buffer_printf(out, " --admin %s", admin);
    if (config->pool_count > 1)
        buffer_printf(out, " --pool %s", config->pools[0].name);
    buffer_append_text(out, "\n");
}

static void print_pool(const struct config *config, const struct config_pool *pool,
                       const struct banner_pool *state, bool has_color, struct buffer *out)
{
    buffer_printf(out, "\npool %s listens on %s (redis), placement %s, %s nodes\n", pool->name,
                  state->listen, cw_map_placement_name(state->map),
                  pool->engine == ENGINE_EMBEDDED ? "embedded" : "redis");
    if (pool->engine == ENGINE_EMBEDDED)
        buffer_printf(out, "data in %s/%s\n", config->data_dir, pool->name);
    print_nodes(pool, state->map, has_color, out);
    if (state->difference)
        buffer_printf(out,
                      "  The map is the stored one, generation %" PRIu64
                      "; the configuration differs: %s.\n"
                      "  To make the map like the file: %s apply %s\n",
                      cw_map_generation(state->map), state->difference, program(), config->path);
}

void banner_print(const struct config *config, const struct banner_pool *pools, const char *admin,
                  bool has_color, struct buffer *out)
{
    buffer_printf(out, "clockwise " CLOCKWISE_VERSION ", %" PRIu32 " worker%s\n",
                  config_worker_count(config), config_worker_count(config) == 1 ? "" : "s");
    for (size_t i = 0; i < config->pool_count; i++)
        print_pool(config, &config->pools[i], &pools[i], has_color, out);
    if (admin)
        buffer_printf(out, "\nadmin listens on http://%s\n", admin);
    print_what_to_try(config, pools[0].listen, admin, out);
    buffer_append_text(out, "\n");
}
