/*
 * The router and its workers, each with a loop and a thread of its own.
 */
#ifndef CONTROL_CREW_H
#define CONTROL_CREW_H

#include <stdint.h>

#include "control/config.h"
#include "router/router.h"

struct crew;

/* Makes the router and its workers, which listen by then but do not run yet. 0, or a negative errno
 * and, where it was an address that could not be had, that address (else ""). */
int crew_create(const struct router_options *options, struct crew **ret_crew,
                char ret_address[static IO_ADDRESS_LEN_MAX]);
/* 0 or a negative errno. */
int crew_start(struct crew *crew);
/* Stops the threads and closes everything. NULL is fine. */
void crew_destroy(struct crew **crew);

struct router *crew_router(struct crew *crew);
/* The address on which a pool really listens. */
const char *crew_listen_address(const struct crew *crew, uint32_t pool);

#endif
