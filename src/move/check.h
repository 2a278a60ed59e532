/*
 * Looking at nodes before anything moves: what they are, whether they can take what comes, and how
 * much that is.
 */
#ifndef MOVE_CHECK_H
#define MOVE_CHECK_H

#include "move/job.h"

enum {
    NODE_RUN_ID_SIZE = 48,
    NODE_VERSION_SIZE = 32,
    NODE_REFUSAL_SIZE = 240,
    REDIS_MAJOR_MIN = 7, /* PEXPIRETIME */
};

/* What INFO says of a node. */
struct node_facts {
    char run_id[NODE_RUN_ID_SIZE];    /* another one after each start; "" unknown */
    char version[NODE_VERSION_SIZE];  /* "7.0.15"; "valkey 8.0.1"; "clockwise 0.1.0" */
    uint64_t dump_version;            /* of a DUMP payload; 0: not known */
    uint64_t memory_used, memory_max; /* bytes; max 0: no limit */
    uint64_t key_count;
    bool is_replica, is_loading, evicts; /* evicts: maxmemory-policy other than noeviction */
    bool is_cluster;                     /* runs in cluster mode */
    char refusal[NODE_REFUSAL_SIZE];     /* why it takes no writes, "" if it does */
};

/* Takes what it knows from the text that INFO answers; the rest stays as it is. Pure. */
void node_facts_read(struct node_facts *facts, struct slice text);

/* Whether fields of a hash can have lifetimes of their own there (Redis 7.4, Valkey 9). Pure. */
bool node_facts_has_field_times(const struct node_facts *facts);

/* Asks a node, and tries whether it takes writes, with a key that lives for a second. The facts are
 * valid when the job ended with JOB_DONE; a node that is loading or refuses writes is such a fact.
 * Of an embedded node the room for its values is its memory. */
struct job *job_look(struct move *move, struct peer *peer, struct node_facts *ret_facts,
                     job_done done, void *context);

/* Whether the nodes of a transition fit together: facts by node number of each map. Checks that no
 * two nodes are one server (run_id), that those which give or get keys are primaries of a fitting
 * version that take writes, that there is room for what comes (bytes_in: estimates by number in
 * `to`), and whether their DUMP payloads fit (*ret_by_value). Returns false with the reason and,
 * after "; ", the remedy. True with a sentence in ret_problem is a warning (what comes will evict
 * other keys); else it is "". Cost: O(nodes^2). Pure. */
struct check_input {
    const struct cw_map *from, *to;
    const struct node_facts *from_facts, *to_facts;
    const uint64_t *bytes_in; /* by number in `to`; NULL: not known */
};
bool check_nodes(const struct check_input *input, bool *ret_by_value,
                 char ret_problem[static MOVE_PROBLEM_SIZE]);

/* An estimate of what moves from one node, by sampling: SCAN from random cursors until `sample`
 * keys were seen (or all: then it is exact but for what is written meanwhile), MEMORY USAGE of some
 * of those that move, scaled with DBSIZE.
 *
 * Its error: a share p of the keys that was estimated from n keys is off by less than
 * 2 * sqrt(p * (1 - p) / n) in 19 of 20 cases (n = 10,000, p = 1/4: by 0.009, so the keys by 3.5
 * %), a little more when n is small against SCAN's pages of 512, because neighbours come together.
 * Bytes have the same error and that of their sizes: with a few huge keys among small ones they
 * can be off by what these weigh; `heaviest` tells whether one was met. */
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
