/*
 * The admin address: status, maps and metrics over HTTP, and changes of the fleet. libmicrohttpd on
 * threads of its own, one a connection, so that who waits for the mover keeps nobody else waiting;
 * connections, their memory and their time are bounded. There is no password: it is for loopback,
 * or a network that is trusted; web pages in a browser are refused (admin_guard.h).
 *
 *   /                     what is here
 *   /healthz              "ok" while the workers come round
 *   /metrics              Prometheus
 *   /v1/status            everything, JSON
 *   /v1/pools             the pools, JSON
 *   /v1/pools/NAME/map    the canonical text of a pool's newest map
 *   /v1/pools/NAME/…      plans and transitions: admin_change.h
 */
#ifndef CONTROL_ADMIN_H
#define CONTROL_ADMIN_H

#include "control/snapshot.h"

struct admin;
struct map_folder;
struct mover;

struct admin_options {
    const char *address; /* with a port */
    const struct config *config;
    struct router *router;
    const struct fleet *fleet;
    uint32_t worker_count;
    struct mover *mover;               /* outlives the serving, and so does what is below */
    const struct map_folder *journals; /* NULL: maps are not stored, so nothing can be changed */
};

/* Listens and serves. 0 or a negative errno. */
int admin_create(const struct admin_options *options, struct admin **ret_admin);
/* Stops serving; before the workers stop. NULL is fine. */
void admin_stop(struct admin *admin);
/* After the workers have stopped. NULL is fine. */
void admin_destroy(struct admin **admin);
/* The address with the port that was taken. */
const char *admin_address(const struct admin *admin);

#endif
