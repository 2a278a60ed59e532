/*
 * The embedded nodes of a configuration, each with a loop and a thread of its own, so that no disk
 * makes another node or a worker wait. Their files are in data_dir/POOL/ID.
 */
#ifndef CONTROL_FLEET_H
#define CONTROL_FLEET_H

#include <stddef.h>

#include "control/config.h"
#include "store/embedded_node.h"

struct fleet;

enum { FLEET_MESSAGE_SIZE = 1024 };

/* Opens every node; nothing runs yet. 0, or a negative errno with a sentence in ret_message; then
 * nothing is left open. */
int fleet_create(const struct config *config, struct fleet **ret_fleet,
                 char ret_message[static FLEET_MESSAGE_SIZE]);
/* 0 or a negative errno. */
int fleet_start(struct fleet *fleet);
/* Stops the threads, commits and closes. NULL is fine. */
void fleet_destroy(struct fleet **fleet);

size_t fleet_count(const struct fleet *fleet);
/* What is known of node number `index`, and which one it is. Any thread. */
void fleet_read_stats(const struct fleet *fleet, size_t index, const char **ret_pool,
                      const char **ret_id, struct embedded_node_stats *ret_stats);

#endif
