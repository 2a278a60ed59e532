/* The mover from the inside. */
#ifndef MOVE_MOVER_INTERNAL_H
#define MOVE_MOVER_INTERNAL_H

#include "base/histogram.h"
#include "base/list.h"
#include "base/mutex.h"
#include "move/transition.h"

enum {
    TICK_MS = 100,    /* how often reports are made and probes that ended are freed */
    OBSERVE_MS = 500, /* how often clients' latency is looked at while something moves */
};

/* What clients of a pool saw between the last two looks. */
struct observation {
    struct mover *mover;
    uint32_t pool;
    bool is_asked; /* the workers are being visited */
    struct histogram before, now;
    uint64_t p99_us, before_p99_us; /* before: the last one in which nothing moved */
    uint64_t asked_ms;
};

/* Somebody asks, from any thread. */
struct mover_request;

/* A node that is asked now and then who it is, and how many keys it has. */
struct watched {
    struct watch *watch;
    struct peer *peer;
    struct node_facts before, now; /* before: at the last answer; no run_id: there was none */
};

struct watch {
    struct mover *mover;
    uint32_t pool, count;
    struct cw_map *map; /* whose nodes are watched; NULL: none yet */
    struct watched *nodes;
    uint64_t asked_ms;
};

struct mover_pool {
    struct transition transition;
    struct watch watch;
    struct observation observation;
    struct mover_report report; /* under the lock; info.from and info.to are references */
    bool has_report;
    uint64_t keys_before, keys_at_ms; /* for the rate */
    double rate;
};

struct mover {
    struct mover_options options;
    struct throttle throttle; /* of all transitions together */
    struct io_timer *tick;
    struct mutex lock; /* guards the reports, the losses and the list of requests */
    struct mover_pool *pools;
    struct mover_loss *losses;
    struct list requests; /* that the loop has not taken up */
    struct list probes;   /* transitions that only estimate */
};

/* Deep copies; false when memory is out. */
bool mover_change_copy(struct mover_change *to, const struct mover_change *from);
void mover_change_release(struct mover_change *change);

/* mover_watch.c: notices nodes that came back without their data. */
void watch_init(struct watch *watch, struct mover *mover, uint32_t pool);
void watch_release(struct watch *watch);
void mover_watch(struct mover *mover, uint32_t pool);

/* mover_observe.c: asks the workers now and then, and tells the throttle. */
void observation_init(struct observation *observation, struct mover *mover, uint32_t pool);
void mover_observe(struct mover *mover, uint32_t pool);

#endif
