/*
 * The mover: carries out the transitions of all pools of a router, one at a time for a pool, on one
 * loop of its own. It tells the workers what to do (router_set_state()), waits for their
 * acknowledgement, has keys copied by jobs, and stores every step in the map store before it is
 * done. transition.c is the order of the steps.
 *
 * mover_* are called on the mover's loop, or before it runs, unless it says "any thread".
 */
#ifndef MOVE_MOVER_H
#define MOVE_MOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "move/job.h"
#include "move/map_store.h"
#include "router/router.h"

struct mover;

/* What can be left out, to see that the checker of the simulation finds it. */
enum mover_left_out {
    MOVER_WITHOUT_ACKNOWLEDGEMENT = 1, /* goes on before the workers have the new state */
    MOVER_WITHOUT_ROTATION = 2,        /* drains the dirty set that writes are still marked in */
    MOVER_WITHOUT_KILL = 4,            /* tries again after a timeout, the late call still alive */
};

struct mover_options {
    struct router *router;
    struct io_loop *loop;
    struct map_store *store;           /* NULL: nothing can be changed */
    const struct pool_settings *pools; /* those of the router */
    uint32_t pool_count;
    uint32_t transitions_max; /* of all pools, at once; 0: 1. One more is refused, unless it copies
                                 nothing; those that are stored go on however many they are */
    struct throttle_settings throttle; /* of all transitions together, besides their own */
    uint64_t in_flight_bytes;  /* values read and not written yet, of all transitions; but of each
                                  source COPIER_BATCHES values may be; 0: 64 MB */
    uint64_t freeze_budget_ms; /* a freeze that takes longer goes back to tracking; 0: 200 */
    uint32_t freeze_keys;      /* freeze when fewer keys were dirty in the last round; 0: 200 */
    uint64_t settle_ms;        /* from the switch to the cleaning, so that targets have synced what
                                  they got to their disks; 0: 1500 */
    uint64_t watch_ms;         /* how often nodes are asked whether they still have their data; 0:
                                  5000 */
    uint32_t elements_max;     /* a key with more is copied in chunks; 0: MOVE_BIG_ELEMENTS */
    unsigned left_out;         /* enum mover_left_out: tests only */
    void (*log)(int level, const char *line);
    /* Adds a node's engine before a transition uses it, and lets it go after (embedded pools).
     * -errno with a sentence. NULL: nothing to do. Called on the mover's loop; may block. */
    int (*node_begin)(void *context, uint32_t pool, const struct cw_node *node, char *ret_problem,
                      size_t problem_size);
    void (*node_end)(void *context, uint32_t pool, const char *node_id);
    void *context;
};

/* Takes over each pool's record (records[i] may be NULL: the first generation is put with the first
 * transition); goes on with transitions that were under way. 0 or a negative errno. */
int mover_create(const struct mover_options *options, struct map_record *const *records,
                 struct mover **ret_mover);
/* Stops all jobs; transitions stay as they are stored. When its loop no longer runs. */
void mover_destroy(struct mover **mover);

/* ---- what a person asks for -------------------------------------------------------------------
 */

/* How it went: 0 or a negative errno (-EINVAL the request makes no sense, -EBUSY another transition
 * runs, -ENOENT no such node or transition, -EPERM not in this state, -EIO, ...) and a sentence. */
typedef void (*mover_answer)(void *context, int status, const char *text);

struct mover_change {
    uint32_t pool;
    enum transition_kind kind;
    uint64_t generation; /* of the map that it was planned on; 0: any. Another one: -ESTALE */
    const struct cw_node *nodes; /* of the new map; copied */
    size_t node_count;
    struct cw_map *to; /* the new map ready made, for another placement: its generation is the next
                          one. NULL: the map that follows with `nodes` (cw_map_change()) */
    bool is_deep, may_purge, no_copy;
    const char *dead_id; /* TRANSITION_DEAD: the node given up */
    struct throttle_settings throttle;
    const char *who, *what;
};

/* Checks and stores a new transition and starts it. `answer` is called once, on the mover's loop,
 * never before it returns. Any thread (the request is posted). -ENOMEM or 0. */
int mover_start(struct mover *mover, const struct mover_change *change, mover_answer answer,
                void *context);

enum mover_verb {
    MOVER_PAUSE,
    MOVER_RESUME,
    MOVER_CANCEL,
    MOVER_ABANDON, /* the nodes that do not let themselves be cleared */
    MOVER_THROTTLE,
};
/* The same for a transition that runs. */
int mover_tell(struct mover *mover, uint32_t pool, enum mover_verb verb,
               const struct throttle_settings *throttle, mover_answer answer, void *context);

/* What a change would move, by sampling the nodes. `estimate` is valid during the answer. */
struct mover_estimate {
    const struct cw_map *from, *to;
    uint64_t *keys, *bytes;       /* from each node of `from` */
    uint64_t *keys_in, *bytes_in; /* to each node of `to` */
    uint64_t sampled, heaviest_bytes;
    char heaviest[MOVE_PROBLEM_SIZE];
    char problem[MOVE_PROBLEM_SIZE]; /* what speaks against it (will not fit, ...); "" nothing */
};
typedef void (*mover_estimated)(void *context, int status, const char *text,
                                const struct mover_estimate *estimate);
int mover_ask_estimate(struct mover *mover, const struct mover_change *change,
                       mover_estimated answer, void *context);

/* ---- what it knows ----------------------------------------------------------------------------
 */

/* A pool's transition, or the last one. Any thread. */
struct mover_report {
    bool is_running;
    uint64_t revision, generation; /* of the stored record; of the pool's map */
    struct transition_info info;   /* from and to are references: mover_report_release() */
    struct move_progress progress;
    struct move_counters counters;
    uint32_t epoch;
    uint64_t started_ms, now_ms; /* wall clock */
    double keys_per_second, factor;
    uint64_t seconds_left;          /* 0: not known */
    uint64_t hold_us;               /* of the last freeze */
    uint64_t p99_us, before_p99_us; /* the clients', in the last half second and before the
                                       transition; 0: not known */
    char doing[MOVE_PROBLEM_SIZE];  /* in words: "copying from cache-1 (12 %) and cache-2 (40 %)" */
};
/* False when the pool never had one. */
bool mover_read(struct mover *mover, uint32_t pool, struct mover_report *ret_report);
void mover_report_release(struct mover_report *report);

/* A node answers under another identity than before, and empty: it lost its data. Any thread; how
 * often that was seen, and which node last. */
struct mover_loss {
    uint64_t count, seen_ms;
    char node[CW_ID_LEN_MAX + 1];
};
void mover_read_loss(struct mover *mover, uint32_t pool, struct mover_loss *ret_loss);

#endif
