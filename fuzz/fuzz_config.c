/*
 * Any bytes as a configuration file: read, checked, made into maps and router options, and every
 * problem printed. What must hold: a configuration, or at least one problem, never both.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "control/config.h"
#include "router/router.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The work of making a map is what the file asks for, and may be seconds: not what is tested here.
 */
static bool is_cheap(const struct config *config)
{
    int64_t work = 0;
    for (size_t i = 0; i < config->pool_count; i++) {
        const struct config_pool *pool = &config->pools[i];
        work += pool->slots * (int64_t)pool->node_count;
        for (size_t j = 0; j < pool->node_count; j++)
            work += pool->nodes[j].weight * pool->tokens;
    }
    return work <= 200000;
}

static void make_router_options(struct config *config, struct problems *problems)
{
    struct router_options options;
    if (!is_cheap(config))
        return;
    if (config_make_maps(config, problems) < 0) {
        CW_ASSERT(problems->count > 0);
        return;
    }
    if (config_to_router(config, &options) == 0)
        free((void *)(uintptr_t)options.pools);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct problems problems;
    struct config *config = NULL;
    struct buffer out = BUFFER_INIT;
    problems_init(&problems);
    int status = config_parse((const char *)data, len, &problems, &config);
    CW_ASSERT((status == 0) == (config != NULL));
    CW_ASSERT((status == 0) == (problems.count == 0));
    if (config)
        make_router_options(config, &problems);
    config_destroy(&config);
    problems_print(&problems, "f", &out);
    CW_ASSERT((out.len > 0) == (problems.count > 0));
    buffer_release(&out);
    return 0;
}
