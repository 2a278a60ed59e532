#include "control/crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "control/runner.h"

struct crew_member {
    struct runner runner;
    struct worker *worker;
};

struct crew {
    struct router *router;
    uint32_t count;
    struct crew_member members[];
};

static int create_workers(struct crew *crew, char *ret_address)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        struct crew_member *member = &crew->members[i];
        int status = runner_init(&member->runner);
        if (status == 0)
            status = worker_create(crew->router, i, member->runner.loop, &member->worker,
                                   ret_address);
        if (status < 0)
            return status;
    }
    return 0;
}

int crew_create(const struct router_options *options, struct crew **ret_crew,
                char ret_address[static IO_ADDRESS_LEN_MAX])
{
    struct crew *crew = calloc(1, sizeof *crew + options->worker_count * sizeof crew->members[0]);
    ret_address[0] = 0;
    if (!crew)
        return -ENOMEM;
    crew->count = options->worker_count;
    int status = router_create(options, &crew->router);
    if (status == 0)
        status = create_workers(crew, ret_address);
    if (status < 0) {
        crew_destroy(&crew);
        return status;
    }
    *ret_crew = crew;
    return 0;
}

int crew_start(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "worker %u", (unsigned)i % 1000);
        int status = runner_start(&crew->members[i].runner, name);
        if (status < 0)
            return status;
    }
    return 0;
}

void crew_destroy(struct crew **crew)
{
    if (!*crew)
        return;
    for (uint32_t i = 0; i < (*crew)->count; i++)
        runner_stop(&(*crew)->members[i].runner);
    for (uint32_t i = 0; i < (*crew)->count; i++) {
        struct crew_member *member = &(*crew)->members[i];
        if (member->worker)
            worker_destroy(&member->worker);
        runner_release(&member->runner);
    }
    router_destroy(&(*crew)->router);
    free(*crew);
    *crew = NULL;
}

struct router *crew_router(struct crew *crew)
{
    return crew->router;
}

const char *crew_listen_address(const struct crew *crew, uint32_t pool)
{
    return worker_listen_address(crew->members[0].worker, pool);
}
