/*
 * Looking at nodes before anything moves: what they are, whether they can take what comes, and how
 * much that is.
 */
#ifndef MOVE_CHECK_H
#define MOVE_CHECK_H

#include "move/job.h"

enum { NODE_RUN_ID_SIZE = 48, NODE_VERSION_SIZE = 32 };

/* What INFO says of a node. */
struct node_facts {
    char run_id[NODE_RUN_ID_SIZE];    /* another one after each start; "" unknown */
    char version[NODE_VERSION_SIZE];  /* "7.0.15"; "valkey 8.0.1"; "clockwise 0.1.0" */
    uint64_t dump_version;            /* of a DUMP payload; 0: not known */
    uint64_t memory_used, memory_max; /* bytes; max 0: no limit */
    uint64_t key_count;
    bool is_replica, is_loading, evicts; /* evicts: maxmemory-policy other than noeviction */
};

/* Asks a node. The facts are valid when the job ended with JOB_DONE. */
struct job *job_look(struct move *move, struct peer *peer, struct node_facts *ret_facts,
                     job_done done, void *context);

/* Whether the nodes of a transition fit together: facts by node number of each map. Checks that no
 * two nodes are one server (run_id), no target is a replica, loading, or too small for what comes
 * (keys_in, bytes_in: estimates by number in `to`), and whether their DUMP payloads fit
 * (*ret_by_value). Returns false with the reason and the remedy. */
struct check_input {
    const struct cw_map *from, *to;
    const struct node_facts *from_facts, *to_facts;
    const uint64_t *bytes_in; /* by number in `to`; NULL: not known */
};
bool check_nodes(const struct check_input *input, bool *ret_by_value,
                 char ret_problem[static MOVE_PROBLEM_SIZE]);

/* An estimate of what moves from one node, by sampling: SCAN from random cursors until `sample`
 * keys were seen (or all), MEMORY USAGE of those that move, scaled with DBSIZE. */
struct move_estimate {
    uint64_t keys, bytes;         /* that move from this node */
    uint64_t sampled;             /* keys looked at */
    uint64_t *bytes_to, *keys_to; /* the same by number in `to`; the caller's arrays, added to */
    uint64_t heaviest_bytes;      /* the largest key seen that moves, and its name */
    char heaviest[MOVE_PROBLEM_SIZE];
};
struct job *job_estimate(struct move *move, uint32_t source, uint64_t sample,
                         struct move_estimate *estimate, job_done done, void *context);

#endif
