/*
 * What a reader found, tried: every pool's placement is built once by the profile itself, so that
 * nothing is written which a later command would refuse.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/import.h"
#include "control/address_check.h"
#include "control/config.h"

static bool is_utf8(const char *text)
{
    return !text || utf8_is_valid(text, strlen(text));
}

/* YAML has no way to write other bytes. */
static void check_texts(struct import *import, const struct import_pool *pool)
{
    const struct cw_profile_options *options = &pool->options;
    for (size_t i = 0; i < pool->node_count; i++) {
        const struct import_node *node = &pool->nodes[i];
        if (!is_utf8(node->place.name) || !is_utf8(node->place.address) || !is_utf8(node->address))
            import_remark(import, IMPORT_WRONG, node->line, NULL,
                          "a name with bytes that are no UTF-8, which YAML cannot hold");
    }
    if (!is_utf8(options->tag) || !is_utf8(options->stop) || !is_utf8(options->salt) ||
        !is_utf8(pool->password) || !is_utf8(pool->listen))
        import_remark(import, IMPORT_WRONG, pool->line, NULL,
                      "pool '%s' has a setting with bytes that are no UTF-8, which YAML cannot "
                      "hold",
                      pool->name);
}

static void check_address(struct import *import, const char *address, unsigned line)
{
    char message[200];
    if (!address_check(address, message, sizeof message))
        import_remark(import, IMPORT_WRONG, line, NULL, "'%.60s' is no address for clockwise: %s",
                      address, message);
}

static void check_addresses(struct import *import, const struct import_pool *pool)
{
    if (pool->listen)
        check_address(import, pool->listen, pool->line);
    for (size_t i = 0; i < pool->node_count; i++)
        check_address(import, pool->nodes[i].address, pool->nodes[i].line);
}

static void check_placement(struct import *import, const struct import_pool *pool)
{
    struct cw_profile_node *nodes = calloc(pool->node_count + 1, sizeof *nodes);
    struct cw_profile_options options = pool->options;
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    if (!nodes) {
        import->no_memory = true;
        return;
    }
    for (size_t i = 0; i < pool->node_count; i++)
        nodes[i] = pool->nodes[i].place;
    if (!options.topology) {
        options.nodes = nodes;
        options.node_count = pool->node_count;
    }
    int status = cw_profile_map_create(pool->profile, &options, &map, &error);
    if (status == CW_ENOMEM)
        import->no_memory = true;
    else if (status != CW_OK)
        import_remark(import, IMPORT_WRONG, options.topology ? error.line : pool->line, NULL,
                      "pool '%s': %s", pool->name, error.message);
    cw_profile_map_unref(&map);
    free(nodes);
}

bool import_verify(struct import *import, const struct buffer *text)
{
    struct problems *problems = import_alloc(import, sizeof *problems);
    struct config *config = NULL;
    if (!problems)
        return false;
    problems_init(problems);
    int status = config_parse(buffer_bytes(text), text->len, problems, &config);
    config_destroy(&config);
    for (size_t i = 0; i < problems->count; i++)
        import_remark(import, IMPORT_WRONG, 0, NULL,
                      "what would be written is refused in its line %u: %s",
                      problems->items[i].line, problems->items[i].message);
    return status == 0;
}

void import_check(struct import *import)
{
    if (import->counts[IMPORT_WRONG] || import->no_memory)
        return;
    if (import->pool_count == 0)
        import_remark(import, IMPORT_WRONG, 0, NULL, "no pool in it");
    for (size_t i = 0; i < import->pool_count; i++) {
        check_texts(import, &import->pools[i]);
        check_addresses(import, &import->pools[i]);
        check_placement(import, &import->pools[i]);
    }
}
