/*
 * Brings small keys from one node to their new ones, a batch at a time: asked for their size,
 * dumped, restored. What turns out to be big is put into move->found instead; where nodes refuse
 * each other's payloads every key is copied by its value, one after the other, and what needs more
 * than a chunk is big.
 *
 * A few batches are under way at once, and of large values only so much that memory stays bounded.
 */
#ifndef MOVE_COPIER_H
#define MOVE_COPIER_H

#include "move/copy_big.h"
#include "move/job_internal.h"

enum {
    COPIER_BATCHES = 4,
    COPIER_ASK_BYTES = 64 << 10,    /* of memory: with less a key is not big, whatever it is */
    COPIER_PORTION_BYTES = 1 << 20, /* dumped at once by a batch; one value may be more */
    /* By value: what needs more than one chunk is a big key, but on a list that is this long only
       what needs more than so many. Each drain asks for the expiry of all that are listed. */
    COPIER_LISTED_FEW = MOVE_BIG_KEYS_MAX / 4,
    COPIER_MANY_CHUNKS = 64,
};

struct copier;
struct copier_batch;

/* A key on its way; the context of the calls about it. */
struct copier_key {
    struct copier_batch *batch;
    uint32_t target;
    bool is_asked; /* large enough to be asked for its type and length */
    bool is_big;
    uint8_t type;       /* of is_asked: a row of the table of types */
    uint64_t size;      /* bytes of memory */
    int64_t expires_ms; /* as PEXPIRETIME tells it */
};

struct copier_batch {
    struct copier *copier;
    bool is_busy, is_by_value;
    uint32_t count;   /* keys */
    uint32_t at;      /* keys that were dumped or are being dumped */
    uint32_t waiting; /* replies to come before `next` */
    uint32_t dumps;   /* of these from the source, while keys are dumped */
    void (*next)(struct copier_batch *batch);
    struct key_list names;
    struct copier_key keys[MOVE_BATCH];
};

/* Part of the job that it works for. */
struct copier {
    struct job *job;
    uint32_t source;
    struct peer *peer;
    void (*on_idle)(struct job *job); /* a batch is done */
    uint32_t busy_count;
    uint64_t copied;           /* keys, those removed from the target too */
    struct copy_big *by_value; /* the one under way */
    struct copier_batch *by_value_batch;
    bool is_by_value_left; /* it is a big key */
    struct copier_batch batches[COPIER_BATCHES];
};

void copier_init(struct copier *copier, struct job *job, uint32_t source,
                 void (*on_idle)(struct job *job));
void copier_release(struct copier *copier);

/* A batch that can be filled and started, or NULL: on_idle() comes later. */
struct copier_batch *copier_find_idle(struct copier *copier);
/* Adds a key that moves. Ends the job when memory is out. */
void copier_add(struct copier_batch *batch, struct slice key, uint32_t target);
static inline bool copier_is_full(const struct copier_batch *batch)
{
    return batch->count == MOVE_BATCH;
}
/* Starts a batch of at least one key. Counts the keys for the throttle. */
void copier_start(struct copier_batch *batch);

/* Puts a key among those found to be big, once. Ends the job when there are too many. */
void copier_found_big(struct job *job, uint32_t source, struct slice key);

#endif
