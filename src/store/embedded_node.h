/*
 * An embedded node: the string commands of Redis over an LMDB file, spoken in RESP on an io.h
 * listener ("inproc:NAME" in the router, any address in tests). To the router it is a node like any
 * other. It belongs to one loop; in the router that loop has a thread of its own, so that a disk
 * never stops a worker.
 *
 * Beside what clients use it serves what moves keys away and here (DUMP, RESTORE, the sets named
 * "\0cw:…" of mark_sets.h), in the words of a Redis: whoever moves keys need not know the
 * difference.
 *
 * Everything that arrives in one turn of the loop is executed in one write transaction, and the
 * replies are sent after it was committed (group commit).
 */
#ifndef STORE_EMBEDDED_NODE_H
#define STORE_EMBEDDED_NODE_H

#include <stdint.h>

#include "io/io.h"
#include "wire/resp.h"

/* What an acknowledged write survives. */
enum durability {
    DURABILITY_ALWAYS,   /* a power cut: each commit is on the disk before the reply */
    DURABILITY_EVERYSEC, /* the death of the process; the disk is about a second behind. A power
                            cut may find it half written: then the store is looked through at the
                            next start, and refused if it does not hang together */
    DURABILITY_NO,       /* the death of the process; the kernel decides when to write */
};

struct embedded_node_options {
    const char *id;       /* for messages */
    const char *listen;   /* io.h address */
    const char *data_dir; /* made when missing (one level); holds this node's file alone */
    enum durability durability;
    uint64_t size_max; /* bytes of the file */
    struct resp_limits limits;
    size_t
        reply_len_max; /* of one reply (MGET, KEYS); 0: 64 MiB, or what the longest value needs */
    bool sync_on_loop; /* everysec without a thread of its own: for the simulation */
    uint64_t seed;     /* of run ids and incarnations, for the simulation; 0: from the system */
};

struct embedded_node;

struct embedded_node_stats {
    uint64_t key_count, used_bytes, size_max;
    uint64_t commands, commits, expired_keys, write_errors;
};

/* Opens the store and listens on the loop. Options are copied. 0, or a negative errno with a
 * sentence in ret_message that names the directory and the remedy: not writable, of another
 * version, in use by another process, no room. Call before the loop runs, or on its thread. */
int embedded_node_create(struct io_loop *loop, const struct embedded_node_options *options,
                         struct embedded_node **ret_node, char *ret_message, size_t message_size);
/* Commits, syncs and closes. On the loop's thread, or when the loop no longer runs. */
void embedded_node_destroy(struct embedded_node **node);
/* Any thread. */
void embedded_node_read_stats(const struct embedded_node *node,
                              struct embedded_node_stats *ret_stats);

#endif
