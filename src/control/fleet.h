/*
 * The embedded nodes of a router, each with a loop and a thread of its own, so that no disk makes
 * another node or a worker wait. Their files are in data_dir/POOL/ID. Nodes may come and go while
 * the others run.
 */
#ifndef CONTROL_FLEET_H
#define CONTROL_FLEET_H

#include <stddef.h>
#include <stdint.h>

#include <clockwise/clockwise.h>

#include "control/config.h"
#include "store/embedded_node.h"

struct fleet;

enum { FLEET_MESSAGE_SIZE = 1024 };

/* Opens every node of the embedded pools' maps (maps[pool]; NULL: the configuration's); nothing
 * runs yet. 0, or a negative errno with a sentence in ret_message; then nothing is left open. */
int fleet_create(const struct config *config, struct cw_map *const *maps, struct fleet **ret_fleet,
                 char ret_message[static FLEET_MESSAGE_SIZE]);
/* 0 or a negative errno. */
int fleet_start(struct fleet *fleet);
/* Stops the threads, commits and closes. NULL is fine. */
void fleet_destroy(struct fleet **fleet);

/* Opens a node more, and starts it when the others run; its folder is made when it is missing, and
 * what is in it stays. A node that is there already is fine. In pools that are not embedded nothing
 * is done. May block on the disk. 0, or a negative errno with a sentence. One thread at a time adds
 * and ends nodes. */
int fleet_node_begin(struct fleet *fleet, uint32_t pool, const struct cw_node *node,
                     char *ret_message, size_t message_size);
/* Stops and closes a node. Its data stay where they are, which the log says: nothing is removed
 * that a person may still want. One that is not there is fine. */
void fleet_node_end(struct fleet *fleet, uint32_t pool, const char *id);

/* Shows what is known of each node. Any thread; nodes come and go only between two visits, so
 * `visit` must not wait. */
typedef void (*fleet_visit)(void *context, const char *pool, const char *id,
                            const struct embedded_node_stats *stats);
void fleet_read_stats(const struct fleet *fleet, fleet_visit visit, void *context);

#endif
